# ctest: serial timeout=300
"""`onrush search` on real servers: it finds a knee that is known, and says so when there is none to be found."""

import json
import signal
import time

import pytest
from onrush_cluster import BIN, Cluster, Process, write_plan
from onrush_testing import start_target

PLAN = """
name: knee
target: ws://127.0.0.1:{port}{path}
scenarios:
  visitor:
    script:
      - connect
      - repeat:
          every: 1s
          do: [request: {{text: "${{user}} ${{sequence}}", reply: {{text: "${{user}} ${{sequence}}"}}}}]
search:
  raise: users
  from: {start}
  to: {top}
  factor: {factor}
  step: {step}
  keep: [response_time p99 < {limit}, failed_connections == 0]
  over: 1s
  hold: {hold}
  rest: 0s
  at_most: {at_most}
"""


def plan(folder, port, path="/echo", start=200, top=1000, factor=2, step="5%", limit="50ms", hold="1s", at_most="2m"):
    return write_plan(folder, PLAN.format(port=port, path=path, start=start, top=top, factor=factor, step=step,
                                          limit=limit, hold=hold, at_most=at_most))


def search(folder, *arguments, seconds=200):
    out = folder / "found"
    process = Process(folder, "search", BIN / "onrush", "search", *arguments, "--http", "127.0.0.1:0", "--out", out)
    try:
        process.wait(seconds)
    finally:
        process.end()
    return process, json.loads((out / "search.json").read_text()) if (out / "search.json").exists() else None


def test_the_knee_of_a_server_of_known_capacity_is_found_within_5_percent(tmp_path):
    capacity = 290  # not a load that is tried on the way
    with start_target("faulty") as target:
        process, found = search(tmp_path, plan(tmp_path, target.port, f"/capacity/{capacity}", factor=1.5, hold="2s"))
    said = process.said() + process.printed()
    assert process.process.returncode == 0, said
    assert found["end"] == "found" and found["times_kept"] == 3, said
    assert abs(found["kept"] - capacity) <= 0.05 * capacity, said
    assert found["kept"] < found["beyond"] <= found["kept"] * 1.05 + 1, said
    # The curve: what is asked for is reached up to the knee, and no more than the capacity beyond it.
    counted = [t for t in found["trials"] if t["outcome"] in ("kept", "broken")]
    breaks = {load: sum(t["outcome"] == "broken" for t in counted if t["load"] == load)
              for load in {t["load"] for t in counted}}
    assert all(times == 2 if load > found["kept"] else times < 2 for load, times in breaks.items()), breaks
    assert max(breaks) > found["kept"] > min(breaks)
    for trial in counted:
        if trial["outcome"] == ("kept" if trial["load"] <= found["kept"] else "broken"):
            assert trial["reached_per_s"] == pytest.approx(min(trial["load"], capacity), rel=0.06), trial
    # Every trial is an ordinary run, whose results are kept.
    for trial in found["trials"]:
        summary = json.loads((tmp_path / "found" / trial["folder"] / "summary.json").read_text())
        assert [s["name"] for s in summary["stages"]] == ["raise", "hold"]
        assert summary["stages"][1]["users"] == trial["load"]
    assert f"FOUND  {found['kept']:.0f} users kept 3 times" in process.printed()
    assert process.said().count("trial ") >= len(found["trials"])


def test_a_server_that_answers_nothing_keeps_no_load(tmp_path):
    with start_target("faulty") as target:
        process, found = search(tmp_path, plan(tmp_path, target.port, "/no-reply", start=1, top=4))
    assert process.process.returncode == 99, process.said() + process.printed()
    assert (found["end"], "kept" in found, found["beyond"]) == ("broken throughout", False, 1)


def test_the_time_for_the_search_is_kept(tmp_path):
    with start_target("beast") as target:
        process, found = search(tmp_path, plan(tmp_path, target.port, start=10, at_most="4s", limit="1s"))
    assert process.process.returncode == 4, process.said() + process.printed()
    assert found["end"] == "out of time" and found["kept"] == 10
    assert found["duration_s"] < 6


def test_a_search_that_is_interrupted_leaves_what_it_has_found(tmp_path):
    with start_target("beast") as target:
        out = tmp_path / "found"
        slow = plan(tmp_path, target.port, start=10, limit="1s")
        process = Process(tmp_path, "search", BIN / "onrush", "search", slow, "--http", "127.0.0.1:0", "--out", out)
        process.wait_for("trial 1 ", 30)
        time.sleep(1.5)
        process.signal(signal.SIGINT)
        try:
            assert process.wait(20) == 130, process.said()
        finally:
            process.end()
        found = json.loads((out / "search.json").read_text())
        assert found["end"] == "interrupted" and found["kept"] == 10 and len(found["trials"]) == 1


def test_a_server_that_keeps_everything_is_said_to_by_the_agents_of_a_cluster(tmp_path):
    with start_target("beast") as target, Cluster(tmp_path) as cluster:
        agents = [cluster.agent("a"), cluster.agent("b")]
        process, found = search(tmp_path, plan(tmp_path, target.port, start=20, top=20, limit="500ms for 1s"),
                                "--coordinator", cluster.control)
        assert process.process.returncode == 0, process.said() + process.printed()
        assert found["end"] == "kept throughout" and found["times_kept"] == 3
        for trial in found["trials"]:
            summary = json.loads((tmp_path / "found" / trial["folder"] / "summary.json").read_text())
            assert {a["name"] for a in summary["agents"]} == {"a", "b"}
        assert all(agent.process.poll() is None for agent in agents)
        assert target.stats()["connections"] == 0


def test_a_load_that_the_generator_cannot_bring_is_its_own_limit(tmp_path):
    with start_target("beast") as target:
        knee = plan(tmp_path, target.port, start=300, top=600, step="50%", limit="1s")
        process = Process(tmp_path, "search", "sh", "-c", 'ulimit -n 600; exec "$0" "$@"', BIN / "onrush", "search",
                          knee, "--agents", "1", "--http", "127.0.0.1:0", "--out", tmp_path / "found")
        try:
            assert process.wait(100) == 6, process.said() + process.printed()
        finally:
            process.end()
    found = json.loads((tmp_path / "found/search.json").read_text())
    assert found["end"] == "own limit" and found["kept"] == 300
    refused = [trial for trial in found["trials"] if trial["outcome"] == "refused"]
    assert refused and "600" in refused[0]["why"] and "folder" not in refused[0]
    assert "ulimit -n" in process.said()


def test_a_plan_without_search_is_refused(tmp_path):
    refused = write_plan(tmp_path, "name: p\ntarget: ws://127.0.0.1:1/\nscenarios: {v: {script: [connect, listen]}}\n"
                                   "stages: [{name: s, users: 1, for: 1s}]\n")
    process, found = search(tmp_path, refused)
    assert process.process.returncode == 2 and found is None
    assert process.said() == (f"onrush: {refused} has no 'search', which says what to raise and what to keep; "
                              "nothing was started\n")
