# ctest: serial timeout=180
"""Commands that are told to end before they have begun, or are killed: their agents end with them."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from onrush_cluster import BIN, until, write_plan
from onrush_testing import start_target

PLAN = """
name: early
target: ws://127.0.0.1:{port}/echo
scenarios:
  user: {{script: [connect, listen: {{}}]}}
"""
STAGES = "stages: [{name: up, users: 10, over: 1s, for: 60s}]\n"
SEARCH = "search: {raise: users, from: 10, to: 100, keep: [lost_connections == 0], hold: 5s, at_most: 5m}\n"


class Command:
    """`onrush run` or `onrush search`, whose agents are found again by a mark in their environment."""

    def __init__(self, folder, plan, command="run", agents=2):
        self.out = folder / "out"
        self.mark = f"ONRUSH_TEST={folder}"
        self.process = subprocess.Popen(
            [BIN / "onrush", command, plan, "--http", "127.0.0.1:0", "--quiet", "--agents", str(agents),
             "--out", self.out],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "ONRUSH_TEST": str(folder)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a test in the background ignores it

    def alive(self):
        """Its own processes, by pid."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.mark.encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                pass
        return found

    def end(self):
        for pid in self.alive():
            os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()


def plan_of(folder, port, command):
    return write_plan(folder, PLAN.format(port=port) + (STAGES if command == "run" else SEARCH))


@pytest.mark.parametrize("command", ["run", "search"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_any_early_instant_leaves_no_process_and_no_empty_folder(number, command, tmp_path):
    with start_target("beast") as target:
        for ms in range(0, 101, 10):
            folder = tmp_path / str(ms)
            folder.mkdir()
            run = Command(folder, plan_of(folder, target.port, command))
            try:
                time.sleep(ms / 1000)
                run.process.send_signal(number)
                # Before the program watches for it a signal just ends it. The output ends with its last holder.
                said, _ = run.process.communicate(timeout=10)
                assert run.process.returncode in (130, -number), (ms, said)
                deadline = time.monotonic() + 2
                while run.alive() and time.monotonic() < deadline:
                    time.sleep(0.02)
                assert run.alive() == [], (ms, said)
                if run.process.returncode == 130:
                    assert not run.out.exists() or any(run.out.iterdir()), (ms, said)
            finally:
                run.end()


def test_agents_do_not_outlive_a_command_that_was_killed(tmp_path):
    with start_target("beast") as target:
        for ms in [*range(0, 101, 10), None]:
            folder = tmp_path / str(ms)
            folder.mkdir()
            run = Command(folder, plan_of(folder, target.port, "run"), agents=4)
            try:
                if ms is None:
                    until(lambda: target.stats()["connections"] == 10)
                else:
                    time.sleep(ms / 1000)
                run.process.kill()
                deadline = time.monotonic() + (2 if ms is not None else 10)
                while run.alive() and time.monotonic() < deadline:
                    time.sleep(0.02)
                assert run.alive() == [], ms
            finally:
                run.end()
        until(lambda: target.stats()["connections"] == 0)
        told = run.process.stdout.read()
        assert "closing all connections in order" in told and "all connections are closed" in told
