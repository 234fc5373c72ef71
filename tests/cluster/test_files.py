# ctest: timeout=120 asan
"""Files that a plan names: read beside the plan, carried to every agent, and clear errors if they cannot be."""

import os
import subprocess

from onrush_cluster import BIN, run_embedded, write_plan
from onrush_testing import start_target

PLAN = """
name: files
target: ws://127.0.0.1:{port}/echo
scenarios:
  sender:
    script:
      - connect
      - request: {{file: {file}, reply: any}}
      - close
stages:
  - {{name: burst, arrivals: 20/s, for: 1s}}
  - {{name: drain, arrivals: 0/s}}
"""


def check(folder, plan):
    return subprocess.run([BIN / "onrush", "check", plan], cwd=folder, capture_output=True, text=True, timeout=30)


def test_a_file_of_several_pieces_reaches_every_agent_as_it_is(tmp_path):
    (tmp_path / "messages").mkdir()
    (tmp_path / "messages/big.bin").write_bytes(bytes(range(256)) * 10_000)  # 2.4 MiB: three pieces
    with start_target("beast") as target:
        plan = write_plan(tmp_path, PLAN.format(port=target.port, file="messages/big.bin"))
        process, found = run_embedded(tmp_path, plan, "--agents", 2)
        assert process.process.returncode == 0, process.said() + process.printed()
        assert found["counts"]["messages_sent"] == found["counts"]["messages_received"] == 20
        assert found["counts"]["bytes_sent"] > 20 * 2_560_000


def test_a_file_is_looked_for_beside_the_plan_and_not_where_the_command_runs(tmp_path):
    (tmp_path / "plans").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "plans/a.bin").write_bytes(b"a")
    plan = write_plan(tmp_path / "plans", PLAN.format(port=1, file="a.bin"))
    assert check(tmp_path / "elsewhere", plan).returncode == 0


def test_what_is_missing_a_folder_or_no_file_is_told_with_its_place(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    sparse = tmp_path / "huge"
    with open(sparse, "wb") as file:
        file.truncate(300 << 20)
    for name, complaint in (("nothing", "No such file"), ("folder", "is a folder, not a file"),
                            ("pipe", "is no ordinary file"), ("huge", "may have 256 MiB together")):
        result = check(tmp_path, write_plan(tmp_path, PLAN.format(port=1, file=name)))
        assert result.returncode == 2
        assert ":8:25: 'file' in 'request' of scenario 'sender': " in result.stderr, result.stderr
        assert complaint in result.stderr
