"""Properties that hold for whatever is drawn."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import equipoise as eq

NUMBERS = st.floats(-100, 100, allow_nan=False, width=32)
SHAPES = st.tuples(st.integers(2, 15), st.integers(1, 6))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_bounds_of_support_vector_machines_hold(data):
    x = data.draw(arrays(np.float64, data.draw(SHAPES), elements=NUMBERS))
    y = np.arange(len(x)) % 2
    model = eq.LinearSVC(C=data.draw(st.floats(1e-3, 10)), loss=data.draw(st.sampled_from(["hinge", "squared_hinge"]))).fit(x, y)
    power = 1 if model.loss == "hinge" else 2
    margins = np.maximum(1 - np.where(y == 1, 1, -1) * (x @ model.coef_[0] + model.intercept_[0]), 0)
    found = 0.5 * model.coef_[0] @ model.coef_[0] + model.C * (margins**power).sum()
    assert found <= model.objective_ * (1 + 1e-9) + 1e-9
    # No other model is below the bound: neither w = 0, nor this one scaled.
    for scale in (0.0, 0.5, 0.9, 1.1, 2.0):
        margins = np.maximum(1 - np.where(y == 1, 1, -1) * (scale * (x @ model.coef_[0] + model.intercept_[0])), 0)
        other = 0.5 * scale**2 * model.coef_[0] @ model.coef_[0] + model.C * (margins**power).sum()
        assert other >= model.certificate_.bound * (1 - 1e-9) - 1e-9


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_weights_on_the_simplex_are_shares(data):
    shape = data.draw(SHAPES)
    x = data.draw(arrays(np.float64, shape, elements=NUMBERS))
    y = data.draw(arrays(np.float64, shape[0], elements=NUMBERS))
    model = eq.SimplexRegressor().fit(x, y)
    assert (model.coef_ >= 0).all()
    assert abs(model.coef_.sum() - 1) < 1e-9
    for corner in np.eye(shape[1]):
        assert 0.5 * np.sum((x @ corner - y) ** 2) >= model.certificate_.bound * (1 - 1e-9) - 1e-9


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, st.integers(3, 60), elements=NUMBERS), st.floats(1e-2, 100))
def test_fused_signals_keep_their_mean_and_do_not_jump_further(y, lam):
    fit = eq.FusedLasso(lam).denoise(y)
    assert np.isclose(fit.mean(), y.mean(), atol=1e-6 * (1 + np.abs(y).max()))
    assert np.abs(np.diff(fit)).sum() <= np.abs(np.diff(y)).sum() * (1 + 1e-9) + 1e-9
    assert fit.min() >= y.min() - 1e-9
    assert fit.max() <= y.max() + 1e-9


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(0.01, 100)), st.floats(0.1, 1000))
def test_quadratic_allocations_have_one_price(bend, demand):
    model = eq.Allocation(demand).fit(bend[:, np.newaxis])
    assert np.isclose(model.allocation_.sum(), demand, rtol=1e-9)
    np.testing.assert_allclose(2 * bend * model.allocation_, model.prices_[0], rtol=1e-4)


@settings(max_examples=30, deadline=None)
@given(arrays(np.float64, st.integers(2, 12), elements=NUMBERS), NUMBERS)
def test_projections_on_a_sum_have_a_closed_form(target, total):
    solution = eq.solve(eq.Distance(target), A="sum", b=float(total))
    expected = target + (total - target.sum()) / len(target)
    np.testing.assert_allclose(solution.x, expected, atol=1e-3 * (1 + np.abs(expected).max()))
    assert eq.verify(eq.Distance(target), None, "sum", float(total), solution.x).converged
