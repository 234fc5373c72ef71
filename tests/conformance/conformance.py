"""The cases of the Autobahn test suite, as PyPI's kosoku serves them offline, and what counts as a run of them.

    build/venv/bin/python tests/conformance/conformance.py     runs all of them and prints the table of docs/conformance.md

kosoku itself is content with fewer cases than there are; complaints() is not.
"""

import asyncio
import collections
import pathlib
import sys

import kosoku

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from onrush_testing import program, start_target  # noqa: E402

COMPRESSION = ["12.*", "13.*"]
CASES = 301  # without those of compression
CATEGORIES = {1: "framing", 2: "pings and pongs", 3: "reserved bits", 4: "opcodes", 5: "fragmentation",
              6: "UTF-8", 7: "closing", 9: "limits and speed", 10: "auto-fragmentation"}


def complaints(results, expected=CASES):
    """All that is wrong with a run; nothing means that it passed."""
    wrong = [f"{r.case_id}: {r.behavior.value}, closing {r.behavior_close.value}: {r.result} {r.result_close}"
             for r in results if not r.passed]
    cases = {r.case_id for r in results}
    if len(cases) != expected:
        wrong.append(f"{len(cases)} cases were run instead of {expected}")
    if len(results) != len(cases):
        wrong.append(f"{len(results) - len(cases)} cases were run twice")
    return wrong


def by_category(results):
    """{category: {verdict: cases}}"""
    table = collections.defaultdict(collections.Counter)
    for result in results:
        table[int(result.case_id.split(".")[0])][result.behavior.value] += 1
    return table


async def results_of(run, timeout_s):
    """What a run of kosoku comes to, failures and all; nothing if it does not end."""
    try:
        return await asyncio.wait_for(run, timeout_s)
    except kosoku.FailureError as failure:
        return failure.results
    except TimeoutError:
        return []


def run_engine(first=1, last=CASES, timeout_s=120):
    """The engine as client: the exit code of conformance-client, what it wrote to stderr, and the results."""
    async def run():
        async with kosoku.run_fuzzingserver(None, COMPRESSION, host="127.0.0.1", port=0) as server:
            client = await asyncio.create_subprocess_exec(
                program("conformance-client"), str(server.port), str(first), str(last),
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
            _, errors = await asyncio.wait_for(client.communicate(), timeout_s)
            return client.returncode, errors.decode(), await results_of(server.get_result(), 20)
    return asyncio.run(run())


def run_server(name, path="/echo", include=None, timeout_s=120):
    """A target as server: the results."""
    with start_target(name, *(("--workers", "2") if name != "faulty" else ())) as server:
        return run_address(f"127.0.0.1:{server.port}{path}", include, timeout_s)


def run_address(address, include=None, timeout_s=120):
    async def run():
        return await results_of(kosoku.run_fuzzingclient(address, include, COMPRESSION, concurrency=4), timeout_s)
    return asyncio.run(run())


def table(columns):
    """Markdown: a row a category, a column a peer; `columns` is {name: results}."""
    counted = {name: by_category(results) for name, results in columns.items()}
    lines = ["| category | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for number, title in CATEGORIES.items():
        cells = [", ".join(f"{count} {verdict}" for verdict, count in sorted(column[number].items(), reverse=True))
                 for column in counted.values()]
        lines.append(f"| {number} {title} | " + " | ".join(cells) + " |")
    lines.append("| all | " + " | ".join(f"{len(results)} of {CASES}" for results in columns.values()) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    engine = run_engine()[2]
    print(table({"engine, as client": engine, "target-beast": run_server("beast"), "target-floor": run_server("floor")}))
