#!/bin/sh
# What plans/c1000k.yaml needs and the machines of its agents do not have, as found by: onrush doctor --script
# Read it, then run it as root on: load-1, load-2
# A second run changes nothing. With ONRUSH_ETC=DIR the files go below DIR instead of /etc.
set -eu
etc=${ONRUSH_ETC:-/etc}

# open files of an agent: needed 250,201, found 20,000
mkdir -p "$etc/security/limits.d" "$etc/systemd/system/onrush-agent.service.d"
cat >"$etc/security/limits.d/90-onrush.conf" <<'END'
*    - nofile 251000
root - nofile 251000
END
cat >"$etc/systemd/system/onrush-agent.service.d/limits.conf" <<'END'
[Service]
LimitNOFILE=251000
END
echo 'open files: log in anew and start the agents from there,'
echo 'or: systemctl daemon-reload && systemctl restart onrush-agent'

# local ports of an agent: needed 250,001, found 64,509
# Name 4 free addresses of this host's network, and start the agents with them:
#   ADDRESSES='10.0.0.21/24 10.0.0.22/24' DEVICE=eth0 sh this-script
#   onrush-agent --source-addresses 10.0.0.21-10.0.0.22
for address in ${ADDRESSES:?name 4 free addresses; the comment above says how}; do
  ip address replace "$address" dev "${DEVICE:?name the network device}"
done

# Not mended by this script:
#   connection tracking: needed off, found on; turn it off: iptables -t raw -A OUTPUT -p tcp -j NOTRACK; the same for PREROUTING
