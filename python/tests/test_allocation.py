"""Allocation with prices: closed forms, tables with names, rows, MATPOWER cases."""

import numpy as np
import pytest

import equipoise as eq


def test_quadratic_costs_share_by_their_bend():
    model = eq.Allocation(7.0, tol=1e-10).fit(np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    np.testing.assert_allclose(model.allocation_, [4.0, 2.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(model.prices_, [8.0])
    assert model.objective_ == pytest.approx(16 + 8 + 4)
    assert model.certificate_.bound <= model.objective_


def test_a_table_with_names_and_a_second_row():
    pd = pytest.importorskip("pandas")
    fields = pd.DataFrame({"weight": [3.0, 2.0, 1.0], "offset": 1.0, "water": [1.0, 2.0, 1.0], "upper": [40.0, 40.0, 40.0]})
    model = eq.Allocation(60.0, cost="log", rows={"water": ("<=", 70.0)}, sensitivity=True).fit(fields)
    assert model.rows_ == ["demand", "water"]
    assert model.allocation_.sum() == pytest.approx(60.0)
    assert model.allocation_ @ fields["water"] <= 70.0 + 1e-6
    assert model.prices_.shape == (2,)
    with pytest.raises(ValueError, match="reads column 'water'"):
        eq.Allocation(60.0, cost="log").fit(fields)
    dropped = eq.Allocation(60.0, cost="log", drop=["water"]).fit(fields)
    assert dropped.rows_ == ["demand"]


def test_polars_and_kinds_by_user():
    pl = pytest.importorskip("polars")
    plants = pl.DataFrame({
        "name": ["a", "b", "c"], "cost": ["quadratic", "linear", "piecewise"], "c2": [0.1, 0.0, 0.0], "c1": [1.0, 5.0, 0.0],
        "points": [None, None, "0:0 10:20 20:80"], "upper": [100.0, 100.0, 20.0],
    })
    model = eq.Allocation(40.0, tol=1e-9).fit(plants)
    # The line costs 5 a unit: the first goes to 20, the third to its knee.
    np.testing.assert_allclose(model.allocation_, [20.0, 10.0, 10.0], atol=1e-6)
    np.testing.assert_allclose(model.prices_, [5.0], atol=1e-9)


def test_wrong_tables_say_what_is_wrong():
    with pytest.raises(ValueError, match="missing|reach"):
        eq.Allocation(100.0, upper=1.0).fit([[1.0], [1.0]])
    with pytest.raises(ValueError, match="Negative values"):
        eq.Allocation().fit([[-1.0], [1.0]])
    with pytest.raises(ValueError, match="unknown cost 'cubic'"):
        eq.Allocation(cost="cubic").fit([[1.0]])
    with pytest.raises(ValueError, match="need a column 'exponent'"):
        eq.Allocation(cost="power", columns=["weight"]).fit([[1.0]])
    with pytest.raises(ValueError, match="sense"):
        eq.Allocation(rows={"c1": ("<", 1.0)}).fit([[1.0, 1.0]])


def test_a_matpower_case(tmp_path):
    case = tmp_path / "case.m"
    case.write_text("""function mpc = case
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
 1 3 100 0 0 0 1 1 0 230 1 1.1 0.9;
 2 1  50 0 0 0 1 1 0 230 1 1.1 0.9;
];
mpc.gen = [
 1 0 0 50 -50 1 100 1 100 0;
 2 0 0 50 -50 1 100 1 100 0;
];
mpc.branch = [
 1 2 0.01 0.1 0 250 250 250 0 0 1 -360 360;
];
mpc.gencost = [
 2 0 0 3 0.1 10 0;
 2 0 0 3 0.2 10 0;
];
""")
    model = eq.dispatch(case)
    np.testing.assert_allclose(model.allocation_, [100.0, 50.0], atol=1e-6)
    np.testing.assert_allclose(model.prices_, [30.0], atol=1e-6)
    assert model.names_ == ["gen 1", "gen 2"]
    assert eq.dispatch(case, 90.0).allocation_.sum() == pytest.approx(90.0)


def test_many_users(rng):
    bend = rng.uniform(0.1, 2.0, size=200_000)
    model = eq.Allocation(1e5).fit(bend[:, np.newaxis])
    np.testing.assert_allclose(model.allocation_, 1e5 / (bend * np.sum(1 / bend)), rtol=1e-6)
    assert model.gap_ <= 1e-6
