"""Least squares under constraints: against Clarabel and SciPy, one target and many."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import equipoise as eq


@pytest.fixture
def mixture(rng):
    x = rng.normal(size=(60, 8))
    return x, x @ np.array([0.5, 0.3, 0.2, 0, 0, 0, 0, 0]) + 0.05 * rng.normal(size=60)


def test_non_negative_least_squares_is_scipys(mixture):
    x, y = mixture
    model = eq.ConstrainedLeastSquares(tol=1e-14).fit(x, y)
    np.testing.assert_allclose(model.coef_, nnls(x, y)[0], atol=1e-8)


def test_boxes_are_scipys(mixture):
    x, y = mixture
    model = eq.ConstrainedLeastSquares(lower=-0.1, upper=np.linspace(0.1, 0.8, 8), tol=1e-12).fit(x, y)
    np.testing.assert_allclose(model.coef_, lsq_linear(x, y, (-0.1, np.linspace(0.1, 0.8, 8)), tol=1e-14).x, atol=1e-6)


def test_the_simplex_is_clarabels(mixture):
    cp = pytest.importorskip("cvxpy")
    x, y = mixture
    w = cp.Variable(8)
    cp.Problem(cp.Minimize(cp.sum_squares(x @ w - y)), [cp.sum(w) == 1, w >= 0]).solve(solver=cp.CLARABEL)
    model = eq.SimplexRegressor(tol=1e-14).fit(x, y)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-5)
    assert model.coef_.sum() == pytest.approx(1.0, abs=1e-12)
    assert (model.coef_ >= 0).all()
    found = 0.5 * np.sum((x @ model.coef_ - y) ** 2)
    assert model.certificate_.bound <= found * (1 + 1e-12)
    assert model.objective_ == pytest.approx(found, rel=1e-12)


def test_equations_and_an_intercept(mixture):
    cp = pytest.importorskip("cvxpy")
    x, y = mixture
    rows = np.vstack([np.ones(8), np.r_[1.0, -1.0, np.zeros(6)]])
    w, w0 = cp.Variable(8), cp.Variable()
    cp.Problem(cp.Minimize(cp.sum_squares(x @ w + w0 - y)), [rows @ w == [1, 0], w >= 0]).solve(solver=cp.CLARABEL)
    model = eq.ConstrainedLeastSquares(equality=(rows, [1.0, 0.0]), fit_intercept=True, tol=1e-10).fit(x, y)
    np.testing.assert_allclose(rows @ model.coef_, [1, 0], atol=1e-9)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-3)
    assert model.intercept_ == pytest.approx(w0.value, abs=1e-3)
    with pytest.raises(ValueError, match="total or equality"):
        eq.ConstrainedLeastSquares(total=1.0, equality=(rows, [1.0, 0.0])).fit(x, y)


def test_many_targets_are_many_fits(mixture, rng):
    x, y = mixture
    targets = np.column_stack([y, rng.normal(size=60), 2 * y])
    model = eq.SimplexRegressor(tol=1e-12, n_jobs=2).fit(x, targets)
    assert model.coef_.shape == (3, 8)
    for column in range(3):
        alone = eq.SimplexRegressor(tol=1e-12).fit(x, targets[:, column])
        np.testing.assert_allclose(model.coef_[column], alone.coef_, atol=1e-6)
    assert model.predict(x).shape == (60, 3)
    assert model.status_ == "converged"


def test_sample_weights_are_repetitions(mixture):
    x, y = mixture
    times = np.arange(60) % 3
    weighted = eq.SimplexRegressor(tol=1e-14).fit(x, y, sample_weight=times.astype(float))
    repeated = eq.SimplexRegressor(tol=1e-14).fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)


def test_out_of_reach_is_an_error_with_the_reason(mixture):
    x, y = mixture
    with pytest.raises(ValueError, match=r"sum|reach"):
        eq.SimplexRegressor(upper=0.1).fit(x, y)
    with pytest.raises(ValueError, match="upper has 3 numbers"):
        eq.SimplexRegressor(upper=[1.0, 1.0, 1.0]).fit(x, y)
