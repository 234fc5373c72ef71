# ctest: serial timeout=240
"""GraphQL over WebSocket against the real libraries: graphql-ws and subscriptions-transport-ws on Node.js."""

import csv
import os
import subprocess
import sys

import pytest
from onrush_cluster import BIN, ROOT, assert_accounts_balance, failures, run_embedded, write_plan
from onrush_testing import eventually, start_target
from rough_server import RoughServer

CHAT = """
name: chat
target: ws://127.0.0.1:{port}/graphql
connection: {{protocol: {protocol}, init: {{token: "user-${{user}}"}}}}
scenarios:
  user:
    script:
      - connect
      - subscribe:
          as: events
          query: 'subscription ($channel: String!) {{ message(channel: $channel) {{ id sentUs }} }}'
          variables: {{channel: "user-${{user}}"}}
      - query: {{query: '{{ time }}'}}
      - repeat:
          every: 100ms
          times: 10
          do:
            - mutate:
                query: 'mutation ($c: String!, $i: String!, $s: Float!) {{ publish(channel: $c, id: $i, sentUs: $s) }}'
                variables: {{c: "user-${{user}}", i: "${{user}}-\\"${{sequence}}\\"", s: "${{now_us}}"}}
                reply: {{on: events, json: {{/data/message/id: "${{user}}-\\"${{sequence}}\\""}}}}
      - unsubscribe: events
      - close
stages:
  - {{name: hold, arrivals: 50/s, over: 1s, for: 1s}}
  - {{name: drain, arrivals: 0/s}}
"""


@pytest.mark.parametrize("protocol", ["graphql-transport-ws", "graphql-ws", "[graphql-ws, graphql-transport-ws]"])
def test_subscriptions_queries_and_mutations_are_counted_alike_on_both_sides(protocol, tmp_path):
    with start_target("graphql-node") as target:
        plan = write_plan(tmp_path, CHAT.format(port=target.port, protocol=protocol))
        process, found = run_embedded(tmp_path, plan, "--agents", 2)
        assert process.process.returncode == 0, process.said() + process.printed()
        seen = eventually(lambda: (s := target.stats())["connections"] == 0 and s)
    counts, times = found["counts"], found["times"]
    assert_accounts_balance(found)
    assert counts["opened"] == counts["subscriptions"] == 75
    assert counts["requests"] == 75 * 11 and counts["failed_requests"] == 0
    assert counts["events"] == 75 * 10 and counts["graphql_errors"] == 0
    assert found["failures"] == []
    assert times["ack_time"]["count"] == times["first_event_time"]["count"] == 75
    assert times["response_time"]["count"] == 750
    assert times["handshake_time"]["mean_us"] > times["ack_time"]["mean_us"]
    assert seen["messages_in"] == counts["messages_sent"]
    # What was still under way when we closed came for nobody.
    assert 0 <= seen["messages_out"] - counts["messages_received"] < 75


REFUSED = """
name: refused
target: ws://127.0.0.1:{port}/graphql
connection: {{protocol: graphql-transport-ws}}
scenarios:
  user:
    script:
      - connect
      - subscribe: {{as: events, query: 'subscription {{ nothing }}'}}
      - subscribe: {{as: others, query: 'subscription {{ message(channel: "a") {{ id }} }}'}}
      - query: {{query: '{{ nothing }}'}}
      - query: {{query: '{{ time }}'}}
      - close
stages:
  - {{name: one, arrivals: 10/s, for: 1s}}
  - {{name: drain, arrivals: 0/s}}
"""


def test_what_the_server_refuses_is_a_graphql_error_and_no_failed_request(tmp_path):
    with start_target("graphql-node") as target:
        process, found = run_embedded(tmp_path, write_plan(tmp_path, REFUSED.format(port=target.port)))
        assert process.process.returncode == 0, process.said() + process.printed()
    assert found["counts"]["graphql_errors"] == 20
    assert found["counts"]["requests"] == 20 and found["counts"]["failed_requests"] == 0
    assert failures(found) == {("open", "operation_refused", 0): 10, ("request", "operation_refused", 0): 10}
    assert all("Cannot query field" in row["sample"] for row in found["failures"])


# P071
def test_a_server_that_refuses_every_subscription_fails_the_run(tmp_path):
    plan = "".join(line for line in REFUSED.splitlines(True) if "as: others" not in line)
    with start_target("graphql-node") as target:
        process, found = run_embedded(tmp_path, write_plan(tmp_path, plan.format(port=target.port)))
    assert process.process.returncode == 99 and found["reasons"] == ["none of 10 subscriptions was accepted"]


def test_a_server_that_takes_the_subprotocol_and_never_acknowledges_is_given_up(tmp_path):
    plan = REFUSED.replace("{{protocol", "{{ack_timeout: 500ms, protocol").replace("/graphql", "/broadcast")
    with start_target("ws-node") as server:
        process, found = run_embedded(tmp_path, write_plan(tmp_path, plan.format(port=server.port)))
    assert found["counts"]["opened"] == 0 and found["counts"]["failed"] == 10
    assert failures(found) == {("ack", "timeout", 500): 10}


@pytest.mark.parametrize("shortened", [20])
def test_the_study_runs_both_plans_and_prints_their_columns(shortened, tmp_path):
    out = tmp_path / "study"
    study = subprocess.run([sys.executable, ROOT / "studies/graphql-vs-websocket/run.py", "--low", "20",
                            "--high", "100", "--shorten", str(shortened), "--out", out], capture_output=True,
                           text=True, timeout=120, env={**os.environ, "ONRUSH_BIN": str(BIN)})
    assert study.returncode == 0, study.stdout + study.stderr
    with open(out / "seconds.csv", newline="") as table:
        seconds = list(csv.DictReader(table))
    for side in ("websocket", "graphql"):
        assert max(int(row[f"{side}_users"] or 0) for row in seconds) == 100
        assert max(float(row[f"{side}_cpu_s"] or 0) for row in seconds) > 0
        assert max(int(row[f"{side}_memory_bytes"] or 0) for row in seconds) > 10_000_000
        assert sum(int(row[f"{side}_failed"] or 0) + int(row[f"{side}_failed_requests"] or 0) for row in seconds) == 0
    assert "rtt p99 ms" in study.stdout and "handshake mean ms" in study.stdout and "cpu cores" in study.stdout


def test_a_server_that_answers_no_subprotocol_and_says_nothing_is_given_up(tmp_path):
    plan = REFUSED.replace("{{protocol", "{{ack_timeout: 500ms, protocol")
    with RoughServer() as server:  # echoes what it gets: connection_init from a server is out of place
        process, found = run_embedded(tmp_path, write_plan(tmp_path, plan.format(port=server.port)))
    assert found["counts"]["opened"] == 0 and found["counts"]["failed"] == 10
    assert failures(found) == {("ack", "timeout", 500): 10, ("open", "unexpected_message", 1): 10}
