# ctest: timeout=300
"""The ways into the checkout keep their word: setup is quiet when there is nothing to do, help tells of all targets."""

import pathlib
import re
import subprocess
import time

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=200)


def test_setup_is_silent_and_quick_when_nothing_is_missing():
    assert run("deploy/setup.sh", "build", "test").returncode == 0
    begun = time.monotonic()
    again = run("deploy/setup.sh", "build", "test")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert time.monotonic() - begun < 5


def test_setup_changes_nothing_when_nothing_is_missing():
    stamp = CHECKOUT / "build/venv/stamp"
    before = stamp.stat().st_mtime_ns
    assert run("deploy/setup.sh", "build", "test").returncode == 0
    assert stamp.stat().st_mtime_ns == before


def test_setup_names_the_groups_there_are_when_asked_for_another():
    answer = run("deploy/setup.sh", "everything")
    assert answer.returncode == 2
    assert "'everything'" in answer.stderr and "build, test, lint, fuzz" in answer.stderr


def test_help_tells_of_every_target_of_the_makefile():
    phony = re.search(r"^\.PHONY: (.*)$", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    told = re.findall(r"^  make ([a-z-]+) +\S", run("make", "--no-print-directory", "help").stdout, re.MULTILINE)
    assert sorted(told) == sorted(phony.group(1).split())
    assert set(told) >= {"build", "demo", "test", "bench", "lint", "sanitize", "fuzz", "help"}


def test_lines_of_python_end_at_120():
    long = [f"{name}:{number}" for name in run("git", "ls-files", "*.py").stdout.split()
            for number, line in enumerate((CHECKOUT / name).read_text().split("\n"), 1) if len(line) > 120]
    assert long == []


def test_every_script_stops_at_its_first_failure():
    tracked = run("git", "ls-files", "*.sh", ".ci/run").stdout.split()
    careless = [name for name in tracked if "set -euo pipefail" not in (CHECKOUT / name).read_text()]
    assert tracked and careless == []
