"""Stands in for our command while trying out the harness: scikit-learn's and prox_tv's answers. Never a measurement."""

import argparse
import json
import time

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("verb", nargs="?")
    parser.add_argument("data", nargs="?")
    parser.add_argument("--target")
    parser.add_argument("--lambda", dest="weight", type=float)
    parser.add_argument("--points", type=int)
    parser.add_argument("--lambda-ratio", type=float)
    arguments, _ = parser.parse_known_args()
    if arguments.model != "lasso":
        raise SystemExit("the mock has only `lasso`, without constraints")
    from sklearn.linear_model import lasso_path

    matrix, target = np.asfortranarray(np.load(arguments.data)), np.load(arguments.target)
    largest = float(np.abs(matrix.T @ target).max())
    lambdas = np.array([arguments.weight])
    if arguments.points:
        lambdas = largest * arguments.lambda_ratio ** (np.arange(arguments.points) / (arguments.points - 1))
    start = time.perf_counter()
    _, found, _ = lasso_path(matrix, target, alphas=lambdas / len(target), tol=1e-8, precompute=False)
    seconds = time.perf_counter() - start
    points = []
    for weight, row in zip(lambdas, found.T, strict=True):
        objective = 0.5 * float(((target - matrix @ row) ** 2).sum()) + weight * float(np.abs(row).sum())
        coefficients = {str(number + 1): value for number, value in enumerate(row)}
        points.append({"lambda": weight, "objective": objective, "bound": objective, "coefficients": coefficients})
    print(json.dumps({"status": "mock", "seconds_solve": seconds, "seconds_load": 0.0, "points": points}))


if __name__ == "__main__":
    main()
