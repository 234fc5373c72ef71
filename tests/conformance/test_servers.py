# ctest: serial timeout=400 asan
"""target-beast passes every Autobahn case, target-floor those without compression; and a run that proves nothing is no
pass."""

import pathlib
import socket

import pytest

from conformance import (CASES, PLAIN_CASES, complaints, exchanging, run_address, run_engine, run_engine_compressed,
                         run_server, table)

CORE = 247  # without those of category 9 and of compression


@pytest.fixture(scope="module")
def results():
    plain = {name: run_server(name) for name in ("beast", "floor")}
    with exchanging(messages=20):
        return {**plain, "beast": plain["beast"] + run_server("beast", compressed=True)}


@pytest.mark.parametrize("name", ["beast", "floor"])
def test_a_target_passes_every_case(results, name):
    assert complaints(results[name], CASES if name == "beast" else PLAIN_CASES) == []
    assert sum(not r.case_id.startswith(("9.", "12.", "13.")) for r in results[name]) == CORE


def test_the_table_in_the_documents_is_what_comes_out(results):
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/conformance.md").read_text()
    with exchanging(messages=2):
        engine = run_engine()[2] + run_engine_compressed()[2]
    assert table({"engine, as client": engine, "target-beast": results["beast"],
                  "target-floor": results["floor"]}) in page


def test_a_dead_server_is_no_pass():
    with socket.socket() as bound:  # bound, but nobody listens
        bound.bind(("127.0.0.1", 0))
        wrong = complaints(run_address(f"127.0.0.1:{bound.getsockname()[1]}/echo"))
    assert len(wrong) == PLAIN_CASES + 1  # and the cases of compression, which were not run
    assert "refused" in wrong[0]


def test_a_server_that_does_not_echo_is_no_pass():
    wrong = complaints(run_server("floor", "/broadcast", ["1.1.*"]), expected=8)
    assert [line.split(":")[0] for line in wrong] == [f"1.1.{n}" for n in range(1, 9)]


def test_a_server_of_fewer_cases_is_no_pass():
    assert complaints(run_server("floor", include=["1.*"])) == [f"16 cases were run instead of {CASES}"]

