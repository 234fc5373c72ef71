"""wss beside OpenSSL's own floor: CPU a handshake and memory of an idle connection, against the same server.

The floor is `tls-limit`, a client of some hundred lines that does nothing else; it verifies the server's certificate as
the agent does. Resumption has no floor: it is held against the agent's own full handshakes.
"""

import json
import os
import subprocess
import time

from .against_limit import opening
from .figure import Figure
from .processes import Broken, Curve, Program, wait_for_calm
from .sides import BIN, PORT, WORK, Stand, finish

HANDSHAKES = 3_000
FEW, MANY = 500, 6_000
CYCLERS, CYCLES = 200, 10
SETTLE_S = 1.5
OVERDRIVE = 1.1


def certificates():
    """The folder of ca.pem, server.pem and server.key: P-256, as most servers have it, behind one authority."""
    folder = WORK / "tls"
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server")
    (folder / "extensions").write_text("subjectAltName = IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", "server.pem",
            "-days", "1", "-extfile", "extensions")
    return folder


class SecureStand(Stand):
    """target-beast over TLS, whoever loads it."""

    def __init__(self, resume=False):
        self.certificates = certificates()
        command = [BIN / "target-beast", "--port", PORT, "--tls", self.certificates / "server.pem",
                   self.certificates / "server.key"]
        answer = "true" if resume else "false"
        ca = self.certificates / "ca.pem"
        super().__init__(None, command, f"target: wss://127.0.0.1:{PORT}/echo\n"
                                        f"connection: {{tls: {{ca: {ca}, resume: {answer}}}}}")

    def floor(self, connections):
        self.runs += 1
        client = Program(self.folder, f"floor-{self.runs}", self.client_core, BIN / "tls-limit", PORT, connections,
                         self.certificates / "ca.pem")
        figures = json.loads(client.finish(60))
        wait_for_calm(10)
        return figures


def tls_handshake(_limit, rounds):
    floor, ours, floor_rate, our_rate = [], [], [], []
    with SecureStand() as stand:
        for _ in range(rounds):
            said = stand.floor(HANDSHAKES)
            floor.append(said["cpu_us_per_handshake"])
            floor_rate.append(said["handshakes_per_s"])
            agent = stand.agent()
            with Curve(agent) as curve:
                summary = finish(stand.run(f"""
scenarios: {{user: {{script: [connect, listen]}}}}
stages:
  - {{name: rest, users: 0, for: 1s}}
  - {{name: setup, users: {HANDSHAKES}, rate: {OVERDRIVE * floor_rate[-1]:.0f}/s}}
  - {{name: hold, for: 1s}}
"""), agent)
            begin, end = opening(curve, HANDSHAKES)
            ours.append(curve.cpu_s_between(begin, end + 0.1) / summary["counts"]["opened"] * 1e6)
            our_rate.append(HANDSHAKES / (end - begin))
    return [Figure("tls_handshake", f"CPU a handshake over TLS 1.3, {HANDSHAKES:,} connections", "us", ours, floor,
                   goal_ratio=1.15, note="beside tls-limit; P-256, the certificate verified"),
            Figure("tls_handshake", "handshakes a second, meanwhile", "/s", our_rate, floor_rate)]


def tls_memory(_limit, rounds):
    floor, ours = [], []
    with SecureStand() as stand:
        for _ in range(min(rounds, 2)):
            few, many = (said["resident_bytes_per_connection"] * said["connections"]
                         for said in (stand.floor(FEW), stand.floor(MANY)))
            floor.append((many - few) / (MANY - FEW))
            few, many = held(stand, FEW), held(stand, MANY)
            ours.append((many - few) / (MANY - FEW))
    return [Figure("tls_memory", f"private memory an idle connection over TLS 1.3, {FEW:,} to {MANY:,}", "bytes", ours,
                   floor, goal_ratio=1.15, note="beside tls-limit")]


def held(stand, users):
    agent = stand.agent()
    base = len(os.listdir(f"/proc/{agent.pid}/fd"))
    run = stand.run(f"""
scenarios: {{user: {{script: [connect, listen]}}}}
stages:
  - {{name: setup, users: {users}, rate: 1k/s}}
  - {{name: hold, for: {SETTLE_S + 1.5}s}}
""")
    deadline = time.monotonic() + 30
    # The agent's own: sockets of the run before may still be closing.
    while len(os.listdir(f"/proc/{agent.pid}/fd")) < base + users:
        if time.monotonic() > deadline:
            raise Broken(f"{users} connections were not open after 30 s", run)
        time.sleep(0.02)
    time.sleep(SETTLE_S)
    measured = agent.private_bytes()
    finish(run, agent)
    return measured


def tls_resumption(_limit, rounds):
    """Users who connect, close and connect again: what a cycle costs the agent, in full and resumed."""
    costs = {}
    for resume in (False, True):
        costs[resume] = []
        with SecureStand(resume) as stand:
            for _ in range(rounds):
                agent = stand.agent()
                before_s = agent.cpu_s()
                run = stand.run(f"""
scenarios:
  cycler:
    script:
      - connect
      - repeat: {{times: {CYCLES}, do: [{{request: {{bytes: 8}}}}, close, connect]}}
      - listen
stages:
  - {{name: up, users: {CYCLERS}, rate: 200/s, for: 8s}}
""")
                run.finish(60, good_codes=(0, 6))
                cost_s = agent.cpu_s() - before_s
                agent.end()
                wait_for_calm(10)
                summary = json.loads((run.results / "summary.json").read_text())
                resumed = summary["times"].get("tls_resumed_time", {}).get("count", 0)
                opened = summary["counts"]["opened"]
                if opened != CYCLERS * (CYCLES + 1) or resumed != (CYCLERS * CYCLES if resume else 0):
                    raise Broken(f"opened {opened}, of them {resumed} resumed")
                costs[resume].append(cost_s / opened * 1e6)
    return [Figure("tls_resumption", "CPU to connect and close over TLS 1.3, full handshakes", "us", costs[False]),
            Figure("tls_resumption", "CPU to connect and close over TLS 1.3, resumed", "us", costs[True],
                   note=f"{CYCLES} of {CYCLES + 1} handshakes")]
