"""Many fits along one parameter: paths and frontiers, that can be drawn and become frames.

Given data; returns objects with one entry a point. matplotlib and pandas are needed only for `plot` and `to_pandas`. All numerics are the
extension's.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_X_y, check_array

from . import _native
from ._base import seed_of, threads_of, warn_if_not_converged
from ._certificate import Certificate, shown_as
from ._data import FLOATS, by_class, check_readable, count_or_list, matrix, names_of, number, seam, weights_of
from ._progress import watched
from .fused import _difference
from .graphs import edges_of
from ._svm import loss_of
from ._zero_sum import falling
from .lasso import ZeroSumLasso
from .logistic import ZeroSumLogistic
from .portfolio import MeanVariance, back, in_unit, words_of

__all__ = ["Frontier", "FusedPath", "SVMPath", "ZeroSumPath", "frontier", "fused_path", "svm_path", "zero_sum_path"]


# Rows of a path that a notebook shows.
_SHOWN = 20


class Path(Sequence):
    """Points along a parameter: a sequence of dictionaries, each with the claims proven of it.

    Parameters
    ----------
    points : list of dict
        The points, in the order of the parameter.
    names : list of str or None
        Names of the coefficients; None numbers them.
    width : int
        How many coefficients there are.
    """

    _parameter: str

    def __init__(self, points: list[dict[str, Any]], names: list[str] | None, width: int):
        self._points = points
        self.names = names if names is not None else [f"x{j}" for j in range(width)]

    def __getitem__(self, index):
        return self._points[index]

    def __len__(self) -> int:
        return len(self._points)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._points)

    def column(self, key: str) -> np.ndarray:
        """One value of every point.

        Parameters
        ----------
        key : str
            Which: ``"objective"``, ``"status"``, ...

        Returns
        -------
        values : ndarray of shape (n_points,)
            The values.
        """
        return np.array([point[key] for point in self._points])

    @property
    def status(self) -> str:
        """'converged' where every point is, else the first other status."""
        return next((str(p["status"]) for p in self._points if p["status"] != "converged"), "converged")

    @property
    def gap(self) -> float:
        """The largest relative gap of a point."""
        return float(np.max(self.column("relative_gap")))

    def certificates(self) -> list[Certificate]:
        """What is proven of each point."""
        return [Certificate.of(point) for point in self._points]

    def _coefficients(self) -> np.ndarray:
        raise NotImplementedError

    def _columns(self) -> dict[str, np.ndarray]:
        """The columns of the frame before the coefficients."""
        keys = (self._parameter, "objective", "bound", "relative_gap", "status")
        return {key: self.column(key) for key in keys}

    def to_pandas(self):
        """A pandas frame: one row a point, the coefficients under their names.

        Returns
        -------
        frame : pandas.DataFrame
            Parameter, objective, bound, relative_gap, status, and what else the points have.
        """
        import pandas as pd

        # Two frames side by side: coefficients may have the names of one another, or of what stands before them.
        return pd.concat([pd.DataFrame(self._columns()), pd.DataFrame(self._coefficients(), columns=self.names)], axis=1)

    def _repr_html_(self) -> str:
        # A path of hundreds of points is a glance at every so many.
        shown = self._points[:: max(1, -(-len(self) // _SHOWN))]
        keys = [self._parameter, *(key for key in ("objective", "bound", "relative_gap", "status") if key != self._parameter)]
        head = "".join(f"<th>{html.escape(key)}</th>" for key in keys)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(shown_as(point[key]))}</td>" for key in keys) + "</tr>" for point in shown)
        caption = html.escape(repr(self)[1:-1])
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} points, {self.status}, largest gap {self.gap:.2e}>"


class CoefficientPath(Path):
    """Points whose coefficients are drawn along the parameter."""

    def plot(self, ax=None, *, most: int = 12):
        """Draw the coefficients along the parameter.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        most : int, default=12
            How many of the largest coefficients get a name.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        ax = _axes(ax)
        coefficients, parameter = self._coefficients(), self.column(self._parameter)
        sizes = np.abs(coefficients).max(axis=0, initial=0.0)
        order = np.argsort(-sizes, kind="stable")
        for rank, j in enumerate(order[sizes[order] > 0]):
            named = rank < most
            ax.plot(
                parameter, coefficients[:, j], label=self.names[j] if named else None, color=None if named else "0.8",
                lw=1.5 if named else 0.8, zorder=2 if named else 1,
            )
        ax.set_xscale("log")
        ax.set_xlabel(self._parameter)
        ax.set_ylabel("coefficient")
        if sizes.any():
            ax.legend(fontsize="small", ncols=2)
        return ax


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _call(name, function, *args, n_jobs, time_limit, verbose, callback, **words):
    with watched(name, verbose, callback) as progress:
        return function(*args, threads=threads_of(n_jobs), time_limit=time_limit, progress=progress, **words)


def _warned(path, name, tol):
    worst = max(path, key=lambda point: point["status"] != "converged", default=None)
    if worst is not None:
        warn_if_not_converged(name, Certificate.of(worst), tol)
    return path


class SVMPath(CoefficientPath):
    """Models along C, as :func:`svm_path` returns them.

    Parameters
    ----------
    points : list of dict
        The points, in the order of the parameter.
    names : list of str or None
        Names of the coefficients; None numbers them.
    width : int
        How many coefficients there are.
    """

    _parameter = "C"

    def _coefficients(self):
        return np.array([point["weights"][0] for point in self])

    def _columns(self):
        return {**super()._columns(), "intercept": np.array([point["bias"][0] for point in self])}


def svm_path(
    X, y, Cs=10, *, loss="squared_hinge", fit_intercept=True, class_weight=None, tol=1e-4, sample_weight=None, max_iter=None,
    time_limit=None, n_jobs=None, random_state=None, verbose=0, callback=None,
):
    """Support vector classifiers of two classes along C, each begun at the one before.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Two classes.
    Cs : int or array-like, default=10
        The costs, or how many between 1e-3 and 1e3.
    loss, fit_intercept, class_weight, tol, max_iter, time_limit, n_jobs, random_state, verbose, callback
        As for :class:`LinearSVC`.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors on C by sample.

    Returns
    -------
    path : SVMPath
        A sequence of points with ``plot()`` and ``to_pandas()``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from equipoise import svm_path
    >>> X, y = make_classification(n_samples=80, n_features=4, random_state=0)
    >>> path = svm_path(X, y, [0.1, 1.0], loss="hinge")
    >>> len(path), path.status, path.to_pandas().shape
    (2, 'converged', (2, 10))
    """
    names = names_of(X)
    check_readable(X)
    x, y = check_X_y(X, y, accept_sparse=("csr", "csc"), dtype=FLOATS)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"svm_path takes two classes, got {len(classes)}")
    costs = count_or_list(Cs, "Cs")
    costs = np.logspace(-3, 3, costs) if isinstance(costs, int) else costs
    weights = weights_of(sample_weight, x)
    factors = [] if class_weight is None else by_class(class_weight, classes, codes, weights)
    points = _call(
        "svm_path", _native.svm_path, seam(x), codes.astype(np.float64), list(map(float, costs)), kind="svc", loss=loss_of(loss),
        intercept=fit_intercept, gap=tol, sample_weight=weights, class_weights=[(float(code), float(weight)) for code, weight in enumerate(factors)], max_epochs=max_iter, n_jobs=n_jobs,
        seed=seed_of(random_state), time_limit=time_limit, verbose=verbose, callback=callback,
    )
    points = [{**point, "C": float(cost)} for point, cost in zip(points, costs, strict=False)]
    return _warned(SVMPath(points, names, x.shape[1]), "svm_path", tol)


class ZeroSumPath(CoefficientPath):
    """Fits along alpha, as :func:`zero_sum_path` returns them.

    Parameters
    ----------
    points : list of dict
        The points, in the order of the parameter.
    names : list of str or None
        Names of the coefficients; None numbers them.
    width : int
        How many coefficients there are.
    """

    _parameter = "alpha"

    def _coefficients(self):
        return np.array([point["coefficients"] for point in self])

    def _columns(self):
        more = {"intercept": np.array([point.get("intercept") or 0.0 for point in self]), "nonzeros": self.column("nonzeros")}
        return {**super()._columns(), **more}


def zero_sum_path(
    X, y, alphas=100, *, eps=1e-3, loss="squared_error", epsilon=1.345, l1_ratio=1.0, zero_sum=True, constraints=None,
    covariates=None, fit_intercept=True, sample_weight=None, tol=1e-6, time_limit=None, n_jobs=None, verbose=0, callback=None,
):
    """Lassos under a zero sum along alpha, from the least alpha at which all coefficients are 0.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Targets; two classes where ``loss='log_loss'``.
    alphas : int or array-like, default=100
        The alphas, or how many.
    eps : float, default=1e-3
        Where ``alphas`` is a number: the smallest alpha over the largest.
    loss : {'squared_error', 'huber', 'log_loss'}, default='squared_error'
        What an error costs; with 'log_loss', alpha is ``1 / (n C)``.
    epsilon, l1_ratio, zero_sum, constraints, covariates, fit_intercept, tol, time_limit, n_jobs, verbose, callback
        As for :class:`ZeroSumLasso`.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts.

    Returns
    -------
    path : ZeroSumPath
        A sequence of points with ``plot()`` and ``to_pandas()``.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import zero_sum_path
    >>> rng = np.random.default_rng(0)
    >>> X = np.log(rng.lognormal(size=(40, 5)))
    >>> path = zero_sum_path(X, X[:, 0] - X[:, 1], 10, eps=0.01)
    >>> len(path), path.status
    (10, 'converged')
    """
    more = {"l1_ratio": l1_ratio, "zero_sum": zero_sum, "constraints": constraints, "covariates": covariates}
    more |= {"fit_intercept": fit_intercept, "tol": tol}
    if loss == "log_loss":
        model = ZeroSumLogistic(**more)
        x, y, weights = model._classes(X, y, sample_weight)
    else:
        model = ZeroSumLasso(loss=loss, epsilon=epsilon, **more)
        x, y, weights = model._regression(X, y, sample_weight)
    total = float(len(y)) if weights is None else float(weights.sum())
    alphas = count_or_list(alphas, "alphas")
    lambdas = (alphas, number(eps, "eps")) if isinstance(alphas, int) else falling(alphas) * total
    found = _call(
        "zero_sum_path", _native.lasso_path, seam(x), y, lambdas=lambdas, n_jobs=n_jobs, time_limit=time_limit, verbose=verbose,
        callback=callback, **model._words(x, weights),
    )
    points = [{**point, "alpha": point["lambda"] / total} for point in found["points"]]
    if model._constants is not None:
        for point in points:
            point["intercept"] -= float(model._constants @ point["coefficients"])
    return _warned(ZeroSumPath(points, names_of(X), x.shape[1]), "zero_sum_path", tol)


class FusedPath(Path):
    """Fits along lambda with their information criteria, as :func:`fused_path` returns them.

    Parameters
    ----------
    points : list of dict
        The points, in the order of the parameter.
    names : list of str or None
        Names of the coefficients; None numbers them.
    width : int
        How many coefficients there are.
    signal : ndarray or None
        What is drawn below the fits.
    """

    _parameter = "lam"

    def __init__(self, points, names, width, signal):
        super().__init__(points, names, width)
        self._signal = signal

    def best(self, criterion: str = "bic") -> dict[str, Any]:
        """The point that a criterion likes best.

        Parameters
        ----------
        criterion : {'bic', 'aic', 'cp'}, default='bic'
            Which.

        Returns
        -------
        point : dict
            The one with the least.
        """
        return self[int(np.argmin(self.column(criterion)))]

    def _coefficients(self):
        return np.array([point["x"] for point in self])

    def _columns(self):
        keys = [key for key in ("degrees_of_freedom", "bic", "aic", "cp") if all(key in point for point in self)]
        return {**super()._columns(), **{key: self.column(key) for key in keys}}

    def plot(self, ax=None, *, criterion: str = "bic"):
        """Draw the best fit over the signal.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.
        criterion : {'bic', 'aic', 'cp'}, default='bic'
            What is least at the fit drawn.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        ax, best = _axes(ax), self.best(criterion)
        if self._signal is not None:
            ax.plot(self._signal, ".", color="0.7", ms=3, label="signal")
        ax.plot(best["x"], color="C0", lw=2, label=f"lam = {best['lam']:.4g} (least {criterion})")
        ax.legend()
        return ax


def fused_path(
    y, X=None, lams=50, *, eps=1e-2, penalty="chain", sparse=0.0, tol=1e-6, max_iter=100_000, time_limit=None, n_jobs=None, verbose=0,
    callback=None,
):
    """Generalised lassos along lambda, from the least lambda that leaves a single piece.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The signal, or targets.
    X : array-like of shape (n_samples, n_features), default=None
        A design; None for a signal.
    lams : int or array-like, default=50
        The lambdas, or how many.
    eps : float, default=1e-2
        Where ``lams`` is a number: the smallest over the largest.
    penalty : {'chain', 'trend1', 'trend2'}, graph or edges, default='chain'
        What is kept small, as for :class:`GeneralizedLasso` and :class:`FusedLasso`.
    sparse, tol, max_iter, time_limit, n_jobs, verbose, callback
        As for :class:`FusedLasso`.

    Returns
    -------
    path : FusedPath
        A sequence of points with ``best()``, ``plot()`` and ``to_pandas()``.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import fused_path
    >>> y = np.repeat([0.0, 3.0, 1.0], 30) + 0.1 * np.sin(np.arange(90) ** 2)
    >>> path = fused_path(y, lams=20)
    >>> len(path), path.best("bic")["segments"] < 6
    (20, True)
    """
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y").ravel()
    names = names_of(X)
    if sp.issparse(X):
        raise TypeError("Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert to a dense numpy array.")
    design = None if X is None else np.asarray(matrix(X, "X"), dtype=np.float64)
    width = len(y) if design is None else design.shape[1]
    if isinstance(penalty, str):
        if penalty not in ("chain", "trend1", "trend2"):
            raise ValueError(f"unknown penalty {penalty!r}; known are chain, trend1, trend2, or a graph")
        words = _difference((width,), ("chain", "trend1", "trend2").index(penalty))
    else:
        words = ("graph", *edges_of(penalty, width))
    lams = count_or_list(lams, "lams")
    grid = {"count": lams, "ratio": number(eps, "eps")} if isinstance(lams, int) else {"lambdas": falling(lams)}
    found = _call(
        "fused_path", _native.fused_path, y, penalty=words, design=design, sparse=sparse, gap=tol, max_rounds=max_iter,
        n_jobs=n_jobs, time_limit=time_limit, verbose=verbose, callback=callback, **grid,
    )
    points = [{**point, "lam": point["lambda"]} for point in found["points"]]
    return _warned(FusedPath(points, names, width, y if design is None else None), "fused_path", tol)


class Frontier(Path):
    """Portfolios along expected returns, as :func:`frontier` returns them.

    Parameters
    ----------
    points : list of dict
        The points, in the order of the parameter.
    names : list of str or None
        Names of the coefficients; None numbers them.
    width : int
        How many coefficients there are.
    means, risks : ndarray of shape (n_assets,)
        Expected returns and standard deviations of the assets.
    """

    _parameter = "expected_return"

    def __init__(self, points, names, width, means, risks):
        super().__init__(points, names, width)
        self._means, self._risks = means, risks

    @property
    def weights(self) -> np.ndarray:
        """Weights, one row a portfolio."""
        return self._coefficients()

    def _coefficients(self):
        return np.array([point["weights"] for point in self])

    def _columns(self):
        return {**super()._columns(), "variance": self.column("variance"), "risk": self.column("risk")}

    def plot(self, ax=None):
        """Draw the frontier in the plane of risk and return, with the assets.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        ax = _axes(ax)
        ax.plot(self.column("risk"), self.column("expected_return"), "o-", ms=3, label="efficient frontier")
        ax.scatter(self._risks, self._means, color="C1", s=14, label="assets")
        ax.set_xlabel("risk a period")
        ax.set_ylabel("expected return a period")
        ax.legend()
        return ax


def frontier(
    X, points=30, *, budget=1.0, min_weights=0.0, max_weights=None, groups=None, previous_weights=None, turnover_penalty=0.0,
    max_turnover=None, shrinkage=0.0, tol=1e-6, time_limit=None, n_jobs=None, verbose=0, callback=None,
):
    """The efficient frontier: portfolios of least variance, evenly spaced in return.

    Parameters
    ----------
    X : array-like of shape (n_periods, n_assets)
        Returns; a frame names the assets.
    points : int, default=30
        How many portfolios.
    budget, min_weights, max_weights, groups, previous_weights, turnover_penalty, max_turnover, shrinkage, tol
        As for :class:`MeanVariance`.
    time_limit, n_jobs, verbose, callback
        As for :class:`MeanVariance`.

    Returns
    -------
    frontier : Frontier
        A sequence of portfolios with ``plot()`` and ``to_pandas()``.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import frontier
    >>> returns = 0.001 + 0.01 * np.random.default_rng(0).normal(size=(100, 4))
    >>> found = frontier(returns, 5)
    >>> len(found), found.status, bool((np.diff(found.column("risk")) > -1e-9).all())
    (5, 'converged', True)
    """
    model = MeanVariance(
        budget=budget, min_weights=min_weights, max_weights=max_weights, groups=groups, previous_weights=previous_weights,
        turnover_penalty=turnover_penalty, max_turnover=max_turnover, shrinkage=shrinkage, tol=tol,
    )
    names = names_of(X)
    points = number(points, "points")
    if not points.is_integer():
        raise TypeError(f"points must be a whole number, got {points!r}")
    x = check_array(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    returns, unit = in_unit(x)
    words = words_of(model, x.shape[1], names, unit)
    del words["target_return"]
    found = _call(
        "frontier", _native.frontier, returns, int(points), n_jobs=n_jobs, time_limit=time_limit, verbose=verbose, callback=callback,
        **words,
    )
    found = [back(point, unit) for point in found["points"]]
    points = [{**point, "risk": float(np.sqrt(point["variance"]))} for point in found]
    result = Frontier(points, names, x.shape[1], x.mean(axis=0), x.std(axis=0, ddof=1))
    return _warned(result, "frontier", tol)
