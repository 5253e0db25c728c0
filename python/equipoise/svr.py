"""Linear support vector regression with a true bias, to a gap that is proven.

The problems are those of docs/svm.md; all numerics are the extension's.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from ._data import weights_of
from ._svm import SVM

__all__ = ["LinearSVR"]


class LinearSVR(RegressorMixin, SVM):
    """Linear support vector regression whose bias is not penalised, with a proven gap.

    Minimises ``1/2 w'w + C sum_i max(|y_i - w'x_i - b| - epsilon, 0)``.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half of the width of the tube in which errors cost nothing.
    C : float, default=1.0
        How much errors count.
    tol : float, default=1e-4
        The relative gap to be proven; scikit-learn's checks of sample weights pass from 1e-12.
    fit_intercept, max_iter, time_limit, warm_start, n_jobs, random_state, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : float
        Bias.
    support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`LinearSVC`.

    Examples
    --------
    >>> from equipoise import LinearSVR
    >>> model = LinearSVR(C=100, tol=1e-9).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(6).tolist(), round(float(model.intercept_), 6)
    ([2.0], 1.0)
    """

    _kind = "svr"

    def __init__(
        self, *, epsilon=0.0, C=1.0, tol=1e-4, fit_intercept=True, max_iter=None, time_limit=None, warm_start=False,
        n_jobs=None, random_state=None, verbose=0, callback=None,
    ):
        self.epsilon = epsilon
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _settings(self):
        return {"epsilon": self.epsilon}

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C by sample.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x, y = self._validated(X, y, reset=True, y_numeric=True)
        self._train(x, np.asarray(y, dtype=np.float64), weights_of(sample_weight, x), cost=self.C)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def predict(self, X):
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            ``X @ coef_ + intercept_``.
        """
        return self._values(X)
