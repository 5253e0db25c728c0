"""Who is measured: our command, and the peers in a process of their own.

    solvers.py PEER PROBLEM.npz ANSWER.npz LIMIT      one peer on one problem; prints {"seconds": ..., "status": ...}
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from families import Inequalities, Problem

# What every peer is asked for: a little more than what it is judged by.
ACCURACY = 1e-8
PEERS = ("clarabel", "osqp", "piqp")


def save(problem: Problem, folder: Path) -> None:
    """As files for our command, which has equations alone, and for the peers."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    given, problem = problem, problem.in_equations()

    def keep(name: str, data: np.ndarray | sp.csc_matrix) -> str:
        if sp.issparse(data):
            write_sparse(folder / f"{name}.mtx", data.tocoo())
            return f'"{name}.mtx"'
        np.save(folder / f"{name}.npy", data)
        return f'"{name}.npy"'

    lines.append("[smooth]")
    if problem.factor is not None:
        lines += ['kind = "least-squares"', f"matrix = {keep('factor', problem.factor)}"]
        lines += [f"target = {keep('target', problem.target)}"]
    elif problem.quadratic is not None:
        lines += ['kind = "quadratic"', f"matrix = {keep('quadratic', problem.quadratic)}"]
        lines += [f"linear = {keep('linear', problem.q)}"]
    else:
        lines += ['kind = "linear"', f"linear = {keep('linear', problem.q)}"]
    lines += ["[separable]", 'kind = "box"']
    for name in ("lower", "upper"):
        bound = getattr(problem, name)
        words = ", ".join("inf" if v == np.inf else "-inf" if v == -np.inf else repr(float(v)) for v in bound)
        lines.append(f"{name} = [{words}]")
    lines += ["[coupling]", 'kind = "rows"', f"matrix = {keep('rows', problem.rows)}"]
    lines += [f"rhs = {keep('rhs', problem.rhs)}"]
    (folder / "problem.toml").write_text("\n".join(lines) + "\n")
    hessian, rows = given.hessian().tocoo(), sp.coo_matrix(given.rows)
    more = given.inequalities or Inequalities(sp.csc_matrix((0, given.dimension)), np.zeros(0), np.zeros(0))
    between = sp.coo_matrix(more.matrix)
    np.savez(
        folder / "problem.npz", q=given.slope(), b=given.rhs, lower=given.lower, upper=given.upper,
        pi=hessian.row, pj=hessian.col, pv=hessian.data, ai=rows.row, aj=rows.col, av=rows.data,
        low=more.low, high=more.high, gi=between.row, gj=between.col, gv=between.data,
    )  # fmt: skip


def write_sparse(file: Path, matrix: sp.coo_matrix) -> None:
    rows, columns = matrix.shape
    with file.open("w") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} {matrix.nnz}\n")
        for r, c, v in zip(matrix.row, matrix.col, matrix.data, strict=True):
            out.write(f"{r + 1} {c + 1} {float(v)!r}\n")


def run_ours(binary: str, folder: Path, limit: float) -> tuple[float, str, np.ndarray | None]:
    """Seconds of the whole command, status, answer."""
    words = [binary, "solve", str(folder / "problem.toml"), "--tolerance", "1e-6", "--time-limit", str(limit)]
    words += ["--threads", "1", "--json"]
    begun = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=3 * limit, check=False)
    except subprocess.TimeoutExpired:
        return 3 * limit, "stopped", None
    seconds = time.monotonic() - begun
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return seconds, f"error: {done.stderr.strip()[-160:]}", None
    if "error" in report:
        return seconds, f"error: {report['error']['message'][-160:]}", None
    return seconds, report["status"], np.array(report["x"])


def run_peer(peer: str, folder: Path, limit: float) -> tuple[float, str, np.ndarray | None]:
    words = [sys.executable, __file__, peer, str(folder / "problem.npz"), str(folder / "answer.npz"), str(limit)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=3 * limit + 20, check=False)
    except subprocess.TimeoutExpired:
        return 3 * limit, "stopped", None
    if done.returncode != 0:
        return 0.0, f"failed: {done.stderr.strip()[-160:]}", None
    said = json.loads(done.stdout.splitlines()[-1])
    return said["seconds"], said["status"], np.load(folder / "answer.npz")["x"]


def solve(peer: str, data: dict, limit: float) -> tuple[np.ndarray, str]:
    n, m = len(data["q"]), len(data["b"])
    hessian = sp.csc_matrix((data["pv"], (data["pi"], data["pj"])), shape=(n, n))
    rows = sp.csc_matrix((data["av"], (data["ai"], data["aj"])), shape=(m, n))
    lower, upper, least, most = data["lower"], data["upper"], data["low"], data["high"]
    between = sp.csc_matrix((data["gv"], (data["gi"], data["gj"])), shape=(len(least), n))
    if peer == "clarabel":
        import clarabel

        eye = sp.eye_array(n, format="csr")
        low, high = np.isfinite(lower), np.isfinite(upper)
        under, over = np.isfinite(least), np.isfinite(most)
        limits = between.tocsr()
        whole = sp.vstack([rows, -eye[low], eye[high], -limits[under], limits[over]], format="csc")
        right = np.concatenate([data["b"], -lower[low], upper[high], -least[under], most[over]])
        cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(len(right) - m)]
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.time_limit = False, limit
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
        settings.max_threads = 1
        found = clarabel.DefaultSolver(sp.triu(hessian, format="csc"), data["q"], whole, right, cones, settings).solve()
        return np.array(found.x), str(found.status)
    if peer == "osqp":
        import osqp

        solver = osqp.OSQP()
        whole = sp.vstack([rows, between, sp.eye_array(n)], format="csc")
        solver.setup(
            sp.triu(hessian, format="csc"), data["q"], whole, np.concatenate([data["b"], least, lower]),
            np.concatenate([data["b"], most, upper]), verbose=False, eps_abs=ACCURACY, eps_rel=ACCURACY,
            max_iter=10_000_000, time_limit=limit, polishing=True,
        )  # fmt: skip
        found = solver.solve()
        return np.array(found.x), str(found.info.status)
    import piqp

    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = ACCURACY
    solver.settings.max_iter = 1000
    solver.setup(hessian, data["q"], rows, data["b"], between, least, most, lower, upper)
    status = solver.solve()
    return np.array(solver.result.x), str(status)


def main() -> None:
    peer, file, answer, limit = sys.argv[1:5]
    with np.load(file) as kept:
        data = dict(kept)
    begun = time.monotonic()
    x, status = solve(peer, data, float(limit))
    seconds = time.monotonic() - begun
    np.savez(answer, x=x)
    print(json.dumps({"seconds": seconds, "status": status}))


if __name__ == "__main__":
    main()
