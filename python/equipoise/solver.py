"""The solver itself: ``minimise f(x) + h(x) subject to A x = b``.

Given terms; returns a `Solution` with its certificate. A problem goes to the extension in the words of a problem file: there is one
translation of these, and it is not here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _native
from ._base import seed_of, threads_of, warn_if_not_converged
from ._certificate import Certificate
from ._data import matrix, names_of, vector
from ._progress import watched
from .graphs import edges_of
from .terms import SmoothTerm, Sum, Term

__all__ = ["Problem", "Solution", "solve", "verify"]


@dataclass(frozen=True, repr=False, eq=False)
class Solution:
    """What a run ended with: x, and what is proven of it.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The point.
    multipliers : ndarray of shape (m,)
        Multipliers of ``A x = b``, with the sign of ``L = f + h + multipliers'(A x - b)``.
    status : str
        'converged', 'iteration-limit', 'time-limit', 'stalled', 'interrupted', ...
    certificate : Certificate
        What is proven of x.
    updates, epochs, seconds
        The work.
    method, reason : str
        The method that ran, and why.
    candidates : dict
        The points that a stochastic run compared, each with its objective.
    names : list of str or None
        Names of the variables, where a frame had some.
    """

    x: np.ndarray
    multipliers: np.ndarray
    status: str
    certificate: Certificate
    updates: int
    epochs: float
    seconds: float
    method: str
    reason: str
    candidates: dict[str, float] = field(default_factory=dict)
    names: list[str] | None = None

    @property
    def objective(self) -> float:
        """The objective at x, from above."""
        return self.certificate["objective"]

    @property
    def bound(self) -> float | None:
        """The least objective, from below; None where nothing is known."""
        return self.certificate.get("bound")

    @property
    def gap(self) -> float | None:
        """``objective - bound``, relative to ``1 + |objective|``; None where there is none."""
        return self.certificate.gap

    @property
    def converged(self) -> bool:
        """Whether what was asked for has been proven."""
        return self.status == "converged"

    def to_pandas(self):
        """x as a pandas series, under the names of the variables.

        Returns
        -------
        series : pandas.Series
            x.
        """
        import pandas as pd

        return pd.Series(self.x, index=self.names, name="x")

    def __repr__(self) -> str:
        gap = "no gap" if self.gap is None else f"gap {self.gap:.2e}"
        return f"<Solution: {self.status}, {len(self.x)} variables, objective {self.objective:.10g}, {gap}, {self.seconds:.3g} s by {self.method}>"

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()


class Problem:
    """``minimise f(x) + h(x) subject to A x = b``, put together once and solved as often as wanted.

    Parameters
    ----------
    f : smooth term, or list of them
        Such as :class:`LeastSquares`; a list is their sum.
    h : term, default=None
        Such as :class:`L1`.
    A : {array-like, sparse matrix} of shape (m, n) or (n,), or 'sum', default=None
        Rows; a row; or the sum of all x (with a list b of p numbers, that of the blocks of size p).
    b : float or array-like of shape (m,), default=None
        Right-hand side; 0 where missing.
    blocks : int or list of int, default=None
        The size of consecutive blocks, or where they begin; None chooses.
    graph : str, networkx graph, sparse matrix or edges, default=None
        Which pairs of blocks may move together: a topology such as 'ring', or edges; None is every pair.
    probabilities : {'uniform', 'lipschitz', 'equalised'} or array-like, default=None
        How often each pair is drawn.

    Examples
    --------
    >>> from equipoise import Distance, NonNegative, Problem
    >>> problem = Problem(Distance([0.2, 0.9, -0.5]), NonNegative(), A="sum", b=1.0)
    >>> solution = problem.solve()
    >>> solution.x.round(4).tolist(), solution.status
    ([0.15, 0.85, 0.0], 'converged')
    >>> problem.verify(solution.x).converged
    True
    """

    def __init__(
        self, f: Any, h: Term | None = None, A: Any = None, b: Any = None, *, blocks: Any = None, graph: Any = None,
        probabilities: Any = None,
    ):
        f = Sum(list(f)) if isinstance(f, (list, tuple)) else f
        if not isinstance(f, SmoothTerm):
            raise TypeError(f"f must be a smooth term such as LeastSquares, got {type(f).__name__}")
        if h is not None and (not isinstance(h, Term) or isinstance(h, SmoothTerm)):
            raise TypeError(f"h must be a term such as L1 or Box, got {type(h).__name__}")
        self.names = f.names
        self._words: Any = {"smooth": _listed(f.words())}
        if h is not None:
            self._words["separable"] = _listed(h.words())
        if A is not None:
            named = names_of(A)
            if named is not None and self.names is not None and named != self.names:
                raise ValueError(f"the columns of A are {named}, but the variables are {self.names}: they must be the same, in the same order")
            self._words["coupling"] = _listed(_coupling(A, b))
        elif b is not None:
            raise ValueError("b is given without A")
        if blocks is not None:
            single = isinstance(blocks, (int, np.integer))
            self._words["blocks"] = {"size": int(blocks)} if single else {"boundaries": [int(start) for start in blocks]}
        words = _graph(graph, probabilities)
        if words:
            self._words["graph"] = words

    def __repr__(self) -> str:
        if "toml" in self._words:
            return f"Problem.from_toml({str(self._words['toml'])!r})"
        parts = [f"{key}={value['kind']}" for key, value in self._words.items() if isinstance(value, dict) and "kind" in value]
        return f"<Problem: {', '.join(parts)}>"

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Problem:
        """The problem of a TOML file, as ``equipoise solve`` reads it.

        Parameters
        ----------
        path : str or path-like
            The file; names of data files in it are relative to it.

        Returns
        -------
        problem : Problem
            The problem.
        """
        problem = cls.__new__(cls)
        problem.names, problem._words = None, _native.problem_from_toml(os.fspath(path))
        return problem

    def solve(self, *, x0=None, tol=1e-6, callback=None, method="auto", n_jobs=None, random_state=None, time_limit=None,
              max_epochs=None, max_updates=None, verbose=0, **settings: Any) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        x0, tol, callback, method, n_jobs, random_state, time_limit, max_epochs, max_updates, verbose, **settings
            As for :func:`solve`.

        Returns
        -------
        solution : Solution
            x and its certificate.
        """
        words = {"tolerance": tol, "method": method, "threads": threads_of(n_jobs), "seed": seed_of(random_state)}
        words |= {"time-limit": time_limit, "max-epochs": max_epochs, "max-updates": max_updates}
        words |= {key.replace("_", "-"): value for key, value in settings.items()}
        words = {key: value for key, value in words.items() if value is not None}
        start = None if x0 is None else vector(x0, "x0")
        with watched("solve", verbose, callback) as progress:
            found = _native.solve(self._words, words, x0=start, progress=progress)
        work = {key: found[key] for key in ("updates", "epochs", "seconds", "method")}
        certificate = Certificate.of({**found["certificate"], **work, "status": found["status"]})
        warn_if_not_converged("solve", certificate, tol)
        return Solution(
            x=np.asarray(found["x"]), multipliers=np.asarray(found["multipliers"]), status=found["status"], certificate=certificate,
            reason=found["reason"], candidates=dict(found["candidates"]), names=self.names, **work,
        )

    def verify(self, x: Any, *, tol: float = 1e-6) -> Certificate:
        """Check a point, whoever found it.

        Parameters
        ----------
        x, tol
            As for :func:`verify`.

        Returns
        -------
        certificate : Certificate
            ``converged`` says whether the gap is proven to be at most ``tol``.
        """
        found = _native.verify(self._words, vector(x, "x"), tolerance=tol)
        return Certificate.of(found, status="converged" if found["met"] else "not met")


def _listed(words: Any) -> Any:
    """Lists of one number as lists: older versions of NumPy pass such arrays off as numbers."""
    if isinstance(words, dict):
        return {key: _listed(value) for key, value in words.items()}
    if isinstance(words, list):
        return [_listed(value) for value in words]
    return words.tolist() if isinstance(words, np.ndarray) and words.shape == (1,) else words


def _coupling(A: Any, b: Any) -> dict[str, Any]:
    b = 0.0 if b is None else b
    if isinstance(A, str):
        if A != "sum":
            raise ValueError(f"A must be a matrix, a row or 'sum', got {A!r}")
        return {"kind": "sum", "rhs": float(b) if np.ndim(b) == 0 else vector(b, "b")}
    if not sp.issparse(A) and np.ndim(A) == 1:
        if np.size(b) != 1:
            raise ValueError(f"b has {np.size(b)} numbers, but A is one row")
        return {"kind": "row", "weights": vector(A, "A"), "rhs": float(np.ravel(b)[0])}
    rows = matrix(A, "A")
    count = rows[-1][0] if isinstance(rows, tuple) else rows.shape[0]
    return {"kind": "rows", "matrix": rows, "rhs": vector(np.full(count, b) if np.ndim(b) == 0 else b, "b", length=count)}


def _graph(graph: Any, probabilities: Any) -> dict[str, Any]:
    words: dict[str, Any] = {}
    if isinstance(graph, str):
        words["topology"] = graph
    elif graph is not None:
        edges, weights = edges_of(graph)
        words["edges"] = edges.astype(np.float64)
        if weights is not None:
            words["edges"] = np.column_stack([edges, weights])
    if probabilities is not None:
        words["probabilities"] = probabilities if isinstance(probabilities, str) else vector(probabilities, "probabilities")
    return words


def solve(
    f: Any, h: Term | None = None, A: Any = None, b: Any = None, *, x0: Any = None, tol: float = 1e-6,
    callback: Callable[[dict[str, Any]], bool | None] | None = None, blocks: Any = None, graph: Any = None, probabilities: Any = None,
    method: str = "auto", n_jobs: int | None = None, random_state: Any = None, time_limit: float | None = None,
    max_epochs: float | None = None, max_updates: int | None = None, verbose: int = 0, **settings: Any,
) -> Solution:
    """Minimise ``f(x) + h(x)`` subject to ``A x = b``, to a gap that is proven.

    Parameters
    ----------
    f, h, A, b, blocks, graph, probabilities
        The problem, as for :class:`Problem`.
    x0 : array-like of shape (n,), default=None
        Where to begin; None is the feasible point nearest to 0.
    tol : float, default=1e-6
        The duality gap to be proven, relative to ``1 + |objective|``; the KKT residual where there is no gap.
    callback : callable, default=None
        Called with a dictionary at checkpoints; returning False ends the run, an exception ends it and is passed on.
    method : str, default='auto'
        How the optimum is sought: a name of docs/methods.md, such as ``'pairs'`` or ``'violating'``.
    n_jobs : int, default=None
        Threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws; None is 0.
    time_limit, max_epochs, max_updates : float, default=None
        Limits.
    verbose : int, default=0
        Show progress.
    **settings
        Other keys of ``[solve]`` in a problem file, with underscores: ``deterministic``, ``locking``, ``batch``, ...

    Returns
    -------
    solution : Solution
        x and its certificate.

    Examples
    --------
    >>> from equipoise import LeastSquares, L1, solve
    >>> solution = solve(LeastSquares([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 3.0]), L1(0.1), A=[[1.0, -1.0]], b=[0.0])
    >>> bool(abs(solution.x[0] - solution.x[1]) < 1e-9), solution.converged
    (True, True)
    """
    problem = Problem(f, h, A, b, blocks=blocks, graph=graph, probabilities=probabilities)
    return problem.solve(
        x0=x0, tol=tol, callback=callback, method=method, n_jobs=n_jobs, random_state=random_state, time_limit=time_limit,
        max_epochs=max_epochs, max_updates=max_updates, verbose=verbose, **settings,
    )


def verify(f: Any, h: Term | None, A: Any, b: Any, x: Any, *, tol: float = 1e-6, blocks: Any = None) -> Certificate:
    """Check a point from raw data, whoever found it.

    Parameters
    ----------
    f, h, A, b, blocks
        The problem, as for :class:`Problem`.
    x : array-like of shape (n,)
        The point.
    tol : float, default=1e-6
        The gap that counts as converged.

    Returns
    -------
    certificate : Certificate
        ``converged`` says whether the gap is proven to be at most ``tol``.

    Examples
    --------
    >>> from equipoise import Distance, verify
    >>> verify(Distance([1.0, 3.0]), None, [1.0, 1.0], 2.0, [0.0, 2.0]).converged
    True
    >>> verify(Distance([1.0, 3.0]), None, [1.0, 1.0], 2.0, [1.0, 1.0]).converged
    False
    """
    return Problem(f, h, A, b, blocks=blocks).verify(x, tol=tol)
