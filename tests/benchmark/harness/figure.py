"""A figure: what was measured in each round, and whether its goal is met. Owner: whoever took it; plain data."""

import dataclasses
import statistics


@dataclasses.dataclass
class Figure:
    bench: str                # the ONLY= that takes it
    what: str
    unit: str
    ours: list                # one value a round
    floor: list = dataclasses.field(default_factory=list)  # the same of `limit`; empty without it
    goal_ratio: float = None  # at most this many times the floor
    goal: float = None        # at most this many units
    at_least: bool = False    # the goal is the least, not the most
    note: str = ""

    def median(self):
        return statistics.median(self.ours)

    def ratio(self):
        """Median to median; None without a floor."""
        return self.median() / statistics.median(self.floor) if self.floor else None

    def met(self):
        """True or False; None if there is no goal, or no floor to hold it against."""
        if self.goal_ratio is not None:
            return self.ratio() <= self.goal_ratio if self.floor else None
        if self.goal is None:
            return None
        return self.median() >= self.goal if self.at_least else self.median() <= self.goal

    def goal_text(self):
        if self.goal_ratio is not None:
            return f"at most {self.goal_ratio:g} x"
        if self.goal is None:
            return ""
        return ("at least " if self.at_least else "at most ") + f"{self.goal:,g}"

    def as_json(self):
        described = dataclasses.asdict(self)
        described.update(median=self.median(), ratio=self.ratio(), met=self.met())
        if self.floor:
            described["floor_median"] = statistics.median(self.floor)
        return described
