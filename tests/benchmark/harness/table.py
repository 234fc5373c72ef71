"""The figures as a person reads them, and as a program does."""

import json
import statistics

NOISY = 0.10
COLUMNS = ("bench", "figure", "limit", "onrush", "least .. most", "ratio", "goal", "")


def number(value):
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def row(figure):
    spread = f"{number(min(figure.ours))} .. {number(max(figure.ours))}" if len(figure.ours) > 1 else ""
    met = {True: "met", False: "NOT MET", None: ""}[figure.met()]
    return (figure.bench, figure.what, number(statistics.median(figure.floor)) if figure.floor else "",
            f"{number(figure.median())} {figure.unit}", spread, f"{figure.ratio():.2f}" if figure.floor else "",
            figure.goal_text(), met)


def machine_line(facts, noise):
    others, stolen = noise
    line = f"{facts['cores']} cores, {facts['memory_gib']:.0f} GiB, {facts['kernel']}"
    if others > NOISY or stolen > NOISY / 10:
        line += f"; NOT QUIET: others took {others:.0%} of the two cores, the host {stolen:.0%}"
    return line


def text(figures, facts, noise):
    rows = [COLUMNS, *map(row, figures)]
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(COLUMNS))]
    lines = [machine_line(facts, noise), ""]
    for cells in rows:
        aligned = (cell.ljust(width) if i < 2 else cell.rjust(width)
                   for i, (cell, width) in enumerate(zip(cells, widths)))
        lines.append("  ".join(aligned).rstrip())
    lines += [""] + [f"{figure.bench}: {figure.note}" for figure in figures if figure.note]
    return "\n".join(lines)


def write_json(path, figures, facts, noise):
    described = {"machine": facts, "others_share": round(noise[0], 3), "steal_share": round(noise[1], 3),
                 "figures": [figure.as_json() for figure in figures]}
    path.write_text(json.dumps(described, indent=2) + "\n")
