"""Quadratic programmes, alone, by CVXPY and by qpsolvers: against Clarabel, with residuals folded back."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.qp import QuadraticProgram, _residuals, solve_qp


@pytest.mark.parametrize("seed", range(8))
def test_programmes_of_all_parts_are_clarabels(seed):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    n = 12
    root = rng.normal(size=(8 if seed % 2 else n, n))
    p, q = root.T @ root, rng.normal(size=n)
    a, f = rng.normal(size=(2, n)), rng.normal(size=(4, n))
    inside = rng.uniform(-0.5, 0.5, size=n)
    b, g = a @ inside, f @ inside + rng.uniform(0, 0.5, size=4)
    lower, upper = np.full(n, -1.0), np.full(n, 1.0)
    x = cp.Variable(n)
    rows = [a @ x == b, f @ x <= g, x >= lower, x <= upper]
    best = cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, cp.psd_wrap(p)) + q @ x), rows)
    best.solve(solver=cp.CLARABEL)
    found = solve_qp(QuadraticProgram(p, q, a, b, f, g, lower, upper))
    assert found.objective == pytest.approx(best.value, abs=1e-6)
    np.testing.assert_allclose(a @ found.x, b, atol=1e-8)
    assert (f @ found.x <= g + 1e-8).all()
    assert (np.abs(found.x) <= 1 + 1e-12).all()
    stationary = p @ found.x + q + a.T @ found.equations + f.T @ found.inequalities + found.limits
    np.testing.assert_allclose(stationary, 0.0, atol=1e-10)
    np.testing.assert_allclose(found.inequalities * (f @ found.x - g), 0.0, atol=1e-4)


def test_residuals_are_found_and_folded(rng):
    m, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    p = np.zeros((35, 35))
    p[5:, 5:] = 2 * np.eye(30)
    a = np.hstack([m, -np.eye(30)])
    programme = QuadraticProgram(p, np.zeros(35), a, y)
    assert list(_residuals(programme)[0]) == list(range(5, 35))
    found = solve_qp(programme, tol=1e-10)
    np.testing.assert_allclose(found.x[:5], np.linalg.lstsq(m, y, rcond=None)[0], atol=1e-5)
    np.testing.assert_allclose(a @ found.x, y, atol=1e-10)
    assert len(found.solution.x) == 5
    np.testing.assert_allclose(p @ found.x + a.T @ found.equations, 0.0, atol=1e-3)


def test_inside_cvxpy(rng):
    cp = pytest.importorskip("cvxpy")
    from equipoise.cvxpy_solver import EQUIPOISE, register

    m, y = rng.normal(size=(50, 8)), rng.normal(size=50)
    x = cp.Variable(8)
    equal, bounds = cp.sum(x) == 1, x >= 0
    problem = cp.Problem(cp.Minimize(cp.sum_squares(m @ x - y)), [equal, bounds, x[0] + x[1] <= 0.3])
    problem.solve(solver=cp.CLARABEL)
    value, point, dual, low = problem.value, x.value.copy(), equal.dual_value, bounds.dual_value.copy()
    assert problem.solve(solver=EQUIPOISE()) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(x.value, point, atol=1e-4)
    assert float(equal.dual_value) == pytest.approx(float(dual), abs=1e-3)
    np.testing.assert_allclose(bounds.dual_value, low, atol=1e-2)
    assert problem.solver_stats.extra_stats.converged
    assert problem.solve(solver=register(), tol=1e-6) == pytest.approx(value, rel=1e-5)


def test_cvxpy_hears_that_there_is_no_solution():
    cp = pytest.importorskip("cvxpy")
    from equipoise.cvxpy_solver import EQUIPOISE

    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 3, x <= 1])
    problem.solve(solver=EQUIPOISE())
    assert problem.status == cp.INFEASIBLE
    endless = cp.Problem(cp.Minimize(x[0] - x[1]), [cp.sum(x) == 3])
    endless.solve(solver=EQUIPOISE())
    assert endless.status == cp.UNBOUNDED


def test_inside_qpsolvers(rng):
    qpsolvers = pytest.importorskip("qpsolvers")
    from equipoise.qpsolvers_solver import register

    register()
    register()
    assert qpsolvers.available_solvers.count("equipoise") == 1
    root = rng.normal(size=(10, 10))
    p, q = root.T @ root, rng.normal(size=10)
    g, h = rng.normal(size=(3, 10)), np.ones(3)
    a, b = np.ones((1, 10)), np.array([1.0])
    ours = qpsolvers.solve_problem(qpsolvers.Problem(p, q, g, h, a, b, np.zeros(10), np.ones(10)), solver="equipoise")
    peer = qpsolvers.solve_problem(qpsolvers.Problem(p, q, g, h, a, b, np.zeros(10), np.ones(10)), solver="clarabel")
    np.testing.assert_allclose(ours.x, peer.x, atol=1e-4)
    assert ours.found
    assert ours.is_optimal(1e-3)
    assert ours.extras["certificate"].gap <= 1e-8


def test_a_programme_without_rows():
    found = solve_qp(QuadraticProgram(np.eye(2), [-1.0, 2.0]))
    np.testing.assert_allclose(found.x, [1.0, -2.0], atol=1e-6)
    assert eq.__version__


def test_sizes_are_found_and_folded(rng):
    cp = pytest.importorskip("cvxpy")
    from equipoise.cvxpy_solver import EQUIPOISE

    m, y = rng.normal(size=(60, 20)), rng.normal(size=60)
    x = cp.Variable(20)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(m @ x - y) + 4.0 * cp.norm1(x)), [cp.sum(x) == 0.5, x <= 0.3])
    problem.solve(solver=cp.CLARABEL)
    value, point, duals = problem.value, x.value.copy(), [row.dual_value for row in problem.constraints]
    assert problem.solve(solver=EQUIPOISE()) == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(x.value, point, atol=1e-4)
    for row, dual in zip(problem.constraints, duals, strict=True):
        np.testing.assert_allclose(row.dual_value, dual, atol=1e-2)
    data, _, _ = problem.get_problem_data(EQUIPOISE())
    programme = QuadraticProgram(data["P"], data["q"], data["A"], data["b"], data["F"], data["G"])
    found = solve_qp(programme)
    assert len(found.solution.x) == 20
    stationary = programme.P @ found.x + programme.q + programme.A.T @ found.equations + programme.F.T @ found.inequalities
    np.testing.assert_allclose(stationary, 0.0, atol=1e-3)
    assert (found.inequalities >= 0).all()
