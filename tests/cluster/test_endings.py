# ctest: serial timeout=300
"""Real agents whose connections come and go hard: resets, ten thousand ends at once, an accept queue that is full.

Everything is counted once, and as what it was; afterwards the agent rests and its memory is what it was."""

import subprocess
import time

import pytest
from onrush_cluster import BIN, Cluster, Process, assert_accounts_balance, failures, summary, until, write_plan
from onrush_testing import start_target
from process_facts import cpu_s, cpu_share, private_bytes
from rough_server import RoughServer

MIB = 1 << 20


CROWD = """
name: crowd
target: ws://127.0.0.1:{port}/
scenarios:
  idler: {{script: [connect: {{timeout: 20s}}, listen: {{}}]}}
stages:
  - {{name: setup, users: 10000, rate: 2500/s}}
  - {{name: hold, for: 12s}}
"""


@pytest.mark.parametrize("how, failure", [({"reset": True}, ("open", "system", 104)),
                                          ({"close_frame": True}, ("open", "peer_close", 1001))],
                         ids=["reset", "close_frame"])
def test_ten_thousand_ends_at_once_are_counted_once_and_then_the_agent_rests(how, failure, cluster, tmp_path):
    agent = cluster.agent("a", "--workers", "2")
    with RoughServer() as server:
        # A first, small run: what a process takes once, for good, is not the crowd's.
        small = cluster.run(write_plan(tmp_path, CROWD.format(port=server.port).replace("10000", "10")
                                       .replace("12s", "100ms"), name="small.yaml"), name="small")
        assert small.wait() == 0, small.said()
        time.sleep(1)
        before = private_bytes(agent.pid)
        run = cluster.run(write_plan(tmp_path, CROWD.format(port=server.port)))
        until(lambda: server.opened == 10_010, 60)
        time.sleep(2)
        cpu_before = cpu_s(agent.pid)
        server.end_all(**how)
        time.sleep(2)
        spent = cpu_s(agent.pid) - cpu_before
        idle = cpu_share(agent.pid, 3)
        run.wait()
        found = summary(run.results)
        time.sleep(1)
        after = private_bytes(agent.pid)
    counts = found["counts"]
    assert_accounts_balance(found)
    assert counts["attempted"] == counts["opened"] == counts["closed"] == counts["lost"] == 10_000
    assert failures(found) == {failure: 10_000}
    assert found["times"]["session_time"]["count"] == 10_000
    assert spent < 1.0, "seconds of CPU for 10,000 ends"
    assert idle < 0.02, "of a core, with nothing left to do"
    assert after - before < 2 * MIB, (before, after)


SLOW_ACCEPT = """
name: slow-accept
target: ws://127.0.0.1:{port}/
scenarios:
  user: {{script: [connect: {{timeout: {timeout}}}, listen: {{}}]}}
stages:
  - {{name: setup, users: {users}, rate: 500/s}}
"""


def test_a_full_accept_queue_shows_as_retried_and_timed_out_attempts_and_makes_the_second_suspect(cluster, tmp_path):
    cluster.agent("a")
    with RoughServer(backlog=8, accepts_per_s=30) as server:
        run = cluster.run(write_plan(tmp_path, SLOW_ACCEPT.format(port=server.port, users=150, timeout="4s")))
        run.wait()
        found = summary(run.results)
        counts = found["counts"]
        assert_accounts_balance(found)
        assert counts["attempted"] == 150
        assert 8 < counts["opened"] < 150 and counts["opened"] <= server.opened
        told = failures(found)
        assert set(told) <= {("connect", "timeout", 4000), ("upgrade", "timeout", 4000)}, told
        assert sum(told.values()) == counts["failed"] > 0
        assert not any(row["ours"] for row in found["failures"])
        assert found["times"]["tcp_connect_time"]["max_us"] > 900_000, "a SYN is sent again after a second"
        assert any("full accept queue" in second["cause"] for second in found["suspect_seconds"])


def test_attempts_that_TCP_gives_up_are_told_apart_from_those_that_the_plan_gives_up(tmp_path):
    """In a network of its own, where TCP sends a SYN twice and gives up after three seconds."""
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("may not make a network namespace here")
    deaf = "import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 9)); s.listen(0); time.sleep(30)"
    plan = write_plan(tmp_path, SLOW_ACCEPT.format(port=9, users=40, timeout="8s"))
    run = Process(tmp_path, "run", "unshare", "--net", "bash", "-c", f"""
        ip link set lo up && echo 1 > /proc/sys/net/ipv4/tcp_syn_retries || exit 1
        timeout 60 python3 -c "{deaf}" & sleep 0.5
        {BIN}/onrush run {plan} --http 127.0.0.1:0 --agents 1 --out {tmp_path}/results; kill $!""")
    run.wait(60)
    found = summary(tmp_path / "results")
    assert_accounts_balance(found)
    told = failures(found)
    given_up = told.pop(("connect", "system", 110), 0)  # ETIMEDOUT
    assert given_up >= 35, found["failures"]
    assert set(told) == {("upgrade", "timeout", 8000)}, "those whom the queue has taken get no answer"
    assert given_up + told["upgrade", "timeout", 8000] == found["counts"]["failed"] == 40
    assert not any(row["ours"] for row in found["failures"])


CHURN = """
name: churn
target: ws://127.0.0.1:{port}/
scenarios:
  visitor:
    script:
      - connect
      - repeat: {{times: 10, do: [{{request: {{text: "hello", reply: any}}}}, {{think: 20ms}}]}}
stages:
  - {{name: churn, arrivals: 200/s, for: 4s}}
  - {{name: drain, arrivals: 0/s}}
"""


def test_P022_connections_that_are_reset_in_the_middle_are_each_counted_once_on_both_sides(cluster, tmp_path):
    agent = cluster.agent("a", "--workers", "2")
    with RoughServer() as server:
        server.reset_after = 3
        run = cluster.run(write_plan(tmp_path, CHURN.format(port=server.port)))
        run.wait()
        found = summary(run.results)
        counts = found["counts"]
        assert_accounts_balance(found)
        assert counts["arrivals"] == counts["opened"] == counts["lost"] == server.opened == server.ended == 800
        assert counts["messages_sent"] == server.messages_in == 3 * 800
        assert counts["messages_received"] == server.messages_out == 2 * 800
        assert failures(found) == {("open", "system", 104): 800}
        assert counts["requests"] == 3 * 800 and counts["failed_requests"] == 800
    assert agent.process.poll() is None, "no signal of a broken pipe ends it"


def test_P007_users_whom_the_target_turns_out_at_once_stay_away_and_do_not_hammer_it(cluster, tmp_path):
    cluster.agent("a")
    with RoughServer() as server:
        server.closes_at_once = True
        plan = CROWD.format(port=server.port).replace("10000", "50").replace("12s", "3s")
        run = cluster.run(write_plan(tmp_path, plan))
        run.wait()
        found = summary(run.results)
        assert server.accepted == found["counts"]["attempted"] == found["counts"]["lost"] == 50
        assert failures(found) == {("open", "peer_close", 1008): 50}
        assert found["verdict"] != "passed"


BOTH = """
name: both
target: ws://127.0.0.1:{port}/echo
scenarios:
  pinger:
    script:
      - connect
      - repeat: {{times: 15, every: 200ms, do: [{{request: {{text: "x ${{sequence}}", reply: any}}}}]}}
      - listen
  visitor: {{script: [connect, {{request: {{bytes: 300, reply: any}}}}, {{think: 300ms}}, drop]}}
stages:
  - {{name: setup, users: {{pinger: 41}}, over: 1s}}
  - {{name: crowd, arrivals: {{visitor: 150/s}}, over: 2s, for: 2s}}
  - {{name: drain, arrivals: {{visitor: 0/s}}, users: {{pinger: 7}}, rate: 100/s}}
"""


def test_two_workers_of_one_agent_count_what_two_agents_of_one_worker_count(tmp_path):
    told = []
    for shape in ([("a", 2)], [("a", 1), ("b", 1)]):
        folder = tmp_path / f"{len(shape)}-agents"
        folder.mkdir()
        with start_target("beast") as target, Cluster(folder) as cluster:
            for name, workers in shape:
                cluster.agent(name, "--workers", workers)
            run = cluster.run(write_plan(folder, BOTH.format(port=target.port)))
            run.wait()
            found = summary(run.results)
        assert_accounts_balance(found)
        assert found["counts"]["failed"] == found["counts"]["lost"] == 0, found["failures"]
        counted = ("attempted", "opened", "closed", "arrivals", "dropped_arrivals", "messages_sent",
                   "messages_received")
        told.append([{key: part["counts"][key] for key in counted} for part in [found] + found["scenarios"]] +
                    [part["counts"]["attempted"] for part in found["stages"]])
    assert told[0] == told[1]
    assert told[0][0]["opened"] == 41 + 150 * 2 / 2 + 150 * 2
