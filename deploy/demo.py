#!/usr/bin/env python3
"""The whole path on one machine: plans/c1000k.yaml at 10,000 users against target-servers/beast.

Then asks the witness: the target counted for itself, and its GET /stats must agree with our summary.
Exits 0 only if the run passed and both say the same.
"""

import json
import pathlib
import subprocess
import sys
import time
import urllib.request

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = CHECKOUT / "build/release/bin"
RESULTS = CHECKOUT / "build/demo"
PORT = 8088  # the one that the plan names, for its target and for the process it observes
USERS = 10_000


def main():
    target = subprocess.Popen([PROGRAMS / "target-beast", "--port", str(PORT)], stdout=subprocess.PIPE, text=True)
    try:
        if not target.stdout.readline().startswith("listening on "):
            return target.wait() or 1  # it has said why
        status = run()
        stats = settled_stats()
    finally:
        target.terminate()
        target.wait()
    return disagreements(stats) or status


def run():
    plan = CHECKOUT / "plans/c1000k.yaml"
    command = [PROGRAMS / "onrush", "run", plan, "--set", f"users={USERS}", "--set", "rate=1000/s", "--out", RESULTS]
    print("$ onrush run plans/c1000k.yaml", *command[3:7], flush=True)
    return subprocess.call(command)


def settled_stats():
    """The target's own count, once it has seen our last connection go (it may be a moment behind us)."""
    deadline = time.monotonic() + 5
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/stats", timeout=5) as answer:
            stats = json.load(answer)
        if stats["connections"] == 0 or time.monotonic() > deadline:
            return stats
        time.sleep(0.1)


def disagreements(stats):
    """Prints the target's word beside ours; 1 if they differ anywhere."""
    summary = json.loads((RESULTS / "summary.json").read_text())
    counts, delivery = summary["counts"], summary["delivery"]
    rows = [
        ("messages it received", stats["messages_in"], "we sent", counts["messages_sent"]),
        ("messages it sent", stats["messages_out"], "we received", counts["messages_received"]),
        ("connections it holds", stats["connections"], "we hold", counts["open"]),
        ("users connected", counts["opened"], "asked for, with the publisher", USERS + 1),
        ("connections failed", counts["failed"], "allowed", 0),
        ("broadcasts delivered", delivery["received"], "due", delivery["expected"]),
    ]
    print("\nthe target's GET /stats and our summary:")
    for theirs_name, theirs, ours_name, ours in rows:
        print(f"  {'✓' if theirs == ours else '✗'} {theirs_name:<22}{theirs:>10,}   {ours_name:<30}{ours:>10,}")
    return int(any(theirs != ours for _, theirs, _, ours in rows))


if __name__ == "__main__":
    sys.exit(main())
