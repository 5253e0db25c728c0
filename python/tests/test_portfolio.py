"""Portfolios: against Clarabel, limits by name, frontiers, and inside skfolio."""

import numpy as np
import pytest

import equipoise as eq


@pytest.fixture
def returns(rng):
    market = 0.01 * rng.normal(size=(250, 1))
    return 0.0004 + market * rng.uniform(0.5, 1.5, size=10) + 0.01 * rng.normal(size=(250, 10))


def clarabel(returns, *extra):
    cp = pytest.importorskip("cvxpy")
    w = cp.Variable(returns.shape[1])
    cost = cp.quad_form(w, cp.psd_wrap(np.cov(returns.T)))
    cp.Problem(cp.Minimize(cost), [cp.sum(w) == 1, w >= 0, *(make(w) for make in extra)]).solve(solver=cp.CLARABEL)
    return w.value


def test_the_least_variance_is_clarabels(returns):
    model = eq.MeanVariance(tol=1e-10).fit(returns)
    np.testing.assert_allclose(model.weights_, clarabel(returns), atol=1e-4)
    assert model.variance_ == pytest.approx(model.weights_ @ np.cov(returns.T) @ model.weights_, rel=1e-9)
    assert model.risk_ == pytest.approx(np.sqrt(model.variance_))
    np.testing.assert_allclose(model.predict(returns), returns @ model.weights_)
    assert model.certificate_.bound <= model.objective_


def test_targets_and_limits(returns):
    target = float(np.sort(returns.mean(axis=0))[-3])
    model = eq.MeanVariance(target_return=target, max_weights=0.4, tol=1e-10).fit(returns)
    expected = clarabel(returns, lambda w: returns.mean(axis=0) @ w >= target, lambda w: w <= 0.4)
    np.testing.assert_allclose(model.weights_, expected, atol=1e-4)
    with pytest.raises(ValueError, match="return"):
        eq.MeanVariance(target_return=1.0).fit(returns)


def test_names_of_frames(returns):
    pd = pytest.importorskip("pandas")
    names = list("ABCDEFGHIJ")
    frame = pd.DataFrame(returns, columns=names)
    groups = {"first": (["A", "B", "C"], None, 0.2)}
    model = eq.MeanVariance(max_weights={"D": 0.1}, groups=groups).fit(frame)
    assert model.weights_[3] <= 0.1 + 1e-12
    assert model.weights_[:3].sum() <= 0.2 + 1e-9
    with pytest.raises(ValueError, match="'Z', which is no asset"):
        eq.MeanVariance(max_weights={"Z": 0.1}).fit(frame)


def test_turnover_keeps_weights(returns):
    held = np.full(10, 0.1)
    model = eq.MeanVariance(previous_weights=held, max_turnover=0.2).fit(returns)
    assert np.abs(model.weights_ - held).sum() <= 0.2 + 1e-9
    assert model.turnover_ == pytest.approx(np.abs(model.weights_ - held).sum(), abs=1e-9)


def test_frontiers(returns):
    pytest.importorskip("pandas")
    found = eq.frontier(returns, 12, max_weights=0.5)
    frame = found.to_pandas()
    assert (np.diff(frame["expected_return"]) > 0).all()
    assert (np.diff(frame["risk"]) > -1e-12).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-9)
    assert found.status == "converged"
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    assert found.plot().get_xlabel() == "risk a period"


def test_inside_skfolio(returns):
    pytest.importorskip("skfolio")
    pd = pytest.importorskip("pandas")
    from skfolio.model_selection import WalkForward, cross_val_predict

    from equipoise.skfolio_optimizer import MeanVariance

    frame = pd.DataFrame(returns, columns=list("ABCDEFGHIJ"), index=pd.date_range("2024-01-01", periods=250))
    model = MeanVariance(max_weights=0.3).fit(frame)
    np.testing.assert_array_equal(model.weights_, eq.MeanVariance(max_weights=0.3).fit(returns).weights_)
    assert model.predict(frame).variance > 0
    portfolio = cross_val_predict(MeanVariance(max_weights=0.3), frame, cv=WalkForward(train_size=120, test_size=60))
    assert len(portfolio.portfolios) == 2


def test_percentages_are_returns_too(returns):
    target = float(np.sort(returns.mean(axis=0))[-3])
    words = {"previous_weights": np.full(10, 0.1), "turnover_penalty": 1e-6, "max_weights": 0.5}
    plain = eq.MeanVariance(target_return=target, **words).fit(returns)
    words["turnover_penalty"] *= 1e4
    percent = eq.MeanVariance(target_return=100 * target, **words).fit(100 * returns)
    assert (100 * returns).min() < -1
    np.testing.assert_allclose(percent.weights_, plain.weights_, atol=1e-8)
    assert percent.variance_ == pytest.approx(1e4 * plain.variance_)
    assert percent.objective_ == pytest.approx(1e4 * plain.objective_)
    assert percent.multipliers_["target_return"] == pytest.approx(100 * plain.multipliers_["target_return"], rel=1e-5)
    assert percent.multipliers_["budget"] == pytest.approx(1e4 * plain.multipliers_["budget"], rel=1e-5)
    found = eq.frontier(100 * returns, 4)
    np.testing.assert_allclose(found.column("risk"), 100 * eq.frontier(returns, 4).column("risk"), rtol=1e-6)


def test_returns_that_are_too_large_are_refused(rng):
    with pytest.raises(ValueError, match="too large"):
        eq.MeanVariance().fit(1e300 * rng.normal(size=(20, 3)))
