"""Ordinary slips of callers: no crash, no silent other problem, and statuses that other libraries understand."""

import numpy as np
import pytest
import scipy.sparse as sp

import equipoise as eq
from equipoise.qp import QuadraticProgram


def falling():
    """A square matrix whose indptr falls: SciPy's own loops read beyond it."""
    matrix = sp.csr_matrix(np.arange(1.0, 17.0).reshape(4, 4))
    matrix.indptr[2] = 10**6
    return matrix


@pytest.mark.parametrize("call", [
    lambda: eq.svm_path(falling(), [0, 1, 0, 1], 3),
    lambda: eq.GeneralizedLasso(D=falling()).denoise(np.arange(4.0)),
    lambda: eq.FusedLasso(graph=falling()).denoise(np.arange(4.0)),
    lambda: QuadraticProgram(np.eye(4), np.zeros(4), F=falling(), g=np.ones(4)),
    lambda: QuadraticProgram(falling(), np.zeros(4)),
], ids=["svm_path", "D", "graph", "F", "P"])
def test_broken_sparse_matrices_are_refused_everywhere(call):
    with pytest.raises(ValueError, match="no valid CSR matrix: indptr"):
        call()


def test_series_go_by_their_names(rng):
    pd = pytest.importorskip("pandas")
    returns = pd.DataFrame(0.01 * rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    limits = {"c": 0.7, "b": 0.2, "a": 0.3}
    by_name, by_series = (eq.MeanVariance(max_weights=given).fit(returns) for given in (limits, pd.Series(limits)))
    np.testing.assert_array_equal(by_name.weights_, by_series.weights_)
    assert by_series.weights_[0] <= 0.3 + 1e-12


def test_covariates_may_be_a_mask_or_a_name(log_parts):
    pd = pytest.importorskip("pandas")
    x, y = log_parts
    expected = eq.ZeroSumLasso(0.05, covariates=[0]).fit(x, y).coef_
    np.testing.assert_array_equal(eq.ZeroSumLasso(0.05, covariates=np.arange(12) == 0).fit(x, y).coef_, expected)
    frame = pd.DataFrame(x, columns=["age", *(f"v{j}" for j in range(11))])
    np.testing.assert_array_equal(eq.ZeroSumLasso(0.05, covariates="age").fit(frame, y).coef_, expected)
    with pytest.raises(ValueError, match="covariates has 3 truth values, but X has 12 columns"):
        eq.ZeroSumLasso(covariates=[True, False, True]).fit(x, y)
    with pytest.raises(TypeError, match="names or numbers of columns, got 1.5"):
        eq.ZeroSumLasso(covariates=[1.5]).fit(x, y)


def test_a_row_has_one_right_hand_side_and_frames_the_same_columns(rng):
    pd = pytest.importorskip("pandas")
    m = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"])
    f = eq.LeastSquares(m, np.ones(20))
    with pytest.raises(ValueError, match="b has 2 numbers, but A is one row"):
        eq.solve(f, A=[1.0, 1.0, 1.0], b=[1.0, 2.0])
    with pytest.raises(ValueError, match="the columns of A are"):
        eq.solve(f, A=pd.DataFrame([[1.0, 0.0, 0.0]], columns=["c", "b", "a"]), b=[1.0])
    assert repr(eq.Problem(f, eq.L1(1.0), A="sum", b=1.0)) == "<Problem: smooth=least-squares, separable=l1, coupling=sum>"


def test_sparse_constraints_are_dense_ones(log_parts):
    x, y = log_parts
    rows = np.ones((1, 12))
    dense, sparse = (eq.ZeroSumLasso(0.05, constraints=given).fit(x, y).coef_ for given in (rows, sp.csr_array(rows)))
    np.testing.assert_array_equal(dense, sparse)
    dense, sparse = (eq.ConstrainedLeastSquares(equality=(given, [1.0])).fit(x, y).coef_ for given in (rows, sp.csr_array(rows)))
    np.testing.assert_array_equal(dense, sparse)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        eq.fused_path(y, sp.csr_array(x), 5)


@pytest.mark.parametrize("rows", [
    lambda cp, x: [cp.sum(x) == 1, 2 * cp.sum(x) == 5],
    lambda cp, x: [x >= 1, x <= 0],
    lambda cp, x: [cp.sum(x) == 3, x <= 1],
], ids=["rows contradict", "limits cross", "beyond the box"])
def test_every_way_to_have_no_solution_is_a_status_of_cvxpy(rows):
    cp = pytest.importorskip("cvxpy")
    from equipoise.cvxpy_solver import EQUIPOISE

    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), rows(cp, x))
    problem.solve(solver=EQUIPOISE())
    assert problem.status == cp.INFEASIBLE


@pytest.mark.parametrize("parts", [
    {"A": np.ones((2, 2)), "b": np.array([1.0, 2.0])}, {"lb": np.ones(2), "ub": np.zeros(2)},
], ids=["rows contradict", "limits cross"])
def test_and_of_qpsolvers(parts):
    qpsolvers = pytest.importorskip("qpsolvers")
    from equipoise.qpsolvers_solver import register

    register()
    with pytest.warns(UserWarning):
        assert not qpsolvers.solve_problem(qpsolvers.Problem(np.eye(2), np.zeros(2), **parts), solver="equipoise").found


def test_the_warning_of_a_nu_too_large_names_the_line_that_called(two_classes):
    with pytest.warns(UserWarning, match="as much as these classes allow") as caught:
        eq.NuSVC(nu=1.0).fit(*two_classes)
    assert caught[0].filename == __file__


def test_series_without_names_go_by_position(rng):
    pd = pytest.importorskip("pandas")
    returns = pd.DataFrame(0.01 * rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    by_list, by_series = (eq.MeanVariance(max_weights=given).fit(returns) for given in ([0.3, 0.4, 0.7], pd.Series([0.3, 0.4, 0.7])))
    np.testing.assert_array_equal(by_list.weights_, by_series.weights_)


def test_class_weights_are_weights_of_samples(two_classes):
    x, y = two_classes
    x, y = x[:80], y[:80]
    for given, factors in (({0: 3.0, 1: 0.5}, np.where(y == 0, 3.0, 0.5)), ("balanced", np.where(y == 0, 80 / 120, 80 / 40))):
        for model in (eq.ZeroSumLogistic, eq.ZeroSumLogisticCV):
            weighted = model(class_weight=given).fit(x, y)
            np.testing.assert_allclose(weighted.coef_, model().fit(x, y, sample_weight=factors).coef_, rtol=1e-12)
            assert np.abs(weighted.coef_ - model().fit(x, y).coef_).max() > 1e-3
        path = eq.svm_path(x, y, [0.1, 1.0], class_weight=given, tol=1e-9)
        alone = eq.LinearSVC(C=1.0, class_weight=given, tol=1e-9).fit(x, y)
        np.testing.assert_allclose(path[1]["weights"], alone.coef_, atol=1e-4)
    with pytest.raises(ValueError, match="class_weight must have no number below 0"):
        eq.ZeroSumLogistic(class_weight={0: -1.0, 1: 1.0}).fit(x, y)


@pytest.mark.parametrize(("name", "fit"), [
    ("alpha", lambda x, y, c: eq.ZeroSumLasso(None).fit(x, y)),
    ("alphas", lambda x, y, c: eq.ZeroSumLassoCV(alphas=2.7).fit(x, y)),
    ("eps", lambda x, y, c: eq.ZeroSumLassoCV(eps="a").fit(x, y)),
    ("C", lambda x, y, c: eq.ZeroSumLogistic(C="a").fit(x, c)),
    ("Cs", lambda x, y, c: eq.ZeroSumLogisticCV(Cs=None).fit(x, c)),
    ("nu", lambda x, y, c: eq.NuSVC(nu="a").fit(x, c)),
    ("Cs", lambda x, y, c: eq.LinearSVCCV(Cs=2.5).fit(x, c)),
    ("Cs", lambda x, y, c: eq.svm_path(x, c, "ten")),
    ("alphas", lambda x, y, c: eq.zero_sum_path(x, y, 2.7)),
    ("lams", lambda x, y, c: eq.fused_path(y, lams=2.7)),
    ("points", lambda x, y, c: eq.frontier(x, 2.5)),
    ("lower", lambda x, y, c: eq.ConstrainedLeastSquares(lower="a").fit(x, y)),
    ("budget", lambda x, y, c: eq.MeanVariance(budget=None).fit(x)),
    ("demand", lambda x, y, c: eq.Allocation("much").fit(np.abs(x))),
])
def test_values_of_a_wrong_type_are_refused_by_the_name_of_the_parameter(log_parts, name, fit):
    x, y = log_parts
    with pytest.raises(TypeError, match=f"^{name} must be "):
        fit(x, y, (y > 0).astype(int))


def test_no_values_at_all_are_refused(two_classes):
    with pytest.raises(ValueError, match="Cs must be a whole number above 0"):
        eq.LinearSVCCV(Cs=0).fit(*two_classes)


@pytest.mark.parametrize("call", [
    lambda x, y: eq.LinearSVC().fit(x, y), lambda x, y: eq.svm_path(x, y, 2), lambda x, y: eq.LeastSquares(x, y), lambda x, y: eq.frontier(x, 3),
    lambda x, y: eq.fused_path(y, x),
], ids=["estimator", "svm_path", "term", "frontier", "fused_path"])
def test_frames_without_rows_yet_are_refused(two_classes, call):
    pl = pytest.importorskip("polars")
    x, y = two_classes
    with pytest.raises(TypeError, match="LazyFrame without rows yet: collect it"):
        call(pl.LazyFrame(x, schema=["a", "b", "c", "d", "e"]), y)


def test_a_path_is_a_table_in_notebooks(two_classes):
    path = eq.svm_path(*two_classes, Cs=50)
    html = path._repr_html_()
    assert "<th>C</th><th>objective</th>" in html
    assert "SVMPath: 50 points, converged" in html
    # Not all of a long one.
    assert html.count("<tr>") == 1 + 17
    assert all(len(row) for row in eq.frontier(0.01 * two_classes[0], 5)._repr_html_().split("<tr>"))
