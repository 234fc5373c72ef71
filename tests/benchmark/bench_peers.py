#!/usr/bin/env python3
"""Measures load generators that a user would pick beside Onrush and `limit`: same server, same cores, same work.

    tests/benchmark/bench_peers.py [--only NAME[,NAME]] [--rounds N]

Prints the table that the README shows and writes build/bench/peers.json. Installs Locust and Artillery into
~/.cache/onrush-peers; Tsung is the Debian package that deploy/setup.sh peers installs. Standard library only.
"""

import argparse
import json
import os
import statistics
import sys

from harness import against_limit, idle, machine, network, peer_run, peers, table
from harness.processes import Broken, Program, cores
from harness.sides import PORT, WORK, Stand, build_limit

HEAD = ("client", "CPU us a handshake", "bytes an idle connection", "CPU us a round trip")


def ours(limit, rounds):
    """The rows of `limit` and Onrush, as `make bench` takes them."""
    figures = [against_limit.handshake(limit, rounds)[0], *idle.memory(limit, rounds),
               against_limit.round_trip(limit, rounds)[0]]
    rows = {"Onrush": [figure.median() for figure in figures]}
    if limit:
        rows = {"limit": [statistics.median(figure.floor) for figure in figures], **rows}
    return rows


def peer(limit, name, rounds):
    taken = []
    with Stand(limit) as stand:
        # Tsung finds a name server that is there; one that it starts itself would outlive it.
        names = Program(stand.folder, "epmd", stand.server_core, "epmd") if name == "Tsung" else None
        try:
            for _ in range(rounds):
                taken.append(work_of(stand, name))
        finally:
            if names:
                names.end()
    return [statistics.median(values) for values in zip(*taken)]


def work_of(stand, name):
    """One round: few connections, many, and round trips, each with a fresh start."""
    def command(work, users):
        return peers.PEERS[name](work, users, stand.folder, f"ws://127.0.0.1:{PORT}{stand.path}")

    few, many = peer_run.FEW, peer_run.CONNECTIONS
    few_bytes = peer_run.opens(stand, name, command("open", few), few)[1]
    cpu_us, many_bytes = peer_run.opens(stand, name, command("open", many), many)
    trip_us = peer_run.echoes(stand, name, command("echo", peer_run.ECHOERS))
    return cpu_us, (many_bytes - few_bytes) / (many - few), trip_us


def line(name, values, floor):
    cells = []
    for place, value in enumerate(values):
        times = f" ({value / floor[place]:.1f})" if floor and place != 1 else ""
        cells.append(f"{value:,.0f}{times}" if value >= 100 else f"{value:.1f}{times}")
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", default="", help="of: " + ", ".join(peers.PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    names = [name for name in chosen.only.split(",") if name] or list(peers.PEERS)
    if unknown := [name for name in names if name not in peers.PEERS]:
        parser.error(f"there is no peer '{unknown[0]}'; there are: {', '.join(peers.PEERS)}")
    if network.INSIDE not in os.environ:
        peers.install_all()
    network.enter_own()
    WORK.mkdir(parents=True, exist_ok=True)
    limit, quiet, missing = build_limit(), machine.Quiet(), []
    os.sched_setaffinity(0, {cores()[0]})
    rows = ours(limit, chosen.rounds)
    for name in names:
        try:
            rows[name] = peer(limit, name, chosen.rounds)
        except (peers.Missing, Broken) as reason:
            missing.append(f"{name}: {reason}")
    noise = quiet.shares()
    print(table.machine_line(machine.facts(), noise) + "\n")
    print("| " + " | ".join(HEAD) + " |\n| --- | ---: | ---: | ---: |")
    for name, values in rows.items():
        print(line(name, values, rows.get("limit")))
    described = {"machine": machine.facts(), "others_share": noise[0], "steal_share": noise[1],
                 "columns": HEAD[1:], "rows": rows}
    (WORK / "peers.json").write_text(json.dumps(described, indent=2) + "\n")
    for reason in missing:
        print(f"bench-peers: {reason}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
