"""A server that answers each request as its script says, byte for byte, and keeps what came behind the request.

    with ScriptedServer({"/busy": [b"HTTP/1.1 503 Busy\r\n\r\n", 0.01, b"too many"]}) as server:
        ...                       # ws://127.0.0.1:{server.port}/busy gets the head, and 10 ms later the body

A script is a list of bytes to send and seconds to wait, or a function of the socket and the request's head. After its
end the connection is closed, unless the script says `HOLD` last: then it is held until the peer closes.
"""

import base64
import hashlib
import socket
import threading
import time

from threaded_server import ThreadedServer

HOLD = "hold"
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def opening(head):
    """The 101 that a request's head asks for."""
    key = [line for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")][0][18:].strip()
    return (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
            base64.b64encode(hashlib.sha1(key + GUID).digest()) + b"\r\n\r\n")


class ScriptedServer(ThreadedServer):
    def __init__(self, scripts, address="127.0.0.1", port=0):
        super().__init__(address, port)
        self.scripts = scripts
        self.heads = []  # of all requests
        self.behind = {}  # by path: bytes that came behind a request
        self.open = 0
        self._lock = threading.Lock()

    def _serve(self, sock):
        with self._lock:
            self.open += 1
        try:
            with sock:
                self._answer(sock)
        except OSError:
            pass  # the peer had enough
        finally:
            with self._lock:
                self.open -= 1

    def _answer(self, sock):
        sock.settimeout(20)
        head = b""
        while b"\r\n\r\n" not in head:
            received = sock.recv(65536)
            if not received:
                return
            head += received
        head, _, behind = head.partition(b"\r\n\r\n")
        path = head.split(b" ")[1].decode()
        with self._lock:
            self.heads.append(head)
            self.behind[path] = self.behind.get(path, b"") + behind
        script = self.scripts[path]
        if callable(script):
            return script(sock, head)
        for step in script:
            if step == HOLD:
                continue
            if isinstance(step, bytes):
                sock.sendall(step)
            else:
                self._over.wait(step)
        self._drain(sock, path, script[-1:] == [HOLD])

    def _drain(self, sock, path, hold):
        if not hold:
            sock.shutdown(socket.SHUT_WR)
        sock.settimeout(0.1)
        until = time.monotonic() + 20
        while not self._over.is_set() and time.monotonic() < until:
            try:
                received = sock.recv(65536)
            except TimeoutError:
                continue
            if not received:
                return
            with self._lock:
                self.behind[path] += received
