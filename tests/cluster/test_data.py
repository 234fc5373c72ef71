# ctest: timeout=120
"""Data feeds over real processes: each row is one user's, large files travel, what is wrong is said before a start."""

import re
import subprocess
import urllib.request

from onrush_cluster import BIN, Cluster, failures, run_embedded, summary, write_plan
from upgrade_server import UpgradeServer

PLAN = """
name: feeds
target: ws://127.0.0.1:{port}/
data:
  accounts: {{{feed}}}
connection:
  path: "/room/${{data.accounts.token}}"
  headers: {{Authorization: "Bearer ${{data.accounts.token}}"}}
scenarios:
  member: {{script: [connect, {script}]}}
stages:
  - {{name: up, users: {users}, rate: 200/s}}
  - {{name: hold, for: 300ms}}
"""


def plan(folder, port, feed, users, script="listen"):
    return write_plan(folder, PLAN.format(port=port, feed=feed, users=users, script=script))


def tokens(server):
    return sorted(fields["Authorization"].removeprefix("Bearer ") for fields in server.fields())


def rows(count):
    return "user,token\r\n" + "".join(f'u{i},"t, {i:07}"\r\n' for i in range(count))


def test_a_row_that_is_taken_once_is_one_users_over_all_agents(tmp_path):
    (tmp_path / "accounts.csv").write_bytes(b"\xef\xbb\xbf" + rows(120).encode())
    with UpgradeServer() as server:
        process, found = run_embedded(tmp_path, plan(tmp_path, server.port, "csv: accounts.csv, take: once", 100),
                                      "--agents", 3)
    assert process.process.returncode == 0, process.said() + process.printed()
    assert found["counts"]["without_row"] == 0
    assert tokens(server) == [f"t, {i:07}" for i in range(100)]
    assert sorted(head.split()[1] for head in server.heads) == [f"/room/t,%20{i:07}" for i in range(100)]


def test_p091_a_used_up_feed_is_counted_and_ends_as_the_plan_says(tmp_path):
    (tmp_path / "accounts.csv").write_text(rows(3))
    with UpgradeServer() as server:
        process, found = run_embedded(tmp_path, plan(tmp_path, server.port, "csv: accounts.csv, take: once", 10),
                                      "--agents", 2)
        assert process.process.returncode == 6, process.printed()
        assert found["counts"]["without_row"] == found["counts"]["failed"] == 7
        assert found["counts"]["opened"] == len(server.heads) == 3
        assert failures(found) == {("connect", "no_row", 0): 7}
        assert any("no row left in a data feed" in reason for reason in found["reasons"])
    with UpgradeServer() as server:
        process, found = run_embedded(
            tmp_path, plan(tmp_path, server.port, "csv: accounts.csv, take: once, on_end: stop", 10))
        assert process.process.returncode == 0, process.printed()
        assert found["counts"]["without_row"] == 7 and found["counts"]["attempted"] == 3
        assert found["failures"] == []


def test_p091_p059_empty_and_missing_files_are_told_before_anything_starts(tmp_path):
    checked = plan(tmp_path, 1, "csv: accounts.csv, take: once", 10)

    def said():
        result = subprocess.run([BIN / "onrush", "check", checked], cwd=tmp_path, capture_output=True, text=True,
                                timeout=30)
        assert result.returncode == 2
        return result.stderr

    assert "plan.yaml:5:19: 'csv' in feed 'accounts'" in said() and "No such file" in said()
    (tmp_path / "accounts.csv").write_bytes(b"")
    assert "line 1: the file is empty" in said()
    (tmp_path / "accounts.csv").write_text("user,token\n")
    assert "no row" in said()
    (tmp_path / "accounts.csv").write_text('user,token\na,"b\nc,d\n')
    assert "line 2: a quote that begins here is never closed" in said()
    (tmp_path / "accounts.csv").write_bytes("user,token\na,b\n".encode("utf-16"))
    assert "UTF-16" in said()


def test_p061_a_csv_of_20_mb_travels_to_a_coordinator_and_its_agents(tmp_path):
    rows = "".join(f"u{i:07},{'x' * 180}-{i:07}\n" for i in range(105_000))
    (tmp_path / "accounts.csv").write_text("user,token\n" + rows)
    assert (tmp_path / "accounts.csv").stat().st_size > 20_000_000
    with UpgradeServer() as server, Cluster(tmp_path) as cluster:
        for name in ("one", "two"):
            cluster.agent(name)
        run = cluster.run(plan(tmp_path, server.port, "csv: accounts.csv, take: cycle", 50))
        assert run.wait() == 0, run.said() + run.printed()
        assert summary(run.results)["counts"]["opened"] == 50
        numbers = [int(token.rpartition("-")[2]) for token in tokens(server)]
        assert sorted(numbers) == list(range(50))


def test_p064_rows_and_close_reasons_make_no_series_of_their_own(tmp_path):
    (tmp_path / "accounts.csv").write_text(rows(100_000))
    reasons = iter(range(1_000_000))

    def goodbye():
        reason = f"reason {next(reasons)}".encode()
        return bytes([0x88, 2 + len(reason)]) + b"\x0f\xa0" + reason

    lines = {}
    for users in (20, 200):
        with UpgradeServer(goodbye=goodbye) as server, Cluster(tmp_path) as cluster:
            cluster.agent("one")
            run = cluster.run(plan(tmp_path, server.port, "csv: accounts.csv, take: once", users,
                                   'request: {text: "${data.accounts.user}", reply: any}'), name=f"run-{users}")
            run.wait()
            found = summary(run.results)
            assert found["counts"]["lost"] == users
            assert len(found["failures"]) == 1 and found["failures"][0]["count"] == users
            with urllib.request.urlopen(f"http://{cluster.http}/metrics", timeout=10) as answer:
                text = answer.read().decode()
        assert not re.search(r"reason \d|u\d+|t, \d", text)
        lines[users] = len([line for line in text.splitlines() if "run=" in line and "_bucket" not in line])
    assert lines[20] == lines[200] > 50


def test_check_warns_of_a_feed_that_will_not_last(tmp_path):
    (tmp_path / "accounts.csv").write_text(rows(3))
    result = subprocess.run([BIN / "onrush", "check", plan(tmp_path, 1, "csv: accounts.csv, take: once", 10)],
                            capture_output=True, text=True, timeout=30)
    assert result.returncode == 0, result.stderr
    assert "3 rows" in result.stdout and "7 will find none" in result.stdout
