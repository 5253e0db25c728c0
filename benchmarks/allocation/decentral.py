"""The peers of consensus: decentralised ADMM and gradient tracking in numpy, and one solver that has all the data.

Both exchange vectors with all neighbours in every iteration, in the same graph as ours, and what crosses an edge is
counted as ours is: 8 bytes a number and 16 a message. They stop when the mean of the nodes' points is within the
accuracy of the optimum, which an observer who knows it looks up outside the clock, and whose messages are not counted;
they need prove nothing. A setting that has sent more than another needed to get there is given up, and so is one whose
gap has not fallen by a tenth over the second half of its iterations.
"""

import time

import numpy as np
from problems import Logistic

Solved = tuple[float, np.ndarray, np.ndarray | None]
ACCURACY = 1e-6
# Seconds of work in one call.
PATIENCE = 200.0


def clock() -> float:
    return time.perf_counter()


class Nodes:
    """What both share: shards as one array (padded by rows of zeros, which pull nowhere), the graph, the observer."""

    # Vectors that a node sends to each neighbour in an iteration.
    vectors = 1

    def prepare(self, problem: Logistic) -> None:
        self.problem, self.edges = problem, problem.edges
        self.nodes, self.size = len(problem.shards), problem.shards[0].shape[1]
        longest = max(len(rows) for rows in problem.shards)
        # Signed rows: y_k a_k.
        self.rows = np.zeros((self.nodes, longest, self.size))
        for node, (rows, labels) in enumerate(zip(problem.shards, problem.labels, strict=True)):
            self.rows[node, : len(rows)] = labels[:, None] * rows
        self.ridge = problem.ridge / self.nodes
        self.degree = np.bincount(self.edges.ravel(), minlength=self.nodes).astype(np.float64)
        self.adjacent = np.zeros((self.nodes, self.nodes))
        self.adjacent[self.edges[:, 0], self.edges[:, 1]] = self.adjacent[self.edges[:, 1], self.edges[:, 0]] = 1.0
        self.best = problem.parts(problem.optimum)[0]
        self.least = np.inf
        local = self.curvatures(np.tile(problem.optimum, (self.nodes, 1)))
        self.local_extremes = np.linalg.eigvalsh(local)[:, [0, -1]]
        self.mean_extremes = np.linalg.eigvalsh(local.mean(axis=0))[[0, -1]]
        self.ready()

    def ready(self) -> None:
        """Numbers of the method that do not depend on a setting."""

    def margins(self, points: np.ndarray) -> np.ndarray:
        return np.matmul(self.rows, points[:, :, None])[:, :, 0]

    def gradients(self, points: np.ndarray) -> np.ndarray:
        weights = 1.0 / (1.0 + np.exp(np.clip(self.margins(points), -700.0, 700.0)))
        return self.ridge * points - np.matmul(weights[:, None, :], self.rows)[:, 0, :]

    def curvatures(self, points: np.ndarray) -> np.ndarray:
        spread = 1.0 / (2.0 * np.cosh(np.clip(0.5 * self.margins(points), -300.0, 300.0))) ** 2
        found = np.stack([rows.T @ (weights[:, None] * rows) for rows, weights in zip(self.rows, spread, strict=True)])
        return found + self.ridge * np.eye(self.size)

    def solve(self, setting: dict) -> Solved:
        """Iterates until the observer is content; every fiftieth part of the way is looked at."""
        spent, self.bytes = 0.0, 0
        each = 2 * len(self.edges) * (8 * self.vectors * self.size + 16)
        iterations = self.iterations(setting)
        points, seen = np.zeros((self.nodes, self.size)), []
        for number in range(1, 1_000_000):
            start = clock()
            points = next(iterations)
            spent += clock() - start
            self.bytes = number * each
            if number % max(1, number // 50) == 0:
                mean = points.mean(axis=0)
                gap = (self.problem.parts(mean)[0] - self.best) / self.best
                if gap <= ACCURACY:
                    self.least = min(self.least, self.bytes)
                    break
                seen.append((number, gap))
                half = next(before for at, before in reversed(seen) if at <= number // 2) if number > 100 else np.inf
                if not gap < 0.9 * half or self.bytes > self.least or spent > PATIENCE:
                    break
        return spent, points.mean(axis=0), None

    def iterations(self, setting: dict):
        raise NotImplementedError


class Admm(Nodes):
    """Decentralised consensus ADMM (Shi et al. 2014): x_i minimises f_i(x) + a_i'x + rho sum_j ||x - (x_i + x_j)/2||^2
    over its neighbours j, then a_i += rho sum_j (x_i - x_j). One vector to each neighbour in an iteration.

    rho is given as a multiple of sqrt(mu L) / sqrt(l_2 l_max): the extreme curvatures of the mean of the f_i at the
    optimum and the extreme eigenvalues of the graph's Laplacian. Local problems are solved by Newton steps to a
    thousandth of where they began, with curvatures that are renewed when they have aged.
    """

    def ready(self) -> None:
        values = np.linalg.eigvalsh(np.diag(self.degree) - self.adjacent)
        self.unit = float(np.sqrt(np.prod(self.mean_extremes)) / np.sqrt(values[1] * values[-1]))

    def iterations(self, setting: dict):
        rho = setting["rho"] * self.unit
        points, tilt = np.zeros((self.nodes, self.size)), np.zeros((self.nodes, self.size))
        pulls = 2.0 * rho * self.degree[:, None]
        inverse = None
        smallest = 1e-12 * np.abs(self.gradients(points)).max()
        while True:
            target = tilt - rho * (self.degree[:, None] * points + self.adjacent @ points)
            begun = None
            for tried in range(30):
                slope = self.gradients(points) + target + pulls * points
                size = float(np.abs(slope).max())
                begun = size if begun is None else begun
                if size <= max(1e-3 * begun, smallest):
                    break
                if inverse is None or tried in (4, 8, 16):
                    inverse = np.linalg.inv(self.curvatures(points) + pulls[:, :, None] * np.eye(self.size))
                points = points - np.matmul(inverse, slope[:, :, None])[:, :, 0]
            tilt = tilt + rho * (self.degree[:, None] * points - self.adjacent @ points)
            yield points


class GradientTracking(Nodes):
    """x <- W (x - step y), y <- W (y + the change of the own gradient), W Metropolis's weights: adapt, then combine.
    Two vectors to each neighbour in an iteration. The step is given as a multiple of 1 / the largest curvature of a
    node at the optimum."""

    vectors = 2

    def ready(self) -> None:
        weights = self.adjacent / (1.0 + np.maximum.outer(self.degree, self.degree))
        self.mixing = weights + np.diag(1.0 - weights.sum(axis=1))
        self.unit = 1.0 / float(self.local_extremes[:, 1].max())

    def iterations(self, setting: dict):
        step = setting["step"] * self.unit
        points = np.zeros((self.nodes, self.size))
        slopes = self.gradients(points)
        track = slopes.copy()
        while True:
            points = self.mixing @ (points - step * track)
            new = self.gradients(points)
            track = self.mixing @ (track + new - slopes)
            slopes = new
            yield points


class CentralLogistic:
    """scikit-learn with all the data: C = 1 / S, no intercept."""

    def prepare(self, problem: Logistic) -> None:
        from sklearn.linear_model import LogisticRegression

        self.model = LogisticRegression
        self.rows, self.labels = np.vstack(problem.shards), np.concatenate(problem.labels)
        self.cost = 1.0 / problem.ridge

    def solve(self, setting: dict) -> Solved:
        start = clock()
        model = self.model(
            C=self.cost, fit_intercept=False, solver=setting["solver"], tol=setting["tol"], max_iter=10_000
        ).fit(self.rows, self.labels)
        return clock() - start, model.coef_[0], None
