# ctest: timeout=120
"""Every step of a script, as its user types it, against target-beast: what each did is counted on both sides."""

import time

from onrush_cluster import assert_accounts_balance, run_embedded, write_plan
from onrush_testing import start_target

USERS = 30
STEPS = """
name: steps
target: ws://127.0.0.1:{port}/echo
scenarios:
  walker:
    script:
      - connect
      - send: {{text: "noise"}}
      - send: {{text: '{{"id":"${{user}}","n":${{sequence}}}}'}}
      - expect: {{json: {{/id: "${{user}}", /n: "2"}}, timeout: 5s}}
      - request: {{text: "id=${{user}}", reply: {{regex: 'id=(\\d+)$', group: "${{user}}"}}, timeout: 5s}}
      - repeat: {{times: 3, do: [ping, {{think: {{normal: 20ms, deviation: 5ms}}}}]}}
      - log: "user ${{user}} has been here"
      - reconnect
      - expect: {{text: nothing is sent, timeout: 200ms}}
      - reconnect: {{by: rst}}
      - think: {{log_normal: 20ms, deviation: 20ms, within: 1ms..100ms}}
      - close
stages:
  - {{name: all, arrivals: {users}/s, for: 1s}}
  - {{name: drain, arrivals: 0/s}}
thresholds:
  - ping_time p99 < 5s
  - expect_time count == {users}
"""


def test_every_step_does_what_it_says_and_is_counted(tmp_path):
    with start_target("beast") as target:
        plan = write_plan(tmp_path, STEPS.format(port=target.port, users=USERS))
        process, found = run_embedded(tmp_path, plan)
        assert process.process.returncode == 0, process.said() + process.printed()
        counts = found["counts"]
        assert counts["opened"] == counts["closed"] == 3 * USERS
        assert (counts["expectations"], counts["failed_expectations"]) == (2 * USERS, USERS)
        assert (counts["pings"], counts["failed_pings"]) == (3 * USERS, 0)
        assert (counts["requests"], counts["failed_requests"], counts["lost"]) == (USERS, 0, 0)
        assert found["times"]["ping_time"]["count"] == 3 * USERS
        assert counts["messages_sent"] == counts["messages_received"] == 3 * USERS
        failures = [(f["phase"], f["cause"], f["count"]) for f in found["failures"]]
        assert failures == [("request", "no reply in 200 ms", USERS)]
        shown = [line for line in process.said().splitlines() if "has been here" in line]
        assert 1 <= len(shown) <= 30, "ten a second of all"
        assert "walker" in shown[0]
        time.sleep(0.3)
        assert target.stats()["messages_in"] == counts["messages_sent"]
        assert_accounts_balance(found)
