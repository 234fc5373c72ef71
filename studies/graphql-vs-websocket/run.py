#!/usr/bin/env python3
"""GraphQL Subscriptions beside plain WebSocket: the same load on both, and what each cost.

    studies/graphql-vs-websocket/run.py [--low 1000] [--high 10000] [--shorten N] [--out DIR]

Runs plans/websocket-rtt.yaml against ws-node and plans/graphql-rtt.yaml against graphql-node, one after the other, each
in a network namespace of its own if we are root. Prints the study's columns by stage and writes them second by second,
both servers on one time axis, to DIR/seconds.csv. Exits with the worse of the two runs' codes.
"""

import argparse
import csv
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ONRUSH_BIN", ROOT / "build/release/bin"))
SIDES = (("websocket", "websocket-rtt", "ws-node", 8089), ("graphql", "graphql-rtt", "graphql-node", 8090))
STAGES = ("low", "high")
TIMES = (("rtt", "round_trip_time"), ("handshake", "handshake_time"))
SETTLE_S = 2


def main():
    options = arguments()
    if options.side:
        return run_side(options, next(side for side in SIDES if side[0] == options.side))
    options.out.mkdir(parents=True, exist_ok=True)
    codes = [subprocess.run(apart() + [sys.executable, __file__, *sys.argv[1:], "--side", side[0]]).returncode
             for side in SIDES]
    found = {side[0]: results(options.out / side[0]) for side in SIDES}
    if all(found.values()):
        print_stages(found)
        write_seconds(found, options.out / "seconds.csv")
        print(f"\nsecond by second: {options.out / 'seconds.csv'}")
    return max(codes)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--low", default="1000", help="users of the first step")
    parser.add_argument("--high", default="10000", help="users of the second step")
    parser.add_argument("--shorten", type=float, default=1, help="divide the length of every stage by this")
    parser.add_argument("--out", type=Path, default=Path("onrush-results/graphql-vs-websocket"))
    parser.add_argument("--side", choices=[side[0] for side in SIDES], help=argparse.SUPPRESS)
    return parser.parse_args()


def apart():
    """The plans name their ports. In a namespace of its own they are always free."""
    return ["unshare", "--net"] if os.geteuid() == 0 and shutil.which("unshare") else []


def run_side(options, side):
    name, plan, target, port = side
    if apart():
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    out = options.out / name
    shutil.rmtree(out, ignore_errors=True)
    written = options.out / f"{plan}.yaml"
    written.write_text(shortened((ROOT / f"plans/{plan}.yaml").read_text(), options.shorten))
    server = start(target, port)
    try:
        time.sleep(SETTLE_S)
        return subprocess.run([BIN / "onrush", "run", written, "--set", f"low={options.low}", "--set",
                               f"high={options.high}", "--http", "127.0.0.1:0", "--out", out]).returncode
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


def shortened(plan, factor):
    """Only the stages: their lines alone begin with `- {name:`."""
    if factor == 1:
        return plan
    length = re.compile(r"\b(over|for): (\d+)s\b")
    divide = lambda found: f"{found[1]}: {max(1, round(int(found[2]) * 1000 / factor))}ms"
    return "\n".join(length.sub(divide, line) if line.startswith("  - {name:") else line for line in plan.split("\n"))


def start(target, port):
    """By its entry in targets.yaml, as everything that starts a target does."""
    entries = (ROOT / "target-servers/targets.yaml").read_text()
    entry = re.search(rf"^- name: {target}\n((?:  .*\n)+)", entries, re.MULTILINE)[1]
    build, command = (re.search(rf"^  {key}: (.*)$", entry, re.MULTILINE)[1] for key in ("build", "start"))
    subprocess.run(build, shell=True, cwd=ROOT, check=True)
    server = subprocess.Popen(command.format(port=port).split(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with selectors.DefaultSelector() as stdout:
        stdout.register(server.stdout, selectors.EVENT_READ)
        listens = stdout.select(30) and server.stdout.readline().startswith("listening on")
    if not listens:
        server.kill()
        raise SystemExit(f"{target} does not listen on {port}")
    return server


def results(folder):
    if not (folder / "summary.json").exists():
        return None
    with open(folder / "series.csv", newline="") as series:
        return {"summary": json.loads((folder / "summary.json").read_text()), "seconds": list(csv.DictReader(series))}


def stage_figures(found, name):
    """One side's columns of a stage; "" where there is no sample."""
    stage = next(s for s in found["summary"]["stages"] if s["name"] == name)
    seconds = [row for row in found["seconds"] if row["stage"] == name]
    cpu = [float(row["server_cpu_s"]) for row in seconds if row["server_cpu_s"]]
    memory = [int(row["server_memory_bytes"]) for row in seconds if row["server_memory_bytes"]]
    figures = {"users": stage["users"], "failures": stage["counts"]["failed"] + stage["counts"]["lost"],
               "failed requests": stage["counts"]["failed_requests"]}
    whole = found["summary"]["times"]
    for short, time_name in TIMES:
        # Nobody connects while a stage holds: the handshakes are those of the whole run.
        times = (stage["times"] if short == "rtt" else whole).get(time_name)
        for key in ("mean", "p50", "p95", "p99"):
            figures[f"{short} {key} ms"] = f"{times[key + '_us'] / 1000:.2f}" if times else ""
    figures["cpu cores"] = f"{sum(cpu) / len(cpu):.2f}" if cpu else ""
    figures["memory MB"] = f"{max(memory) / 1e6:.0f}" if memory else ""
    return figures


def print_stages(found):
    for name in STAGES:
        sides = {side: stage_figures(result, name) for side, result in found.items()}
        print(f"\n{name:<18}" + "".join(f"{side:>14}" for side in sides))
        for column in next(iter(sides.values())):
            print(f"  {column:<16}" + "".join(f"{figures[column]:>14}" for figures in sides.values()))


def write_seconds(found, path):
    columns = {"users": "open", "rtt_p50_us": "round_trip_time_p50_us", "rtt_p99_us": "round_trip_time_p99_us",
               "handshake_p99_us": "handshake_time_p99_us", "failed": "failed", "failed_requests": "failed_requests",
               "cpu_s": "server_cpu_s", "memory_bytes": "server_memory_bytes"}
    by_second = {side: {int(row["second"]): row for row in result["seconds"]} for side, result in found.items()}
    with open(path, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["second"] + [f"{side}_{column}" for side in found for column in columns])
        for second in sorted(set().union(*by_second.values())):
            rows = [by_second[side].get(second, {}) for side in found]
            table.writerow([second] + [row.get(key, "") for row in rows for key in columns.values()])


if __name__ == "__main__":
    sys.exit(main())
