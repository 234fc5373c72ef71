# ctest: timeout=180 asan
"""target-floor is one server however many processes it has; and what a target of a million connections must survive."""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import time

import pytest
from websockets.sync.client import connect

from onrush_testing import RawClient, Server, eventually, program, start_target


def client(server, path):
    return connect(server.url(path), compression=None, proxy=None, ping_interval=None)


def workers_of(server):
    with open(f"/proc/{server.pid}/task/{server.pid}/children") as children:
        return [int(pid) for pid in children.read().split()]


@pytest.fixture(scope="module")
def server():
    with start_target("floor", "--workers", "4") as running:
        yield running


def test_every_worker_is_a_process_and_takes_its_share(server):
    assert len(workers_of(server)) == 4
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(RawClient(server, "/echo")).head()
        stats = server.stats()
    assert stats["workers"] == 4
    assert stats["connections"] == 200
    # 50 each, standard deviation 6: outside of this once in some millions of runs
    assert 15 < stats["fewest_of_a_worker"] <= stats["most_of_a_worker"] < 90


def test_a_broadcast_sent_to_one_reaches_all_connections_of_all_workers(server):
    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(client(server, "/broadcast")) for _ in range(60)]
        assert server.stats()["fewest_of_a_worker"] > 0
        for sender in members[:10]:
            sender.send("broadcast")
        received = [[json.loads(member.recv(10)) for _ in range(10)] for member in members]
    first = received[0][0]["seq"]
    for messages in received:
        assert [message["seq"] for message in messages] == list(range(first, first + 10))
    for same in zip(*received):
        assert len({message["batch_us"] for message in same}) == 1


def test_stats_are_sums_whichever_worker_answers(server):
    assert eventually(lambda: server.stats()["connections"] == 0)
    before = server.stats()
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            connection = stack.enter_context(client(server, "/echo"))
            connection.send("x")
            connection.recv(10)
        answers = [server.stats() for _ in range(20)]  # each on a connection of its own: they come from several
    for stats in answers:
        assert stats["pid"] == server.pid
        assert stats["connections"] == 40
        assert stats["messages_in"] - before["messages_in"] == 40
        assert stats["messages_out"] - before["messages_out"] == 40
        assert stats["cpu_s"] > 0
        assert stats["memory_private_bytes"] > 0


def test_members_that_come_and_go_during_a_fan_out_neither_lose_nor_double_a_broadcast(server):
    """Members are looked at in slices, and whoever leaves is replaced by another in the list."""
    with contextlib.ExitStack() as stack:
        stayers = [stack.enter_context(RawClient(server, "/broadcast")) for _ in range(1500)]
        leavers = [stack.enter_context(RawClient(server, "/broadcast")) for _ in range(1000)]
        for member in stayers + leavers:
            member.head()
        sender = stack.enter_context(client(server, "/broadcast"))
        before = server.stats()["broadcasts_dropped"]
        for i in range(20):
            sender.send("broadcast")
            for leaver in leavers[i * 50:(i + 1) * 50]:
                leaver.socket.close()
        last = [json.loads(sender.recv(10))["seq"] for _ in range(20)]
        for member in stayers:
            seen = []
            while len(seen) < 20:
                head = member.take(2)
                assert head[0] == 0x81
                size = head[1] if head[1] < 126 else int.from_bytes(member.take(2), "big")
                seen.append(json.loads(member.take(size))["seq"])
            assert seen == last
        assert server.stats()["broadcasts_dropped"] == before


def test_bytes_may_come_one_by_one(server):
    request = (f"GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               f"Sec-WebSocket-Key: {RawClient.KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode()
    text = "grüß €"  # masked with zeros, so as it is
    fragments = [b"\x01\x83\0\0\0\0" + text.encode()[:3], b"\x89\x81\0\0\0\0!", b"\x80\x87\0\0\0\0" + text.encode()[3:]]
    with socket.create_connection(("127.0.0.1", server.port), 10) as slow:
        slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request + b"".join(fragments) + b"\x88\x82\0\0\0\0\x03\xe8":
            slow.sendall(bytes([byte]))
            time.sleep(0.0005)
        answer = b""
        while received := slow.recv(4096):
            answer += received
    head, _, frames = answer.partition(b"\r\n\r\n")
    assert RawClient.ACCEPT.encode() in head
    assert frames == b"\x8a\x01!" + b"\x81\x0a" + text.encode() + b"\x88\x02\x03\xe8"


def test_a_request_and_frames_may_come_in_one_piece(server):
    with RawClient(server, "/echo") as eager:
        eager.send(1, b"second")
        eager.head()
        assert eager.take(8) == b"\x81\x06second"


def test_connections_that_end_early_leave_nothing_behind(server):
    assert eventually(lambda: server.stats()["connections"] == 0)
    held = descriptors_of(server)
    for i in range(3000):
        connection = socket.create_connection(("127.0.0.1", server.port), 10)
        if i % 3:
            connection.sendall(b"GET /broadcast HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\n\r\n"
                               [:40 if i % 3 == 1 else None])
        if i % 2:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connection.close()
    assert eventually(lambda: server.stats()["connections"] == 0)
    assert eventually(lambda: descriptors_of(server) <= held)


def descriptors_of(server):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in workers_of(server))


@pytest.mark.skipif(b"__ubsan_handle_dynamic_type" in program("target-floor").read_bytes(),
                    reason="the sanitizer opens a pipe to look at an object, and calls it broken when it cannot")
def test_under_a_small_limit_all_that_fit_are_served_and_the_rest_wait():
    command = ["bash", "-c", 'ulimit -n 40; exec "$0" --port 0 --workers 2', str(program("target-floor"))]
    with contextlib.ExitStack() as stack:
        few = stack.enter_context(Server(command))
        clients = [stack.enter_context(RawClient(few, "/echo")) for _ in range(100)]
        time.sleep(0.3)
        before_s = sum(cpu_s(pid) for pid in workers_of(few))
        time.sleep(1)
        assert sum(cpu_s(pid) for pid in workers_of(few)) - before_s < 0.2
        served = 0
        while clients:
            # Whoever is served goes away and makes room for one that waits.
            client_ = next((c for c in clients if has_answer(c)), None)
            assert client_ is not None, f"{len(clients)} wait for ever"
            client_.head()
            client_.socket.close()
            clients.remove(client_)
            served += 1
        assert served == 100


def has_answer(raw):
    raw.socket.settimeout(0.01)
    try:
        return raw.socket.recv(1, socket.MSG_PEEK) != b""
    except TimeoutError:
        return False
    finally:
        raw.socket.settimeout(10)


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / 100


def test_a_worker_that_dies_ends_the_server_with_a_word():
    with start_target("floor", "--workers", "3") as failing:
        victim = workers_of(failing)[1]
        others = [pid for pid in workers_of(failing) if pid != victim]
        os.kill(victim, signal.SIGKILL)
        assert failing.process.wait(10) == 1
        assert failing.errors() == f"target-floor: worker 1 (pid {victim}) ended by signal 9; so does the server\n"
        assert not any(os.path.exists(f"/proc/{pid}") for pid in others)


def test_a_parent_that_dies_leaves_no_orphan():
    with start_target("floor", "--workers", "3") as killed:
        workers = workers_of(killed)
        killed.process.kill()
        killed.process.wait(10)
        assert eventually(lambda: not any(running(pid) for pid in workers))


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_sigterm_ends_all_workers():
    with start_target("floor", "--workers", "8") as ending:
        workers = workers_of(ending)
        assert ending.stop() == 0
        assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)


def test_a_second_server_of_several_workers_does_not_share_the_port(server):
    """SO_REUSEPORT alone would let it."""
    second = subprocess.run([program("target-floor"), "--port", str(server.port), "--workers", "2"],
                            capture_output=True, text=True, timeout=20)
    assert second.returncode == 1
    assert second.stderr == f"target-floor: 127.0.0.1 port {server.port} is taken by another process\n"


def test_each_worker_may_have_all_descriptors(server):
    for pid in workers_of(server):
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        assert soft == hard
