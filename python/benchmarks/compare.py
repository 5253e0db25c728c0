"""The same problems by other libraries, in one run: seconds, and how far each answer is from the least objective.

    python benchmarks/compare.py [--repeat 5] [--jobs a7a,svr] [--record FOLDER]
    python benchmarks/compare.py --page FOLDER

Every library gets the data in the form it likes best, already in memory; the clocks run around `fit`: seconds that went by, and seconds of the processor,
all threads of the process together. Each has one thread, so that on a quiet machine the two are the same; on one that others use, too, the second tells
the libraries apart. They take turns, round after round, and medians are given; what took longer than 5 s of the processor is not repeated. Objectives are evaluated here, in NumPy, from the coefficients alone, and compared with
the proven bound of equipoise. Libraries that are not installed are left out, and named. LinearSVC and LinearSVR of scikit-learn penalise the bias, so
that they solve another problem: their distance says how much that matters. Data files are those of EQUIPOISE_DATA; generated data of the same size
stand in where it is not set. `--record` writes every time into FOLDER (a job that is there already is renewed), `--page` makes
docs/pages/comparison.md and its plot of such a record.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

# Before NumPy reads them.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import sklearn  # noqa: E402
from sklearn.datasets import load_svmlight_file, make_regression  # noqa: E402

import equipoise as eq  # noqa: E402

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "pages"
# Seconds beyond which a fit is not repeated.
LONG = 5.0
FIELDS = ("problem", "who", "round", "seconds", "cpu_seconds", "above")

Fit = Callable[[], tuple[np.ndarray, float]]


@dataclass
class Job:
    """A problem: who can fit it, and what an answer is worth."""

    name: str
    fits: dict[str, Fit]
    objective: Callable[[np.ndarray, float], float]
    bound: Callable[[], float]
    note: str = ""


def linear(model: Any) -> tuple[np.ndarray, float]:
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def classification(name: str, rows: int, columns: int) -> tuple[Any, np.ndarray]:
    folder = os.environ.get("EQUIPOISE_DATA")
    file = Path(folder) / "classification" / name if folder else None
    if file is not None and file.exists():
        x, y = load_svmlight_file(str(file))
        # scikit-learn's machines refuse indices of 64 bits.
        short = sp.csr_matrix((x.data, x.indices.astype(np.int32), x.indptr.astype(np.int32)), shape=x.shape)
        return short, np.where(y > 0, 1.0, -1.0)
    rng = np.random.default_rng(0)
    x = sp.random_array((rows, columns), density=0.1, format="csr", rng=rng, data_sampler=lambda size: np.ones(size))
    return sp.csr_matrix(x), np.where(x @ rng.normal(size=columns) + rng.normal(size=rows) > 1.0, 1.0, -1.0)


def svm(name: str, rows: int, columns: int, C: float) -> Job:
    from sklearn.svm import SVC, LinearSVC

    x, y = classification(name, rows, columns)
    fits: dict[str, Fit] = {
        "equipoise.LinearSVC": lambda: linear(eq.LinearSVC(C=C, loss="hinge", tol=1e-6).fit(x, y)),
        "sklearn LinearSVC (bias penalised)": lambda: linear(LinearSVC(C=C, loss="hinge", max_iter=100_000).fit(x, y)),
        "sklearn SVC(kernel='linear')": lambda: _svc(SVC(kernel="linear", C=C, cache_size=1000).fit(x, y)),
    }
    try:
        from rehline import plqERM_Ridge

        dense = np.column_stack([x.toarray(), np.ones(x.shape[0])])

        def rehline() -> tuple[np.ndarray, float]:
            # A bias as a column of ones, as its documentation has it: penalised, too.
            model = plqERM_Ridge(loss={"name": "svm"}, C=C, max_iter=100_000, tol=1e-6)
            model.fit(X=dense, y=y)
            return model.coef_[:-1], float(model.coef_[-1])

        fits["ReHLine (bias penalised)"] = rehline
    except ImportError:
        print("rehline is not installed: left out")

    def objective(w: np.ndarray, b: float) -> float:
        return 0.5 * float(w @ w) + C * float(np.maximum(1 - y * (x @ w + b), 0).sum())

    return Job(f"{name}, hinge, C = {C:g}", fits, objective, lambda: eq.LinearSVC(C=C, loss="hinge", tol=1e-8).fit(x, y).certificate_.bound)


def _svc(model: Any) -> tuple[np.ndarray, float]:
    coefficients = model.coef_
    return (coefficients.toarray() if sp.issparse(coefficients) else coefficients).ravel(), float(model.intercept_[0])


def svr() -> Job:
    from sklearn.svm import SVR, LinearSVR

    x, y = make_regression(n_samples=4000, n_features=40, noise=20.0, random_state=0)
    y = y / y.std() + 3.0
    C, epsilon = 1.0, 0.1
    fits: dict[str, Fit] = {
        "equipoise.LinearSVR": lambda: linear(eq.LinearSVR(C=C, epsilon=epsilon, tol=1e-6).fit(x, y)),
        "sklearn LinearSVR (bias penalised)": lambda: linear(LinearSVR(C=C, epsilon=epsilon, max_iter=100_000).fit(x, y)),
        "sklearn SVR(kernel='linear')": lambda: linear(SVR(kernel="linear", C=C, epsilon=epsilon, cache_size=1000).fit(x, y)),
    }

    def objective(w: np.ndarray, b: float) -> float:
        return 0.5 * float(w @ w) + C * float(np.maximum(np.abs(y - x @ w - b) - epsilon, 0).sum())

    return Job("SVR, 4000 x 40", fits, objective, lambda: eq.LinearSVR(C=C, epsilon=epsilon, tol=1e-8).fit(x, y).certificate_.bound)


def simplex() -> Job:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 200))
    y = x @ rng.dirichlet(np.full(200, 0.1)) + 0.2 * rng.normal(size=2000)
    fits: dict[str, Fit] = {"equipoise.SimplexRegressor": lambda: linear(eq.SimplexRegressor(tol=1e-9).fit(x, y))}
    try:
        from sklego.linear_model import ProbWeightRegression

        fits["scikit-lego ProbWeightRegression"] = lambda: (ProbWeightRegression(non_negative=True).fit(x, y).coef_, 0.0)
    except ImportError:
        print("scikit-lego is not installed: left out")

    def objective(w: np.ndarray, _: float) -> float:
        # Weights beside the simplex are put on it first: none may be better by breaking the rules.
        shares = np.maximum(w, 0.0) / np.maximum(w, 0.0).sum()
        return 0.5 * float(np.sum((x @ shares - y) ** 2))

    return Job("weights that sum to 1, 2000 x 200", fits, objective, lambda: eq.SimplexRegressor(tol=1e-12).fit(x, y).certificate_.bound)


def zero_sum() -> Job:
    rng = np.random.default_rng(0)
    x = np.log(rng.dirichlet(np.ones(500), size=200) + 1e-6)
    truth = np.zeros(500)
    truth[:6] = [1, -1, 0.5, -0.5, 0.8, -0.8]
    y = x @ truth + 0.1 * rng.normal(size=200)
    x, y = x - x.mean(axis=0), y - y.mean()
    lam = 0.05 * float(np.abs(x.T @ y - (x.T @ y).mean()).max())
    alpha = lam / len(y)
    make = lambda tol: eq.ZeroSumLasso(alpha, fit_intercept=False, tol=tol).fit(x, y)  # noqa: E731
    fits: dict[str, Fit] = {"equipoise.ZeroSumLasso": lambda: (make(1e-6).coef_, 0.0)}
    try:
        np.infty = np.inf  # c-lasso 1.0.11 was written for an older NumPy
        from classo import Classo

        # Its objective is ||y - X b||^2 + lam ||b||_1: twice ours.
        fits["c-lasso"] = lambda: (Classo((x, np.ones((1, 500)), y), 2 * lam, typ="R1", meth="Path-Alg", true_lam=True), 0.0)
    except ImportError:
        print("c-lasso is not installed: left out")

    def objective(b: np.ndarray, _: float) -> float:
        b = b - b.sum() / len(b) * (b != 0) * len(b) / max(np.count_nonzero(b), 1)
        return 0.5 * float(np.sum((y - x @ b) ** 2)) + lam * float(np.abs(b).sum())

    return Job("zero-sum lasso, 200 x 500", fits, objective, lambda: make(1e-10).certificate_.bound)


def rounds(job: Job, repeat: int) -> list[dict[str, Any]]:
    """Every fit of a job in turn, `repeat` times; seconds, and how far above the least objective each answer is."""
    bound, rows, over = job.bound(), [], set()
    for number in range(repeat):
        for name, fit in job.fits.items():
            if name in over:
                continue
            row = {"problem": job.name, "who": name, "round": number, "seconds": "", "cpu_seconds": "", "above": ""}
            rows.append(row)
            begin, begin_cpu = time.perf_counter(), time.process_time()
            try:
                w, b = fit()
            except Exception as error:  # noqa: BLE001 - another library's trouble is a line of the table
                print(f"{job.name:36} {name:40} failed: {type(error).__name__}: {str(error)[:60]}", flush=True)
                over.add(name)
                continue
            seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
            above = (job.objective(w, b) - bound) / abs(bound)
            row.update(seconds=f"{seconds:.6f}", cpu_seconds=f"{cpu:.6f}", above=f"{max(above, 0.0):.3e}")
            print(f"{job.name:36} {name:40} {seconds:9.4f} s   {cpu:9.4f} s   {above:9.2e}", flush=True)
            if cpu > LONG:
                over.add(name)
    return rows


def record(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Adds the rows to a record, in place of those of the same problems."""
    folder.mkdir(parents=True, exist_ok=True)
    file, renewed = folder / "raw.csv", {row["problem"] for row in rows}
    kept = [row for row in read(folder) if row["problem"] not in renewed] if file.exists() else []
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + rows)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    words = {
        "python": platform.python_version(), "equipoise": eq.__version__, "numpy": np.__version__, "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__, **{name: version_of(name) for name in ("rehline", "scikit-lego", "c-lasso")},
        "system": f"{platform.system()} {platform.machine()}", "cores": f"{os.cpu_count()}; one thread each", "load": load,
    }
    (folder / "setup.txt").write_text("".join(f"{key}: {value}\n" for key, value in words.items()), encoding="utf-8")


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def read(folder: Path) -> list[dict[str, str]]:
    with (folder / "raw.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def medians(rows: list[dict[str, str]]) -> list[tuple[str, str, float | None, float | None]]:
    """Problem, who, median of the seconds of the processor, and distance; None where a library failed."""
    found = []
    for problem, who in dict.fromkeys((row["problem"], row["who"]) for row in rows):
        mine = [row for row in rows if (row["problem"], row["who"]) == (problem, who) and row["seconds"]]
        seconds = float(np.median([float(row["cpu_seconds"]) for row in mine])) if mine else None
        found.append((problem, who, seconds, float(mine[-1]["above"]) if mine else None))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="rounds")
    parser.add_argument("--jobs", default=",".join(JOBS), help=f"some of {', '.join(JOBS)}")
    parser.add_argument("--record", type=Path, help="folder for the times")
    parser.add_argument("--page", type=Path, help="make the page of the documentation from the record in this folder, and measure nothing")
    wanted = parser.parse_args()
    if wanted.page:
        page(wanted.page)
        return
    warnings.simplefilter("ignore")
    for name in wanted.jobs.split(","):
        rows = rounds(JOBS[name](), wanted.repeat)
        if wanted.record:
            record(wanted.record, rows)


JOBS: dict[str, Callable[[], Job]] = {
    "a7a": lambda: svm("a7a", 16100, 122, 1.0), "w8a": lambda: svm("w8a", 49749, 300, 1.0), "svr": svr, "simplex": simplex, "zero-sum": zero_sum,
}


def page(folder: Path) -> None:
    """The page of a record, and a plot of its seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = medians(read(folder))
    jobs = list(dict.fromkeys(row[0] for row in rows))
    plt.rcParams.update({"svg.hashsalt": "equipoise", "svg.fonttype": "none"})
    fig, axes = plt.subplots(len(jobs), 1, figsize=(8, 1.4 * len(jobs)), layout="constrained", sharex=True)
    for ax, job in zip(np.atleast_1d(axes), jobs, strict=True):
        mine = [row for row in rows if row[0] == job and row[2] is not None][::-1]
        colours = ["C0" if row[1].startswith("equipoise") else "0.7" for row in mine]
        ax.barh([row[1] for row in mine], [row[2] for row in mine], color=colours)
        for place, row in enumerate(mine):
            ax.text(row[2] * 1.15, place, f"{row[2]:.3g} s", va="center", fontsize="small")
        ax.set_xscale("log")
        ax.set_xlim(3e-4, 100.0)
        ax.set_title(job, fontsize="small", loc="left")
        ax.tick_params(labelsize="small")
    np.atleast_1d(axes)[-1].set_xlabel("seconds of the processor")
    PAGE.joinpath("comparison").mkdir(exist_ok=True)
    fig.savefig(PAGE / "comparison" / "seconds.svg", metadata={"Date": None})
    setup = dict(line.split(": ", 1) for line in (folder / "setup.txt").read_text(encoding="utf-8").splitlines())
    name = folder.resolve().as_posix().rpartition("/benchmarks/runs/")[2]
    ours = {job: seconds for job, who, seconds, _ in rows if who.startswith("equipoise")}
    lines = [
        "# Against others", "",
        "Seconds that the processor spends in `fit` on data in memory, medians over rounds in which all take turns, the same as multiples of ours, and how far "
        "the objective of the answer is above the proven least one, relative to it. One thread each. "
        f"Python {setup['python']}, scikit-learn {setup['scikit-learn']}, ReHLine {setup['rehline']}, scikit-lego {setup['scikit-lego']}, "
        f"c-lasso {setup['c-lasso']}; {setup['cores'].partition(';')[0]} cores, load {setup['load']} over the last 1, 5 and 15 minutes. The record, with the seconds that went by, is `benchmarks/runs/{name}`, made by `python benchmarks/compare.py`.", "",
        "| problem | who | seconds | times ours | above the least objective |", "|---|---|---:|---:|---:|",
    ]
    for job, who, seconds, above in rows:
        shown = ("failed", "", "") if seconds is None else (f"{seconds:.4f}", f"{seconds / ours[job]:.1f}", f"{above:.1e}")
        lines.append(f"| {job} | {who} | {' | '.join(shown)} |")
    lines += [
        "", "![Seconds of every library, a panel a problem](comparison/seconds.svg)", "",
        "- LinearSVC, LinearSVR and ReHLine penalise the bias: they solve another problem, and their distance says how much that matters here.",
        "- `equipoise` proves its gap within the seconds shown; the others do not say how far they are.",
        "- What took longer than 5 s of the processor was measured once.", "",
    ]
    (PAGE / "comparison.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
