"""What the kernel says of a process: its private memory, its CPU time, its descriptors."""

import os
import threading
import time
from pathlib import Path


def private_bytes(pid):
    """Anonymous memory that is resident: what the process has for itself."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"{pid} has no RssAnon")


def cpu_s(pid):
    """CPU time of its living threads, to the nanosecond (/proc/PID/stat counts in hundredths)."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            spent += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass  # it has ended meanwhile
    return spent / 1e9


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def cpu_share(pid, seconds):
    """Of one core, while that time passes."""
    before, began = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before) / (time.monotonic() - began)


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
