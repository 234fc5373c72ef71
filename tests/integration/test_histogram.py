# ctest: asan
"""Our histograms are HdrHistogram's: what we encode the PyPI package hdrhistogram decodes alike, and the other way."""

import math
import os
import pathlib
import random
import subprocess

import pytest
from hdrh.histogram import HdrHistogram

TOOL = pathlib.Path(os.environ["ONRUSH_BIN"]) / "histogram-tool"
HIGHEST = 3_600_000_000
QUANTILES = [0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1]


def tool(*arguments, text):
    done = subprocess.run([TOOL, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def theirs(samples):
    histogram = HdrHistogram(1, HIGHEST, 3)
    for sample in samples:
        assert histogram.record_value(sample)
    return histogram


def buckets(histogram):
    return {item.value_iterated_to: item.count_added_in_this_iter_step for item in histogram.get_recorded_iterator()}


def quantile_of(histogram, quantile):
    """By its definition: the package's own percentiles round the rank to the nearest, so some differ by one sample."""
    rank = max(1, math.ceil(math.nextafter(quantile, 0) * histogram.get_total_count()))
    seen = 0
    for value, count in sorted(buckets(histogram).items()):
        seen += count
        if seen >= rank:
            return value
    return 0


def samples_of(name):
    chance = random.Random(name)
    return {
        "one": [241_470],
        "edges": [0, 1, 2047, 2048, 2049, 4095, 4096, HIGHEST - 1, HIGHEST],
        "dense": [chance.randrange(5_000) for _ in range(5_000)],
        "handshakes": [int(chance.lognormvariate(6, 1.5)) for _ in range(5_000)],
        "everywhere": [int(10 ** chance.uniform(0, 9.5)) for _ in range(5_000)],
        "a stall": [300] * 900 + [chance.randrange(10_000_000) for _ in range(1_000)],
    }[name]


NAMES = ["one", "edges", "dense", "handshakes", "everywhere", "a stall"]


@pytest.mark.parametrize("name", NAMES)
def test_they_read_what_we_write(name):
    samples = samples_of(name)
    decoded = HdrHistogram.decode(tool("encode", text="\n".join(map(str, samples))).strip())
    assert decoded.get_total_count() == len(samples)
    assert buckets(decoded) == buckets(theirs(samples))


@pytest.mark.parametrize("name", NAMES)
def test_we_read_what_they_write(name):
    histogram = theirs(samples_of(name))
    count, *values = map(int, tool("decode", *QUANTILES, text=histogram.encode().decode()).split())
    assert count == histogram.get_total_count()
    # Ours are clamped to the range; the top bucket of theirs reaches beyond an hour.
    assert values == [min(quantile_of(histogram, q), HIGHEST) for q in QUANTILES]


def test_what_we_merge_is_what_they_merge():
    parts = [theirs(samples_of(name)) for name in NAMES]
    whole = HdrHistogram(1, HIGHEST, 3)
    for part in parts:
        whole.add(part)
    merged = HdrHistogram.decode(tool("merge", text="\n".join(part.encode().decode() for part in parts)).strip())
    assert buckets(merged) == buckets(whole)


def test_an_empty_one_is_read_by_both():
    assert HdrHistogram.decode(tool("encode", text="").strip()).get_total_count() == 0
    assert tool("decode", 0.5, text=theirs([]).encode().decode()).split() == ["0", "0"]


def test_another_precision_is_refused_with_the_reason():
    other = HdrHistogram(1, HIGHEST, 2)
    other.record_value(5)
    done = subprocess.run([TOOL, "decode"], input=other.encode().decode(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "precision is not three digits" in done.stderr
