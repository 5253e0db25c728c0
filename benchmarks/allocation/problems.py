"""The problems: the harness's own judgement of an answer, in numpy. It must not know any solver.

Limits are met by clipping. What an answer leaves of a row, r = a'x - b, is charged at the row's price, |y r|: an exact
penalty, so that nobody gains by missing a row; and an answer that misses a row by more than FEASIBLE of the row's own
terms counts as none. Prices, or multipliers, give a lower bound of the optimum, whoever found them; where an answer
comes without any, they are made of it here. The measure of an answer is (value - best bound known) / |best bound|, the
worst over demands or points of a frontier.
"""

from dataclasses import dataclass, field

import numpy as np
from bounds import Bounds

FEASIBLE = 1e-6
# How far our returns along a frontier may be from the harness's, as a share of the range of returns.
REACH = 2e-3


class Relative:
    """Gaps are relative to the optimum, as far as it is known."""

    @property
    def scale(self) -> np.ndarray:
        return np.abs(self.bounds.best)


@dataclass
class Allocation(Relative):
    """min sum_i f_i(x_i) subject to A x = b and l <= x <= u; f_i = c2 x^2 + c1 x, or x ln(x / c1) where `entropy`.

    A price is the derivative of the optimum by its right-hand side.
    """

    entropy: bool
    c2: np.ndarray | None
    c1: np.ndarray
    upper: np.ndarray | None
    rows: np.ndarray
    right: np.ndarray
    bounds: Bounds = field(default_factory=Bounds)
    prices: np.ndarray | None = None

    def clipped(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0.0) if self.upper is None else np.clip(x, 0.0, self.upper)

    def cost(self, x: np.ndarray) -> float:
        if self.entropy:
            inside = x > 0.0
            return float((x[inside] * np.log(x[inside] / self.c1[inside])).sum())
        return float((x * (self.c2 * x + self.c1)).sum())

    def bound(self, prices: np.ndarray) -> float:
        """min over the limits of sum_i f_i(x_i) - y'(A x - b)."""
        slope = prices @ self.rows
        if self.entropy:
            return float(prices @ self.right - (self.c1 * np.exp(slope - 1.0)).sum())
        x = self.clipped((slope - self.c1) / (2.0 * self.c2))
        return float(prices @ self.right + (x * (self.c2 * x + self.c1 - slope)).sum())

    def prices_of(self, x: np.ndarray) -> np.ndarray:
        """Least squares of the marginal costs on the rows, over what is inside its limits."""
        if self.entropy:
            weight = x.copy()
            marginal = np.log(np.maximum(x, 1e-300) / self.c1) + 1.0
        else:
            weight = ((x > 0.0) & (x < self.upper)).astype(np.float64)
            marginal = 2.0 * self.c2 * x + self.c1
        weighted = self.rows * weight
        return np.linalg.lstsq(weighted @ self.rows.T, weighted @ marginal, rcond=None)[0]

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        x = self.clipped(np.asarray(answer, dtype=np.float64).ravel())
        prices = self.prices_of(x) if dual is None else np.asarray(dual, dtype=np.float64).ravel()
        bound = self.bound(prices)
        if np.isfinite(bound) and (self.bounds.best is None or bound > self.bounds.best[0]):
            self.prices = prices
        self.bounds.see(np.array([bound]))
        terms = self.rows * x
        missed = np.abs(terms.sum(axis=1) - self.right)
        if not (missed <= FEASIBLE * (np.abs(self.right) + np.abs(terms).sum(axis=1))).all() or self.prices is None:
            return np.array([np.inf])
        return np.array([self.cost(x) + float(np.abs(self.prices) @ missed)])


@dataclass
class Dispatch(Relative):
    """min sum_i c2 x^2 + c1 x + c0 subject to sum x = demand and l <= x <= u, for each demand; answers as rows."""

    c2: np.ndarray
    c1: np.ndarray
    c0: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    demands: np.ndarray
    bounds: Bounds = field(default_factory=Bounds)
    prices: np.ndarray | None = None

    def cost(self, x: np.ndarray) -> np.ndarray:
        return (x * (self.c2 * x + self.c1) + self.c0).sum(axis=1)

    def bound(self, prices: np.ndarray) -> np.ndarray:
        gain = prices[:, None] - self.c1
        curved = self.c2 > 0.0
        x = np.where(gain > 0.0, self.upper, self.lower)
        x[:, curved] = np.clip(gain[:, curved] / (2.0 * self.c2[curved]), self.lower[curved], self.upper[curved])
        return prices * self.demands + (x * (self.c2 * x - gain) + self.c0).sum(axis=1)

    def prices_of(self, x: np.ndarray) -> np.ndarray:
        """The mean marginal cost of what is inside its limits; where nothing is, between the two sides."""
        room = 1e-6 * (self.upper - self.lower)
        inside = (x > self.lower + room) & (x < self.upper - room)
        marginal = 2.0 * self.c2 * x + self.c1
        middle = (marginal * inside).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
        below = np.where(x > self.lower + room, marginal, -np.inf).max(axis=1)
        return np.where(inside.any(axis=1), middle, below)

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        x = np.clip(np.asarray(answer, dtype=np.float64), self.lower, self.upper)
        prices = self.prices_of(x) if dual is None else np.asarray(dual, dtype=np.float64).ravel()
        bound = self.bound(prices)
        best = np.full(len(bound), -np.inf) if self.bounds.best is None else self.bounds.best
        known = prices if self.prices is None else self.prices
        self.prices = np.where(bound >= best, prices, known)
        self.bounds.see(bound)
        missed = np.abs(x.sum(axis=1) - self.demands)
        value = self.cost(x) + np.abs(self.prices) * missed
        return np.where(missed <= FEASIBLE * (self.demands + np.abs(x).sum(axis=1)), value, np.inf)


@dataclass
class Frontier(Relative):
    """min w'S w subject to sum w = 1, w >= 0 and m'w >= t, for each t; S = F'F is never formed. Answers as rows.

    Weights are made non-negative and scaled to the sum 1. Ours sets out from the return of the minimum variance as it
    found it, which is known to the square root of the accuracy alone; so its returns t' differ a little from ours here,
    and its values are carried over at the multiplier nu of the best bound known: w'S w - nu (t' - t), which is at least
    that bound up to the square of t' - t. `few` are the points that a slow peer solves; it is charged for all.
    """

    factor: np.ndarray
    means: np.ndarray
    targets: np.ndarray
    few: np.ndarray
    bounds: Bounds = field(default_factory=Bounds)
    slopes: np.ndarray | None = None

    def lowest(self, gradient: np.ndarray, target: float) -> tuple[float, float]:
        """min g'v over the simplex with m'v >= t, and its multiplier: the largest over nu >= 0 of the lower envelope of
        the lines g_i + nu (t - m_i), where a falling line meets a rising one."""
        rise = target - self.means
        falling = rise <= 1e-15 * np.abs(self.means).max()
        if not falling.any():
            return np.inf, 0.0
        right = int(np.flatnonzero(falling)[np.argmin(gradient[falling])])
        nu = 0.0
        left = int(np.argmin(gradient))
        if falling[left]:
            return float(gradient[left]), 0.0
        for _ in range(10_000):
            nu = (gradient[right] - gradient[left]) / (rise[left] - rise[right])
            values = gradient + nu * rise
            under = int(np.argmin(values))
            if under in (left, right) or values[under] >= values[left] - 1e-15 * abs(values[left]):
                break
            if falling[under]:
                right = under
            else:
                left = under
        return float((gradient + nu * rise).min()), float(nu)

    def dual(self, weights: np.ndarray, target: float) -> tuple[float, float]:
        """The best bound on the ray of duals s = a F w: v'S v >= 2 s'F v - ||s||^2."""
        product = self.factor @ weights
        square = float(product @ product)
        low, nu = self.lowest(2.0 * (self.factor.T @ product), target)
        if not np.isfinite(low) or low <= 0.0 or square == 0.0:
            return -np.inf, 0.0
        return low * low / (4.0 * square), nu * low / (2.0 * square)

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        """`dual` are the returns that were asked for, where they are not the harness's."""
        answer = np.maximum(np.asarray(answer, dtype=np.float64), 0.0)
        which = range(len(self.targets)) if len(answer) == len(self.targets) else self.few
        asked = self.targets if dual is None else np.asarray(dual, dtype=np.float64)
        if self.slopes is None:
            self.slopes = np.zeros(len(self.targets))
        span = float(np.ptp(self.means))
        bound = np.full(len(self.targets), -np.inf)
        # Points that were not solved do not count.
        value = np.full(len(self.targets), -np.inf)
        for number, weights in zip(which, answer, strict=True):
            target, own = self.targets[number], asked[number]
            weights = weights / weights.sum()
            bound[number], slope = self.dual(weights, target)
            if self.bounds.best is None or bound[number] > self.bounds.best[number]:
                self.slopes[number] = slope
            missed = max(0.0, own - float(self.means @ weights))
            product = self.factor @ weights
            value[number] = float(product @ product) + self.slopes[number] * (target - own + missed)
            if missed > FEASIBLE * span or abs(target - own) > REACH * span:
                value[number] = np.inf
        self.bounds.see(bound)
        return value


@dataclass
class Logistic(Relative):
    """min sum_k ln(1 + exp(-y_k a_k'x)) + S/2 ||x||^2, its rows spread over shards; the value counts all of them."""

    shards: list[np.ndarray]
    labels: list[np.ndarray]
    ridge: float
    edges: np.ndarray
    bounds: Bounds = field(default_factory=Bounds)
    optimum: np.ndarray | None = None

    def parts(self, x: np.ndarray) -> tuple[float, np.ndarray, float]:
        """Value, gradient, and the bound of the dual point alpha_k = 1 / (1 + exp(y_k a_k'x))."""
        value, entropy, pull = 0.0, 0.0, np.zeros(len(x))
        for rows, labels in zip(self.shards, self.labels, strict=True):
            margins = labels * (rows @ x)
            value += float(np.logaddexp(0.0, -margins).sum())
            alpha = 1.0 / (1.0 + np.exp(np.clip(margins, -700.0, 700.0)))
            for part in (alpha, 1.0 - alpha):
                entropy -= float((part * np.log(np.maximum(part, 1e-300))).sum())
            pull += (alpha * labels) @ rows
        gradient = self.ridge * x - pull
        return (
            value + 0.5 * self.ridge * float(x @ x), gradient, entropy - float(pull @ pull) / (2.0 * self.ridge),
        )  # fmt: skip

    def curvature(self, x: np.ndarray) -> np.ndarray:
        total = self.ridge * np.eye(len(x))
        for rows in self.shards:
            spread = 1.0 / (2.0 * np.cosh(0.5 * (rows @ x))) ** 2
            total += rows.T @ (spread[:, None] * rows)
        return total

    def search(self) -> np.ndarray:
        """The optimum by Newton's method with halved steps, to rounding: the harness's own reference."""
        x = np.zeros(self.shards[0].shape[1])
        value, gradient, bound = self.parts(x)
        for _ in range(50):
            step = np.linalg.solve(self.curvature(x), gradient)
            if value - bound <= 1e-13 * abs(value):
                break
            share = 1.0
            while share > 1e-6 and self.parts(x - share * step)[0] > value:
                share *= 0.5
            x = x - share * step
            value, gradient, bound = self.parts(x)
        return x

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        value, _, bound = self.parts(np.asarray(answer, dtype=np.float64).ravel())
        self.bounds.see(np.array([bound]))
        return np.array([value])
