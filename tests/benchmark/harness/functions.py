"""Functions of the hot path alone: Google Benchmark's programs, and the test that counts allocations."""

import json
import os
import re
import subprocess

from .figure import Figure
from .processes import Broken, cores
from .sides import BIN

GOALS_NS = {"record_a_sample": 6, "merge_a_histogram": 20_000, "encode_a_histogram": 50_000}
ALLOCATIONS_TEST = "Loopback.TheHotPathAllocatesNothing"


def functions(_limit, rounds):
    figures = []
    for program in sorted(BIN.glob("*_benchmark")):
        said = _run([program, f"--benchmark_repetitions={rounds}", "--benchmark_min_time=0.05",
                     "--benchmark_format=json"])
        values = {}
        for case in json.loads(said)["benchmarks"]:
            if case["run_type"] == "iteration":
                values.setdefault(case["name"], []).append(_nanoseconds(case))
        figures += [Figure("functions", name.replace("_", " "), "ns", ours, goal=GOALS_NS.get(name))
                    for name, ours in values.items()]
    return figures


def allocations(_limit, _rounds):
    """The test fails unless the count is 0, and then says how many there were."""
    command = [BIN / "test-unit", f"--gtest_filter={ALLOCATIONS_TEST}"]
    tested = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "[  PASSED  ] 1 test." in tested.stdout:
        count = 0
    else:
        said = re.search(r"allocat\w*\D+(\d+)", tested.stdout)
        if not said:
            raise Broken(f"{ALLOCATIONS_TEST} did not run:\n{tested.stdout[-600:]}{tested.stderr[-600:]}")
        count = int(said.group(1))
    return [Figure("allocations", "allocations on the hot path after prepare", "", [count], goal=0,
                   note=f"test-unit, {ALLOCATIONS_TEST}")]


def _run(command):
    def pin():
        os.sched_setaffinity(0, {cores()[1]})

    done = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=pin)
    if done.returncode:
        raise Broken(f"{command[0].name} ended with exit code {done.returncode}\n{done.stderr[-600:]}")
    return done.stdout


def _nanoseconds(case):
    return case["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[case["time_unit"]]
