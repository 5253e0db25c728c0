"""Our command lines, one a job's `ours`, and how an answer is read from the JSON that they print.

`words` gives what follows `equipoise`; `--threads` and `--json` are added by the caller.
"""

import numpy as np
from jobs import Job, Made

# Fields of the report that the record keeps beside the status, where they are there.
TOLD = ("method", "seconds_load", "relative_gap", "messages", "disagreement")
SUBCOMMANDS = {
    "quadratic": "allocate", "entropy": "allocate", "dispatch": "allocate", "prices": "portfolio",
    "many_assets": "portfolio", "consensus": "consensus",
}  # fmt: skip


def words(job: Job, made: Made, allowed: float) -> list[str]:
    problem, folder, numbers = made.problems["main"], made.folder, made.numbers
    gap = ["--gap", repr(allowed)]
    table = ["allocate", str(folder / "table.npy"), "--names", str(folder / "names.txt")]
    match job.ours:
        case "quadratic":
            return [*table, "--demand", repr(float(problem.right[0])), *gap]
        case "entropy":
            total, *moments = problem.right.tolist()
            rows = [word for number, right in enumerate(moments) for word in ("--row", f"m{number + 1}={right!r}")]
            return [*table, "--cost", "entropy", "--demand", repr(total), *rows, *gap]
        case "dispatch":
            levels = f"{numbers['low']!r}:{numbers['high']!r}:{numbers['levels']}"
            return ["allocate", numbers["case"], "--demands", levels, *gap]
        case "prices":
            return ["portfolio", numbers["table"], "--frontier", str(numbers["points"]), *gap]
        case "many_assets":
            return ["portfolio", str(folder / "returns.npy"), "--returns", "--frontier", str(numbers["points"]), *gap]
        case "consensus":
            shards = [str(folder / f"shard-{node:02d}.npy") for node in range(numbers["shards"])]
            return [
                "consensus", "fit", *shards, "--loss", "logistic", "--ridge", repr(problem.ridge), "--graph",
                numbers["graph"], *gap,
            ]  # fmt: skip
    raise ValueError(job.ours)


def answer(job: Job, made: Made, report: dict) -> tuple[np.ndarray, np.ndarray | None]:
    """The answer in the shape that the job's problem judges, and what else it judges by: prices, returns asked for."""
    problem = made.problems["main"]
    match job.ours:
        case "dispatch":
            points = report["points"]
            demands = numbers_of([point["demand"] for point in points])
            if len(demands) != len(problem.demands) or np.abs(demands / problem.demands - 1.0).max() > 1e-9:
                raise ValueError(f"our demands are not the job's: {len(demands)}, {demands[0]!r} to {demands[-1]!r}")
            prices = np.array([point["prices"][0] for point in points], dtype=np.float64)
            return numbers_of([point["x"] for point in points]), prices
        case "prices" | "many_assets":
            points = report["points"]
            if len(points) != len(problem.targets):
                raise ValueError(f"{len(points)} points in place of {len(problem.targets)}")
            # Columns are in the order of the table; the first point, of the least variance, need not name a return.
            names = ("expected_return" if point["target_return"] is None else "target_return" for point in points)
            asked = [point[name] for point, name in zip(points, names, strict=True)]
            # By name, in the order of the table.
            weights = [[point["weights"][name] for name in report["names"]] for point in points]
            return numbers_of(weights), numbers_of(asked)
        case "consensus":
            return numbers_of(report["x"]), None
    return numbers_of(report["x"]), numbers_of(report["prices"])


def numbers_of(values: list) -> np.ndarray:
    found = np.array(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("an answer that is not finite")
    return found


def certified(made: Made, report: dict) -> float:
    """The gap that we claim, over the objective: the worst over the points."""
    points = report.get("points") or [report]
    objective = np.array([point["objective"] for point in points], dtype=np.float64)
    bound = np.array([np.nan if point["bound"] is None else point["bound"] for point in points], dtype=np.float64)
    return float(np.max((objective - bound) / np.abs(objective)))
