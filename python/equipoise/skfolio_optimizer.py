"""`MeanVariance` as an optimiser of skfolio: its cross-validation, pipelines and populations take it.

Needs skfolio. Must not know: how weights are found.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import validate_data
from skfolio.optimization import BaseOptimization

from ._base import CertifiedEstimator
from .portfolio import adopt

__all__ = ["MeanVariance"]


class MeanVariance(BaseOptimization, CertifiedEstimator):
    """Portfolio of least variance under limits with a proven gap, as an optimiser of skfolio.

    Parameters
    ----------
    target_return, budget, min_weights, max_weights, groups, previous_weights, turnover_penalty, max_turnover, shrinkage, tol
        As for :class:`equipoise.MeanVariance`.
    time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`equipoise.MeanVariance`.
    portfolio_params, fallback, raise_on_failure
        As for every optimiser of skfolio.

    Attributes
    ----------
    weights_ : ndarray of shape (n_assets,)
        Weights; the rest as for :class:`equipoise.MeanVariance`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.skfolio_optimizer import MeanVariance
    >>> X = 0.01 * np.random.default_rng(0).normal(size=(60, 4))
    >>> portfolio = MeanVariance(max_weights=0.5).fit(X).predict(X)
    >>> type(portfolio).__name__
    'Portfolio'
    """

    def __init__(
        self, *, target_return=None, budget=1.0, min_weights=0.0, max_weights=None, groups=None, previous_weights=None,
        turnover_penalty=0.0, max_turnover=None, shrinkage=0.0, tol=1e-6, time_limit=None, warm_start=False, n_jobs=None,
        verbose=0, callback=None, portfolio_params=None, fallback=None, raise_on_failure=True,
    ):
        super().__init__(
            portfolio_params=portfolio_params, fallback=fallback, previous_weights=previous_weights,
            raise_on_failure=raise_on_failure,
        )
        self.target_return = target_return
        self.budget = budget
        self.min_weights = min_weights
        self.max_weights = max_weights
        self.groups = groups
        self.turnover_penalty = turnover_penalty
        self.max_turnover = max_turnover
        self.shrinkage = shrinkage
        self.tol = tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y=None, **fit_params):
        """Find the weights.

        Parameters
        ----------
        X : array-like of shape (n_periods, n_assets)
            Returns, one row a period.
        y : Ignored
            There for skfolio's pipelines.
        **fit_params : dict
            Ignored.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        adopt(self, validate_data(self, X, dtype=np.float64, ensure_min_samples=2))
        return self
