"""The two that are compared, `limit` and Onrush, and the server that both load.

Owner: one figure at a time. Always: the server runs on one core and the client on another; the coordinator and the
command, which are no part of what is measured, run beside the server.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

from .processes import Broken, Program, cores, wait_for_calm

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("ONRUSH_BIN", ROOT / "build/release/bin"))
WORK = Path(os.environ.get("ONRUSH_BENCH_WORK", ROOT / "build/bench"))
LIMIT_SOURCE = Path(os.environ.get("LIMIT", "../shared/limit/limit.cpp"))
PORT = 8088
# Bytes of payload of every message that is timed against `limit`, on both sides.
PAYLOAD = 32


def build_limit():
    """The yardstick's program, or None where its source is not to be found."""
    source = ROOT / LIMIT_SOURCE
    if not source.exists():
        return None
    program = WORK / "limit"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-O2", "-std=c++20", "-o", program, source, "-lcrypto"], check=True)
    return program


def server_command(limit):
    """The same server for both sides: the yardstick's own, or else one of ours."""
    if limit:
        return [limit, "serve", PORT], "/"
    floor = BIN / "target-floor"
    return [floor if floor.exists() else BIN / "target-beast", "--port", PORT], "/echo"


class Stand:
    """A server and a coordinator that wait for clients."""

    def __init__(self, limit, command=None, target=None):
        """`command` and `target`, the plan's lines that name it: another server than the usual one."""
        self.limit = limit
        self.folder = WORK / "stand"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.server_core, self.client_core = cores()
        if command is None:
            command, path = server_command(limit)
            target = f"target: ws://127.0.0.1:{PORT}{path}"
        self.target = target
        self.server = Program(self.folder, "server", self.server_core, *command)
        self.coordinator = Program(self.folder, "coordinator", self.server_core, BIN / "onrush", "coordinator",
                                   "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
        self.control = self.coordinator.wait_for(r"agents attach to (\S+),").group(1)
        self.runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.coordinator.end()
        self.server.end()

    def agent(self):
        """A fresh agent, attached and at rest."""
        self.runs += 1
        agent = Program(self.folder, f"agent-{self.runs}", self.client_core, BIN / "onrush-agent",
                        "--coordinator", self.control, "--name", f"agent-{self.runs}")
        agent.wait_for("attached to")
        return agent

    def run(self, plan):
        """Begins a run of a plan (its text without name and target) on the agents that are attached."""
        file = self.folder / f"run-{self.runs}.yaml"
        file.write_text(f"name: bench\n{self.target}\n{plan}")
        results = self.folder / f"run-{self.runs}"
        run = Program(self.folder, f"command-{self.runs}", self.server_core, BIN / "onrush", "run", file,
                      "--coordinator", self.control, "--out", results, "--quiet")
        run.results = results
        return run

    def load(self, connections, seconds):
        """One run of `limit` as client: its own line of figures."""
        self.runs += 1
        client = Program(self.folder, f"limit-{self.runs}", self.client_core, self.limit, "load", PORT, connections,
                         seconds, PAYLOAD)
        figures = json.loads(client.finish(60))
        wait_for_calm(10)
        return figures


def finish(run, agent, seconds=60):
    """The summary of a run, once it has ended and nothing of it is left. It must have opened all it attempted."""
    # 6: late seconds of the generator make a measurement invalid, and here it is driven as hard as it goes.
    run.finish(seconds, good_codes=(0, 6))
    agent.end()
    wait_for_calm(10)
    summary = json.loads((run.results / "summary.json").read_text())
    if summary["counts"]["failed"]:
        raise Broken(f"{summary['counts']['failed']} connections failed: {summary['failures'][:3]}")
    return summary
