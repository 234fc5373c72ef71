"""What tests of whole programs share: a target server on a free port, its statistics, its end.

    with start_target("beast", "--workers", "2") as server:
        connect(server.url("/echo"))
        assert server.stats()["connections"] == 1
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
START_S = 20
STOP_S = 20


def program(name):
    """The path of one of our programs: from ONRUSH_BIN, or from the release build of this checkout."""
    return pathlib.Path(os.environ.get("ONRUSH_BIN", CHECKOUT / "build/release/bin")) / name


class Server:
    """A running target. Ends with the `with` block, or by stop()."""

    def __init__(self, command):
        self._errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self.port = self._port_announced(time.monotonic() + START_S)

    @property
    def pid(self):
        return self.process.pid

    def url(self, path):
        return f"ws://127.0.0.1:{self.port}{path}"

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def stats(self):
        return json.loads(self.get("/stats"))

    def errors(self):
        """What it has written to stderr."""
        self._errors.seek(0)
        return self._errors.read()

    def stop(self):
        """Ends it by SIGTERM, or by SIGKILL if it does not listen to that; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        ended_by_test = self.process.poll() is not None
        code = self.stop()
        # A sanitizer's finding shows in how a program ends.
        if code != 0 and not ended_by_test and failure is None:
            raise RuntimeError(f"{self.process.args} ended with {code}: {self.errors()}")
        self._errors.close()

    def _port_announced(self, deadline):
        with selectors.DefaultSelector() as stdout:
            stdout.register(self.process.stdout, selectors.EVENT_READ)
            while stdout.select(max(0, deadline - time.monotonic())):
                line = self.process.stdout.readline()
                if line.startswith("listening on "):
                    return int(line.removeprefix("listening on "))
                if not line:
                    break
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"{self.process.args} does not listen: {self.errors()}")


NODE_TARGETS = ("ws-node", "graphql-node")


def target_command(name):
    """What starts a target, without its port: ours from ONRUSH_BIN, a Node one by its entry of targets.yaml, installed
    first if it is not."""
    if name not in NODE_TARGETS:
        return [program(f"target-{name}")]
    entries = (CHECKOUT / "target-servers/targets.yaml").read_text()
    entry = re.search(rf"^- name: {name}\n((?:  .*\n)+)", entries, re.MULTILINE)[1]
    build, start = (re.search(rf"^  {key}: (.*)$", entry, re.MULTILINE)[1] for key in ("build", "start"))
    subprocess.run(build, shell=True, cwd=CHECKOUT, check=True, timeout=300)
    assert start.endswith(" --port {port}")
    runtime, script = start.removesuffix(" --port {port}").split()
    return [runtime, CHECKOUT / script]


def start_target(name, *arguments):
    """Starts a target on a free port, unless the arguments say which."""
    port = [] if "--port" in arguments else ["--port", "0"]
    return Server([*target_command(name), *port, *arguments])


def eventually(what, timeout_s=10.0):
    """Waits until `what()` is true: for counters that follow an event at their own pace. Returns its last value."""
    deadline = time.monotonic() + timeout_s
    while not (value := what()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return value


class RawClient:
    """A socket that has sent an opening request, and says nothing on its own."""

    KEY = base64.b64encode(bytes(range(16))).decode()
    ACCEPT = base64.b64encode(hashlib.sha1((KEY + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()

    def __init__(self, server, path):
        self.socket = socket.create_connection(("127.0.0.1", server.port), 10)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {self.KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.bytes = b""

    def head(self):
        """The response head, lines without their ends."""
        while b"\r\n\r\n" not in self.bytes:
            received = self.socket.recv(65536)
            assert received, f"ended within the head: {self.bytes!r}"
            self.bytes += received
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        return head.decode().split("\r\n")

    def take(self, count):
        while len(self.bytes) < count:
            received = self.socket.recv(65536)
            assert received, f"ended after {self.bytes!r}"
            self.bytes += received
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def rest(self):
        """All until the server's FIN."""
        while received := self.socket.recv(65536):
            self.bytes += received
        return self.bytes

    def send(self, opcode, payload):
        assert len(payload) < 126
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
