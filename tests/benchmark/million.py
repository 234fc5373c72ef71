#!/usr/bin/env python3
"""A million connections from one machine: plans/c1000k.yaml as it stands, through `onrush run`.

    USERS=1000000 RATE=10000 tests/benchmark/million.py        `make million`

More than a million are run by plans/c2000k.yaml: two cores hand out some 110,000 copies of a broadcast a second, so one
every 10 s would overtake the one before.

Needs root, for the network namespace that it runs in and the few settings that Linux has only once. The target
is target-floor. Exit code 0 only if every line of the table at the end holds. Standard library only.
"""

import contextlib
import csv
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import million_report
import private_network
from harness import process_facts
from harness.network import tcp_sockets

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ.get("ONRUSH_BIN", ROOT / "build/release/bin"))
USERS = int(os.environ.get("USERS", "1000000").replace("_", ""))
RATE = int(os.environ.get("RATE", "10000"))
PLAN = ROOT / ("plans/c1000k.yaml" if USERS <= 1_000_000 else "plans/c2000k.yaml")
RESULTS = Path(os.environ.get("OUT", ROOT / f"onrush-results/million-{USERS}"))
PORT, HTTP = 8088, "127.0.0.1:7080"
# SO_REUSEPORT deals connections out at random: 18,000 a worker leaves 15 standard deviations up to 20,000.
USERS_PER_WORKER = 18_000

# Once for the whole machine, so raised there and put back. TCP charges a socket with anything queued at least a
# page; at a broadcast's peak that may be every socket on either side.
MACHINE = {
    "fs.file-max": 2 * USERS + 500_000,
    "net.ipv4.tcp_mem": [2 * USERS, 3 * USERS, 4 * USERS],
    "net.ipv4.tcp_max_orphans": 262_144,
    "net.core.netdev_max_backlog": 100_000,
}
# The namespace's own.
NETWORK = {
    "net.core.somaxconn": 65_535,
    "net.ipv4.tcp_max_syn_backlog": 65_535,
    "net.ipv4.tcp_max_tw_buckets": USERS + 100_000,
    # BBR without the fq queue paces by a timer for every socket; Reno is what every namespace may choose.
    "net.ipv4.tcp_congestion_control": "reno",
}


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def cpu_s_of_living(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += process_facts.cpu_s(pid)
    return total


class Watch:
    """Samples both sides every second, on a thread of its own."""

    def __init__(self, target, onrush):
        self.target, self.onrush = target, onrush
        self.samples = []
        self.target_pids = process_facts.children_of(target.pid)
        self.agent_pids = []
        self.private = None  # bytes of each side's processes, once in the middle of the idle stage
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._ended.wait(1.0):
            try:
                self.samples.append(self.sample())
                if self.private is None and sum(s["stage"] == "idle" for s in self.samples) == 15:
                    self.private = self.measure_private()
            except (OSError, ValueError, KeyError):
                pass  # a side that has ended or is busy is asked again

    def sample(self):
        floor = json.loads(get(f"http://127.0.0.1:{PORT}/stats"))
        live = json.loads(get(f"http://{HTTP}/api/run"))["run"]
        # Looked up once: the walk through all threads of a hundred processes is felt by them.
        if not self.agent_pids:
            self.agent_pids = process_facts.children_of(self.onrush.pid)[1:]
        return {
            "at_s": time.monotonic(),
            "stage": live["stage"],
            "open": live["open"],
            "failed": live["failed"],
            "target_open": floor["connections"],
            "target_cpu_s": cpu_s_of_living(self.target_pids),
            "agents_cpu_s": cpu_s_of_living(self.agent_pids),
            "coordinator_cpu_s": process_facts.cpu_s(self.onrush.pid),
            "time_wait": tcp_sockets()[1],
        }

    def measure_private(self):
        return {
            "agents": [process_facts.private_bytes(pid) for pid in self.agent_pids],
            "coordinator": process_facts.private_bytes(self.onrush.pid),
            "target": [process_facts.private_bytes(pid) for pid in self.target_pids],
            "kernel": process_facts.meminfo()["Slab"],
        }

    def end(self):
        self._ended.set()
        self._thread.join()


def start_target():
    workers = max(2, -(-USERS // USERS_PER_WORKER))
    target = subprocess.Popen([BIN / "target-floor", "--port", str(PORT), "--workers", str(workers)],
                              stdout=subprocess.PIPE, text=True)
    if not target.stdout.readline().startswith("listening"):
        sys.exit("million: target-floor did not start")
    return target, workers


def main():
    if not private_network.is_inside():
        if os.geteuid() != 0:
            sys.exit("million: needs root, for a network namespace of its own; run: sudo make million")
        if os.environ.get("ONRUSH_NETWORK_LEVEL"):
            sys.exit(private_network.run_again_inside(USERS))
        with private_network.raised(MACHINE):
            sys.exit(private_network.run_again_inside(USERS))
    private_network.prepare(NETWORK)
    # Both sides, for whoever is woken to wait for its turn: with a hundred processes on a few cores, preempting
    # one for each message costs a fifth of the CPU.
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    shutil.rmtree(RESULTS, ignore_errors=True)
    before = process_facts.meminfo()["Slab"]
    target, workers = start_target()
    try:
        command = [BIN / "onrush", "run", PLAN, "--set", f"users={USERS}", "--set",
                   f"rate={RATE}/s", "--http", HTTP, "--out", RESULTS]
        print("$ " + " ".join(str(word).replace(f"{ROOT}/", "") for word in command), flush=True)
        onrush = subprocess.Popen(command, cwd=ROOT)
        watch = Watch(target, onrush)
        try:
            code = private_network.wait_out(onrush)
        finally:
            watch.end()
        time.sleep(1)  # the target hears of the last resets
        left = json.loads(get(f"http://127.0.0.1:{PORT}/stats"))
        time_wait = tcp_sockets()[1]
    finally:
        target.terminate()
        target.wait(30)
    summary_file = RESULTS / "summary.json"
    if not summary_file.exists():
        sys.exit(code or 70)
    summary = json.loads(summary_file.read_text())
    with open(RESULTS / "series.csv", encoding="utf-8") as series:
        seconds = list(csv.DictReader(series))
    outcome = {"users": USERS, "rate": RATE, "summary": summary, "seconds": seconds, "samples": watch.samples,
               "private": watch.private, "kernel_before": before, "workers": workers, "left": left,
               "time_wait": time_wait}
    (RESULTS / "million.json").write_text(json.dumps(outcome))
    holds = million_report.show(outcome)
    sys.exit(code if code else 0 if holds else 1)


if __name__ == "__main__":
    main()
