# ctest: timeout=60 asan
"""What the upgrade request of a plan looks like on the wire, and what a server's choice of subprotocol means."""

import re

from onrush_cluster import failures, run_embedded, write_plan
from upgrade_server import UpgradeServer

PLAN = """
name: dressed
target: ws://127.0.0.1:{port}/room?id=1
connection:
  headers: {{Host: chat.example, Authorization: "Bearer ${{env.ONRUSH_TEST_TOKEN}}-${{user}}", X-Plain: "1"}}
  cookies: {{session: "${{uuid}}", theme: dark}}
  subprotocols: [chat.v2, chat.v1]
scenarios:
  visitor:
    script:
      - connect: {{headers: {{x-plain: "2", X-Agent: "${{agent}}"}}}}
      - close
stages:
  - {{name: burst, arrivals: 40/s, for: 500ms}}
  - {{name: drain, arrivals: 0/s}}
"""
USERS = 20


def run_against(tmp_path, monkeypatch, protocol):
    monkeypatch.setenv("ONRUSH_TEST_TOKEN", "secret")
    with UpgradeServer(protocol) as server:
        process, found = run_embedded(tmp_path, write_plan(tmp_path, PLAN.format(port=server.port)), "--agents", 2)
    return server, process, found


def test_headers_and_cookies_are_each_users_own_and_host_is_there_once(tmp_path, monkeypatch):
    server, process, found = run_against(tmp_path, monkeypatch, "chat.v1")
    assert process.process.returncode == 0, process.said() + process.printed()
    assert found["counts"]["opened"] == found["counts"]["closed"] == len(server.heads) == USERS
    users, sessions, agents = set(), set(), set()
    for head in server.heads:
        lines = head.split("\r\n")
        assert lines[0] == "GET /room?id=1 HTTP/1.1"
        fields = dict(line.split(": ", 1) for line in lines[1:-2])
        assert len({name.lower() for name in fields}) == len(lines[1:-2])
        assert fields["Host"] == "chat.example" and fields["x-plain"] == "2"
        assert fields["Sec-WebSocket-Protocol"] == "chat.v2, chat.v1"
        users.add(re.fullmatch(r"Bearer secret-(\d+)", fields["Authorization"])[1])
        sessions.add(re.fullmatch(r"session=([0-9a-f-]{36}); theme=dark", fields["Cookie"])[1])
        agents.add(fields["X-Agent"])
    assert len(users) == len(sessions) == USERS
    assert agents == {"1", "2"}


def test_a_scenario_has_a_path_and_headers_of_its_own_and_a_reconnect_asks_as_the_connect_before(tmp_path):
    text = """
name: rooms
target: ws://127.0.0.1:{port}/lobby
connection: {{path: /hall, headers: {{X-Plan: plan, X-Who: plan}}, cookies: {{a: "1"}}}}
scenarios:
  plain: {{script: [connect, close]}}
  member:
    connection: {{path: "/room/${{user}}?from=a b", headers: {{x-who: "member ${{user}}"}}, cookies: {{b: "2"}}}}
    script:
      - connect
      - reconnect
      - close
      - connect: {{path: /step, headers: {{X-Step: "1"}}}}
      - reconnect: {{by: rst}}
      - close
stages:
  - {{name: burst, arrivals: {{plain: 10/s, member: 10/s}}, for: 500ms}}
  - {{name: drain, arrivals: {{plain: 0/s, member: 0/s}}}}
"""
    with UpgradeServer(None) as server:
        process, found = run_embedded(tmp_path, write_plan(tmp_path, text.format(port=server.port)), "--agents", 2)
    assert process.process.returncode == 0, process.said() + process.printed()
    asked = {}
    for head in server.heads:
        lines = head.split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:-2])
        assert fields["x-plan"] == "plan"
        who = (fields["x-who"], fields["cookie"], fields.get("x-step"), lines[0].split(" ")[1])
        asked[who] = asked.get(who, 0) + 1
    plain = asked.pop(("plan", "a=1", None, "/hall"))
    assert plain == 5 and len(asked) == 10 and set(asked.values()) == {2}, asked
    for who, cookie, step, path in asked:
        number = who.removeprefix("member ")
        assert cookie == "a=1; b=2"
        assert path == ("/step" if step else f"/room/{number}?from=a%20b")


def test_a_choice_that_was_not_offered_fails_with_its_own_cause(tmp_path, monkeypatch):
    for protocol, cause in (("chat.v3", "unasked_protocol"), (None, "missing_protocol")):
        _, process, found = run_against(tmp_path, monkeypatch, protocol)
        assert process.process.returncode == 99, process.said()
        assert found["counts"]["failed"] == USERS and found["counts"]["opened"] == 0
        assert failures(found) == {("upgrade", cause, 0): USERS}
