# ctest: serial timeout=300
"""An agent that is starved of CPU says so, second by second, with the cause, and the verdict follows."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from onrush_cluster import BIN, Cluster, Process, assert_accounts_balance, summary, write_plan
from onrush_testing import start_target

ARRIVALS = """
name: starved
target: ws://127.0.0.1:{port}/echo
scenarios:
  visitor:
    script:
      - connect: {{timeout: 5s}}
      - request: {{text: hello, reply: any, timeout: 5s}}
      - close: {{code: 1000}}
stages:
  - {{name: steady, arrivals: 1500/s, for: 6s}}
  - {{name: drain, arrivals: 0/s}}
"""


@contextlib.contextmanager
def quota(share):
    """A new CPU cgroup of this host that gives its members so much of a core; None where it may not be made."""
    first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    period_us = 100_000
    if (first / "cpu.cfs_quota_us").exists() or (first / "cgroup.procs").exists():
        group, limits = first / f"onrush-test-{os.getpid()}", {"cpu.cfs_period_us": period_us,
                                                               "cpu.cfs_quota_us": int(share * period_us)}
    elif "cpu" in (second / "cgroup.subtree_control").read_text().split():
        group, limits = second / f"onrush-test-{os.getpid()}", {"cpu.max": f"{int(share * period_us)} {period_us}"}
    else:
        yield None
        return
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        for name, value in limits.items():
            (group / name).write_text(str(value))
        yield group
    finally:
        for _ in range(100):  # until the last member is gone
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.05)


@contextlib.contextmanager
def busy_neighbours(core, count, seconds):
    """Processes that want the core for themselves; each ends by itself after that time at the latest."""
    spin = f"import os, time\nos.sched_setaffinity(0, [{core}])\nend = time.monotonic() + {seconds}\n" \
           "while time.monotonic() < end:\n    pass"
    # A session each: the kernel's autogroups share a core among sessions, not among processes.
    spinning = [subprocess.Popen([sys.executable, "-c", spin], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@pytest.fixture
def target():
    with start_target("beast") as server:
        yield server


def run_arrivals(cluster, folder, target, name="run"):
    run = cluster.run(write_plan(folder, ARRIVALS.format(port=target.port)), name=name)
    code = run.wait(120)
    found = summary(run.results)
    assert_accounts_balance(found)
    counts = found["counts"]
    assert counts["arrivals"] == 9000, "the schedule does not slow down with us"
    assert counts["attempted"] + counts["dropped_arrivals"] == 9000
    return code, found


def expect_starved(code, found):
    assert (code, found["verdict"]) == (6, "invalid"), found["suspect_seconds"]
    assert any("INVALID seconds of a" in reason for reason in found["reasons"]), found["reasons"]
    seconds = found["suspect_seconds"]
    assert {s["agent"] for s in seconds} == {"a"}
    assert any(s["grade"] == "INVALID" and "late by" in s["cause"] for s in seconds), seconds
    assert any("without a core" in s["cause"] for s in seconds), "late, and why"
    assert found["times"]["start_lag"]["p50_us"] > 100_000


def test_an_agent_with_a_twentieth_of_a_core_is_late_and_its_run_invalid(target, tmp_path):
    with quota(0.05) as group:
        if group is None:
            pytest.skip("may not make a CPU cgroup here; the test with a busy neighbour stands in")
        with Cluster(tmp_path) as cluster:
            agent = cluster.agent("a")
            (group / "cgroup.procs").write_text(str(agent.pid))
            expect_starved(*run_arrivals(cluster, tmp_path, target))


def test_an_agent_whose_core_is_wanted_by_others_is_late_and_its_run_invalid(target, tmp_path):
    core = max(os.sched_getaffinity(0))
    with Cluster(tmp_path) as cluster:
        agent = cluster.agent("a")
        for task in os.listdir(f"/proc/{agent.pid}/task"):
            os.sched_setaffinity(int(task), [core])
        with busy_neighbours(core, 16, 30):
            expect_starved(*run_arrivals(cluster, tmp_path, target))


def test_an_agent_that_has_its_core_has_no_invalid_second(target, tmp_path):
    # The machine of the test may be starved itself; then again, for what must hold is that it can be.
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with Cluster(folder) as cluster:
            cluster.agent("a")
            code, found = run_arrivals(cluster, folder, target)
        if code == 0:
            break
    assert (code, found["verdict"]) == (0, "passed"), found["suspect_seconds"]
    assert not any(s["grade"] == "INVALID" for s in found["suspect_seconds"]), found["suspect_seconds"]
    assert found["counts"]["dropped_arrivals"] == 0


LISTENERS = """
name: listeners
target: ws://127.0.0.1:{port}/broadcast
scenarios:
  listener: {{script: [connect, {{listen: {{}}}}]}}
stages:
  - {{name: setup, users: 20, rate: 100/s}}
  - {{name: hold, for: 4s}}
"""


def test_an_agent_that_stood_still_says_so_though_nothing_was_due(target, tmp_path):
    """Its users only listen: no message and no start was late, but what came in that time would have been."""
    with Cluster(tmp_path) as cluster:
        agent = cluster.agent("a")
        run = cluster.run(write_plan(tmp_path, LISTENERS.format(port=target.port)))
        deadline = time.monotonic() + 20
        while target.stats()["connections"] < 20 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        agent.signal(signal.SIGSTOP)
        time.sleep(1.3)  # it wakes at each second's end, so one falls into the pause
        agent.signal(signal.SIGCONT)
        run.wait()
        found = summary(run.results)
    assert any("stood still for" in s["cause"] and s["agent"] == "a" for s in found["suspect_seconds"]), found


LOSSY = """
name: lossy
target: ws://127.0.0.1:9/echo
scenarios:
  user:
    script:
      - connect
      - repeat: {every: 500ms, do: [{request: {bytes: 20000, reply: any, timeout: 5s}}]}
stages:
  - {name: setup, users: 10, over: 500ms, for: 4s}
"""
# Packets of the usual size, or those that the bucket can never hold would be lost for ever.
NARROW = "ip link set lo mtu 1500 up && tc qdisc add dev lo root tbf rate 20mbit burst 4kb limit 8kb"


def test_lost_packets_make_the_second_suspect_with_their_share(tmp_path):
    """In a network of its own, whose loopback drops what is sent in bursts longer than its queue."""
    if subprocess.run(["unshare", "--net", "sh", "-c", NARROW], capture_output=True).returncode != 0:
        pytest.skip("may not make a network namespace with a token bucket here")
    plan = write_plan(tmp_path, LOSSY)
    run = Process(tmp_path, "run", "unshare", "--net", "bash", "-c", f"""
        {NARROW} || exit 1
        {BIN}/target-beast --port 9 & sleep 1
        {BIN}/onrush run {plan} --http 127.0.0.1:0 --agents 1 --out {tmp_path}/results; kill $!""")
    try:
        run.wait(90)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    found = summary(tmp_path / "results")
    assert_accounts_balance(found)
    assert any("segments retransmitted by this host (" in s["cause"] for s in found["suspect_seconds"]), found
