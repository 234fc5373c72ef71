# ctest: timeout=180 asan
"""target-beast, target-floor and ws-node keep the contract of target-servers/README.md, as seen by PyPI's websockets
and by plain sockets."""

import asyncio
import contextlib
import json
import os
import re
import resource
import socket
import subprocess
import time
import urllib.error

import pytest
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from onrush_testing import eventually, program, start_target, target_command

MIB = 1 << 20


def client(server, path, **options):
    return connect(server.url(path), **{"compression": None, "max_size": 17 * MIB, "proxy": None,
                                        "ping_interval": None, **options})


@pytest.fixture(scope="module",
                params=[("beast", "1"), ("beast", "3"), ("floor", "1"), ("floor", "3"), ("ws-node", "")],
                ids=lambda param: f"{param[0]} {param[1]}".strip())
def server(request):
    name, workers = request.param
    with start_target(name, *(["--workers", workers] if workers else [])) as running:
        running.name = name
        yield running


def many(server, path, count):
    """A stack of `count` open clients."""
    stack = contextlib.ExitStack()
    return stack, [stack.enter_context(client(server, path)) for _ in range(count)]


@pytest.mark.parametrize("message", ["hi", "", "grüß €", b"\x00\xff", b"", "m" * 125, "m" * 126, "m" * 511,
                                     "m" * 513, "m" * 65535, b"m" * 65536, b"m" * MIB, "m" * (16 * MIB)],
                         ids=lambda message: f"{type(message).__name__} {len(message)}")
def test_echo_returns_text_as_text_and_binary_as_binary(server, message):
    with client(server, "/echo") as connection:
        for _ in range(2):
            connection.send(message)
            assert connection.recv() == message


def test_echo_joins_fragments(server):
    with client(server, "/echo") as connection:
        connection.send(["frag", "ment", "s"])
        assert connection.recv() == "fragments"


def test_a_message_over_16_mib_is_answered_with_1009(server):
    with client(server, "/echo") as connection:
        connection.socket.sendall(b"\x82\xff" + (16 * MIB + 1).to_bytes(8, "big") + b"mask")  # a frame's header
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(10)
        assert closed.value.rcvd.code == 1009


def test_a_query_does_not_change_the_path(server):
    with client(server, "/echo?user=7") as connection:
        connection.send("hi")
        assert connection.recv() == "hi"


def test_a_broadcast_reaches_every_member_once_and_numbers_rise_by_one(server):
    stack, members = many(server, "/broadcast", 20)
    with stack, client(server, "/echo") as stranger:
        before_us = time.time_ns() // 1000
        for sender in members[:5]:
            sender.send("broadcast")
        received = [[json.loads(member.recv(10)) for _ in range(5)] for member in members]
        after_us = time.time_ns() // 1000

        first = received[0][0]["seq"]
        for messages in received:
            assert [message["seq"] for message in messages] == list(range(first, first + 5))
        for same in zip(*received):
            assert len({message["batch_us"] for message in same}) == 1
            for message in same:
                assert before_us <= message["batch_us"] <= message["sent_us"] <= after_us
                assert set(message) == {"seq", "batch_us", "sent_us", "pad"}
        with pytest.raises(TimeoutError):
            stranger.recv(0.05)


@pytest.mark.parametrize("name", ["beast", "floor", "ws-node"])
def test_broadcasts_are_counted_from_one(name):
    with start_target(name) as fresh, client(fresh, "/broadcast") as member:
        member.send("broadcast")
        assert json.loads(member.recv(10))["seq"] == 1


@pytest.mark.parametrize("size", [200, 1000, 65536, MIB, 16 * MIB])
def test_a_broadcast_is_padded_to_the_size_asked_for(server, size):
    with client(server, "/broadcast") as member, client(server, "/broadcast") as other:
        member.send(f"broadcast {size}")
        for recipient in (member, other):
            text = recipient.recv(20)
            assert len(text) == size
            json.loads(text)


def test_a_size_shorter_than_the_message_pads_nothing(server):
    with client(server, "/broadcast") as member:
        member.send("broadcast 10")
        assert json.loads(member.recv(10))["pad"] == ""


def test_what_is_not_a_broadcast_starts_none(server):
    with client(server, "/broadcast") as member:
        for message in ("hello", "broadcasts", "broadcast x", "broadcast -1", "broadcast  7", b"broadcast"):
            member.send(message)
        member.send("broadcast")
        first = json.loads(member.recv(10))["seq"]
        member.send("broadcast")
        assert json.loads(member.recv(10))["seq"] == first + 1


def test_a_broadcast_right_after_a_connect_reaches_the_newcomer(server):
    with client(server, "/broadcast") as sender:
        for _ in range(200):
            with client(server, "/broadcast") as newcomer:
                sender.send("broadcast")
                assert json.loads(newcomer.recv(10))["seq"] == json.loads(sender.recv(10))["seq"]


def test_a_member_that_does_not_read_delays_nobody_and_loses_the_oldest(server):
    if server.name == "ws-node":
        pytest.skip("ws keeps for a slow recipient whatever it is sent")
    with client(server, "/broadcast", max_queue=1) as slow, client(server, "/broadcast") as sender:
        dropped = server.stats()["broadcasts_dropped"]
        last = 0
        for _ in range(1400):  # 376 more than the log holds, and at 64 KiB each more than the sockets hold
            sender.send("broadcast 65536")
            last = json.loads(sender.recv(10))["seq"]
        received = [json.loads(slow.recv(10))["seq"]]
        while received[-1] < last:
            received.append(json.loads(slow.recv(10))["seq"])
        assert received == sorted(set(received))
        lost = last - received[0] + 1 - len(received)
        assert lost > 0
        assert server.stats()["broadcasts_dropped"] - dropped == lost


def test_publish_returns_each_text_to_its_sender_alone_and_in_order(server):
    with client(server, "/publish") as one, client(server, "/publish") as other:
        for i in range(500):
            one.send(f"one {i}")
            other.send(f"other {i}")
        assert [one.recv(10) for _ in range(500)] == [f"one {i}" for i in range(500)]
        assert [other.recv(10) for _ in range(500)] == [f"other {i}" for i in range(500)]


def test_publish_takes_large_messages_faster_than_it_can_return_them(server):
    messages = [str(i) * 2 * MIB for i in range(10)]

    async def publish_all_then_read():
        # Asynchronous, because the other client does not read from its socket while it is sending.
        async with connect_async(server.url("/publish"), compression=None, max_size=17 * MIB, proxy=None) as publisher:
            for message in messages:
                await publisher.send(message)
            return [await asyncio.wait_for(publisher.recv(), 20) for _ in messages]

    assert asyncio.run(publish_all_then_read()) == messages


def test_stats_count_connections_and_messages_one_by_one(server):
    before = eventually(lambda: (s := server.stats())["connections"] == 0 and s)
    stack, clients = many(server, "/echo", 10)
    with stack, client(server, "/broadcast") as member, client(server, "/publish") as publisher:
        for connection in clients:
            for message in ("text", b"binary", ""):
                connection.send(message)
                connection.recv()
            connection.ping().wait(10)
        member.send("broadcast")
        member.recv()
        publisher.send("p")
        publisher.recv()
        during = server.stats()
    assert during["connections"] == 12
    assert during["messages_in"] - before["messages_in"] == 32
    assert during["messages_out"] - before["messages_out"] == 32
    assert eventually(lambda: server.stats()["connections"] == 0)


def test_stats_say_who_runs(server):
    stats = server.stats()
    assert stats["pid"] == server.pid
    assert stats["runtime"] == {"beast": "Boost.Beast", "floor": "epoll", "ws-node": "Node.js, ws"}[server.name]
    assert re.fullmatch(r"\d+(\.\d+)+", stats["version"])
    if server.name != "ws-node":
        assert "gc" not in stats
        return
    assert eventually(lambda: server.stats()["gc"]["minor"]["count"] > 0)
    assert server.stats()["gc"]["minor"]["pause_ms"] > 0 and set(stats["gc"]) == {"minor", "major"}


def test_connections_that_end_without_a_word_are_given_up(server):
    sockets = []
    for path in ("/echo", "/broadcast", "/publish"):
        connection = client(server, path)
        sockets.append(connection.socket)
    assert server.stats()["connections"] == 3
    sockets[0].shutdown(socket.SHUT_RDWR)
    for ended in sockets[1:]:
        ended.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        ended.shutdown(socket.SHUT_RDWR)
    assert eventually(lambda: server.stats()["connections"] == 0)


@pytest.mark.parametrize("path", ["/", "/nothing", "/echoes", "/stats/x", "/echo"])
def test_anything_else_is_404(server, path):
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.get(path)
    assert refused.value.code == 404
    if path != "/echo":
        with pytest.raises(InvalidStatus) as not_upgraded:
            client(server, path)
        assert not_upgraded.value.response.status_code == 404


def test_http_connections_are_kept_alive(server):
    with socket.create_connection(("127.0.0.1", server.port), 10) as plain:
        for _ in range(3):
            plain.sendall(b"GET /stats HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"}\n"):
                received = plain.recv(65536)
                assert received
                answer += received
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


def test_no_compression_unless_asked_for(server):
    with client(server, "/echo", compression="deflate") as connection:
        assert "Sec-WebSocket-Extensions" not in connection.response.headers


@pytest.mark.parametrize("name", ["beast", "ws-node"])
def test_deflate_when_asked_for(name):
    with start_target(name, "--deflate") as deflating:
        for path, message, size in (("/echo", "z" * 100_000, 100_000), ("/broadcast", "broadcast 5000", 5000),
                                    ("/publish", "zip" * 1000, 3000)):
            with client(deflating, path, compression="deflate") as connection:
                assert "permessage-deflate" in connection.response.headers["Sec-WebSocket-Extensions"]
                connection.send(message)
                assert len(connection.recv(10)) == size
        with client(deflating, "/echo") as plain:
            plain.send("plain")
            assert plain.recv(10) == "plain"


@pytest.mark.parametrize("name", ["beast", "floor", "ws-node", "graphql-node"])
def test_sigterm_ends_it_with_0_though_connections_are_open(name):
    if name == "graphql-node":
        with start_target(name) as ending:
            assert ending.stop() == 0
        return
    with start_target(name, *([] if name == "ws-node" else ["--workers", "2"])) as ending:
        stack, members = many(ending, "/broadcast", 50)
        with stack:
            # And writes are under way; Node makes all of a fan-out's messages before it looks at a signal.
            members[0].send(f"broadcast {MIB if name == 'ws-node' else 16 * MIB}")
            begun = time.monotonic()
            assert ending.stop() == 0
            assert time.monotonic() - begun < 5


@pytest.mark.parametrize("name", ["beast", "faulty", "floor", "ws-node", "graphql-node"])
def test_a_port_that_is_taken_is_told_in_one_line(name):
    with start_target(name) as first:
        second = subprocess.run([*target_command(name), "--port", str(first.port)], capture_output=True, text=True,
                                timeout=20)
    assert second.returncode not in (0, -6, -11)
    assert second.stdout == ""
    assert len(second.stderr.splitlines()) == 1
    assert str(first.port) in second.stderr and "taken" in second.stderr


@pytest.mark.parametrize("name", ["beast", "faulty", "floor", "ws-node", "graphql-node"])
def test_it_takes_all_the_descriptors_it_may_have(name):
    with start_target(name) as running:
        soft, hard = resource.prlimit(running.pid, resource.RLIMIT_NOFILE)
        assert soft == hard


@pytest.mark.skipif(b"__ubsan_handle_dynamic_type" in program("target-beast").read_bytes(),
                    reason="the sanitizer opens a pipe to look at an object, and calls it broken when it cannot")
@pytest.mark.parametrize("name", ["beast", "floor"])
def test_out_of_descriptors_it_waits_and_goes_on_when_some_are_free(name):
    """P055: an accept loop that spins."""
    with start_target(name) as starved:
        in_use = len(os.listdir(f"/proc/{starved.pid}/fd"))
        resource.prlimit(starved.pid, resource.RLIMIT_NOFILE, (in_use + 8, in_use + 8))
        stack, _ = many(starved, "/echo", 8)
        with stack:
            waiting = socket.create_connection(("127.0.0.1", starved.port), 10)
            waiting.sendall(b"GET /stats HTTP/1.1\r\nHost: x\r\n\r\n")
            before = cpu_s(starved.pid)
            time.sleep(1)
            assert cpu_s(starved.pid) - before < 0.2
        waiting.settimeout(10)
        assert waiting.recv(15) == b"HTTP/1.1 200 OK"
        waiting.close()


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / 100
