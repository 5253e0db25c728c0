"""Cells: a set at a cost. First the peers climb, which needs no quiet machine; then everybody is timed, in turn."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import settings
from children import Child, Failure, OverLimit, driver, server
from data import load, prepare, primals
from record import END, OURS, Fit, References, Rung, Table, contenders, label
from settings import DataSet, Peer


@dataclass
class Places:
    """Where things are."""

    lab: Path
    data: Path | None
    work: Path


@dataclass
class Loaded:
    """A set in memory, with the processes that know it."""

    part: str
    data_set: DataSet
    places: Places
    say: Callable[[str], None]
    text: Path = field(init=False)
    ours: Child = field(init=False)
    drivers: dict[str, Child] = field(init=False)

    def __post_init__(self) -> None:
        places = self.places
        self.text = prepare(self.data_set, places.data, places.lab, places.work)
        self.cache = places.work / f"{self.data_set.name}.npz"
        self.rows, self.labels = load(self.text, self.cache)
        self.ours = server(places.lab, self.text)
        self.drivers = {peer.name: driver(peer.kind, self.text, self.cache) for peer in settings.PEERS[self.part]}

    @property
    def model(self) -> Path:
        return self.places.work / f"model-{os.getpid()}.npy"

    def values(self, cost: float, penalised: bool) -> list[float]:
        """The primals of the model that was written last, from raw data."""
        return primals(self.rows, self.labels, np.load(self.model), cost, self.part == "svr", penalised)

    def stop(self) -> None:
        for child in (self.ours, *self.drivers.values()):
            child.stop()
        self.model.unlink(missing_ok=True)

    def ask_ours(
        self, cost: float, gap: float, threads: int, seed: int, limit: float, penalised: bool, keeps: bool = True
    ) -> dict:
        kind = "svr" if self.part == "svr" else "svc"
        request = {
            "kind": kind, "cost": cost, "gap": gap, "threads": threads, "seed": seed, "limit": limit,
            "penalised": penalised, "model": str(self.model) if keeps else None,
        }  # fmt: skip
        return self.ours.ask(request, threads * limit + 60.0)

    def ask_peer(self, peer: str, cost: float, setting: dict, limit: float) -> dict:
        request = {"cost": cost, "setting": setting, "model": str(self.model)}
        return self.drivers[peer].ask(request, limit)


def find_reference(loaded: Loaded, cost: float, references: References, complain: Callable[[str], None]) -> None:
    """The optimum of the problem with a penalised bias, from our own solver, with its proof."""
    name = loaded.data_set.name
    if references.known(name, cost):
        return
    answer = loaded.ask_ours(cost, settings.REFERENCE_GAP, 1, 1, settings.REFERENCE_LIMIT, True)
    references.see(name, cost, loaded.values(cost, True))
    loaded.say(f"{name} C={cost:g}  reference: gap {answer['relative_gap']:.1e} after {answer['seconds']:.2f} s")
    if answer["relative_gap"] > 1e-2 * min(settings.GAPS):
        complain(f"{name} C={cost:g}: the reference is known to {answer['relative_gap']:.1e} only")


def climb(loaded: Loaded, cost: float, peer: Peer, ladders: Table, references: References) -> None:
    """Up the ladder until the tightest gap, the limit or the end; seconds of the processor."""
    name, part = loaded.data_set.name, loaded.part
    mine = [rung for rung in ladders.rows if (rung.part, rung.set, rung.cost) == (part, name, cost)]
    if any(rung.solver == peer.name and rung.status == END for rung in mine):
        return
    limit = loaded.data_set.limit
    first = settings.PEERS[part][0].name
    if peer.name != first:
        fine = [r.seconds for r in mine if r.solver == first and r.status == "ok" and r.measure <= min(settings.GAPS)]
        limit = min(limit, max(settings.PATIENCE, settings.SLOWER * min(fine, default=limit)))
    rungs = []
    for setting in peer.ladder:
        rung = Rung(part, name, cost, peer.name, label(setting))
        try:
            answer = loaded.ask_peer(peer.name, cost, setting, limit)
            rung.seconds = answer["processor"]
            values = loaded.values(cost, True)
            references.see(name, cost, values)
            rung.measure = references.suboptimality(name, cost, values)
        except OverLimit:
            rung.seconds, rung.status = limit, "over the limit"
        except Failure as error:
            rung.status = f"failed: {error}"
        rungs.append(rung)
        if rung.status != "ok" or rung.measure <= min(settings.GAPS):
            break
        if sum(known.seconds for known in rungs) > settings.CLIMB * loaded.data_set.limit / settings.LIMIT:
            rungs.append(Rung(part, name, cost, peer.name, "next", rung.seconds, status="over the limit"))
            break
    ladders.add([*rungs, Rung(part, name, cost, peer.name, "", status=END)])
    last = rungs[-1]
    measure = "" if last.measure is None else f"{last.measure:.1e}"
    loaded.say(f"{name} C={cost:g}  {peer.name}: {len(rungs)} rungs, last {last.setting} {measure} {last.status}")


@dataclass
class Job:
    """A fit that is timed, in every round up to its number of repeats."""

    run: Callable[[int], Fit]
    repeats: int


def time_cell(loaded: Loaded, cost: float, ladders: Table, references: References, raw: Table, most: int) -> None:
    """All solvers in turn, round by round; the cell's rows are added at once."""
    part, name = loaded.part, loaded.data_set.name
    jobs: list[Job] = []
    fits: list[Fit] = []

    def ours(gap: float, threads: int) -> Callable[[int], Fit]:
        def run(number: int) -> Fit:
            fit = Fit(part, name, cost, OURS, threads, f"gap={gap:g}", number)
            try:
                checked = number == 1 and threads == 1
                answer = loaded.ask_ours(cost, gap, threads, number, settings.OUR_LIMIT, False, checked)
                fit.seconds, fit.measure, fit.status = counted(answer, threads), answer["relative_gap"], answer["status"]
                if checked:
                    check(fit, answer["primals"])
            except OverLimit:
                fit.seconds, fit.status = settings.OUR_LIMIT, "over the limit"
            except Failure as error:
                fit.status = f"failed: {error}"
            return fit

        return run

    def check(fit: Fit, reported: list[float]) -> None:
        for found, said in zip(loaded.values(cost, False), reported, strict=True):
            # What we print bounds the objective from above, and not by much.
            if not -1e-9 <= (said - found) / abs(said) <= 1e-7:
                fit.status = f"wrong: we report {said!r}; it is {found!r}"
                fit.measure = None

    def peers(peer: Peer, setting: dict, limit: float) -> Callable[[int], Fit]:
        def run(number: int) -> Fit:
            fit = Fit(part, name, cost, peer.name, 1, label(setting), number)
            try:
                answer = loaded.ask_peer(peer.name, cost, setting, limit)
                fit.seconds, fit.peak_memory = counted(answer, 1), answer["peak_memory"]
                values = loaded.values(cost, True)
                references.see(name, cost, values)
                fit.measure = references.suboptimality(name, cost, values)
            except OverLimit:
                fit.seconds, fit.status = limit, "over the limit"
            except Failure as error:
                fit.status = f"failed: {error}"
            return fit

        return run

    climbs = {peer.name: [] for peer in settings.PEERS[part]}
    for rung in ladders.rows:
        if (rung.part, rung.set, rung.cost) == (part, name, cost):
            climbs[rung.solver].append(rung)
    first = settings.PEERS[part][0].name
    chosen: dict[tuple[str, str], float] = {}
    for gap in settings.GAPS:
        for peer, rung in contenders(climbs, first, gap).items():
            chosen[peer, rung.setting] = rung.seconds
    children = [loaded.ours, *(loaded.drivers[peer] for peer in {peer for peer, _ in chosen})]
    for child in children:
        child.start()
    for child in children:
        child.wait()
    for gap in settings.GAPS:
        fits.append(ours(gap, 1)(1))
        took = fits[-1].seconds
        if took is None or fits[-1].status == "over the limit":
            continue
        jobs.append(Job(ours(gap, 1), min(most, settings.repeats(took))))
        if took > settings.WORTH_TWO_THREADS:
            fits.append(ours(gap, 2)(1))
            jobs.append(Job(ours(gap, 2), min(most, settings.repeats(took))))
    began = len(jobs)
    for peer in settings.PEERS[part]:
        for setting in peer.ladder:
            seconds = chosen.get((peer.name, label(setting)))
            if seconds is not None and seconds <= settings.LONG:
                # What was seen on the climb is reached again, with some room for the clock.
                limit = 2.0 * max(loaded.data_set.limit, seconds)
                jobs.append(Job(peers(peer, setting, limit), min(most, settings.repeats(seconds))))
    for number in range(1, max((job.repeats for job in jobs), default=0) + 1):
        for place, job in enumerate(jobs):
            done = number == 1 and place < began
            if number <= job.repeats and not done:
                fits.append(job.run(number))
    raw.add(fits)
    for gap in settings.GAPS:
        words = [f"{f.solver} {f.seconds:.4f}" for f in fits if f.round == 1 and f.seconds is not None and reaches(f, gap)]
        loaded.say(f"{name} C={cost:g} {gap:g}:  {'  '.join(words)}")


def counted(answer: dict, threads: int) -> float:
    """The seconds of one thread are the smaller of the clock's and the processor's: the same on a machine of one's own."""
    return min(answer["seconds"], answer["processor"]) if threads == 1 else answer["seconds"]


def reaches(fit: Fit, gap: float) -> bool:
    if fit.solver == OURS:
        return fit.setting == f"gap={gap:g}" and fit.threads == 1
    return fit.measure is not None and fit.measure <= gap
