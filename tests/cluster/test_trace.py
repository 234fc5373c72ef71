"""`--trace users=N`: what a few users did, as text."""

import re

import pytest
from onrush_cluster import BIN, Process, run_embedded, write_plan
from onrush_testing import start_target
from scripted_server import ScriptedServer

PLAN = """
name: traced
target: ws://127.0.0.1:{port}{path}
scenarios:
  talker:
    script:
      - connect
      - repeat: {{times: 2, do: [{{request: {{text: "hello ${{user}} ${{sequence}}", reply: any}}}}]}}
      - close: {{code: 4000, reason: done}}
      - think: 10s
  sender: {{script: [connect, {{send: {{bytes: 300}}}}, {{think: 10s}}]}}
stages:
  - {{name: all, users: {{talker: 5, sender: 2}}, over: 200ms, for: 500ms}}
"""
LINE = re.compile(r" *(-?\d+\.\d{6})  (\w+ \d+) +([<>]?)  (.*)")


def run(tmp_path, port, *options, path="/echo"):
    plan = write_plan(tmp_path, PLAN.format(port=port, path=path))
    process, found = run_embedded(tmp_path, plan, *options)
    assert found is not None, process.said()
    return process, found


def lines_of(tmp_path):
    text = (tmp_path / "results/trace.txt").read_text()
    lines = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(lines), text
    times = [float(line[1]) for line in lines]
    assert times == sorted(times)
    return [line.groups()[1:] for line in lines]


@pytest.mark.parametrize("agents", [1, 3])
def test_the_first_users_of_each_scenario_are_followed_from_connect_to_close(agents, tmp_path):
    with start_target("beast") as target:
        process, _ = run(tmp_path, target.port, "--trace", "users=2", "--agents", agents)
    assert process.process.returncode == 0, process.said()
    assert f"trace: {tmp_path}/results/trace.txt" in process.printed()
    lines = lines_of(tmp_path)
    assert {who for who, _, _ in lines} == {"talker 1", "talker 2", "sender 6", "sender 7"}
    talker = [(way, text) for who, way, text in lines if who == "talker 1"]
    assert re.fullmatch(r"connecting from 127[\d.:]+ to 127\.0\.0\.1:%d" % target.port, talker[0][1])
    assert talker[1][0] == ">" and talker[1][1].startswith(r"GET /echo HTTP/1.1\r\nHost: 127.0.0.1:")
    assert talker[2][0] == "<" and talker[2][1].startswith("HTTP/1.1 101 ")
    assert talker[3:] == [("", "open"),
                          (">", "text, 9 bytes: hello 1 1"), ("<", "text, 9 bytes: hello 1 1"),
                          (">", "text, 9 bytes: hello 1 2"), ("<", "text, 9 bytes: hello 1 2"),
                          (">", "close, 6 bytes, code 4000: done"), ("<", "close, 2 bytes, code 4000"),
                          ("", "closed")]
    sender = [text for who, way, text in lines if who == "sender 6" and way == ">"]
    assert sender[1].startswith("binary, 300 bytes: ") and sender[1].endswith("...")
    assert all(0x20 <= byte < 0x7f or byte == 0x0a for byte in (tmp_path / "results/trace.txt").read_bytes())


def test_a_failure_is_in_the_trace(tmp_path):
    with ScriptedServer({"/": [b"HTTP/1.1 503 Busy\r\nContent-Length: 3\r\n\r\nnow"]}) as server:
        run(tmp_path, server.port, "--trace", "users=1", "--agents", 1, path="/")
    assert [text for who, _, text in lines_of(tmp_path) if who == "talker 1"][-1] == (
        "failed, upgrade: 503 Service Unavailable: HTTP/1.1 503 Busy: now")


def test_nobody_is_followed_unasked(tmp_path):
    with start_target("beast") as target:
        run(tmp_path, target.port, "--agents", 1)
    assert not (tmp_path / "results/trace.txt").exists()


@pytest.mark.parametrize("text", ["3", "users=", "users=0", "users=1001", "users=x", "user=3", "users=-1"])
def test_P071_a_wrong_trace_is_exit_2_and_starts_nothing(text, tmp_path):
    plan = write_plan(tmp_path, PLAN.format(port=1, path="/"))
    process = Process(tmp_path, "run", BIN / "onrush", "run", plan, "--trace", text)
    assert process.wait(20) == 2
    assert "write users=N, N from 1 to 1000" in process.said()


def test_a_trace_of_an_earlier_run_does_not_stay_in_the_folder_of_one_without(tmp_path):
    with start_target("beast") as target:
        run(tmp_path, target.port, "--trace", "users=1")
        (tmp_path / "results/notes.txt").write_text("mine")
        assert (tmp_path / "results/trace.txt").exists()
        run(tmp_path, target.port)
    assert not (tmp_path / "results/trace.txt").exists()
    assert (tmp_path / "results/notes.txt").exists(), "what is not ours stays"
