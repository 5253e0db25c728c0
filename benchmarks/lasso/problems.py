"""The problems: their generated data, and the harness's own judgement of an answer.

Every problem minimises 1/2 ||y - A x||^2 plus a penalty, or subject to a simplex. An answer is made feasible (outside
any clock), its primal value is computed here, and a dual point is built from it here, which gives a lower bound of the
optimum. The measure of an answer is (primal - best bound known) / ||y||^2, the worst over the lambdas of a path or
over the right-hand sides. It must not know any solver.
"""

from dataclasses import dataclass, field

import numpy as np
from bounds import Bounds


def planted(seed: int, rows: int, columns: int, nonzeros: int, noise: float, zero_sum: bool):
    """Standard normal X; a planted vector of that many entries, +-(1 to 2), summing to zero on request."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((rows, columns))
    chosen = random.choice(columns, nonzeros, replace=False)
    values = random.uniform(1.0, 2.0, nonzeros) * random.choice([-1.0, 1.0], nonzeros)
    if zero_sum:
        values -= values.mean()
    target = matrix[:, chosen] @ values + noise * random.standard_normal(rows)
    return matrix, target


def steps(random: np.random.Generator, length: int, segments: int, deviation: float) -> np.ndarray:
    """A piecewise constant signal: borders uniform without repetition, levels normal."""
    borders = np.sort(random.choice(length - 1, segments - 1, replace=False)) + 1
    lengths = np.diff(np.concatenate([[0], borders, [length]]))
    return np.repeat(deviation * random.standard_normal(segments), lengths)


def chain_signal(seed: int, length: int, segments: int, noise: float) -> np.ndarray:
    random = np.random.default_rng(seed)
    return steps(random, length, segments, 2.0) + noise * random.standard_normal(length)


def bent_signal(seed: int, length: int, pieces: int, noise: float) -> np.ndarray:
    """Piecewise linear: slopes standard normal over 100, constant between borders, plus noise."""
    random = np.random.default_rng(seed)
    slopes = steps(random, length, pieces, 0.01)
    return np.cumsum(slopes) + noise * random.standard_normal(length)


def image(seed: int, side: int, shapes: int, noise: float) -> np.ndarray:
    """Rectangles and discs of random grey painted over one another, plus noise."""
    random = np.random.default_rng(seed)
    picture = np.full((side, side), 0.5)
    down, right = np.mgrid[0:side, 0:side]
    for number in range(shapes):
        top, left = random.integers(0, side, 2)
        height, width = random.integers(side // 16, side // 3, 2)
        grey = random.uniform()
        if number % 2 == 0:
            picture[top : top + height, left : left + width] = grey
        else:
            picture[(down - top) ** 2 + (right - left) ** 2 < (height // 2) ** 2] = grey
    return picture + noise * random.standard_normal((side, side))


def stepped_regression(seed: int, rows: int, columns: int, segments: int, noise: float):
    """Standard normal X and a piecewise constant coefficient vector."""
    random = np.random.default_rng(seed)
    truth = steps(random, columns, segments, 1.0)
    matrix = random.standard_normal((rows, columns))
    return matrix, matrix @ truth + noise * random.standard_normal(rows)


def mixtures(seed: int, rows: int, columns: int, parts: int, noise: float, count: int):
    """Columns uniform on [0, 1]; each target mixes `parts` of them with weights uniform on the simplex, plus noise."""
    random = np.random.default_rng(seed)
    matrix = random.uniform(size=(rows, columns))
    weights = np.zeros((columns, count))
    for number in range(count):
        weights[random.choice(columns, parts, replace=False), number] = random.dirichlet(np.ones(parts))
    return matrix, matrix @ weights + noise * random.standard_normal((rows, count))


def scaled_dual(target: np.ndarray, residual: np.ndarray, slope: float, weight: float) -> float:
    """The best value of the dual on the ray through the residual, which is feasible up to weight / slope."""
    square = float(residual @ residual)
    if square == 0.0:
        return 0.0
    limit = weight / slope if slope > 0.0 else np.inf
    factor = float(np.clip(target @ residual / square, -limit, limit))
    return factor * float(target @ residual) - 0.5 * factor**2 * square


@dataclass
class Lasso:
    """1/2 ||y - X b||^2 + lambda ||b||_1, with sum(b) = 0 where `zero_sum`; one answer a lambda, as rows."""

    matrix: np.ndarray
    target: np.ndarray
    lambdas: np.ndarray
    zero_sum: bool
    bounds: Bounds = field(default_factory=Bounds)

    def repaired(self, answer: np.ndarray) -> np.ndarray:
        answer = np.array(answer, dtype=np.float64).reshape(len(self.lambdas), -1)
        if self.zero_sum:
            # The shift goes to the entries that are there; those that are zero stay so.
            for row in answer:
                support = np.abs(row) > 1e-9 * np.abs(row).max(initial=0.0)
                if support.any():
                    row[support] -= row.sum() / support.sum()
                    row[~support] = 0.0
                    row[np.argmax(np.abs(row))] -= row.sum()
        return answer

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        answer = self.repaired(answer)
        residuals = self.target[:, None] - self.matrix @ answer.T
        gradients = self.matrix.T @ residuals
        primal, bound = [], []
        for number, weight in enumerate(self.lambdas):
            residual, gradient = residuals[:, number], gradients[:, number]
            middle = 0.5 * (gradient.max() + gradient.min()) if self.zero_sum else 0.0
            slope = float(np.abs(gradient - middle).max())
            primal.append(0.5 * residual @ residual + weight * np.abs(answer[number]).sum())
            bound.append(scaled_dual(self.target, residual, slope, weight))
        self.bounds.see(np.array(bound))
        return np.array(primal)

    @property
    def scale(self) -> np.ndarray:
        return np.full(len(self.lambdas), float(self.target @ self.target))


def lambda_max(matrix: np.ndarray, target: np.ndarray, zero_sum: bool) -> float:
    gradient = matrix.T @ target
    return float(0.5 * (gradient.max() - gradient.min()) if zero_sum else np.abs(gradient).max())


def geometric(largest: float, ratio: float, count: int) -> np.ndarray:
    return largest * ratio ** (np.arange(count) / (count - 1))


@dataclass
class Stepped:
    """1/2 ||y - X b||^2 + lambda sum |b_(j+1) - b_j|: a lasso in the steps, of which the first is free."""

    matrix: np.ndarray
    target: np.ndarray
    weight: float
    bounds: Bounds = field(default_factory=Bounds)

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        answer = np.asarray(answer, dtype=np.float64).ravel()
        residual = self.target - self.matrix @ answer
        primal = 0.5 * residual @ residual + self.weight * np.abs(np.diff(answer)).sum()
        # A dual point is orthogonal to X 1, the column of the free step.
        ones = self.matrix.sum(axis=1)
        inside = residual - ones * (ones @ residual) / (ones @ ones)
        gradient = np.cumsum((self.matrix.T @ inside)[::-1])[::-1][1:]
        self.bounds.see(np.array([scaled_dual(self.target, inside, float(np.abs(gradient).max()), self.weight)]))
        return np.array([primal])

    @property
    def scale(self) -> np.ndarray:
        return np.array([float(self.target @ self.target)])


def stepped_lambda_max(matrix: np.ndarray, target: np.ndarray) -> float:
    ones = matrix.sum(axis=1)
    inside = target - ones * (ones @ target) / (ones @ ones)
    return float(np.abs(np.cumsum((matrix.T @ inside)[::-1])[::-1][1:]).max())


@dataclass
class Denoise:
    """1/2 ||y - x||^2 + lambda ||D x||_1; D by `shape`: "chain", "grid" (y a picture) or "trend" (order 1)."""

    target: np.ndarray
    weight: float
    shape: str
    bounds: Bounds = field(default_factory=Bounds)
    # D as a sparse matrix, where a solver wants one.
    rows: object = None

    def differences(self, signal: np.ndarray) -> np.ndarray:
        if self.shape == "grid":
            return np.concatenate([np.diff(signal, axis=1).ravel(), np.diff(signal, axis=0).ravel()])
        return np.diff(signal, n=2 if self.shape == "trend" else 1)

    def adjoint(self, flow: np.ndarray) -> np.ndarray:
        """D' z: minus the differences of z with zeros at both ends, once for each order."""
        if self.shape == "grid":
            rows, columns = self.target.shape
            across = flow[: rows * (columns - 1)].reshape(rows, columns - 1)
            down = flow[rows * (columns - 1) :].reshape(rows - 1, columns)
            return -np.diff(np.pad(across, ((0, 0), (1, 1))), axis=1) - np.diff(np.pad(down, ((1, 1), (0, 0))), axis=0)
        for _ in range(2 if self.shape == "trend" else 1):
            flow = -np.diff(np.pad(flow, 1))
        return flow

    def search(self, accuracy: float, most: int) -> np.ndarray:
        """A dual point of a grid by accelerated projected gradients with restarts; D D' is at most 8.

        An answer on a grid does not give a dual point by itself, and somebody has to.
        """
        flow = np.zeros(len(self.differences(self.target)))
        ahead, momentum = flow.copy(), 1.0
        for number in range(most):
            answer = self.target - self.adjoint(ahead)
            new = np.clip(ahead + self.differences(answer) / 8.0, -self.weight, self.weight)
            if float((ahead - new) @ (new - flow)) > 0.0:
                momentum = 1.0
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = new + (momentum - 1.0) / faster * (new - flow)
            flow, momentum = new, faster
            if number % 50 == 49:
                answer = self.target - self.adjoint(flow)
                steps = self.differences(answer)
                # The gap of x = y - D'z is lambda ||D x||_1 - z'D x.
                gap = self.weight * float(np.abs(steps).sum()) - float(flow @ steps)
                if gap <= accuracy * float((self.target**2).sum()):
                    break
        return flow

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        answer = np.asarray(answer, dtype=np.float64).reshape(self.target.shape)
        rest = self.target - answer
        primal = 0.5 * float((rest**2).sum()) + self.weight * float(np.abs(self.differences(answer)).sum())
        if dual is None and self.shape == "chain":
            dual = -np.cumsum(rest)[:-1]
        if dual is not None:
            left = self.target - self.adjoint(np.clip(dual, -self.weight, self.weight))
            self.bounds.see(np.array([0.5 * float((self.target**2).sum()) - 0.5 * float((left**2).sum())]))
        return np.array([primal])

    @property
    def scale(self) -> np.ndarray:
        return np.array([float((self.target**2).sum())])


@dataclass
class Simplex:
    """1/2 ||y_k - X w_k||^2 with w_k >= 0 and sum 1, for each column y_k of the target; answers as columns."""

    matrix: np.ndarray
    target: np.ndarray
    bounds: Bounds = field(default_factory=Bounds)

    def judge(self, answer: np.ndarray, dual: np.ndarray | None = None) -> np.ndarray:
        targets = self.target.reshape(len(self.matrix), -1)
        answer = np.maximum(np.asarray(answer, dtype=np.float64).reshape(self.matrix.shape[1], -1), 0.0)
        answer = answer / answer.sum(axis=0)
        residual = self.matrix @ answer - targets
        gradient = self.matrix.T @ residual
        primal = 0.5 * (residual**2).sum(axis=0)
        self.bounds.see(primal + gradient.min(axis=0) - (gradient * answer).sum(axis=0))
        return primal

    @property
    def scale(self) -> np.ndarray:
        return (self.target.reshape(len(self.matrix), -1) ** 2).sum(axis=0)
