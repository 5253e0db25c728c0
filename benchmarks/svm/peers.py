"""The peers behind one interface: `prepare` once, outside the clock; `fit` times the peer's own training call alone.

Each class says which documented options it uses and why. `fit` gives the seconds of the wall clock, those of the
processor, and the model: a row a decision function, its weights and then its bias. A decision function of two classes
is positive for the larger label; of several classes there is one a label, ascending. Imports are inside `prepare`, so
that one missing peer does not stop the others.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from settings import EPSILON

Fit = tuple[float, float, np.ndarray]
UNLIMITED = 2_000_000_000


def clocked(work: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - processor, result


class Liblinear:
    """`-s 3`, the dual of the hinge loss, with the bias as a feature (`-B 1`): penalised. At most 300 iterations."""

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from liblinear import liblinear

        self.api = liblinear
        self.features = rows.shape[1]
        self.data = liblinear.problem(labels, rows, 1.0)

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        api = self.api
        parameter = api.parameter(f"-s 3 -B 1 -q -c {cost!r} -e {setting['e']!r}")
        wall, processor, pointer = clocked(lambda: api.liblinear.train(self.data, parameter))
        model = api.toPyModel(pointer)
        labels = model.get_labels()
        functions = 1 if len(labels) == 2 else len(labels)
        # Weights of one feature after the other, a number a decision function.
        weights = np.array(model.w[: (self.features + 1) * functions]).reshape(self.features + 1, functions).T
        if functions == 1:
            return wall, processor, weights if labels[0] > labels[1] else -weights
        return wall, processor, weights[np.argsort(labels)]


class Scikit:
    """What is common to scikit-learn's LIBLINEAR: dual, no limit on iterations, the bias penalised."""

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        self.rows, self.labels = rows, labels

    def options(self, cost: float, setting: dict[str, Any]) -> dict[str, Any]:
        return {
            "C": cost, "tol": setting["tol"], "max_iter": UNLIMITED, "dual": True, "fit_intercept": True,
            "intercept_scaling": 1.0, "random_state": 1,
        }  # fmt: skip

    def timed(self, model: Any) -> Fit:
        wall, processor, _ = clocked(lambda: model.fit(self.rows, self.labels))
        weights = np.atleast_2d(model.coef_)
        return wall, processor, np.hstack((weights, np.reshape(model.intercept_, (-1, 1))))


class LinearSvc(Scikit):
    """scikit-learn's LIBLINEAR, hinge loss: the same method as `-s 3` without the limit on iterations."""

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        from sklearn.svm import LinearSVC

        return self.timed(LinearSVC(loss="hinge", **self.options(cost, setting)))


class LinearSvr(Scikit):
    """scikit-learn's LIBLINEAR for regression, epsilon-insensitive loss."""

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        from sklearn.svm import LinearSVR

        options = self.options(cost, setting)
        return self.timed(LinearSVR(loss="epsilon_insensitive", epsilon=EPSILON, **options))


class Rehline:
    """plqERM_Ridge and a column of ones: `C sum loss + |beta|^2 / 2`, penalised bias.

    Sparse rows stay sparse; a set that is mostly non-zero is given as a dense array, which is faster there. The
    shrinking variant is the default and faster on every set tried.
    """

    loss = {"name": "svm"}

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from rehline import plqERM_Ridge

        self.model, self.labels = plqERM_Ridge, labels
        ones = np.ones((rows.shape[0], 1))
        self.rows = sparse.csr_matrix(sparse.hstack((rows, ones), format="csr"))
        narrow(self.rows)
        if self.rows.nnz > 0.5 * self.rows.shape[0] * self.rows.shape[1]:
            self.rows = np.ascontiguousarray(self.rows.toarray())

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        model = self.model(loss=self.loss, C=cost, tol=setting["tol"], max_iter=UNLIMITED, shrink=1, verbose=0)
        wall, processor, _ = clocked(lambda: model.fit(self.rows, self.labels))
        return wall, processor, np.atleast_2d(model.coef_)


class RehlineSvr(Rehline):
    """The same with the epsilon-insensitive loss."""

    loss = {"name": "svr", "epsilon": EPSILON}


class Snapml:
    """SupportVectorMachine, hinge loss (dual), `regularizer = 1 / C`: the bias is an appended feature, penalised.

    `normalize` is recommended for speed but changes the problem, so it stays off.
    """

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from snapml import SupportVectorMachine

        self.model, self.labels = SupportVectorMachine, labels
        self.rows = rows.astype(np.float32)

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        model = self.model(
            loss="hinge", regularizer=1.0 / cost, fit_intercept=True, intercept_scaling=1.0, normalize=False,
            n_jobs=1, use_gpu=False, max_iter=int(setting["max_iter"]), tol=setting["tol"], random_state=1,
        )  # fmt: skip
        wall, processor, _ = clocked(lambda: model.fit(self.rows, self.labels))
        weights = np.append(np.ravel(model.coef_), np.ravel(model.intercept_)[0])
        return wall, processor, np.atleast_2d(weights).astype(np.float64)


PEERS = {kind.__name__: kind for kind in (Liblinear, LinearSvc, LinearSvr, Rehline, RehlineSvr, Snapml)}


def narrow(rows: sparse.csr_matrix) -> None:
    """32-bit indices, sorted: what the peers take without copying."""
    rows.sort_indices()
    rows.indices = rows.indices.astype(np.int32)
    rows.indptr = rows.indptr.astype(np.int32)


def quiet() -> None:
    """Convergence warnings are expected: the ladder starts loose."""
    warnings.simplefilter("ignore")
