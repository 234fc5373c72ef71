"""What processes and the machine cost, read from /proc."""

import os
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


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


def cpu_s(pid):
    """User and system time of a living process, all its threads; 0 once it is gone."""
    try:
        columns = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return 0.0
    return (int(columns[11]) + int(columns[12])) * TICK_S


def private_bytes(pid):
    """Memory that only this process has."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) * 1024


def wait_out(child):
    """The child's exit code. The terminal's Ctrl-C reaches it as it reaches us: it ends in order, and then we do."""
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def meminfo():
    """Bytes by name."""
    rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) == 3}
