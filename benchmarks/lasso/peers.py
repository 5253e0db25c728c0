"""The peers behind one interface: `prepare` once, outside the clock; `solve` times the peer's own call alone.

Each class says which documented settings and which formulation it uses. Arrays come in the form that the peer prefers;
what a formulation has to compute (a Gram matrix, cumulated columns) is inside the clock, putting numbers into a
sparse matrix of the peer's layout is not. `solve` gives (seconds, answer, dual point or None). Imports are inside the
classes, so that one missing peer does not stop the others.
"""

import time
import warnings

import numpy as np
from problems import Denoise, Lasso, Simplex, Stepped
from scipy import sparse

Solved = tuple[float, np.ndarray, np.ndarray | None]


def clock() -> float:
    return time.perf_counter()


class Classo:
    """c-lasso's Path-Alg, R1. Its objective is ||y - X b||^2 + l ||b||_1, its fractions those of 2 ||X'y||_inf."""

    def prepare(self, problem: Lasso) -> None:
        np.infty = np.inf  # the package is older than numpy 2
        from classo.solve_R1 import Classo_R1, pathlasso_R1, problem_R1

        self.one, self.path = Classo_R1, pathlasso_R1
        constraint = np.ones((1, problem.matrix.shape[1]))
        self.problem = problem_R1((problem.matrix, constraint, problem.target), "Path-Alg")
        largest = np.abs(problem.matrix.T @ problem.target).max()
        self.fractions = [float(weight / largest) for weight in problem.lambdas]

    def solve(self, setting: dict) -> Solved:
        start = clock()
        if len(self.fractions) == 1:
            answer = self.one(self.problem, self.fractions[0])
        else:
            answer = self.path(self.problem, self.fractions)
        return clock() - start, np.array(answer), None


class Celer:
    """celer_path: working sets with dual extrapolation; its tolerance is the gap over ||y||^2 / n."""

    def prepare(self, problem: Lasso) -> None:
        from celer import celer_path

        self.call = celer_path
        self.matrix, self.target = np.asfortranarray(problem.matrix), problem.target
        self.alphas = problem.lambdas / len(problem.target)

    def solve(self, setting: dict) -> Solved:
        start = clock()
        _, answer, _ = self.call(
            self.matrix, self.target, "lasso", alphas=self.alphas, tol=setting["tol"], prune=setting["prune"],
            max_iter=100,
        )  # fmt: skip
        return clock() - start, answer.T, None


class Skglm:
    """skglm's Lasso (working sets, Anderson acceleration); compiled by a first call outside the clock."""

    def prepare(self, problem: Lasso) -> None:
        from skglm import Lasso as Model

        self.model = Model
        self.matrix, self.target = np.asfortranarray(problem.matrix), problem.target
        self.alphas = problem.lambdas / len(problem.target)
        self.solve({"tol": 1.0})

    def solve(self, setting: dict) -> Solved:
        model = self.model(alpha=self.alphas[0], tol=setting["tol"], fit_intercept=False, max_iter=200)
        if len(self.alphas) == 1:
            start = clock()
            model.fit(self.matrix, self.target)
            return clock() - start, model.coef_.reshape(1, -1), None
        start = clock()
        answer = model.path(self.matrix, self.target, self.alphas)[1]
        return clock() - start, answer.T, None


class SklearnPath:
    """lasso_path: cyclic coordinate descent with screening, no Gram matrix (more columns than rows)."""

    def prepare(self, problem: Lasso) -> None:
        from sklearn.linear_model import lasso_path

        self.call = lasso_path
        self.matrix, self.target = np.asfortranarray(problem.matrix), problem.target
        self.alphas = problem.lambdas / len(problem.target)

    def solve(self, setting: dict) -> Solved:
        start = clock()
        _, answer, _ = self.call(
            self.matrix, self.target, alphas=self.alphas, tol=setting["tol"], precompute=False, copy_X=False,
            max_iter=100_000,
        )  # fmt: skip
        return clock() - start, answer.T, None


class CelerSteps:
    """b = cumsum(a): a lasso in the steps; the first, which is free, is projected out. Both are inside the clock."""

    def prepare(self, problem: Stepped) -> None:
        from celer import celer_path

        self.call, self.matrix, self.target, self.weight = celer_path, problem.matrix, problem.target, problem.weight

    def solve(self, setting: dict) -> Solved:
        start = clock()
        steps = np.empty(self.matrix.shape, order="F")
        np.cumsum(self.matrix[:, ::-1], axis=1, out=steps[:, ::-1])
        ones = steps[:, 0].copy()
        square = ones @ ones
        share = (ones @ steps[:, 1:]) / square
        inside = steps[:, 1:]
        inside -= np.multiply.outer(share, ones).T
        first = ones @ self.target / square
        _, answer, _ = self.call(
            inside, self.target - first * ones, "lasso", alphas=np.array([self.weight / len(self.target)]),
            tol=setting["tol"], prune=setting["prune"], max_iter=100,
        )  # fmt: skip
        answer = answer[:, 0]
        signal = np.cumsum(np.concatenate([[first - share @ answer], answer]))
        return clock() - start, signal, None


class Clarabel:
    """A quadratic programme with equality rows, then two-sided bounds as rows of a non-negative cone."""

    def arrange(self, quadratic, linear, equality, right, bounded) -> None:
        """min 1/2 x'Px + q'x subject to E x = e and |B x| <= weight."""
        import clarabel

        self.api = clarabel
        self.quadratic = sparse.triu(quadratic, format="csc")
        self.linear, self.right = linear, right
        self.equalities = equality.shape[0]
        self.rows = sparse.vstack([equality, bounded, -bounded], format="csc")
        self.cones = [clarabel.ZeroConeT(self.equalities)] if self.equalities else []
        self.cones.append(clarabel.NonnegativeConeT(2 * bounded.shape[0]))
        self.two_sided = bounded.shape[0]

    def settings(self, setting: dict):
        chosen = self.api.DefaultSettings()
        chosen.verbose = False
        chosen.presolve_enable = False
        chosen.direct_solve_method = setting["kkt"]
        chosen.max_threads = setting.get("threads", 1)
        chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = setting["tol"]
        return chosen

    def limits(self, weight: float) -> np.ndarray:
        return np.concatenate([self.right, np.full(2 * self.two_sided, weight)])

    def first(self, setting: dict, weight: float):
        return self.api.DefaultSolver(
            self.quadratic, self.linear, self.rows, self.limits(weight), self.cones, self.settings(setting)
        )


def lasso_dual(problem: Lasso):
    """min 1/2 ||t||^2 - y't subject to |X't - nu| <= lambda; b are the multipliers. `nu` only with a zero sum."""
    rows, columns = problem.matrix.shape
    free = 1 if problem.zero_sum else 0
    block = sparse.csc_matrix(np.hstack([problem.matrix.T, -np.ones((columns, free))]))
    quadratic = sparse.block_diag([sparse.eye(rows), sparse.csc_matrix((free, free))], format="csc")
    return quadratic, np.concatenate([-problem.target, np.zeros(free)]), block


class ClarabelLasso(Clarabel):
    """The dual with v = X't - nu as variables of their own; along a path only the bounds are updated."""

    def prepare(self, problem: Lasso) -> None:
        quadratic, linear, block = lasso_dual(problem)
        columns, inner = block.shape
        identity = sparse.eye(columns, format="csc")
        self.arrange(
            sparse.block_diag([quadratic, sparse.csc_matrix((columns, columns))], format="csc"),
            np.concatenate([linear, np.zeros(columns)]),
            sparse.hstack([block, -identity], format="csc"),
            np.zeros(columns),
            sparse.hstack([sparse.csc_matrix((columns, inner)), identity], format="csc"),
        )  # fmt: skip
        self.lambdas = problem.lambdas

    def solve(self, setting: dict) -> Solved:
        start = clock()
        solver = self.first(setting, self.lambdas[0])
        answers = []
        for number, weight in enumerate(self.lambdas):
            if number:
                solver.update(b=self.limits(weight))
            answers.append(np.array(solver.solve().z[: self.equalities]))
        return clock() - start, np.array(answers), None


class OsqpLasso:
    """The dual; along a path the bounds are updated and the last point is kept (warm start)."""

    def prepare(self, problem: Lasso) -> None:
        import osqp

        self.api = osqp
        self.parts = lasso_dual(problem)
        self.lambdas = problem.lambdas

    def solve(self, setting: dict) -> Solved:
        quadratic, linear, block = self.parts
        ones = np.ones(block.shape[0])
        start = clock()
        solver = self.api.OSQP()
        weight = self.lambdas[0]
        solver.setup(quadratic, linear, block, -weight * ones, weight * ones, **osqp_settings(setting))
        answers = []
        for number, weight in enumerate(self.lambdas):
            if number:
                solver.update(l=-weight * ones, u=weight * ones)
            answers.append(np.array(solver.solve().y))
        return clock() - start, np.array(answers), None


def osqp_settings(setting: dict) -> dict:
    return {
        "verbose": False, "eps_abs": setting["eps"], "eps_rel": setting["eps"], "max_iter": 1_000_000,
        "polishing": True,
    }  # fmt: skip


def difference_rows(problem: Denoise) -> sparse.csc_matrix:
    def chain(length: int) -> sparse.csc_matrix:
        return sparse.diags([-1.0, 1.0], [0, 1], shape=(length - 1, length), format="csc")

    if problem.shape == "grid":
        rows, columns = problem.target.shape
        across = sparse.kron(sparse.eye(rows), chain(columns))
        down = sparse.kron(chain(rows), sparse.eye(columns))
        return sparse.vstack([across, down], format="csc")
    length = len(problem.target)
    return chain(length - 1) @ chain(length) if problem.shape == "trend" else chain(length)


def denoising(problem: Denoise, form: str):
    """P, q and rows R with what they must keep to, in two forms.

    dual: min 1/2 ||y - D'z||^2 subject to |z| <= lambda, a box; DD' is formed here, inside the clock.
    primal: min 1/2 ||x - y||^2 + lambda 1'(u + v) subject to D x = u - v and u, v >= 0.
    """
    differences, target = problem.rows, problem.target.ravel()
    count, length = differences.shape
    if form == "dual":
        identity = sparse.eye(count, format="csc")
        return sparse.triu(differences @ differences.T, format="csc"), -(differences @ target), identity
    quadratic = sparse.block_diag([sparse.eye(length), sparse.csc_matrix((2 * count, 2 * count))], format="csc")
    linear = np.concatenate([-target, np.full(2 * count, problem.weight)])
    identity = sparse.eye(count, format="csc")
    rows = sparse.bmat([[differences, -identity, identity], [None, identity, None], [None, None, identity]])
    return quadratic, linear, sparse.csc_matrix(rows)


class ClarabelDenoise(Clarabel):
    """Both forms; z and the multipliers of D x = u - v are dual points."""

    def prepare(self, problem: Denoise) -> None:
        import clarabel

        self.api, self.problem = clarabel, problem
        problem.rows = difference_rows(problem)

    def solve(self, setting: dict) -> Solved:
        problem, form = self.problem, setting["form"]
        target, differences = problem.target.ravel(), problem.rows
        count, length = differences.shape
        start = clock()
        quadratic, linear, rows = denoising(problem, form)
        if form == "dual":
            rows, right = sparse.vstack([rows, -rows], format="csc"), np.full(2 * count, problem.weight)
            cones = [self.api.NonnegativeConeT(2 * count)]
        else:
            signs = sparse.diags(np.concatenate([np.ones(count), -np.ones(2 * count)]))
            rows, right = sparse.csc_matrix(signs @ rows), np.zeros(3 * count)
            cones = [self.api.ZeroConeT(count), self.api.NonnegativeConeT(2 * count)]
        solution = self.api.DefaultSolver(quadratic, linear, rows, right, cones, self.settings(setting)).solve()
        if form == "dual":
            flow = np.array(solution.x)
            answer = target - differences.T @ flow
        else:
            answer, flow = np.array(solution.x[:length]), np.array(solution.z[:count])
        return clock() - start, answer, flow


def stepped_dual(problem: Stepped, form: str):
    """The dual over t and bounded z, |z| <= lambda: min 1/2 ||t||^2 - y't; equality rows [E, F] (t, z) = 0.

    differences: X't = D'z, D kept sparse; b are the multipliers. steps: b = cumsum(a) and C = X with its columns
    cumulated from the right: C't = z but for the first step, which is free: C_1't = 0; a are the multipliers.
    """
    rows, columns = problem.matrix.shape
    if form == "differences":
        chain = sparse.diags([-1.0, 1.0], [0, 1], shape=(columns - 1, columns), format="csc")
        left, right = problem.matrix.T, -chain.T
    else:
        left = np.ascontiguousarray(np.cumsum(problem.matrix[:, ::-1], axis=1)[:, ::-1].T)
        right = -sparse.eye(columns, format="csc")[:, 1:]
    quadratic = sparse.block_diag([sparse.eye(rows), sparse.csc_matrix((columns - 1, columns - 1))], format="csc")
    linear = np.concatenate([-problem.target, np.zeros(columns - 1)])
    equality = sparse.hstack([sparse.csc_matrix(left), right], format="csc")
    bounded = sparse.hstack([sparse.csc_matrix((columns - 1, rows)), sparse.eye(columns - 1)], format="csc")
    return quadratic, linear, equality, bounded


def signal_of(multipliers: np.ndarray, form: str) -> np.ndarray:
    return multipliers if form == "differences" else np.cumsum(multipliers)


class ClarabelSteps(Clarabel):
    """The dual, D kept sparse or X cumulated."""

    def prepare(self, problem: Stepped) -> None:
        self.problem = problem

    def solve(self, setting: dict) -> Solved:
        start = clock()
        quadratic, linear, equality, bounded = stepped_dual(self.problem, setting["form"])
        self.arrange(quadratic, linear, equality, np.zeros(equality.shape[0]), bounded)
        solution = self.first(setting, self.problem.weight).solve()
        answer = signal_of(np.array(solution.z[: self.equalities]), setting["form"])
        return clock() - start, answer, None


class OsqpSteps:
    """The same duals."""

    def prepare(self, problem: Stepped) -> None:
        import osqp

        self.api, self.problem = osqp, problem

    def solve(self, setting: dict) -> Solved:
        start = clock()
        quadratic, linear, equality, bounded = stepped_dual(self.problem, setting["form"])
        rows = sparse.vstack([equality, bounded], format="csc")
        limits = np.full(rows.shape[0], self.problem.weight)
        limits[: equality.shape[0]] = 0.0
        solver = self.api.OSQP()
        solver.setup(quadratic, linear, rows, -limits, limits, **osqp_settings(setting))
        answer = signal_of(np.array(solver.solve().y[: equality.shape[0]]), setting["form"])
        return clock() - start, answer, None


class ProxTv:
    """tv1_1d, every exact method that it has."""

    def prepare(self, problem: Denoise) -> None:
        import prox_tv

        self.call, self.problem = prox_tv.tv1_1d, problem

    def solve(self, setting: dict) -> Solved:
        start = clock()
        answer = self.call(self.problem.target, self.problem.weight, method=setting["method"])
        return clock() - start, np.asarray(answer), None


class ProxTvGrid:
    """tv1_2d, every method that it has, a ladder of iterations each."""

    def prepare(self, problem: Denoise) -> None:
        import prox_tv

        self.call, self.problem = prox_tv.tv1_2d, problem

    def solve(self, setting: dict) -> Solved:
        start = clock()
        answer = self.call(
            self.problem.target, self.problem.weight, n_threads=setting.get("threads", 1),
            max_iters=setting["iterations"], method=setting["method"],
        )  # fmt: skip
        return clock() - start, np.asarray(answer), None


class GramSimplex:
    """What the quadratic programmes on the simplex share: X'X and X'Y, computed once, inside the clock."""

    def prepare(self, problem: Simplex) -> None:
        self.matrix = problem.matrix
        self.targets = problem.target.reshape(len(problem.matrix), -1)
        self.size = self.matrix.shape[1]
        self.ready()

    def ready(self) -> None:
        """Imports."""

    def gram(self) -> tuple[np.ndarray, np.ndarray]:
        from scipy.linalg.blas import dsyrk

        # X row-major is X' column-major: one symmetric product, half the work of a general one.
        upper = dsyrk(1.0, self.matrix.T, trans=0)
        upper += np.triu(upper, 1).T
        return upper, -(self.matrix.T @ self.targets)


class PiqpSimplex(GramSimplex):
    """PIQP's dense solver; between right-hand sides only the linear term is updated."""

    def ready(self) -> None:
        import piqp

        self.api = piqp

    def solve(self, setting: dict) -> Solved:
        start = clock()
        gram, linear = self.gram()
        solver = self.api.DenseSolver()
        for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
            setattr(solver.settings, name, setting["eps"])
        solver.settings.verbose = False
        ones = np.ones((1, self.size), order="F")
        answers = np.empty((self.size, linear.shape[1]), order="F")
        solver.setup(np.asfortranarray(gram), linear[:, 0], ones, np.ones(1), x_l=np.zeros(self.size))
        for number in range(linear.shape[1]):
            if number:
                solver.update(c=np.ascontiguousarray(linear[:, number]))
            solver.solve()
            answers[:, number] = solver.result.x
        return clock() - start, answers, None


class ClarabelSimplex(Clarabel):
    """The Gram matrix, one equality row, w >= 0."""

    def prepare(self, problem: Simplex) -> None:
        self.base = GramSimplex()
        self.base.prepare(problem)

    def solve(self, setting: dict) -> Solved:
        import clarabel

        self.api = clarabel
        size = self.base.size
        start = clock()
        gram, linear = self.base.gram()
        quadratic = sparse.csc_matrix(np.triu(gram))
        rows = sparse.vstack([np.ones((1, size)), -sparse.eye(size)], format="csc")
        right = np.concatenate([[1.0], np.zeros(size)])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(size)]
        solver = clarabel.DefaultSolver(quadratic, linear[:, 0], rows, right, cones, self.settings(setting))
        answer = np.array(solver.solve().x)
        return clock() - start, answer, None


class OsqpSimplex(GramSimplex):
    """The Gram matrix, one equality row, w >= 0."""

    def ready(self) -> None:
        import osqp

        self.api = osqp

    def solve(self, setting: dict) -> Solved:
        start = clock()
        gram, linear = self.gram()
        solver = self.api.OSQP()
        rows = sparse.vstack([np.ones((1, self.size)), sparse.eye(self.size)], format="csc")
        lower = np.concatenate([[1.0], np.zeros(self.size)])
        upper = np.concatenate([[1.0], np.full(self.size, np.inf)])
        solver.setup(sparse.csc_matrix(np.triu(gram)), linear[:, 0], rows, lower, upper, **osqp_settings(setting))
        answer = np.array(solver.solve().x)
        return clock() - start, answer, None


class DaqpSimplex(GramSimplex):
    """DAQP: bounds and one equality row; `model` keeps the workspace and updates f, `solve` calls anew."""

    def ready(self) -> None:
        import daqp

        self.api = daqp

    def solve(self, setting: dict) -> Solved:
        size = self.size
        ones = np.ones((1, size))
        upper = np.concatenate([np.full(size, 1e30), [1.0]])
        lower = np.concatenate([np.zeros(size), [1.0]])
        sense = np.zeros(size + 1, dtype=np.int32)
        sense[size] = 5
        start = clock()
        gram, linear = self.gram()
        gram, linear = np.ascontiguousarray(gram), np.ascontiguousarray(linear.T)
        answers = np.empty((len(linear), size))
        if setting.get("how", "model") == "model":
            model = self.api.Model()
            model.setup(gram, linear[0], ones, upper, lower, sense)
            for number, row in enumerate(linear):
                if number:
                    model.update(f=row)
                answers[number] = model.solve()[0]
        else:
            for number, row in enumerate(linear):
                answers[number] = self.api.solve(gram, row, ones, upper, lower, sense)[0]
        return clock() - start, answers.T, None


class QuadprogSimplex(GramSimplex):
    """quadprog (Goldfarb and Idnani), the inverse Cholesky factor computed once."""

    def ready(self) -> None:
        import quadprog

        self.api = quadprog

    def solve(self, setting: dict) -> Solved:
        from scipy.linalg import cholesky
        from scipy.linalg.lapack import dtrtri

        start = clock()
        gram, linear = self.gram()
        inverse = np.ascontiguousarray(dtrtri(cholesky(gram))[0])
        rows = np.ascontiguousarray(np.hstack([np.ones((self.size, 1)), np.eye(self.size)]))
        right = np.concatenate([[1.0], np.zeros(self.size)])
        answers = np.empty((linear.shape[1], self.size))
        for number, column in enumerate(np.ascontiguousarray(-linear.T)):
            answers[number] = self.api.solve_qp(inverse, column, rows, right, 1, True)[0]
        return clock() - start, answers.T, None


def quiet() -> None:
    warnings.filterwarnings("ignore")
