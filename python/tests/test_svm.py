"""Support vector machines: optimal, as scikit-learn where it solves the same problem, and what is kept of a fit."""

import json
import os
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from sklearn.svm import OneClassSVM as PeerOneClass

import equipoise as eq


def objective(model, x, y, C, power):
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    margins = np.maximum(1 - sign * (x @ model.coef_[0] + model.intercept_[0]), 0)
    return 0.5 * model.coef_[0] @ model.coef_[0] + C * (margins**power).sum()


@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared_hinge", 2)])
def test_the_objective_is_what_the_weights_have_and_the_bound_is_below(two_classes, loss, power):
    x, y = two_classes
    model = eq.LinearSVC(C=0.7, loss=loss, tol=1e-8).fit(x, y)
    found = objective(model, x, y, 0.7, power)
    assert model.objective_ == pytest.approx(found, rel=1e-12)
    assert model.certificate_.bound <= found * (1 + 1e-12)
    assert model.gap_ <= 1e-8
    assert model.status_ == "converged"
    assert model.n_iter_ >= 1


def test_the_hinge_is_that_of_svc_with_a_linear_kernel(two_classes):
    x, y = two_classes
    ours = eq.LinearSVC(C=1.0, loss="hinge", tol=1e-10).fit(x, y)
    peer = SVC(kernel="linear", C=1.0, tol=1e-8).fit(x, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-3)


def test_multipliers_make_the_weights(two_classes):
    x, y = two_classes
    model = eq.LinearSVC(loss="hinge", tol=1e-10).fit(x, y)
    np.testing.assert_allclose(model.dual_coef_ @ x[model.support_], model.coef_, atol=1e-8)
    assert 0 < len(model.support_) < len(y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_without_a_bias_it_is_scikit_learns(two_classes, loss):
    from sklearn.svm import LinearSVC as Peer

    x, y = two_classes
    ours = eq.LinearSVC(C=0.5, loss=loss, fit_intercept=False, tol=1e-10).fit(x, y)
    peer = Peer(C=0.5, loss=loss, fit_intercept=False, tol=1e-10, max_iter=1_000_000, dual=True).fit(x, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-3)
    assert ours.intercept_ == [0.0]
    assert eq.LinearSVR(fit_intercept=False).fit(x, y).intercept_ == 0.0


def test_several_classes_have_a_function_each():
    x, y = make_classification(n_samples=200, n_classes=4, n_informative=6, random_state=0)
    names = np.array(["north", "east", "south", "west"])[y]
    model = eq.LinearSVC(tol=1e-6).fit(x, names)
    assert model.coef_.shape == (4, 20)
    assert model.decision_function(x).shape == (200, 4)
    assert set(model.predict(x)) <= set(names)
    assert model.score(x, names) > 0.5


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_matrices_give_the_model_of_dense_ones(two_classes, form, value, index):
    x, y = two_classes
    x = np.where(np.abs(x) > 0.7, x, 0.0).astype(value)
    sparse = sp.csr_array(x) if form == "csr" else sp.csc_array(x)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    of_dense = eq.LinearSVC(tol=1e-10).fit(x.astype(np.float64), y)
    of_sparse = eq.LinearSVC(tol=1e-10).fit(sparse, y)
    np.testing.assert_allclose(of_sparse.coef_, of_dense.coef_, atol=1e-4)
    np.testing.assert_allclose(of_sparse.decision_function(sparse), of_dense.decision_function(x), atol=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_numbers_of_32_bits_are_the_numbers_that_they_are(two_classes, form):
    # Where they lie, without a copy, and the same bits as widened by hand.
    x, y = two_classes
    x = x.astype(np.float32)
    for model in (eq.LinearSVC(tol=1e-8), eq.LinearSVC(loss="hinge", tol=1e-8), eq.LinearSVR(tol=1e-8), eq.NuSVC(tol=1e-8), eq.OneClassSVM(tol=1e-8)):
        short = model.fit(form(x), y)
        bits = short.coef_.tolist(), np.asarray(short.intercept_).tolist(), short.objective_, short.certificate_.bound
        wide = model.fit(form(x.astype(np.float64)), y)
        assert bits == (wide.coef_.tolist(), np.asarray(wide.intercept_).tolist(), wide.objective_, wide.certificate_.bound)


def test_class_weights_are_weights_of_samples(two_classes):
    x, y = two_classes
    by_class = eq.LinearSVC(class_weight={1: 5.0}, tol=1e-10).fit(x, y)
    by_sample = eq.LinearSVC(tol=1e-10).fit(x, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-5)
    balanced = eq.LinearSVC(class_weight="balanced", tol=1e-10).fit(x, y)
    plain = eq.LinearSVC(tol=1e-10).fit(x, y)
    np.testing.assert_allclose(balanced.coef_, plain.coef_, atol=1e-5)


def test_regression_is_that_of_svr():
    x, y = make_regression(n_samples=80, n_features=4, noise=5.0, random_state=0)
    ours = eq.LinearSVR(C=0.5, epsilon=1.0, tol=1e-10).fit(x, y)
    peer = SVR(kernel="linear", C=0.5, epsilon=1.0, tol=1e-8).fit(x, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(ours.predict(x), peer.predict(x), atol=1e-2)


def test_one_class_is_that_of_libsvm(rng):
    x = rng.normal(size=(100, 3)) + 3.0
    ours = eq.OneClassSVM(nu=0.3, tol=1e-10).fit(x)
    peer = PeerOneClass(kernel="linear", nu=0.3, tol=1e-9).fit(x)
    scale = np.linalg.norm(peer.coef_)
    np.testing.assert_allclose(ours.coef_ / np.linalg.norm(ours.coef_), peer.coef_ / scale, atol=1e-4)
    assert np.mean(ours.predict(x) == peer.predict(x)) > 0.97
    np.testing.assert_allclose(ours.score_samples(x) - ours.offset_, ours.decision_function(x), atol=1e-12)


def test_nu_svc_keeps_its_promise(two_classes):
    x, y = two_classes
    model = eq.NuSVC(nu=0.7, tol=1e-8).fit(x, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(x)
    assert np.mean(margins < 1 - 1e-4) <= 0.7 + 1e-9


def test_nu_svc_says_when_there_is_no_margin(rng):
    x, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    with pytest.warns(UserWarning, match="overlap.*larger nu"):
        model = eq.NuSVC(nu=0.2).fit(x, y)
    assert not model.coef_.any()
    assert len(np.unique(model.predict(x))) == 1
    with pytest.warns(UserWarning, match="nu=0.9 is as much as these classes allow, or more: 0.198 is used"):
        rare = eq.NuSVC(nu=0.9).fit(x + 5 * (np.arange(100) < 10)[:, np.newaxis], np.arange(100) < 10)
    assert rare.status_ == "converged"
    assert rare.score(x + 5 * (np.arange(100) < 10)[:, np.newaxis], np.arange(100) < 10) > 0.95


def test_cross_validation_chooses_a_cost_and_fits_with_it(two_classes):
    x, y = two_classes
    model = eq.LinearSVCCV(Cs=[1e-4, 1e-2, 1.0], cv=4, tol=1e-8).fit(x, y)
    assert model.scores_.shape == (3, 4)
    assert model.scores_.mean(axis=1).max() == model.scores_[list(model.Cs_).index(model.C_)].mean()
    again = eq.LinearSVC(C=model.C_, tol=1e-8).fit(x, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-4)


def test_a_warm_start_at_the_optimum_costs_little(two_classes):
    x, y = two_classes
    model = eq.LinearSVC(loss="hinge", warm_start=True, tol=1e-6).fit(x, y)
    first = model.coef_.copy()
    model.fit(x, y)
    np.testing.assert_allclose(model.coef_, first, atol=1e-2)
    assert model.status_ == "converged"
    assert model.fit(x, np.arange(len(x)) % 3).coef_.shape == (3, 5)
    assert model.fit(x[:, :2], y).coef_.shape == (1, 2)
    number = eq.LinearSVR(warm_start=True).fit(x, y)
    assert number.fit(x, 2.0 * y).status_ == "converged"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_fit_goes_on_from_its_multipliers(rng, form, intercept):
    x = rng.normal(size=(1500, 20))
    y = np.where(x[:, 0] + rng.normal(size=1500) > 0, "yes", "no")
    model = eq.LinearSVC(C=10.0, loss="hinge", warm_start=True, tol=1e-6, fit_intercept=intercept).fit(form(x), y)
    first = model.n_iter_
    assert model.fit(form(x), y).n_iter_ <= 2 < first
    assert model.status_ == "converged"
    # Other rows of the same number have other multipliers: they are not begun at, and all is well.
    other = form(x[::-1].copy())
    again = eq.LinearSVC(C=10.0, loss="hinge", tol=1e-6, fit_intercept=intercept).fit(other, y[::-1])
    assert model.fit(other, y[::-1]).objective_ == pytest.approx(again.objective_, rel=1e-5)
    assert model.set_params(C=1.0).fit(other, y[::-1]).status_ == "converged"


@pytest.mark.parametrize("nu", [0.3, 0.6])
def test_kinds_with_nu_go_on_from_their_multipliers(rng, nu):
    x = rng.normal(size=(1500, 8)) + 1.0
    y = x[:, 0] + 0.3 * rng.normal(size=1500) > 1.0
    for model, data in ((eq.NuSVC(nu=nu, warm_start=True, tol=1e-6), (x, y)), (eq.OneClassSVM(nu=nu, warm_start=True, tol=1e-6), (x,))):
        first = model.fit(*data).n_iter_
        found = model.objective_
        assert model.fit(*data).n_iter_ <= 2 < first
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(found, rel=1e-5)
        # Another nu, other rows, other columns: begun elsewhere, and where a fit from nothing ends.
        other = [part[::-1].copy() for part in data]
        other[0] = other[0][:, :5]
        for changed in (data, other):
            model.set_params(nu=0.8 * nu).fit(*changed)
            cold = type(model)(nu=0.8 * nu, tol=1e-6).fit(*changed)
            assert model.objective_ == pytest.approx(cold.objective_, rel=1e-5)


def test_weights_of_nu_svc_are_repeated_rows(two_classes):
    x, y = two_classes
    often = 1 + np.arange(len(y)) % 3 * (np.arange(len(y)) % 2)
    by_weight = eq.NuSVC(nu=0.7, tol=1e-12).fit(x, y, sample_weight=often)
    repeated = eq.NuSVC(nu=0.7, tol=1e-12).fit(np.repeat(x, often, axis=0), np.repeat(y, often))
    np.testing.assert_allclose(by_weight.coef_, repeated.coef_, rtol=1e-5)
    np.testing.assert_allclose(by_weight.intercept_, repeated.intercept_, rtol=1e-4, atol=1e-6)
    plain = eq.NuSVC(nu=0.7, tol=1e-12).fit(x, y)
    assert np.abs(plain.coef_ - by_weight.coef_).max() > 1e-3
    # The largest nu is by weight, too.
    rare = np.where(y == 1, 0.1, 1.0)
    with pytest.warns(UserWarning, match="nu=0.9 is as much as these classes allow"):
        model = eq.NuSVC(nu=0.9).fit(x, y, sample_weight=rare)
    assert model.nu_ == pytest.approx(0.99 * 2 * rare[y == 1].sum() / rare.sum())


def test_a_limit_warns_with_gap_and_status(two_classes):
    x, y = two_classes
    with pytest.warns(ConvergenceWarning, match=r"status 'iteration-limit'.*gap is .*tol=1e-14.*max_iter"):
        eq.LinearSVC(C=1e4, max_iter=1, tol=1e-14).fit(x, y)


def test_paths_become_frames_and_plots(two_classes):
    pytest.importorskip("pandas")
    x, y = two_classes
    path = eq.svm_path(x, y, [0.01, 0.1, 1.0], tol=1e-6)
    frame = path.to_pandas()
    assert list(frame["C"]) == [0.01, 0.1, 1.0]
    assert (frame["objective"] >= frame["bound"]).all()
    assert {"x0", "x4", "intercept", "status"} <= set(frame.columns)
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    assert len(path.plot().lines) == 5


def test_bad_parameters_are_named(two_classes):
    x, y = two_classes
    with pytest.raises(ValueError, match=r"'loss' parameter must be one of .*Got 'log'"):
        eq.LinearSVC(loss="log").fit(x, y)
    with pytest.raises(ValueError, match=r"setting cost is -1; allowed: a finite number above 0 \(C of LinearSVC\)"):
        eq.LinearSVC(C=-1.0).fit(x, y)
    for settings, words in (
        ({"tol": 0}, r"\(tol of LinearSVC\)"), ({"max_iter": -1}, r"\(max_iter of LinearSVC\)"), ({"random_state": 2**80}, r"\(random_state of"),
        ({"n_jobs": 10**6}, r"\(n_jobs of"), ({"class_weight": {0: -1.0, 1: 1.0}}, r"\(class_weight of"),
    ):
        with pytest.raises(ValueError, match=words):
            eq.LinearSVC(**settings).fit(x, y)
    for settings, words in (({"C": None}, "C must be a number"), ({"C": "a"}, r"\(C of LinearSVC\)"), ({"fit_intercept": "no"}, r"\(fit_intercept of")):
        with pytest.raises(TypeError, match=words):
            eq.LinearSVC(**settings).fit(x, y)
    with pytest.raises(ValueError, match="nu"):
        eq.OneClassSVM(nu=2.0).fit(x)
    with pytest.raises(ValueError, match="greater than one"):
        eq.LinearSVC().fit(x, np.ones(len(x)))
    with pytest.raises(ValueError, match="Only binary classification"):
        eq.NuSVC().fit(x, np.arange(len(x)) % 3)


@pytest.mark.skipif("EQUIPOISE_COMMAND" not in os.environ, reason="EQUIPOISE_COMMAND does not say where the command is")
def test_one_seed_gives_the_bits_of_the_command(two_classes, tmp_path):
    x, y = two_classes
    lines = [" ".join([f"{2 * label - 1:+d}", *(f"{j + 1}:{value!r}" for j, value in enumerate(row))]) for row, label in zip(x.tolist(), y, strict=True)]
    (tmp_path / "data").write_text("\n".join(lines) + "\n")
    words = ["--cost", "2", "--gap", "1e-7", "--seed", "5", "--loss", "squared-hinge", "--quiet"]
    subprocess.run([os.environ["EQUIPOISE_COMMAND"], "svm", "train", "data", "--model", "model.json", *words], cwd=tmp_path, check=True)
    theirs = json.loads((tmp_path / "model.json").read_text())
    ours = eq.LinearSVC(C=2.0, tol=1e-7, random_state=5).fit(x, y)
    assert ours.coef_[0].tolist() == theirs["weights"][0]
    assert ours.intercept_.tolist() == theirs["bias"]
