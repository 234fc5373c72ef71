"""What a target may answer instead of a 101, through whole runs: shown as it was, followed by nothing, bounded."""

import time

import pytest
from onrush_cluster import assert_accounts_balance, run_embedded, write_plan
from scripted_server import HOLD, ScriptedServer

PLAN = """
name: answers
target: ws://127.0.0.1:{port}{path}
scenarios:
  user:
    script:
      - connect: {{timeout: {timeout}}}
      - send: {{text: "a frame that must not follow a refusal"}}
      - think: 1s
stages:
  - {{name: all, users: {users}, over: 100ms, for: {length}}}
"""


def run(tmp_path, server, path, timeout="2s", users=3, length="300ms"):
    plan = write_plan(tmp_path, PLAN.format(port=server.port, path=path, timeout=timeout, users=users, length=length))
    process, found = run_embedded(tmp_path, plan, "--agents", "1")
    assert found is not None, process.said()
    assert_accounts_balance(found)
    assert found["counts"]["opened"] == 0 and found["counts"]["failed"] == users, found["failures"]
    assert process.process.returncode == 99, "all failed is never a pass"
    assert not server.behind[path], "bytes were sent behind the request"
    return process, found["failures"]


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "307 Temporary Redirect",
                                    "308 Permanent Redirect"])
def test_P005_a_redirect_is_shown_and_never_followed(status, tmp_path):
    with ScriptedServer({"/ws2": [HOLD]}) as elsewhere, ScriptedServer({}) as server:
        places = [f"ws://127.0.0.1:{elsewhere.port}/ws2", f"http://127.0.0.1:{elsewhere.port}/ws2", "/ws2", "/loop",
                  None]
        if status != "302 Found":
            places = places[:1]
        for place in places:
            location = f"Location: {place}\r\n" if place else ""
            server.scripts["/loop"] = [f"HTTP/1.1 {status}\r\n{location}Content-Length: 0\r\n\r\n".encode()]
            process, failures = run(tmp_path, server, "/loop", users=1)
            [failure] = failures
            assert (failure["kind"], failure["detail"]) == ("refused_status", int(status[:3]))
            assert failure["sample"] == f"HTTP/1.1 {status}" + (f"; Location: {place}" if place else "")
            assert failure["sample"] in process.printed()
            assert failure["remedy"] == "use the address it points to"
        assert len(server.heads) == len(places), "each attempt is one request"
        assert not elsewhere.heads


@pytest.mark.parametrize("answer, kind, detail", [
    (b"HTTP/1.0 503 x\r\n\r\n", "refused_status", 503),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "refused_status", 200),
    (b"HTTP/1.1 403 x\r\n\r\n", "refused_status", 403),
    (b"HTTP/2 101\r\n\r\n", "not_http", 0),
    (b"\x16\x03\x01\x00\xff random \x1b[2J bytes\r\n\r\n", "not_http", 0),
    (b"\x15\x03\x03\x00\x02\x02\x46", "not_http", 1),  # a TLS alert
])
def test_P008_only_a_101_opens_and_no_frame_follows_anything_else(answer, kind, detail, tmp_path):
    with ScriptedServer({"/": [answer, HOLD]}) as server:
        process, [failure] = run(tmp_path, server, "/")
        assert (failure["phase"], failure["kind"], failure["detail"], failure["count"]) == ("upgrade", kind, detail, 3)
        assert "\x1b" not in process.printed() + failure["sample"]


@pytest.mark.parametrize("pieces", [
    [b"HTTP/1.1 503 Busy\r\nContent-Length: 16\r\n\r\ntoo many clients"],
    [b"HTTP/1.1 503 Busy\r\nContent-Length: 16\r\n\r\n", 0.02, b"too many", 0.02, b" clients", HOLD],
    [b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n", 0.02, b"10\r\ntoo many clients\r\n0\r\n\r\n", HOLD],
    [b"HTTP/1.1 503 Busy\r\n\r\n", 0.02, b"too many clients"],
    [b"HTTP/1.1 503 Busy\r\n\r\ntoo many clients", HOLD],
    [b"HTTP/1.1 503 Busy\r\n\r\n", 0.02, b"\r\ntoo many\tclients\r\n" + b"\r\n" * 200],
], ids=["at-once", "behind", "chunked", "until-the-end", "without-end", "blanks"])
def test_a_refusals_body_is_in_the_error_table(pieces, tmp_path):
    with ScriptedServer({"/": pieces}) as server:
        process, [failure] = run(tmp_path, server, "/")
        assert failure["sample"] == "HTTP/1.1 503 Busy: too many clients"
        assert failure["sample"] in process.printed()
        assert failure["count"] == 3


def test_a_refusal_whose_body_never_comes_is_counted_soon(tmp_path):
    with ScriptedServer({"/": [b"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n", HOLD]}) as server:
        _, [failure] = run(tmp_path, server, "/", timeout="20s", users=20)
        assert (failure["detail"], failure["count"], failure["sample"]) == (503, 20, "HTTP/1.1 503 Busy")
        assert failure["last_s"] < 0.5


def endless(sock, _):
    """A refusal's body without end."""
    sock.sendall(b"HTTP/1.1 503 Busy\r\n\r\n")
    for _ in range(10_000):
        sock.sendall(b"x" * 65536)


def trickle(sock, _):
    for byte in b"HTTP/1.1 101 Switching Protocols\r\n" * 100:
        sock.sendall(bytes([byte]))
        time.sleep(0.1)


def test_an_endless_body_is_cut_off(tmp_path):
    with ScriptedServer({"/": endless}) as server:
        _, [failure] = run(tmp_path, server, "/")
        assert failure["sample"] == "HTTP/1.1 503 Busy: " + "x" * 200


@pytest.mark.parametrize("script", [[HOLD], [b"HTTP/1.1 1", HOLD], trickle], ids=["silent", "half", "trickle"])
def test_P011_one_deadline_that_nothing_moves(script, tmp_path):
    with ScriptedServer({"/": script}) as server:
        _, [failure] = run(tmp_path, server, "/", timeout="700ms", length="900ms")
        assert (failure["phase"], failure["kind"], failure["detail"]) == ("upgrade", "timeout", 700)
        assert failure["last_s"] < 1.0
