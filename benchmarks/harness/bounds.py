"""The gap of an answer to the best lower bound that any answer of the run gave. It must not know any solver."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Bounds:
    """The best lower bound known for each part of a job (lambda, right-hand side, ...); any dual point may raise it."""

    best: np.ndarray | None = None
    # From the answer judged last alone.
    last: np.ndarray | None = None

    def see(self, values: np.ndarray) -> None:
        values = np.where(np.isfinite(values), values, -np.inf)
        self.last = values
        self.best = values if self.best is None else np.maximum(self.best, values)

    def measure(self, primal: np.ndarray, scale: np.ndarray) -> float:
        return worst_gap(primal, self.best, scale)

    def own(self, primal: np.ndarray, scale: np.ndarray) -> float | None:
        """The gap between an answer just judged and the dual point made of it alone, where there is one."""
        gap = worst_gap(primal, self.last, scale)
        self.last = None
        return gap if np.isfinite(gap) else None


def worst_gap(primal: np.ndarray, bound: np.ndarray | None, scale: np.ndarray) -> float:
    # A part of -inf was not asked for.
    asked = primal > -np.inf
    if bound is None or not asked.any():
        return float("inf")
    worst = float(np.max((primal[asked] - bound[asked]) / scale[asked]))
    return worst if np.isfinite(worst) else float("inf")
