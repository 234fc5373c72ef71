# ctest: serial timeout=300 asan
"""The engine, as a client, passes every Autobahn case, compressed ones too; a run that proves nothing is no pass."""

import asyncio
import socket
import subprocess

import kosoku

from conformance import (CASES, COMPRESSED_CASES, COMPRESSION, PLAIN_CASES, complaints, exchanging, results_of,
                         run_engine, run_engine_compressed)
from onrush_testing import program


def test_the_engine_passes_every_case():
    code, errors, results = run_engine()
    assert (code, errors) == (0, "")
    with exchanging(messages=20):
        code, errors, compressed = run_engine_compressed()
    assert (code, errors) == (0, "")
    assert complaints(results + compressed) == []


def test_an_engine_that_does_not_offer_compression_is_no_pass():
    async def run():
        async with kosoku.run_fuzzingserver(["13.1.*"], None, host="127.0.0.1", port=0) as server:
            client = await asyncio.create_subprocess_exec(program("conformance-client"), str(server.port), "1", "18")
            await asyncio.wait_for(client.wait(), 60)
            return await results_of(server.get_result(), 20)
    wrong = complaints(asyncio.run(run()), expected=18)
    assert len(wrong) == 18
    assert "UNIMPLEMENTED" in wrong[0]


def test_a_run_of_fewer_cases_is_no_pass():
    _, _, results = run_engine(2, 20)
    assert complaints(results) == [f"19 cases were run instead of {CASES}"]
    assert CASES == PLAIN_CASES + COMPRESSED_CASES == 517


def test_a_run_without_a_client_is_no_pass():
    async def nobody_comes():
        async with kosoku.run_fuzzingserver(None, COMPRESSION, host="127.0.0.1", port=0) as server:
            return await results_of(server.get_result(), 1)
    assert complaints(asyncio.run(nobody_comes())) == [f"0 cases were run instead of {CASES}"]


def test_a_client_that_finds_no_server_fails():
    with socket.socket() as bound:  # bound, but nobody listens
        bound.bind(("127.0.0.1", 0))
        client = subprocess.run([program("conformance-client"), str(bound.getsockname()[1]), "1", "3"],
                                capture_output=True, text=True, timeout=30)
    assert client.returncode == 1
    assert sorted(client.stderr.splitlines()) == [
        *(f"conformance-client: case {n}: 0 connections instead of one" for n in (1, 2, 3)),
        "conformance-client: reports: 0 connections instead of one"]


def test_a_client_that_is_asked_for_nonsense_says_how_it_is_used():
    client = subprocess.run([program("conformance-client"), "80", "7", "3"], capture_output=True, text=True, timeout=30)
    assert client.returncode == 2
    assert client.stderr.startswith("usage: ")
