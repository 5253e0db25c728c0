"""Generated families, or a collection of files, against the peers: who solves what, and how fast.

    run.py --binary EQUIPOISE --out RECORD [--work FOLDER] [--jobs scaled,lp] [--peers clarabel,osqp] [--limit 10] [--quick]
           [--collection FOLDER [--most 4100]]

A problem is solved where the answer misses rows and bounds by at most 1e-6 and its objective is within 1e-6 (1 + |best|)
of the best objective of a feasible answer; ours must also say `converged`. Writes raw.csv, summary.md, profile.svg.
"""

import argparse
import csv
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from collection import problems
from families import FAMILIES, Problem, cases
from profile_plot import draw
from solvers import PEERS, run_ours, run_peer, save

OURS = "equipoise"
ALLOWED = 1e-6
# What counts as feasible where the best objective is sought.
STRICT = 1e-7


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--jobs", default="", help="families whose names begin so")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--collection", type=Path, help="problems of files in place of generated ones")
    parser.add_argument("--most", type=int, default=4100, help="variables and rows of the largest of them")
    parser.add_argument("--note", action="append", default=[])
    return parser.parse_args()


def main() -> None:
    given = arguments()
    # One thread for everybody.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = "1"
    given.out.mkdir(parents=True, exist_ok=True)
    if given.work is not None:
        given.work.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=given.work))
    peers = [peer for peer in given.peers.split(",") if peer]
    solvers = [OURS, *peers]
    only = [begin for begin in given.jobs.split(",") if begin]
    measured = []
    for name, seed, problem in chosen(given, only):
        folder = work / f"{name}-{seed}"
        save(problem, folder)
        answers = []
        for solver in solvers:
            limit = given.limit
            run = run_ours(given.binary, folder, limit) if solver == OURS else run_peer(solver, folder, limit)
            seconds, status, x = run
            if x is not None:
                # Behind them are slacks.
                x = x[: problem.dimension]
            usable = x is not None and len(x) == problem.dimension and bool(np.isfinite(x).all())
            objective = problem.objective(x) if usable else np.nan
            miss = problem.miss(x) if usable else np.inf
            answers.append([name, seed, solver, seconds, status.replace("\n", " "), objective, miss])
        shutil.rmtree(folder)
        best = min((a[5] for a in answers if a[6] <= STRICT), default=np.nan)
        for a in answers:
            said = a[2] != OURS or a[4] == "converged"
            good = a[6] <= ALLOWED and a[5] - best <= ALLOWED * (1.0 + abs(best)) and a[3] <= given.limit
            measured.append([*a, best, int(said and good)])
        print("  ".join([f"{name} {seed}", *(f"{a[2]} {a[3]:.3f}s {a[4][:24]}" for a in answers)]), flush=True)
    shutil.rmtree(work)
    record(given, solvers, measured)


def chosen(given: argparse.Namespace, only: list[str]) -> Iterator[tuple[str, int, Problem]]:
    """Name, seed and problem of everything that is measured."""
    if given.collection is None:
        yield from cases(only, given.quick)
        return
    for name, problem in problems(given.collection, given.most):
        if not only or any(name.startswith(begin) for begin in only):
            yield name, 0, problem


def record(given: argparse.Namespace, solvers: list[str], measured: list[list]) -> None:
    with (given.out / "raw.csv").open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["family", "seed", "solver", "seconds", "status", "objective", "miss", "best", "solved"])
        table.writerows(measured)
    groups: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in measured:
        groups.setdefault(row[0], {}).setdefault(row[2], []).append((row[8], row[3]))
    head = ["family", "problems", *(f"{solver} solved" for solver in solvers), *(f"{s} median s" for s in solvers)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for family, found in groups.items():
        count = len(found[solvers[0]])
        solved = [str(sum(good for good, _ in found[solver])) for solver in solvers]
        times = [f"{np.median([seconds for _, seconds in found[solver]]):.3f}" for solver in solvers]
        lines.append("| " + " | ".join([family, str(count), *solved, *times]) + " |")
    whole = [sum(row[8] for row in measured if row[2] == solver) for solver in solvers]
    count = len(measured) // len(solvers)
    lines.append("| " + " | ".join(["all", str(count), *map(str, whole), *["" for _ in solvers]]) + " |")
    (given.out / "summary.md").write_text("\n".join(lines) + "\n")
    times = {
        solver: [row[3] if row[8] else np.inf for row in measured if row[2] == solver] for solver in solvers
    }
    (given.out / "profile.svg").write_text(draw(times))
    setup = [*given.note, f"python: {platform.python_version()}", f"limit: {given.limit} s"]
    what = f"families: {len(FAMILIES)}"
    if given.collection is not None:
        what = f"collection: {given.collection.name}, up to {given.most} variables and rows"
    setup += [what, f"jobs: {given.jobs or 'all'}", f"quick: {given.quick}"]
    setup += [f"load: {os.getloadavg()}", "threads: 1"]
    (given.out / "setup.txt").write_text("\n".join(setup) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
