"""Whether what is due is done when it is due: messages by the agent's own send_lag, arrivals by a witness."""

import math

from .figure import Figure
from .processes import Broken, Curve
from .sides import PAYLOAD, PORT, Stand, finish
from .syn_witness import SynWitness

SENDERS = 10_000
SEND_S = 10

# (name, the plan's keys, rate at its begin, rate at its end, seconds)
STAGES = (
    ("1/s", "arrivals: 1/s, for: 10s", 1, 1, 10),
    ("1/s to 10,000/s", "arrivals: 10k/s, over: 10s", 1, 10_000, 10),
    ("10,000/s", "for: 5s", 10_000, 10_000, 5),
    ("100/s", "arrivals: 100/s, for: 5s", 100, 100, 5),
)
BIN_S = 0.1


def send_lag(limit, rounds):
    # Without the think, all whom one stall of the setup held up would be due together, second after second.
    plan = f"""
scenarios:
  user:
    script:
      - connect
      - think: {{uniform: 0s..1s}}
      - repeat: {{every: 1s, do: [{{request: {{bytes: {PAYLOAD}}}}}]}}
stages:
  - {{name: setup, users: {SENDERS}, rate: 5k/s}}
  - {{name: settle, for: 1500ms}}
  - {{name: hold, for: {SEND_S}s}}
"""
    ours, busy = [], []
    with Stand(limit) as stand:
        for _ in range(min(rounds, 3)):
            agent = stand.agent()
            with Curve(agent) as curve:
                summary = finish(stand.run(plan), agent)
            hold = next(stage for stage in summary["stages"] if stage["name"] == "hold")
            ours.append(hold["times"]["send_lag"]["p99_us"] / 1000)
            opened = curve.when_sockets_reach(curve.points[0][2] + 2 * SENDERS)
            busy.append(curve.cpu_s_between(opened + 3, opened + SEND_S - 1) / (SEND_S - 4))
            sent = hold["counts"]["messages_sent"] / (hold["end_s"] - hold["start_s"])
            if sent < 0.99 * SENDERS:
                raise Broken(f"sent {sent:,.0f} messages a second of {SENDERS:,}")
    return [Figure("send_lag", f"send_lag p99, {SENDERS:,} paced messages a second over {SENDERS:,} connections", "ms",
                   ours, goal=1, note=f"the agent took {max(busy):.0%} of its core meanwhile")]


def arrivals(limit, _rounds):
    listed = "\n".join(f"  - {{name: part-{i}, {stage[1]}}}" for i, stage in enumerate(STAGES))
    plan = f"scenarios: {{visitor: {{script: [connect, drop]}}}}\nstages:\n{listed}\n"
    with Stand(limit) as stand, SynWitness(PORT) as witness:
        agent = stand.agent()
        summary = finish(stand.run(plan), agent, 90)
    attempted = summary["counts"]["attempted"]
    if witness.lost or len(witness.stamps_ns) != attempted:
        raise Broken(f"{attempted:,} attempts, {len(witness.stamps_ns):,} SYN seen, {witness.lost:,} missed")
    figures, begins_ns = [], witness.stamps_ns[0]  # the first is due as the first stage begins
    for name, _, from_per_s, to_per_s, length_s in STAGES:
        wrong, worst = _bins_off(witness.stamps_ns, begins_ns, (from_per_s, to_per_s, length_s))
        figures.append(Figure("arrivals", f"arrivals at {name}: 100 ms that began others than due", "", [wrong], goal=0,
                              note=f"{name}: of {round(length_s / BIN_S)}; the worst began {worst:+g} of what was due; "
                                   "more than 1 % + 1 is wrong"))
        begins_ns += length_s * 1_000_000_000
    return figures


def due_by(ramp, seconds):
    """Arrivals due before this instant of a stage: item k when the integral of the rate reaches k."""
    from_per_s, to_per_s, length_s = ramp
    integral = from_per_s * seconds + (to_per_s - from_per_s) * seconds**2 / (2 * length_s)
    return math.ceil(integral - 1e-6)


def _bins_off(stamps_ns, begin_ns, ramp):
    """(bins in which the starts differ from the plan by more than 1 % + 1, the largest difference)."""
    count = round(ramp[2] / BIN_S)
    seen = [0] * count
    for stamp in stamps_ns:
        place = math.floor((stamp - begin_ns) / (BIN_S * 1e9))
        if 0 <= place < count:
            seen[place] += 1
    wrong = worst = 0
    for place in range(count):
        due = due_by(ramp, (place + 1) * BIN_S) - due_by(ramp, place * BIN_S)
        off = seen[place] - due
        wrong += abs(off) > 0.01 * due + 1
        worst = max(worst, off, key=abs)
    return wrong, worst
