"""What an agent takes while nothing happens: at rest, for each connection, and to hold 18,000 of them."""

import time

from . import network
from .figure import Figure
from .processes import Broken
from .sides import Stand, finish

FEW, MANY = 1_000, 18_000  # with what else an agent opens, under the 20,000 files that many machines allow
# Opened connections still have to give back what they borrowed; then nothing moves.
SETTLE_S = 1.5
WATCH_S = 20
MEMORY_ROUNDS = 2  # pages are counted, not timed: what disturbs the other figures does not reach this one


def rest(limit, rounds):
    ours = []
    with Stand(limit) as stand:
        for _ in range(min(rounds, MEMORY_ROUNDS)):
            agent = stand.agent()
            time.sleep(SETTLE_S)
            ours.append(agent.private_bytes() / 1e6)
            agent.end()
    return [Figure("rest", "private memory of an agent at rest", "MB", ours, goal=4,
                   note="attached to a coordinator, before any run")]


def memory(limit, rounds):
    floor, ours = [], []
    with Stand(limit) as stand:
        for _ in range(min(rounds, MEMORY_ROUNDS)):
            if limit:
                floor.append(stand.load(MANY, 0)["resident_bytes_per_connection"])
            # A fresh agent for each: one that had once held many would hide what it costs to hold them.
            with_few, with_many = (_held(stand, users, lambda agent: agent.private_bytes()) for users in (FEW, MANY))
            ours.append((with_many - with_few) / (MANY - FEW))
    return [Figure("memory", f"private memory an idle connection, {FEW:,} to {MANY:,}", "bytes", ours, floor, goal=160)]


def idle(limit, _rounds):
    def share_of_a_core(agent):
        began, cpu_s = time.monotonic(), agent.cpu_s()
        time.sleep(WATCH_S)
        return (agent.cpu_s() - cpu_s) / (time.monotonic() - began)

    with Stand(limit) as stand:
        share = _held(stand, MANY, share_of_a_core, WATCH_S)
    return [Figure("idle", f"CPU of an agent that holds {MANY:,} idle connections for {WATCH_S} s", "% of a core",
                   [100 * share], goal=0.5)]


def _held(stand, users, measure, seconds=0):
    """What `measure` says of an agent that holds so many idle connections."""
    agent = stand.agent()
    before = network.tcp_sockets()[0]
    run = stand.run(f"""
scenarios: {{user: {{script: [connect, listen]}}}}
stages:
  - {{name: setup, users: {users}, rate: 8k/s}}
  - {{name: hold, for: {SETTLE_S + seconds + 1.5}s}}
""")
    deadline = time.monotonic() + 20
    while network.tcp_sockets()[0] < before + 2 * users:
        if time.monotonic() > deadline:
            raise Broken(f"{users} connections were not open after 20 s", run)
        time.sleep(0.02)
    time.sleep(SETTLE_S)
    measured = measure(agent)
    if network.tcp_sockets()[0] < before + 2 * users:
        raise Broken("the run was over before the measurement", run)
    finish(run, agent)
    return measured
