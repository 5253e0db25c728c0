"""What is written: one row a run, medians, and what the peers need over what ours needs beside what was wanted."""

import csv
import statistics
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

OURS = "equipoise"


@dataclass
class Fit:
    """One run; `measure` is (primal - best bound known) over the problem's scale, for ours at least what it certifies.

    `own_gap` is the same with the bound from this answer alone, where an answer gives a dual point.
    """

    job: str
    solver: str
    problem: str
    setting: str
    threads: int
    round: int
    accuracy: float
    seconds: float | None = None
    # Seconds of the proof of ours, where it tells them apart.
    proof: float | None = None
    processor_seconds: float | None = None
    bytes: int | None = None
    measure: float | None = None
    own_gap: float | None = None
    certified: float | None = None
    peak_memory: int | None = None
    status: str = ""
    primal: np.ndarray | None = None
    over: float | None = None

    def reached(self) -> bool:
        return self.seconds is not None and self.measure is not None and self.measure <= self.accuracy


@dataclass
class Time:
    """Median seconds of a solver in a job; `over` where it was stopped, `best` the measure where it fell short."""

    job: str
    solver: str
    threads: int
    setting: str = ""
    seconds: float | None = None
    proof: float | None = None
    bytes: int | None = None
    runs: int = 0
    measure: float | None = None
    over: float | None = None
    best: float | None = None
    peak_memory: int | None = None

    def words(self) -> str:
        if self.seconds is not None:
            return seconds_in_words(self.seconds)
        if self.over is not None:
            return f"> {self.over:.0f} s"
        return "no answer" if self.best is None else f"not reached (best {self.best:.0e})"


def seconds_in_words(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def time_of(job: str, solver: str, threads: int, setting: str, fits: list[Fit]) -> Time:
    """The median over the runs at the setting; only runs that reached the accuracy count."""
    reached = [fit for fit in fits if fit.setting == setting and fit.reached()]
    found = Time(job, solver, threads, setting)
    if reached:
        found.seconds, found.runs = statistics.median(fit.seconds for fit in reached), len(reached)
        found.measure = max(fit.measure for fit in reached)
        found.peak_memory = max((fit.peak_memory for fit in reached if fit.peak_memory), default=None)
        found.bytes = statistics.median_high([fit.bytes for fit in reached if fit.bytes is not None] or [None])
        found.proof = statistics.median_high([fit.proof for fit in reached if fit.proof is not None] or [None])
        return found
    found.over = max((fit.over for fit in fits if fit.over is not None), default=None)
    found.best = min((fit.measure for fit in fits if fit.measure is not None), default=None)
    return found


class Table:
    """A CSV file that grows as results come in; arrays stay out of it."""

    def __init__(self, path: Path, kind: type) -> None:
        self.names = [one.name for one in fields(kind) if one.name != "primal"]
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
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def quickest(times: list[Time], solvers: list[str], threads: int, cost: str) -> Time | None:
    """The cheapest of these solvers with at most that many threads; else one that was stopped, else any."""
    of = [one for one in times if one.solver in solvers and one.threads <= threads]
    done = [one for one in of if getattr(one, cost) is not None]
    if done:
        return min(done, key=lambda one: getattr(one, cost))
    stopped = [one for one in of if one.over is not None]
    return (stopped or of or [None])[0]


def ratio_of(ours: Time | None, peer: Time | None, cost: str) -> tuple[float | None, str]:
    if ours is None or peer is None or getattr(ours, cost) is None:
        return None, "-"
    if getattr(peer, cost) is not None:
        ratio = getattr(peer, cost) / max(getattr(ours, cost), 1e-9)
        return ratio, f"{ratio:.3g}"
    if peer.over is not None and cost == "seconds":
        ratio = peer.over / ours.seconds
        return ratio, f"> {ratio:.3g}"
    return None, "peer short of the accuracy" if peer.best is not None else "-"


def verdict(ours: Time | None, ratio: float | None, text: str, least: float) -> str:
    """Whether what was wanted is met; `least` 0 asks only that ours reaches the accuracy."""
    if least == 0.0:
        return "-" if ours is None else "yes" if ours.seconds is not None else "no"
    # A peer that was stopped took longer than that, so a "no" is not known.
    if ratio is None or (ratio < least and text.startswith(">")):
        return "-"
    return "yes" if ratio >= least else "no"


def ratios(times: list[Time], wanted: Path, costs: dict[str, str]) -> str:
    """A table of seconds, and a table of what the peers need over what ours needs beside what was wanted."""
    lines = ["# Seconds to the accuracy", "", "| job | solver | threads | setting | median | proof | runs | gap | bytes |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for one in times:
        gap = "" if one.measure is None else f"{one.measure:.0e}"
        sent = "" if one.bytes is None else f"{one.bytes:.3g}"
        proof = "" if one.proof is None else seconds_in_words(one.proof)
        row = (one.job, one.solver, one.threads, one.setting, one.words(), proof, one.runs, gap, sent)
        lines.append(f"| {' | '.join(str(cell) for cell in row)} |")
    lines += ["", "# The peers' seconds (or bytes) over ours", "",
              "| job | against | in | one thread | two threads | wanted | met |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    with wanted.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            of = [one for one in times if one.job == row["job"]]
            if not of:
                continue
            cost = costs[row["job"]]
            shown = []
            for threads in (1, 2):
                ours = quickest(of, [OURS], threads, cost)
                ratio, text = ratio_of(ours, quickest(of, row["against"].split("|"), threads, cost), cost)
                shown.append(text)
                if threads == 1:
                    met = verdict(ours, ratio, text, float(row["at_least"]))
            cells = (row["job"], row["against"].replace("|", " or "), cost, *shown, row["wanted"], met)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
