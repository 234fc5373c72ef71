# ctest: serial timeout=120
"""The long run of `make soak`, shortened, so that it cannot rot: it passes, and it would fail."""

import subprocess
import sys

import pytest
from onrush_cluster import BIN, ROOT

SOAK = ROOT / "tests/benchmark/soak.py"
sys.path.append(str(SOAK.parent))
import soak  # noqa: E402


def test_a_short_soak_is_flat_and_exact(tmp_path):
    done = subprocess.run([sys.executable, SOAK, BIN, "--minutes", "0.35", "--users", "400", "--out", tmp_path],
                          capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every count exact" in done.stdout


def judged(counts=None, seen=None, change=0.0):
    exact = {"attempted": 9, "opened": 9, "failed": 0, "lost": 0, "closed": 9, "dropped_arrivals": 0,
             "messages_sent": 20, "requests": 19, "messages_received": 19}
    curve = soak.Curve("memory", [5, 5, 5, 5, 5, 5])
    curve.last += change
    return soak.judge({"counts": exact | (counts or {}), "failures": []},
                      {"connections": 0, "messages_in": 20, "messages_out": 20} | (seen or {}), [(curve, 1.0)])


def test_the_soak_accepts_what_is_right():
    assert judged() == []


@pytest.mark.parametrize("wrong", [
    {"counts": {"attempted": 10}}, {"counts": {"closed": 8}}, {"counts": {"attempted": 10, "failed": 1}},
    {"counts": {"lost": 1}}, {"counts": {"dropped_arrivals": 1}}, {"seen": {"connections": 1}},
    {"seen": {"messages_in": 19}}, {"seen": {"messages_out": 21}}, {"seen": {"messages_out": 18}}, {"change": 1.1},
], ids=str)
def test_the_soak_fails_for_every_single_thing_that_is_wrong(wrong):
    assert len(judged(**wrong)) == 1
