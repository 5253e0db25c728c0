"""scikit-learn's own checks, each estimator at the tolerance its documentation names; none is expected to fail."""

from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import equipoise as eq

# Earlier checks of sample weights deal two classes differently to what they compare.
pytest.importorskip("sklearn", minversion="1.9")

# Sample weights are compared to seven digits of the prediction, which asks for more than the default gap of support vector machines.
ESTIMATORS = [
    eq.LinearSVC(tol=1e-15),
    eq.LinearSVC(loss="hinge", tol=1e-12),
    eq.LinearSVR(tol=1e-12),
    eq.NuSVC(tol=1e-12),
    eq.OneClassSVM(tol=1e-12),
    eq.LinearSVCCV(Cs=3, cv=3, tol=1e-15),
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


def test_no_estimator_is_left_out():
    public = {name for name in eq.__all__ if isinstance(getattr(eq, name), type) and issubclass(getattr(eq, name), BaseEstimator)}
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_array_api_is_among_the_checks_and_the_page_says_how_many_there_are(estimator):
    checks = [getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(estimator, legacy=True)]
    assert "check_array_api_input" in checks
    page = (Path(__file__).resolve().parent.parent / "docs" / "pages" / "estimators.md").read_text(encoding="utf-8")
    table = page.partition("## The checks of scikit-learn")[2]
    line = next(line for line in table.splitlines() if f"`{type(estimator).__name__}`" in line)
    assert line.split("|")[2].strip() == str(len(checks))
