"""The families of generated problems; sizes and seeds are fixed here.

A problem is

    minimise  1/2 x'Px + q'x   subject to   A x = b ,  low <= G x <= high ,  lower <= x <= upper

with P given, or `factor` M with P = M'M (then `target` t: 1/2 ||M x - t||^2), or neither (a linear program). The
generated ones have no G.
`FAMILIES` maps a name to a function of a seed; `cases` lists what a run measures, in a fixed order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass
class Inequalities:
    """low <= G x <= high."""

    matrix: sp.csc_matrix
    low: np.ndarray
    high: np.ndarray


@dataclass
class Problem:
    """One instance."""

    q: np.ndarray
    rows: np.ndarray | sp.csc_matrix
    rhs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    quadratic: np.ndarray | sp.csc_matrix | None = None
    factor: np.ndarray | None = None
    target: np.ndarray | None = None
    inequalities: Inequalities | None = None

    @property
    def dimension(self) -> int:
        return len(self.q)

    @property
    def size(self) -> int:
        """Variables and rows."""
        more = 0 if self.inequalities is None else len(self.inequalities.low)
        return self.dimension + len(self.rhs) + more

    def in_equations(self) -> "Problem":
        """The same with slacks: G x - s = 0, low <= s <= high behind x."""
        if self.inequalities is None:
            return self
        given, n = self.inequalities, self.dimension
        count = len(given.low)
        none = sp.csc_matrix((count, count))
        return Problem(
            np.concatenate([self.q, np.zeros(count)]),
            sp.block_array([[sp.csc_matrix(self.rows), None], [given.matrix, -sp.eye_array(count)]], format="csc")
            if len(self.rhs)
            else sp.hstack([given.matrix, -sp.eye_array(count)], format="csc"),
            np.concatenate([self.rhs, np.zeros(count)]),
            np.concatenate([self.lower, given.low]),
            np.concatenate([self.upper, given.high]),
            quadratic=None if self.quadratic is None else sp.block_diag([self.quadratic, none], format="csc"),
        )

    def hessian(self) -> sp.csc_matrix:
        """P, for solvers that take nothing else."""
        n = self.dimension
        if self.quadratic is not None:
            return sp.csc_matrix(self.quadratic)
        if self.factor is not None:
            return sp.csc_matrix(self.factor.T @ self.factor)
        return sp.csc_matrix((n, n))

    def slope(self) -> np.ndarray:
        """q with what the target adds to it."""
        return self.q if self.factor is None else self.q - self.factor.T @ self.target

    def objective(self, x: np.ndarray) -> float:
        """From the data as they are."""
        value = float(self.q @ x)
        if self.quadratic is not None:
            value += 0.5 * float(x @ (self.quadratic @ x))
        if self.factor is not None:
            value += 0.5 * float(np.sum((self.factor @ x - self.target) ** 2))
        return value

    def miss(self, x: np.ndarray) -> float:
        """How far off x is: rows relative to their own terms, bounds relative to the size of x."""
        rows = beyond(self.rows, x, self.rhs, self.rhs)
        if self.inequalities is not None:
            rows = max(rows, beyond(self.inequalities.matrix, x, self.inequalities.low, self.inequalities.high))
        out = np.maximum(self.lower - x, x - self.upper).max(initial=0.0)
        return float(max(rows, out / (1.0 + np.abs(x).max(initial=0.0))))


def beyond(matrix: np.ndarray | sp.csc_matrix, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The largest miss of low <= matrix x <= high, relative to the terms of its row."""
    product = matrix @ x
    off = np.maximum(np.maximum(low - product, product - high), 0.0)
    limit = np.where(product < low, low, high)
    terms = abs(matrix) @ np.abs(x) + np.where(np.isfinite(limit), np.abs(limit), 0.0)
    return float(np.max(np.divide(off, terms, out=off.copy(), where=terms > 0.0), initial=0.0))


def spread(rng: np.random.Generator, decades: float, count: int) -> np.ndarray:
    """Factors over so many decades, half of them above 1."""
    return 10.0 ** rng.uniform(-decades / 2, decades / 2, count)


def within(rng: np.random.Generator, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return lower + (0.1 + 0.8 * rng.random(len(lower))) * (upper - lower)


def scaled(what: str, decades: int) -> Callable[[int], Problem]:
    """Least squares on a box under a few rows, in units over so many decades."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([11, seed, decades, len(what)])
        n, samples, m = 40, 60, (1, 3, 8)[seed % 3]
        factor, rows = rng.standard_normal((samples, n)), rng.standard_normal((m, n))
        lower, upper = np.zeros(n), np.ones(n)
        target = rng.standard_normal(samples) * 3.0
        if what == "rows":
            rows = rows * spread(rng, decades, m)[:, None]
        elif what == "columns":
            unit = spread(rng, decades, n)
            factor, rows, upper = factor / unit, rows / unit, upper * unit
        else:
            weight = spread(rng, decades, samples)
            factor, target = factor * weight[:, None], target * weight
        rhs = rows @ within(rng, lower, upper)
        return Problem(np.zeros(n), rows, rhs, lower, upper, factor=factor, target=target)

    return make


def many_rows(m: int, dense: bool, linear: bool) -> Callable[[int], Problem]:
    """m rows over 2m variables on a box; every coefficient there, or about four a row."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([12, seed, m, dense, linear])
        n = max(2 * m, 20)
        rows = rng.standard_normal((m, n)) if dense else sparse_rows(rng, m, n, 4)
        lower, upper = np.zeros(n), np.ones(n)
        rhs = rows @ within(rng, lower, upper)
        quadratic = None if linear else sp.diags_array(rng.uniform(0.1, 2.0, n), format="csc")
        return Problem(rng.standard_normal(n), rows, rhs, lower, upper, quadratic=quadratic)

    return make


def sparse_rows(rng: np.random.Generator, m: int, n: int, each: int) -> sp.csc_matrix:
    """About `each` coefficients a row, none of them empty."""
    places = np.concatenate([rng.choice(n, each, replace=False) for _ in range(m)])
    values = rng.standard_normal(m * each)
    return sp.csc_matrix((values, (np.repeat(np.arange(m), each), places)), shape=(m, n))


def conditioned(exponent: int) -> Callable[[int], Problem]:
    """A dense quadratic with a condition of 10^exponent, five rows, a box."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([13, seed, exponent])
        n, m = 60, 5
        basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
        factor = basis * 10.0 ** np.linspace(0.0, -exponent / 2, n)
        quadratic = factor @ factor.T
        quadratic = 0.5 * (quadratic + quadratic.T)
        rows = rng.standard_normal((m, n))
        lower, upper = -np.ones(n), np.ones(n)
        return Problem(
            rng.standard_normal(n), rows, rows @ within(rng, lower, upper), lower, upper, quadratic=quadratic
        )

    return make


def degenerate(m: int) -> Callable[[int], Problem]:
    """A sparse linear program on x >= 0 whose optimal vertex has m/2 basic variables at 0."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([14, seed, m])
        n = 2 * m
        rows = sparse_rows(rng, m, n, 5)
        x = np.zeros(n)
        positive = rng.choice(n, m // 2, replace=False)
        x[positive] = rng.uniform(0.5, 2.0, m // 2)
        slack = rng.uniform(0.1, 1.0, n)
        slack[positive] = 0.0
        # Some of the others are as good.
        slack[rng.choice(n, m // 4, replace=False)] = 0.0
        q = rows.T @ rng.standard_normal(m) + slack
        return Problem(q, rows, rows @ x, np.zeros(n), np.full(n, np.inf))

    return make


def parallel(exponent: int) -> Callable[[int], Problem]:
    """Two of four rows parallel up to 10^-exponent; a quadratic on a box."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([15, seed, exponent])
        n = 30
        rows = rng.standard_normal((4, n))
        rows[3] = rows[0] + 10.0**-exponent * rng.standard_normal(n)
        lower, upper = -np.ones(n), np.ones(n)
        rhs = rows @ within(rng, lower, upper)
        quadratic = sp.diags_array(rng.uniform(0.5, 2.0, n), format="csc")
        return Problem(rng.standard_normal(n), rows, rhs, lower, upper, quadratic=quadratic)

    return make


def nearly_infeasible(exponent: int) -> Callable[[int], Problem]:
    """The feasible set is within about 10^-exponent of a corner of the box, in ten of its directions."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([16, seed, exponent])
        n, m = 40, 6
        rows = np.abs(rng.standard_normal((m, n)))
        rows[1:, :10] = rng.standard_normal((m - 1, 10))
        rows[0, 10:] = 0.0
        lower, upper = np.zeros(n), np.ones(n)
        inside = within(rng, lower, upper)
        inside[:10] *= 10.0**-exponent
        quadratic = sp.diags_array(rng.uniform(0.5, 2.0, n), format="csc")
        return Problem(rng.standard_normal(n), rows, rows @ inside, lower, upper, quadratic=quadratic)

    return make


def slack_form(m: int) -> Callable[[int], Problem]:
    """1/2 x'Px + q'x, G x <= h with m sparse rows over m/2 variables, as G x + s = h with s >= 0."""

    def make(seed: int) -> Problem:
        rng = np.random.default_rng([17, seed, m])
        n = m // 2
        low = sparse_rows(rng, n, n, 3)
        quadratic = (low.T @ low + 0.01 * sp.eye_array(n)).tocsc()
        limits = sparse_rows(rng, m, n, 4)
        rhs = limits @ rng.standard_normal(n) + rng.uniform(0.0, 1.0, m)
        rows = sp.hstack([limits, sp.eye_array(m)], format="csc")
        whole = sp.block_diag([quadratic, sp.csc_matrix((m, m))], format="csc")
        lower = np.concatenate([np.full(n, -np.inf), np.zeros(m)])
        q = np.concatenate([rng.standard_normal(n) * 3.0, np.zeros(m)])
        return Problem(q, rows, rhs, lower, np.full(n + m, np.inf), quadratic=whole)

    return make


FAMILIES: dict[str, tuple[Callable[[int], Problem], int]] = {
    **{
        f"scaled-{what}-{decades}": (scaled(what, decades), 6)
        for what in ("rows", "columns", "data")
        for decades in (0, 2, 4, 6, 8, 10, 12)
    },
    **{f"rows-dense-{m}": (many_rows(m, True, False), 3) for m in (1, 10, 30, 100, 300)},
    **{f"rows-sparse-{m}": (many_rows(m, False, False), 3) for m in (10, 100, 300, 1000)},
    **{f"lp-dense-{m}": (many_rows(m, True, True), 4) for m in (80, 100, 120, 150)},
    **{f"condition-{exponent}": (conditioned(exponent), 4) for exponent in (0, 2, 4, 6, 8, 10)},
    **{f"degenerate-{m}": (degenerate(m), 8) for m in (60, 80, 100, 120, 140)},
    **{f"parallel-{exponent}": (parallel(exponent), 6) for exponent in (6, 7, 8, 9)},
    **{f"nearly-infeasible-{exponent}": (nearly_infeasible(exponent), 4) for exponent in (2, 4, 6, 8)},
    **{f"slacks-{m}": (slack_form(m), 3) for m in (100, 200, 400, 600)},
}


def cases(only: list[str], quick: bool) -> Iterator[tuple[str, int, Problem]]:
    """Name, seed and problem of everything that is measured; `only` keeps the names that begin so."""
    for name, (make, count) in FAMILIES.items():
        if only and not any(name.startswith(begin) for begin in only):
            continue
        for seed in range(min(count, 2) if quick else count):
            yield name, seed, make(seed)
