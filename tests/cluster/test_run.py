# ctest: serial timeout=600
"""`onrush run` as its user types it, on real servers: exact counts, honest latency, faults told apart, exit codes."""

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from onrush_cluster import BIN, ROOT, Process, assert_accounts_balance, run_embedded, write_plan
from onrush_testing import start_target

ARRIVALS = """
name: arrivals
target: ws://127.0.0.1:{port}/echo
scenarios:
  visitor:
    weight: 3
    script:
      - connect
      - repeat: {{times: 3, do: [{{request: {{text: "ping ${{sequence}}", reply: {{text: "ping ${{sequence}}"}}}}}},
                               {{think: {{exponential: 50ms}}}}]}}
      - close: {{code: 1000}}
  heavy:
    weight: 1
    script:
      - connect
      - repeat: {{for: 1s, every: 100ms, do: [{{request: {{bytes: 2048, reply: any}}}}]}}
      - drop
stages:
  - {{name: warm, arrivals: 100/s, over: 2s}}
  - {{name: steady, for: 2s}}
  - {{name: spike, arrivals: 300/s, over: 1s, for: 1s}}
  - {{name: drain, arrivals: 0/s}}
thresholds:
  - dropped_arrivals == 0
"""
# 100 * 2 / 2 + 100 * 2 + (100 + 300) / 2 + 300: the integral of the rate.
ARRIVALS_INTEGRAL = 800


@pytest.mark.parametrize("agents", [1, 2, 3, 7])
def test_arrivals_are_the_integral_and_every_message_is_counted_on_both_sides(agents, tmp_path):
    with start_target("beast") as target:
        plan = write_plan(tmp_path, ARRIVALS.format(port=target.port))
        process, found = run_embedded(tmp_path, plan, "--agents", agents)
        assert process.process.returncode == 0, process.said() + process.printed()
        counts = found["counts"]
        assert counts["arrivals"] == counts["attempted"] == counts["opened"] == ARRIVALS_INTEGRAL
        assert counts["messages_sent"] == counts["messages_received"] == 600 * 3 + 200 * 10
        by_scenario = {s["name"]: s["counts"]["opened"] for s in found["scenarios"]}
        assert by_scenario == {"visitor": 600, "heavy": 200}
        time.sleep(0.3)
        seen = target.stats()
        assert (seen["messages_in"], seen["messages_out"]) == (counts["messages_sent"], counts["messages_received"])
        assert_accounts_balance(found)


def test_a_broadcast_reaches_every_listener_once(tmp_path):
    with start_target("beast") as target:
        process, found = run_embedded(
            tmp_path, ROOT / "plans/c1000k.yaml", "--agents", "2", "--target",
            f"ws://127.0.0.1:{target.port}/broadcast", "--set", "users=400", "--set", "rate=400/s", seconds=150)
        assert process.process.returncode == 0, process.said() + process.printed()
        delivery = found["delivery"]
        assert (delivery["expected"], delivery["received"], delivery["reach"]) == (2400, 2400, 1)
        assert (delivery["duplicates"], delivery["gaps"], delivery["reordered"]) == (0, 0, 0)
        assert found["times"]["delivery_time"]["count"] == 2400
        assert target.stats()["messages_out"] == found["counts"]["messages_received"] == 6 * 401


STALL = """
name: stall
target: ws://127.0.0.1:{port}/echo
scenarios:
  user:
    script:
      - connect
      - repeat: {{every: 1s, for: 10s, do: [{{request: {{text: "x", reply: any}}}}]}}
stages:
  - {{name: setup, users: 100, over: 1s}}
  - {{name: paced, for: 9s}}
"""


def test_P047_a_frozen_target_shows_in_response_time_and_not_in_our_lag(tmp_path):
    """100 users, one message a second each, spread evenly: 100 a second; the target stands still for 3 s of them."""
    with start_target("beast") as target:
        plan = write_plan(tmp_path, STALL.format(port=target.port))
        freeze = threading.Timer(3.5, lambda: os.kill(target.pid, signal.SIGSTOP))
        thaw = threading.Timer(6.5, lambda: os.kill(target.pid, signal.SIGCONT))
        freeze.start()
        thaw.start()
        try:
            process, found = run_embedded(tmp_path, plan, "--agents", "1")
        finally:
            freeze.join()
            thaw.join()
    response, round_trip, lag = (found["times"][t] for t in ("response_time", "round_trip_time", "send_lag"))
    assert response["count"] >= 900
    assert 2_500_000 < response["max_us"] < 3_500_000
    # A third of about 950 messages fell into the freeze and waited 0 to 3 s, evenly: the 90th percentile of all is
    # then about (0.9 - 0.68) / 0.32 of 3 s.
    assert 1_300_000 < response["p90_us"] < 2_700_000, response
    assert lag["p99_us"] < 5_000, lag
    assert round_trip["count"] == response["count"]


FAULT = """
name: fault
target: ws://127.0.0.1:{port}/echo
scenarios:
  user:
    script:
      - connect: {{timeout: 1s}}
      - repeat: {{times: 2, do: [{{request: {{text: "hello", reply: any, timeout: 1s}}}}]}}
      - think: 10s
stages:
  - {{name: all, users: 2, over: 100ms, for: 2500ms}}
"""
FAULTS = json.loads((ROOT / "target-servers/faulty/faults.json").read_text())


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """One run against each faulty path, four at a time: by path its summary, and what the target saw of it."""
    with start_target("faulty") as target, ThreadPoolExecutor(4) as pool:
        def run(fault):
            folder = tmp_path_factory.mktemp("fault")
            plan = write_plan(folder, FAULT.format(port=target.port))
            url = f"ws://127.0.0.1:{target.port}{fault['path']}"
            return run_embedded(folder, plan, "--agents", "1", "--target", url, seconds=60)
        runs = list(pool.map(run, FAULTS))
        seen = target.stats()["paths"]
        return {fault["path"]: (process, found, seen.get(fault["path"]))
                for fault, (process, found) in zip(FAULTS, runs)}


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault["path"].strip("/")) for fault in FAULTS])
def test_every_fault_has_its_own_line_and_the_run_ends(fault, outcomes):
    process, found, seen = outcomes[fault["path"]]
    assert found is not None, process.said()
    assert_accounts_balance(found)
    if fault["valid"]:
        assert found["counts"]["opened"] == 2, found["failures"]
        assert found["counts"]["failed"] == found["counts"]["lost"] == 0, found["failures"]
        return
    detail = 1000 if fault["detail"] == "timeout" else fault["detail"]
    rows = [f for f in found["failures"] if (f["phase"], f["kind"], f["detail"]) ==
            (fault["phase"], fault["cause"], detail)]
    assert rows and rows[0]["count"] == (4 if fault["phase"] == "request" else 2), found["failures"]
    assert not rows[0]["ours"]
    assert process.process.returncode != 0 or found["counts"]["opened"] > 0, "all failed is never a pass"
    if fault["close_code"] is not None:
        assert seen["closes"].get(str(fault["close_code"])) == 2, seen


def test_prometheus_scrapes_a_run_and_agrees_with_the_summary(tmp_path):
    with start_target("beast") as target:
        plan = write_plan(tmp_path, """
name: scraped
target: ws://127.0.0.1:%d/echo
scenarios:
  user:
    script:
      - connect
      - repeat: {every: 100ms, do: [{request: {text: x, reply: any}}]}
stages:
  - {name: setup, users: 50, rate: 100/s}
  - {name: hold, for: 6s}
""" % target.port)
        (tmp_path / "prometheus.yml").write_text("""
global: {scrape_interval: 500ms}
scrape_configs:
  - {job_name: onrush, static_configs: [{targets: ["127.0.0.1:17080"]}]}
""")
        started = []

        def start(name, *command):
            started.append(Process(tmp_path, name, *command))
            return started[-1]

        try:
            start("prometheus", "prometheus", f"--config.file={tmp_path}/prometheus.yml",
                  f"--storage.tsdb.path={tmp_path}/tsdb", "--web.listen-address=127.0.0.1:17090")
            coordinator = start("coordinator", BIN / "onrush", "coordinator", "--listen", "127.0.0.1:0", "--http",
                                "127.0.0.1:17080")
            control = coordinator.wait_for(r"agents attach to (\S+),")[1]
            start("agent", BIN / "onrush-agent", "--coordinator", control, "--name", "a").wait_for("attached to")
            until(lambda: query("up") == 1)  # it looks for its targets every five seconds
            out = tmp_path / "results"
            run = start("run", BIN / "onrush", "run", plan, "--coordinator", control, "--out", out)
            until(lambda: query("sum(onrush_connections_open)") == 50)
            assert run.wait() == 0, run.said()
            found = json.loads((out / "summary.json").read_text())
            until(lambda: query("max(onrush_run_verdict)") == 1)
            assert query("sum(onrush_connections_opened_total)") == found["counts"]["opened"]
            p99 = query('max(onrush_round_trip_time_quantile_seconds{quantile="0.99"})')
            assert p99 == pytest.approx(found["times"]["round_trip_time"]["p99_us"] / 1e6, rel=1e-3)
            metrics = urllib.request.urlopen("http://127.0.0.1:17080/metrics", timeout=5).read()
            checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True)
            assert checked.returncode == 0, checked.stderr.decode()
        finally:
            for process in started:
                process.end()


def query(expression):
    url = "http://127.0.0.1:17090/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(url, timeout=5) as answer:
        result = json.load(answer)["data"]["result"]
    assert len(result) <= 1, (expression, result)
    return float(result[0]["value"][1]) if result else None


def until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if holds():
                return
        except OSError:
            pass  # not listening yet
        time.sleep(0.2)
    raise AssertionError("it never held")


@pytest.mark.parametrize("text, code, words", [
    ("name: x\ntarget: ws://127.0.0.1:1/\nstages: []\n", 2, "nothing was started"),
    ("name: [\n", 2, "plan.yaml:"),
])
def test_P071_a_bad_plan_is_exit_2_and_says_where(text, code, words, tmp_path):
    plan = write_plan(tmp_path, text)
    process, found = run_embedded(tmp_path, plan)
    assert (process.process.returncode, found) == (code, None)
    assert words in process.said()


def test_P071_a_missed_threshold_is_99_and_an_unwritable_folder_3_before_the_start(tmp_path):
    with start_target("beast") as target:
        text = FAULT.format(port=target.port) + "thresholds: ['round_trip_time p50 < 1us']\n"
        process, found = run_embedded(tmp_path, write_plan(tmp_path, text))
        assert (process.process.returncode, found["verdict"]) == (99, "failed")
        blocked = tmp_path / "file"
        blocked.write_text("")
        unwritable = Process(tmp_path, "again", BIN / "onrush", "run", write_plan(tmp_path, text), "--http",
                             "127.0.0.1:0", "--out", blocked / "below")
        assert unwritable.wait() == 3
        assert re.search("cannot write results to .*nothing was started", unwritable.said())


def test_an_abort_ends_the_run_with_4(tmp_path):
    with start_target("beast") as target:
        text = FAULT.format(port=target.port).replace("for: 2500ms", "for: 60s") + "abort: ['opened >= 2']\n"
        process, found = run_embedded(tmp_path, write_plan(tmp_path, text))
        assert (process.process.returncode, found["verdict"]) == (4, "aborted")
        assert found["duration_s"] < 20


def test_without_a_terminal_there_is_no_escape_sequence(tmp_path):
    with start_target("beast") as target:
        process, _ = run_embedded(tmp_path, write_plan(tmp_path, FAULT.format(port=target.port)))
        assert "\x1b" not in process.said() + process.printed()


@pytest.mark.parametrize("option, value", [
    ("--target", ""), ("--coordinator", ""), ("--coordinator", "nowhere"), ("--http", "host:99999"), ("--out", ""),
])
def test_P071_a_wrong_option_is_exit_2_and_starts_nothing(option, value, tmp_path):
    plan = write_plan(tmp_path, FAULT.format(port=1))
    process = Process(tmp_path, "run", BIN / "onrush", "run", plan, option, value)
    assert process.wait(20) == 2, process.said()


def test_a_terminal_that_goes_away_ends_the_run_in_order_and_keeps_its_results(tmp_path):
    with start_target("beast") as target:
        plan = write_plan(tmp_path, FAULT.format(port=target.port).replace("for: 2500ms", "for: 60s"))
        run = Process(tmp_path, "run", BIN / "onrush", "run", plan, "--http", "127.0.0.1:0", "--out", tmp_path / "out")
        time.sleep(1.5)
        run.signal(signal.SIGHUP)
        assert run.wait(20) == 130
        assert json.loads((tmp_path / "out/summary.json").read_text())["counts"]["opened"] == 2


def test_P052_two_runs_at_once_on_a_host_do_not_take_each_others_ports(tmp_path):
    with start_target("beast") as target, ThreadPoolExecutor(2) as pool:
        def run(name):
            folder = tmp_path / name
            folder.mkdir()
            plan = write_plan(folder, FAULT.format(port=target.port).replace("users: 2,", "users: 600,"))
            return run_embedded(folder, plan, "--agents", "1")
        for _, found in pool.map(run, ["one", "two"]):
            assert found["counts"]["failed"] == 0, found["failures"]


@pytest.mark.parametrize("path, words", [("accept-then-close", "all 2 connections were lost"),
                                         ("no-reply", "none of 4 requests was answered")])
def test_P071_a_target_that_only_shakes_hands_is_never_a_pass(path, words, tmp_path):
    with start_target("faulty") as target:
        plan = write_plan(tmp_path, FAULT.format(port=target.port).replace("for: 2500ms", "for: 3500ms"))
        process, found = run_embedded(tmp_path, plan, "--target", f"ws://127.0.0.1:{target.port}/{path}")
        assert process.process.returncode == 99
        assert words in found["reasons"]
