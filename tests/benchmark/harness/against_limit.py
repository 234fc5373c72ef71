"""CPU a handshake and CPU a round trip, round by round beside `limit`.

Both clients are driven as hard as they go. `limit` opens with 256 attempts in flight, then the next as soon as one is
open; Onrush has a rate, so it is asked for somewhat more than `limit` reached in the same round: an attempt is always
due, and those in flight are some hundreds too. README.md says why a rate that leaves pauses would not be fair.
"""

from .figure import Figure
from .processes import Curve
from .sides import PAYLOAD, Stand, finish

HANDSHAKES = 10_000
ECHOERS = 1_000
ECHO_S = 4
# Of what `limit` reached; without it, more than a core can do.
OVERDRIVE = 1.1
BEYOND_ANY = 1_000_000
# How long all rests before and behind a phase, so that the phase alone is between.
REST_S = 1


def opening_plan(rate_per_s):
    return f"""
scenarios: {{user: {{script: [connect, listen]}}}}
stages:
  - {{name: rest, users: 0, for: {REST_S}s}}
  - {{name: setup, users: {HANDSHAKES}, rate: {rate_per_s:.0f}/s}}
  - {{name: hold, for: {REST_S}s}}
"""


def handshake(limit, rounds):
    floor, ours, floor_rate, our_rate = [], [], [], []
    with Stand(limit) as stand:
        for _ in range(rounds):
            if limit:
                said = stand.load(HANDSHAKES, 0)
                floor.append(said["cpu_us_per_handshake"])
                floor_rate.append(said["handshakes_per_s"])
            agent = stand.agent()
            rate = OVERDRIVE * floor_rate[-1] if limit else BEYOND_ANY
            with Curve(agent) as curve:
                summary = finish(stand.run(opening_plan(rate)), agent)
            begin, end = opening(curve, HANDSHAKES)
            # What is still on its way when the last socket has come is done some milliseconds later.
            ours.append(curve.cpu_s_between(begin, end + 0.05) / summary["counts"]["opened"] * 1e6)
            our_rate.append(HANDSHAKES / (end - begin))
    return [Figure("handshake", f"CPU a handshake, {HANDSHAKES:,} connections", "us", ours, floor, goal_ratio=1.15),
            Figure("handshake", "handshakes a second, meanwhile", "/s", our_rate, floor_rate)]


def opening(curve, connections):
    """From the last sample before the first of these connections to the first with all; each has two sockets here."""
    before = curve.points[0][2]
    begin = curve.when_sockets_reach(before + 10) - curve.STEP_S
    return begin, curve.when_sockets_reach(before + 2 * connections)


def round_trip(limit, rounds):
    plan = f"""
scenarios:
  user:
    script:
      - connect
      - think: {REST_S + 1}s
      - repeat: {{for: {ECHO_S}s, do: [{{request: {{bytes: {PAYLOAD}}}}}]}}
      - listen
stages:
  - {{name: setup, users: {ECHOERS}, rate: 20k/s}}
  - {{name: hold, for: {REST_S + 1 + ECHO_S + REST_S}s}}
"""
    floor, ours, floor_rate, our_rate = [], [], [], []
    with Stand(limit) as stand:
        for _ in range(rounds):
            if limit:
                said = stand.load(ECHOERS, ECHO_S)
                floor.append(said["cpu_us_per_round_trip"])
                floor_rate.append(said["round_trips_per_s"])
            agent = stand.agent()
            with Curve(agent) as curve:
                summary = finish(stand.run(plan), agent)
            first, last = opening(curve, ECHOERS)
            begin, end = first + REST_S + 1 - 0.02, last + REST_S + 1 + ECHO_S + 0.05
            requests = summary["counts"]["requests"]
            ours.append(curve.cpu_s_between(begin, end) / requests * 1e6)
            our_rate.append(requests / ECHO_S)
    note = "every one a sample of round_trip_time"
    return [Figure("round_trip", f"CPU a round trip, {ECHOERS:,} connections, one in flight each", "us", ours, floor,
                   goal_ratio=1.15, note=note),
            Figure("round_trip", "round trips a second, meanwhile", "/s", our_rate, floor_rate)]
