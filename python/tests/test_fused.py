"""The generalised lasso: against Clarabel, for signals, images, graphs and designs."""

import numpy as np
import pytest
import scipy.sparse as sp

import equipoise as eq


@pytest.fixture
def steps(rng):
    return np.repeat([0.0, 3.0, 1.0], [30, 20, 25]) + 0.3 * rng.normal(size=75)


def clarabel(y, differences, lam, x=None):
    cp = pytest.importorskip("cvxpy")
    b = cp.Variable(differences.shape[1])
    fit = b if x is None else x @ b
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - fit) + lam * cp.norm1(differences @ b))).solve(solver=cp.CLARABEL)
    return b.value


@pytest.mark.parametrize("order", [0, 1, 2])
def test_trends_are_clarabels(steps, order):
    differences = np.diff(np.eye(75), order + 1, axis=0)
    model = eq.TrendFilter(2.0, order=order, tol=1e-10).fit(None, steps)
    np.testing.assert_allclose(model.coef_, clarabel(steps, differences, 2.0), atol=2e-3)
    assert model.gap_ <= 1e-10
    found = 0.5 * np.sum((steps - model.coef_) ** 2) + 2.0 * np.abs(differences @ model.coef_).sum()
    assert model.objective_ == pytest.approx(found, rel=1e-9)
    assert model.certificate_.bound <= found


def test_a_chain_says_where_pieces_begin(steps):
    model = eq.FusedLasso(4.0).fit(None, steps)
    assert model.n_segments_ == len(model.breaks_) + 1 == len(np.unique(model.coef_))
    np.testing.assert_array_equal(model.predict(None), model.coef_)
    np.testing.assert_array_equal(eq.FusedLasso(4.0).denoise(steps), model.coef_)


def test_images(rng):
    image = np.zeros((12, 15))
    image[3:8, 4:10] = 2.0
    image += 0.3 * rng.normal(size=image.shape)
    fit = eq.FusedLasso(0.7, tol=1e-8).denoise(image)
    assert fit.shape == image.shape
    rows = sp.kron(sp.eye(12), np.diff(np.eye(15), axis=0))
    columns = sp.kron(np.diff(np.eye(12), axis=0), sp.eye(15))
    differences = sp.vstack([rows, columns]).tocsr()
    np.testing.assert_allclose(fit.ravel(), clarabel(image.ravel(), differences, 0.7), atol=2e-3)


def test_graphs_by_networkx_by_edges_and_by_matrix(rng):
    networkx = pytest.importorskip("networkx")
    graph = networkx.random_regular_graph(3, 20, seed=1)
    y = rng.normal(size=20)
    of_graph = eq.FusedLasso(0.3, graph=graph, tol=1e-10).denoise(y)
    order = {node: place for place, node in enumerate(graph.nodes)}
    edges = np.array([(order[u], order[v]) for u, v in graph.edges])
    np.testing.assert_allclose(eq.FusedLasso(0.3, graph=edges, tol=1e-10).denoise(y), of_graph, atol=1e-6)
    differences = np.zeros((len(edges), 20))
    differences[np.arange(len(edges)), edges[:, 0]], differences[np.arange(len(edges)), edges[:, 1]] = -1.0, 1.0
    by_matrix = eq.GeneralizedLasso(0.3, D=sp.csr_array(differences), tol=1e-10).denoise(y)
    np.testing.assert_allclose(by_matrix, of_graph, atol=1e-5)
    with pytest.raises(ValueError, match="node 19"):
        eq.FusedLasso(graph=edges).fit(None, y[:10])


def test_a_design_with_an_intercept(rng):
    x = rng.normal(size=(60, 20)) + 1.0
    b = np.repeat([0.0, 2.0, -1.0], [8, 6, 6])
    y = x @ b + 5.0 + 0.1 * rng.normal(size=60)
    model = eq.FusedLasso(1.0, tol=1e-10).fit(x, y)
    centred = x - x.mean(axis=0)
    expected = clarabel(y - y.mean(), np.diff(np.eye(20), axis=0), 1.0, centred)
    np.testing.assert_allclose(model.coef_, expected, atol=2e-3)
    assert model.intercept_ == pytest.approx(5.0, abs=0.5)
    assert model.score(x, y) > 0.99
    with pytest.raises(ValueError, match="fitted with a design"):
        model.predict(None)


def test_paths_choose_by_criteria(steps):
    pytest.importorskip("pandas")
    path = eq.fused_path(steps, lams=30)
    best = path.best("bic")
    assert 3 <= best["segments"] <= 12
    frame = path.to_pandas()
    assert len(frame) == 30
    assert {"bic", "aic", "cp", "lam"} <= set(frame.columns)
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    assert len(path.plot().lines) == 2
    assert len(eq.fused_path(steps, lams=[1.0, 2.0])) == 2


def test_bad_parameters_are_named(steps):
    with pytest.raises(ValueError, match="'order' parameter must be one of 0, 1, 2"):
        eq.TrendFilter(order=3).fit(None, steps)
    with pytest.raises(ValueError, match="lambda"):
        eq.FusedLasso(-1.0).fit(None, steps)
    with pytest.raises(ValueError, match="75 variables"):
        eq.GeneralizedLasso(D=np.eye(3)).fit(None, steps)
    with pytest.raises(ValueError, match="NaN"):
        eq.FusedLasso().fit(None, np.where(steps > 0, steps, np.nan))
