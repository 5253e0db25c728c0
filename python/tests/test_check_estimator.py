"""scikit-learn's own checks, each estimator at the tolerance its documentation names; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import equipoise as eq

# Earlier checks of sample weights deal two classes differently to what they compare.
pytest.importorskip("sklearn", minversion="1.9")

# Sample weights are compared to seven digits of the prediction, which asks for more than the default gap of support vector machines.
ESTIMATORS = [
    eq.LinearSVC(tol=1e-15),
    eq.LinearSVC(loss="hinge", tol=1e-12),
    eq.LinearSVR(tol=1e-12),
    eq.NuSVC(),
    eq.OneClassSVM(tol=1e-12),
    eq.LinearSVCCV(Cs=3, cv=3, tol=1e-14),
    eq.ZeroSumLasso(),
    eq.ZeroSumLassoCV(alphas=10, cv=3),
    eq.ZeroSumLogistic(),
    eq.ZeroSumLogisticCV(Cs=10, cv=3),
    eq.ConstrainedLeastSquares(),
    eq.SimplexRegressor(),
    eq.FusedLasso(),
    eq.TrendFilter(),
    eq.GeneralizedLasso(),
    eq.MeanVariance(),
    eq.Allocation(),
]


@parametrize_with_checks(ESTIMATORS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_every_parameter_and_attribute_is_documented(estimator):
    words = type(estimator).__doc__
    missing = [name for name in estimator.get_params() if name not in words]
    assert not missing, f"{type(estimator).__name__} does not say what {missing} are"
