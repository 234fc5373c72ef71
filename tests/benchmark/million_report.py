"""What a million connections have shown: the figures, and a check for each promise."""

from harness import machine

WINDOW_S = 10
DRAIN_S = 15  # for a million
CPU_OF_COORDINATOR = 0.10
MOST_TIME_WAIT = 10_000


def count(number):
    return f"{number:,}"


def seconds_of(us):
    return f"{us / 1e6:.2f} s"


def stage_named(outcome, name):
    return next(stage for stage in outcome["summary"]["stages"] if stage["name"] == name)


def samples_of(outcome, stage):
    return [sample for sample in outcome["samples"] if sample["stage"] == stage]


def slowest_window(outcome):
    """Connections a second in the slowest WINDOW_S seconds of the ramp, or in all of a shorter one."""
    # The second in which the ramp ends is cut short.
    opened = [int(row["opened"]) for row in outcome["seconds"] if row["stage"] == "setup"][:-1]
    if len(opened) < WINDOW_S:
        return stage_named(outcome, "setup")["connect_rate"]
    return min(sum(opened[i:i + WINDOW_S]) for i in range(len(opened) - WINDOW_S + 1)) / WINDOW_S


def cores(outcome, stage, side):
    """Cores that a side used in a stage; nothing if the stage was too short to see."""
    samples = samples_of(outcome, stage)
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    return (last[f"{side}_cpu_s"] - first[f"{side}_cpu_s"]) / (last["at_s"] - first["at_s"])


def settled_samples(outcome):
    """For each stage whose end leaves things at rest, a late sample of both counts."""
    # Our count is told a second after it was true, the target's is true now: by the last sample of a stage, the next
    # one may have begun at the target.
    samples = ((stage, samples_of(outcome, stage)) for stage in ("idle", "broadcast"))
    return [(stage, seen[-2]) for stage, seen in samples if len(seen) > 1]


def show_figures(outcome):
    facts = machine.facts()
    users, private = outcome["users"], outcome["private"]
    summary = outcome["summary"]
    print(f"\n  machine      {facts['cores']} cores, {facts['memory_gib']} GiB, {facts['kernel']}; "
          f"{len(summary['agents'])} agents, {outcome['workers']} processes of target-floor")
    setup = stage_named(outcome, "setup")
    length = setup["end_s"] - setup["start_s"]
    print(f"  ramp         {length:.1f} s, {count(round(setup['connect_rate']))} a second; slowest {WINDOW_S} s "
          f"{count(round(slowest_window(outcome)))} a second")
    if private:
        of_users = sum(private["agents"])
        kernel = (private["kernel"] - outcome["kernel_before"]) / users
        print(f"  memory       kernel {kernel:,.0f} B a pair of sockets; agents {of_users / users:,.0f} B a user "
              f"({of_users / len(private['agents']) / 2**20:.1f} MiB each), "
              f"target {sum(private['target']) / users:,.0f} B a connection")
    for stage in ("setup", "idle", "broadcast"):
        used = [(side, cores(outcome, stage, side)) for side in ("agents", "coordinator", "target")]
        if used[0][1] is not None:
            print(f"  cpu {stage:10}" + ", ".join(f"{side} {value:.2f}" for side, value in used) + " cores")
    drained = summary["times"].get("batch_delivery_time")
    if drained:
        print(f"  drained      50 % after {seconds_of(drained['p50_us'])}, 99 % after {seconds_of(drained['p99_us'])}, "
              f"100 % after {seconds_of(drained['max_us'])} (of {summary['delivery']['broadcasts']} broadcasts, "
              f"the slowest)")


def checks(outcome):
    """(what is promised, what was found, whether it holds)."""
    users, summary = outcome["users"], outcome["summary"]
    counts, delivery, times = summary["counts"], summary["delivery"], summary["times"]
    setup, idle = stage_named(outcome, "setup"), stage_named(outcome, "idle")
    copies = delivery.get("broadcasts", 0) * users
    drain_us = times.get("batch_delivery_time", {}).get("max_us", float("inf"))
    slowest = slowest_window(outcome)
    coordinator = cores(outcome, "idle", "coordinator")
    unexplained = [second for second in summary["suspect_seconds"] if not second.get("cause")]
    most_s = DRAIN_S * max(1, users / 1_000_000)
    yield "verified connections", count(setup["counts"]["opened"]), setup["counts"]["opened"] == users
    yield "failed attempts, ours or the target's", count(counts["failed"]), counts["failed"] == 0
    yield ("every 10 s of the ramp at 95 % of the rate or above", f"{count(round(slowest))} a second",
           slowest >= 0.95 * outcome["rate"])
    yield ("lost while idle for 30 s", count(idle["counts"]["lost"] + idle["counts"]["closed"]),
           idle["counts"]["lost"] + idle["counts"]["closed"] == 0 and idle["end_s"] - idle["start_s"] >= 29.9)
    yield ("copies of broadcasts delivered once", f"{count(delivery['received'])} of {count(copies)}",
           0 < copies == delivery["expected"] == delivery["received"] and
           delivery["duplicates"] == delivery["gaps"] == 0)
    yield f"broadcast drained in {most_s:.0f} s", seconds_of(drain_us), drain_us <= most_s * 1e6
    for stage, sample in settled_samples(outcome):
        yield (f"open at the end of {stage}, ours and the target's",
               f"{count(sample['open'])} and {count(sample['target_open'])}",
               sample["open"] == sample["target_open"] >= users)
    yield ("messages out of the target and into us",
           f"{count(outcome['left']['messages_out'])} and {count(counts['messages_received'])}",
           outcome["left"]["messages_out"] == counts["messages_received"])
    yield "connections left at the target", count(outcome["left"]["connections"]), outcome["left"]["connections"] == 0
    yield "sockets left in TIME_WAIT", count(outcome["time_wait"]), outcome["time_wait"] < MOST_TIME_WAIT
    yield ("coordinator's CPU while idle",
           "not seen" if coordinator is None else f"{100 * coordinator:.1f} % of a core",
           coordinator is not None and coordinator < CPU_OF_COORDINATOR)
    yield ("seconds not VALID, each with its cause", count(len(summary["suspect_seconds"])), not unexplained)
    yield "verdict", summary["verdict"], summary["verdict"] == "passed"


def show(outcome):
    """Prints figures and checks; true if every check holds."""
    show_figures(outcome)
    print()
    all_hold = True
    for promise, found, holds in checks(outcome):
        print(f"  {'✓' if holds else '✗'} {promise:56} {found}")
        all_hold = all_hold and holds
    return all_hold
