"""The compiled part of the package `equipoise`; use the package, not this."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "__version__",
    "build_info",
    "leave",
    "svm_train",
    "svm_path",
    "svm_cv",
    "svm_verify",
    "svm_decision",
    "lasso_fit",
    "lasso_path",
    "lasso_cv",
    "lasso_stability",
    "lasso_verify",
    "fused_fit",
    "fused_path",
    "fused_lambda_max",
    "fused_verify",
    "constrained_fit",
    "constrained_verify",
    "allocate",
    "allocate_many",
    "allocate_verify",
    "allocate_supply",
    "read_case",
    "portfolio",
    "frontier",
    "portfolio_verify",
    "solve",
    "verify",
    "problem_from_toml",
]

__version__: str

_Floats: TypeAlias = NDArray[np.float64]
_Integers: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
_Sparse: TypeAlias = tuple[
    Literal["csr", "csc"], NDArray[np.float64] | NDArray[np.float32], _Integers, _Integers, tuple[int, int]
]
_Matrix: TypeAlias = NDArray[np.float64] | NDArray[np.float32] | _Sparse
_Result: TypeAlias = dict[str, Any]
_Progress: TypeAlias = Callable[[_Result], bool | None]

class _Run(TypedDict, total=False):
    gap: float
    threads: int
    time_limit: float | None
    progress: _Progress | None

class _Svm(_Run, total=False):
    kind: str
    loss: str
    cost: float
    nu: float
    epsilon: float
    class_weights: Sequence[tuple[float, float]]
    sample_weight: ArrayLike | None
    intercept: bool
    method: str
    locking: str
    deterministic: bool
    seed: int
    max_epochs: float | None

class _SvmTrain(_Svm, total=False):
    warm: Mapping[str, Any] | None
    multipliers: ArrayLike | None

class _Lasso(_Run, total=False):
    loss: str
    huber: float | None
    l1_ratio: float
    intercept: bool
    penalties: ArrayLike | None
    constraints: _Matrix | None
    sample_weight: ArrayLike | None

class _LassoFit(_Lasso, total=False):
    lam: float | None
    ratio: float | None
    start: ArrayLike | None

class _LassoPath(_Lasso, total=False):
    lambdas: ArrayLike | tuple[int, float] | None

class _LassoCv(_LassoPath, total=False):
    folds: int
    seed: int

class _LassoStability(_Lasso, total=False):
    lam: float | None
    ratio: float | None
    pairs: int
    seed: int

class _LassoVerify(_Lasso, total=False):
    lam: float

class _Fused(_Run, total=False):
    penalty: tuple[Any, ...]
    design: _Matrix | None
    observed: tuple[Sequence[int], int] | None
    sparse: float
    method: str
    max_rounds: int

class _FusedFit(_Fused, total=False):
    lam: float
    start: ArrayLike | None

class _FusedPath(_Fused, total=False):
    lambdas: ArrayLike | None
    count: int | None
    ratio: float | None

class _FusedVerify(_Fused, total=False):
    lam: float

class _Constrained(_Run, total=False):
    lower: float | ArrayLike | None
    upper: float | ArrayLike | None
    total: float | None
    equations: tuple[_Matrix, ArrayLike] | None
    ridge: float
    sample_weight: ArrayLike | None

class _ConstrainedFit(_Constrained, total=False):
    start: ArrayLike | None

class _Allocate(_Run, total=False):
    start: ArrayLike | None
    sensitivity: bool

class _AllocateMany(_Run, total=False):
    start: ArrayLike | None
    row: int
    keep_x: bool

class _Portfolio(_Run, total=False):
    names: Sequence[str] | None
    prices: bool
    missing: str | None
    shrinkage: float | str | None
    budget: float
    target_return: float | None
    lower: float | ArrayLike | None
    upper: float | ArrayLike | None
    long_short: bool
    groups: Sequence[tuple[str, Sequence[int], float, float]]
    current: ArrayLike | None
    turnover_penalty: float | None
    max_turnover: float | None
    start: ArrayLike | None

class _Verify(TypedDict, total=False):
    tolerance: float | None
    time_limit: float | None
    progress: _Progress | None

def leave() -> None: ...
def build_info() -> _Result: ...
def svm_train(x: _Matrix, y: ArrayLike, **settings: Unpack[_SvmTrain]) -> _Result: ...
def svm_path(x: _Matrix, y: ArrayLike, costs: ArrayLike, **settings: Unpack[_Svm]) -> list[_Result]: ...
def svm_cv(x: _Matrix, y: ArrayLike, costs: ArrayLike, folds: int, **settings: Unpack[_Svm]) -> _Result: ...
def svm_verify(
    x: _Matrix, y: ArrayLike, weights: ArrayLike, bias: ArrayLike, labels: ArrayLike, **settings: Unpack[_Svm]
) -> _Result: ...
def svm_decision(x: _Matrix, weights: ArrayLike, bias: ArrayLike) -> _Floats: ...
def lasso_fit(x: _Matrix, y: ArrayLike, **settings: Unpack[_LassoFit]) -> _Result: ...
def lasso_path(x: _Matrix, y: ArrayLike, **settings: Unpack[_LassoPath]) -> _Result: ...
def lasso_cv(x: _Matrix, y: ArrayLike, **settings: Unpack[_LassoCv]) -> _Result: ...
def lasso_stability(x: _Matrix, y: ArrayLike, **settings: Unpack[_LassoStability]) -> _Result: ...
def lasso_verify(
    x: _Matrix,
    y: ArrayLike,
    coefficients: ArrayLike,
    fitted_intercept: float | None = None,
    **settings: Unpack[_LassoVerify],
) -> _Result: ...
def fused_fit(y: ArrayLike, **settings: Unpack[_FusedFit]) -> _Result: ...
def fused_path(y: ArrayLike, **settings: Unpack[_FusedPath]) -> _Result: ...
def fused_lambda_max(y: ArrayLike, **settings: Unpack[_Fused]) -> float: ...
def fused_verify(y: ArrayLike, x: ArrayLike, **settings: Unpack[_FusedVerify]) -> _Result: ...
def constrained_fit(x: _Matrix, y: ArrayLike, **settings: Unpack[_ConstrainedFit]) -> _Result: ...
def constrained_verify(x: _Matrix, y: ArrayLike, weights: ArrayLike, **settings: Unpack[_Constrained]) -> _Result: ...
def allocate(
    groups: list[dict[str, Any]], rows: list[tuple[str, str, float]], **settings: Unpack[_Allocate]
) -> _Result: ...
def allocate_many(
    groups: list[dict[str, Any]],
    rows: list[tuple[str, str, float]],
    values: ArrayLike,
    **settings: Unpack[_AllocateMany],
) -> list[_Result]: ...
def allocate_verify(
    groups: list[dict[str, Any]],
    rows: list[tuple[str, str, float]],
    x: ArrayLike,
    prices: ArrayLike | None = None,
    **settings: Unpack[_Run],
) -> _Result: ...
def allocate_supply(
    groups: list[dict[str, Any]], rows: list[tuple[str, str, float]], around: float
) -> list[tuple[float, float]]: ...
def read_case(path: str | os.PathLike[str]) -> _Result: ...
def portfolio(returns: _Matrix, **settings: Unpack[_Portfolio]) -> _Result: ...
def frontier(returns: _Matrix, points: int, **settings: Unpack[_Portfolio]) -> _Result: ...
def portfolio_verify(returns: _Matrix, weights: ArrayLike, **settings: Unpack[_Portfolio]) -> _Result: ...
def solve(
    problem: dict[str, Any],
    settings: dict[str, Any] | None = None,
    x0: ArrayLike | None = None,
    progress: _Progress | None = None,
) -> _Result: ...
def verify(problem: dict[str, Any], x: ArrayLike, **settings: Unpack[_Verify]) -> _Result: ...
def problem_from_toml(path: str | os.PathLike[str]) -> _Result: ...
