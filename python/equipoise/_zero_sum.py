"""What regressions on log-contrasts share: columns in their roles, one call of the extension, the choice by cross-validation.

Given checked data; sets the fitted attributes. Must not know: which loss.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv

from . import _native
from ._base import CertifiedEstimator, linear, seed_of
from ._data import matrix, seam, without_zero_weights

__all__ = ["Chosen", "ZeroSum", "falling", "without_constants"]


class ZeroSum(CertifiedEstimator):
    """What the regressions share: columns in their roles, and one call of the extension."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validated(self, x, y="no_validation", *, reset, **kwargs):
        # One coefficient that sums to 0 is 0.
        least = 2 if reset and self.zero_sum and self.constraints is None and self.covariates is None else 1
        return super()._validated(x, y, reset=reset, ensure_min_features=least, **kwargs)

    def _prepared(self, x, y, weights):
        """Rows that count and columns that say something; the constants of the others, for the intercept."""
        self._counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        x, y, weights = without_zero_weights(x, y, weights)
        self._constants = None
        if self.fit_intercept:
            # A constant column is an intercept; what is left of it is its place in the sum.
            x, self._constants = without_constants(x)
        return x, y, weights

    def _words(self, x, weights):
        """What the extension is told besides data and lambda."""
        columns = x.shape[1]
        covariates = self._covariates(columns)
        penalties = None
        if covariates.any():
            penalties = np.where(covariates, 0.0, 1.0)
        if self.constraints is not None:
            constraints = self.constraints.toarray() if sp.issparse(self.constraints) else self.constraints
            constraints = np.asarray(matrix(constraints, "constraints", columns=columns), dtype=np.float64)
        elif self.zero_sum:
            constraints = np.where(covariates, 0.0, 1.0)[np.newaxis, :]
        else:
            constraints = None
        return {
            "l1_ratio": self.l1_ratio, "intercept": self.fit_intercept, "penalties": penalties, "constraints": constraints,
            "sample_weight": weights, "gap": self.tol, **self._loss_words(),
        }

    def _covariates(self, columns):
        """Which columns are neither penalised nor part of the sum."""
        marked = np.zeros(columns, dtype=bool)
        covariates = () if self.covariates is None else self.covariates
        if isinstance(covariates, str):
            covariates = [covariates]
        if np.asarray(covariates).dtype == bool:
            if len(covariates) != columns:
                raise ValueError(f"covariates has {len(covariates)} truth values, but X has {columns} columns")
            return np.array(covariates)
        for which in covariates:
            if isinstance(which, str):
                names = getattr(self, "feature_names_in_", None)
                if names is None or which not in names:
                    raise ValueError(f"covariates names {which!r}, which is no column of X")
                which = int(np.flatnonzero(names == which)[0])
            if not isinstance(which, (int, np.integer)):
                raise TypeError(f"covariates must be names or numbers of columns, got {which!r}")
            if not -columns <= which < columns:
                raise ValueError(f"covariates has column {which}, but X has {columns} columns")
            marked[which] = True
        return marked

    def _set_point(self, point):
        """Coefficients of a point of the extension."""
        self.coef_ = np.asarray(point["coefficients"])
        intercept = point.get("intercept")
        self.intercept_ = 0.0 if intercept is None else float(intercept)
        if self._constants is not None:
            self.intercept_ -= float(self._constants @ self.coef_)
        del self._constants, self._counted
        self.dual_coef_ = np.asarray(point["multipliers"])
        self.support_ = np.flatnonzero(self.coef_)
        self._keep(point)


def without_constants(x):
    """Columns with one value throughout become 0; what was taken off each column, or None where nothing was."""
    if x.shape[0] < 2:
        return x, None
    if sp.issparse(x):
        low, high = x.min(axis=0).toarray().ravel(), x.max(axis=0).toarray().ravel()
    else:
        low, high = x.min(axis=0), x.max(axis=0)
    constants = np.where(low == high, low, 0.0).astype(np.float64)
    if not constants.any():
        return x, None
    keep = constants == 0
    if sp.issparse(x):
        return (x @ sp.diags(keep.astype(x.dtype))).tocsc(), constants
    return x * keep.astype(x.dtype), constants


class Chosen:
    """A point chosen by cross-validation: a mixin for estimators with ``cv``, ``selection`` and ``random_state``."""

    def _choose(self, x, y, weights, grid):
        """Sets the chosen point; returns the lambdas and the one chosen."""
        if self.selection not in ("best", "one_se"):
            raise ValueError(f"The 'selection' parameter must be one of 'best', 'one_se'. Got {self.selection!r} instead.")
        run = self._of_library if isinstance(self.cv, (int, np.integer)) else self._of_splits
        try:
            found = run(x, y, weights, grid)
        except ValueError as error:
            if "lambda_max is 0" not in str(error):
                raise
            # Nothing is to be explained: at any lambda all coefficients are 0.
            found = run(x, y, weights, np.ones(1))
        points = found["points"]
        self.cv_error_ = np.array([point["mean"] for point in points])
        self.cv_standard_error_ = np.array([point["standard_error"] for point in points])
        place = found[self.selection]
        # Where no fit converged, which a warning says, the least error has to do.
        chosen = points[int(np.argmin(self.cv_error_)) if place is None else place]
        self._set_point(chosen)
        return np.array([point["lambda"] for point in points]), float(chosen["lambda"])

    def _of_library(self, x, y, weights, grid):
        return self._run(
            _native.lasso_cv, seam(x), y, lambdas=grid, folds=int(self.cv), seed=seed_of(self.random_state), **self._words(x, weights)
        )

    def _of_splits(self, x, y, weights, grid):
        """Folds that somebody else has dealt, by the rules of the library."""
        rows = self._counted
        points = self._run(_native.lasso_path, seam(x), y, lambdas=grid, **self._words(x, weights))["points"]
        lambdas = np.array([point["lambda"] for point in points])
        whole = np.ones(len(y)) if weights is None else weights
        place = np.full(len(rows), -1)
        place[rows] = np.arange(np.count_nonzero(rows))
        x = sp.csr_array(x) if sp.issparse(x) else x
        errors = []
        for inside, outside in check_cv(self.cv, y, classifier=hasattr(self, "classes_")).split(np.zeros((len(rows), 1)), _spread(y, rows)):
            inside, outside = place[inside], place[outside]
            inside, outside = inside[inside >= 0], outside[outside >= 0]
            train, constants = without_constants(x[inside]) if self.fit_intercept else (x[inside], None)
            share = whole[inside].sum() / whole.sum()
            words = self._words(train, None if weights is None else weights[inside])
            path = self._run(_native.lasso_path, seam(train), y[inside], lambdas=lambdas * share, **words)["points"]
            coefficients = np.array([point["coefficients"] for point in path])
            intercepts = np.array([point["intercept"] or 0.0 for point in path])
            if constants is not None:
                intercepts = intercepts - coefficients @ constants
            values = linear(x[outside], coefficients, intercepts)
            errors.append(np.average(self._held_out(values, y[outside, np.newaxis]), axis=0, weights=whole[outside]))
        mean, count = np.mean(errors, axis=0), len(errors)
        deviation = np.std(errors, axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros(len(lambdas))
        best = int(np.argmin(mean))
        one_se = int(np.argmax(mean <= mean[best] + deviation[best]))
        for point, error, spread in zip(points, mean, deviation, strict=True):
            point["mean"], point["standard_error"] = float(error), float(spread)
        return {"points": points, "best": best, "one_se": one_se}


def _spread(y, rows):
    """y at the places of all rows."""
    whole = np.zeros(len(rows))
    whole[rows] = y
    return whole


def falling(values):
    """Numbers from the largest to the smallest."""
    return np.sort(np.asarray(values, dtype=np.float64))[::-1].copy()
