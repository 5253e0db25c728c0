"""equipoise: constrained convex problems from Python, each answer with what is proven of it.

Estimators follow scikit-learn's conventions; `solve` is the solver itself. Every result says how far it can be from the optimum:
``objective_`` from above, a bound from below, in exact arithmetic for the numbers returned.
"""

import atexit as _atexit

from . import _native
from ._certificate import Certificate
from .allocation import Allocation, dispatch
from .constrained import ConstrainedLeastSquares, SimplexRegressor
from .fused import FusedLasso, GeneralizedLasso, TrendFilter
from .lasso import ZeroSumLasso, ZeroSumLassoCV
from .logistic import ZeroSumLogistic, ZeroSumLogisticCV
from .one_class import OneClassSVM
from .paths import frontier, fused_path, svm_path, zero_sum_path
from .portfolio import MeanVariance
from .solver import Problem, Solution, solve, verify
from .svc import LinearSVC, LinearSVCCV, NuSVC
from .svr import LinearSVR
from .terms import (
    L1,
    AsymmetricL1,
    Box,
    Distance,
    ElasticNet,
    GroupL2,
    Huber,
    LeastSquares,
    Linear,
    Logistic,
    NonNegative,
    Poisson,
    Quadratic,
    Smooth,
    SquaredHinge,
)

__version__ = _native.__version__

# Fits of threads that nobody waits for: they end before the interpreter does.
_atexit.register(_native.leave)

__all__ = [
    "Allocation", "AsymmetricL1", "Box", "Certificate", "ConstrainedLeastSquares", "Distance", "ElasticNet", "FusedLasso",
    "GeneralizedLasso", "GroupL2", "Huber", "L1", "LeastSquares", "Linear", "LinearSVC", "LinearSVCCV", "LinearSVR", "Logistic", "MeanVariance", "NonNegative", "NuSVC",
    "OneClassSVM", "Poisson", "Problem", "Quadratic", "SimplexRegressor", "Smooth", "Solution", "SquaredHinge", "TrendFilter", "ZeroSumLasso",
    "ZeroSumLassoCV", "ZeroSumLogistic", "ZeroSumLogisticCV", "__version__", "dispatch", "frontier", "fused_path", "solve", "svm_path", "verify",
    "zero_sum_path",
]
