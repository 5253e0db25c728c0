"""Least squares under constraints: synthetic controls, stacking, unmixing; with a proven gap.

The problem is that of docs/constrained.md; all numerics are the extension's.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import _native
from ._base import LinearRegressor, centred
from ._data import matrix, number, vector, weights_of, without_zero_weights

__all__ = ["ConstrainedLeastSquares", "SimplexRegressor"]


class _Constrained(LinearRegressor):
    """One call of the extension, for one target or many."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fit(self, X, y, sample_weight, *, lower, upper, total=None, equality=None):
        x, y = self._validated(X, y, reset=True, multi_output=True, y_numeric=True)
        weights = weights_of(sample_weight, x)
        x, y, weights = without_zero_weights(x, np.asarray(y, dtype=np.float64), weights)
        mean_x, mean_y = 0.0, None
        if self.fit_intercept:
            x, y, mean_x, mean_y = centred(x, y, weights)
        columns = x.shape[1]
        start = getattr(self, "coef_", None) if self.warm_start else None
        if start is not None and start.shape != ((columns,) if y.ndim == 1 else (y.shape[1], columns)):
            start = None
        result = self._run(
            _native.constrained_fit, x, y, lower=_limits(lower, columns, "lower", -np.inf),
            upper=_limits(upper, columns, "upper", np.inf), total=total, equations=_equations(equality, columns),
            ridge=self.ridge, sample_weight=weights, gap=self.tol, start=start,
        )
        self.coef_ = np.asarray(result["x"])
        if mean_y is None:
            self.intercept_ = 0.0 if y.ndim == 1 else np.zeros(y.shape[1])
        else:
            self.intercept_ = mean_y - linear_of(mean_x, self.coef_)
        self.dual_coef_ = np.asarray(result["multipliers"])
        self.support_ = np.flatnonzero(self.coef_ if self.coef_.ndim == 1 else self.coef_.any(axis=0))
        self._keep(result, **_over_targets(result))
        return self


def linear_of(mean, coefficients):
    """The prediction at the means."""
    return coefficients @ mean


def _limits(value, columns, name, missing):
    if value is None:
        return np.full(columns, missing)
    if np.isscalar(value):
        return np.full(columns, number(value, name))
    return vector(value, name, length=columns, infinite=True)


def _equations(equality, columns):
    if equality is None:
        return None
    try:
        rows, rhs = equality
    except (TypeError, ValueError):
        raise ValueError(f"equality must be a pair (A, b), got {equality!r}") from None
    rows = rows.toarray() if sp.issparse(rows) else rows
    rows = matrix(np.atleast_2d(np.asarray(rows, dtype=np.float64)), "equality", columns=columns)
    return np.ascontiguousarray(rows), vector(np.atleast_1d(rhs), "the right-hand side of equality", length=rows.shape[0])


def _over_targets(result):
    """The worst of many targets, for the certificate; nothing to add for one."""
    if np.ndim(result["relative_gap"]) == 0:
        return {}
    methods = dict.fromkeys(result["method"])
    return {
        "relative_gap": float(np.max(result["relative_gap"])), "objective": float(np.sum(result["objective"])),
        "bound": float(np.sum(result["bound"])), "infeasibility": float(np.max(result["infeasibility"])),
        "holds_within": None if None in result["holds_within"] else min(result["holds_within"]), "method": ", ".join(methods),
        "rounds": int(np.max(result["rounds"])),
    }


class ConstrainedLeastSquares(_Constrained):
    """Least squares with bounds, a sum or equations, with a proven gap.

    Minimises ``1/2 sum_i omega_i (x_i'w - y_i)^2 + ridge/2 ||w||^2`` subject to ``lower <= w <= upper`` and ``sum w = total`` or ``A w = b``.

    Parameters
    ----------
    lower : float or array-like of shape (n_features,), default=0.0
        Lower limits; None or ``-inf`` for none.
    upper : float or array-like of shape (n_features,), default=None
        Upper limits; None or ``inf`` for none.
    total : float, default=None
        What the weights sum to.
    equality : tuple (A, b), default=None
        Rows ``A w = b``, in place of ``total``.
    ridge : float, default=0.0
        Weight of ``1/2 ||w||^2``.
    fit_intercept : bool, default=False
        Whether there is an intercept: X and y are then centred.
    tol : float, default=1e-6
        The gap to be proven, relative to ``sum_i omega_i y_i^2``, or to the objective where that is larger.
    time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weights.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept; 0 without one.
    support_ : ndarray
        Columns with a weight other than 0 for some target.
    dual_coef_ : ndarray
        Multipliers of the sum or the equations.
    gap_, objective_, status_, certificate_, n_iter_
        What is proven of the fit; the worst gap and the sums over many targets.

    Examples
    --------
    >>> from equipoise import ConstrainedLeastSquares
    >>> model = ConstrainedLeastSquares(upper=0.6, total=1.0).fit([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0])
    >>> model.coef_.round(9).tolist(), model.status_
    ([0.6, 0.4], 'converged')
    """

    def __init__(
        self, *, lower=0.0, upper=None, total=None, equality=None, ridge=0.0, fit_intercept=False, tol=1e-6, time_limit=None,
        warm_start=False, n_jobs=None, verbose=0, callback=None,
    ):
        self.lower = lower
        self.upper = upper
        self.total = total
        self.equality = equality
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; each column is fitted by itself.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if self.total is not None and self.equality is not None:
            raise ValueError("give total or equality, not both: a sum is a row of equality, too")
        return self._fit(X, y, sample_weight, lower=self.lower, upper=self.upper, total=self.total, equality=self.equality)


class SimplexRegressor(_Constrained):
    """Least squares with weights that are shares: none negative, their sum is ``total``; with a proven gap.

    Synthetic controls, weights of a stack of models, mixtures of spectra.

    Parameters
    ----------
    total : float, default=1.0
        What the weights sum to.
    upper : float or array-like of shape (n_features,), default=None
        Upper limits.
    ridge, fit_intercept, tol, time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`ConstrainedLeastSquares`.

    Attributes
    ----------
    coef_, intercept_, support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`ConstrainedLeastSquares`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import SimplexRegressor
    >>> donors = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 1.0], [3.0, 2.0, 0.0], [4.0, 1.0, 3.0]])
    >>> model = SimplexRegressor(tol=1e-12).fit(donors, [1.5, 1.5, 2.5, 2.5])
    >>> model.coef_.round(9).tolist(), model.support_.tolist()
    ([0.5, 0.5, 0.0], [0, 1])
    """

    def __init__(
        self, *, total=1.0, upper=None, ridge=0.0, fit_intercept=False, tol=1e-6, time_limit=None, warm_start=False,
        n_jobs=None, verbose=0, callback=None,
    ):
        self.total = total
        self.upper = upper
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; one column a part of the mixture.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; each column is fitted by itself.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight, lower=0.0, upper=self.upper, total=self.total)
