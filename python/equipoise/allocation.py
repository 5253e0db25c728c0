"""Resource allocation: who gives how much, and at which price; with a proven gap.

The problem is that of docs/allocate.md; all numerics are the extension's.
"""

from __future__ import annotations

import os

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from . import _native
from ._base import CertifiedEstimator
from ._data import FLOATS, names_of, number, vector

__all__ = ["Allocation", "dispatch"]

# The columns that a kind of cost reads, with what stands for one that is missing; None must be there.
_PARAMETERS = {
    "quadratic": {"c2": 0.0, "c1": 0.0, "c0": 0.0},
    "linear": {"c1": 0.0, "c0": 0.0},
    "entropy": {"weight": 1.0, "reference": 1.0, "c1": 0.0},
    "power": {"weight": 1.0, "exponent": None, "c1": 0.0},
    "log": {"weight": 1.0, "offset": 0.0, "c1": 0.0},
    "piecewise": {"points": None},
}
_ALWAYS = ("name", "cost", "lower", "upper")
_SENSES = ("=", ">=", "<=")


class Allocation(CertifiedEstimator):
    """Shares out a demand among users with convex costs, with prices and a proven gap.

    Minimises ``sum_i f_i(x_i)`` subject to ``sum x = demand``, further rows, and ``lower_i <= x_i <= upper_i``. X is a table of users, one row each,
    under the names of docs/allocate.md: ``c2, c1, c0`` (quadratic), ``c1, c0`` (linear), ``weight, reference, c1`` (entropy), ``weight, exponent, c1``
    (power), ``weight, offset, c1`` (log), ``points`` (piecewise: pairs), and ``lower``, ``upper``, ``name``, ``cost`` (the kind of each user).
    The columns of an array without names are ``c2`` and ``c1``, none negative, and further ones are read where ``rows`` names them by number; ``columns``
    gives other names.

    Parameters
    ----------
    demand : float, default=1.0
        What all users give together; None for no such row.
    cost : {'quadratic', 'linear', 'entropy', 'power', 'log', 'piecewise'}, default='quadratic'
        The kind of cost of users without one of their own.
    rows : mapping of column to (sense, value), default=None
        Further rows: coefficients in a column of X, ``'='``, ``'>='`` or ``'<='``, and a number.
    columns : list of str, default=None
        Names for the columns of an array.
    lower, upper : float or array-like of shape (n_users,), default=0.0 and None
        Limits of users, where X has no such columns; None for none.
    drop : list of str, default=()
        Columns that nobody reads.
    sensitivity : bool, default=False
        Whether to find how users move with what each row asks for.
    tol : float, default=1e-6
        The gap to be proven, relative to the objective.
    time_limit, warm_start, n_jobs, verbose, callback
        As for :class:`LinearSVC`.

    Attributes
    ----------
    allocation_ : ndarray of shape (n_users,)
        What each user gives.
    prices_ : ndarray of shape (n_rows,)
        Derivatives of the least cost by what the rows ask for.
    price_low_, price_high_ : ndarray of shape (n_rows,)
        Between which prices that holds; infinite or NaN where that is endless or not known.
    sensitivity_ : ndarray of shape (n_rows, n_users) or None
        How users move with what each row asks for.
    rows_ : list of str
        Names of the rows.
    gap_, objective_, status_, certificate_, n_iter_
        What is proven of the allocation.

    Examples
    --------
    >>> from equipoise import Allocation
    >>> users = [[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]]
    >>> model = Allocation(demand=7.0, tol=1e-9).fit(users)
    >>> model.allocation_.round(6).tolist(), model.prices_.round(6).tolist()
    ([4.0, 2.0, 1.0], [8.0])
    """

    def __init__(
        self, demand=1.0, *, cost="quadratic", rows=None, columns=None, lower=0.0, upper=None, drop=(), sensitivity=False,
        tol=1e-6, time_limit=None, warm_start=False, n_jobs=None, verbose=0, callback=None,
    ):
        self.demand = demand
        self.cost = cost
        self.rows = rows
        self.columns = columns
        self.lower = lower
        self.upper = upper
        self.drop = drop
        self.sensitivity = sensitivity
        self.tol = tol
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Of a table without names: its first column is c2, and costs that bend the wrong way are refused.
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X, y=None):
        """Find the allocation and the prices.

        Parameters
        ----------
        X : array-like of shape (n_users, n_columns)
            The users; a frame of pandas or polars has names.
        y : Ignored
            There for scikit-learn's pipelines.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        table, users = self._table(X)
        kinds = np.array([str(kind) for kind in table["cost"]]) if "cost" in table else np.array([str(self.cost)])
        asked = self._rows_asked(table, users)
        self._check_read(table, set(kinds.tolist()), X)
        groups = []
        for kind in dict.fromkeys(kinds.tolist()):
            # All users in their order, where there is one kind.
            places = np.flatnonzero(kinds == kind) if len(kinds) > 1 else None
            groups.append(self._group(table, kind, places, asked, users))
        start = getattr(self, "prices_", None) if self.warm_start else None
        if start is not None and len(start) != len(asked):
            start = None
        result = self._run(
            _native.allocate, groups, [(name, sense, value) for name, sense, value, _ in asked], gap=self.tol, start=start,
            sensitivity=self.sensitivity,
        )
        self.rows_ = [name for name, *_ in asked]
        self._adopt(result)
        return self

    def _adopt(self, result):
        self.allocation_, self.prices_ = np.asarray(result["x"]), np.asarray(result["prices"])
        self.price_low_, self.price_high_ = np.asarray(result["price_low"]), np.asarray(result["price_high"])
        found = result.get("sensitivity")
        self.sensitivity_ = None if found is None else np.asarray(found)
        self._keep(result)

    def _table(self, X):
        """Columns by name (or number), and how many users there are."""
        names = names_of(X)
        if names is None:
            x = validate_data(self, X, dtype=FLOATS)
            names = list(self.columns) if self.columns is not None else ["c2", "c1", *range(2, x.shape[1])][: x.shape[1]]
            if len(names) != x.shape[1]:
                raise ValueError(f"columns has {len(names)} names, but X has {x.shape[1]} columns")
            if self.columns is None and (x < 0).any():
                raise ValueError("Negative values in data passed to Allocation: give names to the columns if some may be below 0")
            return {name: np.ascontiguousarray(x[:, j], dtype=np.float64) for j, name in enumerate(names)}, x.shape[0]
        validate_data(self, X, skip_check_array=True)
        if len(X) == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(names)})) while a minimum of 1 is required by Allocation.")
        return {name: _column(X[name], name) for name in names}, len(X)

    def _rows_asked(self, table, users):
        """Rows as name, sense, value and coefficients."""
        found = [] if self.demand is None else [("demand", "=", number(self.demand, "demand"), np.ones(users))]
        for name, (sense, value) in (self.rows or {}).items():
            if sense not in _SENSES:
                raise ValueError(f"row {name!r} has the sense {sense!r}; it must be one of {', '.join(_SENSES)}")
            if name not in table:
                raise ValueError(f"row {name!r} is no column of X")
            found.append((str(name), sense, float(value), vector(table[name], str(name), length=users)))
        if not found:
            raise ValueError("there is nothing to share out: give demand or rows")
        return found

    def _check_read(self, table, kinds, X):
        """Refuses names that nobody reads: perhaps they are misspelt."""
        unknown = kinds - _PARAMETERS.keys()
        if unknown:
            raise ValueError(f"unknown cost {sorted(unknown)[0]!r}; known are {', '.join(_PARAMETERS)}")
        read = {*_ALWAYS, *(self.drop or ()), *(self.rows or {}), *(key for kind in kinds for key in _PARAMETERS[kind])}
        left = [name for name in table if isinstance(name, str) and name not in read]
        if left and (self.columns is not None or names_of(X) is not None):
            raise ValueError(f"no cost and no row reads column {left[0]!r}; put it into drop if that is right")

    def _group(self, table, kind, places, asked, users):
        """Users of one kind, for the extension."""
        own = slice(None) if places is None else places
        parameters = {}
        for key, missing in _PARAMETERS[kind].items():
            if key == "points":
                parameters[key] = [_points(cell) for cell in _needed(table, key, kind)[own]]
            elif key in table or missing is None:
                parameters[key] = vector(_needed(table, key, kind)[own], key)
            else:
                parameters[key] = missing
        limits = {}
        for key, missing in (("lower", -np.inf), ("upper", np.inf)):
            value = table.get(key, getattr(self, key))
            whole = np.full(users, missing if value is None else value) if np.ndim(value) == 0 else np.asarray(value)
            limits[key] = vector(whole, key, length=users, infinite=True)[own]
        if kind == "piecewise" and "lower" not in table and "upper" not in table:
            # Such users stay between their first and last point.
            limits["lower"] = np.array([points[0][0] for points in parameters["points"]])
            limits["upper"] = np.array([points[-1][0] for points in parameters["points"]])
        group = {"kind": kind, **parameters, **limits, "coefficients": [row[own] for *_, row in asked]}
        if places is None:
            return {**group, "count": users}
        return {**group, "count": len(places), "places": places.tolist()}


def _needed(table, key, kind):
    if key not in table:
        raise ValueError(f"costs of kind {kind!r} need a column {key!r}")
    return table[key]


def _column(column, name):
    """A column of a frame: texts and lists as they are, everything else as numbers."""
    values = column.to_numpy()
    if name in ("name", "cost", "points"):
        return np.asarray(values, dtype=object)
    infinite = name in ("lower", "upper")
    return check_array(values, ensure_2d=False, dtype=np.float64, input_name=name, ensure_all_finite=not infinite)


def _points(cell):
    """Points of a cost: pairs, or the text ``x:cost x:cost ...``."""
    if isinstance(cell, str):
        cell = [pair.split(":") for pair in cell.split()]
    points = np.asarray(cell, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise ValueError(f"points must be at least two pairs of x and cost, got {cell!r}")
    return [(float(x), float(cost)) for x, cost in points]


def dispatch(path, demand=None, *, tol=1e-6, time_limit=None, n_jobs=None, verbose=0, callback=None):
    """Economic dispatch of a MATPOWER case.

    Parameters
    ----------
    path : str or path-like
        A case file, version 2.
    demand : float, default=None
        The demand; None is the sum of the loads of the file.
    tol, time_limit, n_jobs, verbose, callback
        As for :class:`Allocation`.

    Returns
    -------
    allocation : Allocation
        Fitted: ``allocation_`` has the output of every generator in service, in the order of the file; ``names_`` says which.

    Examples
    --------
    >>> import os, tempfile
    >>> from equipoise import dispatch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     case = os.path.join(folder, "case.m")
    ...     with open(case, "w") as file:
    ...         _ = file.write(
    ...             "mpc.version = '2';\\nmpc.bus = [1 3 90 0 0 0 1 1 0 230 1 1.1 0.9];\\n"
    ...             "mpc.gen = [1 0 0 0 0 1 100 1 80 0; 1 0 0 0 0 1 100 1 80 0];\\n"
    ...             "mpc.branch = [];\\nmpc.gencost = [2 0 0 3 0.1 10 0; 2 0 0 3 0.2 10 0];\\n"
    ...         )
    ...     model = dispatch(case)
    >>> model.allocation_.round(4).tolist(), model.prices_.round(4).tolist()
    ([60.0, 30.0], [22.0])
    """
    case = _native.read_case(os.fspath(path))
    demand = case["demand"] if demand is None else number(demand, "demand")
    model = Allocation(demand, tol=tol, time_limit=time_limit, n_jobs=n_jobs, verbose=verbose, callback=callback)
    running = [generator for generator in case["generators"] if generator["in_service"]]
    groups = []
    for kind, key in (("polynomial", "polynomial"), ("piecewise", "points")):
        places = [place for place, generator in enumerate(running) if key in generator]
        if places:
            chosen = [running[place] for place in places]
            limits = {side: np.array([generator[side] for generator in chosen]) for side in ("lower", "upper")}
            groups.append({"kind": kind, key: [generator[key] for generator in chosen], **limits, "count": len(places), "places": places})
    model.rows_ = ["demand"]
    model.names_ = [f"gen {generator['number']}" for generator in running]
    model._adopt(model._run(_native.allocate, groups, [("demand", "=", demand)], gap=tol))
    return model
