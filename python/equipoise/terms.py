"""Terms of ``minimise f(x) + h(x) subject to A x = b`` as small values.

A term knows the words of a problem file (docs/problem-file.md) for itself, and nothing of the solver. Smooth terms can be added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._data import matrix, names_of, vector

__all__ = [
    "AsymmetricL1", "Box", "Distance", "ElasticNet", "GroupL2", "Huber", "L1", "LeastSquares", "Linear", "Logistic", "NonNegative",
    "Poisson", "Quadratic", "Smooth", "SquaredHinge", "Sum",
]


class Term:
    """A term: words for the extension, and perhaps names of the variables."""

    names: list[str] | None = None

    def words(self) -> dict[str, Any]:
        """The term in the words of a problem file."""
        raise NotImplementedError

    def __repr__(self) -> str:
        parts = [f"{key}={_short(value)}" for key, value in self.words().items() if key != "kind"]
        return f"{type(self).__name__}({', '.join(parts)})"


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"<{value[0]} {value[-1][0]} x {value[-1][1]}>"
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(map(str, value.shape))}>"
    return repr(value)


class SmoothTerm(Term):
    """f: terms that can be added."""

    def __add__(self, other: Any) -> Sum:
        if not isinstance(other, SmoothTerm):
            return NotImplemented
        return Sum([self, other])


class Sum(SmoothTerm):
    """The sum of smooth terms over the same variables.

    Parameters
    ----------
    terms : list of smooth terms
        What is added.

    Examples
    --------
    >>> from equipoise import Distance, Linear
    >>> (Distance([0.0, 0.0]) + Linear([1.0, 2.0])).words()["kind"]
    'sum'
    """

    def __init__(self, terms: list[SmoothTerm]):
        self.terms: list[SmoothTerm] = [part for term in terms for part in (term.terms if isinstance(term, Sum) else [term])]
        self.names = next((term.names for term in self.terms if term.names), None)

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "sum", "terms": [term.words() for term in self.terms]}

    def __repr__(self):
        return " + ".join(map(repr, self.terms))


class _Loss(SmoothTerm):
    """A sum of losses over the rows of a matrix."""

    _kind: str

    def __init__(self, M: Any, y: Any, weights: Any = None):
        self.names = names_of(M)
        self.M = matrix(M, "M")
        rows = self.M[-1][0] if isinstance(self.M, tuple) else self.M.shape[0]
        self.y = vector(y, "y", length=rows)
        self.weights = None if weights is None else vector(weights, "weights", length=rows)

    def words(self):
        """The term in the words of a problem file."""
        words = {"kind": self._kind, "matrix": self.M, "target": self.y}
        return words if self.weights is None else {**words, "weights": self.weights}


class LeastSquares(_Loss):
    """``1/2 sum_i w_i (M x - y)_i^2``.

    Parameters
    ----------
    M : {array-like, sparse matrix} of shape (n_rows, n)
        Matrix; the columns of a frame name the variables.
    y : array-like of shape (n_rows,)
        Targets.
    weights : array-like of shape (n_rows,), default=None
        Weights of at least 0.

    Examples
    --------
    >>> from equipoise import LeastSquares, solve
    >>> solve(LeastSquares([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0]), A=[1.0, 1.0], b=3.0).x.round(4).tolist()
    [2.5, 0.5]
    """

    _kind = "least-squares"


class Logistic(_Loss):
    """``sum_i w_i log(1 + exp(-y_i (M x)_i))`` for labels -1 and +1.

    Parameters
    ----------
    M, y, weights
        As for :class:`LeastSquares`.

    Examples
    --------
    >>> from equipoise import Logistic
    >>> Logistic([[1.0], [2.0]], [1, -1])
    Logistic(matrix=<2 x 1>, target=<2>)
    """

    _kind = "logistic"


class SquaredHinge(_Loss):
    """``sum_i w_i max(0, 1 - y_i (M x)_i)^2`` for labels -1 and +1.

    Parameters
    ----------
    M, y, weights
        As for :class:`LeastSquares`.

    Examples
    --------
    >>> from equipoise import SquaredHinge
    >>> SquaredHinge([[1.0], [2.0]], [1, -1]).words()["kind"]
    'squared-hinge'
    """

    _kind = "squared-hinge"


class Huber(_Loss):
    """Huber's loss of ``M x - y``: quadratic up to delta, linear beyond.

    Parameters
    ----------
    M, y, weights
        As for :class:`LeastSquares`.
    delta : float, default=1.345
        Up to which size of an error.

    Examples
    --------
    >>> from equipoise import Huber
    >>> Huber([[1.0]], [2.0], delta=0.5).words()["delta"]
    0.5
    """

    _kind = "huber"

    def __init__(self, M: Any, y: Any, delta: float = 1.345, weights: Any = None):
        super().__init__(M, y, weights)
        self.delta = float(delta)

    def words(self):
        """The term in the words of a problem file."""
        return {**super().words(), "delta": self.delta}


class Poisson(_Loss):
    """``sum_i w_i (exp(z_i) - y_i z_i)``, ``z = M x``, for counts y; exact up to ``z = limit``, its expansion beyond.

    Parameters
    ----------
    M, y, weights
        As for :class:`LeastSquares`.
    limit : float, default=None
        None is 3 above the logarithm of the largest count.

    Examples
    --------
    >>> from equipoise import Poisson
    >>> round(Poisson([[1.0]], [1.0]).words()["limit"], 6)
    3.0
    """

    _kind = "poisson"

    def __init__(self, M: Any, y: Any, limit: float | None = None, weights: Any = None):
        super().__init__(M, y, weights)
        self.limit = 3.0 + float(np.log(max(self.y.max(initial=0.0), 1.0))) if limit is None else float(limit)

    def words(self):
        """The term in the words of a problem file."""
        return {**super().words(), "limit": self.limit}


class Quadratic(SmoothTerm):
    """``1/2 x'Q x + c'x``, or ``1/2 ||F x||^2 + c'x``.

    Parameters
    ----------
    Q : {array-like, sparse matrix} of shape (n, n), default=None
        Symmetric, positive semidefinite.
    c : array-like of shape (n,), default=None
        Linear part.
    factor : {array-like, sparse matrix} of shape (k, n), default=None
        F, in place of Q.

    Examples
    --------
    >>> from equipoise import Quadratic, NonNegative, solve
    >>> solve(Quadratic([[2.0, 0.0], [0.0, 2.0]], [-2.0, 2.0]), NonNegative()).x.round(4).tolist()
    [1.0, 0.0]
    """

    def __init__(self, Q: Any = None, c: Any = None, *, factor: Any = None):
        if (Q is None) == (factor is None):
            raise ValueError("a quadratic takes Q or factor, one of the two")
        given = Q if factor is None else factor
        self.names = names_of(given)
        self._key, self._matrix = ("matrix" if factor is None else "factor"), matrix(given, "Q" if factor is None else "factor")
        width = self._matrix[-1][1] if isinstance(self._matrix, tuple) else self._matrix.shape[1]
        self.c = None if c is None else vector(c, "c", length=width)

    def words(self):
        """The term in the words of a problem file."""
        words = {"kind": "quadratic", self._key: self._matrix}
        return words if self.c is None else {**words, "linear": self.c}


class Distance(SmoothTerm):
    """``sum_j w_j (x_j - t_j)^2``, without a half.

    Parameters
    ----------
    target : array-like of shape (n,)
        t.
    weight : float or array-like of shape (n,), default=1.0
        w.

    Examples
    --------
    >>> from equipoise import Distance, solve
    >>> solve(Distance([1.0, 2.0, 6.0]), A="sum", b=3.0).x.round(4).tolist()
    [-1.0, 0.0, 4.0]
    """

    def __init__(self, target: Any, weight: Any = 1.0):
        self.names = [str(name) for name in target.index] if hasattr(target, "index") and hasattr(target, "to_numpy") else None
        self.target = vector(target, "target")
        self.weight = _each(weight, "weight")

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "distance", "target": self.target, "weight": self.weight}


class Linear(SmoothTerm):
    """``c'x``.

    Parameters
    ----------
    c : array-like of shape (n,)
        Prices of the variables.

    Examples
    --------
    >>> from equipoise import Linear
    >>> Linear([1.0, 2.0])
    Linear(linear=<2>)
    """

    def __init__(self, c: Any):
        self.c = vector(c, "c")

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "linear", "linear": self.c}


class Smooth(SmoothTerm):
    """A convex smooth term of Python functions. It is moved as one block, and certified by its KKT residual alone.

    Parameters
    ----------
    value : callable
        ``value(x)`` is the value.
    gradient : callable
        ``gradient(x)`` is the gradient.
    size : int
        How many variables.
    hessian_product : callable, default=None
        ``hessian_product(x, v)`` is the Hessian times v; with it second-order steps are made.
    curvature : float, default=None
        About the largest eigenvalue of the Hessian; None measures it.

    Examples
    --------
    >>> from equipoise import Smooth, solve
    >>> term = Smooth(lambda x: 0.5 * x @ x, lambda x: x, 2, lambda x, v: v)
    >>> solve(term, A=[1.0, 1.0], b=2.0).x.round(4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, value: Any, gradient: Any, size: int, hessian_product: Any = None, *, curvature: float | None = None):
        for name, function in (("value", value), ("gradient", gradient), ("hessian_product", hessian_product)):
            if not callable(function) and not (name == "hessian_product" and function is None):
                raise TypeError(f"{name} must be callable, got {type(function).__name__}")
        self.value, self.gradient, self.hessian_product = value, gradient, hessian_product
        self.size, self.curvature = int(size), curvature

    def words(self):
        """The term in the words of the extension."""
        return {
            "kind": "function", "dimension": self.size, "value": self.value, "gradient": self.gradient,
            "hessian_product": self.hessian_product, "curvature": self.curvature,
        }


def _each(value: Any, name: str, *, infinite: bool = False) -> Any:
    """One number for all coordinates, or one for each."""
    return float(value) if np.ndim(value) == 0 else vector(value, name, infinite=infinite)


class L1(Term):
    """``sum_j weight_j |x_j|``, perhaps with ``lower <= x <= upper``.

    Parameters
    ----------
    weight : float or array-like of shape (n,), default=1.0
        Weights of at least 0: one for all, or one each.
    lower, upper : float or array-like of shape (n,), default=None
        Limits; None for none.

    Examples
    --------
    >>> from equipoise import L1, Distance, solve
    >>> solve(Distance([3.0, 0.1]), L1(1.0)).x.round(4).tolist()
    [2.5, 0.0]
    """

    def __init__(self, weight: Any = 1.0, *, lower: Any = None, upper: Any = None):
        self.weight = _each(weight, "weight")
        self.lower = None if lower is None else _each(lower, "lower", infinite=True)
        self.upper = None if upper is None else _each(upper, "upper", infinite=True)

    def words(self):
        """The term in the words of a problem file."""
        if self.lower is None and self.upper is None:
            return {"kind": "l1", "weight": self.weight}
        return {"kind": "l1-box", "weight": self.weight, **_sides(self)}


class AsymmetricL1(Term):
    """``sum_j rise_j max(x_j, 0) + fall_j max(-x_j, 0)``: one weight for positive values, one for negative ones.

    Parameters
    ----------
    rise, fall : float or array-like of shape (n,)
        Weights of at least 0: one for all, or one each.

    Examples
    --------
    >>> from equipoise import AsymmetricL1, Distance, solve
    >>> solve(Distance([3.0, -3.0]), AsymmetricL1(2.0, 1.0)).x.round(4).tolist()
    [2.0, -2.5]
    """

    def __init__(self, rise: Any, fall: Any):
        self.rise, self.fall = _each(rise, "rise"), _each(fall, "fall")

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "asymmetric-l1", "rise": self.rise, "fall": self.fall}


class ElasticNet(Term):
    """``sum_j l1_j |x_j| + 1/2 l2_j x_j^2``.

    Parameters
    ----------
    l1, l2 : float or array-like of shape (n,), default=1.0
        Weights of at least 0: one for all, or one each.

    Examples
    --------
    >>> from equipoise import ElasticNet
    >>> ElasticNet(1.0, 0.5)
    ElasticNet(l1=1.0, l2=0.5)
    """

    def __init__(self, l1: Any = 1.0, l2: Any = 1.0):
        self.l1, self.l2 = _each(l1, "l1"), _each(l2, "l2")

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "elastic-net", "l1": self.l1, "l2": self.l2}


class Box(Term):
    """``lower <= x <= upper``; a missing side is endless.

    Parameters
    ----------
    lower, upper : float or array-like of shape (n,), default=None
        Limits: one for all, or one each.

    Examples
    --------
    >>> from equipoise import Box, Distance, solve
    >>> solve(Distance([3.0, -3.0]), Box(-1.0, 1.0)).x.round(4).tolist()
    [1.0, -1.0]
    """

    def __init__(self, lower: Any = None, upper: Any = None):
        self.lower = None if lower is None else _each(lower, "lower", infinite=True)
        self.upper = None if upper is None else _each(upper, "upper", infinite=True)

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "box", **_sides(self)}


def _sides(term: Any) -> dict[str, Any]:
    return {key: value for key in ("lower", "upper") if (value := getattr(term, key)) is not None}


class NonNegative(Term):
    """``x >= 0``.

    Examples
    --------
    >>> from equipoise import NonNegative
    >>> NonNegative()
    NonNegative()
    """

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "non-negative"}


class GroupL2(Term):
    """``sum over blocks of weight times the Euclidean norm of the block``; ``solve`` is told the blocks.

    Parameters
    ----------
    weight : float or array-like of shape (n_blocks,), default=1.0
        Weights of at least 0: one for all, or one for each block.

    Examples
    --------
    >>> from equipoise import Distance, GroupL2, solve
    >>> solve(Distance([3.0, 4.0, 0.1, 0.1]), GroupL2(1.0), blocks=2).x.round(4).tolist()
    [2.7, 3.6, 0.0, 0.0]
    """

    def __init__(self, weight: Any = 1.0):
        self.weight = _each(weight, "weight")

    def words(self):
        """The term in the words of a problem file."""
        return {"kind": "group-l2", "weight": self.weight}
