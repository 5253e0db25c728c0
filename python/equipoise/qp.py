"""Quadratic programmes as problems of this solver, and their way back.

```text
minimise 1/2 x'P x + q'x   subject to   A x = b,   F x <= g,   lower <= x <= upper
```

Modelling languages write ``||M x - y||^2`` with a variable for each residual, ``r = M x - y``. Such a variable occurs in one equation and has a
square of its own: it is put back into a factor, which is far smaller for a solver that keeps ``M x``. Rows of F with one variable become limits,
the others get a slack. A variable that is at least x and at least -x, and costs something, is ``|x|``. Must not know: who asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._data import check_readable
from .solver import Problem, Solution
from .terms import L1, Box, Linear, Quadratic

__all__ = ["QuadraticProgram", "no_solution", "solve_qp"]


@dataclass
class QuadraticProgram:
    """``minimise 1/2 x'P x + q'x`` subject to ``A x = b``, ``F x <= g`` and ``lower <= x <= upper``; missing parts are None.

    Parameters
    ----------
    P : {array-like, sparse matrix} of shape (n, n)
        Symmetric, positive semidefinite.
    q : array-like of shape (n,)
        Linear part.
    A, b : matrix of shape (m, n) and array-like of shape (m,), default=None
        Equations.
    F, g : matrix of shape (k, n) and array-like of shape (k,), default=None
        Inequalities.
    lower, upper : array-like of shape (n,), default=None
        Limits.
    """

    P: Any
    q: Any
    A: Any = None
    b: Any = None
    F: Any = None
    g: Any = None
    lower: Any = None
    upper: Any = None

    def __post_init__(self):
        self.q = np.asarray(self.q, dtype=np.float64).ravel()
        size = len(self.q)
        check_readable(self.P, "P")
        self.P = sp.csc_array(self.P) if self.P is not None else sp.csc_array((size, size))
        self.A, self.b = _rows(self.A, self.b, size)
        self.F, self.g = _rows(self.F, self.g, size)
        self.lower = np.full(size, -np.inf) if self.lower is None else np.asarray(self.lower, dtype=np.float64).ravel()
        self.upper = np.full(size, np.inf) if self.upper is None else np.asarray(self.upper, dtype=np.float64).ravel()


@dataclass
class QpSolution:
    """The point, multipliers of the rows and limits as QP solvers give them, and the solution underneath."""

    x: np.ndarray
    equations: np.ndarray
    inequalities: np.ndarray
    limits: np.ndarray
    objective: float
    solution: Solution


def _rows(matrix, rhs, size):
    if matrix is None:
        return sp.csr_array((0, size)), np.zeros(0)
    check_readable(matrix, "a matrix of rows")
    if not sp.issparse(matrix):
        matrix = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
    return sp.csr_array(matrix), np.asarray(rhs, dtype=np.float64).ravel()


def _residuals(qp):
    """Variables that are residuals, each with its equation: places of variables, of rows, and coefficients.

    A residual has no product with another variable in P, a square of its own, no limits, one equation and no inequality; its
    equation has no other residual.
    """
    squares = qp.P.diagonal()
    columns = qp.A.tocsc()
    products = np.diff(qp.P.indptr) - (squares != 0)
    free = np.isinf(qp.lower) & np.isinf(qp.upper)
    alone = (squares > 0) & (products == 0) & (np.diff(columns.indptr) == 1) & (_in_rows(qp.F) == 0) & free
    places = np.flatnonzero(alone)
    rows = columns.indices[columns.indptr[places]]
    _, first = np.unique(rows, return_index=True)
    places, rows = places[first], rows[first]
    # An equation of this variable alone fixes it: nothing to fold.
    kept = np.diff(qp.A.indptr)[rows] > 1
    places, rows = places[kept], rows[kept]
    return places, rows, columns.data[columns.indptr[places]]


def _in_rows(matrix):
    """In how many rows each variable occurs."""
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


@dataclass
class _Absolute:
    """``t = ratio |x|``: places of t and x, the rows ``c x <= a t`` and ``-c x <= a t``, c and a."""

    t: np.ndarray
    x: np.ndarray
    above: np.ndarray
    below: np.ndarray
    c: np.ndarray
    a: np.ndarray


def _absolutes(qp):
    """Variables that stand for sizes of others."""
    columns = qp.F.tocsc()
    free = (qp.lower <= 0) & np.isinf(qp.upper) & (np.diff(qp.P.indptr) == 0) & (_in_rows(qp.A) == 0) & (qp.q > 0)
    found, taken = [], set()
    for t in np.flatnonzero(free & (np.diff(columns.indptr) == 2)):
        rows = columns.indices[columns.indptr[t] : columns.indptr[t + 1]]
        if any(qp.F.indptr[row + 1] - qp.F.indptr[row] != 2 or qp.g[row] != 0 for row in rows):
            continue
        pairs = [dict(zip(qp.F.indices[qp.F.indptr[row] :][:2], qp.F.data[qp.F.indptr[row] :][:2], strict=True)) for row in rows]
        others = {place for pair in pairs for place in pair if place != t}
        if len(others) != 1 or (x := others.pop()) in taken:
            continue
        (a, b), (c, d) = ((-pair[t] for pair in pairs), (pair[x] for pair in pairs))
        if a == b > 0 and c == -d and c != 0:
            taken.add(x)
            above, below = rows if c > 0 else rows[::-1]
            found.append((t, x, above, below, abs(c), a))
    parts = zip(*found, strict=True) if found else [[]] * 6
    kinds = (np.intp, np.intp, np.intp, np.intp, np.float64, np.float64)
    return _Absolute(*(np.array(part, dtype=kind) for part, kind in zip(parts, kinds, strict=True)))


def _limits_of_rows(F, g, lower, upper):
    """Rows with one variable as limits, in place; for each row its variable and factor, or -1, and whose limit it has become."""
    single = np.diff(F.indptr) == 1
    variable, factor = np.full(F.shape[0], -1), np.zeros(F.shape[0])
    variable[single], factor[single] = F.indices[F.indptr[:-1][single]], F.data[F.indptr[:-1][single]]
    owner = {"lower": np.full(len(lower), -1), "upper": np.full(len(upper), -1)}
    for row in np.flatnonzero(single & (factor != 0)):
        value, place = g[row] / factor[row] + 0.0, variable[row]  # no -0
        if factor[row] > 0 and value < upper[place]:
            upper[place], owner["upper"][place] = value, row
        elif factor[row] < 0 and value > lower[place]:
            lower[place], owner["lower"][place] = value, row
    return single & (factor != 0), np.abs(factor), owner


def _smooth(P, factor, q):
    """The term: ``1/2 ||factor x||^2 + 1/2 x'P x + q'x``, with a diagonal P as part of the factor."""
    diagonal = P.diagonal()
    is_diagonal = P.nnz == np.count_nonzero(diagonal)
    if P.nnz == 0 and factor.shape[0] == 0:
        return Linear(q)
    if is_diagonal and (diagonal >= 0).all():
        squares = sp.diags(np.sqrt(diagonal)).tocsr()[np.flatnonzero(diagonal)]
        return Quadratic(factor=_dense_if_full(sp.vstack([factor, squares], format="csc") if squares.shape[0] else factor), c=q)
    term = Quadratic(_dense_if_full(sp.csc_array((P + P.T) / 2)), q)
    return term + Quadratic(factor=_dense_if_full(factor)) if factor.shape[0] else term


def _penalty(weights, lower, upper):
    """Sizes and limits, or nothing."""
    limited = np.isfinite(lower).any() or np.isfinite(upper).any()
    if weights.any():
        return L1(weights, lower=lower, upper=upper) if limited else L1(weights)
    return Box(lower, upper) if limited else None


def _dense_if_full(matrix):
    rows, columns = matrix.shape
    return matrix.toarray() if matrix.nnz > 0.3 * rows * columns else sp.csc_array(matrix)


def solve_qp(qp: QuadraticProgram, *, tol: float = 1e-8, x0: Any = None, **settings: Any) -> QpSolution:
    """Solve a quadratic programme.

    Parameters
    ----------
    qp : QuadraticProgram
        The programme.
    tol : float, default=1e-8
        The gap to be proven, relative to ``1 + |objective|``.
    x0 : array-like, default=None
        Where to begin.
    **settings
        As for :func:`equipoise.solve`.

    Returns
    -------
    found : QpSolution
        x, multipliers, and the certified solution underneath.

    Examples
    --------
    >>> from equipoise.qp import QuadraticProgram, solve_qp
    >>> found = solve_qp(QuadraticProgram(P=[[2.0, 0.0], [0.0, 2.0]], q=[-2.0, -5.0], F=[[1.0, 1.0]], g=[1.0]))
    >>> found.x.round(5).tolist()
    [-0.25, 1.25]
    """
    return _Folded(qp).solve(tol, x0, settings)


def no_solution(error: ValueError) -> str | None:
    """'unbounded' or 'infeasible' where the library says that there is no solution; None for any other refusal.

    Parameters
    ----------
    error : ValueError
        What the library said.

    Returns
    -------
    why : str or None
        Which of the two.
    """
    words = str(error)
    if "unbounded below" in words:
        return "unbounded"
    told = ("no x within the bounds", "is inconsistent", "is above upper")
    return "infeasible" if any(part in words for part in told) else None


class _Folded:
    """A programme over fewer variables: residuals in a factor, sizes in a penalty, limits out of rows, slacks for the rest."""

    def __init__(self, qp: QuadraticProgram):
        self.qp = qp
        self.residuals, self.residual_rows, self.coefficients = _residuals(qp)
        self.sizes = _absolutes(qp)
        gone = np.concatenate([self.residuals, self.sizes.t])
        self.kept = np.setdiff1d(np.arange(len(qp.q)), gone)
        self.equations = np.setdiff1d(np.arange(qp.A.shape[0]), self.residual_rows)
        # r = offset - map x, with 1/2 s r^2 + t r: a factor, and a linear part.
        count = len(self.residuals)
        self.map = sp.csr_array(sp.diags(1.0 / self.coefficients, shape=(count, count)) @ qp.A[self.residual_rows][:, self.kept])
        self.offset = qp.b[self.residual_rows] / self.coefficients
        self.lower, self.upper = qp.lower[self.kept].copy(), qp.upper[self.kept].copy()
        rows = np.setdiff1d(np.arange(qp.F.shape[0]), np.concatenate([self.sizes.above, self.sizes.below]))
        F = sp.csr_array(qp.F[rows][:, self.kept])
        F.eliminate_zeros()
        limiting, self.factors, owner = _limits_of_rows(F, qp.g[rows], self.lower, self.upper)
        self.rows, self.owner = rows, owner
        self.slack_rows, self.F = rows[~limiting], sp.csr_array(F[np.flatnonzero(~limiting)])

    def problem(self):
        """What the solver is asked."""
        qp, slacks = self.qp, len(self.slack_rows)
        squares, slopes = qp.P.diagonal()[self.residuals], qp.q[self.residuals]
        factor = sp.csr_array(sp.diags(np.sqrt(squares), shape=(len(squares), len(squares))) @ self.map)
        q = qp.q[self.kept] - self.map.T @ (squares * self.offset + slopes)
        weights = np.zeros(len(self.kept))
        weights[np.searchsorted(self.kept, self.sizes.x)] = qp.q[self.sizes.t] * self.sizes.c / self.sizes.a
        P, A = sp.csc_array(qp.P[self.kept][:, self.kept]), sp.csr_array(qp.A[self.equations][:, self.kept])
        lower, upper = self.lower, self.upper
        if slacks:
            A = sp.vstack([sp.hstack([A, sp.csr_array((A.shape[0], slacks))]), sp.hstack([self.F, sp.eye(slacks)])], format="csr")
            P = sp.block_diag([P, sp.csc_array((slacks, slacks))], format="csc")
            factor = sp.hstack([factor, sp.csr_array((factor.shape[0], slacks))], format="csr")
            q, weights, lower = (np.append(v, np.zeros(slacks)) for v in (q, weights, lower))
            upper = np.append(upper, np.full(slacks, np.inf))
        b = np.append(qp.b[self.equations], qp.g[self.slack_rows])
        rows = (_dense_if_full(A), b) if A.shape[0] else (None, None)
        return Problem(_smooth(P, factor, q), _penalty(weights, lower, upper), *rows)

    def solve(self, tol, x0, settings):
        """Solves, and goes back."""
        start = None
        if x0 is not None:
            begin = np.asarray(x0, dtype=np.float64)[self.kept]
            start = np.append(begin, np.maximum(self.qp.g[self.slack_rows] - self.F @ begin, 0.0))
        return self.back(self.problem().solve(x0=start, tol=tol, **settings))

    def back(self, solution):
        """The point and multipliers of the programme as it was given."""
        qp, sizes = self.qp, self.sizes
        x = np.zeros(len(qp.q))
        x[self.kept] = solution.x[: len(self.kept)]
        x[self.residuals] = self.offset - self.map @ x[self.kept]
        x[sizes.t] = sizes.c / sizes.a * np.abs(x[sizes.x])
        equations, inequalities = np.zeros(qp.A.shape[0]), np.zeros(qp.F.shape[0])
        multipliers = solution.multipliers if len(solution.multipliers) else np.zeros(len(self.equations) + len(self.slack_rows))
        equations[self.equations] = multipliers[: len(self.equations)]
        inequalities[self.slack_rows] = np.maximum(multipliers[len(self.equations) :], 0.0)
        equations[self.residual_rows] = -(qp.P.diagonal()[self.residuals] * x[self.residuals] + qp.q[self.residuals]) / self.coefficients

        def slope():
            return qp.P @ x + qp.q + qp.A.T @ equations + qp.F.T @ inequalities

        # A size: what its two rows weigh together is its cost, their difference what the rest asks of x.
        rest, cost = slope()[sizes.x] / sizes.c, qp.q[sizes.t] / sizes.a
        inequalities[sizes.above] = np.clip((cost - rest) / 2, 0.0, cost)
        inequalities[sizes.below] = cost - inequalities[sizes.above]
        # What is left of the slope at a limit belongs to the row that set it.
        left = slope()[self.kept]
        for side, push in (("upper", np.maximum(-left, 0.0)), ("lower", np.maximum(left, 0.0))):
            owned = np.flatnonzero(self.owner[side] >= 0)
            own = self.owner[side][owned]
            inequalities[self.rows[own]] += push[owned] / self.factors[own]
        limited = np.isfinite(qp.lower) | np.isfinite(qp.upper)
        limits = np.where(limited, -slope(), 0.0)
        objective = 0.5 * float(x @ (qp.P @ x)) + float(qp.q @ x)
        return QpSolution(x, equations, inequalities, limits, objective, solution)
