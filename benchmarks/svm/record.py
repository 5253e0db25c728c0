"""What is written down: every fit, the references, and the median seconds to each accuracy."""

import csv
import math
import statistics
from dataclasses import dataclass, fields
from pathlib import Path

OURS = "equipoise"


@dataclass
class Fit:
    """One training run. `measure` is the relative gap for ours, the relative suboptimality for a peer."""

    set: str
    cost: float
    solver: str
    problem: str
    setting: str
    round: int
    seconds: float | None = None
    primal: float | None = None
    measure: float | None = None
    peak_memory: int | None = None
    accuracy: float | None = None
    accuracy_on: str = ""
    status: str = "ok"


@dataclass
class Time:
    """Median seconds of one solver to one accuracy in one cell; no seconds where it was not reached."""

    set: str
    cost: float
    solver: str
    problem: str
    accuracy: float
    setting: str = ""
    seconds: float | None = None
    runs: int = 0
    peak_memory: int | None = None
    share_right: float | None = None
    right_on: str = ""


class Table:
    """A CSV file that grows row by row, so that an interrupted run keeps what it has."""

    def __init__(self, path: Path, kind: type) -> None:
        self.names = [field.name for field in fields(kind)]
        self.file = path.open("w", newline="", encoding="utf-8")
        self.writer = csv.writer(self.file, lineterminator="\n")
        self.writer.writerow(self.names)

    def add(self, rows: list) -> None:
        for row in rows:
            self.writer.writerow([_text(getattr(row, name)) for name in self.names])
        self.file.flush()


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


class References:
    """The lowest primal value seen in any run, for each set, cost and problem; earlier records count."""

    def __init__(self, stored: Path) -> None:
        self.lowest: dict[tuple[str, float, str], float] = {}
        if stored.exists():
            with stored.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    self.see(row["set"], float(row["cost"]), row["problem"], float(row["primal"]))

    def see(self, name: str, cost: float, problem: str, primal: float) -> None:
        key = (name, cost, problem)
        self.lowest[key] = min(primal, self.lowest.get(key, math.inf))

    def known(self, name: str, cost: float, problem: str) -> bool:
        return (name, cost, problem) in self.lowest

    def suboptimality(self, fit: Fit) -> float:
        lowest = self.lowest[fit.set, fit.cost, fit.problem]
        return (fit.primal - lowest) / abs(lowest)

    def write(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["set", "cost", "problem", "primal"])
            for (name, cost, problem), primal in sorted(self.lowest.items()):
                writer.writerow([name, f"{cost:g}", problem, repr(primal)])


def fastest(fits: list[Fit], accuracy: float) -> Fit | None:
    """The quickest of these fits that is at least that accurate."""
    reached = [fit for fit in fits if fit.measure is not None and fit.measure <= accuracy]
    return min(reached, key=lambda fit: fit.seconds, default=None)


def time_of(fits: list[Fit], accuracy: float, chosen: Fit | None, empty: Time) -> Time:
    """Median over the rounds of the chosen setting; only fits that did reach the accuracy count."""
    if chosen is None:
        return empty
    same = [fit for fit in fits if fit.setting == chosen.setting and fit.seconds is not None]
    reached = [fit for fit in same if fit.measure is not None and fit.measure <= accuracy]
    # One round in which it was not reached is bad luck; half of them and the setting does not reach it.
    if 2 * len(reached) <= len(same):
        return empty
    memory = max((fit.peak_memory for fit in same if fit.peak_memory), default=None)
    return Time(
        empty.set, empty.cost, empty.solver, empty.problem, accuracy, chosen.setting,
        statistics.median(fit.seconds for fit in reached), len(reached), memory, chosen.accuracy, chosen.accuracy_on,
    )  # fmt: skip
