"""A folder of public problems in the layout that OSQP's benchmarks introduced: one MATLAB file each, with

    minimise  1/2 x'Px + q'x   subject to   l <= A x <= u        (1e20 and beyond is no limit)

Rows of A with one coefficient are bounds of that variable, rows with l = u are equations, the others inequalities.
`problems` yields the smaller ones first; their values are what the files say, nothing is scaled. Only limits below 1e-12 in
size are 0: they are what rounding left of a 0 on the way to the file, and a row of positive coefficients over x >= 0 with
-8.9e-16 on its right-hand side has no solution at all.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from families import Inequalities, Problem

UNLIMITED = 1e20
ROUNDED_ZERO = 1e-12


def problems(folder: Path, most: int) -> Iterator[tuple[str, Problem]]:
    """Name and problem of every file with at most `most` variables and rows, bounds not counted."""
    found = [(file.stem, read(file)) for file in sorted(folder.glob("*.mat"))]
    if not found:
        raise SystemExit(f"{folder} has no file NAME.mat with P, q, A, l and u")
    yield from sorted((f for f in found if f[1].size <= most), key=lambda f: (f[1].size, f[0]))


def read(file: Path) -> Problem:
    held = scipy.io.loadmat(file)
    quadratic, whole = sp.csc_matrix(held["P"]), sp.csr_matrix(held["A"])
    whole.eliminate_zeros()
    q = np.asarray(held["q"], dtype=float).ravel()
    low = np.asarray(held["l"], dtype=float).ravel()
    high = np.asarray(held["u"], dtype=float).ravel()
    # Rounded once on the way to the file: 9.999999999999998e19 was 1e20.
    low = np.where(low <= -UNLIMITED * (1 - 1e-9), -np.inf, low)
    high = np.where(high >= UNLIMITED * (1 - 1e-9), np.inf, high)
    low, high = (np.where(np.abs(v) < ROUNDED_ZERO, 0.0, v) for v in (low, high))
    count = np.diff(whole.indptr)
    lower, upper = np.full(len(q), -np.inf), np.full(len(q), np.inf)
    for r in np.flatnonzero(count == 1):
        at, factor = whole.indices[whole.indptr[r]], whole.data[whole.indptr[r]]
        ends = sorted((low[r] / factor, high[r] / factor))
        lower[at], upper[at] = max(lower[at], ends[0]), min(upper[at], ends[1])
    equal = (count > 1) & (low == high)
    between = (count > 1) & ~equal & (np.isfinite(low) | np.isfinite(high))
    inequalities = None
    if between.any():
        inequalities = Inequalities(whole[between].tocsc(), low[between], high[between])
    symmetric = (0.5 * (quadratic + quadratic.T)).tocsc()
    return Problem(
        q, whole[equal].tocsc(), low[equal], lower, upper,
        quadratic=symmetric if symmetric.nnz else None, inequalities=inequalities,
    )  # fmt: skip
