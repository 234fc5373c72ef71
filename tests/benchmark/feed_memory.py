#!/usr/bin/env python3
"""What a data feed costs: peak memory of the coordinator, the command and the agents for a CSV of many rows.

    tests/benchmark/feed_memory.py [--bin build/release/bin] [--rows 1000000] [--agents 2]

Each is a process of its own; the peak is the kernel's (VmHWM), above that of the same run with a feed of a hundred
rows.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAN = """
name: feed-memory
target: ws://127.0.0.1:{port}/echo
data:
  accounts: {{csv: accounts.csv, take: once}}
connection:
  headers: {{Authorization: "Bearer ${{data.accounts.token}}"}}
scenarios:
  member: {{script: [connect, close]}}
stages:
  - {{name: flow, arrivals: 20/s, for: 2s}}
  - {{name: drain, arrivals: 0/s}}
"""


def peak_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Started:
    def __init__(self, folder, name, *command):
        self.log = folder / f"{name}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, cwd=folder)

    def word(self, before, seconds=10):
        """What follows `before` in its log."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            _, found, rest = self.log.read_text().partition(before)
            if found and rest.strip():
                return rest.split()[0].rstrip(",")
            time.sleep(0.02)
        sys.exit(f"{self.log} never said {before!r}:\n{self.log.read_text()}")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def measure(binaries, rows, agents):
    """Peaks in bytes by name, and the size of the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open(folder / "accounts.csv", "w") as file:
            file.write("user,token\n")
            file.writelines(f"user-{i:07},{i * 2654435761 % 2**32:08x}{i:08x}\n" for i in range(rows))
        started = []
        try:
            started.append(Started(folder, "target", binaries / "target-beast", "--port", 0))
            (folder / "plan.yaml").write_text(PLAN.format(port=started[0].word("listening on ")))
            started.append(Started(folder, "coordinator", binaries / "onrush", "coordinator", "--listen", "127.0.0.1:0",
                                   "--http", "127.0.0.1:0"))
            control = started[1].word("agents attach to ")
            for i in range(agents):
                started.append(Started(folder, f"agent-{i + 1}", binaries / "onrush-agent", "--coordinator", control,
                                       "--name", f"agent-{i + 1}"))
                started[-1].word("attached to ")
            run = Started(folder, "run", binaries / "onrush", "run", "plan.yaml", "--coordinator", control,
                          "--out", "out")
            started.append(run)
            peaks = {}
            while run.process.poll() is None:
                for one in started[1:]:
                    try:
                        peaks[one.log.stem] = peak_bytes(one.process.pid) or peaks.get(one.log.stem, 0)
                    except OSError:
                        pass
                time.sleep(0.005)
            if run.process.returncode != 0:
                sys.exit(f"the run ended with {run.process.returncode}:\n{run.log.read_text()}")
            return peaks, (folder / "accounts.csv").stat().st_size
        finally:
            for one in reversed(started):
                one.end()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--agents", type=int, default=2)
    given = arguments.parse_args()
    few, _ = measure(given.bin.resolve(), 100, given.agents)
    many, size = measure(given.bin.resolve(), given.rows, given.agents)
    print(f"{given.rows:,} rows, {size / 1e6:.1f} MB")
    for name, peak in many.items():
        print(f"  {name:12} {peak / 1e6:7.1f} MB at its peak, {(peak - few[name]) / 1e6:7.1f} MB for the feed")


if __name__ == "__main__":
    main()
