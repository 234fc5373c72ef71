"""Programs on a core of their own, and what each has cost so far.

Owner: whoever starts one ends it, by its id. Always: CPU is the kernel's exact count of nanoseconds of the whole
process with all its threads, those that have ended too.
"""

import ctypes
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from . import network, process_facts

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


_ours = sorted(os.sched_getaffinity(0))


def cores():
    """(server's core, client's core) of those that we may use. The bench itself stays on the server's."""
    return _ours[0], _ours[-1]


class Program:
    """A program pinned to one core. What it says is kept in files, so that nothing can block it."""

    def __init__(self, folder, name, core, *command):
        self.name, self.log, self.out = name, Path(folder) / f"{name}.log", Path(folder) / f"{name}.out"

        def pin():
            os.sched_setaffinity(0, {core})
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

        with open(self.log, "w") as err, open(self.out, "w") as out:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=err, cwd=folder, preexec_fn=pin, start_new_session=True)
        self.pid = self.process.pid

    def cpu_s(self):
        return process_facts.cpu_s(self.pid)

    def private_bytes(self):
        return process_facts.private_bytes(self.pid)

    def wait_for(self, pattern, seconds=15):
        """The match of a regular expression in what it said, once it is there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, self.log.read_text() + self.out.read_text())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise Broken(f"{self.name} never said {pattern!r}", self)

    def finish(self, seconds, good_codes=(0,)):
        """Waits for its own end; what it printed."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired as late:
            self.end()
            raise Broken(f"{self.name} had not ended after {seconds} s", self) from late
        if code not in good_codes:
            raise Broken(f"{self.name} ended with exit code {code}", self)
        return self.out.read_text()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)


class Broken(Exception):
    """A figure that cannot be taken; says what the program at fault said last."""

    def __init__(self, what, program=None):
        said = (program.log.read_text() + program.out.read_text())[-600:] if program else ""
        super().__init__(f"{what}\n{said}".strip())


class Curve:
    """CPU of a program and sockets of the network over time, so that a phase is cut exactly where it was."""

    STEP_S = 0.005

    def __init__(self, program):
        self.program, self.points, self._ended = program, [], threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self):
        while not self._ended.wait(self.STEP_S):
            try:
                self.points.append((time.monotonic(), self.program.cpu_s(), network.tcp_sockets()[0]))
            except OSError:
                return  # the program has ended

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def when_sockets_reach(self, count):
        """The first instant at which at least so many were in use."""
        for at, _, sockets in self.points:
            if sockets >= count:
                return at
        raise Broken(f"never saw {count} sockets, at most {max((p[2] for p in self.points), default=0)}")

    def cpu_s_at(self, instant):
        """CPU by an instant, between the two samples around it in proportion."""
        for (t0, c0, _), (t1, c1, _) in zip(self.points, self.points[1:]):
            if t0 <= instant <= t1:
                return c0 + (c1 - c0) * (instant - t0) / (t1 - t0)
        raise Broken("an instant that was not sampled")

    def cpu_s_between(self, begin, end):
        return self.cpu_s_at(end) - self.cpu_s_at(begin)


def wait_for_calm(most_sockets, seconds=10):
    """Until the network has no more sockets than this: what the run before opened is gone on both sides."""
    deadline = time.monotonic() + seconds
    while network.tcp_sockets()[0] > most_sockets:
        if time.monotonic() > deadline:
            raise Broken(f"{network.tcp_sockets()[0]} sockets are still open")
        time.sleep(0.02)
