# ctest: serial timeout=180 asan
"""target-beast and target-floor pass every Autobahn case outside compression; and a run that proves nothing is no pass."""

import pathlib
import socket

import pytest

from conformance import CASES, complaints, run_address, run_engine, run_server, table

CORE = 247  # without those of category 9


@pytest.fixture(scope="module")
def results():
    return {name: run_server(name) for name in ("beast", "floor")}


@pytest.mark.parametrize("name", ["beast", "floor"])
def test_a_target_passes_every_case(results, name):
    assert complaints(results[name]) == []
    assert sum(not r.case_id.startswith("9.") for r in results[name]) == CORE


def test_the_table_in_the_documents_is_what_comes_out(results):
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/conformance.md").read_text()
    assert table({"engine, as client": run_engine()[2], "target-beast": results["beast"],
                  "target-floor": results["floor"]}) in page


def test_a_dead_server_is_no_pass():
    with socket.socket() as bound:  # bound, but nobody listens
        bound.bind(("127.0.0.1", 0))
        wrong = complaints(run_address(f"127.0.0.1:{bound.getsockname()[1]}/echo"))
    assert len(wrong) == CASES
    assert "refused" in wrong[0]


def test_a_server_that_does_not_echo_is_no_pass():
    wrong = complaints(run_server("floor", "/broadcast", ["1.1.*"]), expected=8)
    assert [line.split(":")[0] for line in wrong] == [f"1.1.{n}" for n in range(1, 9)]


def test_a_server_of_fewer_cases_is_no_pass():
    assert complaints(run_server("floor", include=["1.*"])) == [f"16 cases were run instead of {CASES}"]

