#!/usr/bin/env python3
"""Measures Onrush beside `limit`, the least that the kernel lets a client do; README.md says how to read it.

    tests/benchmark/bench.py [--only NAME[,NAME]] [--rounds N]

LIMIT=path names the source of `limit` (default ../shared/limit/limit.cpp, from the repository's root). Prints a table,
writes build/bench/bench.json, and exits 1 if a goal is not met. Standard library only.
"""

import argparse
import os
import sys
import time

from harness import against_limit, functions, idle, machine, network, pace, ports, table, tls
from harness.processes import Broken, cores
from harness.sides import LIMIT_SOURCE, WORK, build_limit

BENCHES = {
    "handshake": against_limit.handshake,
    "round_trip": against_limit.round_trip,
    "memory": idle.memory,
    "rest": idle.rest,
    "idle": idle.idle,
    "send_lag": pace.send_lag,
    "arrivals": pace.arrivals,
    "ports": ports.ports,
    "tls_handshake": tls.tls_handshake,
    "tls_memory": tls.tls_memory,
    "tls_resumption": tls.tls_resumption,
    "allocations": functions.allocations,
    "functions": functions.functions,
}


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", default="", help="of: " + ", ".join(BENCHES))
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison")
    chosen = parser.parse_args()
    chosen.only = [name for name in chosen.only.split(",") if name] or list(BENCHES)
    for name in chosen.only:
        if name not in BENCHES:
            parser.error(f"there is no bench '{name}'; there are: {', '.join(BENCHES)}")
    if chosen.rounds < 1:
        parser.error("--rounds begins at 1")
    return chosen


def main():
    chosen = options()
    network.enter_own()
    if len(set(cores())) < 2:
        sys.exit("bench: needs two cores, one for the server and one for the client")
    WORK.mkdir(parents=True, exist_ok=True)
    limit = build_limit()
    if limit is None:
        print(f"bench: {LIMIT_SOURCE} is not there, so no ratios; LIMIT=path names it", flush=True)
    os.sched_setaffinity(0, {cores()[0]})
    figures, broken, quiet = [], [], machine.Quiet()
    for name in chosen.only:
        began = time.monotonic()
        try:
            figures += BENCHES[name](limit, chosen.rounds)
        except Broken as error:
            broken.append(f"{name}: {error}")
        print(f"bench: {name} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    noise = quiet.shares()
    print(table.text(figures, machine.facts(), noise))
    table.write_json(WORK / "bench.json", figures, machine.facts(), noise)
    for line in broken:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if broken or any(figure.met() is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
