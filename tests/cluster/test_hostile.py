"""Servers that want to harm their client: each is one counted failure a connection, soon, and costs no memory."""

import os
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest
from onrush_cluster import assert_accounts_balance, failures, run_embedded, write_plan
from scripted_server import ScriptedServer, opening

PLAN = """
name: hostile
target: ws://127.0.0.1:{port}/
scenarios:
  user:
    script:
      - connect: {{timeout: 5s}}
      - {step}
stages: [{{name: all, users: {users}, over: 200ms, for: 1500ms}}]
"""


def pour(sock, first, again, count):
    """Sends `first` and then `again` as often as it is taken."""
    sock.sendall(first)
    for _ in range(count):
        sock.sendall(again)


def endless_header(sock, _):
    pour(sock, b"HTTP/1.1 101 Switching Protocols\r\nX: ", b"x" * 65536, 4000)


def endless_headers(sock, _):
    pour(sock, b"HTTP/1.1 101 Switching Protocols\r\n", b"X: y\r\n" * 10_000, 4000)


def endless_line(sock, _):
    pour(sock, b"HTTP/1.1 101 ", b"Switching Protocols " * 3000, 4000)


def frame_of_a_gigabyte(sock, head):
    pour(sock, opening(head) + b"\x82\x7f" + struct.pack("!Q", 1 << 30), b"x" * 65536, 4000)


def frame_of_all_bytes(sock, head):
    pour(sock, opening(head) + b"\x82\x7f" + struct.pack("!Q", (1 << 63) - 1), b"x" * 65536, 4000)


def endless_fragments(sock, head):
    fragment = b"\x00\x7e" + struct.pack("!H", 1024) + b"x" * 1024
    pour(sock, opening(head) + b"\x01\x00", fragment * 64, 4000)


def fragments_of_nothing(sock, head):
    pour(sock, opening(head) + b"\x01\x00", b"\x00\x00" * 30_000, 10)
    sock.sendall(b"\x83\x00")


def garbage(sock, head):
    pour(sock, opening(head) + b"\xff\xff\xff\xff", os.urandom(65536), 100)


CASES = [
    (endless_header, "listen", ("upgrade", "head_too_large", 0)),
    (endless_headers, "listen", ("upgrade", "head_too_large", 0)),
    (endless_line, "listen", ("upgrade", "head_too_large", 0)),
    (frame_of_a_gigabyte, "listen", ("open", "message_too_large", 0)),
    (frame_of_a_gigabyte, "think: 10s", ("open", "message_too_large", 0)),
    (frame_of_all_bytes, "listen", ("open", "message_too_large", 0)),
    (endless_fragments, "listen", ("open", "message_too_large", 0)),
    (fragments_of_nothing, "listen", ("open", "reserved_opcode", 0)),
    (garbage, "think: 10s", ("open", "reserved_bits", 0)),
]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """One run against each, two at a time."""
    def outcome(case):
        script, step, _ = case
        users = 5 if script is endless_fragments else 50  # it takes 16 MiB each to know
        with ScriptedServer({"/": script}) as server:
            folder = tmp_path_factory.mktemp("harm")
            plan = write_plan(folder, PLAN.format(port=server.port, step=step, users=users))
            return users, *run_embedded(folder, plan, "--agents", 1)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(outcome, CASES))


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n][0].__name__)
def test_P004_P019_each_harm_is_one_failure_and_no_memory(number, outcomes):
    users, process, found = outcomes[number]
    assert found is not None, process.said()
    assert_accounts_balance(found)
    assert failures(found) == {CASES[number][2]: users}, found["failures"]
    assert found["agents"][0]["memory_max_bytes"] < 30_000_000
