"""The peers: where each is installed, outside the tree, and how each is told to do the same work.

Owner: bench_peers.py. Always: pinned versions; nothing is run at installation (npm's scripts are off); what a peer
leaves behind at run time stays in the stand's folder.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import network

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "onrush-peers"
PLANS = Path(__file__).resolve().parent.parent / "peers"
ARTILLERY = "2.0.21"
NODE_MAJOR = "v20."


class Missing(Exception):
    """A peer that cannot be had on this machine, and why."""


def _plan(name, users, folder):
    """A plan for so many users, where its peer may write beside it."""
    plan = folder / name
    plan.write_text((PLANS / name).read_text().replace("USERS", str(users)))
    return plan


def tsung(work, users, folder, _target):
    if not shutil.which("tsung"):
        raise Missing("Tsung is not installed: deploy/setup.sh peers")
    # -n: no dashboard.
    return ["tsung", "-n", "-f", _plan(f"{work}.xml", users, folder), "-l", folder / "tsung", "start"], {}


def locust(work, users, _folder, target):
    return [_locust_at() / "bin/locust", "-f", PLANS / "locustfile.py", "--headless", "--only-summary", "-u", users,
            "-r", users, "-t", "10m"], {"WORK": work, "TARGET": target}


def artillery(work, users, folder, target):
    return [_artillery_at() / "node_modules/.bin/artillery", "run", _plan(f"{work}.yaml", users, folder)], {
        "TARGET": target, "ARTILLERY_DISABLE_TELEMETRY": "true", "WORKERS": "1"}


PEERS = {"Tsung": tsung, "Locust": locust, "Artillery": artillery}


def _locust_at():
    """The environment is as good as the lines it was made from."""
    requirements = PLANS / "requirements.txt"
    want = hashlib.sha256(requirements.read_bytes()).hexdigest()
    venv, stamp = CACHE / "locust", CACHE / "locust/stamp"
    if not stamp.exists() or stamp.read_text() != want:
        shutil.rmtree(venv, ignore_errors=True)
        _install("/usr/bin/python3", "-m", "venv", venv)
        _install(venv / "bin/pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r",
                 requirements)
        stamp.write_text(want)
    return venv


def _artillery_at():
    node = shutil.which("node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout if node else "none"
    if not version.startswith(NODE_MAJOR):
        raise Missing(f"Artillery {ARTILLERY} runs on Node 20; there is {version.strip()}")
    folder = CACHE / f"artillery-{ARTILLERY}"
    if not (folder / "installed").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n')
        _install("npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
                 f"artillery@{ARTILLERY}")
        (folder / "installed").touch()
    return folder


def _install(*command):
    if network.INSIDE in os.environ:
        raise Missing("it could not be installed: see above")
    CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise Missing(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-600:]}")


def install_all():
    """Before the network of our own is entered, from which no registry is to be reached."""
    for make in (_locust_at, _artillery_at):
        try:
            make()
        except Missing as reason:
            print(f"bench-peers: {reason}", file=sys.stderr, flush=True)
