"""What the kernel says of a process, for tests and benchmarks alike: its memory, its CPU time, its descriptors."""

import os
import re
import threading
import time
from pathlib import Path


def children_of(pid):
    """The process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += children_of(int(child))
        except OSError:
            pass  # ended meanwhile
    return found


def private_bytes(pid):
    """Memory that would be free without this process: no page of a file or library that others share."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * sum(int(kib) for kib in re.findall(r"^Private_\w+:\s+(\d+) kB", rollup, re.MULTILINE))


def cpu_s(pid):
    """CPU time of the process with all its threads, those that have ended too, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) returns


def cpu_share(pid, seconds):
    """Of one core, while that time passes."""
    before, began = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before) / (time.monotonic() - began)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def meminfo():
    """What the machine has and uses, bytes by name."""
    rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) == 3}


class MemoryWatch:
    """The most private memory that a process has while the block runs."""

    def __init__(self, pid):
        self.pid = pid
        self.first = self.most = private_bytes(pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        while not self._over.wait(0.05):
            self.most = max(self.most, private_bytes(self.pid))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
