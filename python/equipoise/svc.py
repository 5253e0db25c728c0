"""Linear support vector classifiers with a true bias, to a gap that is proven.

The problems are those of docs/svm.md; all numerics are the extension's.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv

from . import _native
from ._base import outside
from ._data import count_or_list, number, seam
from ._svm import Classifier, loss_of

__all__ = ["LinearSVC", "LinearSVCCV", "NuSVC"]


class LinearSVC(Classifier):
    """Linear support vector classifier whose bias is not penalised, with a proven gap.

    Minimises ``1/2 w'w + sum_i C_i loss(1 - y_i (w'x_i + b))`` with ``loss(m) = max(m, 0)`` or its square. The parameters are those of
    :class:`sklearn.svm.LinearSVC`; unlike there the intercept is not part of ``w'w``, and there is no ``intercept_scaling``. Several
    classes are fitted one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        How much errors count.
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        What an error costs.
    tol : float, default=1e-4
        The relative gap ``(objective - bound) / bound`` to be proven. scikit-learn's checks of sample weights compare
        predictions to seven digits: they pass from 1e-15, those of the hinge from 1e-12.
    fit_intercept : bool, default=True
        Whether there is a bias.
    class_weight : dict or 'balanced', default=None
        Factors on C by class.
    max_iter : int, default=None
        Passes over the data, at most; None for no limit.
    time_limit : float, default=None
        Seconds, at most.
    warm_start : bool, default=False
        Begin at the model of the last fit; at its multipliers where rows and C are the same.
    n_jobs : int, default=None
        Threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws; None is 0.
    verbose : int, default=0
        Show progress.
    callback : callable, default=None
        Called with a dictionary at checkpoints; ends the fit by returning False.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases.
    classes_ : ndarray of shape (n_classes,)
        Classes.
    support_ : ndarray of shape (n_support,)
        Rows with a multiplier other than 0.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Signed multipliers: ``coef_ = dual_coef_ @ X[support_]`` up to rounding.
    gap_, objective_, status_, certificate_, n_iter_
        What is proven of the fit, and how long it took in passes over the data.

    Examples
    --------
    >>> from equipoise import LinearSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = LinearSVC(C=100, loss="hinge", tol=1e-9).fit(X, y)
    >>> model.predict([[1.4], [1.6]]).tolist(), model.coef_.round(6).tolist(), model.intercept_.round(6).tolist()
    (['a', 'b'], [[2.0]], [-3.0])
    >>> model.status_, model.gap_ <= 1e-9
    ('converged', True)
    """

    _kind = "svc"

    def __init__(
        self, *, C=1.0, loss="squared_hinge", tol=1e-4, fit_intercept=True, class_weight=None, max_iter=None,
        time_limit=None, warm_start=False, n_jobs=None, random_state=None, verbose=0, callback=None,
    ):
        self.C = C
        self.loss = loss
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _settings(self):
        return {"loss": loss_of(self.loss)}

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; CSR and CSC of either index and float width are taken as they are.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C by sample.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x, codes, weights = self._encoded(X, y, sample_weight)
        self._train(x, codes, weights, cost=self.C, class_weights=self._class_weights(codes, weights))
        return self


class LinearSVCCV(Classifier):
    """:class:`LinearSVC` with C chosen by cross-validation along a warm-started path.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Costs to try: a list, or how many between 1e-3 and 1e3.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; a number deals each its share of every class, as ``equipoise svm cv`` does.
    loss, tol, fit_intercept, class_weight, max_iter, time_limit, n_jobs, random_state, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    C_ : float
        The cost of the best mean accuracy; the smallest of equals.
    Cs_ : ndarray of shape (n_costs,)
        The costs tried.
    scores_ : ndarray of shape (n_costs, n_folds)
        Accuracies on the rows left out.
    coef_, intercept_, classes_, support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        Of the model of all rows at ``C_``, as for :class:`LinearSVC`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from equipoise import LinearSVCCV
    >>> X, y = make_classification(n_samples=120, random_state=0)
    >>> model = LinearSVCCV(Cs=[0.01, 1.0], cv=3).fit(X, y)
    >>> model.scores_.shape, bool(model.C_ in (0.01, 1.0))
    ((2, 3), True)
    """

    _kind = "svc"

    def __init__(
        self, *, Cs=10, cv=5, loss="squared_hinge", tol=1e-4, fit_intercept=True, class_weight=None, max_iter=None,
        time_limit=None, n_jobs=None, random_state=None, verbose=0, callback=None,
    ):
        self.Cs = Cs
        self.cv = cv
        self.loss = loss
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _settings(self):
        return {"loss": loss_of(self.loss)}

    def fit(self, X, y, sample_weight=None):
        """Choose C by cross-validation, then fit all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C by sample.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x, codes, weights = self._encoded(X, y, sample_weight)
        costs = count_or_list(self.Cs, "Cs")
        costs = np.logspace(-3, 3, costs) if isinstance(costs, int) else np.sort(costs)
        words = {"class_weights": self._class_weights(codes, weights), **self._words()}
        if isinstance(self.cv, (int, np.integer)):
            found = self._run(_native.svm_cv, seam(x), codes, list(costs), int(self.cv), sample_weight=weights, **words)
            self.Cs_, self.scores_, self.C_ = np.asarray(found["costs"]), np.asarray(found["scores"]), float(found["best_cost"])
        else:
            self.Cs_, self.scores_ = costs, self._scores_of_splits(x, codes, weights, list(costs), words)
            self.C_ = float(costs[np.argmax(self.scores_.mean(axis=1))])
        self._train(x, codes, weights, cost=self.C_, class_weights=words["class_weights"])
        return self

    def _scores_of_splits(self, x, codes, weights, costs, words):
        """Accuracies on folds that somebody else has dealt."""
        x = x.tocsr() if sp.issparse(x) else x
        scores = []
        for inside, outside in check_cv(self.cv, codes, classifier=True).split(x, codes):
            part = None if weights is None else weights[inside]
            path = self._run(_native.svm_path, seam(x[inside]), codes[inside], costs, sample_weight=part, **words)
            weight = None if weights is None or not weights[outside].any() else weights[outside]
            scores.append([np.average(codes_of(point, x[outside]) == codes[outside], weights=weight) for point in path])
        return np.array(scores).T


def codes_of(point, x):
    """What a point of a path predicts."""
    values = _native.svm_decision(seam(x), point["weights"], point["bias"])
    places = (values[:, 0] > 0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
    return np.asarray(point["labels"])[places]


class NuSVC(Classifier):
    """Linear nu support vector classifier of two classes, with a proven gap.

    Minimises ``1/2 w'w - nu N rho + sum_i s_i max(rho - y_i (w'x_i + b), 0)`` with sample weights ``s_i`` (1 unless given) and N their sum;
    the model is divided by the margin rho, as that of LIBSVM is.
    Where classes overlap so much that the optimum is ``w = 0``, a warning says so, and every row gets one class.

    Parameters
    ----------
    nu : float, default=0.5
        The largest share of rows, by weight, on the wrong side of the margin. Twice the share of the smaller class and more cannot be had: a
        little less is then used, with a warning.
    tol, max_iter, time_limit, warm_start, n_jobs, random_state, verbose, callback
        As for :class:`LinearSVC`; scikit-learn's checks of sample weights pass from ``tol=1e-12``.

    Attributes
    ----------
    nu_ : float
        The share that was used.
    coef_, intercept_, classes_, support_, dual_coef_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`LinearSVC`.

    Examples
    --------
    >>> from equipoise import NuSVC
    >>> model = NuSVC(nu=0.5, tol=1e-9).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.9], [2.1]]).tolist()
    [0, 1]
    """

    _kind = "nu-svc"

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _settings(self):
        return {"nu": self.nu_}

    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        x, codes, weights = self._encoded(X, y, sample_weight, most=2)
        # Not every row of the larger class can be on the wrong side of its margin.
        shares = np.bincount(codes.astype(np.intp), weights=weights, minlength=2)
        most = 2.0 * shares.min() / shares.sum()
        self.nu_ = number(self.nu, "nu")
        if most <= self.nu_ <= 1:
            # At the most itself the margin has no least upper bound.
            self.nu_ = 0.99 * most
            warnings.warn(f"nu={self.nu:g} is as much as these classes allow, or more: {self.nu_:g} is used", UserWarning, stacklevel=outside())
        self._train(x, codes, weights)
        return self
