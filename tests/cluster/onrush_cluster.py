"""Real coordinator, agents and runs as processes on loopback, for tests. Ends only what it started, by pid."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ONRUSH_BIN", ROOT / "build/release/bin"))


class Process:
    """A program whose stderr is kept in a file, so that nothing it says can block it."""

    def __init__(self, folder, name, *command):
        self.name = name
        self.log = Path(folder) / f"{name}.log"
        self.out = Path(folder) / f"{name}.out"
        with open(self.log, "w") as err, open(self.out, "w") as out:
            self.process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err, cwd=folder,
                                            stdin=subprocess.DEVNULL, start_new_session=True)
        self.pid = self.process.pid

    def said(self):
        return self.log.read_text()

    def printed(self):
        return self.out.read_text()

    def wait_for(self, pattern, seconds=15):
        """The match of a regular expression in what it said, once it is there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, self.said())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"{self.name} never said {pattern!r}; it said:\n{self.said()}")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=60):
        return self.process.wait(seconds)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait(10)


class Cluster:
    """A coordinator and agents started by hand, as on several machines."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.processes = []
        self.coordinator = self._start("coordinator", BIN / "onrush", "coordinator", "--listen", "127.0.0.1:0",
                                       "--http", "127.0.0.1:0")
        found = self.coordinator.wait_for(r"agents attach to (\S+), metrics are at http://(\S+)/metrics")
        self.control, self.http = found.groups()

    def agent(self, name, *options):
        agent = self._start(name, BIN / "onrush-agent", "--coordinator", self.control, "--name", name, *options)
        agent.wait_for("attached to|refuses")
        return agent

    def run(self, plan, *options, name="run"):
        out = self.folder / f"{name}-results"
        run = self._start(name, BIN / "onrush", "run", plan, "--coordinator", self.control, "--out", out, *options)
        run.results = out
        return run

    def _start(self, name, *command):
        process = Process(self.folder, name, *command)
        self.processes.append(process)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.end()


def summary(results):
    return json.loads((Path(results) / "summary.json").read_text())


def run_embedded(folder, plan, *options, seconds=120):
    """`onrush run` with agents of its own, to its end: the process and its summary (None without one)."""
    out = Path(folder) / "results"
    process = Process(folder, "run", BIN / "onrush", "run", plan, "--http", "127.0.0.1:0", "--out", out, *options)
    try:
        process.wait(seconds)
    finally:
        process.end()
    return process, summary(out) if (out / "summary.json").exists() else None


def until(holds, seconds=30):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never held"
        time.sleep(0.02)


def failures(found):
    """(phase, kind, detail) -> count, over all agents and scenarios."""
    told = {}
    for row in found["failures"]:
        key = (row["phase"], row["kind"], row["detail"])
        told[key] = told.get(key, 0) + row["count"]
    return told


def write_plan(folder, text, name="plan.yaml"):
    path = Path(folder) / name
    path.write_text(text)
    return path


def assert_accounts_balance(found):
    """The identities that hold at the end of every run (docs/measurement.md)."""
    for part in [found] + found["stages"] + found["scenarios"]:
        counts = part["counts"]
        if part is found:
            assert counts["attempted"] == counts["opened"] + counts["failed"], counts
            assert counts["opened"] == counts["closed"] + counts["open"], counts
    for key in ("attempted", "opened", "failed", "closed", "lost", "messages_sent", "messages_received"):
        for parts in ("stages", "scenarios", "agents"):
            assert sum(p["counts"][key] for p in found[parts]) == found["counts"][key], (key, parts)
