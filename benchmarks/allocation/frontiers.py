"""The peers on a frontier: min w'S w subject to sum w = 1, w >= 0 and m'w >= t, t from point to point.

Three forms: the Gram matrix; `factored`, with s = F w as variables, so that the covariance is never formed; `dual`, in
(s, lambda, nu): min ||s||^2 / 4 - lambda - t nu subject to lambda + nu m <= F's and nu >= 0, whose multipliers are w.
Variances and returns are scaled to about 1 beforehand, which tolerances that are not relative need. A peer that is slow
solves `few` of the points and is charged setting up once and the mean of its points for each of all.
"""

import time

import numpy as np
from problems import Frontier
from scipy import sparse

Solved = tuple[float, np.ndarray, np.ndarray | None]


def clock() -> float:
    return time.perf_counter()


class Points:
    """What all of them share: scaled data, and the charge for the points that were left out."""

    spent = 0.0

    def prepare(self, problem: Frontier) -> None:
        self.factor = problem.factor / np.sqrt((problem.factor**2).sum(axis=0).mean())
        span = float(np.ptp(problem.means))
        self.means, self.targets = problem.means / span, problem.targets / span
        self.days, self.assets = self.factor.shape
        self.few, self.count = problem.few, len(problem.targets)
        self.ready()

    def ready(self) -> None:
        """Imports, and matrices of given numbers."""

    def gram(self) -> np.ndarray:
        """2 S, one symmetric product."""
        from scipy.linalg.blas import dsyrk

        upper = dsyrk(2.0, np.asarray(self.factor.T, order="F"), trans=0)
        upper += np.triu(upper, 1).T
        return upper

    def charged(self, begun: float, set_up: float, points: list[float]) -> float:
        """`begun` and `set_up` on the clock; seconds of the points that were solved."""
        self.spent = set_up - begun + sum(points)
        return set_up - begun + sum(points) * self.count / len(points)

    def factored(self) -> tuple[sparse.csc_matrix, sparse.csc_matrix]:
        """In (w, s): the rows F w - s = 0 and sum w = 1, and 2 ||s||^2 / 2."""
        rows = sparse.bmat(
            [[sparse.csc_matrix(self.factor), -sparse.eye(self.days)], [np.ones((1, self.assets)), None]], format="csc"
        )
        quadratic = sparse.diags(np.concatenate([np.zeros(self.assets), np.full(self.days, 2.0)]), format="csc")
        return rows, quadratic

    def dual(self) -> tuple[np.ndarray, np.ndarray]:
        """In (s, lambda, nu): rows that are at most 0, one an asset, and the diagonal of the quadratic."""
        rows = np.hstack([-self.factor.T, np.ones((self.assets, 1)), self.means[:, None]])
        return rows, np.concatenate([np.full(self.days, 0.5), np.zeros(2)])

    def dual_linear(self, target: float) -> np.ndarray:
        return np.concatenate([np.zeros(self.days), [-1.0, -target]])


class DaqpFrontier(Points):
    """DAQP on the Gram matrix; `model` keeps its workspace and working set, `solve` calls anew."""

    def ready(self) -> None:
        import daqp

        self.api = daqp

    def solve(self, setting: dict) -> Solved:
        size = self.assets
        rows = np.ascontiguousarray(np.vstack([np.ones(size), self.means]))
        upper = np.concatenate([np.full(size, 1e30), [1.0, 1e30]])
        lower = np.concatenate([np.zeros(size), [1.0, self.targets[0]]])
        sense = np.zeros(size + 2, dtype=np.int32)
        sense[size] = 5
        linear = np.zeros(size)
        answers = np.empty((self.count, size))
        start = clock()
        gram = np.ascontiguousarray(self.gram())
        if setting["how"] == "model":
            model = self.api.Model()
            model.setup(gram, linear, rows, upper, lower, sense)
            for number, target in enumerate(self.targets):
                if number:
                    lower[-1] = target
                    model.update(bupper=upper, blower=lower)
                answers[number] = model.solve()[0]
        else:
            for number, target in enumerate(self.targets):
                lower[-1] = target
                answers[number] = self.api.solve(gram, linear, rows, upper, lower, sense)[0]
        self.spent = clock() - start
        return self.spent, answers, None


class PiqpFrontier(Points):
    """PIQP: dense with the Gram matrix, sparse with the factored form, or dense with the dual; between points the
    return alone is updated."""

    def ready(self) -> None:
        import piqp

        self.api = piqp

    def arranged(self, form: str) -> dict:
        """All but a Gram matrix, which belongs inside the clock."""
        size, days = self.assets, self.days
        if form == "dual":
            rows, diagonal = self.dual()
            return {
                "P": np.asfortranarray(np.diag(diagonal)), "G": np.asfortranarray(rows), "h_u": np.zeros(size),
                "x_l": np.concatenate([np.full(days + 1, -np.inf), [0.0]]),
            }  # fmt: skip
        if form == "factored":
            rows, quadratic = self.factored()
            return {
                "P": quadratic, "c": np.zeros(size + days), "A": rows, "b": np.concatenate([np.zeros(days), [1.0]]),
                "G": sparse.csc_matrix(np.concatenate([self.means, np.zeros(days)])[None, :]),
                "x_l": np.concatenate([np.zeros(size), np.full(days, -np.inf)]),
            }  # fmt: skip
        return {
            "c": np.zeros(size), "A": np.ones((1, size), order="F"), "b": np.ones(1),
            "G": np.asfortranarray(self.means[None, :]), "x_l": np.zeros(size),
        }  # fmt: skip

    def solve(self, setting: dict) -> Solved:
        form = setting["form"]
        solver = self.api.SparseSolver() if form == "factored" else self.api.DenseSolver()
        for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
            setattr(solver.settings, name, setting["eps"])
        solver.settings.verbose = False
        parts = self.arranged(form)
        answers, points = np.empty((len(self.few), self.assets)), []

        def asked(number: int) -> dict:
            if form == "dual":
                return {"c": self.dual_linear(self.targets[number])}
            return {"h_l": self.targets[number : number + 1].copy(), "h_u": np.array([np.inf])}

        start = clock()
        if form == "gram":
            parts["P"] = np.asfortranarray(self.gram())
        solver.setup(**parts, **asked(self.few[0]))
        ready = clock()
        for place, number in enumerate(self.few):
            begun = clock()
            solver.update(**asked(number))
            solver.solve()
            answers[place] = solver.result.z_u if form == "dual" else solver.result.x[: self.assets]
            points.append(clock() - begun)
        return self.charged(start, ready, points), answers, None


class ClarabelFrontier(Points):
    """The factored form or the dual; between points the return alone is updated."""

    def ready(self) -> None:
        import clarabel

        self.api = clarabel

    def arranged(self, form: str) -> tuple:
        size, days = self.assets, self.days
        if form == "dual":
            rows, diagonal = self.dual()
            sign = np.zeros((1, days + 2))
            sign[0, -1] = -1.0
            return (
                sparse.diags(diagonal, format="csc"), self.dual_linear(self.targets[0]),
                sparse.csc_matrix(np.vstack([rows, sign])), np.zeros(size + 1), [self.api.NonnegativeConeT(size + 1)],
            )  # fmt: skip
        equality, quadratic = self.factored()
        returns = sparse.csc_matrix(np.concatenate([-self.means, np.zeros(days)])[None, :])
        signs = sparse.hstack([-sparse.eye(size), sparse.csc_matrix((size, days))])
        right = np.zeros(days + size + 2)
        right[days] = 1.0
        cones = [self.api.ZeroConeT(days + 1), self.api.NonnegativeConeT(size + 1)]
        rows = sparse.vstack([equality, returns, signs], format="csc")
        return quadratic, np.zeros(size + days), rows, right, cones

    def solve(self, setting: dict) -> Solved:
        chosen = self.api.DefaultSettings()
        chosen.verbose = False
        chosen.presolve_enable = False
        chosen.direct_solve_method = setting["kkt"]
        chosen.max_threads = setting.get("threads", 1)
        chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = setting["tol"]
        parts = self.arranged(setting["form"])
        right = parts[3]
        answers, points = np.empty((len(self.few), self.assets)), []
        start = clock()
        solver = self.api.DefaultSolver(*parts, chosen)
        ready = clock()
        for place, number in enumerate(self.few):
            begun = clock()
            if setting["form"] == "dual":
                solver.update(q=self.dual_linear(self.targets[number]))
                answers[place] = solver.solve().z[: self.assets]
            else:
                right[self.days + 1] = -self.targets[number]
                solver.update(b=right)
                answers[place] = solver.solve().x[: self.assets]
            points.append(clock() - begun)
        return self.charged(start, ready, points), answers, None


class OsqpFrontier(Points):
    """The factored form or the dual, polishing on; each point begins at the one before it, solved outside the clock."""

    def ready(self) -> None:
        import osqp

        self.api = osqp

    def arranged(self, form: str) -> tuple:
        size, days = self.assets, self.days
        if form == "dual":
            rows, diagonal = self.dual()
            sign = np.zeros((1, days + 2))
            sign[0, -1] = -1.0
            return (
                sparse.diags(diagonal, format="csc"), self.dual_linear(self.targets[0]),
                sparse.csc_matrix(np.vstack([rows, sign])), np.full(size + 1, -np.inf), np.zeros(size + 1),
            )  # fmt: skip
        equality, quadratic = self.factored()
        signs = sparse.hstack([sparse.eye(size), sparse.csc_matrix((size, days))])
        returns = sparse.csc_matrix(np.concatenate([self.means, np.zeros(days)])[None, :])
        lower = np.zeros(days + size + 2)
        lower[days : days + 2] = 1.0, self.targets[0]
        upper = np.concatenate([np.zeros(days), [1.0], np.full(size + 1, np.inf)])
        rows = sparse.vstack([equality, returns, signs], format="csc")
        return quadratic, np.zeros(size + days), rows, lower, upper

    def solve(self, setting: dict) -> Solved:
        dual = setting["form"] == "dual"
        parts = self.arranged(setting["form"])
        lower = parts[3]
        answers, points = np.empty((len(self.few), self.assets)), []
        start = clock()
        solver = self.api.OSQP()
        solver.setup(
            *parts, verbose=False, eps_abs=setting["eps"], eps_rel=setting["eps"], max_iter=20_000, polishing=True
        )
        ready = clock()
        whole = 0.0
        for place, number in enumerate(self.few):
            for before in (max(number - 1, 0), number):
                begun = clock()
                if dual:
                    solver.update(q=self.dual_linear(self.targets[before]))
                    answers[place] = solver.solve().y[: self.assets]
                else:
                    lower[self.days + 1] = self.targets[before]
                    solver.update(l=lower)
                    answers[place] = solver.solve().x[: self.assets]
                last = clock() - begun
                whole += last
            points.append(last)
        seconds = self.charged(start, ready, points)
        self.spent = ready - start + whole
        return seconds, answers, None
