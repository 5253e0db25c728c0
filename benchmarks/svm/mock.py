"""Stands in for `equipoise svm train` while trying out the harness: LinearSVC's model, a gap that is made up.

Never a measurement. The bias is penalised a little (a scaled intercept), so the primal is close to the true one.
"""

import argparse
import json
import resource
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs=3)
    for name in ("--cost", "--gap"):
        parser.add_argument(name, type=float, required=True)
    for name in ("--seed", "--threads"):
        parser.add_argument(name, type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--method")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    rows, labels = load_svmlight_file(arguments.words[2])
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    loaded = time.perf_counter()
    model = LinearSVC(
        loss="hinge", C=arguments.cost, tol=max(arguments.gap * 10, 1e-6), max_iter=10_000_000,
        intercept_scaling=3.0, random_state=arguments.seed,
    ).fit(rows, labels)  # fmt: skip
    solved = time.perf_counter()
    weights, bias = model.coef_[0], float(model.intercept_[0])
    hinge = np.maximum(0.0, 1.0 - labels * (rows @ weights + bias)).sum()
    primal = 0.5 * weights @ weights + arguments.cost * hinge
    if arguments.model:
        with open(arguments.model, "w", encoding="utf-8") as file:
            json.dump({"weights": [weights.tolist()], "bias": [bias], "labels": [-1, 1]}, file)
    report = {
        "status": "mock", "primal": primal, "dual": primal * (1 - arguments.gap), "relative_gap": arguments.gap,
        "bias": bias, "seconds_load": loaded - start, "seconds_solve": solved - loaded,
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip
    print(json.dumps(report))


if __name__ == "__main__":
    main()
