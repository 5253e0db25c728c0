"""What is measured of the extension itself: overhead, memory, and how soon Ctrl-C ends a run.

    python benchmarks/manners.py [overhead] [memory] [ctrl-c] [--record FOLDER]

- overhead: seconds of `LinearSVC.fit` less the seconds that the library itself reports, on a7a and w8a (EQUIPOISE_DATA).
- memory: how much the resident size grows, and what Python allocates (tracemalloc), while CSR data of float64 and int32 and dense data of
  float64 are fitted, beside the size of the numbers.
- ctrl-c: milliseconds from the signal to KeyboardInterrupt, at 20 random moments of several fits; a moment is drawn from the whole length
  of a fit, its preparation and its last proof included, or from its first second and a half. Beside them the processor time that this
  process used from the signal to the exception: what it would be on a machine that has nothing else to do.

`--record` writes every number into FOLDER, a file a word.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_svmlight_file

import equipoise as eq

MOMENTS = 20
# Seconds of a fit from which moments are drawn, at most.
LONGEST = 1.5


def data(name: str):
    folder = os.environ.get("EQUIPOISE_DATA")
    if not folder or not (Path(folder) / "classification" / name).exists():
        sys.exit("set EQUIPOISE_DATA to the folder of public data")
    x, y = load_svmlight_file(str(Path(folder) / "classification" / name))
    return sp.csr_matrix((x.data, x.indices.astype(np.int32), x.indptr.astype(np.int32)), shape=x.shape), y


def overhead():
    rows = []
    for name in ("a7a", "w8a"):
        x, y = data(name)
        for number in range(25):
            begin = time.perf_counter()
            model = eq.LinearSVC(loss="hinge").fit(x, y)
            whole = time.perf_counter() - begin
            rows.append({"data": name, "round": number, "fit_ms": 1e3 * whole, "library_ms": 1e3 * model.certificate_["seconds"]})
        mine = [row for row in rows if row["data"] == name]
        inner = float(np.median([row["library_ms"] for row in mine]))
        extra = float(np.median([row["fit_ms"] - row["library_ms"] for row in mine]))
        print(f"{name}: the library {inner:.1f} ms, overhead {extra:.2f} ms (allowed {0.05 * inner + 2:.2f} ms)")
    return rows


def largest() -> int:
    fields = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in fields if line.startswith("VmHWM")) * 1024


def memory():
    """Peaks of fits that borrow their data, each in a process of its own."""
    rows = []
    for form in ("csr", "dense"):
        done = subprocess.run([sys.executable, __file__, "memory-of", form], capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        one = rows[-1]
        print(
            f"{form}: numbers {one['numbers_mib']:.0f} MiB; the peak grew by {one['grew_mib']:.1f} MiB, {one['grew_bytes_a_row']:.0f} bytes a row; "
            f"Python allocated {one['traced_mib']:.1f} MiB"
        )
    return rows


def memory_of(form: str) -> None:
    rng = np.random.default_rng(0)
    rows, columns, each = 400_000, 500, 50
    if form == "dense":
        rows, columns, each = 100_000, 200, 200
        x = rng.uniform(0.5, 1.5, size=(rows, columns))
        size, numbers = x.nbytes, x.size
    else:
        step = columns // each
        indices = rng.integers(0, step, size=(rows, each), dtype=np.int32) + np.arange(each, dtype=np.int32) * step
        values = rng.uniform(0.5, 1.5, size=rows * each)
        x = sp.csr_matrix((values, indices.ravel(), np.arange(0, rows * each + 1, each, dtype=np.int32)), shape=(rows, columns))
        del indices, values
        size, numbers = x.data.nbytes + x.indices.nbytes, x.nnz
    y = np.where(np.arange(rows) % 3 == 0, 1.0, -1.0)
    warnings.simplefilter("ignore")
    eq.LinearSVC(loss="hinge").fit(x[:100], y[:100])

    def fit() -> None:
        eq.LinearSVC(loss="hinge", max_iter=1, time_limit=20).fit(x, y)

    # The peak so far is that of the data; it is written down again from here.
    Path("/proc/self/clear_refs").write_text("5")
    before = largest()
    fit()
    grew = largest() - before
    tracemalloc.start()
    fit()
    traced = tracemalloc.get_traced_memory()[1]
    print(json.dumps({
        "form": form, "rows": rows, "numbers": numbers, "numbers_mib": size / 2**20, "grew_mib": grew / 2**20,
        "grew_bytes_a_row": grew / rows, "traced_mib": traced / 2**20,
    }))


def ctrl_c():
    rng = np.random.default_rng(0)
    w8a = data("w8a")
    sparse = sp.csr_matrix(sp.random_array((200_000, 500), density=0.05, format="csr", rng=rng))
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int32), sparse.indptr.astype(np.int32)
    labels = np.where(rng.uniform(size=200_000) < 0.5, -1.0, 1.0)
    dense = rng.normal(size=(3000, 2000))
    jobs = {
        "w8a svc": lambda: eq.LinearSVC(C=100.0, loss="hinge", tol=1e-12).fit(*w8a),
        "200,000 x 500 svc": lambda: eq.LinearSVC(C=1.0, loss="hinge", tol=1e-10).fit(sparse, labels),
        "200,000 x 500 squared hinge": lambda: eq.LinearSVC(C=1.0, tol=1e-12).fit(sparse, labels),
        "200,000 x 500 svr": lambda: eq.LinearSVR(C=1.0, tol=1e-10).fit(sparse, labels),
        "200,000 x 500 nu-svc": lambda: eq.NuSVC(nu=0.5, tol=1e-10).fit(sparse, labels),
        "200,000 x 500 one-class": lambda: eq.OneClassSVM(nu=0.5, tol=1e-10).fit(sparse),
        "dense 3000 x 2000 svc": lambda: eq.LinearSVC(C=1.0, loss="hinge", tol=1e-12).fit(dense, labels[:3000]),
        "dense 3000 x 2000 simplex": lambda: eq.SimplexRegressor(tol=1e-14).fit(dense, dense[:, 0] + labels[:3000]),
        "dense 3000 x 2000 zero-sum lasso": lambda: eq.ZeroSumLasso(1e-3, tol=1e-12).fit(dense, dense[:, 0] + labels[:3000]),
        "dense 3000 x 2000 solve": lambda: eq.solve(
            eq.LeastSquares(dense, labels[:3000]), eq.L1(1.0), A="sum", b=1.0, tol=1e-12, time_limit=LONGEST
        ),
    }
    warnings.simplefilter("ignore")
    rows = []
    for name, job in jobs.items():
        length = length_of(job)
        for moment in rng.uniform(0.0, length, size=MOMENTS):
            clock, work = waited(job, float(moment))
            rows.append({"fit": name, "moment_s": moment, "waited_ms": 1e3 * clock, "worked_ms": 1e3 * work})
        mine, worked = ([row[key] for row in rows if row["fit"] == name] for key in ("waited_ms", "worked_ms"))
        print(
            f"{name:34} moments of {length:.2f} s: median {np.median(mine):6.1f} ms, longest {max(mine):6.1f} ms; "
            f"processor time at most {max(worked):6.1f} ms", flush=True,
        )
    return rows


def length_of(job) -> float:
    """How long a fit takes, at most LONGEST."""
    begin = time.perf_counter()
    waited(job, LONGEST)
    return min(time.perf_counter() - begin, LONGEST)


def waited(job, after: float) -> tuple[float, float]:
    """Seconds from a signal, so long after the beginning, to the exception, and processor time; 0 where the fit was over before."""
    sent, over = [], threading.Event()

    def interrupt() -> None:
        if not over.wait(after):
            sent.extend((time.perf_counter(), time.process_time()))
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        job()
        over.set()
        thread.join()
        time.sleep(0.01)  # a signal at the very end
    except KeyboardInterrupt:
        end, worked = time.perf_counter(), time.process_time()
        thread.join()
        return end - sent[0], worked - sent[1]
    return 0.0, 0.0


def setup() -> str:
    """The machine and its load, the versions and the build, a line each."""
    build = eq._native.build_info()
    words = {
        "command": " ".join(["python", "benchmarks/manners.py", *(word for word in sys.argv[1:] if not Path(word).is_absolute())]),
        "python": platform.python_version(), "equipoise": eq.__version__, "numpy": np.__version__, "scikit-learn": sklearn.__version__,
        "build": "with debug assertions" if build["debug_assertions"] else "release", "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(), "load at the beginning": ", ".join(f"{value:.2f}" for value in os.getloadavg()),
    }
    return "".join(f"{key}: {value}\n" for key, value in words.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", default=["overhead", "memory", "ctrl-c"])
    parser.add_argument("--record", type=Path)
    wanted = parser.parse_args()
    if wanted.words[0] == "memory-of":
        return memory_of(wanted.words[1])
    words = setup()
    for word in wanted.words:
        rows = {"overhead": overhead, "memory": memory, "ctrl-c": ctrl_c}[word]()
        if wanted.record:
            wanted.record.mkdir(parents=True, exist_ok=True)
            with (wanted.record / f"{word}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows({key: f"{value:.4f}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
            load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
            (wanted.record / f"{word}.txt").write_text(f"{words}load at the end: {load}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
