"""Portfolios of least variance under limits, with a proven gap.

The problem is that of docs/portfolio.md; all numerics are the extension's. `equipoise.skfolio_optimizer` has the same as an optimiser
of skfolio.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._base import CertifiedEstimator, linear
from ._data import number, vector

__all__ = ["MeanVariance"]


def by_asset(value, assets, names, name, missing):
    """One number an asset: from a number, a list, or a mapping by names."""
    if value is None:
        return np.full(assets, missing)
    if names is not None and hasattr(value, "to_dict") and list(value.index) != list(range(assets)):
        value = value.to_dict()  # a pandas series goes by its names, where it has more than numbers of rows
    if isinstance(value, Mapping):
        if names is None:
            raise ValueError(f"{name} goes by names of assets, but X has no names")
        unknown = [key for key in value if key not in names]
        if unknown:
            raise ValueError(f"{name} names {unknown[0]!r}, which is no asset of X")
        return np.array([float(value.get(asset, missing)) for asset in names])
    if np.isscalar(value):
        return np.full(assets, number(value, name))
    return vector(value, name, length=assets, infinite=True)


def words_of(estimator, assets, names, unit):
    """What the extension is told of limits, turnover and shrinkage."""
    groups = []
    for group, (members, low, high) in (estimator.groups or {}).items():
        places = [_place(member, assets, names, group) for member in members]
        groups.append((str(group), places, -np.inf if low is None else float(low), np.inf if high is None else float(high)))
    # The library refuses weights held now that nothing asks for.
    turnover = {}
    if estimator.turnover_penalty or estimator.max_turnover is not None:
        held = by_asset(estimator.previous_weights, assets, names, "previous_weights", 0.0)
        turnover = {"current": held, "turnover_penalty": number(estimator.turnover_penalty, "turnover_penalty") / unit**2, "max_turnover": estimator.max_turnover}
    return {
        "names": names, "budget": number(estimator.budget, "budget"),
        "target_return": None if estimator.target_return is None else number(estimator.target_return, "target_return") / unit,
        "lower": by_asset(estimator.min_weights, assets, names, "min_weights", -np.inf),
        "upper": by_asset(estimator.max_weights, assets, names, "max_weights", np.inf), "groups": groups, **turnover,
        "shrinkage": estimator.shrinkage if isinstance(estimator.shrinkage, str) else float(estimator.shrinkage),
        "gap": estimator.tol,
    }


def _place(member, assets, names, group):
    if isinstance(member, str):
        if names is None or member not in names:
            raise ValueError(f"group {group!r} names {member!r}, which is no asset of X")
        return names.index(member)
    if not 0 <= member < assets:
        raise ValueError(f"group {group!r} has asset {member}, but X has {assets} assets, numbered from 0")
    return int(member)


class MeanVariance(CertifiedEstimator):
    """Portfolio of least variance under limits, from returns, with a proven gap.

    Minimises ``w'Sw + turnover_penalty sum |w - c|`` subject to ``sum w = budget``, ``mean'w >= target_return``, limits of weights, groups and
    turnover. Returns, variances and targets are per period of the table.

    Parameters
    ----------
    target_return : float, default=None
        The least expected return a period.
    budget : float, default=1.0
        What the weights sum to.
    min_weights, max_weights : float, array-like or mapping by names, default=0.0 and None
        Limits of weights; None for none.
    groups : mapping of name to (members, low, high), default=None
        What groups of assets (by name or number) may hold together; None for no limit.
    previous_weights : array-like or mapping by names, default=None
        Weights held now; those not named are 0. ``turnover_penalty`` and ``max_turnover`` are about them.
    turnover_penalty : float, default=0.0
        Price of ``sum |w - previous_weights|``, in the unit of the variance.
    max_turnover : float, default=None
        The most that it may be.
    shrinkage : float or 'auto', default=0.0
        Share of ``mu I`` in the covariance; 'auto' is Ledoit and Wolf's.
    tol : float, default=1e-6
        The gap to be proven, relative to the objective.
    time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_assets,)
        Weights.
    support_ : ndarray
        The assets held.
    expected_return_, variance_, risk_, turnover_, shrinkage_ : float
        Of these weights, per period.
    multipliers_ : dict
        Derivatives of the least objective by the limits that bind.
    gap_, objective_, status_, certificate_, n_iter_
        What is proven of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise import MeanVariance
    >>> returns = np.array([[0.01, 0.02], [-0.01, 0.01], [0.02, -0.02], [0.0, 0.01]])
    >>> model = MeanVariance().fit(returns)
    >>> float(model.weights_.sum().round(9)), bool((model.weights_ >= 0).all()), model.status_
    (1.0, True, 'converged')
    """

    def __init__(
        self, *, target_return=None, budget=1.0, min_weights=0.0, max_weights=None, groups=None, previous_weights=None,
        turnover_penalty=0.0, max_turnover=None, shrinkage=0.0, tol=1e-6, time_limit=None, warm_start=False, n_jobs=None,
        verbose=0, callback=None,
    ):
        self.target_return = target_return
        self.budget = budget
        self.min_weights = min_weights
        self.max_weights = max_weights
        self.groups = groups
        self.previous_weights = previous_weights
        self.turnover_penalty = turnover_penalty
        self.max_turnover = max_turnover
        self.shrinkage = shrinkage
        self.tol = tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y=None):
        """Find the weights.

        Parameters
        ----------
        X : array-like of shape (n_periods, n_assets)
            Returns, one row a period; a frame names the assets.
        y : Ignored
            There for scikit-learn's pipelines.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        adopt(self, self._validated(X, reset=True, ensure_min_samples=2))
        return self

    def predict(self, X):
        """Returns of the portfolio.

        Parameters
        ----------
        X : array-like of shape (n_periods, n_assets)
            Returns of the assets.

        Returns
        -------
        returns : ndarray of shape (n_periods,)
            ``X @ weights_``.
        """
        check_is_fitted(self)
        return linear(self._validated(X, reset=False), self.weights_, 0.0)


def in_unit(returns):
    """Returns of at least -1, and the power of two that they were divided by: percentages are returns, too."""
    least = float(returns.min(initial=0.0))
    if least >= -1.0:
        return returns, 1.0
    unit = 2.0 ** np.ceil(np.log2(-least))
    if unit > 1e150:
        raise ValueError(f"Input X contains returns that are too large: their squares overflow; the least is {least:g}")
    return returns / unit, float(unit)


def back(result, unit):
    """A portfolio in the unit of its returns. Powers of two round nothing: what is proven stays so."""
    if unit == 1.0:
        return result
    scaled = {key: result[key] * unit**2 for key in ("variance", "objective", "bound") if result.get(key) is not None}
    for key in ("expected_return", "target_return"):
        if result.get(key) is not None:
            scaled[key] = result[key] * unit
    powers = {"target_return": unit}
    scaled["multipliers"] = {
        key: None if value is None else value * powers.get(key, unit**2) for key, value in result["multipliers"].items()
    }
    return {**result, **scaled}


def adopt(estimator, returns):
    """Finds weights for checked returns, and sets what is known of them."""
    assets = returns.shape[1]
    names = getattr(estimator, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    start = getattr(estimator, "weights_", None) if estimator.warm_start else None
    if start is not None and len(start) != assets:
        start = None
    returns, unit = in_unit(np.asarray(returns, dtype=np.float64))
    words = words_of(estimator, assets, names, unit)
    result = back(estimator._run(_native.portfolio, returns, start=start, **words), unit)
    estimator.weights_ = np.asarray(result["weights"])
    for name in ("expected_return", "variance", "turnover", "shrinkage", "multipliers"):
        setattr(estimator, f"{name}_", result[name])
    estimator.support_ = np.flatnonzero(estimator.weights_)
    estimator.risk_ = float(np.sqrt(result["variance"]))
    estimator._keep(result)
