"""The peers behind one interface: `prepare` once, outside the clock; `fit` times the peer's own training call alone.

Each class says which documented options it uses and why. `fit` gives (seconds, weights, bias) with the decision
function positive for label +1. Imports are inside `prepare`, so that one missing peer does not stop the others.
"""

import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse

Fit = tuple[float, np.ndarray, float]


class Libsvm:
    """C-SVC with the linear kernel: ours is the same problem. Shrinking on, a cache of 2000 MB."""

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from libsvm import svm

        self.api = svm
        self.rows = rows
        self.data = svm.svm_problem(labels, rows)

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        api = self.api
        options = f"-s 0 -t 0 -h 1 -m 2000 -q -c {cost!r} -e {setting['e']!r}"
        parameter = api.svm_parameter(options)
        start = time.perf_counter()
        pointer = api.libsvm.svm_train(self.data, parameter)
        seconds = time.perf_counter() - start
        model = api.toPyModel(pointer)
        coefficients = np.array([value[0] for value in model.get_sv_coef()])
        chosen = np.array(model.get_sv_indices()) - 1
        weights = np.asarray(self.rows[chosen].T @ coefficients).ravel()
        bias = -model.rho[0]
        sign = float(model.get_labels()[0])
        return seconds, sign * weights, sign * bias


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
        start = time.perf_counter()
        pointer = api.liblinear.train(self.data, parameter)
        seconds = time.perf_counter() - start
        model = api.toPyModel(pointer)
        weights = np.array(model.w[: self.features + 1])
        sign = float(model.get_labels()[0])
        return seconds, sign * weights[:-1], sign * float(weights[-1])


class LinearSvc:
    """scikit-learn's LIBLINEAR, hinge loss and dual: the same method without the limit on iterations. Penalised."""

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from sklearn.svm import LinearSVC

        self.model, self.rows, self.labels = LinearSVC, rows, labels

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        model = self.model(
            loss="hinge", dual=True, C=cost, tol=setting["tol"], max_iter=2_000_000_000, fit_intercept=True,
            intercept_scaling=1.0, random_state=1,
        )  # fmt: skip
        start = time.perf_counter()
        model.fit(self.rows, self.labels)
        seconds = time.perf_counter() - start
        return seconds, model.coef_[0], float(model.intercept_[0])


class Sgd:
    """SGDClassifier, hinge loss, `alpha = 1 / (C n)` (its objective is ours over C n), the documented step size."""

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from sklearn.linear_model import SGDClassifier

        self.model, self.rows, self.labels = SGDClassifier, rows, labels

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        model = self.model(
            loss="hinge", penalty="l2", alpha=1.0 / (cost * len(self.labels)), learning_rate="optimal", tol=None,
            max_iter=setting["epochs"], average=setting["average"], n_jobs=1, random_state=1,
        )  # fmt: skip
        start = time.perf_counter()
        model.fit(self.rows, self.labels)
        seconds = time.perf_counter() - start
        return seconds, model.coef_[0], float(model.intercept_[0])


class Rehline:
    """plqERM_Ridge with the hinge loss and a column of ones: `C sum loss + |beta|^2 / 2`, penalised bias.

    Sparse rows stay sparse; a set that is mostly non-zero is given as a dense array, which is faster there. The
    shrinking variant is the default and faster on every set tried.
    """

    def prepare(self, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
        from rehline import plqERM_Ridge

        self.model, self.labels = plqERM_Ridge, labels
        ones = np.ones((rows.shape[0], 1))
        self.rows = sparse.csr_matrix(sparse.hstack((rows, ones), format="csr"))
        narrow(self.rows)
        if self.rows.nnz > 0.5 * self.rows.shape[0] * self.rows.shape[1]:
            self.rows = np.ascontiguousarray(self.rows.toarray())

    def fit(self, cost: float, setting: dict[str, Any]) -> Fit:
        model = self.model(
            loss={"name": "svm"}, C=cost, tol=setting["tol"], max_iter=2_000_000_000, shrink=1, verbose=0
        )
        start = time.perf_counter()
        model.fit(self.rows, self.labels)
        seconds = time.perf_counter() - start
        return seconds, model.coef_[:-1], float(model.coef_[-1])


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
        start = time.perf_counter()
        model.fit(self.rows, self.labels)
        seconds = time.perf_counter() - start
        weights = np.ravel(model.coef_).astype(np.float64)
        return seconds, weights, float(np.ravel(model.intercept_)[0])


PEERS = {
    "libsvm": Libsvm,
    "liblinear": Liblinear,
    "linearsvc": LinearSvc,
    "sgd": Sgd,
    "rehline": Rehline,
    "snapml": Snapml,
}


def narrow(rows: sparse.csr_matrix) -> None:
    """32-bit indices, sorted: what the peers take without copying."""
    rows.sort_indices()
    rows.indices = rows.indices.astype(np.int32)
    rows.indptr = rows.indptr.astype(np.int32)


def quiet() -> None:
    """Convergence warnings are expected: the ladder starts loose."""
    warnings.simplefilter("ignore")
