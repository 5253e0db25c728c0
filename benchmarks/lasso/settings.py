"""What is measured: the jobs with their data, seeds and lambdas, the peers with their settings, and the limits.

Data, seeds, lambdas and the accuracy were fixed before the first timing; the peers' settings after trial runs of the
peers alone. A ladder goes from loose to tight and is climbed until the accuracy is reached; a peer with several
ladders (methods, formulations) climbs each, and the quickest setting that reached the accuracy is the one timed.
"""

from pathlib import Path

import numpy as np
import problems
from jobs import ACCURACY, Job, Made, Peer, keep, ladder

# What the accuracy is relative to, in words.
OF = "of ||y||^2"
# Our own ladder: `--gap` is relative to the objective.
OURS = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 2e-6, 1e-6, 1e-7)

TIGHT = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
# Dense rows: the supernodal factorisation (faer) is three times as quick as QDLDL; sparse ones: the other way round.
CLARABEL = [ladder({"kkt": "faer"}, "tol", TIGHT)]
OSQP = [ladder({}, "eps", (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8))]
LOOSE = (1e-2, 1e-3, *TIGHT)
CLARABEL_FORMS = [ladder({"form": form, "kkt": "qdldl"}, "tol", LOOSE) for form in ("primal", "dual")]
EXACT = [[{}]]
GAP = (1e-4, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8)


LASSO_PEERS = [
    Peer("celer", "Celer", [ladder({"prune": prune}, "tol", GAP) for prune in (True, False)]),
    Peer("skglm", "Skglm", [ladder({}, "tol", (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7))]),
]
FREE = [Peer(f"{peer.name} (no constraint)", peer.kind, peer.ladders, "free") for peer in LASSO_PEERS]
SKLEARN = Peer("scikit-learn", "SklearnPath", [ladder({}, "tol", (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8))])
CLASSO = Peer("c-lasso", "Classo", EXACT, threads=(1, 2))
CONIC_LASSO = [Peer("clarabel", "ClarabelLasso", CLARABEL), Peer("osqp", "OsqpLasso", OSQP)]

FIFTY = {"seed": 1301, "rows": 500, "columns": 2000, "nonzeros": 50, "noise": 0.5}
FIVE = {"seed": 1302, "rows": 500, "columns": 2000, "nonzeros": 5, "noise": 0.5}
SMALL = {"rows": 100, "columns": 300}
AT_ONE = {"ratio": 0.1, "count": 1}
PATH = {"ratio": 0.05, "count": 100}

JOBS = [
    Job("zero-sum-50", {**FIFTY, **AT_ONE}, {**SMALL, "nonzeros": 10}, "lasso_fit", [CLASSO, *CONIC_LASSO, *FREE],
        title="zero-sum lasso 500 x 2000, 50 true non-zeros, lambda = 0.1 lambda_max"),
    Job("zero-sum-5", {**FIVE, **AT_ONE}, SMALL, "lasso_fit", [CLASSO],
        title="the same with 5 true non-zeros"),
    Job("zero-sum-50-path", {**FIFTY, **PATH}, {**SMALL, "nonzeros": 10}, "lasso_path", [CLASSO, *CONIC_LASSO],
        title="zero-sum lasso 500 x 2000, 50 true non-zeros, 100 lambdas to 0.05 lambda_max"),
    Job("zero-sum-5-path", {**FIVE, **PATH}, SMALL, "lasso_path", [CLASSO],
        title="the same path with 5 true non-zeros"),
    Job("zero-sum-big-path", {**FIFTY, "seed": 1303, "rows": 5000, "columns": 20000, **PATH},
        {"rows": 200, "columns": 800, "nonzeros": 10}, "lasso_path", [CLASSO], limit=300.0,
        title="zero-sum lasso 5000 x 20000, 50 true non-zeros, 100 lambdas to 0.05 lambda_max"),
    Job("lasso-path",
        {"seed": 1304, "rows": 2000, "columns": 20000, "nonzeros": 100, "noise": 0.5, "ratio": 0.1, "count": 100},
        {**SMALL, "nonzeros": 10}, "lasso_path", [*LASSO_PEERS, SKLEARN],
        title="plain lasso 2000 x 20000, 100 true non-zeros, 100 lambdas to 0.1 lambda_max"),
    Job("chain", {"seed": 1305, "length": 1_000_000, "segments": 1000, "noise": 1.0, "weight": 30.0},
        {"length": 20_000, "segments": 20}, "chain",
        [Peer("prox_tv", "ProxTv", [[{"method": method}] for method in (
            "hybridtautstring", "classictautstring", "linearizedtautstring", "condattautstring", "condat", "dp",
            "kolmogorov")])],
        title="fused chain, n = 10^6, X = I, lambda = 30"),
    Job("chain-1e5", {"seed": 1306, "length": 100_000, "segments": 100, "noise": 1.0, "weight": 30.0},
        {"length": 2000, "segments": 5}, "chain",
        [Peer("clarabel", "ClarabelDenoise", CLARABEL_FORMS)],
        title="fused chain, n = 10^5, X = I, lambda = 30"),
    Job("grid", {"seed": 1307, "side": 512, "shapes": 40, "noise": 0.1, "weight": 0.1},
        {"side": 64, "shapes": 10}, "grid",
        [Peer("clarabel", "ClarabelDenoise", [ladder({"form": "dual", "kkt": "faer"}, "tol", (1e-4, 1e-5, 1e-6))]),
         Peer("prox_tv", "ProxTvGrid", [ladder({"method": method}, "iterations", iterations) for method, iterations in (
             ("dr", (25, 35, 50, 70, 100, 200, 400, 1000)), ("pd", (25, 50, 100, 200, 400, 1000)),
             ("yang", (25, 50, 100, 200, 400, 1000)), ("condat", (100, 200, 400, 1000, 3000)),
             ("chambolle-pock", (100, 200, 400, 1000, 3000)), ("kolmogorov", (10, 15, 20, 25, 35, 50, 100, 200, 400)))],
              threads=(1, 2))], limit=200.0,
        title="grid 512 x 512, X = I, lambda = 0.1"),
    Job("trend", {"seed": 1308, "length": 100_000, "pieces": 100, "noise": 1.0, "weight": 1000.0},
        {"length": 2000, "pieces": 5}, "trend",
        [Peer("clarabel", "ClarabelDenoise", CLARABEL_FORMS)],
        title="trend filtering of order 1, n = 10^5, lambda = 1000"),
    Job("stepped", {"seed": 1309, "rows": 1000, "columns": 5000, "segments": 20, "noise": 1.0, "ratio": 0.1},
        {"rows": 100, "columns": 300, "segments": 5}, "stepped",
        [Peer("celer by cumsum", "CelerSteps", [ladder({"prune": prune}, "tol", GAP) for prune in (True, False)]),
         Peer("clarabel", "ClarabelSteps", [ladder({"form": "steps", "kkt": "faer"}, "tol", TIGHT)]),
         Peer("osqp", "OsqpSteps", [ladder({"form": "steps"}, "eps", (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7))])],
        limit=150.0,
        title="generalised lasso, X 1000 x 5000, chain D, lambda = 0.1 lambda_max"),
    Job("simplex", {"seed": 1310, "rows": 10_000, "columns": 1000, "parts": 20, "noise": 0.1, "count": 1},
        {"rows": 500, "columns": 50, "parts": 5}, "simplex",
        [Peer("piqp", "PiqpSimplex", [ladder({}, "eps", (1e-3, *TIGHT))], threads=(1, 2)),
         Peer("clarabel", "ClarabelSimplex", CLARABEL, threads=(1, 2)),
         Peer("osqp", "OsqpSimplex", OSQP, threads=(1, 2)),
         Peer("daqp", "DaqpSimplex", EXACT, threads=(1, 2))],
        title="simplex regression 10000 x 1000"),
    Job("simplex-many", {"seed": 1311, "rows": 200, "columns": 50, "parts": 5, "noise": 0.05, "count": 1000},
        {"count": 50}, "simplex_many",
        [Peer("daqp", "DaqpSimplex", [[{"how": "model"}], [{"how": "solve"}]]),
         Peer("quadprog", "QuadprogSimplex", EXACT),
         Peer("piqp", "PiqpSimplex", [ladder({}, "eps", (1e-3, *TIGHT))])],
        title="1000 right-hand sides of 200 x 50 on the simplex"),
]  # fmt: skip


def see_dual(made: Made) -> None:
    """The bound of a grid, from a dual point that is searched once and kept beside the data."""
    problem = made.problems["main"]
    name = f"dual-{problem.weight!r}"
    file = made.folder / f"{name}.npy"
    if not file.exists():
        keep(made.folder, **{name: problem.search(0.02 * ACCURACY, 5000)})
    flow = np.load(file)
    problem.judge(problem.target - problem.adjoint(flow), flow)


def made(job: Job, quick: bool, work: Path, judged: bool = False) -> Made:
    """Generates the data of a job, or reads what an earlier call has left in the work folder."""
    numbers = {**job.data, **(job.quick if quick else {})}
    stamp = "-".join(f"{key}{value}" for key, value in numbers.items() if key not in ("ratio", "count", "weight"))
    folder = work / f"{'simplex' if 'simplex' in job.name else job.ours.split('_')[0]}-{stamp}"
    if job.ours.startswith("simplex"):
        folder = work / f"simplex-{stamp}-{numbers['count']}"
    if not (folder / "y.npy").exists():
        generate(job, numbers, folder)
    target = np.load(folder / "y.npy")
    matrix = np.load(folder / "X.npy") if (folder / "X.npy").exists() else None
    one = Made(folder, numbers)
    if job.ours.startswith("lasso"):
        for name, zero_sum in (("main", "zero-sum" in job.name), ("free", False)):
            largest = problems.lambda_max(matrix, target, zero_sum)
            count, ratio = numbers["count"], numbers["ratio"]
            lambdas = np.array([ratio * largest]) if count == 1 else problems.geometric(largest, ratio, count)
            one.problems[name] = problems.Lasso(matrix, target, lambdas, zero_sum)
    elif job.ours == "stepped":
        weight = numbers["ratio"] * problems.stepped_lambda_max(matrix, target)
        one.problems["main"] = problems.Stepped(matrix, target, weight)
    elif job.ours.startswith("simplex"):
        one.problems["main"] = problems.Simplex(matrix, target)
    else:
        one.problems["main"] = problems.Denoise(target, numbers["weight"], job.ours)
        if job.ours == "grid" and judged:
            see_dual(one)
    return one


def generate(job: Job, given: dict, folder: Path) -> None:
    pick = {name: value for name, value in given.items() if name not in ("ratio", "weight")}
    if job.ours.startswith("lasso"):
        pick.pop("count")
        matrix, target = problems.planted(**pick, zero_sum="zero-sum" in job.name)
        keep(folder, X=matrix, y=target)
    elif job.ours == "stepped":
        matrix, target = problems.stepped_regression(**pick)
        keep(folder, X=matrix, y=target)
    elif job.ours.startswith("simplex"):
        matrix, target = problems.mixtures(**pick)
        keep(folder, X=matrix, y=target[:, 0] if target.shape[1] == 1 else target)
    else:
        maker = {"chain": problems.chain_signal, "grid": problems.image, "trend": problems.bent_signal}[job.ours]
        keep(folder, y=maker(**pick))
