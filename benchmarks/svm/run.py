"""The SVM benchmark: every solver, set and cost in one go, on one thread.

`cargo xtask bench svm` builds and installs what this needs and calls it. It runs without a network and without the
repository as well: it needs this folder, the two binaries, the data and a Python that has the peers.

    run.py --binary EQUIPOISE --lab EQUIPOISE_LAB --out RECORD [--data FOLDER] [--work FOLDER] [--python PYTHON]
           [--sets a7a,w8a] [--peers libsvm,linearsvc] [--quick] [--note "commit: ..."]...

One cell is a set and a cost. In each cell ours is run to every gap, and each peer climbs its ladder of settings
until the tightest accuracy, the limit or the end of the ladder. Then the quickest setting for each accuracy is
timed again, round by round, all solvers in turn.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True  # this folder is part of the repository

import settings
from children import Driver, Evaluation, Failure, OverLimit, ours
from prepare import mirrored, prepare
from record import OURS, Fit, References, Table, Time, fastest, time_of

HERE = Path(__file__).resolve().parent
# The paper's own rule, uniform random pairs: one cell, one accuracy.
PAIRS = f"{OURS} pairs"
PAIRS_CELL = ("a7a", 1.0, 1e-4)


@dataclass
class Bench:
    """Where things are, and what has been found so far."""

    arguments: argparse.Namespace
    references: References
    raw: Table
    times: Table
    peers: list[settings.Peer]
    complaints: list[str] = field(default_factory=list)
    start: float = field(default_factory=time.monotonic)

    def say(self, text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        print(f"[{minutes:3d}:{seconds:02d}] {text}", flush=True)

    def complain(self, text: str) -> None:
        # The record is public: what a message says of this machine's folders is cut.
        for folder in (self.arguments.work, self.arguments.out, self.arguments.data, self.arguments.lab.parent, HERE):
            text = text.replace(f"{folder}/", "")
        self.complaints.append(text)
        self.say(f"!! {text}")


@dataclass
class Cell:
    """One set at one cost."""

    bench: Bench
    data_set: settings.DataSet
    cost: float
    train: Path
    evaluation: Evaluation
    drivers: dict[str, Driver]
    fits: list[Fit] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.data_set.name} C={self.cost:g}"

    def model(self, suffix: str) -> Path:
        return self.bench.arguments.work / f"model.{suffix}"

    def judge(self, fit: Fit, model: Path) -> dict:
        """Primal value and accuracy, outside the clock; the value is a candidate for the best one seen."""
        value = self.evaluation.value(model, self.cost)
        fit.primal = value[fit.problem]
        for problem in ("free", "penalised"):
            self.bench.references.see(fit.set, fit.cost, problem, value[problem])
        on = "train" if value["test_accuracy"] is None else "test"
        fit.accuracy, fit.accuracy_on = value[f"{on}_accuracy"], on
        return value

    def note(self, fit: Fit) -> Fit:
        self.fits.append(fit)
        seconds = "-" if fit.seconds is None else f"{fit.seconds:.3f} s"
        measure = "" if fit.measure is None else f"  {fit.measure:.1e}"
        self.bench.say(f"{self.name}  {fit.solver} {fit.setting}  {seconds}{measure}  {fit.status}")
        return fit

    def run_ours(self, gap: float, number: int, method: str | None = None) -> Fit:
        solver = PAIRS if method else OURS
        fit = Fit(self.data_set.name, self.cost, solver, "free", f"gap={gap:g}", number)
        model = self.model("json")
        try:
            report = ours(
                self.bench.arguments.binary, self.train, self.cost, gap, number, model, settings.LIMIT, method
            )
            fit.seconds, fit.measure = report["seconds_solve"], report["relative_gap"]
            fit.peak_memory, fit.status = report.get("peak_memory"), report["status"]
            self.judge(fit, model)
            if abs(fit.primal - report["primal"]) > 1e-7 * abs(fit.primal):
                self.bench.complain(f"{self.name}: we report the primal {report['primal']!r}, it is {fit.primal!r}")
        except OverLimit as error:
            fit.status = f"over the limit: {error}"
        except (Failure, KeyError) as error:
            fit.status = f"failed: {error}"
            self.bench.complain(f"{self.name}: {solver}: {error}")
        return self.note(fit)

    def run_peer(self, peer: settings.Peer, setting: dict, number: int) -> Fit:
        fit = Fit(self.data_set.name, self.cost, peer.name, peer.problem, label(setting), number)
        model = self.model("npy")
        try:
            answer = self.drivers[peer.name].fit(self.cost, setting, model, settings.LIMIT)
            fit.seconds, fit.peak_memory = answer["seconds"], answer["peak_memory"]
            self.judge(fit, model)
            fit.measure = self.bench.references.suboptimality(fit)
        except OverLimit as error:
            fit.status = f"over the limit: {error}"
        except Failure as error:
            fit.status = f"failed: {error}"
            self.bench.complain(f"{self.name}: {peer.name} {fit.setting}: {error}")
        return self.note(fit)


def label(setting: dict) -> str:
    words = ((key, f"{value:g}" if isinstance(value, float) else str(value)) for key, value in setting.items())
    return " ".join(f"{key}={value}" for key, value in words)


def probe_ours(cell: Cell) -> None:
    gaps = [*settings.ACCURACIES, settings.TIGHT]
    for gap in gaps:
        if cell.run_ours(gap, 1).seconds is None:
            return


def find_reference(cell: Cell) -> None:
    """The optimum of the problem with a penalised bias, from our own solver on mirrored rows; kept between runs."""
    bench, name = cell.bench, cell.data_set.name
    if f"{name} {cell.cost:g}" in bench.arguments.known or not any(p.problem == "penalised" for p in bench.peers):
        return
    arguments = bench.arguments
    rows = mirrored(cell.train, name, arguments.lab, arguments.work)
    try:
        report = ours(
            arguments.binary, rows, cell.cost / 2, settings.TIGHT, 1, cell.model("json"), 5 * settings.LIMIT, None
        )
    except Failure as error:
        bench.complain(f"{cell.name}: no reference for the problem with a penalised bias: {error}")
        return
    # The value at a bias of 0, where it is lowest, is at most this one.
    bench.references.see(name, cell.cost, "penalised", report["primal"])
    bench.say(f"{cell.name}  reference, bias penalised: {report['primal']:.9g}, gap {report['relative_gap']:.1e}")


def climb(cell: Cell, peer: settings.Peer) -> None:
    """Up the ladder until the tightest accuracy; after a long fit every second rung is left out."""
    start, skip = time.monotonic(), False
    for setting in peer.ladder:
        if skip:
            skip = False
            continue
        if time.monotonic() - start > settings.CLIMB:
            # Not the same as "not reached by a fit": it has to be seen in the record.
            cell.bench.complain(
                f"{cell.name}: {peer.name}: {settings.CLIMB:.0f} s of climbing are over; not tried from {label(setting)} on"
            )
            return
        fit = cell.run_peer(peer, setting, 1)
        if fit.seconds is None or fit.measure <= min(settings.ACCURACIES):
            return
        skip = peer.skips and fit.seconds > settings.LONG


def rounds(cell: Cell) -> None:
    """Times again, in turn, the settings that the probe found; long ones are not repeated."""
    bench, again = cell.bench, []
    for gap in (*settings.ACCURACIES, settings.TIGHT):
        again += [(cell.run_ours, (gap,), fit.seconds) for fit in of(cell, OURS) if fit.setting == f"gap={gap:g}"]
    again += [(cell.run_ours, (PAIRS_CELL[2],), fit.seconds, "pairs") for fit in of(cell, PAIRS)]
    for peer in bench.peers:
        found = [fastest(of(cell, peer.name), accuracy) for accuracy in peer.repeated]
        names = {fit.setting: fit.seconds for fit in found if fit is not None}
        for setting in peer.ladder:
            if label(setting) in names:
                again.append((cell.run_peer, (peer, setting), names[label(setting)]))
    again = [job for job in again if job[2] is not None and job[2] <= settings.LONG]
    number = bench.arguments.rounds
    bench.say(f"{cell.name}  {number - 1} more rounds, about {(number - 1) * sum(job[2] for job in again):.0f} s")
    for turn in range(2, number + 1):
        first = turn % len(again) if again else 0
        for run, what, _, *method in again[first:] + again[:first]:
            run(*what, turn, *method)


def of(cell: Cell, solver: str) -> list[Fit]:
    return [fit for fit in cell.fits if fit.solver == solver and fit.seconds is not None]


def close(cell: Cell) -> None:
    """Measures against the final reference, and the rows of both tables."""
    bench = cell.bench
    for fit in cell.fits:
        if not fit.solver.startswith(OURS) and fit.primal is not None:
            fit.measure = bench.references.suboptimality(fit)
    bench.raw.add(cell.fits)
    times = []
    for accuracy in (*settings.ACCURACIES, settings.TIGHT):
        empty = Time(cell.data_set.name, cell.cost, OURS, "free", accuracy)
        chosen = next((fit for fit in of(cell, OURS) if fit.setting == f"gap={accuracy:g}"), None)
        times.append(time_of(of(cell, OURS), accuracy, chosen, empty))
    if (cell.data_set.name, cell.cost) == PAIRS_CELL[:2]:
        empty = Time(cell.data_set.name, cell.cost, PAIRS, "free", PAIRS_CELL[2])
        times.append(time_of(of(cell, PAIRS), PAIRS_CELL[2], next(iter(of(cell, PAIRS)), None), empty))
    for peer in bench.peers:
        if peer.name in cell.drivers:
            for accuracy in settings.ACCURACIES:
                empty = Time(cell.data_set.name, cell.cost, peer.name, peer.problem, accuracy)
                fits = of(cell, peer.name)
                probes = [fit for fit in fits if fit.round == 1]
                times.append(time_of(fits, accuracy, fastest(probes, accuracy), empty))
    bench.times.add(times)


def run_set(bench: Bench, data_set: settings.DataSet) -> None:
    arguments = bench.arguments
    try:
        train, test = prepare(data_set, arguments.data, arguments.lab, arguments.work)
    except FileNotFoundError as error:
        bench.complain(f"set {data_set.name} is skipped: {error}")
        return
    left_out = dict(data_set.without)
    for name, reason in left_out.items():
        bench.say(f"{data_set.name}: {name} is left out: {reason}")
    cache = arguments.work / f"{data_set.name}.npz"
    peers = [peer for peer in bench.peers if peer.name not in left_out]
    drivers = {peer.name: Driver(arguments.python, peer.name, train, cache) for peer in peers}
    evaluation = Evaluation(arguments.lab, train, test)
    try:
        for cost in arguments.costs:
            cell = Cell(bench, data_set, cost, train, evaluation, drivers)
            probe_ours(cell)
            if (data_set.name, cost) == PAIRS_CELL[:2]:
                cell.run_ours(PAIRS_CELL[2], 1, "pairs")
            find_reference(cell)
            for peer in peers:
                climb(cell, peer)
            rounds(cell)
            close(cell)
    finally:
        evaluation.stop()
        for driver in drivers.values():
            driver.stop()


def parse_speed(bench: Bench) -> None:
    """Seconds to read two texts: our reader, scikit-learn's, and `wc -w` as a measure of the text itself."""
    arguments = bench.arguments
    with (arguments.out / "parse.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "bytes", "reader", "threads", "seconds"])
        for data_set in settings.sets(("w8a", "sector")):
            try:
                text, _ = prepare(data_set, arguments.data, arguments.lab, arguments.work)
            except FileNotFoundError as error:
                bench.complain(f"parsing of {data_set.name} is skipped: {error}")
                continue
            readers = [
                ("equipoise", 1, [str(arguments.lab), "parse-speed", str(text), "--threads", "1"]),
                ("equipoise", 2, [str(arguments.lab), "parse-speed", str(text), "--threads", "2"]),
                ("scikit-learn", 1, [arguments.python, str(HERE / "driver.py"), "--parse", str(text)]),
                ("wc -w", 1, None),
            ]
            for reader, threads, command in readers:
                try:
                    seconds = count_words(text) if command is None else ask_seconds(command)
                except subprocess.CalledProcessError as error:
                    bench.complain(f"parsing of {data_set.name} by {reader}: exit status {error.returncode}")
                    continue
                except (OSError, ValueError, KeyError) as error:
                    bench.complain(f"parsing of {data_set.name} by {reader}: {error}")
                    continue
                bench.say(f"parsing {data_set.name}: {reader}, {threads} threads: {seconds:.4f} s")
                writer.writerow([data_set.name, text.stat().st_size, reader, threads, f"{seconds:.6g}"])


def ask_seconds(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["seconds"])


def count_words(text: Path) -> float:
    """Median of five; the C locale, in which `wc` is fastest."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(
            ["wc", "-w", str(text)], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"}
        )
        times.append(time.perf_counter() - start)
    return sorted(times)[2]


def write_setup(arguments: argparse.Namespace, complaints: list[str]) -> None:
    """What the numbers depend on; no names of hosts, users or folders."""
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    versions = subprocess.run(
        [arguments.python, str(HERE / "driver.py"), "--versions"], capture_output=True, text=True, check=False
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    text = [
        *arguments.note,
        f"processor: {model}",
        f"cores: {os.cpu_count()}, threads used: 1 (OMP_NUM_THREADS and the like are set to 1)",
        f"memory: {memory:.0f} GiB",
        f"system: {platform.system()}",
        f"load before: {load}",
        f"rounds: {arguments.rounds}, limit of a fit: {settings.LIMIT:.0f} s, not repeated above {settings.LONG:.0f} s",
        versions.stdout.strip() or f"versions of the peers: unknown ({versions.stderr.strip()[-200:]})",
        *(f"NOTE: {complaint}" for complaint in complaints),
    ]
    (arguments.out / "setup.txt").write_text("\n".join(text) + "\n", encoding="utf-8")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="our command (or mock.py)")
    parser.add_argument("--lab", type=Path, required=True, help="equipoise-lab")
    parser.add_argument("--out", type=Path, required=True, help="folder of the record")
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="EQUIPOISE_DATA")
    parser.add_argument("--work", type=Path, help="folder for generated data (default: beside the record)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--sets", type=lambda text: tuple(text.split(",")))
    parser.add_argument("--peers", type=lambda text: tuple(text.split(",")))
    parser.add_argument("--costs", type=lambda text: tuple(float(cost) for cost in text.split(",")))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="two small sets, one cost, one round")
    parser.add_argument("--no-parse", action="store_true", help="leave out the speed of reading")
    parser.add_argument("--note", action="append", default=[], help="a line for setup.txt")
    arguments = parser.parse_args()
    arguments.sets = arguments.sets or (settings.QUICK_SETS if arguments.quick else None)
    arguments.costs = arguments.costs or (settings.QUICK_COSTS if arguments.quick else settings.COSTS)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else settings.ROUNDS)
    arguments.out = arguments.out.resolve()
    arguments.work = (arguments.work or arguments.out.parent / "work").resolve()
    arguments.binary, arguments.lab = arguments.binary.resolve(), arguments.lab.resolve()
    return arguments


def main() -> None:
    arguments = parsed()
    data_sets = settings.sets(arguments.sets)
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    stored = References(HERE / "references.csv")
    arguments.known = {f"{name} {cost:g}" for name, cost, problem in stored.lowest if problem == "penalised"}
    peers = [peer for peer in settings.PEERS if arguments.peers is None or peer.name in arguments.peers]
    raw = Table(arguments.out / "raw.csv", Fit)
    times = Table(arguments.out / "times.csv", Time)
    bench = Bench(arguments, stored, raw, times, peers)
    share = len(arguments.costs) / len(settings.COSTS) * (0.3 if arguments.rounds == 1 else 1.0)
    minutes = share * sum(data_set.minutes for data_set in data_sets)
    bench.say(f"{', '.join(data_set.name for data_set in data_sets)}: about {minutes:.0f} minutes")
    write_setup(arguments, [])
    for data_set in data_sets:
        run_set(bench, data_set)
    if not arguments.no_parse:
        parse_speed(bench)
    write_setup(arguments, bench.complaints)
    bench.references.write(arguments.out / "references.csv")
    subprocess.run(
        [arguments.lab, "report-svm", arguments.out, "--wanted", HERE / "wanted.csv"], check=True
    )
    bench.say(f"done; {len(bench.complaints)} complaints" + "".join(f"\n!! {text}" for text in bench.complaints))


if __name__ == "__main__":
    main()
