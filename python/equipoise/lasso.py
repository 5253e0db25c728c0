"""The lasso whose coefficients sum to zero, with a proven gap.

The problem is that of docs/lasso.md; all numerics are the extension's.
"""

from __future__ import annotations

import numpy as np

from . import _native
from ._base import LinearRegressor
from ._data import count_or_list, number, seam, weights_of
from ._zero_sum import Chosen, ZeroSum, falling

__all__ = ["ZeroSumLasso", "ZeroSumLassoCV"]


class _Squared(LinearRegressor, ZeroSum):
    """Losses of a number."""

    def _loss_words(self):
        if self.loss == "squared_error":
            return {"loss": "squares"}
        if self.loss == "huber":
            return {"loss": "huber", "huber": self.epsilon}
        raise ValueError(f"The 'loss' parameter must be one of 'squared_error', 'huber'. Got {self.loss!r} instead.")

    def _held_out(self, values, y):
        """What rows left out are judged by."""
        size = np.abs(values - y)
        if self.loss == "squared_error":
            return size**2
        return np.where(size <= self.epsilon, size**2 / 2, self.epsilon * (size - self.epsilon / 2))

    def _regression(self, X, y, sample_weight, **kwargs):
        x, y = self._validated(X, y, reset=True, y_numeric=True, **kwargs)
        return self._prepared(x, np.asarray(y, dtype=np.float64), weights_of(sample_weight, x))


def total_of(y, weights):
    """What scikit-learn's means are sums over."""
    return float(len(y)) if weights is None else float(weights.sum())


class ZeroSumLasso(_Squared):
    """Lasso whose coefficients sum to zero: regression on log-contrasts, with a proven gap.

    Minimises ``1/(2 n) ||y - b_0 - X b||^2 + alpha (l1_ratio ||b||_1 + (1 - l1_ratio)/2 ||b||^2)`` subject to ``sum b = 0``, or to
    ``constraints @ b = 0``. n is the sum of the sample weights. With ``zero_sum=False`` it is the lasso, in the units of
    :class:`sklearn.linear_model.Lasso`. ``objective_`` and the bound are those of the sum, n times the mean.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the penalty.
    l1_ratio : float, default=1.0
        The share of l1 in it.
    loss : {'squared_error', 'huber'}, default='squared_error'
        What an error costs.
    epsilon : float, default=1.345
        The size of an error up to which Huber's loss is quadratic.
    zero_sum : bool, default=True
        Whether coefficients sum to zero.
    constraints : array-like of shape (n_constraints, n_features), default=None
        Rows C of ``C b = 0`` in place of the sum.
    covariates : list of int or str, str, or array of bool, default=None
        Columns that are neither penalised nor part of the sum.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is not penalised.
    tol : float, default=1e-6
        The gap to be proven, relative to the objective.
    time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    alpha_max_ : float
        The least alpha at which all penalised coefficients are 0.
    support_ : ndarray
        Columns with a coefficient other than 0.
    dual_coef_ : ndarray of shape (n_constraints,)
        Multipliers of the constraints.
    gap_, objective_, status_, certificate_, n_iter_
        What is proven of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import ZeroSumLasso
    >>> rng = np.random.default_rng(0)
    >>> X = np.log(rng.lognormal(size=(50, 6)))
    >>> y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=50)
    >>> model = ZeroSumLasso(alpha=0.05).fit(X, y)
    >>> bool(abs(model.coef_.sum()) < 1e-9), model.status_
    (True, 'converged')
    """

    def __init__(
        self, alpha=1.0, *, l1_ratio=1.0, loss="squared_error", epsilon=1.345, zero_sum=True, constraints=None,
        covariates=None, fit_intercept=True, tol=1e-6, time_limit=None, warm_start=False, n_jobs=None, verbose=0, callback=None,
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.loss = loss
        self.epsilon = epsilon
        self.zero_sum = zero_sum
        self.constraints = constraints
        self.covariates = covariates
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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; logarithms of parts for a log-contrast.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        alpha = number(self.alpha, "alpha")
        start = getattr(self, "coef_", None) if self.warm_start else None
        x, y, weights = self._regression(X, y, sample_weight)
        total = total_of(y, weights)
        if start is not None and len(start) != x.shape[1]:
            start = None
        point = self._run(_native.lasso_fit, seam(x), y, lam=alpha * total, start=start, **self._words(x, weights))
        self.alpha_max_ = point["lambda_max"] / total
        self._set_point(point)
        return self


class ZeroSumLassoCV(Chosen, _Squared):
    """:class:`ZeroSumLasso` with alpha chosen by cross-validation.

    Parameters
    ----------
    alphas : int or array-like, default=100
        The alphas to try, or how many.
    eps : float, default=1e-2
        Where ``alphas`` is a number: the smallest alpha over the largest.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; a number deals the rows as ``equipoise lasso cv`` does.
    selection : {'best', 'one_se'}, default='best'
        The least mean error, or the largest alpha within one standard error of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.
    l1_ratio, loss, epsilon, zero_sum, constraints, covariates, fit_intercept, tol, time_limit, n_jobs, verbose, callback
        As for :class:`ZeroSumLasso`.

    Attributes
    ----------
    alpha_ : float
        The one chosen.
    alphas_, cv_error_, cv_standard_error_ : ndarray of shape (n_alphas,)
        The path, the mean errors of rows left out, and their standard errors over folds.
    coef_, intercept_, support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`ZeroSumLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import ZeroSumLassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = np.log(rng.lognormal(size=(60, 6)))
    >>> y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=60)
    >>> model = ZeroSumLassoCV(alphas=20, cv=5).fit(X, y)
    >>> model.alphas_.shape, bool(model.alpha_ < model.alphas_[0])
    ((20,), True)
    """

    def __init__(
        self, *, alphas=100, eps=1e-2, cv=5, selection="best", l1_ratio=1.0, loss="squared_error", epsilon=1.345,
        zero_sum=True, constraints=None, covariates=None, fit_intercept=True, tol=1e-6, time_limit=None, n_jobs=None,
        random_state=None, verbose=0, callback=None,
    ):
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.selection = selection
        self.l1_ratio = l1_ratio
        self.loss = loss
        self.epsilon = epsilon
        self.zero_sum = zero_sum
        self.constraints = constraints
        self.covariates = covariates
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Choose alpha, and fit all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x, y, weights = self._regression(X, y, sample_weight, ensure_min_samples=2)
        total = total_of(y, weights)
        alphas = count_or_list(self.alphas, "alphas")
        grid = (alphas, number(self.eps, "eps")) if isinstance(alphas, int) else falling(alphas) * total
        lambdas, chosen = self._choose(x, y, weights, grid)
        self.alphas_, self.alpha_ = lambdas / total, chosen / total
        return self
