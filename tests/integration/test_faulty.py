# ctest: timeout=180 asan
"""target-faulty does what its table says, byte for byte; and PyPI's websockets, an independent client, answers each
violation with the close code that faults.json demands of ours."""

import json
import socket
import struct
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from onrush_testing import CHECKOUT, RawClient, eventually, start_target

FAULTS = json.loads((CHECKOUT / "target-servers/faulty/faults.json").read_text())
BY_PATH = {fault["path"]: fault for fault in FAULTS}
VALID = [fault["path"] for fault in FAULTS if fault["valid"]]
ANSWERED_WITH_CLOSE = [fault["path"] for fault in FAULTS if fault["close_code"] is not None]

# The bytes behind the 101.
AFTER_HEAD = {
    "/masked": "81 82 01 02 03 04 69 6B",
    "/masked-ping": "89 80 01 02 03 04",
    "/masked-close": "88 82 01 02 03 04 02 EA",
    "/rsv1": "C1 02 68 69",
    "/rsv2": "A1 02 68 69",
    "/rsv3": "91 02 68 69",
    "/reserved-opcode": "83 00",
    "/bad-utf8": "81 02 C3 28",
    "/bad-utf8-fragments": "01 01 F0 80 00",
    "/split-utf8": "01 01 E2 80 02 82 AC",
    "/long-control": "89 7E 00 7E" + " 70" * 126,
    "/fragmented-control": "09 01 78",
    "/orphan-continuation": "80 00",
    "/nested-message": "01 02 68 65 81 01 78",
    "/oversized": "82 7F 00 00 00 00 40 00 00 00",
    "/bad-length": "82 7F 80 00 00 00 00 00 00 01",
    "/long-length": "81 7E 00 05 68 65 6C 6C 6F",
    "/extra-crlf": "0D 0A",
    "/chunked-end": "30 0D 0A 0D 0A",
    "/close-1-byte": "88 01 03",
    "/close-bad-code": "88 02 03 ED",
    "/close-bad-utf8": "88 04 03 E8 C3 28",
    "/close-no-code": "88 00",
    "/close-1001": "88 02 03 E9",
    "/close-1011": "88 06 03 F3 68 65 61 70",
    "/close-4000": "88 05 0F A0 62 79 65",
    "/close-split": "88 05 0F A0 62 79 65",
    "/accept-then-close": "88 02 03 F0",
    "/fragments-with-pings": "01 02 68 65 89 01 78 8A 00 80 03 6C 6C 6F",
    "/head-and-frame": "81 07 77 65 6C 63 6F 6D 65",
    "/mid-frame-end": "81 05 68 65",
}

GREETING = {"/head-and-frame": "welcome", "/fragments-with-pings": "hello", "/split-utf8": "€"}


@pytest.fixture(scope="module")
def server():
    with start_target("faulty") as running:
        yield running


def client(server, path):
    return connect(server.url(path), compression=None, max_size=16 << 20, proxy=None, ping_interval=None,
                   open_timeout=2, close_timeout=1)


def path_stats(server, path):
    return server.stats()["paths"].get(path, {"requests": 0, "opened": 0, "closes": {}, "messages_in": 0,
                                              "messages_out": 0, "pongs": 0, "unmasked_frames": 0})


def closes(server, path, code):
    return path_stats(server, path)["closes"].get(str(code), 0)


def test_faults_json_tells_of_every_path_and_of_no_other(server):
    listed = [line.split()[0] for line in server.get("/").splitlines()]
    listed += ["/status/302", "/status/429"]  # parameters of /status/503's row
    assert sorted(listed) == sorted(BY_PATH)
    for fault in FAULTS:
        assert fault["valid"] == (fault["phase"] is None) == (fault["cause"] is None)
        assert fault["phase"] in (None, "connect", "upgrade", "request", "open", "close")


def test_the_readme_has_a_row_for_each_fault_as_faults_json_has_it():
    rows = {}
    for line in (CHECKOUT / "target-servers/faulty/README.md").read_text().splitlines():
        if line.startswith("| `/"):
            path, _, report, code = (cell.strip() for cell in line.strip("|").split("|"))
            rows[path.strip("`")] = (report, code)
    assert rows == {fault["path"]: (report_of(fault), str(fault["close_code"] or "")) for fault in FAULTS}


def report_of(fault):
    if fault["valid"]:
        return "works"
    detail = {None: "", 0: "", "timeout": ""}.get(fault["detail"], f" {fault['detail']}")
    return f"{fault['phase']} {fault['cause']}{detail}"


@pytest.mark.parametrize("path", AFTER_HEAD)
def test_the_bytes_behind_the_101_are_these(server, path):
    with RawClient(server, path) as raw:
        head = raw.head()
        assert head[0] == "HTTP/1.1 101 Switching Protocols"
        assert f"Sec-WebSocket-Accept: {RawClient.ACCEPT}" in head
        expected = bytes.fromhex(AFTER_HEAD[path])
        assert raw.take(len(expected)) == expected


# What websockets does in its own way, and why it is no witness there; the bytes of these paths are checked above.
NO_WITNESS = {
    "/no-reason": "it wants the blank that RFC 9112 has before an absent phrase; case P002 asks more of ours",
    "/bad-length": "it takes the top bit for a large length and answers 1009",
    "/long-length": "it does not mind a length that is longer than it need be",
    "/chunked-end": "it waits for the whole frame before it looks at the reserved bits",
}


def witnessed(paths):
    return [path for path in paths if path not in NO_WITNESS]


@pytest.mark.parametrize("path", witnessed(VALID))
def test_what_is_valid_works_with_an_independent_client(server, path):
    before = path_stats(server, path)
    with client(server, path) as connection:
        if path == "/flood":
            assert {connection.recv(10) for _ in range(100_000)} == {"drop in the ocean"}
        if path in GREETING:
            assert connection.recv(10) == GREETING[path]
        connection.send("text")
        assert connection.recv(20) == "text"
        connection.send(b"\x00\x01")
        assert connection.recv(20) == b"\x00\x01"
    assert eventually(lambda: closes(server, path, 1000) == before["closes"].get("1000", 0) + 1)
    after = path_stats(server, path)
    greetings = 100_000 if path == "/flood" else 1 if path in GREETING else 0
    assert after["messages_in"] - before["messages_in"] == 2
    assert after["messages_out"] - before["messages_out"] == 2 + greetings
    assert after["pongs"] == {"/ping-flood": 100_000, "/fragments-with-pings": 1}.get(path, 0) + before["pongs"]
    assert after["unmasked_frames"] == before["unmasked_frames"]


@pytest.mark.parametrize("path", witnessed(ANSWERED_WITH_CLOSE))
def test_an_independent_client_answers_with_the_code_that_the_table_demands(server, path):
    code = BY_PATH[path]["close_code"]
    before = closes(server, path, code)
    with client(server, path) as connection, pytest.raises(ConnectionClosed):
        while True:
            connection.recv(10)
    assert eventually(lambda: closes(server, path, code) == before + 1), server.stats()["paths"][path]


@pytest.mark.parametrize("path", [fault["path"] for fault in FAULTS
                                  if fault["phase"] == "upgrade" and fault["cause"] != "timeout"])
def test_an_independent_client_refuses_what_must_be_refused(server, path):
    if path in ("/no-colon", "/unasked-extension", "/unasked-protocol"):
        # Not all clients look that closely, but no client may say that it is open without the fault being in the head.
        with RawClient(server, path) as raw:
            assert {"/no-colon": "X-Without-Colon", "/unasked-extension": "Sec-WebSocket-Extensions: x-unasked",
                    "/unasked-protocol": "Sec-WebSocket-Protocol: x-unasked"}[path] in raw.head()
        if path == "/unasked-protocol":
            return
    with pytest.raises((InvalidHandshake, EOFError, OSError)):
        client(server, path)


@pytest.mark.parametrize("path, status_line, header, body", [
    ("/status/503", "HTTP/1.1 503 ", "Retry-After: 1", b"too many clients\n"),
    ("/status/302", "HTTP/1.1 302 ", "Location: ws://elsewhere.test/echo", b"status 302\n"),
    ("/status/429", "HTTP/1.1 429 ", "Retry-After: 1", b"status 429\n"),
    ("/status/200", "HTTP/1.1 200 ", "Connection: close", b"status 200\n"),
    ("/http10-503", "HTTP/1.0 503 ", "Content-Length: 0", b""),
])
def test_a_status_comes_with_its_header_and_body_and_then_the_end(server, path, status_line, header, body):
    with RawClient(server, path) as raw:
        head = raw.head()
        assert head[0].startswith(status_line)
        assert header in head
        assert raw.rest() == body


@pytest.mark.parametrize("path, missing, present", [
    ("/wrong-accept", RawClient.ACCEPT, "Sec-WebSocket-Accept: "),
    ("/no-accept", "Sec-WebSocket-Accept", "Upgrade: websocket"),
    ("/no-upgrade", "Upgrade: websocket", RawClient.ACCEPT),
    ("/no-connection", "Connection: ", RawClient.ACCEPT),
    ("/connection-upgradex", "Connection: Upgrade\n", "Connection: Upgradex\n"),
    ("/http10-101", "HTTP/1.1", "HTTP/1.0 101 "),
    ("/lower-case", "Upgrade", "upgrade: WEBSOCKET\n"),
    ("/no-reason", "Switching", "HTTP/1.1 101\n"),
    ("/keep-alive-upgrade", "Connection: Upgrade", "Connection: keep-alive, Upgrade\n"),
    ("/two-connections", "Upgrade, ", "Connection: keep-alive\nConnection: upgrade\n"),
    ("/content-length", "chunked", "Content-Length: 5\n"),
])
def test_a_head_lacks_and_has_what_its_path_says(server, path, missing, present):
    with RawClient(server, path) as raw:
        head = "\n".join(raw.head()) + "\n"
        assert missing not in head
        assert present in head


def test_a_101_without_reason_phrase_is_followed_by_an_echo(server):
    with RawClient(server, "/no-reason") as raw:
        assert raw.head()[1:] == ["Upgrade: websocket", "Connection: Upgrade",
                                  f"Sec-WebSocket-Accept: {RawClient.ACCEPT}"]
        raw.send(1, b"hi")
        assert raw.take(4) == b"\x81\x02hi"


def test_a_reset_in_the_handshake_is_a_reset(server):
    with RawClient(server, "/reset-in-handshake") as raw, pytest.raises(ConnectionResetError):
        raw.rest()


def test_a_close_in_the_handshake_is_an_end_without_a_byte(server):
    with RawClient(server, "/close-in-handshake") as raw:
        assert raw.rest() == b""


def test_noise_is_not_http_and_the_same_each_time(server):
    noises = []
    for _ in range(2):
        with RawClient(server, "/not-http") as raw:
            noises.append(raw.take(64))
    assert noises[0] == noises[1]
    assert not noises[0].startswith(b"H")


def test_a_huge_head_has_64_kib_and_ends(server):
    with RawClient(server, "/huge-head") as raw:
        assert sum(map(len, raw.head())) > 65536


def test_an_endless_head_goes_on_until_the_client_leaves(server):
    with RawClient(server, "/endless-head") as raw:
        assert b"\n\r\n" not in raw.take(2_000_000)


@pytest.mark.parametrize("path, sent", [("/silent", b""), ("/half-head", b"HTTP/1.1 1"), ("/dribble-slow", b"H")])
def test_who_never_answers_keeps_the_connection_without_more_bytes(server, path, sent):
    with RawClient(server, path) as raw:
        assert raw.take(len(sent)) == sent
        raw.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            raw.socket.recv(1)


def test_dribble_sends_single_bytes(server):
    with RawClient(server, "/dribble") as raw:
        begun = time.monotonic()
        head = "".join(raw.head())
        assert time.monotonic() - begun > len(head) * 0.001


def test_stall_reads_nothing_and_sends_nothing(server):
    with RawClient(server, "/stall") as raw:
        raw.head()
        raw.send(1, b"are you there?")
        raw.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            raw.socket.recv(1)
    assert path_stats(server, "/stall")["messages_in"] == 0


def test_no_reply_takes_messages_answers_pings_and_nothing_else(server):
    with client(server, "/no-reply") as connection:
        connection.send("are you there?")
        assert connection.ping().wait(10)
        with pytest.raises(TimeoutError):
            connection.recv(0.2)
        assert path_stats(server, "/no-reply")["messages_in"] == 1


def test_a_stall_freezes_every_echo_of_its_path_and_then_catches_up(server):
    with client(server, "/stall/1s") as paced, client(server, "/stall/1s") as staller, client(server, "/echo") as other:
        staller.send("stall")
        time.sleep(0.1)
        begun = time.monotonic()
        for i in range(50):
            paced.send(str(i))
        other.send("not concerned")
        assert other.recv(0.5) == "not concerned"
        assert paced.recv(10) == "0"
        assert 0.7 < time.monotonic() - begun < 1.5
        assert [paced.recv(10) for _ in range(49)] == [str(i) for i in range(1, 50)]
        assert time.monotonic() - begun < 2
        assert staller.recv(10) == "stall"


@pytest.mark.parametrize("path", ["/accept-then-end", "/mid-frame-end"])
def test_an_end_without_close_frame_is_a_fin(server, path):
    with RawClient(server, path) as raw:
        raw.head()
        raw.rest()
    assert eventually(lambda: closes(server, path, 1006) > 0)


def test_accept_then_reset_is_a_reset_once_the_connection_is_open(server):
    with RawClient(server, "/accept-then-reset") as raw:
        raw.head()
        with pytest.raises(ConnectionResetError):
            raw.rest()


def test_a_huge_message_is_17_mib_in_fragments_of_1_kib(server):
    with RawClient(server, "/huge-message") as raw:
        raw.head()
        count = 17 * 1024
        for i in range(count):
            opcode = 0x02 if i == 0 else 0x80 if i == count - 1 else 0x00
            assert raw.take(4) == struct.pack("!BBH", opcode, 126, 1024)
            raw.take(1024)


def test_close_codes_are_counted_as_the_client_sent_them(server):
    before = {code: closes(server, "/echo", code) for code in (1002, 1005, 1006, 4001)}
    for payload in (b"\x03\xea", b"", b"\x0f\xa1bye"):
        with RawClient(server, "/echo") as raw:
            raw.head()
            raw.send(8, payload)
            assert raw.take(2 + len(payload)) == bytes([0x88, len(payload)]) + payload
            assert raw.rest() == b""
    with RawClient(server, "/echo") as raw:
        raw.head()
    assert eventually(lambda: all(closes(server, "/echo", code) == count + 1 for code, count in before.items()))


def test_unmasked_frames_are_noticed(server):
    before = path_stats(server, "/echo")["unmasked_frames"]
    with RawClient(server, "/echo") as raw:
        raw.head()
        raw.socket.sendall(b"\x81\x02hi")
        assert raw.take(4) == b"\x81\x02hi"
    assert path_stats(server, "/echo")["unmasked_frames"] == before + 1


def test_connections_are_counted_while_they_are_open(server):
    assert eventually(lambda: server.stats()["connections"] == 0)
    with client(server, "/echo"), client(server, "/no-reply"):
        assert server.stats()["connections"] == 2
    assert eventually(lambda: server.stats()["connections"] == 0)


@pytest.mark.parametrize("request_text, status", [
    ("GET /nothing HTTP/1.1\r\n", "404"), ("GET /echo HTTP/1.1\r\n", "400"),
    ("POST /echo HTTP/1.1\r\nSec-WebSocket-Key: x\r\n", "400"), ("GET /stats HTTP/1.1\r\n", "200"),
])
def test_plain_requests_get_plain_answers(server, request_text, status):
    with socket.create_connection(("127.0.0.1", server.port), 10) as plain:
        plain.sendall(request_text.encode() + b"\r\n")
        assert plain.recv(65536).decode().split()[1] == status


def test_sigterm_ends_it_with_0_though_scripts_are_running():
    with start_target("faulty") as ending, client(ending, "/echo"), client(ending, "/stall"):
        with RawClient(ending, "/endless-head"), RawClient(ending, "/dribble-slow"):
            begun = time.monotonic()
            assert ending.stop() == 0
            assert time.monotonic() - begun < 2


def test_capacity_is_shared_by_all_connections_and_the_line_ends_with_its_last_client(server):
    with client(server, "/capacity/200") as one, client(server, "/capacity/200") as two:
        begun = time.monotonic()
        for number in range(50):
            one.send(str(number))
            two.send(str(number))
        for number in range(50):
            assert (one.recv(20), two.recv(20)) == (str(number), str(number))
        assert 0.49 <= time.monotonic() - begun < 1.0
    with RawClient(server, "/capacity/200") as leaves:
        leaves.head()
        for _ in range(1000):
            leaves.send(1, b"left behind")
    assert eventually(lambda: path_stats(server, "/capacity/200")["closes"].get("1006", 0) == 1)
    with client(server, "/capacity/200") as next_one:
        begun = time.monotonic()
        next_one.send("at once")
        next_one.recv(20)
        assert time.monotonic() - begun < 1.0
