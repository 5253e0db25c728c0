"""The SVM benchmark: every solver, set and cost, cell by cell; the record grows, and a run may come in slices.

`cargo xtask bench svm` builds and installs what this needs and calls it. It runs without a network and without the
repository as well: it needs this folder, the two binaries, the data and a Python that has the peers.

    run.py --binary EQUIPOISE --lab EQUIPOISE_LAB --out RECORD [--data FOLDER] [--work FOLDER]
           [--parts grid,cold] [--only a7a,w8a] [--costs 1,10] [--climb | --time] [--slice SECONDS] [--quick]

First each peer climbs its ladder of settings in every cell (`--climb` does this alone; it counts seconds of the
processor, so it need not be quiet). Then the cells are timed (`--time` does this alone, where the climb is complete).
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is part of the repository

import others
import record
import settings
from cells import Loaded, Places, climb, find_reference, time_cell
from children import Failure
from record import END, References, Table

HERE = Path(__file__).resolve().parent


@dataclass
class Bench:
    """What was asked for, and the tables."""

    arguments: argparse.Namespace
    start: float = field(default_factory=time.monotonic)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        out = self.arguments.out
        self.references = References(Table(out / "references.csv", record.Reference))
        self.ladders = Table(out / "ladders.csv", record.Rung)
        self.raw = Table(out / "raw.csv", record.Fit)
        self.cold = Table(out / "cold.csv", record.Cold)
        self.growth = Table(out / "growth.csv", record.Growth)
        self.one_row = Table(out / "one_row.csv", record.OneRow)
        self.places = Places(self.arguments.lab, self.arguments.data, self.arguments.work)

    def say(self, text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        print(f"[{minutes:3d}:{seconds:02d}] {text}", flush=True)

    def complain(self, text: str) -> None:
        # The record is public: what a message says of this machine's folders is cut.
        for folder in (self.arguments.work, self.arguments.out, self.arguments.data, self.arguments.lab.parent, HERE):
            text = text.replace(f"{folder}/", "")
        self.complaints.append(text)
        self.say(f"!! {text}")

    def over(self) -> bool:
        """Whether the slice is over: no further cell is begun."""
        return self.arguments.slice is not None and time.monotonic() - self.start > self.arguments.slice


def wanted(bench: Bench, part: str, name: str) -> bool:
    only = bench.arguments.only
    if bench.arguments.quick and only is None:
        only = settings.QUICK.get(part, ())
    return only is None or name in only


def costs_of(bench: Bench, part: str) -> tuple[float, ...]:
    given = bench.arguments.costs
    return given if given is not None else settings.QUICK_COSTS if bench.arguments.quick else settings.costs(part)


def climbed(bench: Bench, part: str, name: str, cost: float) -> bool:
    ended = {
        rung.solver
        for rung in bench.ladders.rows
        if (rung.part, rung.set, rung.cost, rung.status) == (part, name, cost, END)
    }
    return all(peer.name in ended for peer in settings.PEERS[part])


def timed(bench: Bench, part: str, name: str, cost: float) -> bool:
    return any((fit.part, fit.set, fit.cost) == (part, name, cost) for fit in bench.raw.rows)


def cells(bench: Bench, part: str) -> None:
    """Climbs and times the cells of a part, a set after the other."""
    arguments = bench.arguments
    for data_set in settings.SETS[part]:
        name = data_set.name
        costs = costs_of(bench, part)
        to_climb = [cost for cost in costs if not climbed(bench, part, name, cost)] if not arguments.time else []
        known = [cost for cost in costs if not arguments.time or climbed(bench, part, name, cost)]
        to_time = [cost for cost in known if not timed(bench, part, name, cost)] if not arguments.climb else []
        if not wanted(bench, part, name) or not (to_climb or to_time) or bench.over():
            continue
        try:
            loaded = Loaded(part, data_set, bench.places, bench.say)
        except FileNotFoundError as error:
            bench.complain(f"set {name} is skipped: {error}")
            continue
        try:
            for cost in to_climb:
                if bench.over():
                    break
                find_reference(loaded, cost, bench.references, bench.complain)
                for peer in settings.PEERS[part]:
                    climb(loaded, cost, peer, bench.ladders, bench.references)
            for cost in to_time:
                if bench.over() or not climbed(bench, part, name, cost):
                    break
                most = 1 if arguments.quick else arguments.repeats
                time_cell(loaded, cost, bench.ladders, bench.references, bench.raw, most)
        except Failure as error:
            bench.complain(f"{name}: {error}")
        finally:
            loaded.stop()


def other_parts(bench: Bench) -> None:
    arguments = bench.arguments
    done = {row.set for row in bench.cold.rows}
    if "cold" in arguments.parts:
        if others.train_command() is None:
            bench.complain("LIBLINEAR's `train` is not installed (Debian: liblinear-tools): ours alone is run from cold")
        for data_set in settings.GRID:
            if data_set.name in done or not wanted(bench, "cold", data_set.name) or bench.over():
                continue
            try:
                repeats = 1 if arguments.quick else settings.COLD_REPEATS
                others.cold(arguments.binary, data_set, bench.places, bench.cold, repeats, bench.say)
            except FileNotFoundError as error:
                bench.complain(f"cold: set {data_set.name} is skipped: {error}")
    if "growth" in arguments.parts:
        have = {(row.axis, row.value) for row in bench.growth.rows}
        points = others.growth_points()
        for point in points[:2] if arguments.quick else points:
            if point[:2] not in have and not bench.over():
                others.growth(point, bench.places, bench.growth, 1 if arguments.quick else 3, bench.say)
    if "one-row" in arguments.parts:
        have = {row.problem for row in bench.one_row.rows}
        for name in settings.ONE_ROW[:1] if arguments.quick else settings.ONE_ROW:
            if name not in have and not bench.over():
                repeats = 1 if arguments.quick else settings.ONE_ROW_REPEATS
                others.one_row(arguments.binary, name, bench.places, bench.one_row, repeats, bench.say)


def write_setup(bench: Bench) -> None:
    """What the numbers depend on; no names of hosts, users or folders."""
    arguments = bench.arguments
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    versions = subprocess.run(
        [sys.executable, str(HERE / "driver.py"), "--versions"], capture_output=True, text=True, check=False
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    repeats = ", ".join(f"{count} below {bound:g} s" for bound, count in settings.REPEATS)
    text = [
        *arguments.note,
        f"processor: {model}",
        f"cores: {os.cpu_count()}; one thread unless said otherwise (OMP_NUM_THREADS and the like are 1)",
        f"memory: {memory:.0f} GiB",
        f"system: {platform.system()}",
        f"load at the last slice: {load}",
        f"limit of a peer's fit: {settings.LIMIT:g} s (generated: 20 s); repeats: {repeats}",
        versions.stdout.strip() or f"versions of the peers: unknown ({versions.stderr.strip()[-200:]})",
    ]
    path = arguments.out / "setup.txt"
    kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    notes = [line for line in kept if line.startswith("NOTE: ")]
    notes += [line for text in bench.complaints if (line := f"NOTE: {text}") not in notes]
    path.write_text("\n".join([*text, *notes]) + "\n", encoding="utf-8")


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="our command")
    parser.add_argument("--lab", type=Path, required=True, help="equipoise-lab")
    parser.add_argument("--out", type=Path, required=True, help="folder of the record")
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="EQUIPOISE_DATA")
    parser.add_argument("--work", type=Path, help="folder for generated data (default: beside the record)")
    parser.add_argument("--parts", type=words, default=settings.PARTS, help=", ".join(settings.PARTS))
    parser.add_argument("--only", type=words, help="these sets")
    parser.add_argument("--costs", type=lambda text: tuple(float(cost) for cost in text.split(",")))
    parser.add_argument("--repeats", type=int, default=9, help="at most so many runs of a fit")
    parser.add_argument("--climb", action="store_true", help="only the peers' climbs")
    parser.add_argument("--time", action="store_true", help="only timings, where the climb is complete")
    parser.add_argument("--slice", type=float, metavar="SECONDS", help="begin no cell after so many seconds")
    parser.add_argument("--quick", action="store_true", help="a few small sets, one cost, one run each")
    parser.add_argument("--note", action="append", default=[], help="a line for setup.txt")
    arguments = parser.parse_args()
    if unknown := [part for part in arguments.parts if part not in settings.PARTS]:
        parser.error(f"unknown part {', '.join(unknown)}; known: {', '.join(settings.PARTS)}")
    known = {data_set.name for sets in settings.SETS.values() for data_set in sets}
    if unknown := [name for name in arguments.only or () if name not in known]:
        parser.error(f"unknown set {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    arguments.out = arguments.out.resolve()
    arguments.work = (arguments.work or arguments.out.parent / "work").resolve()
    arguments.binary, arguments.lab = arguments.binary.resolve(), arguments.lab.resolve()
    return arguments


def main() -> None:
    arguments = parsed()
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    for part in ("grid", "svr", "classes"):
        if part in arguments.parts:
            cells(bench, part)
    if not arguments.climb:
        other_parts(bench)
    write_setup(bench)
    record.write(arguments.out / "times.csv", record.times(bench.raw.rows, bench.ladders.rows), record.Time)
    if subprocess.run([arguments.lab, "report-svm", arguments.out], check=False).returncode != 0:
        bench.complain("the report could not be written")
    state = "the slice is over; run again to go on" if bench.over() else "done"
    bench.say(f"{state}; {len(bench.complaints)} complaints" + "".join(f"\n!! {text}" for text in bench.complaints))


if __name__ == "__main__":
    main()
