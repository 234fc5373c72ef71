#!/usr/bin/env python3
"""The main job on loopback: a target, a coordinator, three agents, 10,000 connections, six broadcasts.

Runs plans/c1000k.yaml as it stands, scaled to 10,000 users at 1,000 a second, and then asks the target itself
whether it saw what Onrush reports. Exit code 0 only if both agree. Standard library only.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(os.environ.get("ONRUSH_BIN", ROOT / "build/release/bin"))
PORT = 8088  # the plan's own
RESULTS = "onrush-results/demo"
USERS = int(os.environ.get("USERS", "10000"))
RATE = os.environ.get("RATE", "1000/s")


def stats():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/stats", timeout=5) as answer:
        return json.load(answer)


def start_target():
    """target-beast, once it says that it listens; ends the demo if it cannot."""
    target = subprocess.Popen([BIN / "target-beast", "--port", str(PORT)], stdout=subprocess.PIPE, text=True)
    if not target.stdout.readline().startswith("listening"):
        sys.exit(f"demo: the target did not start; is port {PORT} taken?")
    return target


def watch_connections(most, ended):
    """Keeps the most connections that the target ever reported in most[0]."""
    while not ended.wait(0.5):
        try:
            most[0] = max(most[0], stats()["connections"])
        except OSError:
            pass  # a busy target is asked again


def main():
    target = start_target()
    shutil.rmtree(ROOT / RESULTS, ignore_errors=True)
    most, ended = [0], threading.Event()
    watcher = threading.Thread(target=watch_connections, args=(most, ended))
    watcher.start()
    try:
        command = [BIN / "onrush", "run", ROOT / "plans/c1000k.yaml", "--agents", "3", "--out", RESULTS,
                   "--set", f"users={USERS}", "--set", f"rate={RATE}"]
        print("$ " + " ".join(str(word).replace(f"{ROOT}/", "") for word in command), flush=True)
        code = subprocess.run(command, cwd=ROOT).returncode
        ended.set()
        watcher.join()
        time.sleep(0.5)  # the target hears of the last resets
        seen = stats()
    finally:
        ended.set()
        target.send_signal(signal.SIGTERM)
        target.wait(10)
    summary = ROOT / RESULTS / "summary.json"
    if not summary.exists():
        return code or 70
    counts = json.loads(summary.read_text())["counts"]
    checks = [
        ("connections at once", most[0], USERS + 1),
        ("connections opened", counts["opened"], USERS + 1),
        ("connections failed", counts["failed"], 0),
        ("messages to the target", seen["messages_in"], counts["messages_sent"]),
        ("messages from the target", seen["messages_out"], counts["messages_received"]),
        ("connections left", seen["connections"], 0),
    ]
    print("\nthe target's own count beside Onrush's:")
    for what, found, expected in checks:
        print(f"  {'✓' if found == expected else '✗'} {what:26} {found:>8,} {expected:>8,}")
    return code or (0 if all(found == expected for _, found, expected in checks) else 1)


if __name__ == "__main__":
    sys.exit(main())
