"""What all estimators share: settings of a run, the certificate of its result, warnings, linear predictions.

Given the answers of the extension; sets the fitted attributes. Must not know: any model.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._callbacks import CallbackSupportMixin, announced, tell
from ._certificate import Certificate
from ._data import FLOATS, aligned, check_readable
from ._progress import watched

__all__ = ["CertifiedEstimator", "LinearRegressor", "outside", "threads_of", "warn_if_not_converged"]

_REASONS = {
    "iteration-limit": "max_iter was reached: increase it, or increase tol",
    "time-limit": "time_limit was reached: increase it, or increase tol",
    "time_limit": "time_limit was reached: increase it, or increase tol",
    "stalled": "rounding leaves no more to be gained: increase tol, or scale the data",
    "interrupted": "it was interrupted",
}

# What the library calls parameters of estimators.
_PARAMETERS = {
    "cost": ("C",), "gap": ("tol",), "max-epochs": ("max_iter",), "max_epochs": ("max_iter",), "threads": ("n_jobs",), "seed": ("random_state",),
    "intercept": ("fit_intercept",), "class-weight": ("class_weight",), "class_weights": ("class_weight",), "lam": ("alpha", "lam"),
    "lambda": ("alpha", "lam"), "max_rounds": ("max_iter",), "max-rounds": ("max_iter",),
}


def threads_of(n_jobs: int | None) -> int:
    """Threads for ``n_jobs`` as joblib reads it.

    >>> threads_of(None), threads_of(2)
    (1, 2)
    """
    return int(effective_n_jobs(n_jobs))


def seed_of(random_state: Any) -> int:
    """A seed for ``random_state``; 0 where none is given, so that runs repeat.

    >>> seed_of(None), seed_of(7)
    (0, 7)
    """
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def warn_if_not_converged(name: str, certificate: Certificate, tol: float) -> None:
    """A ConvergenceWarning with the gap and the status, where there is reason for one; what else the library doubts, too."""
    doubt = certificate.get("doubt")
    if certificate.converged:
        if doubt:
            warnings.warn(f"{name} converged, but {doubt}", UserWarning, stacklevel=outside())
        return
    status, gap = certificate.get("status"), certificate.gap
    found = "no gap is known" if gap is None else f"the relative gap is {np.max(gap):.3e}"
    warnings.warn(
        f"{name} ended with status {status!r}: {found}, tol={tol:g} was asked for; "
        + (doubt or _REASONS.get(str(status), "increase tol")),
        ConvergenceWarning,
        stacklevel=outside(),
    )


def outside() -> int:
    """The `stacklevel` of the line that called this package, for a warning of the function that asks."""
    ours = (__name__.partition(".")[0] + ".", "sklearn.callback.")
    level, frame = 0, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(ours):
        level, frame = level + 1, frame.f_back
    return level + 1


class CertifiedEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators: how a run is started, and what is kept of its answer."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A `fit` of its own is one that callbacks hear of."""
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):
            cls.fit = announced(cls.fit)

    def _validated(self, x: Any, y: Any = "no_validation", *, reset: bool, **kwargs: Any) -> Any:
        """X (and y) checked by scikit-learn's rules; float32 and float64, sparse where the estimator takes it."""
        sparse = ("csr", "csc") if self.__sklearn_tags__().input_tags.sparse else False
        check_readable(x)
        found = validate_data(
            self, x, y, reset=reset, accept_sparse=sparse, dtype=FLOATS, accept_large_sparse=True, **kwargs
        )
        return (aligned(found[0]), *found[1:]) if isinstance(found, tuple) else aligned(found)

    def _run(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the extension with what every long function takes."""
        with watched(type(self).__name__, self.verbose, tell(self, getattr(self, "callback", None))) as progress:
            try:
                return function(
                    *args, threads=threads_of(self.n_jobs), time_limit=self.time_limit, progress=progress, **kwargs
                )
            except (TypeError, ValueError) as error:
                parameter = self._parameter_of(str(error))
                if parameter is None:
                    raise
                raise type(error)(f"{error} ({parameter} of {type(self).__name__})") from None

    def _parameter_of(self, words: str) -> str | None:
        """The parameter that the library speaks of under a name of its own, if these are such words."""
        said = re.match(r"(?:setting |\w+\(\): )([\w-]+)", words)
        names = _PARAMETERS.get(said.group(1), ()) if said else ()
        return next((name for name in names if hasattr(self, name)), None)

    def _keep(self, result: Mapping[str, Any], **more: Any) -> None:
        """Sets what is known of the result, and warns where that is less than asked for."""
        certificate = Certificate.of(result, **more)
        self.certificate_ = certificate
        self.status_ = certificate.get("status")
        self.gap_ = certificate.gap
        self.objective_ = certificate.get("objective")
        work = next((result[key] for key in ("epochs", "rounds", "walks", "passes") if result.get(key) is not None), 1)
        self.n_iter_ = max(1, int(np.ceil(np.max(work))))
        warn_if_not_converged(type(self).__name__, certificate, self.tol)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The diagram of scikit-learn, and the certificate below it."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and hasattr(self, "certificate_"):
            bundle["text/html"] += self.certificate_._repr_html_()
        return bundle


def linear(x: Any, coefficients: np.ndarray, intercept: Any) -> np.ndarray:
    """``X w + b`` row by row, so that a row's value does not depend on the rows beside it."""
    if sp.issparse(x):
        return np.asarray(x @ coefficients.T) + intercept
    # A product of one row and one list of weights has one order of summation; BLAS chooses others by the number of rows.
    return np.einsum("ij,...j->i...", np.asarray(x, dtype=np.float64), coefficients) + intercept


class LinearRegressor(RegressorMixin, CertifiedEstimator):
    """A regressor with ``coef_`` and ``intercept_``."""

    def predict(self, X):
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T + intercept_``.
        """
        check_is_fitted(self)
        return linear(self._validated(X, reset=False), self.coef_, self.intercept_)


def centred(x: Any, y: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """X and y less their (weighted) means, and the means: what leaves an unpenalised intercept out of a problem."""
    x = x.toarray() if sp.issparse(x) else np.asarray(x, dtype=np.float64)
    mean_x, mean_y = np.average(x, axis=0, weights=weights), np.average(y, axis=0, weights=weights)
    return x - mean_x, y - mean_y, mean_x, mean_y
