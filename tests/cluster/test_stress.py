# ctest: serial timeout=300
"""Real agents against a target under stress: it stops reading, floods, is asked for more than anybody can do.

Counts stay exact, memory bounded, and the other users keep their latency."""

import signal
import time

from onrush_cluster import assert_accounts_balance, summary, until, write_plan
from process_facts import MemoryWatch
from rough_server import RoughServer

MIB = 1 << 20


DEAF = """
name: deaf
target: ws://127.0.0.1:{port}/
scenarios:
  sender:
    script:
      - connect
      - send: {{text: deaf 6}}
      - repeat: {{for: 8s, every: 40ms, do: [{{send: {{bytes: 60000}}}}]}}
      - listen: {{}}
  pinger:
    script:
      - connect
      - repeat: {{every: 100ms, do: [request: {{text: "ping ${{sequence}}", reply: {{text: "ping ${{sequence}}"}}}}]}}
stages:
  - {{name: setup, users: {{sender: 10, pinger: 20}}, over: 500ms, for: 14s}}
  - {{name: down, users: {{sender: 0, pinger: 0}}, rate: 100/s}}
"""


def test_a_target_that_stops_reading_costs_one_message_a_user_and_none_is_left_out(cluster, tmp_path):
    """In the six seconds some 9 MB a user are due; socket buffers take 4 of them at most."""
    agent = cluster.agent("a")
    with RoughServer(receive_bytes=32768) as server:
        run = cluster.run(write_plan(tmp_path, DEAF.format(port=server.port)))
        until(lambda: server.opened == 30)
        with MemoryWatch(agent.pid) as memory:
            assert run.wait() == 0 or summary(run.results)["verdict"] == "invalid", run.said()
        found = summary(run.results)
        counts = found["counts"]
        assert_accounts_balance(found)
        assert memory.most - memory.first < 6 * MIB, "unsent messages pile up"
        by_scenario = {s["name"]: s["counts"] for s in found["scenarios"]}
        assert by_scenario["sender"]["messages_sent"] == 10 * (1 + 200)
        assert counts["messages_sent"] == server.messages_in
        assert counts["lost"] == counts["failed_requests"] == 0, found["failures"]
        # What waited for room was seconds late, and that was not our doing.
        assert found["times"]["sending_time"]["count"] == 10 * 200
        assert found["times"]["sending_time"]["max_us"] > 3_000_000
        assert found["times"]["send_lag"]["max_us"] < 3_000_000


FLOOD = """
name: flood
target: ws://127.0.0.1:{port}/
scenarios:
  pinger:
    script:
      - connect
      - repeat: {{every: 100ms, do: [request: {{text: "ping ${{sequence}}", reply: {{text: "ping ${{sequence}}"}}}}]}}
  flooded: {{script: [connect, send: {{text: flood}}, think: 4s, send: {{text: calm}}, listen: {{}}]}}
stages:
  - {{name: setup, users: {{pinger: 40}}, over: 500ms, for: 500ms}}
  - {{name: calm, for: 3s}}
  - {{name: flooded, users: {{flooded: 4}}, over: 100ms, for: 4s}}
  - {{name: ebb, for: 4s}}
  - {{name: down, users: {{flooded: 0, pinger: 0}}, rate: 100/s}}
"""


def test_P083_a_flood_on_some_sockets_leaves_the_others_their_latency_and_memory_flat(cluster, tmp_path):
    agent = cluster.agent("a")
    with RoughServer() as server:
        run = cluster.run(write_plan(tmp_path, FLOOD.format(port=server.port)))
        until(lambda: server.opened == 40)
        with MemoryWatch(agent.pid) as memory:
            run.wait()
        found = summary(run.results)
        assert_accounts_balance(found)
        assert memory.most - memory.first < 6 * MIB, "what nobody waits for is kept"
        assert found["counts"]["messages_received"] == server.messages_out
        stages = {s["name"]: s for s in found["stages"]}
        flooded = stages["flooded"]
        assert flooded["counts"]["messages_received"] > 200_000, "it was no flood"
        assert flooded["counts"]["requests"] > 0.8 * 40 * 10 * 4, "the others starved"
        calm_us, flooded_us = (stages[name]["times"]["round_trip_time"]["p50_us"] for name in ("calm", "flooded"))
        assert flooded_us < calm_us + 20_000
        assert found["counts"]["failed_requests"] == 0


PINGED = """
name: pinged
target: ws://127.0.0.1:{port}/
scenarios:
  user:
    script:
      - connect
      - send: {{text: pings 3}}
      - think: 4s
      - request: {{text: still here, reply: {{text: still here}}, timeout: 20s}}
stages:
  - {{name: setup, users: 5, over: 100ms, for: 6s}}
"""


def test_P020_a_ping_flood_by_a_peer_that_does_not_read_leaves_one_pong_owed(cluster, tmp_path):
    agent = cluster.agent("a")
    with RoughServer(receive_bytes=32768) as server:
        run = cluster.run(write_plan(tmp_path, PINGED.format(port=server.port)))
        until(lambda: server.opened == 5)
        with MemoryWatch(agent.pid) as memory:
            run.wait()
        found = summary(run.results)
        assert_accounts_balance(found)
        assert server.pings_out > 100_000, "it was no flood"
        assert 5 <= server.pongs_in < server.pings_out
        assert memory.most - memory.first < 4 * MIB, "pongs pile up"
        assert found["counts"]["requests"] == 5 and found["counts"]["failed_requests"] == 0
        assert "round_trip_time" in found["times"] and found["times"]["round_trip_time"]["count"] == 5


STORM = """
name: storm
target: ws://127.0.0.1:{port}/
scenarios:
  pinger: {{script: [connect, {{repeat: {{every: 100ms, do: [{{request: {{text: x, reply: any, timeout: 20s}}}}]}}}}]}}
  visitor: {{script: [connect: {{timeout: 20s}}, drop]}}
stages:
  - {{name: setup, users: {{pinger: 20}}, over: 500ms, for: 500ms}}
  - {{name: storm, arrivals: {{visitor: 5000000/s}}, for: {storm}}}
  - {{name: ebb, arrivals: {{visitor: 0/s}}, for: 1s}}
"""


def test_P097_a_rate_beyond_reach_is_counted_to_the_last_arrival_and_the_agent_says_it_is_late(cluster, tmp_path):
    cluster.agent("a")
    with RoughServer() as server:
        run = cluster.run(write_plan(tmp_path, STORM.format(port=server.port, storm="2s")))
        assert run.wait(120) == 6, run.said()
        found = summary(run.results)
    assert_accounts_balance(found)
    by_scenario = {s["name"]: s["counts"] for s in found["scenarios"]}
    visitor, pinger = by_scenario["visitor"], by_scenario["pinger"]
    assert visitor["arrivals"] == 10_000_000 == visitor["attempted"] + visitor["dropped_arrivals"]
    assert any("late by" in s["cause"] for s in found["suspect_seconds"])
    assert pinger["failed_requests"] == 0 and pinger["requests"] > 40, "what is open goes on"


def test_P097_a_stop_ends_a_storm_at_once(cluster, tmp_path):
    cluster.agent("a")
    with RoughServer() as server:
        run = cluster.run(write_plan(tmp_path, STORM.format(port=server.port, storm="60s")))
        until(lambda: server.opened > 40)
        time.sleep(1)
        began = time.monotonic()
        run.signal(signal.SIGINT)
        assert run.wait(60) == 130
        assert time.monotonic() - began < 15
        found = summary(run.results)
    assert_accounts_balance(found)
    visitor = next(s["counts"] for s in found["scenarios"] if s["name"] == "visitor")
    assert visitor["arrivals"] == visitor["attempted"] + visitor["dropped_arrivals"] > 1_000_000
