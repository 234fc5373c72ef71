#!/usr/bin/env python3
"""The long run: thousands of users that come and go for minutes; memory and descriptors flat, counts exact.

    tests/benchmark/soak.py BIN [--minutes 10] [--users 5000] [--out DIR]

A coordinator, an agent of two workers and a target (target-floor if it is built, else target-beast) on this machine.
Half of the users are people whose sessions end and begin again, half are sessions that arrive. Once a second the
private memory and the descriptors of agent and coordinator are read. After the first fifth, which warms up, the mean of
the last third is held against that of the first. Exit code 0 only if all of it holds. Standard library only.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "cluster"), str(TESTS / "integration")]

PLAN = """
name: soak
target: ws://127.0.0.1:{port}/echo
scenarios:
  person:
    script:
      - connect: {{timeout: 10s}}
      - repeat:
          times: 4
          do:
            - request:
                text: "hello ${{user}} ${{sequence}}"
                reply: {{text: "hello ${{user}} ${{sequence}}"}}
                timeout: 20s
            - think: {{exponential: {think}}}
      - close
  visitor:
    script:
      - connect: {{timeout: 10s}}
      - repeat: {{for: {visit_s}s, every: 1s, do: [{{request: {{bytes: 300, reply: any, timeout: 20s}}}}]}}
      - drop
stages:
  - {{name: setup, users: {{person: {persons}}}, rate: {rate}/s}}
  - {{name: churn, arrivals: {{visitor: {arrivals}/s}}, over: {ramp_s}s, for: {hold_s}s}}
  - {{name: drain, arrivals: {{visitor: 0/s}}, users: {{person: 0}}, rate: {rate}/s}}
"""
# The coordinator keeps a row a second and scenario of the series that it writes at the end.
SERIES_BYTES_A_SECOND = 4096
# Pages of histograms and buffers that are touched late, and the allocator's arenas, settle within this. In ten minutes
# of the default it is 7 bytes a session: any leak would be more.
NOISE_BYTES = 1024 * 1024


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bin", type=Path, help="folder of the programs: build/release/bin")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--users", type=int, default=5000)
    parser.add_argument("--out", type=Path, help="folder for logs and results; default: a new one")
    options = parser.parse_args(arguments)
    if not (options.bin / "onrush").exists():
        parser.error(f"{options.bin} has no onrush; build it first: make build")
    if options.minutes * 60 < 15 or options.users < 20:
        parser.error("at least 15 seconds (--minutes 0.25) and 20 users, or there is nothing to compare")
    return options


def plan_of(options, port):
    seconds = options.minutes * 60
    visit_s = 3 if seconds < 120 else 10
    half = options.users // 2
    rate = max(half // max(int(seconds / 20), 1), 50)
    return PLAN.format(port=port, persons=half, rate=rate, arrivals=half / visit_s, visit_s=visit_s,
                       think="500ms" if seconds < 120 else "2s", ramp_s=round(seconds * 0.1, 1),
                       hold_s=round(seconds * 0.9, 1))


class Curve:
    """One figure over time, once it has warmed up."""

    def __init__(self, name, values, unit=1):
        third = len(values) // 3
        self.name, self.count = name, len(values)
        self.first, self.last = mean(values[:third]) / unit, mean(values[-third:]) / unit
        self.most = max(values) / unit

    def row(self):
        grown = self.last - self.first
        return f"{self.name:32} {self.first:12,.1f} {self.last:12,.1f} {grown:+10,.1f} {self.most:12,.1f}"


def watch(run, processes, until_s):
    """A row a second: for each process its private bytes and descriptors."""
    from process_facts import cpu_s, descriptors, private_bytes
    rows = []
    deadline = time.monotonic() + until_s
    while run.process.poll() is None:
        assert time.monotonic() < deadline, f"the run does not end; it says:\n{run.said()}"
        rows.append([(private_bytes(p.pid), descriptors(p.pid), cpu_s(p.pid)) for p in processes])
        time.sleep(1)
    return rows


def judge(found, seen, curves):
    """What does not hold, in words."""
    counts = found["counts"]
    wrong = []

    def must(holds, words):
        if not holds:
            wrong.append(words)
    must(counts["attempted"] == counts["opened"] + counts["failed"], f"attempted is not opened + failed: {counts}")
    must(counts["opened"] == counts["closed"], f"opened is not closed: {counts}")
    must(counts["failed"] == counts["lost"] == 0, f"connections failed or were lost: {found['failures']}")
    must(counts["dropped_arrivals"] == 0, f"{counts['dropped_arrivals']} arrivals were dropped")
    must(seen["connections"] == 0, f"the target still holds {seen['connections']} connections")
    must(seen["messages_in"] == counts["messages_sent"],
         f"the target counted {seen['messages_in']} messages, we {counts['messages_sent']}")
    # A user whom its stage ends while it waits has sent what the target answers, and takes no reply.
    must(0 <= seen["messages_out"] - counts["messages_received"] <= counts["messages_sent"] - counts["requests"],
         f"the target sent {seen['messages_out']} messages, we received {counts['messages_received']}")
    for curve, bound in curves:
        must(curve.last - curve.first <= bound,
             f"{curve.name}: {curve.last - curve.first:+,.2f} between the first and the last third, "
             f"more than {bound:,.2f}")
    return wrong


def main(arguments):
    options = parse(arguments)
    os.environ["ONRUSH_BIN"] = str(options.bin.resolve())
    from onrush_cluster import Cluster, summary, write_plan
    from onrush_testing import eventually, start_target

    folder = options.out or Path(tempfile.mkdtemp(prefix="onrush-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    kind = "floor" if (options.bin / "target-floor").exists() else "beast"
    with start_target(kind) as target, Cluster(folder) as cluster:
        agent = cluster.agent("soak", "--workers", "2")
        run = cluster.run(write_plan(folder, plan_of(options, target.port)))
        rows = watch(run, [agent, cluster.coordinator], options.minutes * 120 + 120)
        code = run.wait()
        found = summary(run.results) if (run.results / "summary.json").exists() else None
        if found is None:
            print(f"soak: the run left no summary; it said:\n{run.said()}", file=sys.stderr)
            return 1
        eventually(lambda: target.stats()["connections"] == 0, 5)
        seen = target.stats()
    return report(options, kind, rows, found, seen, code)


def report(options, kind, rows, found, seen, code):
    churn = next(s for s in found["stages"] if s["name"] == "churn")
    begin, end = int(churn["start_s"] + options.minutes * 60 * 0.2) + 1, int(churn["end_s"])
    rows = rows[begin:end]
    if len(rows) < 6:
        print("soak: too few samples to compare; run it longer", file=sys.stderr)
        return 1
    mib = 1 << 20
    memory_bound = (NOISE_BYTES + SERIES_BYTES_A_SECOND * len(rows)) / mib
    curves = []
    for place, name in enumerate(("agent", "coordinator")):
        curves.append((Curve(f"{name}, private memory, MiB", [r[place][0] for r in rows], mib),
                       NOISE_BYTES / mib if name == "agent" else memory_bound))
        descriptors = Curve(f"{name}, descriptors", [r[place][1] for r in rows])
        # Sessions are random in length; a leak of one in a thousand sessions would be more than this.
        curves.append((descriptors, 2 + 0.05 * descriptors.first))
    counts = found["counts"]
    wrong = judge(found, seen, curves)
    print(f"soak: {options.users} users, {options.minutes:g} minutes, target-{kind}, verdict {found['verdict']}")
    print(f"{'':32} {'first third':>12} {'last third':>12} {'change':>10} {'most':>12}")
    for curve, _ in curves:
        print(curve.row())
    seconds = len(rows) - 1
    for place, name in enumerate(("agent", "coordinator")):
        spent_s = rows[-1][place][2] - rows[0][place][2]
        print(f"{name + ', CPU of one core, %':32} {100 * spent_s / max(seconds, 1):12,.1f}")
    for name in ("attempted", "opened", "failed", "lost", "closed", "messages_sent", "messages_received"):
        print(f"{name:32} {counts[name]:12,}")
    print(f"{'target: messages in, out':32} {seen['messages_in']:12,} {seen['messages_out']:12,}")
    print(f"{'seconds not VALID':32} {len(found['suspect_seconds']):12,}")
    if code not in (0, 6):  # 6: the machine was busy with others, which touches no count
        wrong.append(f"the run ended with {code}: {found['reasons']}")
    for words in wrong:
        print(f"soak: {words}", file=sys.stderr)
    print("soak: " + ("FAILED" if wrong else "everything flat, every count exact"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
