"""The lasso under a zero sum: optimal, scikit-learn's lasso without the sum, and columns in their roles."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

import equipoise as eq


def test_without_the_sum_it_is_the_lasso(log_parts):
    x, y = log_parts
    ours = eq.ZeroSumLasso(0.05, zero_sum=False, tol=1e-12).fit(x, y)
    peer = Lasso(0.05, tol=1e-12, max_iter=100_000).fit(x, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    assert ours.intercept_ == pytest.approx(peer.intercept_, abs=1e-6)


def test_without_the_sum_it_is_the_elastic_net(log_parts):
    x, y = log_parts
    ours = eq.ZeroSumLasso(0.05, l1_ratio=0.5, zero_sum=False, tol=1e-12).fit(x, y)
    peer = ElasticNet(0.05, l1_ratio=0.5, tol=1e-12, max_iter=100_000).fit(x, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-6)


def test_the_sum_is_zero_and_scale_does_not_matter(log_parts):
    x, y = log_parts
    model = eq.ZeroSumLasso(0.05).fit(x, y)
    assert abs(model.coef_.sum()) < 1e-12
    scaled = x + np.random.default_rng(0).normal(size=(len(x), 1))
    np.testing.assert_allclose(model.predict(scaled), model.predict(x), atol=1e-9)
    assert model.gap_ <= 1e-6
    total = len(y) * model.alpha
    found = 0.5 * np.sum((y - model.predict(x)) ** 2) + total * np.abs(model.coef_).sum()
    assert model.objective_ == pytest.approx(found, rel=1e-9)
    assert model.certificate_.bound <= found


def test_against_clarabel(log_parts):
    cp = pytest.importorskip("cvxpy")
    x, y = log_parts
    b, b0 = cp.Variable(x.shape[1]), cp.Variable()
    cost = cp.sum_squares(y - x @ b - b0) / (2 * len(y)) + 0.05 * cp.norm1(b)
    cp.Problem(cp.Minimize(cost), [cp.sum(b) == 0]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(eq.ZeroSumLasso(0.05, tol=1e-12).fit(x, y).coef_, b.value, atol=1e-4)


def test_covariates_are_neither_penalised_nor_in_the_sum(log_parts, rng):
    pd = pytest.importorskip("pandas")
    x, y = log_parts
    frame = pd.DataFrame(x, columns=[f"genus {j}" for j in range(x.shape[1])]).assign(age=rng.normal(size=len(x)))
    y = y + 3.0 * frame["age"].to_numpy()
    model = eq.ZeroSumLasso(0.1, covariates=["age"]).fit(frame, y)
    assert abs(model.coef_[:-1].sum()) < 1e-12
    assert model.coef_[-1] == pytest.approx(3.0, abs=0.3)
    assert list(model.feature_names_in_)[-1] == "age"
    by_number = eq.ZeroSumLasso(0.1, covariates=[12]).fit(frame, y)
    np.testing.assert_array_equal(by_number.coef_, model.coef_)
    with pytest.raises(ValueError, match="'weight', which is no column"):
        eq.ZeroSumLasso(covariates=["weight"]).fit(frame, y)


def test_constraints_of_ones_own(log_parts):
    x, y = log_parts
    rows = np.zeros((2, 12))
    rows[0, :6] = rows[1, 6:] = 1.0
    model = eq.ZeroSumLasso(0.05, constraints=rows).fit(x, y)
    np.testing.assert_allclose(rows @ model.coef_, 0.0, atol=1e-12)
    assert model.dual_coef_.shape == (2,)


def test_constant_columns_and_weights_of_zero(log_parts):
    x, y = log_parts
    constant = np.column_stack([x, np.full(len(x), 2.5)])
    model = eq.ZeroSumLasso(0.02, tol=1e-12).fit(constant, y)
    assert abs(model.coef_.sum()) < 1e-12
    cp = pytest.importorskip("cvxpy")
    b, b0 = cp.Variable(13), cp.Variable()
    cost = cp.sum_squares(y - constant @ b - b0) / (2 * len(y)) + 0.02 * cp.norm1(b)
    cp.Problem(cp.Minimize(cost), [cp.sum(b) == 0]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.predict(constant), constant @ b.value + b0.value, atol=1e-4)
    weights = np.where(np.arange(len(y)) < 60, 1.0, 0.0)
    weighted = eq.ZeroSumLasso(0.02, tol=1e-12).fit(x, y, sample_weight=weights)
    alone = eq.ZeroSumLasso(0.02, tol=1e-12).fit(x[:60], y[:60])
    np.testing.assert_allclose(weighted.coef_, alone.coef_, atol=1e-10)


def test_sparse_columns(log_parts):
    x, y = log_parts
    x = np.where(x > -2.5, x, 0.0)
    dense = eq.ZeroSumLasso(0.02, tol=1e-10).fit(x, y)
    for form in (sp.csr_array, sp.csc_array, sp.coo_matrix):
        np.testing.assert_allclose(eq.ZeroSumLasso(0.02, tol=1e-10).fit(form(x), y).coef_, dense.coef_, atol=1e-7)


def test_huber_bears_an_outlier(log_parts):
    x, y = log_parts
    y = y.copy()
    y[0] += 1000.0
    robust = eq.ZeroSumLasso(0.02, loss="huber", epsilon=1.0).fit(x, y)
    assert np.median(np.abs(y - robust.predict(x))) < 0.5


def test_logistic_regression_without_the_sum_is_scikit_learns(log_parts):
    x, y = log_parts
    labels = np.where(y > np.median(y), "high", "low")
    ours = eq.ZeroSumLogistic(C=0.5, zero_sum=False, tol=1e-12).fit(x, labels)
    l1 = {"l1_ratio": 1.0} if sklearn.__version__ >= "1.8" else {"penalty": "l1"}
    peer = LogisticRegression(C=0.5, **l1, solver="saga", tol=1e-10, max_iter=100_000).fit(x, labels)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.predict_proba(x), peer.predict_proba(x), atol=1e-3)
    assert list(ours.classes_) == ["high", "low"]


def test_logistic_contrasts(log_parts):
    x, y = log_parts
    model = eq.ZeroSumLogistic(C=2.0).fit(x, y > np.median(y))
    assert abs(model.coef_.sum()) < 1e-12
    assert model.score(x, y > np.median(y)) > 0.85
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)


def test_cross_validation(log_parts):
    x, y = log_parts
    best = eq.ZeroSumLassoCV(alphas=30, cv=5, random_state=1).fit(x, y)
    assert best.alpha_ == best.alphas_[np.argmin(best.cv_error_)]
    simple = eq.ZeroSumLassoCV(alphas=30, cv=5, random_state=1, selection="one_se").fit(x, y)
    assert simple.alpha_ >= best.alpha_
    given = eq.ZeroSumLassoCV(alphas=[0.01, 0.1], cv=5).fit(x, y)
    np.testing.assert_allclose(given.alphas_, [0.1, 0.01])
    logistic = eq.ZeroSumLogisticCV(Cs=8, cv=4).fit(x, y > np.median(y))
    assert logistic.C_ in logistic.Cs_
    assert logistic.cv_error_.shape == (8,)


def test_paths(log_parts):
    pd = pytest.importorskip("pandas")
    x, y = log_parts
    frame = pd.DataFrame(x, columns=list("abcdefghijkl"))
    path = eq.zero_sum_path(frame, y, 25, eps=0.01)
    table = path.to_pandas()
    assert len(table) == 25
    assert table["nonzeros"].iloc[0] == 0
    np.testing.assert_allclose(table[list("abcdefghijkl")].sum(axis=1), 0.0, atol=1e-9)
    assert path.status == "converged"
    assert path.gap <= 1e-6
    one = eq.ZeroSumLasso(table["alpha"].iloc[10]).fit(x, y)
    np.testing.assert_allclose(one.coef_, path[10]["coefficients"], atol=1e-4)
    classes = eq.zero_sum_path(x, y > np.median(y), 5, loss="log_loss")
    assert len(classes) == 5


def test_folds_of_ones_own_are_judged_as_those_of_the_library(log_parts):
    from sklearn.model_selection import KFold

    x, y = log_parts
    x = np.column_stack([x, np.where(np.arange(len(y)) < 60, 0.0, 1.0)])
    model = eq.ZeroSumLassoCV(alphas=[0.3, 0.1, 0.03], cv=KFold(4)).fit(x, y)
    errors = []
    for train, test in KFold(4).split(x):
        fits = [eq.ZeroSumLasso(alpha).fit(x[train], y[train]) for alpha in model.alphas_]
        errors.append([np.mean((fit.predict(x[test]) - y[test]) ** 2) for fit in fits])
    np.testing.assert_allclose(model.cv_error_, np.mean(errors, axis=0), rtol=1e-3)
    np.testing.assert_allclose(model.cv_standard_error_, np.std(errors, axis=0, ddof=1) / 2, rtol=1e-2)
