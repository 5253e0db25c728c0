"""Tables of other libraries in the forms that the extension takes.

Given NumPy arrays, SciPy's sparse matrices, pandas and polars frames; returns a two-dimensional array, or a tuple
``("csr" | "csc", data, indices, indptr, shape)`` with sorted indices and no duplicates. Nothing is copied where that form is there
already, and nobody's matrix is changed in place. Must not know: models.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

__all__ = [
    "aligned", "by_class", "check_readable", "count_or_list", "matrix", "names_of", "number", "seam", "vector", "weights_of", "without_zero_weights",
]

FLOATS = (np.float64, np.float32)
INTEGERS = (np.int32, np.int64)


def check_readable(x: Any, name: str = "X") -> None:
    """Refuses compressed matrices whose parts do not fit together (SciPy's own loops would read beyond them), and frames without rows yet.

    >>> import scipy.sparse as sp
    >>> broken = sp.csr_matrix([[1.0, 2.0], [3.0, 4.0]])
    >>> broken.indices[0] = 7
    >>> check_readable(broken)
    Traceback (most recent call last):
    ...
    ValueError: X is no valid CSR matrix: its indices go from 0 to 7, but there are 2 columns
    """
    _check_collected(x, name)
    if not sp.issparse(x) or x.format not in ("csr", "csc"):
        return
    outer, inner = x.shape if x.format == "csr" else x.shape[::-1]
    starts, indices, wrong = np.asarray(x.indptr), np.asarray(x.indices), None
    if len(starts) != outer + 1 or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        wrong = f"indptr must have {outer + 1} entries, begin with 0 and never fall"
    elif (end := int(starts[-1])) > min(len(indices), len(x.data)):
        wrong = f"indptr ends at {end}, but there are {len(indices)} indices and {len(x.data)} values"
    elif end and (indices[:end].min() < 0 or indices[:end].max() >= inner):
        lines = "columns" if x.format == "csr" else "rows"
        wrong = f"its indices go from {indices[:end].min()} to {indices[:end].max()}, but there are {inner} {lines}"
    if wrong:
        raise ValueError(f"{name} is no valid {x.format.upper()} matrix: {wrong}")


def _check_collected(x: Any, name: str) -> None:
    if hasattr(x, "collect_schema") and not hasattr(x, "__len__"):
        raise TypeError(f"{name} is a {type(x).__name__} without rows yet: collect it into a frame first")


def aligned(x: Any) -> Any:
    """The array, or a copy where numbers lie across the grid of memory: the extension reads through no such pointer."""
    return x.copy() if isinstance(x, np.ndarray) and not x.flags.aligned else x


def seam(x: Any) -> Any:
    """A checked array or sparse matrix in the extension's form."""
    if not sp.issparse(x):
        return aligned(x)
    if x.format not in ("csr", "csc"):
        x = x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    data = x.data if x.data.dtype in FLOATS else x.data.astype(np.float64)
    indices, starts = x.indices, x.indptr
    if indices.dtype not in INTEGERS or indices.dtype != starts.dtype:
        indices, starts = indices.astype(np.int64), starts.astype(np.int64)
    return (x.format, data, indices, starts, tuple(int(n) for n in x.shape))


def matrix(x: Any, name: str, *, columns: int | None = None) -> Any:
    """Any table as a seam form, with the messages that scikit-learn users know.

    >>> matrix([[1, 2], [3, 4]], "X").dtype
    dtype('float64')
    """
    check_readable(x, name)
    x = check_array(x, accept_sparse=("csr", "csc"), dtype=FLOATS, input_name=name, ensure_min_samples=0)
    if columns is not None and x.shape[1] != columns:
        raise ValueError(f"{name} has {x.shape[1]} columns, but there are {columns} variables")
    return seam(x)


def vector(v: Any, name: str, *, length: int | None = None, infinite: bool = False) -> np.ndarray:
    """A list of numbers; endless ones only where that is allowed.

    >>> vector([1, 2], "y")
    array([1., 2.])
    """
    v = check_array(
        np.asarray(v), ensure_2d=False, dtype=np.float64, input_name=name, ensure_min_samples=0,
        ensure_all_finite=not infinite,
    )
    v = column_or_1d(v)
    if infinite and np.isnan(v).any():
        raise ValueError(f"Input {name} contains NaN.")
    if length is not None and len(v) != length:
        raise ValueError(f"{name} has {len(v)} numbers, but there are {length} of what it is about")
    return v


def number(value: Any, name: str) -> float:
    """One number, or a complaint that says which parameter is none.

    >>> number(None, "alpha")
    Traceback (most recent call last):
    ...
    TypeError: alpha must be a number, got None
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def count_or_list(value: Any, name: str) -> int | np.ndarray:
    """How many values are wanted, or the values themselves.

    >>> count_or_list(10, "Cs"), count_or_list([1, 2], "Cs")
    (10, array([1., 2.]))
    >>> count_or_list(2.5, "Cs")
    Traceback (most recent call last):
    ...
    TypeError: Cs must be a whole number above 0 or a list of numbers, got 2.5
    """
    if isinstance(value, Real) and float(value).is_integer() and value >= 1:
        return int(value)
    if value is None or np.ndim(value) == 0:
        raise (ValueError if isinstance(value, Real) and float(value).is_integer() else TypeError)(
            f"{name} must be a whole number above 0 or a list of numbers, got {value!r}"
        )
    return vector(value, name)


def names_of(x: Any) -> list[str] | None:
    """The names of the columns of a pandas or polars frame, where they are texts.

    >>> names_of([[1.0]]) is None
    True
    """
    _check_collected(x, "X")
    columns = getattr(x, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def weights_of(sample_weight: Any, x: Any) -> np.ndarray | None:
    """One weight of at least 0 for each row, not all 0; ``None`` where all count alike."""
    if sample_weight is None:
        return None
    rows = x.shape[0]
    if np.isscalar(sample_weight):
        sample_weight = np.full(rows, sample_weight)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Expected either a scalar value or a 1D array of length {rows}."
        )
    check_consistent_length(x, weights)
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def by_class(class_weight: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The factor of each class: those given, or such that all classes count alike among the rows as they are weighted."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(codes.astype(np.intp), weights=weights, minlength=len(classes))
        return counts.sum() / (np.count_nonzero(counts) * np.where(counts > 0, counts, 1.0))
    return compute_class_weight(class_weight, classes=classes, y=classes[codes.astype(np.intp)])


def without_zero_weights(x: Any, y: np.ndarray, weights: np.ndarray | None) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Rows that count at all: a row of weight 0 is as good as none."""
    if weights is None:
        return x, y, None
    kept = weights > 0
    if kept.all():
        return x, y, weights
    if sp.issparse(x) and x.format == "csc":
        x = x.tocsr()
    return x[kept], y[kept], weights[kept]
