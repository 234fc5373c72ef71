# ctest: serial timeout=120
"""The instrument itself: what `make bench` reckons with, and that it measures a real agent from end to end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/benchmark"))

from harness import pace  # noqa: E402
from harness.figure import Figure  # noqa: E402


def test_arrivals_are_due_when_the_integral_of_the_rate_reaches_them():
    constant, ramp = (100, 100, 5), (0, 1000, 10)
    assert [pace.due_by(constant, s) for s in (0, 0.001, 0.01, 0.0101, 0.1, 5)] == [0, 1, 1, 2, 10, 500]
    assert [pace.due_by(ramp, s) for s in (0, 1, 2, 10)] == [0, 50, 200, 5000]


def test_a_bin_is_wrong_only_beyond_one_percent_and_one():
    ramp, stamps = (1000, 1000, 1), [round(k * 1e6) for k in range(1000)]
    assert pace._bins_off(stamps, 0, ramp) == (0, 0)
    assert pace._bins_off(stamps[:-2], 0, ramp) == (0, -2)  # 1 % of 100, and 1
    assert pace._bins_off(stamps[:-3], 0, ramp) == (1, -3)
    assert pace._bins_off([stamp + 100_000_000 for stamp in stamps], 0, ramp)[0] == 1  # a bin late


@pytest.mark.parametrize("figure, met", [
    (Figure("b", "w", "us", [11, 12, 30], [10, 10, 10], goal_ratio=1.2), True),
    (Figure("b", "w", "us", [11, 13, 30], [10, 10, 10], goal_ratio=1.2), False),
    (Figure("b", "w", "us", [11], goal_ratio=1.2), None),
    (Figure("b", "w", "", [0.5], goal=0.5), True),
    (Figure("b", "w", "", [0.97], goal=0.98, at_least=True), False),
    (Figure("b", "w", "", [7]), None),
])
def test_a_goal_is_judged_by_medians(figure, met):
    assert figure.met() is met


def test_without_limit_a_real_agent_is_measured_all_the_same(tmp_path):
    environment = {**os.environ, "LIMIT": "no/such/limit.cpp", "ONRUSH_BENCH_WORK": str(tmp_path)}
    ran = subprocess.run([ROOT / "tests/benchmark/bench.py", "--only", "handshake,rest", "--rounds", "1"],
                         capture_output=True, text=True, timeout=100, env=environment)
    assert "no/such/limit.cpp is not there, so no ratios" in ran.stdout, ran.stdout + ran.stderr
    said = json.loads((tmp_path / "bench.json").read_text())
    handshake, rate, rest = said["figures"]
    assert 5 < handshake["median"] < 5000 and handshake["ratio"] is None and handshake["met"] is None
    assert rate["median"] > 100
    assert 1 < rest["median"] < 100
    assert set(said["machine"]) == {"cores", "memory_gib", "kernel"}


def test_an_unknown_bench_is_refused_with_those_there_are():
    ran = subprocess.run([ROOT / "tests/benchmark/bench.py", "--only", "handshakes"], capture_output=True, text=True)
    assert ran.returncode == 2
    assert "there is no bench 'handshakes'; there are: handshake, round_trip" in ran.stderr
