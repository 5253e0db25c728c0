"""Borrowed data stay where they are: fits and solves of arrays that lie as they are read allocate nothing of the size of their numbers."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FIT = textwrap.dedent("""
    import sys, tracemalloc, warnings
    from pathlib import Path
    import numpy as np
    import scipy.sparse as sp
    import equipoise as eq

    def largest():
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

    what, form, how, kind = sys.argv[1:]
    rng = np.random.default_rng(0)
    # Up to 128 columns are worked on where they lie; of more, those that carry weight are put side by side.
    rows, each = (33_000, 120) if what == "simplex" else (20_000, 200)
    if form in ("by row", "by column", "frame"):
        x = rng.uniform(0.5, 1.5, size=(rows, each)).astype(kind)
        x = x if form == "by row" else np.asfortranarray(x)
        size = x.nbytes
        if form == "frame":
            import pandas as pd
            x = pd.DataFrame(x, columns=[f"v{j}" for j in range(each)], copy=False)
    else:
        indices = np.tile(2 * np.arange(each, dtype=np.int32), rows)
        starts = np.arange(0, rows * each + 1, each, dtype=np.int32)
        x = sp.csr_array((rng.uniform(0.5, 1.5, size=rows * each).astype(kind), indices, starts), shape=(rows, 2 * each))
        size = x.data.nbytes + x.indices.nbytes
        x = x.tocsc() if form == "csc" else x
    y = np.arange(rows) % 3 == 0
    warnings.simplefilter("ignore")
    number = y.astype(float)
    jobs = {
        "svc": lambda x: eq.LinearSVC(loss="hinge", max_iter=1).fit(x, y[: x.shape[0]]),
        "simplex": lambda x: eq.SimplexRegressor().fit(x, number[: x.shape[0]]),
        "lasso": lambda x: eq.ZeroSumLasso(10.0).fit(x, number[: x.shape[0]]),
        "fused": lambda x: eq.FusedLasso(1e4, max_iter=5, fit_intercept=False).fit(x, number[: x.shape[0]]),
        "solve": lambda x: eq.solve(eq.LeastSquares(x, number[: x.shape[0]]), A="sum", b=1.0, max_epochs=3),
        "logistic": lambda x: eq.solve(eq.Logistic(x, 2 * number[: x.shape[0]] - 1), eq.L1(1.0), max_epochs=3),
    }
    jobs[what](x[:300] if form != "csc" else x.tocsr()[:300].tocsc())
    Path("/proc/self/clear_refs").write_text("5")
    before = largest()
    if how == "traced":
        tracemalloc.start()
    jobs[what](x)
    grew = tracemalloc.get_traced_memory()[1] if how == "traced" else largest() - before
    print(grew / size)
""")


def share(what, form, how, kind="float64"):
    done = subprocess.run([sys.executable, "-c", FIT, what, form, how, kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


needs_linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc")


@needs_linux
@pytest.mark.parametrize("form", ["csr", "by row"])
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_rows_are_read_where_they_lie(form, kind):
    assert share("svc", form, "resident", kind) < 0.25
    assert share("svc", form, "traced", kind) < 0.25


@needs_linux
@pytest.mark.parametrize(("what", "form"), [
    ("simplex", "by column"), ("lasso", "by column"), ("lasso", "csc"), ("fused", "by column"),
    ("solve", "by column"), ("solve", "csc"), ("solve", "frame"), ("logistic", "by column"), ("logistic", "csc"),
])
def test_columns_are_read_where_they_lie(what, form):
    assert share(what, form, "resident") < 0.25
    assert share(what, form, "traced") < 0.25


@needs_linux
@pytest.mark.parametrize(("what", "form"), [("svc", "csc"), ("solve", "by row")])
def test_the_measure_sees_a_copy(what, form):
    # Columns become rows, or rows columns: that is a copy, and one of the size of the numbers.
    assert share(what, form, "resident") > 0.8
