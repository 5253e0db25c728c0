"""The peers behind one interface: `prepare` once, outside the clock; `solve` times the peer's own call alone.

Each class says which documented settings and which formulation it uses. Arrays come in the form that the peer prefers;
what a formulation has to compute (a Gram matrix) is inside the clock, putting given numbers into a sparse matrix of the
peer's layout is not. `solve` gives (seconds, answer, prices or None). Imports are inside the classes, so that one
missing peer does not stop the others.
"""

import time
import warnings

import numpy as np
from decentral import Admm, CentralLogistic, GradientTracking
from frontiers import ClarabelFrontier, DaqpFrontier, OsqpFrontier, PiqpFrontier
from problems import Allocation, Dispatch
from scipy import sparse

Solved = tuple[float, np.ndarray, np.ndarray | None]

# Found by their names here.
__all__ = [
    "Admm", "CentralLogistic", "ClarabelFrontier", "DaqpFrontier", "GradientTracking", "OsqpFrontier", "PiqpFrontier",
]  # fmt: skip


def clock() -> float:
    return time.perf_counter()


class NewtonQuadratic:
    """Newton's method on the multiplier, as anybody would write it with numpy: x = clip((price - c1) / 2 c2, 0, u)."""

    def prepare(self, problem: Allocation) -> None:
        self.problem = problem
        self.free, self.x = np.empty_like(problem.c1), np.empty_like(problem.c1)

    def solve(self, setting: dict) -> Solved:
        c2, c1, upper, demand = self.problem.c2, self.problem.c1, self.problem.upper, float(self.problem.right[0])
        free, x = self.free, self.x
        start = clock()
        inverse = 0.5 / c2
        shift = c1 * inverse
        price = (demand + shift.sum()) / inverse.sum()
        for _ in range(100):
            np.multiply(inverse, price, out=free)
            free -= shift
            np.minimum(free, upper, out=x)
            np.maximum(x, 0.0, out=x)
            left = demand - x.sum()
            if abs(left) <= setting["tol"] * demand:
                break
            price += left / (inverse @ (x == free))
        return clock() - start, x.copy(), np.array([price])


class Sort:
    """A yardstick: one sort of as many numbers as there are users."""

    def prepare(self, problem: Allocation) -> None:
        self.numbers = problem.c1 / problem.c2

    def solve(self, setting: dict) -> Solved:
        start = clock()
        np.sort(self.numbers)
        return clock() - start, np.zeros(0), None


def clarabel_settings(api, setting: dict):
    chosen = api.DefaultSettings()
    chosen.verbose = False
    chosen.presolve_enable = False
    chosen.direct_solve_method = setting["kkt"]
    chosen.max_threads = setting.get("threads", 1)
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = setting["tol"]
    return chosen


class ClarabelQuadratic:
    """A quadratic programme: one equality, two-sided limits as rows of a non-negative cone."""

    def prepare(self, problem: Allocation) -> None:
        import clarabel

        self.api = clarabel
        users = len(problem.c1)
        identity = sparse.eye(users, format="csc")
        self.quadratic, self.linear = sparse.diags(2.0 * problem.c2, format="csc"), problem.c1
        self.rows = sparse.vstack([problem.rows, identity, -identity], format="csc")
        self.right = np.concatenate([problem.right, problem.upper, np.zeros(users)])
        self.cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * users)]

    def solve(self, setting: dict) -> Solved:
        start = clock()
        chosen = clarabel_settings(self.api, setting)
        solution = self.api.DefaultSolver(
            self.quadratic, self.linear, self.rows, self.right, self.cones, chosen
        ).solve()
        return clock() - start, np.array(solution.x), -np.array(solution.z[:1])


class HighsQuadratic:
    """HiGHS's solver of convex quadratic programmes, as it comes."""

    def prepare(self, problem: Allocation) -> None:
        import highspy

        self.api = highspy
        users = len(problem.c1)
        self.model = highspy.HighsModel()
        lp, hessian = self.model.lp_, self.model.hessian_
        lp.num_col_, lp.num_row_ = users, 1
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = problem.c1, np.zeros(users), problem.upper
        lp.row_lower_ = lp.row_upper_ = problem.right
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(users + 1)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = np.zeros(users, dtype=np.int32), np.ones(users)
        hessian.dim_, hessian.format_ = users, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_ = np.arange(users + 1), np.arange(users)
        hessian.value_ = 2.0 * problem.c2

    def solve(self, setting: dict) -> Solved:
        solver = self.api.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", setting.get("threads", 1))
        solver.passModel(self.model)
        start = clock()
        solver.run()
        seconds = clock() - start
        solution = solver.getSolution()
        if solver.getModelStatus() != self.api.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS: {solver.modelStatusToString(solver.getModelStatus())}")
        return seconds, np.array(solution.col_value), np.array(solution.row_dual)


class NewtonEntropy:
    """Newton's method on the five multipliers with halved steps: x = r exp(A'y - 1)."""

    def prepare(self, problem: Allocation) -> None:
        self.problem = problem

    def solve(self, setting: dict) -> Solved:
        rows, right, reference = self.problem.rows, self.problem.right, self.problem.c1
        start = clock()
        terms = np.abs(right) + 1e-3 * right[0]

        def at(prices: np.ndarray) -> tuple[np.ndarray, float]:
            x = prices @ rows
            x -= 1.0
            np.exp(x, out=x)
            x *= reference
            return x, float(prices @ right - x.sum())

        prices = np.zeros(len(right))
        x, value = at(prices)
        weighted = np.empty_like(rows)
        for _ in range(100):
            left = right - rows @ x
            if (np.abs(left) <= setting["tol"] * terms).all():
                break
            np.multiply(rows, x, out=weighted)
            step = np.linalg.solve(weighted @ rows.T, left)
            share = 1.0
            while share > 1e-10:
                x, new = at(prices + share * step)
                if new >= value + 1e-4 * share * float(left @ step) - 1e-14 * abs(value):
                    break
                share *= 0.5
            prices, value = prices + share * step, new
        return clock() - start, x, prices


class ClarabelEntropy:
    """Exponential cones: (-t, x, r) with t >= x ln(x / r); or the dual in five multipliers, (a'y - 1, 1, v) with
    v >= exp(a'y - 1), whose answer is x = r exp(a'y - 1)."""

    def prepare(self, problem: Allocation) -> None:
        import clarabel

        self.api, self.problem = clarabel, problem
        count, users = problem.rows.shape
        number = np.arange(users)
        exponential = [clarabel.ExponentialConeT()] * users
        entries = (np.tile([1.0, -1.0], users), (np.stack([3 * number, 3 * number + 1], axis=1).ravel(),
                   np.stack([users + number, number], axis=1).ravel()))  # fmt: skip
        cones = sparse.csc_matrix(entries, shape=(3 * users, 2 * users))
        balance = sparse.hstack([sparse.csc_matrix(problem.rows), sparse.csc_matrix((count, users))])
        right = np.zeros(3 * users)
        right[2::3] = problem.c1
        self.primal = (
            sparse.csc_matrix((2 * users, 2 * users)), np.concatenate([np.zeros(users), np.ones(users)]),
            sparse.vstack([balance, cones], format="csc"), np.concatenate([problem.right, right]),
            [clarabel.ZeroConeT(count), *exponential],
        )  # fmt: skip
        above = sparse.csc_matrix(
            (-problem.rows.ravel(), (np.tile(3 * number, count), np.repeat(np.arange(count), users))),
            shape=(3 * users, count + users),
        )
        below = sparse.csc_matrix((-np.ones(users), (3 * number + 2, count + number)), shape=(3 * users, count + users))
        self.dual = (
            sparse.csc_matrix((count + users, count + users)), np.concatenate([-problem.right, problem.c1]),
            sparse.csc_matrix(above + below), np.tile([-1.0, 1.0, 0.0], users), exponential,
        )  # fmt: skip

    def solve(self, setting: dict) -> Solved:
        count = len(self.problem.rows)
        start = clock()
        chosen = clarabel_settings(self.api, setting)
        if setting["form"] == "primal":
            solution = self.api.DefaultSolver(*self.primal, chosen).solve()
            answer, prices = np.array(solution.x[: self.problem.rows.shape[1]]), -np.array(solution.z[:count])
        else:
            solution = self.api.DefaultSolver(*self.dual, chosen).solve()
            prices = np.array(solution.x[:count])
            answer = self.problem.c1 * np.exp(prices @ self.problem.rows - 1.0)
        return clock() - start, answer, prices


class ClarabelDispatch:
    """One solver for all demands; between them the right-hand side alone is updated."""

    def prepare(self, problem: Dispatch) -> None:
        import clarabel

        self.api, self.demands = clarabel, problem.demands
        units = len(problem.c1)
        identity = sparse.eye(units, format="csc")
        self.quadratic, self.linear = sparse.diags(2.0 * problem.c2, format="csc"), problem.c1
        self.rows = sparse.vstack([np.ones((1, units)), identity, -identity], format="csc")
        self.right = np.concatenate([[problem.demands[0]], problem.upper, -problem.lower])
        self.cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * units)]

    def solve(self, setting: dict) -> Solved:
        answers, prices = np.empty((len(self.demands), len(self.linear))), np.empty(len(self.demands))
        self.right[0] = self.demands[0]
        start = clock()
        chosen = clarabel_settings(self.api, setting)
        solver = self.api.DefaultSolver(self.quadratic, self.linear, self.rows, self.right, self.cones, chosen)
        for number, demand in enumerate(self.demands):
            if number:
                self.right[0] = demand
                solver.update(b=self.right)
            solution = solver.solve()
            answers[number], prices[number] = solution.x, -solution.z[0]
        return clock() - start, answers, prices


class PiqpDispatch:
    """PIQP, dense or sparse; between demands the right-hand side alone is updated."""

    def prepare(self, problem: Dispatch) -> None:
        import piqp

        self.api, self.problem = piqp, problem

    def solve(self, setting: dict) -> Solved:
        problem = self.problem
        units, demands = len(problem.c1), problem.demands
        answers = np.empty((len(demands), units))
        if setting["form"] == "dense":
            solver = self.api.DenseSolver()
            quadratic, row = np.asfortranarray(np.diag(2.0 * problem.c2)), np.ones((1, units), order="F")
        else:
            solver = self.api.SparseSolver()
            quadratic = sparse.diags(2.0 * problem.c2, format="csc")
            row = sparse.csc_matrix(np.ones((1, units)))
        piqp_settings(solver, setting)
        start = clock()
        solver.setup(quadratic, problem.c1, row, demands[:1].copy(), x_l=problem.lower, x_u=problem.upper)
        for number in range(len(demands)):
            if number:
                solver.update(b=demands[number : number + 1])
            solver.solve()
            answers[number] = solver.result.x
        return clock() - start, answers, None


def piqp_settings(solver, setting: dict) -> None:
    for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
        setattr(solver.settings, name, setting["eps"])
    solver.settings.verbose = False


class DaqpDispatch:
    """DAQP: limits and one equality row; its workspace and working set are kept between demands."""

    def prepare(self, problem: Dispatch) -> None:
        import daqp

        self.api, self.problem = daqp, problem

    def solve(self, setting: dict) -> Solved:
        problem = self.problem
        units = len(problem.c1)
        answers = np.empty((len(problem.demands), units))
        upper, lower = np.append(problem.upper, problem.demands[0]), np.append(problem.lower, problem.demands[0])
        sense = np.zeros(units + 1, dtype=np.int32)
        sense[units] = 5
        start = clock()
        model = self.api.Model()
        model.setup(np.diag(2.0 * problem.c2), problem.c1, np.ones((1, units)), upper, lower, sense)
        for number, demand in enumerate(problem.demands):
            if number:
                upper[units] = lower[units] = demand
                model.update(bupper=upper, blower=lower)
            answers[number] = model.solve()[0]
        return clock() - start, answers, None


def quiet() -> None:
    warnings.filterwarnings("ignore")
