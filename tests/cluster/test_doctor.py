# ctest: serial timeout=300
"""`onrush doctor`, and the limits that it speaks of, met for real: descriptors, ports, memory."""

import os
import re
import resource
import shutil
import socket
import subprocess
import time

import pytest
from onrush_cluster import BIN, ROOT, Cluster, Process, run_embedded, summary, write_plan
from onrush_testing import eventually, start_target
from process_facts import cpu_s

PLAN = ROOT / "plans/c1000k.yaml"


def doctor(*words, descriptors=None, network=(), env=None):
    """(exit code, what it printed on stdout, and on stderr)."""
    def limit():
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    command = [*network, BIN / "onrush", "doctor", *words]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60,
                          preexec_fn=limit, env=env)
    return done.returncode, done.stdout, done.stderr


def test_a_small_plan_can_run_here_and_every_limit_is_in_the_table():
    code, printed, said = doctor(PLAN, "--set", "users=100", "--set", "rate=100/s")
    assert (code, said) == (0, "")
    assert printed.startswith("c1000k can run with 1 agent on 1 host")
    for name in ("open files of an agent", "local ports of an agent", "memory", "open files of the host",
                 "epoll watches of a user", "pages queued in TCP", "accept backlog", "packet backlog",
                 "sockets in TIME_WAIT", "connection tracking", "cores"):
        assert re.search(rf"^  {name}  .*(ok|unknown|warning)", printed, re.MULTILINE), (name, printed)
    assert max(len(line) for line in printed.splitlines()) <= 100


def test_what_cannot_run_is_refused_with_figures_and_remedy_and_a_bad_plan_is_a_bad_plan(tmp_path):
    code, printed, _ = doctor(PLAN, "--set", "users=1000", "--agents", "1", descriptors=500)
    assert code == 3
    assert printed.startswith("c1000k cannot run with 1 agent on 1 host")
    assert re.search(r"^  open files of an agent +1,201 +500  refused", printed, re.MULTILINE), printed
    assert "ulimit -n 2000" in printed
    code, printed, said = doctor(write_plan(tmp_path, "name: x\nstages: []\n"))
    assert (code, printed) == (2, "") and "plan.yaml" in said


def test_P055_run_refuses_what_doctor_refuses(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
    with start_target("beast") as target:
        done = subprocess.run([BIN / "onrush", "run", PLAN, "--set", "users=1000", "--agents", "1", "--http",
                               "127.0.0.1:0", "--out", tmp_path / "results", "--target", target.url("/broadcast")],
                              capture_output=True, text=True, timeout=60, preexec_fn=limit)
        assert done.returncode == 3, done.stderr
        assert "agent-1 needs 1,001 sockets but may open 500 files" in done.stderr
        assert "raise it:" in done.stderr and "ulimit -n 2000" in done.stderr
        assert target.stats()["connections"] == 0


def test_all_agents_that_are_attached_are_in_one_table(tmp_path):
    with Cluster(tmp_path) as cluster:
        cluster.agent("load-1")
        cluster.agent("load-2")
        code, printed, said = doctor(PLAN, "--set", "users=1000", "--set", "rate=100/s",
                                     "--coordinator", cluster.control)
        assert (code, said) == (0, "")
        assert "can run with 2 agents on 1 host" in printed and "1,001 connections" in printed
        code, printed, said = doctor(PLAN, "--coordinator", cluster.control, "--agents", "3")
        assert code == 3 and "2 of 3 agents are attached" in said
        # What an agent was told when it was started is in what its coordinator knows.
        cluster.agent("load-3", "--memory-reserve", "100TB")
        code, printed, _ = doctor(PLAN, "--set", "users=100", "--coordinator", cluster.control)
        assert code == 0, "the first agent's word is its host's"
    code, _, said = doctor(PLAN, "--coordinator", "127.0.0.1:1")
    assert code == 3 and "no coordinator answers at 127.0.0.1:1" in said


def network_of_its_own():
    """The words before a command that give it one, and whether it can be had."""
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    return words, subprocess.run([*words, "true"], capture_output=True).returncode == 0


def test_the_script_is_clean_and_mends_what_the_table_names(tmp_path):
    words, possible = network_of_its_own()
    if not possible:
        pytest.skip("no network namespace can be made here")
    story = """
        set -eu
        sysctl -q -w net.core.somaxconn=16 net.ipv4.tcp_max_tw_buckets=64
        "$DOCTOR" doctor "$PLAN" --set users=2000 --set rate=4000/s --agents 1 >before.txt
        "$DOCTOR" doctor "$PLAN" --set users=2000 --set rate=4000/s --agents 1 --script >script.sh
        sh script.sh >ran.txt
        "$DOCTOR" doctor "$PLAN" --set users=2000 --set rate=4000/s --agents 1 >after.txt
        "$DOCTOR" doctor "$PLAN" --set users=2000 --set rate=4000/s --agents 1 --script >again.sh
    """
    env = {**os.environ, "DOCTOR": str(BIN / "onrush"), "PLAN": str(PLAN), "ONRUSH_ETC": str(tmp_path / "etc")}
    done = subprocess.run([*words, "sh", "-c", story], cwd=tmp_path, env=env, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    before, after = (tmp_path / "before.txt").read_text(), (tmp_path / "after.txt").read_text()
    named = set(re.findall(r"^  (.+?)  .*  warning", before, re.MULTILINE))
    assert {"accept backlog", "sockets in TIME_WAIT"} <= named, before
    assert not set(re.findall(r"^  (.+?)  .*  warning", after, re.MULTILINE)) & named, after
    conf = (tmp_path / "etc/sysctl.d/90-onrush.conf").read_text()
    keys = re.findall(r"^(\S+) = ", conf, re.MULTILINE)
    assert "net.core.somaxconn" in keys and len(keys) == len(named), "only what this plan needs"
    assert not (tmp_path / "etc/security").exists()
    assert "nothing to set" in (tmp_path / "again.sh").read_text()
    if shutil.which("shellcheck"):
        for script in ("script.sh", "again.sh"):
            checked = subprocess.run(["shellcheck", tmp_path / script], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stdout


def test_a_runs_report_names_each_warning_of_a_host_once(tmp_path):
    words, possible = network_of_its_own()
    if not possible:
        pytest.skip("no network namespace can be made here")
    plan = write_plan(tmp_path, RAMP.format(port=9, users=40, over="100ms"))  # nobody listens there: it is over soon
    story = """
        sysctl -q -w net.core.somaxconn=1 net.ipv4.tcp_max_tw_buckets=1
        ip link set lo up
        "$ONRUSH" run "$PLAN" --agents 3 --http 127.0.0.1:0 --out results
    """
    env = {**os.environ, "ONRUSH": str(BIN / "onrush"), "PLAN": str(plan)}
    done = subprocess.run([*words, "sh", "-c", story], cwd=tmp_path, env=env, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 99, done.stderr
    warnings = summary(tmp_path / "results")["warnings"]
    for about in ("accept backlog", "sockets in TIME_WAIT"):
        assert len([w for w in warnings if f", {about}: " in w]) == 1, warnings
        assert len(re.findall(rf"^warning: .*, {about}: ", done.stderr, re.MULTILINE)) == 1, done.stderr
    assert " warning  " in done.stdout, "and in the summary"


def test_every_kind_of_script_is_clean(tmp_path):
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    code, script, _ = doctor(PLAN, "--agents", "1", "--target", "ws://198.51.100.5:80/x", "--script", descriptors=500)
    assert code == 0, "the script is what was asked for"
    assert "LimitNOFILE=1001000" in script and "ip address replace" in script
    (tmp_path / "script.sh").write_text(script)
    checked = subprocess.run(["shellcheck", tmp_path / "script.sh"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    # Without the addresses, which only the operator knows, it stops and says so.
    env = {"PATH": os.environ["PATH"], "ONRUSH_ETC": str(tmp_path / "etc")}
    only_addresses = script[:script.index("\nmkdir")] + script[script.index("\n# local ports"):]
    ran = subprocess.run(["sh", "-c", only_addresses], env=env, capture_output=True, text=True, timeout=20)
    assert ran.returncode != 0 and "free addresses" in ran.stderr


RAMP = """
name: ramp
target: ws://127.0.0.1:{port}/echo
scenarios:
  idler: {{script: [connect, listen]}}
stages:
  - {{name: setup, users: {users}, over: {over}}}
  - {{name: hold, for: 1s}}
thresholds:
  - failed_connections == 0
"""


def test_P055_descriptors_that_run_out_in_mid_run_are_our_fault_and_make_it_invalid(tmp_path):
    with start_target("beast") as target, Cluster(tmp_path) as cluster:
        agent = cluster.agent("load-1")
        run = cluster.run(write_plan(tmp_path, RAMP.format(port=target.port, users=300, over="6s")))
        deadline = time.monotonic() + 20
        while target.stats()["connections"] < 50 and time.monotonic() < deadline:
            time.sleep(0.05)
        resource.prlimit(agent.pid, resource.RLIMIT_NOFILE, (150, 20000))
        before = cpu_s(agent.pid)
        began = time.monotonic()
        assert run.wait(60) == 6, run.said() + run.printed()
        assert cpu_s(agent.pid) - before < 0.5 * (time.monotonic() - began), "it spins"
    found = summary(run.results)
    assert found["verdict"] == "invalid"
    assert re.match(r"a limit of our own machine was hit [\d,]+ times by load-1: no descriptor left \(EMFILE\); "
                    r"raise ulimit -n", found["reasons"][0]), found["reasons"]
    emfile = [f for f in found["failures"] if "EMFILE" in f["cause"]]
    assert emfile and all(f["ours"] and f["remedy"] for f in emfile)
    counts = found["counts"]
    assert counts["own_failed"] == sum(f["count"] for f in emfile) > 0
    assert counts["attempted"] == counts["opened"] + counts["failed"]
    assert found["thresholds"][0]["held"], "the target has failed nobody"


@pytest.mark.parametrize("taken, users, code", [(300, 20, 0), (6000, 5, 6)])
def test_P052_ports_that_others_hold_are_passed_over_and_counted_and_too_many_are_our_fault(tmp_path, taken, users,
                                                                                            code):
    address, first = "127.9.9.9", 1024
    held = []
    with start_target("beast") as target, Cluster(tmp_path) as cluster:
        try:
            for port in range(first, first + taken):
                held.append(socket.socket())
                try:
                    held[-1].bind((address, port))
                except OSError:
                    pass  # somebody holds it at every address, which is as good
            cluster.agent("load-1", "--source-addresses", address)
            run = cluster.run(write_plan(tmp_path, RAMP.format(port=target.port, users=users, over="100ms")))
            assert run.wait(60) == code, run.said() + run.printed()
        finally:
            for one in held:
                one.close()
    found = summary(run.results)
    assert found["counts"]["port_retries"] >= 300
    if code == 0:
        assert found["counts"]["opened"] == users
        return
    assert "port in use (EADDRINUSE)" in found["reasons"][0] and "load-1" in found["reasons"][0]
    assert found["counts"]["own_failed"] == found["counts"]["failed"] >= users


def memory_left():
    """core/memory_left's rule, in a few words; this process's own control group apart."""
    meminfo = {line.split()[0]: int(line.split()[1]) * 1024 for line in open("/proc/meminfo")}
    sockets = int(re.search(r"TCP: .* alloc (\d+)", open("/proc/net/sockstat").read()).group(1))
    return meminfo["MemAvailable:"] - min(sockets * 1057, meminfo["SReclaimable:"])


def test_a_run_that_nears_the_end_of_memory_closes_in_order_and_says_so(tmp_path):
    margin, appetite = 400_000_000, 800_000_000
    for attempt in range(3):  # others on this machine need memory too, between the look and the run
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with start_target("beast") as target:
            plan = write_plan(folder, RAMP.format(port=target.port, users=2000, over="40s"))
            run = Process(folder, "run", BIN / "onrush", "run", plan, "--http", "127.0.0.1:0", "--out",
                          folder / "results", "--memory-reserve", memory_left() - margin)
            try:
                eventually(lambda: target.stats()["connections"] >= 100 or run.process.poll() is not None, 20)
                hog = b"x" * appetite if run.process.poll() is None else b""
                began = time.monotonic()
                code = run.wait(60)
                took = time.monotonic() - began
                del hog
            finally:
                run.end()
            if code == 3:
                assert "keeps" in run.said() and "free, but has" in run.said()
                continue
            assert code == 6, run.said() + run.printed()
            assert target.stats()["connections"] == 0
        found = summary(folder / "results")
        assert found["reasons"][0].startswith("stopped before the memory ran out: agent-1's host had")
        assert took < 15, "it went on"
        assert 100 <= found["counts"]["opened"] == found["counts"]["closed"] < 2000
        assert found["counts"]["lost"] == found["counts"]["failed"] == 0
        return
    pytest.fail("memory on this machine is too restless for this test")


def test_a_run_that_would_not_leave_the_reserve_is_refused(tmp_path):
    with start_target("beast") as target:
        plan = write_plan(tmp_path, RAMP.format(port=target.port, users=10, over="1s"))
        process, found = run_embedded(tmp_path, plan, "--memory-reserve", "100TB")
        assert process.process.returncode == 3 and found is None
        assert "keeps 100 TB free, but has" in process.said(), process.said()
        assert target.stats()["connections"] == 0
