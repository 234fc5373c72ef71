"""A network namespace of a benchmark's own, so that its kernel settings do not touch the machine's.

Linux sizes the connection table of a namespace when it is made, from the namespace that makes it
(net.ipv4.tcp_child_ehash_entries). So there are two, one inside the other: the outer one asks, the inner one
has it. What the kernel keeps once for all namespaces is raised on the machine, never lowered, and put back.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

_LEVEL = "ONRUSH_NETWORK_LEVEL"


def _path(name):
    return Path("/proc/sys") / name.replace(".", "/")


def read_setting(name):
    return _path(name).read_text().split()


def write_setting(name, value):
    _path(name).write_text(f"{value}\n")


@contextlib.contextmanager
def raised(settings):
    """Host-wide settings at least as high as given (a number, or one for each field), until the end."""
    before = {}
    try:
        for name, wanted in settings.items():
            found = read_setting(name)
            wanted = [wanted] if isinstance(wanted, int) else wanted
            higher = [max(int(a), b) for a, b in zip(found, wanted)]
            if [str(value) for value in higher] != found:
                before[name] = " ".join(found)
                write_setting(name, " ".join(map(str, higher)))
        yield
    finally:
        for name, value in before.items():
            write_setting(name, value)


def wait_out(child):
    """The child's exit code. The terminal's Ctrl-C reaches it as it reaches us: it ends in order, and then we do."""
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def is_inside():
    return os.environ.get(_LEVEL) == "2"


def run_again_inside(connections):
    """Runs this program once more in a namespace whose table has room for `connections` pairs; its exit code."""
    level = int(os.environ.get(_LEVEL, "0"))
    if level == 1:
        # Two sockets a pair, and four buckets a socket: each step along a chain is a cache miss.
        entries = 1 << max(8 * connections - 1, 1 << 16).bit_length()
        write_setting("net.ipv4.tcp_child_ehash_entries", min(entries, 1 << 24))
    environment = dict(os.environ, **{_LEVEL: str(level + 1)})
    return wait_out(subprocess.Popen(["unshare", "--net", sys.executable, *sys.argv], env=environment))


def prepare(settings):
    """Inside: loopback up, and the namespace's own settings."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name, value in settings.items():
        write_setting(name, value)
