"""The generalised lasso: signals, images, graphs and coefficients that come in pieces, with a proven gap.

The problem is that of docs/fused.md; all numerics are the extension's.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_is_fitted

from . import _native
from ._base import LinearRegressor, centred
from ._data import check_readable, matrix
from .graphs import edges_of

__all__ = ["FusedLasso", "GeneralizedLasso", "TrendFilter"]


class _Generalized(LinearRegressor):
    """One call of the extension, with a design or for a signal alone."""

    def _penalty(self, shape):
        """The extension's words for D over coefficients of this shape."""
        raise NotImplementedError

    def fit(self, X, y):
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or None
            Samples; None for a signal (or an image), each of whose numbers has a coefficient of its own.
        y : array-like of shape (n_samples,)
            Targets, or the signal; without X an image of shape (n_rows, n_columns), too.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if X is None:
            signal = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_, shape = signal.size, signal.shape
            y, design, mean_x, mean_y = np.ascontiguousarray(signal).ravel(), None, None, 0.0
        else:
            design, y = self._validated(X, y, reset=True, y_numeric=True)
            y, shape, mean_x, mean_y = np.asarray(y, dtype=np.float64), (design.shape[1],), None, 0.0
            if self.fit_intercept:
                design, y, mean_x, mean_y = centred(design, y, None)
        result = self._run(
            _native.fused_fit, y, penalty=self._penalty(shape), design=design, lam=self.lam, sparse=getattr(self, "sparse", 0.0),
            gap=self.tol, max_rounds=self.max_iter, start=self._start(shape),
        )
        self._is_signal = X is None
        self.coef_ = np.asarray(result["x"]).reshape(shape)
        self.intercept_ = 0.0 if mean_x is None else float(mean_y - mean_x @ self.coef_)
        self.support_ = np.flatnonzero(self.coef_)
        self.n_segments_ = result["segments"]
        self.breaks_ = None if result["breaks"] is None else np.asarray(result["breaks"])
        self.degrees_of_freedom_ = result["degrees_of_freedom"]
        self._keep(result)
        return self

    def _start(self, shape):
        start = getattr(self, "coef_", None) if self.warm_start else None
        return None if start is None or start.shape != shape else start.ravel()

    def denoise(self, y):
        """The signal or image y in pieces: fits it without a design, and returns the coefficients.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_rows, n_columns)
            The signal or image.

        Returns
        -------
        fit : ndarray of the shape of y
            ``coef_``.
        """
        return self.fit(None, y).coef_

    def predict(self, X):
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or None
            Samples; None after the fit of a signal.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            ``X @ coef_ + intercept_``; the pieces themselves where X is None.
        """
        check_is_fitted(self)
        if X is None:
            if not self._is_signal:
                raise ValueError("X is None, but the model was fitted with a design")
            return self.coef_.copy()
        return super().predict(X)


def _difference(shape, order):
    """The words for differences along a chain; for an image those of neighbours."""
    if len(shape) == 2:
        if order:
            raise ValueError("an image has no trend of order 1 or 2; use FusedLasso")
        return ("grid", *map(int, shape))
    return (("chain",), ("trend1",), ("trend2",))[order]


class FusedLasso(_Generalized):
    """Fused lasso: neighbouring coefficients become equal, with a proven gap.

    Minimises ``1/2 ||y - b_0 - X b||^2 + lam sum |b_j - b_(j+1)| + sparse ||b||_1`` over chains, images and graphs. ``lam`` weighs sums, as in
    the literature of the fused lasso; scikit-learn's lassos weigh means. ``fit(None, y)`` or :meth:`denoise` take a signal or an image.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of the differences.
    sparse : float, default=0.0
        The weight of the coefficients themselves.
    graph : networkx graph, sparse matrix or array-like of shape (n_edges, 2 or 3), default=None
        Which coefficients are neighbours; None is the order of the columns, or an image.
    fit_intercept : bool, default=True
        Whether there is an intercept beside a design: X and y are then centred.
    tol : float, default=1e-6
        The gap to be proven, relative to the objective.
    max_iter : int, default=100000
        Rounds of iterative methods, at most.
    time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), or the shape of the image
        Coefficients.
    intercept_ : float
        Intercept.
    support_ : ndarray
        Places of the coefficients other than 0, row by row in an image.
    n_segments_, breaks_, degrees_of_freedom_
        How many pieces there are, where those of a chain begin after the first (None otherwise), and degrees of freedom.
    gap_, objective_, status_, certificate_, n_iter_
        What is proven of the fit.

    Examples
    --------
    >>> from equipoise import FusedLasso
    >>> model = FusedLasso(lam=1.0).fit(None, [0.1, -0.1, 0.0, 5.1, 4.9, 5.0])
    >>> model.coef_.round(6).tolist(), model.breaks_.tolist()
    ([0.333333, 0.333333, 0.333333, 4.666667, 4.666667, 4.666667], [3])
    """

    def __init__(
        self, lam=1.0, *, sparse=0.0, graph=None, fit_intercept=True, tol=1e-6, max_iter=100_000, time_limit=None,
        warm_start=False, n_jobs=None, verbose=0, callback=None,
    ):
        self.lam = lam
        self.sparse = sparse
        self.graph = graph
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _penalty(self, shape):
        if self.graph is None:
            return _difference(shape, 0)
        return ("graph", *edges_of(self.graph, int(np.prod(shape))))


class TrendFilter(_Generalized):
    """Trend filtering: coefficients in straight pieces or parabolas, with a proven gap.

    Minimises ``1/2 ||y - b_0 - X b||^2 + lam ||D b||_1`` with D the differences of order ``order + 1``. ``fit(None, y)`` or
    :meth:`denoise` take a signal.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of the differences.
    order : {0, 1, 2}, default=1
        The degree of the pieces.
    sparse, fit_intercept, tol, max_iter, time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`FusedLasso`.

    Attributes
    ----------
    coef_, intercept_, support_, n_segments_, breaks_, degrees_of_freedom_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`FusedLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import TrendFilter
    >>> y = np.abs(np.arange(41) - 20.0)
    >>> fit = TrendFilter(lam=0.1).denoise(y)
    >>> bool(np.abs(fit - y).max() < 0.5)
    True
    """

    def __init__(
        self, lam=1.0, *, order=1, sparse=0.0, fit_intercept=True, tol=1e-6, max_iter=100_000, time_limit=None,
        warm_start=False, n_jobs=None, verbose=0, callback=None,
    ):
        self.lam = lam
        self.order = order
        self.sparse = sparse
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _penalty(self, shape):
        if self.order not in (0, 1, 2):
            raise ValueError(f"The 'order' parameter must be one of 0, 1, 2. Got {self.order!r} instead.")
        # Differences of n numbers have an order below n.
        return _difference(shape, min(self.order, max(shape[0] - 2, 0)) if len(shape) == 1 else self.order)


class GeneralizedLasso(_Generalized):
    """Generalised lasso with any matrix of differences, with a proven gap.

    Minimises ``1/2 ||y - b_0 - X b||^2 + lam ||D b||_1``.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of ``||D b||_1``.
    D : {'chain', 'trend1', 'trend2'} or {array-like, sparse matrix} of shape (n_rows, n_features), default='chain'
        The differences.
    fit_intercept, tol, max_iter, time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`FusedLasso`.

    Attributes
    ----------
    coef_, intercept_, support_, n_segments_, breaks_, degrees_of_freedom_, gap_, objective_, status_, certificate_, n_iter_
        As for :class:`FusedLasso`.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import GeneralizedLasso
    >>> y = np.array([0.0, 0.2, 3.0, 3.2])
    >>> D = np.array([[-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0]])
    >>> GeneralizedLasso(lam=0.5, D=D, tol=1e-9).denoise(y).round(6).tolist()
    [0.1, 0.1, 3.1, 3.1]
    """

    _NAMES = ("chain", "trend1", "trend2")

    def __init__(
        self, lam=1.0, *, D="chain", fit_intercept=True, tol=1e-6, max_iter=100_000, time_limit=None, warm_start=False,
        n_jobs=None, verbose=0, callback=None,
    ):
        self.lam = lam
        self.D = D
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _penalty(self, shape):
        if isinstance(self.D, str):
            if self.D not in self._NAMES:
                raise ValueError(f"The 'D' parameter must be a matrix or one of {', '.join(self._NAMES)}. Got {self.D!r} instead.")
            return _difference(shape, min(self._NAMES.index(self.D), max(shape[0] - 2, 0)))
        check_readable(self.D, "D")
        differences = sp.csc_array(self.D) if sp.issparse(self.D) else sp.csc_array(np.atleast_2d(np.asarray(self.D, np.float64)))
        return ("matrix", matrix(differences, "D", columns=int(np.prod(shape))))
