"""A network of the bench's own, so that the machine's settings do not matter and nothing else's sockets are counted.

Owner: bench.py, once, before anything is started. Always: sysctls are written only inside that network.
"""

import fcntl
import os
import shutil
import socket
import struct
import sys
from pathlib import Path

INSIDE = "ONRUSH_BENCH_NETWORK"
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
# Enough that no figure measures a queue that overflows; the port range leaves the rest to the target.
SYSCTLS = {
    "net/core/somaxconn": "65535",
    "net/ipv4/tcp_max_syn_backlog": "65535",
    "net/ipv4/ip_local_port_range": "1024 65535",
}


def enter_own():
    """Starts this program again in a fresh network namespace; there, brings loopback up. True inside one."""
    if INSIDE not in os.environ:
        unshare = shutil.which("unshare")
        options = ["--net"] if os.geteuid() == 0 else ["--net", "--user", "--map-root-user"]
        if unshare and os.spawnv(os.P_WAIT, unshare, [unshare, *options, "true"]) == 0:
            os.environ[INSIDE] = "yes"
            os.execv(unshare, [unshare, *options, sys.executable, *sys.argv])
        print("bench: no network of its own is to be had here; the machine's settings apply", file=sys.stderr)
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
    for name, value in SYSCTLS.items():
        path = Path("/proc/sys") / name
        if path.exists():
            path.write_text(value)
    return True


def tcp_sockets():
    """TCP sockets of this network: in use, and in TIME_WAIT."""
    words = Path("/proc/self/net/sockstat").read_text().split("TCP:")[1].split()
    return int(words[1]), int(words[5])
