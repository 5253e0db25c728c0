"""This solver inside CVXPY: ``problem.solve(solver=EQUIPOISE())``.

Needs CVXPY. Given the data of a quadratic programme; hands them to `equipoise.qp`. Must not know: how it is solved.
"""

from __future__ import annotations

import cvxpy.settings as s
import numpy as np
from cvxpy.reductions.solution import Solution, failure_solution
from cvxpy.reductions.solvers import utilities
from cvxpy.reductions.solvers.qp_solvers.qp_solver import QpSolver

from .qp import QuadraticProgram, no_solution, solve_qp

__all__ = ["EQUIPOISE", "register"]

_STATUSES = {
    "converged": s.OPTIMAL, "iteration-limit": s.USER_LIMIT, "time-limit": s.USER_LIMIT, "interrupted": s.USER_LIMIT,
    "stalled": s.OPTIMAL_INACCURATE,
}


class EQUIPOISE(QpSolver):
    """A solver for CVXPY's quadratic programmes.

    Options go to ``problem.solve``: ``tol`` (default 1e-8), ``time_limit``, ``method``, ``n_jobs``, ``random_state``, ... as for
    :func:`equipoise.solve`. The certificate is in ``problem.solver_stats.extra_stats``.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from equipoise.cvxpy_solver import EQUIPOISE
    >>> x = cp.Variable(2)
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - [1.0, 3.0])), [cp.sum(x) == 1, x >= 0])
    >>> round(float(problem.solve(solver=EQUIPOISE())), 5), x.value.round(5).tolist()
    (5.0, [0.0, 1.0])
    """

    MIP_CAPABLE = False
    BOUNDED_VARIABLES = True

    def name(self):
        """The name in CVXPY's reports."""
        return "EQUIPOISE"

    def import_solver(self) -> None:
        """Nothing: it is here."""

    def solve_via_data(self, data, warm_start, verbose, solver_opts, solver_cache=None):
        """Solve; errors that say that there is no solution become statuses.

        Parameters
        ----------
        data : dict
            The programme in CVXPY's form.
        warm_start, verbose : bool
            Whether to begin at the last answer, and whether to show progress.
        solver_opts : dict
            Options of ``problem.solve``.
        solver_cache : dict, default=None
            Where the last answer is.

        Returns
        -------
        answer : QpSolution or failure
            What :meth:`invert` takes.
        """
        programme = QuadraticProgram(
            data[s.P], data[s.Q], data[s.A], data[s.B], data[s.F], data[s.G], data.get(s.LOWER_BOUNDS), data.get(s.UPPER_BOUNDS)
        )
        options = {"verbose": int(verbose), **solver_opts}
        cached = (solver_cache or {}).get(self.name()) if warm_start else None
        if cached is not None and len(cached) == len(programme.q):
            options.setdefault("x0", cached)
        try:
            found = solve_qp(programme, **options)
        except ValueError as error:
            return _Failure.of(error)
        except TimeoutError as error:
            return _Failure(s.SOLVER_ERROR, error)
        if solver_cache is not None:
            solver_cache[self.name()] = found.x
        return found

    def invert(self, solution, inverse_data):
        """CVXPY's form of the answer.

        Parameters
        ----------
        solution : QpSolution or failure
            The answer of :meth:`solve_via_data`.
        inverse_data : dict
            Which rows are which constraint of CVXPY's.

        Returns
        -------
        solution : cvxpy Solution
            Status, point, multipliers and the certificate.
        """
        if isinstance(solution, _Failure):
            return failure_solution(solution.status, {s.EXTRA_STATS: str(solution.error)})
        inner = solution.solution
        attributes = {s.SOLVE_TIME: inner.seconds, s.NUM_ITERS: int(np.ceil(inner.epochs)), s.EXTRA_STATS: inner.certificate}
        status = _STATUSES.get(inner.status, s.SOLVER_ERROR)
        if status not in s.SOLUTION_PRESENT:
            return failure_solution(status, attributes)
        duals = {}
        for values, constraints in ((solution.equations, self.EQ_CONSTR), (solution.inequalities, self.NEQ_CONSTR)):
            duals.update(utilities.get_dual_values(values, utilities.extract_dual_value, inverse_data[constraints]))
        return Solution(status, solution.objective + inverse_data[s.OFFSET], {self.VAR_ID: solution.x}, duals, attributes)

    def cite(self, data):
        """Nothing to cite.

        Parameters
        ----------
        data : dict
            Not looked at.

        Returns
        -------
        words : str
            None of them.
        """
        return ""


class _Failure:
    """A refusal of the library, as a status of CVXPY."""

    def __init__(self, status, error):
        self.status, self.error = status, error

    @classmethod
    def of(cls, error):
        why = no_solution(error)
        if why is None:
            raise error
        return cls(s.UNBOUNDED if why == "unbounded" else s.INFEASIBLE, error)


def register() -> EQUIPOISE:
    """A solver to pass as ``solver=``, under the name ``cvxpy.EQUIPOISE``, too.

    Examples
    --------
    >>> import cvxpy
    >>> from equipoise.cvxpy_solver import register
    >>> solver = register()
    >>> cvxpy.EQUIPOISE is solver
    True
    """
    import cvxpy

    solver = getattr(cvxpy, "EQUIPOISE", None)
    if not isinstance(solver, EQUIPOISE):
        solver = EQUIPOISE()
        setattr(cvxpy, solver.name(), solver)
    return solver
