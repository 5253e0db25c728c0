"""What is written down. Tables grow, and what is in them is not measured again: a run may come in slices.

| file | content |
|---|---|
| `references.csv` | the lowest primal values seen of the problem with a penalised bias, one a decision function |
| `ladders.csv` | the climb of every peer: seconds of the processor, suboptimality; a cell that is complete ends with `end` |
| `raw.csv` | one row a timed fit; `measure` is the gap (ours) or the suboptimality (peers) |
| `times.csv` | median seconds to each gap, made from these |
"""

import csv
import math
import statistics
from dataclasses import dataclass, fields, replace
from pathlib import Path

import settings

OURS = "equipoise"
END = "end"


@dataclass
class Reference:
    set: str
    cost: float
    function: int
    primal: float


@dataclass
class Rung:
    """One fit of a climb. `status` is ok, over the limit (then `seconds` is the limit), failed, or the end."""

    part: str
    set: str
    cost: float
    solver: str
    setting: str
    seconds: float | None = None
    measure: float | None = None
    status: str = "ok"


@dataclass
class Fit:
    """One timed fit. `measure` is the relative gap for ours, the relative suboptimality for a peer."""

    part: str
    set: str
    cost: float
    solver: str
    threads: int
    setting: str
    round: int
    seconds: float | None = None
    measure: float | None = None
    peak_memory: int | None = None
    status: str = "ok"


@dataclass
class Time:
    """Median seconds of one solver to one gap. Where it was not reached within the limit, `over` is the limit; where no
    rung reached it there are no numbers. `runs` of 0: the climb's seconds, for a peer that is not the best there."""

    part: str
    set: str
    cost: float
    solver: str
    threads: int
    accuracy: float
    setting: str = ""
    seconds: float | None = None
    runs: int = 0
    over: float | None = None
    peak_memory: int | None = None


@dataclass
class Cold:
    set: str
    solver: str
    round: int
    seconds: float | None
    peak_memory: int | None
    status: str


@dataclass
class Growth:
    axis: str
    value: int
    solver: str
    seconds: float | None
    runs: int


@dataclass
class OneRow:
    problem: str
    round: int
    seconds: float | None
    measure: float | None
    status: str


class Table:
    """A CSV file that grows; a cell at a time, so that an interrupted run keeps what is complete."""

    def __init__(self, path: Path, kind: type) -> None:
        self.path, self.kind = path, kind
        self.rows = _read(path, kind)
        if not path.exists():
            _append(path, [[field.name for field in fields(kind)]])

    def add(self, rows: list) -> None:
        names = [field.name for field in fields(self.kind)]
        _append(self.path, [[_text(getattr(row, name)) for name in names] for row in rows])
        self.rows += rows


def _append(path: Path, rows: list[list[str]]) -> None:
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _read(path: Path, kind: type) -> list:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [kind(**{field.name: _value(row[field.name], str(field.type)) for field in fields(kind)}) for row in csv.DictReader(file)]


def _value(text: str, kind: str) -> object:
    name = kind.removeprefix("<class '").removesuffix("'>")
    if "None" in name and text == "":
        return None
    if name.startswith("float"):
        return float(text)
    return int(text) if name.startswith("int") else text


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.17g}" if value and abs(value) > 1e3 else f"{value:.10g}"
    # The tables are read without quotes elsewhere.
    return str(value).replace(",", ";").replace("\n", " ")


class References:
    """The lowest primal seen for each set, cost and decision function."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.lowest: dict[tuple[str, float, int], float] = {}
        for row in table.rows:
            self._see(row)

    def _see(self, row: Reference) -> bool:
        key = (row.set, row.cost, row.function)
        lower = row.primal < self.lowest.get(key, math.inf)
        if lower:
            self.lowest[key] = row.primal
        return lower

    def see(self, name: str, cost: float, primals: list[float]) -> None:
        rows = [Reference(name, cost, function, primal) for function, primal in enumerate(primals)]
        self.table.add([row for row in rows if self._see(row)])

    def known(self, name: str, cost: float) -> bool:
        return (name, cost, 0) in self.lowest

    def suboptimality(self, name: str, cost: float, primals: list[float]) -> float:
        """The largest of any decision function."""
        lowest = [self.lowest[name, cost, function] for function in range(len(primals))]
        return max((primal - low) / abs(low) for primal, low in zip(primals, lowest, strict=True))


def label(setting: dict) -> str:
    words = ((key, f"{value:g}" if isinstance(value, float) else str(value)) for key, value in setting.items())
    return " ".join(f"{key}={value}" for key, value in words)


def best_rung(rungs: list[Rung], gap: float) -> Rung | None:
    """The cheapest rung that reached the gap."""
    reached = [rung for rung in rungs if rung.status == "ok" and rung.measure <= gap]
    return min(reached, key=lambda rung: rung.seconds, default=None)


def contenders(climbs: dict[str, list[Rung]], first: str, gap: float) -> dict[str, Rung]:
    """The rung of each peer that may be the best one at this gap, and of the first peer in any case."""
    best = {name: rung for name, rungs in climbs.items() if (rung := best_rung(rungs, gap))}
    least = min((rung.seconds for rung in best.values()), default=0.0)
    # Below a millisecond the clock of a climb says little.
    within = max(settings.CONTENDER * least, 1e-3)
    return {name: rung for name, rung in best.items() if name == first or rung.seconds <= within}


def times(raw: list[Fit], ladders: list[Rung]) -> list[Time]:
    """The table of medians."""
    cells: dict[tuple[str, str, float], list[Fit]] = {}
    for fit in raw:
        cells.setdefault((fit.part, fit.set, fit.cost), []).append(fit)
    found = []
    for (part, name, cost), fits in cells.items():
        climbs = {peer.name: [] for peer in settings.PEERS[part]}
        for rung in ladders:
            if (rung.part, rung.set, rung.cost) == (part, name, cost) and rung.solver in climbs:
                climbs[rung.solver].append(rung)
        for gap in settings.GAPS:
            for threads in (1, 2):
                ours = [fit for fit in fits if fit.solver == OURS and fit.threads == threads]
                ours = [fit for fit in ours if fit.setting == f"gap={gap:g}"]
                if ours:
                    found.append(_time(ours, gap, Time(part, name, cost, OURS, threads, gap, f"gap={gap:g}")))
            chosen = contenders(climbs, settings.PEERS[part][0].name, gap)
            for peer, rungs in climbs.items():
                if not rungs:
                    continue
                empty = Time(part, name, cost, peer, 1, gap)
                if peer in chosen:
                    found.append(_quickest([fit for fit in fits if fit.solver == peer], gap, empty, chosen[peer]))
                elif rung := best_rung(rungs, gap):
                    empty.setting, empty.seconds = rung.setting, rung.seconds
                    found.append(empty)
                else:
                    over = [rung.seconds for rung in rungs if rung.status == "over the limit"]
                    empty.over = over[0] if over else None
                    found.append(empty)
    return found


def _quickest(fits: list[Fit], gap: float, empty: Time, rung: Rung) -> Time:
    """The quickest of a peer's timed settings that reach the gap: one that did on the climb may miss it by bad luck, and
    one that was timed for a tighter gap may do. Where none does, the climb counts as the only run."""
    timed = [
        _time([fit for fit in fits if fit.setting == setting], gap, replace(empty, setting=setting))
        for setting in dict.fromkeys(fit.setting for fit in fits)
    ]
    reached = [time for time in timed if time.seconds is not None]
    if not reached:
        return replace(empty, setting=rung.setting, seconds=rung.seconds, runs=1)
    return min(reached, key=lambda time: time.seconds)


def _time(fits: list[Fit], gap: float, empty: Time) -> Time:
    """Median of the fits that did reach the gap; nothing where half of them did not, or where what one of them reports
    is not what its model gives: only the first is checked, for all."""
    if any(fit.status.startswith("wrong") for fit in fits):
        return empty
    ended = [fit for fit in fits if fit.status != "over the limit"]
    reached = [fit for fit in ended if fit.measure is not None and fit.measure <= gap]
    if 2 * len(reached) <= len(fits) or not reached:
        over = [fit.seconds for fit in fits if fit.status == "over the limit"]
        empty.over = over[0] if over else None
        return empty
    empty.seconds, empty.runs = statistics.median(fit.seconds for fit in reached), len(reached)
    empty.peak_memory = max((fit.peak_memory for fit in fits if fit.peak_memory), default=None)
    return empty


def write(path: Path, rows: list, kind: type) -> None:
    """A table anew."""
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    Table(part, kind).add(rows)
    part.replace(path)
