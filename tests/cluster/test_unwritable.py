# ctest: serial timeout=180
"""Results that cannot be written, whole, where they should be: nothing then looks as if all were well."""

import json
import os
import signal
import subprocess

import pytest
from onrush_cluster import BIN, write_plan
from onrush_testing import start_target

PLAN = """
name: short
target: ws://127.0.0.1:{port}/echo
scenarios:
  user: {{script: [connect, think: 5s]}}
stages:
  - {{name: up, users: 5, over: 100ms, for: 1500ms}}
"""


@pytest.fixture(scope="module")
def port():
    with start_target("beast") as target:
        yield target.port


def shell(folder, script, port, **more):
    """A shell's answer to a script in which `onrush` is ours and plan.yaml a plan of two seconds."""
    write_plan(folder, PLAN.format(port=port))
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}, **more)


RUN = "onrush run plan.yaml --quiet --http 127.0.0.1:0"


def assert_says_so(run, names):
    assert run.returncode == 70, run.stdout + run.stderr
    assert "PASSED" not in run.stdout
    assert run.stdout.splitlines()[-1].startswith("INTERNAL ERROR"), run.stdout
    assert f"cannot write {names}" in run.stderr, run.stderr
    assert "up " in run.stdout, "what was measured is shown all the same"


def test_a_file_that_may_not_grow_leaves_nothing_that_looks_whole(port, tmp_path):
    run = shell(tmp_path, f"ulimit -f 1; {RUN} --out out", port)
    assert_says_so(run, "out/")
    assert not (tmp_path / "out").exists()


def test_results_that_are_there_stay_as_they_are_if_new_ones_cannot_be_written(port, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/summary.json").write_text("mine")
    assert_says_so(shell(tmp_path, f"ulimit -f 1; {RUN} --out out", port), "out/")
    assert (tmp_path / "out/summary.json").read_text() == "mine"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["summary.json"]
    good = shell(tmp_path, f"{RUN} --out out", port)
    assert good.returncode == 0, good.stderr
    assert json.loads((tmp_path / "out/summary.json").read_text())["verdict"] == "passed"
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("mount, before_the_end", [
    ("mount -t tmpfs -o size=16k tmpfs full", "true"),
    ("mount -t tmpfs tmpfs full", "mount -o remount,ro full"),
], ids=["full", "becomes read-only"])
def test_a_disk_that_takes_no_more_is_told(mount, before_the_end, port, tmp_path):
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("may not make a mount namespace here")
    inner = (f"mkdir full; {mount}; {RUN} --out full/o & sleep 1; {before_the_end}; wait $!; c=$?; "
             "ls -A full/o >&2; exit $c")
    run = shell(tmp_path, f"unshare --mount bash -c '{inner}'", port)
    assert_says_so(run, "full/o/")
    for name in ("summary.json", ".part"):
        assert name not in run.stderr.split("cannot write")[-1].partition("\n")[2], run.stderr


@pytest.mark.parametrize("command", [f"{RUN} --out out", "onrush check plan.yaml", "onrush check plan.yaml --explain",
                                     "onrush show done", "onrush init echo", "onrush init echo -", "onrush schema",
                                     "onrush doctor plan.yaml"])
def test_what_standard_output_does_not_take_is_an_error(command, port, tmp_path):
    (tmp_path / "done").mkdir()
    (tmp_path / "done/summary.json").write_text('{"verdict": "passed"}')
    run = shell(tmp_path, f"{command} > /dev/full", port)
    assert run.returncode == 70
    assert "cannot write to standard output: No space left on device" in run.stderr
    if "run" in command.split():
        assert json.loads((tmp_path / "out/summary.json").read_text())["verdict"] == "passed"


def test_standard_error_that_takes_nothing_ends_no_run(port, tmp_path):
    run = shell(tmp_path, f"{RUN.replace('--quiet', '')} --out out 2> /dev/full", port)
    assert run.returncode == 0 and "PASSED" in run.stdout


def test_a_reader_that_goes_away_ends_no_run_and_its_results_stay(port, tmp_path):
    run = shell(tmp_path, f"{RUN.replace('--quiet', '')} --out out 2>&1 | head -c 1; exit ${{PIPESTATUS[0]}}", port,
                preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "out/summary.json").read_text())
    assert found["verdict"] == "passed" and found["counts"]["opened"] == 5
