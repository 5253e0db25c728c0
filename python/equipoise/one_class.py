"""The linear one-class support vector machine, to a gap that is proven.

The problems are those of docs/svm.md; all numerics are the extension's.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin

from ._data import weights_of
from ._svm import Deciding

__all__ = ["OneClassSVM"]


class OneClassSVM(OutlierMixin, Deciding):
    """Linear one-class support vector machine, with a proven gap.

    Minimises ``1/2 w'w - nu n rho + sum_i max(rho - w'x_i, 0)``. Rows with ``w'x >= rho`` are inside (1), the others outside (-1).

    Parameters
    ----------
    nu : float, default=0.5
        The largest share of training rows outside.
    tol, max_iter, time_limit, warm_start, n_jobs, random_state, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_, offset_ : ndarray of shape (1,)
        ``-rho`` and ``rho``: ``decision_function`` is ``score_samples`` less the offset.
    support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`LinearSVC`.

    Examples
    --------
    >>> from equipoise import OneClassSVM
    >>> model = OneClassSVM(nu=0.4, tol=1e-9).fit([[1.0, 1.0], [2.0, 1.0], [1.0, 2.0], [2.0, 2.0], [0.1, 0.1]])
    >>> model.predict([[0.0, 0.0], [3.0, 3.0]]).tolist()
    [-1, 1]
    """

    _kind = "one-class"

    def __init__(
        self, *, nu=0.5, tol=1e-4, max_iter=None, time_limit=None, warm_start=False, n_jobs=None, random_state=None, verbose=0,
        callback=None,
    ):
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _settings(self):
        return {"nu": self.nu}

    def fit(self, X, y=None, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : Ignored
            There for scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x = self._validated(X, reset=True)
        self._train(x, np.zeros(x.shape[0]), weights_of(sample_weight, x))
        self.offset_ = -self.intercept_
        return self

    def decision_function(self, X):
        """``X @ coef_.T + intercept_``: at least 0 inside. Values below 1e-9 of the offset are 0: rows on the margin are inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            One value a sample.
        """
        values = self._values(X)
        return np.where(np.abs(values) <= 1e-9 * np.abs(self.offset_[0]), 0.0, values)

    def score_samples(self, X):
        """``X @ w``, not yet compared with the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The larger, the further inside.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """1 for rows inside, -1 for rows outside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
