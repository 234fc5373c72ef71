"""Whether local ports come back at once: connect and close, 10,000 again and again, for a minute."""

import csv
import statistics

from . import network
from .figure import Figure
from .processes import Broken
from .sides import Stand, finish

ROUND = 10_000
ROUNDS = 100
LENGTH_S = 60
EDGE_S = 10


def ports(limit, _rounds):
    plan = f"""
scenarios: {{visitor: {{script: [connect, close]}}}}
stages:
  - {{name: churn, arrivals: {ROUND * ROUNDS / LENGTH_S:.0f}/s, for: {LENGTH_S}s}}
  - {{name: drain, arrivals: 0/s}}
"""
    with Stand(limit) as stand:
        agent = stand.agent()
        run = stand.run(plan)
        summary = finish(run, agent, 120)
        waiting = network.tcp_sockets()[1]
        with open(run.results / "series.csv", newline="") as series:
            opened = [int(row["opened"]) for row in csv.DictReader(series)]
    counts = summary["counts"]
    first, last = statistics.median(opened[1:EDGE_S]), statistics.median(opened[LENGTH_S - EDGE_S:LENGTH_S - 1])
    if not first:
        raise Broken(f"nothing was opened: {counts}")
    what = f"{ROUNDS} x {ROUND:,} connect and close in {LENGTH_S} s"
    return [
        Figure("ports", f"{what}: opened", "", [counts["opened"]], goal=0.999 * ROUND * ROUNDS, at_least=True,
               note=f"{counts['arrivals']:,} arrivals, {counts['dropped_arrivals']:,} dropped for want of a place"),
        Figure("ports", f"{what}: pace of the last {EDGE_S} s by that of the first", "", [last / first], goal=0.98,
               at_least=True, note=f"{first:,.0f}/s at first, {last:,.0f}/s at last"),
        Figure("ports", f"{what}: failed or lost", "",
               [counts["failed"] + counts["lost"]], goal=0),
        Figure("ports", f"{what}: left in TIME_WAIT", "", [waiting], goal=ROUND),
    ]
