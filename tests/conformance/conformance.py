"""The cases of the Autobahn test suite, as PyPI's kosoku serves them offline, and what counts as a run of them.

    build/venv/bin/python tests/conformance/conformance.py     runs all and prints the table of docs/conformance.md

kosoku itself is content with fewer cases than there are; complaints() is not. A case of compression exchanges 1,000
messages; the tests cut that to some (exchanging()), this program does not.
"""

import asyncio
import collections
import contextlib
import pathlib
import sys

import kosoku

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from onrush_testing import program, start_target  # noqa: E402

COMPRESSION = ["12.*", "13.*"]
PLAIN_CASES = 301
COMPRESSED_CASES = 216
CASES = PLAIN_CASES + COMPRESSED_CASES
MESSAGES = 1000  # of a case of compression
# What a client must offer for the suite to set the terms that a case is about.
OFFERS = {"true": ["12.*", "13.1.*", "13.3.*", "13.4.*"],
          "{client_no_context_takeover: true}": ["13.2.*", "13.5.*", "13.6.*", "13.7.*"]}
CATEGORIES = {1: "framing", 2: "pings and pongs", 3: "reserved bits", 4: "opcodes", 5: "fragmentation",
              6: "UTF-8", 7: "closing", 9: "limits and speed", 10: "auto-fragmentation", 12: "compression, contents",
              13: "compression, terms"}


@contextlib.contextmanager
def exchanging(messages):
    """Every case of compression exchanges so many messages meanwhile."""
    from kosoku import _caseindex
    _caseindex.initialize_shims()
    import case12_x_x
    classes = case12_x_x.Case12_X_X + case12_x_x.Case13_X_X
    assert {c.COUNT for c in classes} == {MESSAGES}
    for case in classes:
        case.COUNT = messages
    try:
        yield
    finally:
        for case in classes:
            case.COUNT = MESSAGES


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


def run_engine(first=1, last=PLAIN_CASES, timeout_s=120):
    """The engine as client, without compression: the exit code of conformance-client, what it wrote to stderr, and the
    results."""
    return asyncio.run(_run_engine((None, COMPRESSION), (first, last), "false", timeout_s))


def run_engine_compressed(timeout_s=120):
    """The same in the cases of compression, with the offer that each of them wants."""
    runs = []
    for offer, cases in OFFERS.items():
        count = sum(18 * (5 if group == "12.*" else 1) for group in cases)
        runs.append(asyncio.run(_run_engine((cases, None), (1, count), offer, timeout_s)))
    return max(code for code, _, _ in runs), "".join(errors for _, errors, _ in runs), sum((r for _, _, r in runs), [])


async def _run_engine(selection, numbers, offer, timeout_s):
    async with kosoku.run_fuzzingserver(*selection, host="127.0.0.1", port=0) as server:
        client = await asyncio.create_subprocess_exec(
            program("conformance-client"), str(server.port), *map(str, numbers), "4", offer,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        _, errors = await asyncio.wait_for(client.communicate(), timeout_s)
        return client.returncode, errors.decode(), await results_of(server.get_result(), 20)


def run_server(name, path="/echo", include=None, timeout_s=120, compressed=False):
    """A target as server: the results."""
    options = ["--workers", "2"] if name != "faulty" else []
    with start_target(name, *options, *(["--deflate"] if compressed else [])) as server:
        return run_address(f"127.0.0.1:{server.port}{path}", include, timeout_s, compressed)


def run_address(address, include=None, timeout_s=120, compressed=False):
    cases, without = (COMPRESSION, None) if compressed else (include, COMPRESSION)

    async def run():
        return await results_of(kosoku.run_fuzzingclient(address, cases, without, concurrency=4), timeout_s)
    return asyncio.run(run())


def table(columns):
    """Markdown: a row a category, a column a peer; `columns` is {name: results}."""
    counted = {name: by_category(results) for name, results in columns.items()}
    lines = ["| category | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for number, title in CATEGORIES.items():
        told = (sorted(column[number].items(), reverse=True) for column in counted.values())
        cells = [", ".join(f"{count} {verdict}" for verdict, count in verdicts) or "-" for verdicts in told]
        lines.append(f"| {number} {title} | " + " | ".join(cells) + " |")
    lines.append("| all | " + " | ".join(f"{len(results)} of {CASES}" for results in columns.values()) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    WHOLE_S = 1800
    engine = run_engine()[2] + run_engine_compressed(WHOLE_S)[2]
    beast = run_server("beast") + run_server("beast", timeout_s=WHOLE_S, compressed=True)
    for complaint in [*complaints(engine), *complaints(beast)]:
        print(complaint, file=sys.stderr)
    print(table({"engine, as client": engine, "target-beast": beast, "target-floor": run_server("floor")}))
