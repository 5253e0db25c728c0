"""This solver inside qpsolvers: ``solve_qp(..., solver="equipoise")``.

Needs qpsolvers. Given one of its problems; hands it to `equipoise.qp`. Must not know: how it is solved.
"""

from __future__ import annotations

import warnings

import numpy as np
import qpsolvers
import qpsolvers.solvers
from qpsolvers.exceptions import ProblemError

from .qp import QuadraticProgram, no_solution, solve_qp

__all__ = ["register", "solve_problem"]


def solve_problem(problem, initvals=None, verbose=False, **options):
    """Solve a problem of qpsolvers.

    Parameters
    ----------
    problem : qpsolvers.Problem
        The problem.
    initvals : ndarray, default=None
        Where to begin.
    verbose : bool, default=False
        Show progress.
    **options
        ``tol``, ``time_limit``, ... as for :func:`equipoise.solve`.

    Returns
    -------
    solution : qpsolvers.Solution
        The certificate is in ``extras``.
    """
    P, q, G, h, A, b, lb, ub = problem.unpack()
    programme = QuadraticProgram(P, q, A, b, G, h, lb, ub)
    solution = qpsolvers.Solution(problem)
    try:
        found = solve_qp(programme, x0=initvals, verbose=int(verbose), **options)
    except ValueError as error:
        if no_solution(error) is None:
            raise ProblemError(str(error)) from error
        warnings.warn(str(error), stacklevel=2)
        solution.found, solution.extras = False, {"error": str(error)}
        return solution
    solution.found = found.solution.converged
    solution.x, solution.obj = found.x, found.objective
    solution.y, solution.z = found.equations, found.inequalities
    solution.z_box = found.limits if lb is not None or ub is not None else np.empty(0)
    solution.solve_time = found.solution.seconds
    solution.extras = {"certificate": found.solution.certificate, "status": found.solution.status}
    return solution


def register() -> None:
    """Make ``solver="equipoise"`` known to qpsolvers.

    Examples
    --------
    >>> import numpy as np
    >>> import qpsolvers
    >>> from equipoise.qpsolvers_solver import register
    >>> register()
    >>> x = qpsolvers.solve_qp(np.eye(2), np.array([-1.0, -3.0]), lb=np.zeros(2), ub=np.ones(2), solver="equipoise")
    >>> x.round(5).tolist()
    [1.0, 1.0]
    """
    registries = qpsolvers.solvers
    registries.solve_function["equipoise"] = solve_problem
    for names in (registries.available_solvers, registries.dense_solvers, registries.sparse_solvers):
        if "equipoise" not in names:
            names.append("equipoise")
