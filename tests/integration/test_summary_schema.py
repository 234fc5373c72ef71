"""summary.json keeps its contract, docs/summary.schema.json, and the schema refuses what the contract forbids.

The golden summary is what the code writes (tests/golden/report_test.cpp holds them together)."""

import copy
import csv
import json
import pathlib
import subprocess

import jsonschema
import pytest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((CHECKOUT / "docs/summary.schema.json").read_text())
REPORT = CHECKOUT / "tests/golden/report"
SUMMARY = json.loads((REPORT / "summary.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_produced_summary_validates():
    assert [error.message for error in VALIDATOR.iter_errors(SUMMARY)] == []


def test_added_keys_are_allowed():
    added = copy.deepcopy(SUMMARY) | {"new": 1}
    added["stages"][0]["new"] = {}
    added["delivery"]["new"] = None
    assert VALIDATOR.is_valid(added)


def changed(path, value):
    summary = copy.deepcopy(SUMMARY)
    *parents, last = path
    place = summary
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return summary


@pytest.mark.parametrize(
    "path, value",
    [
        (["verdict"], "fine"),
        (["exit_code"], 1),
        (["reasons"], None),
        (["counts", "opened"], None),
        (["counts", "opened"], -1),
        (["counts", "opened"], 1.5),
        (["times", "handshake_time", "count"], 0),
        (["times", "handshake_time", "p99_us"], None),
        (["times", "handshake_time", "p50_us"], "310"),
        (["delivery", "reach"], 1.2),
        (["stages", 0, "start_s"], None),
        (["failures", 0, "phase"], "dns"),
        (["failures", 0, "count"], 0),
        (["thresholds", 2, "held"], True),
        (["agents", 0, "state"], "gone"),
        (["suspect_seconds", 0, "grade"], "VALID"),
    ],
)
def test_what_the_contract_forbids_is_refused(path, value):
    assert not VALIDATOR.is_valid(changed(path, value)), path


def test_series_has_one_row_a_second_with_the_names_of_the_summary():
    with (REPORT / "series.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["second"]) for row in rows] == list(range(len(rows)))
    for counter, total in SUMMARY["counts"].items():
        if counter != "open":
            assert sum(int(row[counter]) for row in rows) == total, counter
    for time, figures in SUMMARY["times"].items():
        assert sum(int(row[f"{time}_count"] or 0) for row in rows) == figures["count"], time


@pytest.mark.parametrize("file", ["metrics.txt", "metrics_idle.txt"])
def test_promtool_accepts_the_exposition(file):
    with (REPORT / file).open() as text:
        done = subprocess.run(["promtool", "check", "metrics"], stdin=text, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
