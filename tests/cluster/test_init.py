"""`onrush init`, `onrush schema` and `onrush check --explain` as their user types them."""

import subprocess

import pytest
from onrush_cluster import BIN, ROOT, run_embedded
from onrush_testing import start_target

KINDS = sorted(path.stem for path in (ROOT / "plans/starters").glob("*.yaml"))


def onrush(folder, *arguments):
    return subprocess.run([BIN / "onrush", *arguments], cwd=folder, capture_output=True, text=True, timeout=30)


def test_there_are_starters_and_help_tells_of_them(tmp_path):
    assert {"echo", "broadcast"} <= set(KINDS)
    told = onrush(tmp_path, "init", "--help").stdout
    assert all(kind in told for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_starter_is_a_good_plan_with_a_chart(kind, tmp_path):
    written = onrush(tmp_path, "init", kind)
    assert (written.returncode, written.stderr) == (0, "")
    assert f"onrush run {kind}.yaml" in written.stdout
    assert (tmp_path / f"{kind}.yaml").read_text() == (ROOT / f"plans/starters/{kind}.yaml").read_text()
    checked = onrush(tmp_path, "check", f"{kind}.yaml", "--explain")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith(f"{kind}: a good plan\n")
    assert "users wanted" in checked.stdout


def test_init_writes_echo_unless_told_otherwise_and_never_overwrites(tmp_path):
    assert onrush(tmp_path, "init").returncode == 0
    mine = tmp_path / "echo.yaml"
    mine.write_text("mine")
    refused = onrush(tmp_path, "init")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "onrush init: echo.yaml is there already; --force overwrites it\n"
    assert mine.read_text() == "mine"
    assert onrush(tmp_path, "init", "echo", "--force").returncode == 0
    assert mine.read_text() == (ROOT / "plans/starters/echo.yaml").read_text()


def test_init_writes_where_it_is_told(tmp_path):
    assert onrush(tmp_path, "init", "broadcast", "my.yaml").returncode == 0
    printed = onrush(tmp_path, "init", "broadcast", "-")
    assert (printed.returncode, printed.stdout) == (0, (tmp_path / "my.yaml").read_text())
    failed = onrush(tmp_path, "init", "echo", "missing/my.yaml")
    assert failed.returncode == 2 and "cannot write missing/my.yaml: No such file" in failed.stderr
    unknown = onrush(tmp_path, "init", "ecko")
    assert unknown.returncode == 2 and "echo" in unknown.stderr


def test_schema_prints_the_schema_of_this_version(tmp_path):
    printed = onrush(tmp_path, "schema")
    assert (printed.returncode, printed.stdout) == (0, (ROOT / "docs/plan.schema.json").read_text())


def test_explain_draws_in_ascii_where_there_is_no_unicode(tmp_path):
    checked = subprocess.run([BIN / "onrush", "check", ROOT / "plans/hello.yaml", "--explain"], capture_output=True,
                             text=True, timeout=30, env={"LC_ALL": "C", "TERM": "dumb"})
    chart = checked.stdout[checked.stdout.index("users wanted"):]
    assert chart.isascii() and "200 |" in chart and "ramp" in chart


def test_the_echo_starter_passes_against_a_real_server(tmp_path):
    plan = (ROOT / "plans/starters/echo.yaml").read_text()
    short = tmp_path / "echo.yaml"
    for length, shorter in (("over: 10s", "over: 1s"), ("for: 30s", "for: 2s"), ("over: 5s", "over: 1s")):
        plan = plan.replace(length, shorter)
    short.write_text(plan)
    with start_target("beast") as target:
        process, found = run_embedded(tmp_path, short, "--set", "users=20", "--target", target.url("/echo"))
        assert process.process.returncode == 0, process.said() + process.printed()
        assert found["counts"]["opened"] == 20 and found["counts"]["messages_sent"] >= 40
