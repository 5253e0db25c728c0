"""The solver itself: every term against Clarabel or a closed form, data of all sorts, files, graphs, certificates."""

import numpy as np
import pytest
import scipy.sparse as sp

import equipoise as eq


@pytest.fixture
def data(rng):
    return rng.normal(size=(40, 10)), rng.normal(size=40)


def test_least_squares_with_l1_under_rows(data, rng):
    cp = pytest.importorskip("cvxpy")
    m, y = data
    rows, rhs = rng.normal(size=(2, 10)), np.array([1.0, -1.0])
    solution = eq.solve(eq.LeastSquares(m, y), eq.L1(0.5), rows, rhs, tol=1e-8)
    x = cp.Variable(10)
    best = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(m @ x - y) + 0.5 * cp.norm1(x)), [rows @ x == rhs])
    best.solve(solver=cp.CLARABEL)
    assert solution.objective == pytest.approx(best.value, rel=1e-6)
    assert solution.bound <= best.value + 1e-6
    np.testing.assert_allclose(solution.x, x.value, atol=1e-3)
    assert solution.gap <= 1e-8
    assert solution.multipliers.shape == (2,)


@pytest.mark.parametrize("make", [
    lambda m, y: eq.Logistic(m, np.sign(y)),
    lambda m, y: eq.SquaredHinge(m, np.sign(y)),
    lambda m, y: eq.Huber(m, y, 0.5),
    lambda m, y: eq.Poisson(m, np.floor(np.abs(2 * y))),
    lambda m, y: eq.LeastSquares(m, y, weights=np.arange(40.0)),
    lambda m, y: eq.Quadratic(m.T @ m, -m.T @ y),
    lambda m, y: eq.Quadratic(factor=m, c=-m.T @ y),
], ids=["logistic", "squared-hinge", "huber", "poisson", "weighted", "quadratic", "factor"])
def test_terms_converge_and_their_points_verify(data, make):
    f = make(*data)
    solution = eq.solve(f, eq.ElasticNet(0.1, 0.1), A="sum", b=1.0, tol=1e-7)
    assert solution.converged
    assert solution.x.sum() == pytest.approx(1.0, abs=1e-9)
    assert eq.verify(f, eq.ElasticNet(0.1, 0.1), "sum", 1.0, solution.x, tol=1e-6).converged
    other = solution.x + np.r_[0.3, -0.3, np.zeros(8)]
    assert not eq.verify(f, eq.ElasticNet(0.1, 0.1), "sum", 1.0, other, tol=1e-6).converged


@pytest.mark.parametrize("make", [
    lambda: eq.L1(0.1),
    lambda: eq.L1(0.1, lower=-0.2, upper=np.full(10, 0.4)),
    lambda: eq.AsymmetricL1(0.3, 0.05),
    lambda: eq.AsymmetricL1(np.linspace(0.0, 1.0, 10), 0.1),
    lambda: eq.Box(-0.2, 0.4),
    lambda: eq.NonNegative(),
], ids=["l1", "l1-box", "asymmetric-l1", "asymmetric-l1-each", "box", "non-negative"])
def test_penalties_converge_and_their_points_verify(data, make):
    f, h = eq.LeastSquares(*data), make()
    solution = eq.solve(f, h, A="sum", b=1.0, tol=1e-7)
    assert solution.converged
    assert eq.verify(f, h, "sum", 1.0, solution.x, tol=1e-6).converged


def test_the_weights_of_an_asymmetric_penalty_have_sides(data):
    f, h = eq.LeastSquares(*data), eq.AsymmetricL1(3.0, 0.5)
    solution = eq.solve(f, h, tol=1e-7)
    assert solution.converged
    assert eq.verify(f, h, None, None, solution.x, tol=1e-6).converged
    assert not eq.verify(f, eq.AsymmetricL1(0.5, 3.0), None, None, solution.x, tol=1e-6).converged


def test_functions_of_python_are_terms(data):
    m, y = data
    own = eq.Smooth(lambda x: 0.5 * np.sum((m @ x - y) ** 2), lambda x: m.T @ (m @ x - y), 10, lambda x, v: m.T @ (m @ v))
    ours = eq.solve(own, A="sum", b=1.0, tol=1e-8)
    theirs = eq.solve(eq.LeastSquares(m, y), A="sum", b=1.0, tol=1e-10)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-4)


def test_exceptions_of_functions_are_let_out():
    def fail(x):
        raise KeyError("nothing here")

    with pytest.raises(KeyError, match="nothing here"):
        eq.solve(eq.Smooth(fail, lambda x: x, 2), A="sum", b=1.0)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_matrix, np.asfortranarray, lambda m: m[::1][:, ::1]])
def test_matrices_of_all_forms(data, form):
    m, y = data
    m = np.where(np.abs(m) > 0.5, m, 0.0)
    np.testing.assert_allclose(
        eq.solve(eq.LeastSquares(form(m), y), A="sum", b=1.0, tol=1e-9).x,
        eq.solve(eq.LeastSquares(m, y), A="sum", b=1.0, tol=1e-9).x, atol=1e-5,
    )


def test_names_of_frames_come_back(data):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    m, y = data
    names = [f"v{j}" for j in range(10)]
    for frame in (pd.DataFrame(m, columns=names), pl.DataFrame(m, schema=names)):
        solution = eq.solve(eq.LeastSquares(frame, y), A="sum", b=1.0)
        assert list(solution.to_pandas().index) == names


def test_graphs_and_blocks():
    networkx = pytest.importorskip("networkx")
    f = eq.Distance(np.arange(12.0))
    expected = np.arange(12.0) - 5.5
    for graph in ("ring", networkx.cycle_graph(12), [[i, (i + 1) % 12] for i in range(12)], None):
        solution = eq.solve(f, A="sum", b=0.0, graph=graph, method="pairs", tol=1e-10)
        np.testing.assert_allclose(solution.x, expected, atol=1e-4)
    by_blocks = eq.solve(f, A="sum", b=[0.0, 0.0], blocks=2)
    np.testing.assert_allclose(by_blocks.x[::2].sum(), 0.0, atol=1e-9)
    with pytest.raises(ValueError, match="connect|reach"):
        eq.solve(f, A="sum", b=0.0, graph=[[0, 1], [2, 3]], method="pairs")


def test_one_seed_is_one_sequence_of_bits(data):
    f = eq.LeastSquares(*data)
    one, two = (eq.solve(f, eq.Box(-1, 1), "sum", 1.0, method="pairs", random_state=5, max_epochs=3) for _ in range(2))
    np.testing.assert_array_equal(one.x, two.x)


def test_a_start_near_the_end_is_quick(data):
    f = eq.LeastSquares(*data)
    first = eq.solve(f, A="sum", b=1.0, tol=1e-8)
    again = eq.solve(f, A="sum", b=1.0, tol=1e-6, x0=first.x)
    assert again.updates <= first.updates
    assert again.converged


def test_a_problem_of_a_file(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_text("""
[smooth]
kind = "distance"
target = [3.0, 0.0]
[separable]
kind = "non-negative"
[coupling]
kind = "sum"
rhs = 1.0
""")
    problem = eq.Problem.from_toml(path)
    np.testing.assert_allclose(problem.solve().x, [1.0, 0.0], atol=1e-6)
    assert problem.verify([1.0, 0.0]).converged
    path.write_text("[smooth]\nkind = 'distence'\n")
    with pytest.raises(ValueError, match="did you mean"):
        eq.Problem.from_toml(path)


def test_solutions_show_themselves(data):
    solution = eq.solve(eq.LeastSquares(*data), A="sum", b=1.0)
    assert "converged" in repr(solution)
    assert "<table>" in solution._repr_html_()
    assert "relative gap" in str(solution.certificate)
    model = eq.SimplexRegressor().fit(*data)
    assert "certificate" in model._repr_mimebundle_()["text/html"]


def test_errors_have_the_words_of_the_library(data):
    m, y = data
    with pytest.raises(ValueError, match="no x within the bounds"):
        eq.solve(eq.LeastSquares(m, y), eq.Box(0, 1), "sum", 100.0)
    with pytest.raises(ValueError, match="did you mean `auto`|known"):
        eq.solve(eq.LeastSquares(m, y), method="aut")
    with pytest.raises(ValueError, match="unbounded"):
        eq.solve(eq.Linear([1.0, 2.0]))
    with pytest.raises(TypeError, match="f must be a smooth term"):
        eq.solve(eq.L1(1.0))
    with pytest.raises(TypeError, match="h must be a term"):
        eq.solve(eq.LeastSquares(m, y), eq.LeastSquares(m, y))
    with pytest.raises(ValueError, match="y has 3 numbers"):
        eq.LeastSquares(m, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="NaN"):
        eq.LeastSquares(np.where(m > 2, np.nan, m), y * np.nan)
    with pytest.raises(ValueError, match="b is given without A"):
        eq.solve(eq.LeastSquares(m, y), b=1.0)
