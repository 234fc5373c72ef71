"""Connections through an HTTP proxy: real tunnels, each kind of refusal, one deadline, and no password anywhere."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from connect_proxy import ConnectProxy
from onrush_cluster import assert_accounts_balance, failures, run_embedded, write_plan
from onrush_testing import start_target
from scripted_server import HOLD, ScriptedServer

PLAN = """
name: proxied
target: ws://{target}/echo
connection: {{proxy: "{proxy}"}}
scenarios:
  user:
    script:
      - connect: {{timeout: 1s}}
      - repeat:
          times: 3
          do: [request: {{text: "hello ${{user}} ${{sequence}}", reply: {{text: "hello ${{user}} ${{sequence}}"}}}}]
      - think: 10s
stages: [{{name: all, users: 20, over: 100ms, for: 1200ms}}]
"""


def run(tmp_path, target, proxy, *options):
    plan = write_plan(tmp_path, PLAN.format(target=target, proxy=proxy))
    process, found = run_embedded(tmp_path, plan, "--agents", 1, *options)
    assert found is not None, process.said()
    assert_accounts_balance(found)
    return process, found


def test_users_talk_through_the_tunnel_and_the_proxy_looks_the_name_up(tmp_path):
    with start_target("beast") as target, ConnectProxy() as proxy:
        process, found = run(tmp_path, f"target.test:{target.port}", f"http://127.0.0.1:{proxy.port}")
        assert process.process.returncode == 0, process.said() + str(found["failures"])
        assert found["counts"]["opened"] == 20 and found["counts"]["messages_received"] == 60
        assert proxy.asked == [f"target.test:{target.port}"] * 20


def test_user_and_password_reach_the_proxy_and_nothing_else(tmp_path):
    with start_target("beast") as target, ConnectProxy("q", "s3cret word") as proxy:
        process, found = run(tmp_path, f"127.0.0.1:{target.port}", f"http://q:s3cret%20word@127.0.0.1:{proxy.port}",
                             "--trace", "users=2")
        assert process.process.returncode == 0, process.said() + str(found["failures"])
        assert proxy.refused == 0 and len(proxy.asked) == 20
        trace = (tmp_path / "results/trace.txt").read_text()
        assert r"CONNECT 127.0.0.1:" in trace and "Proxy-Authorization: (hidden)" in trace
        assert "HTTP/1.1 200 Connection established" in trace
        for file in (tmp_path / "results").iterdir():
            for secret in (b"s3cret", b"czNjcmV0", b"cTpzM2NyZXQ"):
                assert secret not in file.read_bytes(), file
        assert "s3cret" not in process.said() + process.printed()


def test_a_wrong_password_is_407_with_its_remedy(tmp_path):
    with start_target("beast") as target, ConnectProxy("q", "right") as proxy:
        process, found = run(tmp_path, f"127.0.0.1:{target.port}", f"http://q:wrong@127.0.0.1:{proxy.port}")
        assert process.process.returncode == 99
        [failure] = found["failures"]
        told = (failure["phase"], failure["cause"], failure["count"])
        assert told == ("proxy", "407 Proxy Authentication Required", 20)
        assert failure["sample"] == "HTTP/1.1 407 Proxy Authentication Required: who's it?"
        assert failure["remedy"] == "are user and password right?"
        assert proxy.refused == 20 and target.stats()["messages_in"] == 0


def test_a_target_that_the_proxy_cannot_reach_is_the_proxys_answer(tmp_path):
    with ConnectProxy() as proxy:
        _, found = run(tmp_path, "127.0.0.1:1", f"http://127.0.0.1:{proxy.port}")
        assert failures(found) == {("proxy", "refused_status", 502): 20}


def test_a_proxy_that_is_not_there_is_a_failed_connect(tmp_path):
    with start_target("beast") as target:
        _, found = run(tmp_path, f"127.0.0.1:{target.port}", "http://127.0.0.1:1")
        assert failures(found) == {("connect", "system", 111): 20}


class AnyPath(dict):
    def __missing__(self, _):
        return self["*"]


def endless(sock, _):
    sock.sendall(b"HTTP/1.1 200 OK\r\n")
    for _ in range(10_000):
        sock.sendall(b"X-More: " + b"x" * 65536 + b"\r\n")


ANSWERS = [
    ([b"HTTP/1.0 503 x\r\n\r\n"], ("proxy", "refused_status", 503)),
    ([b"HTTP/1.1 101 Switching Protocols\r\n\r\n", HOLD], ("proxy", "refused_status", 101)),
    ([b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere.test/\r\n\r\n", HOLD], ("proxy", "refused_status", 302)),
    ([b"HTTP/2 200\r\n\r\n", HOLD], ("proxy", "not_http", 0)),
    ([b"\x05\x00", HOLD], ("proxy", "not_http", 0)),
    ([b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", HOLD], ("proxy", "bad_header", 0)),
    ([b"HTTP/1.1 2"], ("proxy", "end_of_stream", 0)),
    ([HOLD], ("proxy", "timeout", 1000)),
    ([b"HTTP/1.1 200 OK\r\nVia", HOLD], ("proxy", "timeout", 1000)),
    (endless, ("proxy", "head_too_large", 0)),
    # The tunnel is there, and nothing in it.
    ([b"HTTP/1.1 200 OK\r\n\r\n", HOLD], ("upgrade", "timeout", 1000)),
    ([b"HTTP/1.1 200 OK\r\n\r\n"], ("upgrade", "end_of_stream", 0)),
    # Before we have asked it anything.
    ([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", HOLD], ("upgrade", "not_http", 0)),
    ([b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", HOLD], ("upgrade", "wrong_accept", 0)),
]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """One run against each answer, four at a time."""
    def outcome(answer):
        with ScriptedServer(AnyPath({"*": answer})) as proxy:
            process, found = run(tmp_path_factory.mktemp("answer"), "target.test:80", f"http://127.0.0.1:{proxy.port}")
            return process.process.returncode, found, proxy.heads

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(outcome, [answer for answer, _ in ANSWERS]))


@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_P008_P011_each_wrong_answer_is_its_own_failure(number, outcomes):
    code, found, heads = outcomes[number]
    assert code == 99
    assert failures(found) == {ANSWERS[number][1]: 20}, found["failures"]
    assert found["duration_s"] < 5
    assert all(head.startswith(b"CONNECT target.test:80 HTTP/1.1\r\n") for head in heads)
