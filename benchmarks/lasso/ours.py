"""Our command lines, one function a job's `ours`, and how an answer is read from the JSON that they print.

A function gives the words after `equipoise`; `--threads` and `--json` are added by the caller.
"""

import numpy as np
from jobs import Job, Made

# Fields of the report that the record keeps beside the status, where they are there.
TOLD = ("method", "seconds_load", "relative_gap")
SUBCOMMANDS = {
    "lasso_fit": "lasso", "lasso_path": "lasso", "chain": "fused", "grid": "fused", "trend": "fused",
    "stepped": "fused", "simplex": "constrained", "simplex_many": "constrained",
}  # fmt: skip


def words(job: Job, made: Made, allowed: float) -> list[str]:
    """`allowed` is our own `--gap`, which is relative to something else than ||y||^2: hence a ladder of it."""
    problem = made.problems["main"]
    matrix, target = str(made.folder / "X.npy"), str(made.folder / "y.npy")
    gap = ["--gap", repr(allowed)]
    match job.ours:
        case "lasso_fit" | "lasso_path":
            zero_sum = ["--zero-sum"] if problem.zero_sum else []
            which = ["--lambda", repr(float(problem.lambdas[0]))]
            if job.ours == "lasso_path":
                which = ["--points", str(len(problem.lambdas)), "--lambda-ratio", repr(made.numbers["ratio"])]
            verb = job.ours.removeprefix("lasso_")
            return ["lasso", verb, matrix, "--target", target, "--no-intercept", *zero_sum, *which, *gap]
        case "chain":
            return ["fused", "fit", target, "--lambda", repr(problem.weight), *gap]
        case "grid":
            return ["fused", "fit", target, "--grid", "--lambda", repr(problem.weight), *gap]
        case "trend":
            return ["fused", "fit", target, "--trend", "1", "--lambda", repr(problem.weight), *gap]
        case "stepped":
            return ["fused", "fit", target, "--design", matrix, "--lambda", repr(float(problem.weight)), *gap]
        case "simplex" | "simplex_many":
            return ["constrained", "fit", matrix, "--target", target, "--simplex", *gap]
    raise ValueError(job.ours)


def answer(job: Job, made: Made, report: dict) -> tuple[np.ndarray, None]:
    """The answer in the shape that the job's problem judges; it makes the dual point itself."""
    if job.ours.startswith("lasso"):
        points = report.get("points", [report])
        expected = made.problems["main"].lambdas
        found = np.array([point["lambda"] for point in points])
        if len(found) != len(expected) or np.abs(found / expected - 1.0).max() > 1e-9:
            raise ValueError(f"our lambdas are not the job's: {len(found)} of them, {found[0]!r} to {found[-1]!r}")
        columns = made.problems["main"].matrix.shape[1]
        return np.array([dense(point["coefficients"], columns) for point in points]), None
    found = np.array(report["x"], dtype=np.float64)
    # Many right-hand sides: a list of weights for each.
    return (found.T if job.ours == "simplex_many" else found), None


def dense(coefficients: dict, length: int) -> np.ndarray:
    """Columns without a header are named 1, 2, ...; what is not named is zero."""
    vector = np.zeros(length)
    for name, value in coefficients.items():
        vector[int(name) - 1] = value
    return vector


def certified(made: Made, report: dict) -> float:
    """The gap that we claim, over ||y||^2: the worst over the points or the right-hand sides."""
    scale = made.problems["main"].scale
    points = report.get("points", [report])
    objective = np.array([point["objective"] for point in points], dtype=np.float64).ravel()
    bound = np.array([np.nan if point["bound"] is None else point["bound"] for point in points], dtype=np.float64)
    bound = bound.ravel()
    if len(bound) == 1 and len(scale) > 1:
        return float((objective - bound)[0] / scale.sum())
    return float(np.max((objective - bound) / scale))
