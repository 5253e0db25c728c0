"""The same bits as the command line, for one seed; EQUIPOISE_COMMAND names the program."""

import json
import os
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp

import equipoise
from equipoise import _native

COMMAND = os.environ.get("EQUIPOISE_COMMAND")
pytestmark = pytest.mark.skipif(not COMMAND, reason="EQUIPOISE_COMMAND does not name the program")


def command(*words):
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["svc", "svr", "nu-svc", "one-class"])
def test_support_vector_machines(tmp_path, kind):
    rng = np.random.default_rng(0)
    x = sp.random(120, 9, density=0.5, format="csr", random_state=rng)
    y = np.where(x[:, [0]].toarray().ravel() + 0.3 * rng.normal(size=120) > 0.2, 1.0, -1.0)
    lines = [
        " ".join([f"{y[i]:+.0f}", *(f"{j + 1}:{float(x[i, j])!r}" for j in sorted(x[[i]].indices))]) for i in range(x.shape[0])
    ]
    (tmp_path / "d.svm").write_text("\n".join(lines) + "\n")
    command("svm", "train", tmp_path / "d.svm", "--kind", kind, "--gap", "1e-6", "--seed", "7", "--model", tmp_path / "m", "--quiet")
    model = json.loads((tmp_path / "m").read_text())
    found = _native.svm_train(("csr", x.data, x.indices, x.indptr, x.shape), y, kind=kind, gap=1e-6, seed=7)
    assert model["weights"] == found["weights"].tolist() and model["bias"] == found["bias"].tolist()


def test_the_solver(tmp_path):
    rng = np.random.default_rng(1)
    matrix, target = rng.normal(size=(40, 10)), rng.normal(size=40)
    np.save(tmp_path / "m.npy", matrix)
    np.save(tmp_path / "y.npy", target)
    (tmp_path / "p.toml").write_text(
        '[smooth]\nkind = "least-squares"\nmatrix = "m.npy"\ntarget = "y.npy"\n'
        '[separable]\nkind = "box"\nlower = -0.1\nupper = 0.1\n[coupling]\nkind = "sum"\nrhs = 0.25\n'
    )
    for method in ["auto", "pairs"]:
        words = ["--tolerance", "1e-5", "--seed", "3", "--method", method, "--json", "--quiet"]
        said = json.loads(command("solve", tmp_path / "p.toml", *words))
        found = equipoise.solve(
            equipoise.LeastSquares(matrix, target), equipoise.Box(-0.1, 0.1), "sum", 0.25, tol=1e-5, method=method, random_state=3
        )
        assert said["x"] == found.x.tolist() and said["status"] == found.status
        assert said["lower_bound"] == found.certificate["bound"] and said["updates"] == found.updates


def test_the_lasso(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(50, 8))
    y = x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=50)
    names = ",".join(f"v{k}" for k in range(8))
    np.savetxt(tmp_path / "t.csv", np.column_stack([x, y]), fmt="%.17g", delimiter=",", header=names + ",y", comments="")
    said = json.loads(command("lasso", "fit", tmp_path / "t.csv", "--target", "y", "--zero-sum", "--lambda-ratio", "0.1", "--json", "--quiet"))
    found = _native.lasso_fit(x, y, ratio=0.1, constraints=np.ones((1, 8)))
    assert said["objective"] == found["objective"] and said["bound"] == found["bound"]
