"""One peer at the work: its whole family of processes, what they cost, and what the server saw of it.

Owner: bench_peers.py, one at a time. Always: a phase is cut by what the server's side of the network shows, never by
what the peer says of itself; everything that the peer started is gone afterwards.
"""

import json
import os
import re
import signal
import time
import urllib.request
from pathlib import Path

from . import network
from .processes import Broken, Program
from .sides import PORT

CONNECTIONS, FEW, ECHOERS = 10_000, 1_000, 1_000
ECHO_S, SETTLE_S = 5, 2
LONGEST_START_S = 60


class Family:
    """All processes of a program's session: they come and go, and what one had at the last look still counts."""

    def __init__(self, program):
        self.session, self.last_s = program.pid, {}

    def members(self):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    if os.getsid(int(entry.name)) == self.session:
                        yield int(entry.name)
                except ProcessLookupError:
                    pass

    def cpu_s(self):
        for pid in self.members():
            try:
                self.last_s[pid] = time.clock_gettime((~pid << 3) | 2)
            except OSError:
                pass  # just ended: what it had at the last look counts
        return sum(self.last_s.values())

    def private_bytes(self):
        kib = 0
        for pid in self.members():
            try:
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            except OSError:
                continue
            kib += sum(int(found) for found in re.findall(r"^Private_\w+:\s+(\d+) kB", rollup, re.MULTILINE))
        return 1024 * kib

    def end(self):
        deadline = time.monotonic() + 10
        while members := list(self.members()):
            for pid in members:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > deadline:
                raise Broken(f"processes {members} do not end")
            time.sleep(0.05)


class Start:
    """A peer from its start to its end, with one command and environment."""

    def __init__(self, stand, name, command, environment):
        self.base = network.tcp_sockets()[0]
        home = {"HOME": str(stand.folder)}  # cookies and caches of the peer's own stay there
        self.program = Program(stand.folder, name, stand.client_core, "env",
                               *(f"{key}={value}" for key, value in {**home, **environment}.items()), *command)
        self.family = Family(self.program)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.end()
        self.family.end()
        deadline = time.monotonic() + 20
        while network.tcp_sockets()[0] > self.base + 10 and time.monotonic() < deadline:
            time.sleep(0.1)

    def wait_for_connections(self, count, seconds):
        """Until as many are open, looked at often; each has two sockets here."""
        deadline = time.monotonic() + seconds
        while network.tcp_sockets()[0] - self.base < 2 * count:
            if self.program.process.poll() is not None or time.monotonic() > deadline:
                seen = (network.tcp_sockets()[0] - self.base) // 2
                raise Broken(f"{self.program.name} opened {seen} of {count} connections", self.program)
            time.sleep(0.005)


def opens(stand, name, command, users):
    """(CPU us a handshake, private bytes with all open) of a peer that opens so many and waits."""
    with Start(stand, f"{name}-open", *command) as peer:
        # Its own sockets, if it has any, are there before the first connection.
        peer.wait_for_connections(5, LONGEST_START_S)
        cpu_s = peer.family.cpu_s()
        peer.wait_for_connections(users, 120)
        time.sleep(0.1)
        us = (peer.family.cpu_s() - cpu_s) / users * 1e6
        time.sleep(SETTLE_S)
        return us, peer.family.private_bytes()


def echoes(stand, name, command):
    """CPU us a round trip of a peer with one message in flight on each connection."""
    with Start(stand, f"{name}-echo", *command) as peer:
        peer.wait_for_connections(ECHOERS, LONGEST_START_S)
        time.sleep(SETTLE_S)
        cpu_s, seen = peer.family.cpu_s(), answered(stand)
        time.sleep(ECHO_S)
        cpu_s, seen = peer.family.cpu_s() - cpu_s, answered(stand) - seen
        if seen < ECHOERS:
            raise Broken(f"{name} made {seen} round trips in {ECHO_S} s", peer.program)
        return cpu_s / seen * 1e6


def answered(stand):
    """Messages that the server has answered: `limit` makes one call of write for each."""
    if stand.limit:
        io = Path(f"/proc/{stand.server.pid}/io").read_text()
        return int(re.search(r"^syscw: (\d+)", io, re.MULTILINE).group(1))
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/stats", timeout=5) as answer:
        return json.load(answer)["messages_in"]
