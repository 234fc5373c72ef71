"""What the documents repeat from the code is what the code says."""

import pathlib
import re

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


def text(name):
    return (CHECKOUT / name).read_text()


def test_every_time_and_counter_is_explained_and_nothing_else():
    # The enums of core/metrics.h are its interface; a time is named after its enumerator, with _time unless it is one
    # of the lags.
    header = text("core/metrics.h")
    of_times = header[header.index("enum class Time"):header.index("kTimes")]
    of_counters = header[header.index("enum class Counter"):header.index("kCounters")]
    times = re.findall(r"^  (\w+),\s+///<", of_times, re.MULTILINE)
    counters = re.findall(r"^  (\w+),\s", of_counters, re.MULTILINE)
    assert len(times) > 8 and len(counters) > 12
    names = {name if name.endswith("_lag") else f"{name}_time" for name in times}
    page = text("docs/measurement.md")
    table_of_times = page[page.index("## Times"):page.index("A connection is *open*")]
    assert set(re.findall(r"^\| `(\w+)`", table_of_times, re.MULTILINE)) == names
    table_of_counters = page[page.index("## Counters"):page.index("## Broadcasts")]
    explained = {name for row in re.findall(r"^\| (`.*?) \|", table_of_counters, re.MULTILINE)
                 for name in re.findall(r"`(\w+)`", row)}
    assert explained == set(counters)


def test_every_exit_code_of_the_help_is_in_the_operations_page():
    said = text("coordinator/main.cpp")
    said = said[said.index("kExitCodes"):said.index("the worst reason wins")]
    codes = {int(code) for code in re.findall(r"\b(\d+)\b", said)}
    page = text("docs/operations.md")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert len(codes) >= 8 and documented == codes


def test_every_link_between_the_documents_leads_somewhere():
    broken, links = [], 0
    for document in [CHECKOUT / "README.md", *CHECKOUT.glob("docs/**/*.md"), *CHECKOUT.glob("*/README.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            links += 1
            if not (document.parent / link).exists():
                broken.append(f"{document.relative_to(CHECKOUT)}: {link}")
    assert links > 10 and broken == []


def test_every_linked_package_has_its_licence_in_the_list():
    packages = set(re.findall(r"find_package\((\w[\w-]*)", text("CMakeLists.txt"))) - {"Threads"}
    page = text("docs/dependencies.md").lower().replace("_", "-")
    assert len(packages) > 8
    assert [name for name in packages if name.lower().replace("_", "-") not in page] == []
