"""The peers on a frontier: min w'S w subject to sum w = 1, w >= 0 and m'w >= t, t from point to point.

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
    """PIQP: dense with the Gram matrix, or sparse with s = F w as variables; the return alone is updated."""

    def ready(self) -> None:
        import piqp

        self.api = piqp

    def solve(self, setting: dict) -> Solved:
        size, days = self.assets, self.days
        dense = setting["form"] == "dense"
        if dense:
            solver, equality, right = self.api.DenseSolver(), np.ones((1, size), order="F"), np.ones(1)
            inequality, lower = np.asfortranarray(self.means[None, :]), np.zeros(size)
        else:
            solver = self.api.SparseSolver()
            equality, quadratic = self.factored()
            right = np.concatenate([np.zeros(days), [1.0]])
            inequality = sparse.csc_matrix(np.concatenate([self.means, np.zeros(days)])[None, :])
            lower = np.concatenate([np.zeros(size), np.full(days, -np.inf)])
        for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
            setattr(solver.settings, name, setting["eps"])
        solver.settings.verbose = False
        which = range(self.count) if dense else self.few
        answers, points = np.empty((len(which), size)), []
        start = clock()
        if dense:
            quadratic = np.asfortranarray(self.gram())
        above = np.array([np.inf])
        solver.setup(
            quadratic, np.zeros(len(lower)), equality, right, inequality, self.targets[which[0] : which[0] + 1].copy(),
            above, x_l=lower,
        )  # fmt: skip
        ready = clock()
        for place, number in enumerate(which):
            begun = clock()
            solver.update(h_l=self.targets[number : number + 1].copy(), h_u=above)
            solver.solve()
            answers[place] = solver.result.x[:size]
            points.append(clock() - begun)
        return self.charged(start, ready, points), answers, None


class ClarabelFrontier(Points):
    """s = F w as variables, so that the covariance is never formed; the return alone is updated."""

    def ready(self) -> None:
        import clarabel

        self.api = clarabel
        size, days = self.assets, self.days
        equality, self.quadratic = self.factored()
        returns = sparse.csc_matrix(np.concatenate([-self.means, np.zeros(days)])[None, :])
        signs = sparse.hstack([-sparse.eye(size), sparse.csc_matrix((size, days))])
        self.rows = sparse.vstack([equality, returns, signs], format="csc")
        self.cones = [clarabel.ZeroConeT(days + 1), clarabel.NonnegativeConeT(size + 1)]
        self.right = np.zeros(days + size + 2)
        self.right[days] = 1.0

    def solve(self, setting: dict) -> Solved:
        chosen = self.api.DefaultSettings()
        chosen.verbose = False
        chosen.presolve_enable = False
        chosen.direct_solve_method = setting["kkt"]
        chosen.max_threads = setting.get("threads", 1)
        chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = setting["tol"]
        answers, points = np.empty((len(self.few), self.assets)), []
        start = clock()
        linear = np.zeros(self.assets + self.days)
        solver = self.api.DefaultSolver(self.quadratic, linear, self.rows, self.right, self.cones, chosen)
        ready = clock()
        for place, number in enumerate(self.few):
            begun = clock()
            self.right[self.days + 1] = -self.targets[number]
            solver.update(b=self.right)
            answers[place] = solver.solve().x[: self.assets]
            points.append(clock() - begun)
        return self.charged(start, ready, points), answers, None


class OsqpFrontier(Points):
    """s = F w as variables, polishing on; each point is begun at the one before it, solved outside the clock."""

    def ready(self) -> None:
        import osqp

        self.api = osqp
        equality, self.quadratic = self.factored()
        size, days = self.assets, self.days
        signs = sparse.hstack([sparse.eye(size), sparse.csc_matrix((size, days))])
        returns = sparse.csc_matrix(np.concatenate([self.means, np.zeros(days)])[None, :])
        self.rows = sparse.vstack([equality, returns, signs], format="csc")
        self.lower = np.zeros(days + size + 2)
        self.lower[days] = 1.0
        self.upper = np.concatenate([np.zeros(days), [1.0], np.full(size + 1, np.inf)])

    def solve(self, setting: dict) -> Solved:
        answers, points = np.empty((len(self.few), self.assets)), []
        lower = self.lower.copy()
        lower[self.days + 1] = self.targets[0]
        start = clock()
        solver = self.api.OSQP()
        solver.setup(
            self.quadratic, np.zeros(self.assets + self.days), self.rows, lower, self.upper, verbose=False,
            eps_abs=setting["eps"], eps_rel=setting["eps"], max_iter=100_000, polishing=True,
        )  # fmt: skip
        ready = clock()
        whole = 0.0
        for place, number in enumerate(self.few):
            for before in (max(number - 1, 0), number):
                begun = clock()
                lower[self.days + 1] = self.targets[before]
                solver.update(l=lower)
                answers[place] = solver.solve().x[: self.assets]
                last = clock() - begun
                whole += last
            points.append(last)
        seconds = self.charged(start, ready, points)
        self.spent = ready - start + whole
        return seconds, answers, None
