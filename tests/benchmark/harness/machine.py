"""What machine the figures are from, and how quiet it was. Cores, memory and kernel only: no host is named."""

import os
import resource
import time

from .processes import cores

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def facts():
    pages, page_bytes = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {"cores": os.cpu_count(), "memory_gib": round(pages * page_bytes / 2**30, 1),
            "kernel": "Linux " + os.uname().release.split("-")[0]}


def _core_seconds():
    """(seconds of the programs, seconds stolen by the host) on our two cores, so far."""
    ran = stolen = 0
    ours = {f"cpu{core}" for core in cores()}
    with open("/proc/stat") as lines:
        for words in map(str.split, lines):
            if words[0] in ours:
                ran += sum(int(words[i]) for i in (1, 2, 3)) / TICKS_PER_S
                stolen += int(words[8]) / TICKS_PER_S
    return ran, stolen


def _own_seconds():
    """CPU of the bench and of all that it started and has waited for."""
    return sum(usage.ru_utime + usage.ru_stime for usage in
               (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))


class Quiet:
    """What others took of our two cores since it was made, as a share of both."""

    def __init__(self):
        self.began, self.own, (self.ran, self.stolen) = time.monotonic(), _own_seconds(), _core_seconds()

    def shares(self):
        core_s = (time.monotonic() - self.began) * len(set(cores()))
        ran, stolen = _core_seconds()
        others = ran - self.ran - (_own_seconds() - self.own)
        return max(0, others / core_s), (stolen - self.stolen) / core_s
