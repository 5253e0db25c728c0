"""The compiled part: arrays in, dictionaries out, errors in the library's words."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from equipoise import _native


def csr(matrix, index=np.int32, value=np.float64):
    matrix = sp.csr_matrix(matrix)
    return (
        "csr",
        matrix.data.astype(value),
        matrix.indices.astype(index),
        matrix.indptr.astype(index),
        matrix.shape,
    )


def csc(matrix):
    matrix = sp.csc_matrix(matrix)
    return ("csc", matrix.data, matrix.indices, matrix.indptr, matrix.shape)


@pytest.fixture
def two_classes():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    x = rng.normal(size=(200, 5)) + 0.7 * y[:, None]
    x[np.abs(x) < 0.2] = 0.0
    return x, y


def hinge(x, y, w, b, cost):
    return 0.5 * w @ w + cost * np.maximum(0.0, 1.0 - y * (x @ w + b)).sum()


def test_a_model_is_within_its_gap(two_classes):
    x, y = two_classes
    found = _native.svm_train(x, y, cost=2.0, gap=1e-8)
    w, b = found["weights"][0], found["bias"][0]
    assert found["status"] == "converged" and found["weights"].shape == (1, 5)
    assert found["bound"] <= found["objective"] <= found["bound"] * (1 + 1e-8)
    assert hinge(x, y, w, b, 2.0) == pytest.approx(found["objective"], rel=1e-9)


def test_every_form_of_the_same_numbers_gives_the_same_bits(two_classes):
    x, y = two_classes
    base = _native.svm_train(x, y)["weights"]
    read_only = x.copy()
    read_only.setflags(write=False)
    strided = np.repeat(x, 2, axis=0)[::2]
    backwards = x[::-1].copy()[::-1]
    forms = [np.asfortranarray(x), read_only, strided, backwards, csr(x), csr(x, np.int64), csc(x)]
    for form in forms:
        assert np.array_equal(_native.svm_train(form, y)["weights"], base)
    single = x.astype(np.float32)
    exact = _native.svm_train(single.astype(np.float64), y)["weights"]
    assert np.array_equal(_native.svm_train(single, y)["weights"], exact)
    assert np.array_equal(_native.svm_train(csr(single, np.int64, np.float32), y)["weights"], exact)


def test_decisions_are_products(two_classes):
    x, y = two_classes
    found = _native.svm_train(x, y)
    expected = x @ found["weights"].T + found["bias"]
    for form in [x, csr(x), csc(x), np.asfortranarray(x)]:
        np.testing.assert_allclose(_native.svm_decision(form, found["weights"], found["bias"]), expected)


def test_paths_folds_and_verification(two_classes):
    x, y = two_classes
    points = _native.svm_path(x, y, [0.1, 1.0], gap=1e-6)
    assert [point["cost"] for point in points] == [0.1, 1.0]
    last = points[-1]
    check = _native.svm_verify(x, y, last["weights"], last["bias"], last["labels"], cost=1.0, gap=1e-5)
    assert check["meets"] and check["primal"] == pytest.approx(last["objective"], rel=1e-9)
    found = _native.svm_cv(x, y, [0.1, 1.0], 4, seed=3)
    assert found["scores"].shape == (2, 4) and found["best_cost"] in (0.1, 1.0)
    np.testing.assert_allclose(found["mean"], found["scores"].mean(axis=1))


def test_lasso_and_its_constraints():
    rng = np.random.default_rng(1)
    x, truth = rng.normal(size=(80, 12)), np.zeros(12)
    truth[:4] = [2.0, -2.0, 1.0, -1.0]
    y = x @ truth + 0.1 * rng.normal(size=80)
    found = _native.lasso_fit(x, y, ratio=0.05, constraints=np.ones((1, 12)), gap=1e-9)
    assert found["status"] == "converged" and abs(found["coefficients"].sum()) < 1e-9
    again = _native.lasso_verify(
        x, y, found["coefficients"], found["intercept"], lam=found["lambda"], constraints=np.ones((1, 12))
    )
    assert again["relative_gap"] < 1e-6
    path = _native.lasso_path(csc(x), y, lambdas=(5, 0.1))
    assert len(path["points"]) == 5 and path["points"][0]["lambda"] == pytest.approx(path["lambda_max"])
    cv = _native.lasso_cv(x, y, folds=4, lambdas=(5, 0.1))
    assert cv["one_se"] <= cv["best"] and cv["points"][0]["standard_error"] >= 0


def test_constrained_least_squares_for_one_and_many():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(50, 6))
    y = x @ np.array([[0.5, 0.5, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0]]).T
    one = _native.constrained_fit(x, y[:, 0], lower=0.0, total=1.0)
    np.testing.assert_allclose(one["x"], [0.5, 0.5, 0, 0, 0, 0], atol=1e-6)
    many = _native.constrained_fit(x, y, lower=np.zeros(6), total=1.0)
    assert many["x"].shape == (2, 6) and many["statuses"] == ["converged"] * 2
    equal = _native.constrained_fit(x, y[:, 0], lower=0.0, equations=(np.ones((1, 6)), [1.0]))
    np.testing.assert_allclose(equal["x"], one["x"], atol=1e-5)


def test_fused_signals_find_their_steps():
    y = np.repeat([0.0, 3.0, 1.0], 20) + 0.01 * np.sin(np.arange(60))
    found = _native.fused_fit(y, penalty=("chain",), lam=0.5)
    assert found["segments"] == 3 and found["status"] == "converged"
    edges = np.column_stack([np.arange(59), np.arange(1, 60)])
    graph = _native.fused_fit(y, penalty=("graph", edges, None), lam=0.5)
    np.testing.assert_allclose(graph["x"], found["x"], atol=1e-4)
    difference = sp.diags([-np.ones(59), np.ones(59)], [0, 1], shape=(59, 60))
    general = _native.fused_fit(y, penalty=("matrix", csc(difference)), lam=0.5)
    np.testing.assert_allclose(general["x"], found["x"], atol=1e-4)
    path = _native.fused_path(y, penalty=("chain",), count=4, ratio=0.01)
    assert len(path["points"]) == 4
    assert path["lambda_max"] == pytest.approx(_native.fused_lambda_max(y, penalty=("chain",)))


def test_allocation_has_prices():
    groups = [{"kind": "quadratic", "c2": np.array([0.5, 1.0]), "upper": np.array([10.0, 10.0])}]
    found = _native.allocate(groups, [("demand", "=", 9.0)], sensitivity=True)
    np.testing.assert_allclose(found["x"], [6.0, 3.0], rtol=1e-9)
    assert found["prices"][0] == pytest.approx(6.0)
    many = _native.allocate_many(groups, [("demand", "=", 9.0)], [3.0, 9.0])
    assert [one["prices"][0] for one in many] == pytest.approx([2.0, 6.0])


def test_portfolios_and_frontiers():
    rng = np.random.default_rng(3)
    returns = 0.01 * rng.normal(size=(250, 4)) + np.array([1e-4, 2e-4, 3e-4, 4e-4])
    found = _native.portfolio(returns, names=list("abcd"))
    assert found["weights"].sum() == pytest.approx(1.0) and found["status"] == "converged"
    line = _native.frontier(returns, 5)
    risks = [point["variance"] for point in line["points"]]
    assert len(risks) == 5 and risks == sorted(risks)


LASSO = {"kind": "l1", "weight": 0.5}


def squares(matrix, target):
    return {"kind": "least-squares", "matrix": matrix, "target": target}


def test_solve_takes_the_words_of_a_problem_file(tmp_path):
    rng = np.random.default_rng(4)
    matrix, target = rng.normal(size=(30, 8)), rng.normal(size=30)
    problem = {
        "smooth": squares(matrix, target),
        "separable": LASSO,
        "coupling": {"kind": "sum", "rhs": 0.0},
    }
    found = _native.solve(problem, {"tolerance": 1e-8, "max-epochs": 100000})
    assert found["status"] == "converged" and abs(found["x"].sum()) < 1e-8
    assert found["certificate"]["is_proven"] and found["certificate"]["met"]
    check = _native.verify(problem, found["x"], tolerance=1e-7)
    assert check["met"] and check["objective"] == pytest.approx(found["objective"])
    sparse = {**problem, "smooth": squares(csr(matrix), target)}
    np.testing.assert_allclose(_native.solve(sparse, {"tolerance": 1e-8})["x"], found["x"], atol=1e-4)

    np.save(tmp_path / "m.npy", matrix)
    np.save(tmp_path / "y.npy", target)
    path = tmp_path / "p.toml"
    path.write_text(
        '[smooth]\nkind = "least-squares"\nmatrix = "m.npy"\ntarget = "y.npy"\n'
        '[separable]\nkind = "l1"\nweight = 0.5\n[coupling]\nkind = "sum"\nrhs = 0.0\n'
    )
    from_file = _native.problem_from_toml(path)
    assert from_file["kinds"] == ("least-squares", "l1", "sum")
    again = _native.solve(from_file, {"tolerance": 1e-8, "max_epochs": 100000})
    assert np.array_equal(again["x"], found["x"]), "the same words, the same bits"


def test_terms_may_be_functions():
    rng = np.random.default_rng(5)
    factor, shift = rng.normal(size=(12, 6)), rng.normal(size=6)
    q = factor.T @ factor
    smooth = {
        "kind": "function",
        "dimension": 6,
        "value": lambda x: 0.5 * x @ q @ x + shift @ x,
        "gradient": lambda x: q @ x + shift,
    }
    words = {"kind": "quadratic", "matrix": q, "linear": shift}
    rest = {"separable": {"kind": "non-negative"}, "coupling": {"kind": "sum", "rhs": 1.0}}
    expected = _native.solve({"smooth": words, **rest}, {"tolerance": 1e-10})
    for more in [{}, {"hessian_product": lambda x, v: q @ v}]:
        found = _native.solve({"smooth": {**smooth, **more}, **rest}, {"tolerance": 1e-9})
        assert found["status"] == "converged" and found["gap"] is None
        np.testing.assert_allclose(found["x"], expected["x"], atol=1e-5)
    both = {"kind": "sum", "terms": [smooth, {"kind": "distance", "target": np.zeros(6), "weight": 1.0}]}
    found = _native.solve({"smooth": both, **rest}, {"tolerance": 1e-9})
    words = {"kind": "sum", "terms": [words, both["terms"][1]]}
    np.testing.assert_allclose(found["x"], _native.solve({"smooth": words, **rest}, {"tolerance": 1e-10})["x"], atol=1e-4)


def test_exceptions_of_functions_come_out():
    def broken(_):
        raise ZeroDivisionError("of the user")

    smooth = {"kind": "function", "dimension": 3, "value": lambda x: x @ x, "gradient": broken}
    with pytest.raises(ZeroDivisionError, match="of the user"):
        _native.solve({"smooth": smooth})
    smooth["gradient"] = lambda x: np.zeros(2)
    with pytest.raises(ValueError, match="the gradient has 2 entries; expected 3"):
        _native.solve({"smooth": smooth})


def large():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(4000, 60))
    return x, np.where(x[:, 0] + rng.normal(size=4000) > 0, 1.0, -1.0)


def test_progress_is_told_on_the_callers_thread_and_may_end_the_run():
    x, y = large()
    seen = []

    def watch(report):
        assert threading.current_thread() is threading.main_thread()
        seen.append(report)
        return len(seen) < 3

    found = _native.svm_train(x, y, cost=100.0, gap=1e-12, progress=watch)
    assert found["status"] == "interrupted" and len(seen) >= 3
    assert {"seconds", "objective", "bound", "gap", "updates", "epoch"} <= set(seen[0])

    def broken(_):
        raise KeyError("of the user")

    with pytest.raises(KeyError, match="of the user"):
        _native.svm_train(x, y, progress=broken)


def test_ctrl_c_ends_a_run_at_once():
    x, y = large()
    main = threading.main_thread().ident
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        signal.pthread_kill(main, signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _native.svm_train(x, y, cost=1e4, gap=1e-15, method="pairs")
    timer.join()
    assert sent, "the signal came while the run went on"


def test_the_interpreter_is_free_while_a_run_goes_on():
    x, y = large()
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    _native.svm_train(x, y, cost=1e4, gap=1e-15, method="pairs", time_limit=0.3)
    done.set()
    thread.join()
    assert counted[0] > 20


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, y: _native.svm_train(x, y, cost=-1.0), ValueError, "cost"),
        (lambda x, y: _native.svm_train(x, y, kind="svm"), ValueError, "did you mean"),
        (lambda x, y: _native.svm_train(x, y, kost=1.0), TypeError, "did you mean 'cost'"),
        (lambda x, y: _native.svm_train(x, y, cost="1"), TypeError, "cost"),
        (lambda x, y: _native.svm_train(x, y[:-1]), ValueError, "labels"),
        (lambda x, y: _native.svm_train(x.astype(object), y), ValueError, "dtype object"),
        (lambda x, y: _native.svm_train(x[:, 0], y), ValueError, "two-dimensional"),
        (lambda x, y: _native.svm_train(np.where(x > 2, np.nan, x), y), ValueError, "NaN|finite|nan"),
        (lambda x, y: _native.svm_train(x, y, time_limit=0.0), ValueError, "time_limit"),
        (lambda x, y: _native.solve({"smooth": {"kind": "linea"}}), ValueError, "did you mean `linear`"),
        (lambda x, y: _native.solve({"smooth": {"kind": "linear", "linear": [1.0], "k": 1}}), ValueError, "k"),
        (lambda x, y: _native.problem_from_toml("no/such.toml"), FileNotFoundError, "no/such.toml"),
        (lambda x, y: _native.fused_fit(y, penalty=("ring",), lam=1.0), ValueError, "chain"),
    ],
)
def test_wrong_input_is_refused_in_words(two_classes, call, error, words):
    with pytest.raises(error, match=words):
        call(*two_classes)


@pytest.mark.parametrize(
    "matrix",
    [
        ("csr", np.ones(2), np.array([0, 5], np.int32), np.array([0, 1, 2], np.int32), (2, 2)),
        ("csr", np.ones(2), np.array([0, -1], np.int32), np.array([0, 1, 2], np.int32), (2, 2)),
        ("csc", np.ones(2), np.array([0, 2**40], np.int64), np.array([0, 1, 2], np.int64), (2, 2)),
        ("csr", np.ones(2), np.array([0, 1], np.int32), np.array([0, 2, 1], np.int32), (2, 2)),
        ("csr", np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 3], np.int32), (2, 2)),
        ("csr", np.ones(2), np.array([0, 1], np.int32), np.array([0, 2], np.int32), (2, 2)),
        ("csr", np.ones(2), np.array([1, 0], np.int32), np.array([0, 2, 2], np.int32), (2, 2)),
        ("coo", np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), (2, 2)),
    ],
)
def test_sparse_matrices_that_cannot_be_are_refused(matrix):
    with pytest.raises(ValueError):
        _native.svm_train(matrix, np.array([1.0, -1.0]))


def test_multipliers_are_those_of_the_weights(two_classes):
    x, y = two_classes
    for kind, target in [("svc", y), ("nu-svc", y), ("svr", x[:, 0] - 2 * x[:, 1]), ("one-class", y)]:
        found = _native.svm_train(x, target, kind=kind, nu=0.6, gap=1e-8)
        (beta,) = found["multipliers"]
        np.testing.assert_allclose(x.T @ beta, found["weights"][0], atol=1e-9)


def test_without_an_intercept(two_classes):
    x, y = two_classes
    found = _native.svm_train(x, y, intercept=False, gap=1e-9)
    w = found["weights"][0]
    assert found["bias"][0] == 0.0 and found["status"] == "converged"
    assert hinge(x, y, w, 0.0, 1.0) == pytest.approx(found["objective"], rel=1e-9)
    with_one = _native.svm_train(x, y, gap=1e-9)
    assert with_one["objective"] < found["objective"]


def status(field):
    for line in open("/proc/self/status"):
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    return None


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs Linux to measure memory")
def test_borrowed_rows_take_no_memory_of_their_size():
    rng = np.random.default_rng(7)
    x = sp.random(40000, 400, density=0.25, format="csr", random_state=rng)
    y = np.where(np.arange(40000) % 2 == 0, 1.0, -1.0)
    given = csr(x)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS")
    found = _native.svm_train(given, y, time_limit=0.5)
    _native.svm_decision(given, found["weights"], found["bias"])
    grown = status("VmHWM") - before
    assert grown < 0.5 * (x.data.nbytes + x.indices.nbytes)


def test_progress_of_a_problem_shows_the_iterate():
    rng = np.random.default_rng(8)
    problem = {"smooth": squares(rng.normal(size=(30, 8)), rng.normal(size=30)), "separable": LASSO}
    seen = []
    found = _native.solve(problem, {"tolerance": 1e-9}, progress=seen.append)
    assert seen[0]["x"].shape == (8,) and np.array_equal(seen[-1]["x"], found["x"])
