# ctest: serial timeout=300
"""A coordinator and agents started by hand: loss, refusal, signals, restarts. Real processes, real gRPC."""

import signal
import time
import urllib.request

import pytest
from onrush_cluster import BIN, Process, assert_accounts_balance, run_embedded, summary, write_plan
from onrush_testing import start_target

HOLD = """
name: hold
target: ws://127.0.0.1:{port}/echo
{extra}
scenarios:
  user:
    script:
      - connect
      - repeat: {{every: 500ms, do: [{{request: {{text: "hello ${{sequence}}", reply: any}}}}]}}
stages:
  - {{name: setup, users: {users}, rate: 600/s}}
  - {{name: hold, for: {hold}}}
  - {{name: down, users: 0, rate: 3000/s}}
"""


@pytest.fixture
def target():
    with start_target("beast") as server:
        yield server


def hold_plan(folder, target, users=300, hold="6s", extra=""):
    return write_plan(folder, HOLD.format(port=target.port, users=users, hold=hold, extra=extra))


def wait_until_open(cluster, count, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"http://{cluster.http}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        found = [float(line.split()[-1]) for line in text.splitlines() if line.startswith("onrush_connections_open{")]
        if sum(found) >= count:
            return
        time.sleep(0.1)
    raise AssertionError(f"never {count} open:\n{text[:2000]}")


def test_three_agents_run_one_plan_and_every_sum_holds(cluster, target, tmp_path):
    for name in ("a", "b", "c"):
        cluster.agent(name)
    run = cluster.run(hold_plan(tmp_path, target, hold="3s"))
    assert run.wait() == 0, run.said()
    found = summary(run.results)
    assert found["verdict"] == "passed"
    assert found["counts"]["opened"] == 300
    assert [agent["counts"]["opened"] for agent in found["agents"]] == [100, 100, 100]
    assert_accounts_balance(found)
    seen = target.stats()
    assert seen["messages_in"] == found["counts"]["messages_sent"]
    assert seen["messages_out"] == found["counts"]["messages_received"]


def test_a_killed_agent_leaves_a_degraded_verdict_that_names_it(cluster, target, tmp_path):
    agents = {name: cluster.agent(name) for name in ("a", "b", "c")}
    run = cluster.run(hold_plan(tmp_path, target))
    wait_until_open(cluster, 300)
    killed = time.monotonic()
    agents["b"].signal(signal.SIGKILL)
    cluster.coordinator.wait_for("lost b")
    assert time.monotonic() - killed < 3
    assert run.wait() == 5, run.said()
    found = summary(run.results)
    assert found["verdict"] == "degraded"
    assert any("b" in reason.split() for reason in found["reasons"]), found["reasons"]
    states = {agent["name"]: agent["state"] for agent in found["agents"]}
    assert states == {"a": "finished", "b": "lost", "c": "finished"}
    assert found["counts"]["lost"] == 100
    assert found["counts"]["open"] == 0
    assert any(second["agent"] == "b" for second in found["suspect_seconds"])
    assert_accounts_balance(found)


def test_on_agent_loss_abort_ends_the_run(cluster, target, tmp_path):
    agents = [cluster.agent(name) for name in ("a", "b")]
    run = cluster.run(hold_plan(tmp_path, target, hold="30s", extra="on_agent_loss: abort"))
    wait_until_open(cluster, 300)
    began = time.monotonic()
    agents[0].signal(signal.SIGKILL)
    assert run.wait() == 4
    assert time.monotonic() - began < 10
    assert summary(run.results)["verdict"] == "aborted"


def test_P056_an_agent_stopped_for_five_seconds_is_kept_and_nothing_is_lost(cluster, target, tmp_path):
    agents = [cluster.agent(name) for name in ("a", "b", "c")]
    run = cluster.run(hold_plan(tmp_path, target, hold="10s"))
    wait_until_open(cluster, 300)
    agents[1].signal(signal.SIGSTOP)
    time.sleep(5)
    agents[1].signal(signal.SIGCONT)
    run.wait()
    found = summary(run.results)
    assert {agent["state"] for agent in found["agents"]} == {"finished"}
    assert any(second["agent"] == "b" for second in found["suspect_seconds"]), "its lateness is admitted"
    assert_accounts_balance(found)


def test_P056_an_agent_stopped_for_long_is_lost_once_and_may_come_back_for_the_next_run(cluster, target, tmp_path):
    agents = [cluster.agent(name) for name in ("a", "b")]
    run = cluster.run(hold_plan(tmp_path, target, hold="15s"))
    wait_until_open(cluster, 300)
    agents[1].signal(signal.SIGSTOP)
    cluster.coordinator.wait_for("nothing heard for 3 s of b", seconds=6)
    cluster.coordinator.wait_for("lost b", seconds=10)
    agents[1].signal(signal.SIGCONT)
    assert run.wait() == 5
    found = summary(run.results)
    assert found["counts"]["lost"] == 150
    assert_accounts_balance(found)
    agents[1].wait(20)
    again = cluster.agent("b")
    again.wait_for("attached to")
    second = cluster.run(hold_plan(tmp_path, target, hold="1s"), name="second")
    assert second.wait() == 0, second.said()


def test_P058_an_agent_that_restarts_in_mid_run_waits_for_the_next(cluster, target, tmp_path):
    agents = [cluster.agent(name) for name in ("a", "b")]
    run = cluster.run(hold_plan(tmp_path, target, hold="5s"))
    wait_until_open(cluster, 300)
    agents[0].signal(signal.SIGKILL)
    cluster.coordinator.wait_for("a detached")
    cluster.agent("a")
    assert run.wait() == 5
    found = summary(run.results)
    assert len(found["agents"]) == 2
    assert found["counts"]["opened"] == 300


def test_P059_too_few_agents_are_refused_and_nothing_begins(cluster, target, tmp_path):
    cluster.agent("a")
    run = cluster.run(hold_plan(tmp_path, target), "--agents", "3")
    assert run.wait(40) == 3
    assert "1 of 3 agents attached" in run.said()
    assert target.stats()["messages_in"] == 0


def test_P059_an_agent_that_cannot_hold_its_share_refuses_with_the_remedy(cluster, target, tmp_path):
    agent = cluster._start("small", "bash", "-c",
                           f"ulimit -n 256; exec {BIN}/onrush-agent --coordinator {cluster.control} --name small")
    agent.wait_for("attached to")
    run = cluster.run(hold_plan(tmp_path, target, users=5000))
    assert run.wait() == 3
    assert "small" in run.said() and "ulimit -n" in run.said(), run.said()
    assert target.stats()["connections"] == 0


def test_a_lost_coordinator_makes_agents_close_in_order_and_say_so(cluster, target, tmp_path):
    agents = [cluster.agent(name) for name in ("a", "b")]
    cluster.run(hold_plan(tmp_path, target, hold="30s"))
    wait_until_open(cluster, 300)
    cluster.coordinator.signal(signal.SIGKILL)
    for agent in agents:
        assert agent.wait(20) == 70
        assert "lost the coordinator" in agent.said()
        assert "all connections are closed" in agent.said()
    time.sleep(0.5)
    assert target.stats()["connections"] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_in_order_and_leaves_the_summary(number, target, tmp_path):
    plan = hold_plan(tmp_path, target, hold="60s")
    process = Process(tmp_path, "run", BIN / "onrush", "run", plan, "--http", "127.0.0.1:0", "--agents", "2", "--out",
                      tmp_path / "results")
    deadline = time.monotonic() + 20
    while target.stats()["connections"] < 300 and time.monotonic() < deadline:
        time.sleep(0.1)
    process.signal(number)
    assert process.wait(20) == 130, process.said()
    found = summary(tmp_path / "results")
    assert found["verdict"] == "interrupted"
    assert found["counts"]["opened"] == 300 and found["counts"]["open"] == 0
    assert "INTERRUPTED" in process.printed()
    assert_accounts_balance(found)
    assert target.stats()["connections"] == 0


def test_a_second_signal_ends_at_once(target, tmp_path):
    plan = hold_plan(tmp_path, target, hold="60s")
    process = Process(tmp_path, "run", BIN / "onrush", "run", plan, "--http", "127.0.0.1:0")
    deadline = time.monotonic() + 20
    while target.stats()["connections"] < 300 and time.monotonic() < deadline:
        time.sleep(0.1)
    began = time.monotonic()
    process.signal(signal.SIGINT)
    process.signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert time.monotonic() - began < 5


def test_a_second_run_is_rejected_while_one_is_under_way(cluster, target, tmp_path):
    cluster.agent("a")
    plan = hold_plan(tmp_path, target, users=10, hold="4s")
    first = cluster.run(plan)
    wait_until_open(cluster, 10)
    second = cluster.run(plan, name="second")
    assert second.wait() == 3
    assert "a run under way" in second.said()
    assert first.wait() == 0


def test_a_name_that_is_attached_already_is_refused(cluster):
    cluster.agent("a")
    other = cluster._start("other", BIN / "onrush-agent", "--coordinator", cluster.control, "--name", "a")
    assert other.wait(20) == 70
    assert "named a is attached already" in other.said()


@pytest.mark.parametrize("name", ["", "a b", "a\n2026 info onrush: forged", "\x1b[2J", "x" * 200])
def test_a_name_that_would_forge_a_log_line_is_refused(name, cluster):
    agent = cluster._start("odd", BIN / "onrush-agent", "--coordinator", cluster.control, "--name", name)
    assert agent.wait(20) == 2
    assert "--name" in agent.said()


def test_P052_a_source_address_of_another_host_is_refused_before_the_start(cluster, target, tmp_path):
    cluster.agent("a", "--source-addresses", "127.0.0.9,198.51.100.7")
    run = cluster.run(write_plan(tmp_path, HOLD.format(port=target.port, users=20, hold="1s", extra="")))
    assert run.wait(30) == 3
    assert "198.51.100.7 is no address of this host" in run.said()


def test_a_second_ctrl_c_ends_the_command_though_its_coordinator_stands_still(cluster, target, tmp_path):
    cluster.agent("a")
    run = cluster.run(hold_plan(tmp_path, target, hold="30s"))
    wait_until_open(cluster, 300)
    cluster.coordinator.signal(signal.SIGSTOP)
    run.signal(signal.SIGINT)
    time.sleep(0.5)
    run.signal(signal.SIGINT)
    assert run.wait(10) == 130
    assert "does not answer" in run.said()


def test_P071_nothing_listens_is_never_a_pass(tmp_path):
    plan = write_plan(tmp_path, HOLD.format(port=1, users=20, hold="1s", extra=""))
    process, found = run_embedded(tmp_path, plan)
    assert process.process.returncode not in (0, None)
    assert found["counts"]["failed"] == found["counts"]["attempted"] == 20
    assert [(f["phase"], f["ours"]) for f in found["failures"]] == [("connect", False)]
    assert "ECONNREFUSED" in found["failures"][0]["cause"]


def test_no_coordinator_is_one_clear_error(tmp_path, target):
    process = Process(tmp_path, "run", BIN / "onrush", "run", hold_plan(tmp_path, target), "--coordinator",
                      "127.0.0.1:1")
    assert process.wait(30) == 70
    assert "no coordinator answers at 127.0.0.1:1" in process.said()


def test_listening_beyond_loopback_is_said_loudly(tmp_path):
    process = Process(tmp_path, "coordinator", BIN / "onrush", "coordinator", "--listen", "0.0.0.0:0", "--http",
                      "127.0.0.1:0")
    try:
        process.wait_for("NEITHER ENCRYPTED NOR AUTHENTICATED")
    finally:
        process.end()
