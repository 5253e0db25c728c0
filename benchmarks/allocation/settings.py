"""What is measured: the jobs with their sizes and seeds, the peers with their settings, and the limits.

Sizes, seeds and accuracies were fixed before the first timing; the peers' settings after trial runs of the peers alone.
A ladder goes from loose to tight and is climbed until the accuracy is reached; a peer with several ladders (methods,
formulations, step sizes) climbs each, and the cheapest setting that reached the accuracy is the one timed.
"""

from pathlib import Path

import data
from jobs import ACCURACY, Job, Made, Peer, ladder

# What the accuracy is relative to, in words.
OF = "of the optimum"
# Our own ladder: `--gap`.
OURS = (1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10)

LOOSE = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
EXACT = [[{}]]
SORT = Peer("one sort", "Sort", EXACT, yardstick=True)

# Clarabel along a frontier.
FORMS = (("dual", "faer"), ("factored", "faer"))

ENTROPY = {"seed": 1402, "users": 100_000}
LOGISTIC = {"seed": 1406, "shards": 64, "rows": 100_000, "columns": 100}
FEW_ROWS = {"shards": 8, "rows": 4000, "columns": 10}
# Penalties of ADMM and steps of gradient tracking, as multiples of what theory names (see decentral.py).
PENALTIES = (0.6, 1.0, 0.3, 2.0, 0.1)
STEPS = {
    "ring": (0.1, 0.07, 0.05, 0.2, 0.025), "tree+ring": (1.0, 2.0, 0.5, 4.0, 0.25),
    "clique": (16.0, 8.0, 32.0, 4.0, 2.0),
}  # fmt: skip


def consensus(graph: str) -> Job:
    peers = [
        Peer("decentralised ADMM", "Admm", [[{"rho": share}] for share in PENALTIES]),
        Peer("gradient tracking", "GradientTracking", [[{"step": share}] for share in STEPS[graph]]),
    ]
    if graph != "ring":
        peers.append(Peer("ADMM on a spanning tree", "Admm", [[{"rho": share}] for share in PENALTIES], "tree"))
    return Job(
        f"consensus-{graph}", {**LOGISTIC, "graph": graph}, FEW_ROWS, "consensus", peers, limit=300.0, threads=(1,),
        cost="bytes", takes_threads=False,
        title=f"consensus logistic regression 10^5 x 100, 64 shards, {graph}: bytes to the gap",
    )  # fmt: skip


JOBS = [
    Job("quadratic", {"seed": 1401, "users": 1_000_000}, {"users": 2000}, "quadratic",
        [Peer("numpy Newton", "NewtonQuadratic", [ladder({}, "tol", (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9))]),
         SORT,
         Peer("clarabel", "ClarabelQuadratic", [ladder({"kkt": "qdldl"}, "tol", LOOSE)]),
         Peer("highs", "HighsQuadratic", EXACT)],
        title="allocation, quadratic costs and limits, n = 10^6, one row"),
    Job("entropy-1e5", ENTROPY, {"users": 2000}, "entropy",
        [Peer("clarabel", "ClarabelEntropy", [ladder({"form": form, "kkt": "qdldl"}, "tol", LOOSE)
                                              for form in ("primal", "dual")]),
         Peer("numpy Newton", "NewtonEntropy", [ladder({}, "tol", (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8))])],
        title="allocation, entropy, n = 10^5, five rows"),
    Job("entropy-1e6", {**ENTROPY, "users": 1_000_000}, {"users": 20_000}, "entropy",
        [Peer("numpy Newton", "NewtonEntropy", [ladder({}, "tol", (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8))],
              threads=(1, 2))],
        title="allocation, entropy, n = 10^6, five rows"),
    Job("dispatch", {"seed": 1403, "levels": 10_000}, {"levels": 100}, "dispatch",
        [Peer("clarabel", "ClarabelDispatch", [ladder({"kkt": "qdldl"}, "tol", LOOSE)]),
         Peer("piqp", "PiqpDispatch", [ladder({"form": form}, "eps", LOOSE) for form in ("dense", "sparse")]),
         Peer("daqp", "DaqpDispatch", EXACT)],
        title="dispatch of case300 at 10^4 demands"),
    Job("frontier-prices", {"seed": 1404, "points": 50, "few": 50}, {"points": 10, "few": 10}, "prices",
        [Peer("daqp", "DaqpFrontier", [[{"how": "model"}], [{"how": "solve"}]]),
         Peer("piqp", "PiqpFrontier", [ladder({"form": "gram"}, "eps", LOOSE)])],
        title="portfolio from the price table, 20 assets, frontier of 50"),
    Job("frontier-5000", {"seed": 1405, "assets": 5000, "days": 500, "points": 50, "few": 5},
        {"assets": 200, "days": 60, "points": 10, "few": 3}, "many_assets",
        [Peer("piqp", "PiqpFrontier", [ladder({"form": "dual"}, "eps", (1e-4, 1e-5, 1e-6, 1e-7, 1e-8))],
              threads=(1, 2)),
         Peer("clarabel", "ClarabelFrontier", [ladder({"form": form, "kkt": kkt}, "tol", (1e-7, 1e-8))
                                               for form, kkt in FORMS]),
         Peer("osqp", "OsqpFrontier", [ladder({"form": form}, "eps", (1e-3, 1e-4, 1e-5, 1e-6))
                                       for form in ("factored", "dual")])],
        limit=200.0,
        title="portfolio of 5000 generated assets, 500 days, frontier of 50"),
    *(consensus(graph) for graph in ("ring", "tree+ring", "clique")),
    Job("consensus-optimum", {**LOGISTIC, "graph": "tree+ring"}, FEW_ROWS, "consensus",
        [Peer("scikit-learn", "CentralLogistic",
              [ladder({"solver": solver}, "tol", (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8))
               for solver in ("lbfgs", "newton-cholesky")], threads=(1, 2))],
        limit=300.0, threads=(1,), accuracy=1e-8, takes_threads=False,
        title="the same by one solver that has all the data, and ours on the tree+ring, to 1e-8"),
]  # fmt: skip

MAKERS = {
    "quadratic": data.quadratic, "entropy": data.entropy, "dispatch": data.dispatch, "prices": data.prices,
    "many_assets": data.many_assets, "consensus": data.logistic,
}  # fmt: skip


def made(job: Job, quick: bool, work: Path, judged: bool = False) -> Made:
    """The data of a job, generated or from what an earlier call has left in the work folder."""
    numbers = {**job.data, **(job.quick if quick else {})}
    shared = {key: value for key, value in numbers.items() if key not in ("graph", "points", "few", "levels")}
    stamp = "-".join(f"{key}{value}" for key, value in shared.items())
    one = MAKERS[job.ours](work / f"{job.ours}-{stamp}", numbers)
    if judged and job.ours == "consensus":
        # The bound of the optimum: what decentralised methods send does not make one.
        for problem in one.problems.values():
            problem.judge(problem.optimum)
    return one


__all__ = ["ACCURACY", "JOBS", "OF", "OURS", "made"]
