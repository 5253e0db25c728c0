"""Borrowed data stay where they are: fits of CSR and dense arrays allocate nothing of the size of their numbers."""

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

    rng = np.random.default_rng(0)
    rows, each = 20_000, 200
    if sys.argv[1] == "dense":
        x = rng.uniform(0.5, 1.5, size=(rows, each))
        size = x.nbytes
    else:
        indices = np.tile(2 * np.arange(each, dtype=np.int32), rows)
        starts = np.arange(0, rows * each + 1, each, dtype=np.int32)
        x = sp.csr_array((rng.uniform(0.5, 1.5, size=rows * each), indices, starts), shape=(rows, 2 * each))
        size = x.data.nbytes + x.indices.nbytes
    if sys.argv[1] == "csc":
        x = x.tocsc()
    y = np.arange(rows) % 3 == 0
    warnings.simplefilter("ignore")
    fit = lambda part: eq.LinearSVC(loss="hinge", max_iter=1).fit(x[:part], y[:part])
    fit(100)
    Path("/proc/self/clear_refs").write_text("5")
    before = largest()
    if sys.argv[2] == "traced":
        tracemalloc.start()
    eq.LinearSVC(loss="hinge", max_iter=1).fit(x, y)
    grew = tracemalloc.get_traced_memory()[1] if sys.argv[2] == "traced" else largest() - before
    print(grew / size)
""")


def share(form, how):
    done = subprocess.run([sys.executable, "-c", FIT, form, how], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize("form", ["csr", "dense"])
def test_nothing_of_the_size_of_the_numbers_is_allocated(form):
    assert share(form, "resident") < 0.25
    assert share(form, "traced") < 0.25


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc")
def test_the_measure_sees_a_copy():
    # Columns become rows: that is a copy, and one of the size of the numbers.
    assert share("csc", "resident") > 0.8
