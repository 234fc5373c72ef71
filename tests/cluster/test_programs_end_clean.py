# ctest: serial timeout=120 asan
"""A cluster's whole life, short: attach, run, end by signal. What a sanitizer finds shows in how a program ends."""

import signal

import pytest
from onrush_cluster import Cluster, assert_accounts_balance, run_embedded, summary, write_plan
from onrush_testing import start_target

PLAN = """
name: short
target: ws://127.0.0.1:{port}/broadcast
scenarios:
  listener:
    script:
      - connect
      - listen: {{sequence: /seq, batch_sent: /batch_us, sent: /sent_us}}
  publisher:
    script:
      - connect
      - repeat: {{every: 200ms, do: [{{send: {{text: broadcast}}}}]}}
stages:
  - {{name: setup, users: {{listener: 50}}, rate: 100/s}}
  - {{name: publish, users: {{publisher: 1}}, over: 10ms, for: 2s}}
  - {{name: silence, users: {{publisher: 0}}, rate: 10/s, for: 500ms}}
  - {{name: down, users: {{listener: 0}}, rate: 500/s}}
"""


@pytest.fixture
def plan(tmp_path):
    with start_target("beast") as target:
        yield write_plan(tmp_path, PLAN.format(port=target.port))


def assert_clean(process):
    for finding in ("Sanitizer", "runtime error:"):
        assert finding not in process.said(), process.said()


def test_a_cluster_runs_twice_and_every_program_ends_clean(plan, tmp_path):
    with Cluster(tmp_path) as cluster:
        agents = [cluster.agent(name) for name in ("a", "b")]
        for name in ("first", "second"):
            run = cluster.run(plan, name=name)
            assert run.wait() == 0, run.said()
            assert_clean(run)
            found = summary(run.results)
            assert found["counts"]["opened"] == 51
            assert found["delivery"]["reach"] == 1
            assert_accounts_balance(found)
        for process in [*agents, cluster.coordinator]:
            process.signal(signal.SIGTERM)
            assert process.wait(20) == 0, process.said()
            assert_clean(process)


def test_an_embedded_run_and_its_agents_end_clean(plan, tmp_path):
    process, found = run_embedded(tmp_path, plan, "--agents", "2", "--workers", "2")
    assert process.process.returncode == 0, process.said() + process.printed()
    assert_clean(process)  # its agents write where it writes
    assert found["counts"]["opened"] == 51
    assert_accounts_balance(found)
