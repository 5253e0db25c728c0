"""Logistic regression on log-contrasts, with a proven gap.

The problem is that of docs/lasso.md; all numerics are the extension's.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import linear
from ._data import by_class, count_or_list, number, seam, weights_of
from ._zero_sum import Chosen, ZeroSum, falling

__all__ = ["ZeroSumLogistic", "ZeroSumLogisticCV"]


class _Logistic(ClassifierMixin, ZeroSum):
    """Two classes, logits, probabilities."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _loss_words(self):
        return {"loss": "logistic"}

    def _held_out(self, values, y):
        """The deviance of rows left out."""
        return 2 * np.logaddexp(0.0, -y * values)

    def _classes(self, X, y, sample_weight, **kwargs):
        x, y = self._validated(X, y, reset=True, **kwargs)
        check_classification_targets(y)
        weights = weights_of(sample_weight, x)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"there are {len(self.classes_)} classes."
            )
        if self.class_weight is not None:
            factors = by_class(self.class_weight, self.classes_, codes, weights)
            if not (factors >= 0).all():
                raise ValueError(f"class_weight must have no number below 0, got {self.class_weight!r}")
            weights = factors[codes] * (1.0 if weights is None else weights)
        counted = np.unique(codes if weights is None else codes[weights > 0])
        if len(counted) < 2:
            raise ValueError(
                f"This solver needs samples of 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[counted[0]]!r}"
            )
        return self._prepared(x, 2.0 * codes - 1.0, weights)

    def _set_binary(self):
        self.coef_, self.intercept_ = self.coef_[np.newaxis, :], np.array([self.intercept_])

    def decision_function(self, X):
        """Logits of the second class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            ``X @ coef_.T + intercept_``.
        """
        check_is_fitted(self)
        return linear(self._validated(X, reset=False), self.coef_[0], self.intercept_[0])

    def predict_proba(self, X):
        """Probabilities of the two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            In the order of ``classes_``.
        """
        half = np.tanh(self.decision_function(X) / 2) / 2
        return np.column_stack([0.5 - half, 0.5 + half])

    def predict(self, X):
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The likelier class of each sample.
        """
        places = (self.decision_function(X) > 0).astype(np.intp)
        return self.classes_[places]


class ZeroSumLogistic(_Logistic):
    """Logistic regression of two classes on log-contrasts, with a proven gap.

    Minimises ``sum_i log(1 + exp(-y_i (b_0 + x_i'b))) + 1/C (l1_ratio ||b||_1 + (1 - l1_ratio)/2 ||b||^2)`` subject to ``sum b = 0``: the
    units of :class:`sklearn.linear_model.LogisticRegression`.

    Parameters
    ----------
    C : float, default=1.0
        The inverse of the weight of the penalty.
    class_weight : dict or 'balanced', default=None
        Factors on the weights of samples by class.
    l1_ratio, zero_sum, constraints, covariates, fit_intercept, tol, time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`ZeroSumLasso`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Intercept.
    classes_ : ndarray of shape (2,)
        Classes.
    C_min_ : float
        The largest C at which all penalised coefficients are 0.
    support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`ZeroSumLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import ZeroSumLogistic
    >>> rng = np.random.default_rng(0)
    >>> X = np.log(rng.lognormal(size=(80, 5)))
    >>> y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=80) > 0
    >>> model = ZeroSumLogistic(C=1.0).fit(X, y)
    >>> bool(abs(model.coef_.sum()) < 1e-9), bool(model.score(X, y) > 0.8)
    (True, True)
    """

    def __init__(
        self, *, C=1.0, l1_ratio=1.0, zero_sum=True, constraints=None, covariates=None, fit_intercept=True, class_weight=None, tol=1e-6,
        time_limit=None, warm_start=False, n_jobs=None, verbose=0, callback=None,
    ):
        self.C = C
        self.l1_ratio = l1_ratio
        self.zero_sum = zero_sum
        self.constraints = constraints
        self.covariates = covariates
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
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
            Samples.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if not (cost := number(self.C, "C")) > 0:
            raise ValueError(f"C must be above 0, got {self.C!r}")
        start = self.coef_[0] if self.warm_start and hasattr(self, "coef_") else None
        x, y, weights = self._classes(X, y, sample_weight)
        if start is not None and len(start) != x.shape[1]:
            start = None
        point = self._run(_native.lasso_fit, seam(x), y, lam=1.0 / cost, start=start, **self._words(x, weights))
        self.C_min_ = 1.0 / point["lambda_max"] if point["lambda_max"] else np.inf
        self._set_point(point)
        self._set_binary()
        return self


class ZeroSumLogisticCV(Chosen, _Logistic):
    """:class:`ZeroSumLogistic` with C chosen by cross-validation.

    Parameters
    ----------
    Cs : int or array-like, default=100
        The values to try, or how many.
    eps : float, default=1e-2
        Where ``Cs`` is a number: the smallest C over the largest.
    cv, selection, random_state
        As for :class:`ZeroSumLassoCV`.
    class_weight : dict or 'balanced', default=None
        As for :class:`ZeroSumLogistic`; errors of rows left out are weighed by it, too.
    l1_ratio, zero_sum, constraints, covariates, fit_intercept, tol, time_limit, n_jobs, verbose, callback
        As for :class:`ZeroSumLasso`.

    Attributes
    ----------
    C_ : float
        The one chosen.
    Cs_, cv_error_, cv_standard_error_ : ndarray of shape (n_values,)
        The path, the mean deviances of rows left out, and their standard errors over folds.
    coef_, intercept_, classes_, support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`ZeroSumLogistic`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import ZeroSumLogisticCV
    >>> rng = np.random.default_rng(0)
    >>> X = np.log(rng.lognormal(size=(80, 5)))
    >>> y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=80) > 0
    >>> model = ZeroSumLogisticCV(Cs=10, cv=4).fit(X, y)
    >>> model.Cs_.shape, bool(model.C_ in model.Cs_)
    ((10,), True)
    """

    def __init__(
        self, *, Cs=100, eps=1e-2, cv=5, selection="best", l1_ratio=1.0, zero_sum=True, constraints=None, covariates=None,
        fit_intercept=True, class_weight=None, tol=1e-6, time_limit=None, n_jobs=None, random_state=None, verbose=0, callback=None,
    ):
        self.Cs = Cs
        self.eps = eps
        self.cv = cv
        self.selection = selection
        self.l1_ratio = l1_ratio
        self.zero_sum = zero_sum
        self.constraints = constraints
        self.covariates = covariates
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Choose C, and fit all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x, y, weights = self._classes(X, y, sample_weight, ensure_min_samples=2)
        costs = count_or_list(self.Cs, "Cs")
        grid = (costs, number(self.eps, "eps")) if isinstance(costs, int) else falling(1.0 / costs)
        lambdas, chosen = self._choose(x, y, weights, grid)
        self.Cs_, self.C_ = 1.0 / lambdas, 1.0 / chosen
        self._set_binary()
        return self
