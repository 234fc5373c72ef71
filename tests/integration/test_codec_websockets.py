# ctest: timeout=60 asan
"""Our codec and handshake against PyPI's websockets, an independent server: both ends say what they saw."""

import contextlib
import http
import json
import subprocess
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from onrush_testing import program

EURO_IN_PIECES = [b"\xe2", b"\x82", b"\xac"]


class Seen:
    """What the server saw of its one client."""

    def __init__(self):
        self.messages = []
        self.ponged = False
        self.close = None


@contextlib.contextmanager
def server(seen, **options):
    def messages(connection):
        with contextlib.suppress(ConnectionClosed):  # raised for any code but 1000 and 1001
            yield from connection

    def echo(connection):
        for message in messages(connection):
            if message != "fragments":
                seen.messages.append((type(message), len(message.encode() if isinstance(message, str) else message)))
                connection.send(message)
                continue
            pong = connection.ping("between")
            connection.send(EURO_IN_PIECES, text=True)
            seen.ponged = pong.wait(10)
        seen.close = (connection.close_code, connection.close_reason)

    # Compression stays on at the server: what was not offered must not be chosen.
    with serve(echo, "127.0.0.1", 0, max_size=None, ping_interval=None, **options) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{listening.socket.getsockname()[1]}/echo"
        finally:
            listening.shutdown()
            thread.join()


def run_client(url):
    return subprocess.run([program("codec-echo-client"), url], capture_output=True, text=True, timeout=30)


def test_both_ends_see_the_same():
    seen = Seen()
    with server(seen) as url:
        client = run_client(url)
    assert client.returncode == 0, client.stderr
    assert json.loads(client.stdout) == {"echoed": 14, "pings_answered": 1, "close": 4000}
    sizes = [0, 1, 125, 126, 65535, 65536, 1 << 20]
    assert seen.messages == [(kind, size) for size in sizes for kind in (str, bytes)]
    assert seen.ponged
    assert seen.close == (4000, "bÿ!")


def test_a_refusal_keeps_its_status():
    def refuse(connection, request):
        return connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, "later\n")

    seen = Seen()
    with server(seen, process_request=refuse) as url:
        client = run_client(url)
    assert client.returncode == 0, client.stderr
    assert "503" in json.loads(client.stdout)["refused"]
    assert seen.messages == []


def test_an_unasked_subprotocol_is_refused():
    def answer(connection, request, response):
        response.headers["Sec-WebSocket-Protocol"] = "chat"

    with server(Seen(), process_response=answer) as url:
        client = run_client(url)
    assert client.returncode == 0, client.stderr
    assert "subprotocol" in json.loads(client.stdout)["refused"]
