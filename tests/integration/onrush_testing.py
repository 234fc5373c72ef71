"""What tests of whole programs share: a target server on a free port, its statistics, its end.

    with start_target("beast", "--workers", "2") as server:
        connect(server.url("/echo"))
        assert server.stats()["connections"] == 1
"""

import json
import os
import pathlib
import select
import signal
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

    def __exit__(self, *_):
        self.stop()
        self._errors.close()

    def _port_announced(self, deadline):
        while select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
            line = self.process.stdout.readline()
            if line.startswith("listening on "):
                return int(line.removeprefix("listening on "))
            if not line:
                break
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"{self.process.args} does not listen: {self.errors()}")


def start_target(name, *arguments):
    """Starts target-NAME on a free port, unless the arguments say which."""
    port = [] if "--port" in arguments else ["--port", "0"]
    return Server([program(f"target-{name}"), *port, *arguments])


def eventually(what, timeout_s=10.0):
    """Waits until `what()` is true: for counters that follow an event at their own pace. Returns its last value."""
    deadline = time.monotonic() + timeout_s
    while not (value := what()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return value
