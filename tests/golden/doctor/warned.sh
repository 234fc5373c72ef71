#!/bin/sh
# What plans/c1000k.yaml needs and the machines of its agents do not have, as found by: onrush doctor --script
# Read it, then run it as root on: desk
# A second run changes nothing. With ONRUSH_ETC=DIR the files go below DIR instead of /etc.
set -eu
etc=${ONRUSH_ETC:-/etc}

mkdir -p "$etc/sysctl.d"
cat >"$etc/sysctl.d/90-onrush.conf" <<'END'
# packet backlog: needed 3,000, found 1,000
net.core.netdev_max_backlog = 3000
# sockets in TIME_WAIT: needed 1,000,001, found 131,072
net.ipv4.tcp_max_tw_buckets = 1001000
# pages queued in TCP: needed 1,006,262, found 383,866
net.ipv4.tcp_mem = 755250 1007000 1510500
END
sysctl -p "$etc/sysctl.d/90-onrush.conf"

# Not mended by this script:
#   buckets of connections: needed 1,000,001, found 262,144; boot with: thash_entries=1048576; or for a new network namespace: sysctl -w net.ipv4.tcp_child_ehash_entries=1048576
