"""Every job and solver in one go: a benchmark's `run.py` calls `main` with its modules.

    run.py --binary EQUIPOISE --out RECORD [--work FOLDER] [--python PYTHON] [--jobs grid,trend] [--peers celer,osqp]
           [--quick] [--peers-only] [--data FOLDER] [--note "commit: ..."]...

In each job every solver climbs its ladders once; then ours and the quickest setting of each peer that reached the
accuracy are timed again, round by round, all solvers in turn.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
from jobs import LONG, ROUNDS, Job, Made, Peer
from processes import Driver, Failure, OverLimit, lacks, run_ours
from record import OURS, Fit, Table, Time, ratios, time_of


@dataclass
class Bench:
    """What is measured, where things are, and what has been found so far."""

    settings: ModuleType
    ours: ModuleType
    here: Path
    arguments: argparse.Namespace
    raw: Table
    times: Table
    complaints: list[str] = field(default_factory=list)
    found: list[Time] = field(default_factory=list)
    start: float = field(default_factory=time.monotonic)

    def say(self, text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        print(f"[{minutes:3d}:{seconds:02d}] {text}", flush=True)

    def complain(self, text: str) -> None:
        # The record is public: what a message says of this machine's folders is cut.
        for folder in (self.arguments.work, self.arguments.out, self.arguments.data, self.here):
            text = text.replace(f"{folder}/", "") if folder is not None else text
        self.complaints.append(text)
        self.say(f"!! {text}")


@dataclass
class Cell:
    """One job: its data, its drivers, and the fits so far."""

    bench: Bench
    job: Job
    made: Made
    fits: list[Fit] = field(default_factory=list)
    drivers: dict[tuple[str, int], Driver] = field(default_factory=dict)

    def driver(self, peer: Peer, threads: int) -> Driver:
        arguments = self.bench.arguments
        key = (peer.name, threads)
        if key not in self.drivers:
            script, size = self.bench.here / "driver.py", "quick" if arguments.quick else "full"
            words = [self.job.name, peer.kind, peer.problem, str(arguments.work), size]
            self.drivers[key] = Driver([arguments.python, str(script), *words], threads)
        return self.drivers[key]

    def judge(self, fit: Fit, answer: np.ndarray, dual: np.ndarray | None) -> None:
        problem = self.made.problems[fit.problem]
        fit.primal = problem.judge(answer, dual)
        fit.own_gap = problem.bounds.own(fit.primal, problem.scale)
        self.measure(fit)

    def measure(self, fit: Fit) -> None:
        """Against the best bound known so far; ours is held to its own certificate as well."""
        problem = self.made.problems[fit.problem]
        if fit.primal is not None:
            fit.measure = problem.bounds.measure(fit.primal, problem.scale)
            if fit.certified is not None:
                fit.measure = max(fit.measure, fit.certified)

    def note(self, fit: Fit) -> Fit:
        self.fits.append(fit)
        seconds = "-" if fit.seconds is None else f"{fit.seconds:.4f} s"
        if fit.processor_seconds is not None:
            seconds += f" ({fit.processor_seconds:.4f} s of processor)"
        if fit.bytes is not None:
            seconds += f", {fit.bytes:.3g} bytes"
        measure = "" if fit.measure is None else f"  {fit.measure:.1e}"
        threads = f" x{fit.threads}" if fit.threads > 1 else ""
        self.bench.say(f"{self.job.name}  {fit.solver}{threads} {fit.setting}  {seconds}{measure}  {fit.status}")
        return fit

    def run_peer(self, peer: Peer, setting: dict, threads: int, number: int) -> Fit:
        fit = Fit(self.job.name, peer.name, peer.problem, label(setting), threads, number, self.job.accuracy)
        file = self.bench.arguments.work / "answer.npz"
        try:
            done = self.driver(peer, threads).solve(setting, file, self.job.limit)
            fit.seconds, fit.peak_memory = done["seconds"], done["peak_memory"]
            fit.processor_seconds, fit.bytes = done["processor_seconds"], done["bytes"]
            if peer.yardstick:
                fit.measure = 0.0
            else:
                with np.load(file) as kept:
                    self.judge(fit, kept["answer"], kept["dual"] if kept["dual"].size else None)
        except OverLimit as error:
            fit.status, fit.over = f"over the limit: {error}", self.job.limit
        except Failure as error:
            fit.status = f"failed: {error}"
            self.bench.complain(f"{self.job.name}: {peer.name} {fit.setting}: {error}")
        return self.note(fit)

    def run_ours(self, gap: float, threads: int, number: int) -> Fit:
        ours = self.bench.ours
        fit = Fit(self.job.name, OURS, "main", f"gap={gap:g}", threads, number, self.job.accuracy)
        try:
            words = ours.words(self.job, self.made, gap)
            words += ["--threads", str(threads)] if self.job.takes_threads else []
            report = run_ours(self.bench.arguments.binary, words, threads, self.job.limit)
            fit.seconds, fit.peak_memory = report["seconds_solve"], report.get("peak_memory")
            fit.bytes, fit.proof = report.get("bytes"), report.get("seconds_certificate")
            told = (f"{name} {report[name]}" for name in ours.TOLD if report.get(name) is not None)
            fit.status = ", ".join([str(report["status"]), *told])
            fit.certified = ours.certified(self.made, report)
            self.judge(fit, *ours.answer(self.job, self.made, report))
        except OverLimit as error:
            fit.status, fit.over = f"over the limit: {error}", self.job.limit
        except (Failure, KeyError, ValueError, TypeError) as error:
            fit.seconds, fit.status = None, f"failed: {type(error).__name__}: {error}"
            self.bench.complain(f"{self.job.name}: {OURS}: {fit.status}")
        return self.note(fit)


def label(setting: dict) -> str:
    words = ((key, f"{value:g}" if isinstance(value, float) else str(value)) for key, value in setting.items())
    return " ".join(f"{key}={value}" for key, value in words)


def climb(cell: Cell, peer: Peer) -> None:
    """Up each ladder until the accuracy, a failure or the limit."""
    for rungs in peer.ladders:
        for setting in rungs:
            fit = cell.run_peer(peer, setting, peer.threads[0], 1)
            if fit.seconds is None or fit.reached():
                break


def climb_ours(cell: Cell) -> float | None:
    """The loosest gap of ours that is accurate enough, by its certificate and by the judge."""
    for gap in cell.bench.settings.OURS:
        if gap > cell.job.accuracy and cell.job.accuracy < cell.bench.settings.ACCURACY:
            continue
        fit = cell.run_ours(gap, 1, 1)
        if fit.seconds is None:
            return None
        if fit.reached():
            return gap
    return None


def chosen(cell: Cell, peer: Peer) -> dict | None:
    """The cheapest setting that reached the accuracy."""
    reached = [fit for fit in cell.fits if fit.solver == peer.name and fit.reached()]
    if not reached:
        return None
    best = min(reached, key=lambda fit: getattr(fit, cell.job.cost)).setting
    return next(setting for rungs in peer.ladders for setting in rungs if label(setting) == best)


def rounds(cell: Cell, peers: list[Peer], gap: float | None) -> dict[str, str]:
    """Times in turn ours and what the climbs found; what is long is not repeated. Gives the settings chosen."""
    arguments = cell.bench.arguments
    for fit in cell.fits:
        cell.measure(fit)
    again: list[tuple] = []
    settings_of = {}
    if gap is not None:
        settings_of[OURS] = f"gap={gap:g}"
        again += [(OURS, threads, lambda number, threads=threads: cell.run_ours(gap, threads, number))
                  for threads in cell.job.threads if threads <= (os.cpu_count() or 1)]  # fmt: skip
    for peer in peers:
        setting = chosen(cell, peer)
        if setting is None:
            continue
        settings_of[peer.name] = label(setting)
        for threads in peer.threads:
            again.append((peer.name, threads, lambda number, peer=peer, setting=setting, threads=threads:
                          cell.run_peer(peer, setting, threads, number)))  # fmt: skip
    for number in range(1, arguments.rounds + 1):
        first = number % len(again) if again else 0
        for name, threads, run in again[first:] + again[:first]:
            known = [
                fit for fit in cell.fits if fit.solver == name and fit.threads == threads
                and fit.setting == settings_of.get(name, "")
            ]  # fmt: skip
            # A failure does not get better, and the climb counts as one of the runs of what is long.
            if known and any(fit.seconds is None or fit.seconds > LONG for fit in known):
                continue
            # Bytes do not vary as seconds do.
            if known and (arguments.quick or cell.job.cost == "bytes"):
                continue
            run(number)
    return settings_of


def run_job(bench: Bench, job: Job) -> None:
    arguments = bench.arguments
    bench.say(f"{job.name}: {job.title}")
    made = bench.settings.made(job, arguments.quick, arguments.work, judged=True)
    for note in made.notes:
        bench.complain(f"{job.name}: {note}")
    cell = Cell(bench, job, made)
    with_ours = not arguments.peers_only
    subcommand = bench.ours.SUBCOMMANDS[job.ours]
    if with_ours and lacks(arguments.binary, subcommand):
        bench.complain(f"{job.name}: our command has no `{subcommand}` yet")
        with_ours = False
    peers = [peer for peer in job.peers if arguments.peers is None or peer.name in arguments.peers]
    try:
        for peer in peers:
            climb(cell, peer)
        settings_of = rounds(cell, peers, climb_ours(cell) if with_ours else None)
    finally:
        for driver in cell.drivers.values():
            driver.stop()
    for fit in cell.fits:
        cell.measure(fit)
    bench.raw.add(cell.fits)
    times = []
    names = [(OURS, job.threads)] if with_ours else []
    names += [(peer.name, peer.threads) for peer in peers]
    for name, counts in names:
        for threads in counts:
            fits = [fit for fit in cell.fits if fit.solver == name and fit.threads == threads]
            times.append(time_of(job.name, name, threads, settings_of.get(name, ""), fits))
    bench.times.add(times)
    bench.found += times


def write_setup(bench: Bench) -> None:
    """What the numbers depend on; no names of hosts, users or folders."""
    arguments = bench.arguments
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    versions = subprocess.run(
        [arguments.python, str(bench.here / "driver.py"), "--versions"], capture_output=True, text=True, check=False
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    text = [
        *arguments.note,
        f"processor: {model}",
        f"cores: {os.cpu_count()}; one thread (OMP_NUM_THREADS and the like) unless a row says two",
        f"memory: {memory:.0f} GiB",
        f"system: {platform.system()}",
        f"load before: {load}",
        f"accuracy: {bench.settings.ACCURACY:g} {bench.settings.OF}, rounds: {arguments.rounds}, not repeated above "
        f"{LONG:.0f} s" + (", quick sizes: no measurement" if arguments.quick else ""),
        versions.stdout.strip() or f"versions of the peers: unknown ({versions.stderr.strip()[-200:]})",
        *(f"NOTE: {complaint}" for complaint in bench.complaints),
    ]
    (arguments.out / "setup.txt").write_text("\n".join(text) + "\n", encoding="utf-8")


def listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def parsed(settings: ModuleType, words: str) -> argparse.Namespace:
    known = [job.name for job in settings.JOBS]
    parser = argparse.ArgumentParser(description=words.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="our command (or mock.py)")
    parser.add_argument("--out", type=Path, required=True, help="folder of the record")
    parser.add_argument("--work", type=Path, help="folder for generated data (default: beside the record)")
    parser.add_argument("--data", type=Path, help="folder of public data sets (default: EQUIPOISE_DATA)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--jobs", type=listed, help=", ".join(known))
    parser.add_argument("--peers", type=listed, help="only these peers")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: tries out the harness")
    parser.add_argument("--peers-only", action="store_true", help="leave ours out")
    parser.add_argument("--note", action="append", default=[], help="a line for setup.txt")
    arguments = parser.parse_args()
    unknown = set(arguments.jobs or ()) - set(known)
    if unknown:
        parser.error(f"unknown jobs: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    arguments.rounds = arguments.rounds or (1 if arguments.quick else ROUNDS)
    arguments.out = arguments.out.resolve()
    arguments.work = (arguments.work or arguments.out.parent / "work").resolve()
    arguments.binary = arguments.binary.resolve()
    if arguments.data is None and os.environ.get("EQUIPOISE_DATA"):
        arguments.data = Path(os.environ["EQUIPOISE_DATA"])
    if arguments.data is not None:
        # The drivers look for the data as we do.
        arguments.data = arguments.data.resolve()
        os.environ["EQUIPOISE_DATA"] = str(arguments.data)
    return arguments


def main(settings: ModuleType, ours: ModuleType, here: Path, words: str) -> None:
    """`settings` has JOBS, ACCURACY, OF, OURS and `made`; `ours` SUBCOMMANDS, TOLD, `words`, `answer`, `certified`."""
    arguments = parsed(settings, words)
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    raw, times = Table(arguments.out / "raw.csv", Fit), Table(arguments.out / "times.csv", Time)
    bench = Bench(settings, ours, here, arguments, raw, times)
    write_setup(bench)
    for job in settings.JOBS:
        if arguments.jobs is None or job.name in arguments.jobs:
            run_job(bench, job)
    write_setup(bench)
    costs = {job.name: job.cost for job in settings.JOBS}
    table = ratios(bench.found, here / "wanted.csv", costs)
    (arguments.out / "ratios.md").write_text(table, encoding="utf-8")
    print(table)
    bench.say(f"done; {len(bench.complaints)} complaints" + "".join(f"\n!! {text}" for text in bench.complaints))
