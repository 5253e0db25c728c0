"""Whatever may be handed in: forms that work, and the messages that users of scikit-learn know."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn

import equipoise as eq
from equipoise._data import names_of, seam, weights_of

CLASSIFIER, REGRESSOR = eq.LinearSVC(), eq.SimplexRegressor()


def test_nothing_is_copied_where_the_form_is_there(rng):
    dense = rng.normal(size=(5, 4))
    assert seam(dense) is dense
    sparse = sp.random(30, 20, density=0.2, format="csr", random_state=0)
    form, data, indices, starts, shape = seam(sparse)
    assert form == "csr"
    assert shape == (30, 20)
    assert np.shares_memory(data, sparse.data)
    assert np.shares_memory(indices, sparse.indices)
    assert np.shares_memory(starts, sparse.indptr)


def test_duplicates_are_summed_in_a_copy():
    twice = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    _, data, indices, _, _ = seam(twice)
    assert data.tolist() == [3.0, 3.0]
    assert indices.tolist() == [1, 0]
    assert twice.nnz == 3


def test_read_only_strided_and_reversed_arrays(two_classes):
    x, y = two_classes
    expected = eq.LinearSVC(tol=1e-10).fit(x, y).coef_
    read_only = x.copy()
    read_only.setflags(write=False)
    wide = np.empty((120, 10))
    wide[:, ::2] = x
    backwards = x[::-1].copy()[::-1]
    for form in (read_only, wide[:, ::2], backwards, np.asfortranarray(x)):
        np.testing.assert_allclose(eq.LinearSVC(tol=1e-10).fit(form, y).coef_, expected, atol=1e-6)
    np.testing.assert_allclose(eq.LinearSVC(tol=1e-10).fit(x.astype(np.float32), y).coef_, expected, atol=1e-4)
    np.testing.assert_allclose(eq.LinearSVC(tol=1e-10).fit((x * 1000).round().astype(np.int64), y).coef_ * 1000, expected, rtol=0.2, atol=0.01)


def test_frames_of_pandas_and_polars(two_classes):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    x, y = two_classes
    names = list("abcde")
    expected = eq.LinearSVC().fit(x, y).coef_
    for frame, target in ((pd.DataFrame(x, columns=names), pd.Series(y)), (pl.DataFrame(x, schema=names), pl.Series(y))):
        model = eq.LinearSVC().fit(frame, target)
        np.testing.assert_array_equal(model.coef_, expected)
        # scikit-learn before 1.8 does not read the names of newer polars.
        if isinstance(frame, pd.DataFrame) or sklearn.__version__ >= "1.8":
            assert list(model.feature_names_in_) == names
        assert names_of(frame) == names
        assert model.predict(frame).shape == (120,)
    model = eq.LinearSVC().fit(pd.DataFrame(x, columns=names), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(x, columns=list("edcba")))


@pytest.mark.parametrize("model", [CLASSIFIER, REGRESSOR, eq.ZeroSumLasso(), eq.FusedLasso()], ids=lambda m: type(m).__name__)
def test_bad_input_has_the_messages_of_scikit_learn(model, two_classes):
    x, y = two_classes
    for bad, words in ((np.nan, "Input X contains NaN"), (np.inf, "Input X contains infinity")):
        broken = x.copy()
        broken[3, 2] = bad
        with pytest.raises(ValueError, match=words):
            model.fit(broken, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(x, y[:-1])
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array"):
        model.fit(x[:, 0], y)
    with pytest.raises(ValueError, match="could not convert string to float"):
        model.fit(np.array([["a", "b"]] * 120, dtype=object), y)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.fit(np.empty((0, 5)), np.empty(0))
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        model.fit(np.empty((120, 0)), y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.fit(x + 1j, y)
    fitted = model.fit(x, y)
    with pytest.raises(ValueError, match="X has 4 features, but .* is expecting 5 features"):
        fitted.predict(x[:, :4])


def test_empty_frames():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"0 sample\(s\)|0 feature\(s\)|at least one array"):
        eq.LinearSVC().fit(pd.DataFrame({"a": []}), pd.Series([], dtype=float))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        eq.Allocation().fit(pd.DataFrame({"c2": []}))


def test_frames_of_polars_that_cannot_be():
    pl = pytest.importorskip("polars")
    for model in (eq.LinearSVC(), eq.SimplexRegressor(), eq.ZeroSumLasso()):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            model.fit(pl.DataFrame({"a": [], "b": []}, schema={"a": float, "b": float}), [])
        with pytest.raises(ValueError, match="contains NaN"):
            model.fit(pl.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}), [0, 1])
        with pytest.raises(ValueError, match="could not convert"):
            model.fit(pl.DataFrame({"a": ["u", "v"], "b": ["u", "v"]}), [0, 1])
    with pytest.raises(ValueError, match="Input c2 contains NaN"):
        eq.Allocation().fit(pl.DataFrame({"c2": [1.0, None]}))
    with pytest.raises(TypeError, match="collect it"):
        eq.Allocation().fit(pl.DataFrame({"c2": [1.0, 2.0]}).lazy())


def test_weights(two_classes):
    x, y = two_classes
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        eq.LinearSVC().fit(x, y, sample_weight=-np.ones(120))
    with pytest.raises(ValueError, match="at least one non-zero"):
        eq.LinearSVC().fit(x, y, sample_weight=np.zeros(120))
    with pytest.raises(ValueError, match="1D array"):
        eq.LinearSVC().fit(x, y, sample_weight=np.ones((120, 2)))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        eq.LinearSVC().fit(x, y, sample_weight=np.ones(7))
    with pytest.raises(ValueError, match="greater than one"):
        eq.LinearSVC().fit(x, y, sample_weight=(y == 1).astype(float))
    assert weights_of(2.0, x).tolist() == [2.0] * 120


def test_huge_integers(two_classes):
    x, y = two_classes
    for value in (2**62, -(2**62)):
        big = x.copy()
        big[0, 0] = value
        model = eq.ConstrainedLeastSquares().fit(big, y.astype(float))
        assert np.isfinite(model.coef_).all()
    with pytest.raises((ValueError, OverflowError)):
        eq.LinearSVC(random_state=2**80).fit(x, y)


def broken(part, place, value):
    matrix = sp.csr_matrix(np.arange(1.0, 13.0).reshape(4, 3))
    getattr(matrix, part)[place] = value
    return matrix


@pytest.mark.parametrize("model", [eq.LinearSVC(), eq.ZeroSumLasso(), eq.ZeroSumLogistic()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(("matrix", "words"), [
    (broken("indices", 0, 99), "indices go from 0 to 99, but there are 3 columns"),
    (broken("indices", 5, -1), "indices go from -1 to 2"),
    (broken("indptr", 2, 10**6), "never fall"),
    (broken("indptr", 4, 10**6), "ends at 1000000, but there are 12 indices"),
    (broken("indptr", 0, 1), "begin with 0"),
], ids=["beyond", "below", "falls", "ends", "begins"])
def test_sparse_matrices_whose_parts_do_not_fit_are_refused(model, matrix, words):
    with pytest.raises(ValueError, match=words):
        model.fit(matrix, [0, 1, 0, 1])
    with pytest.raises(ValueError, match=words):
        eq.LeastSquares(matrix, np.zeros(4))
    with pytest.raises(ValueError, match=words):
        type(model)().fit(sp.csr_matrix(np.eye(4, 3) + 0.5), [0, 1, 0, 1]).predict(matrix)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("model", [eq.LinearSVC(), eq.ZeroSumLasso(), eq.ZeroSumLogistic()], ids=lambda m: type(m).__name__)
def test_what_scipy_believes_of_a_matrix_is_not_believed(model, form):
    # SciPy remembers that indices are in order, without duplicates; whoever changes them afterwards is found out.
    y = np.array([0, 1, 0, 1])
    matrix = sp.csr_matrix(np.arange(1.0, 13.0).reshape(4, 3)).asformat(form)
    assert matrix.has_canonical_format
    matrix.indices[1] = matrix.indices[0]
    with pytest.raises(ValueError, match="ascend|strictly increasing"):
        model.fit(matrix, y)
    with pytest.raises(ValueError, match="ascend|strictly increasing"):
        eq.solve(eq.LeastSquares(matrix, y.astype(float)), A="sum", b=1.0)
    # Out of order, and said so: sorted in a copy.
    dense = np.arange(1.0, 13.0).reshape(4, 3)
    ends, turned = np.array([0, 3, 6, 9, 12]), np.tile([2, 0, 1], 4)
    mixed = sp.csr_matrix((dense[:, [2, 0, 1]].ravel(), turned, ends), shape=(4, 3)).asformat(form)
    np.testing.assert_array_equal(model.fit(mixed, y).coef_, model.fit(sp.csr_matrix(dense).asformat(form), y).coef_)


def test_arrays_across_the_grid_of_memory(two_classes):
    x, y = two_classes
    across = np.frombuffer(b"-" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(x.shape)
    assert not across.flags.aligned
    np.testing.assert_array_equal(eq.LinearSVC().fit(across, y).coef_, eq.LinearSVC().fit(x, y).coef_)
    np.testing.assert_array_equal(eq.SimplexRegressor().fit(across, y).coef_, eq.SimplexRegressor().fit(x, y).coef_)
    assert eq.solve(eq.LeastSquares(across, y.astype(float)), A="sum", b=1.0).converged
    assert eq.FusedLasso().fit(across, y).status_ == "converged"
