"""What is not a cell: commands from cold, growth, and one-row problems of the general command."""

import json
import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

import settings
from cells import Places
from children import Failure, OverLimit, driver, from_cold, peak_memory, server
from data import planted, prepare
from record import OURS, Cold, Growth, OneRow, Table

# Debian's name of LIBLINEAR's `train`, and its own.
TRAIN = ("liblinear-train", "train")
LIMIT = 60.0


def train_command() -> str | None:
    return next((found for name in TRAIN if (found := shutil.which(name))), None)


def cold(binary: Path, data_set: settings.DataSet, places: Places, table: Table, repeats: int, say: Callable) -> None:
    """Process start, reading, training, model written: ours and `train`, in turn."""
    text = prepare(data_set, places.data, places.lab, places.work)
    model = places.work / "model.cold"
    cost, gap = repr(settings.COLD_COST), repr(settings.COLD_GAP)
    base = [str(binary), "svm", "train", str(text), "--cost", cost, "--gap", gap, "--quiet", "--model", str(model)]
    commands = {OURS: [*base, "--threads", "1"], f"{OURS} 2 threads": [*base, "--threads", "2"]}
    if train := train_command():
        commands["train"] = [train, "-s", "3", "-B", "1", "-c", cost, "-q", str(text), str(model)]
    rows, long = [], set()
    for number in range(1, repeats + 1):
        for solver, command in commands.items():
            if solver in long:
                continue
            model.unlink(missing_ok=True)
            try:
                # Memory is asked for in a run of its own, whose start is not timed.
                memory = peak_memory(command, LIMIT) if number == 1 else None
                model.unlink(missing_ok=True)
                seconds, status = from_cold(command, LIMIT)
                rows.append(Cold(data_set.name, solver, number, seconds, memory, "ok" if status == 0 else f"exit {status}"))
            except OverLimit as error:
                rows.append(Cold(data_set.name, solver, number, None, None, str(error)))
                seconds = LIMIT
            if seconds > 2.0:
                long.add(solver)
    table.add(rows)
    for solver in commands:
        found = [row.seconds for row in rows if row.solver == solver and row.seconds is not None]
        say(f"cold {data_set.name}: {solver} {statistics.median(found):.4f} s" if found else f"cold {data_set.name}: {solver} -")


def growth_points() -> list[tuple[str, int, dict[str, int]]]:
    """Axis, value, and the parameters of the generated set."""
    base = {"test-rows": 1, "columns": 1000, "seed": 1}
    rows = [("rows", rows, {**base, "rows": rows, "non-zeros": 20}) for rows in settings.GROWTH_ROWS]
    count = settings.GROWTH_NON_ZEROS_ROWS
    wide = [("non-zeros", count * k, {**base, "rows": count, "non-zeros": k}) for k in settings.GROWTH_NON_ZEROS]
    return rows + wide


def growth(point: tuple[str, int, dict[str, int]], places: Places, table: Table, most: int, say: Callable) -> None:
    """Our seconds and a peer's at one size."""
    axis, value, parameters = point
    name = f"growth-{parameters['rows']}-{parameters['non-zeros']}"
    text = planted(parameters, places.lab, places.work / f"{name}.txt")
    peer, setting = settings.GROWTH_PEER
    kind = next(entry.kind for entry in settings.PEERS["grid"] if entry.name == peer)
    ours, theirs = server(places.lab, text), driver(kind, text, places.work / f"{name}.npz")
    model = str(places.work / "model.npy")
    request = {
        "kind": "svc", "cost": settings.GROWTH_COST, "gap": settings.GROWTH_GAP, "threads": 1, "limit": LIMIT,
        "penalised": False, "model": None,
    }  # fmt: skip
    found: dict[str, list[float]] = {OURS: [], peer: []}
    try:
        for number in range(1, 4):
            for solver, ask in (
                (OURS, lambda seed=number: ours.ask({**request, "seed": seed}, 2 * LIMIT)),
                (peer, lambda: theirs.ask({"cost": settings.GROWTH_COST, "setting": setting, "model": model}, LIMIT)),
            ):
                times = found[solver]
                # None: over the limit, once and for all.
                if None in times or len(times) >= min(most, settings.repeats(max(times, default=0.0))):
                    continue
                try:
                    answer = ask()
                    is_met = solver != OURS or answer["status"] == "converged"
                    times.append(answer["seconds"] if is_met else None)
                except Failure:
                    times.append(None)
    finally:
        ours.stop()
        theirs.stop()
    rows = []
    for solver, times in found.items():
        known = [seconds for seconds in times if seconds is not None]
        rows.append(Growth(axis, value, solver, statistics.median(known) if known else None, len(known)))
    table.add(rows)
    say(f"growth {axis} {value}: " + "  ".join(f"{row.solver} {row.seconds}" for row in rows))


def one_row_problem(name: str, folder: Path) -> Path:
    """A problem file of fixed seed, with its data beside it."""
    toml = folder / f"{name}.toml"
    if toml.exists():
        return toml
    random = np.random.Generator(np.random.PCG64(7))

    def array(key: str, values: np.ndarray) -> str:
        np.save(folder / f"{name}-{key}.npy", values)
        return f'"{name}-{key}.npy"'

    if name == "zero-sum-lasso":
        rows, columns = 500, 2000
        matrix = random.standard_normal((rows, columns))
        planted = np.zeros(columns)
        planted[:20] = random.standard_normal(20)
        planted[:20] -= planted[:20].mean()
        target = matrix @ planted + 0.5 * random.standard_normal(rows)
        weight = 0.1 * float(np.abs(matrix.T @ target).max())
        body = [
            "[smooth]", 'kind = "least-squares"', f"matrix = {array('matrix', matrix)}",
            f"target = {array('target', target)}", "[separable]", 'kind = "l1"', f"weight = {weight!r}",
            "[coupling]", 'kind = "sum"', "rhs = 0.0",
        ]  # fmt: skip
    elif name == "simplex-regression":
        rows, columns = 10_000, 1000
        matrix = random.standard_normal((rows, columns))
        shares = np.zeros(columns)
        shares[:50] = random.dirichlet(np.ones(50))
        target = matrix @ shares + 0.1 * random.standard_normal(rows)
        body = [
            "[smooth]", 'kind = "least-squares"', f"matrix = {array('matrix', matrix)}",
            f"target = {array('target', target)}", "[separable]", 'kind = "non-negative"',
            "[coupling]", 'kind = "sum"', "rhs = 1.0",
        ]  # fmt: skip
    else:
        count = 1_000_000
        wishes = random.lognormal(size=count)
        body = [
            "[smooth]", 'kind = "distance"', f"target = {array('target', wishes)}",
            f"weight = {array('weight', random.uniform(0.5, 2.0, count))}", "[separable]", 'kind = "box"',
            "lower = 0.0", f"upper = {array('upper', 2.0 * wishes)}", "[coupling]", 'kind = "sum"',
            f"rhs = {0.7 * float(wishes.sum())!r}",
        ]  # fmt: skip
    part = toml.with_suffix(".part")
    part.write_text("\n".join(body) + "\n", encoding="utf-8")
    part.replace(toml)
    return toml


def one_row(binary: Path, name: str, places: Places, table: Table, repeats: int, say: Callable) -> None:
    """The general command, to its default tolerance, one thread."""
    toml = one_row_problem(name, places.work)
    rows = []
    for number in range(1, repeats + 1):
        command = [str(binary), "solve", str(toml), "--json", "--threads", "1", "--time-limit", "60"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            report = json.loads(done.stdout)
            seconds, measure = report["seconds"], report["duality_gap"]
            rows.append(OneRow(name, number, seconds, measure, report["status"]))
        except (json.JSONDecodeError, KeyError) as error:
            rows.append(OneRow(name, number, None, None, f"failed: {error} {done.stderr.strip()[-200:]}"))
            break
        if seconds > 2.0:
            break
    table.add(rows)
    say(f"one row {name}: " + "  ".join(f"{row.seconds} s {row.status}" for row in rows))
