//! Literal test vectors, whose optimality conditions hold in exact arithmetic.

use super::super::one_row;
use super::super::scalar::{PairCurvature, two_scalars};
use super::super::smooth_rows::{self, Block, Metric};
use super::factor;
use super::{Case, Hidden, assert_close, bounds, l1};
use crate::separable::Piece;

const ROW: [f64; 4] = [1.0, 2.0, -1.0, 1.0];

fn one_row_case(h: Vec<Piece>) -> Case {
    Case::new(&[&ROW], &[0.5, -0.25, 0.0, 1.0], &[1.0, -2.0, 3.0, -1.0], &[1.0, 2.0, 4.0, 1.0], h)
}

fn check_one_row(h: Vec<Piece>, step: [f64; 4], lambda: f64, objective: f64) {
    let case = one_row_case(h);
    let expected: Vec<f64> = case.x.iter().zip(step).map(|(x, d)| x + d).collect();
    let mut z = [0.0; 4];
    for guess in [0.0, lambda, -10.0, 1e3, f64::NAN] {
        let outcome = case.one_row(&case.h, guess, &mut z);
        assert_close(&z, &expected);
        assert_close(&[outcome.multiplier, case.objective(&z)], &[lambda, objective]);
        assert!(outcome.found);
        let outcome = case.one_row(&Hidden(case.h.clone()), guess, &mut z);
        assert_close(&z, &expected);
        assert_close(&[outcome.multiplier], &[lambda]);
        let mut multiplier = [if guess.is_finite() { guess } else { 0.0 }];
        assert!(case.newton(&mut multiplier, &mut z).converged);
        assert_close(&z, &expected);
        assert_close(&multiplier, &[lambda]);
    }
}

#[test]
fn one_row_free() {
    let step = [-28.0 / 17.0, 6.0 / 17.0, -10.0 / 17.0, 6.0 / 17.0];
    check_one_row(vec![Piece::FREE; 4], step, 11.0 / 17.0, -38.0 / 17.0);
}

#[test]
fn one_row_box() {
    let h = vec![bounds(-1.0, 1.0), bounds(-1.0, 1.0), bounds(-1.0, 0.5), bounds(0.0, 2.0)];
    let step = [-1.5, 4.0 / 13.0, -15.0 / 26.0, 4.0 / 13.0];
    check_one_row(h, step, 9.0 / 13.0, -231.0 / 104.0);
}

#[test]
fn one_row_l1() {
    check_one_row(vec![l1(0.5); 4], [-1.0, 0.25, -0.5, 0.0], 0.5, -15.0 / 16.0);
}

#[test]
fn one_row_elastic_net() {
    let step = [-207.0 / 304.0, 13.0 / 38.0, -65.0 / 152.0, -131.0 / 304.0];
    check_one_row(vec![Piece { l2: 1.0, ..l1(0.5) }; 4], step, 55.0 / 152.0, -609.0 / 1216.0);
}

#[test]
fn one_row_l1_and_box() {
    let ends = [(-1.0, 1.0), (-1.0, 0.125), (-0.25, 0.5), (0.0, 2.0)];
    let h = ends.map(|(lower, upper)| Piece { l1: 0.5, ..bounds(lower, upper) }).to_vec();
    let step = [-15.0 / 16.0, 5.0 / 16.0, -0.25, 1.0 / 16.0];
    check_one_row(h, step, 7.0 / 16.0, -103.0 / 128.0);
}

#[test]
fn two_scalars_free_and_l1() {
    let (x, g, a) = ([0.5, 1.0], [2.0, 1.0], [2.0, -1.0]);
    let curvature = PairCurvature { d: [1.0, 3.0], cross: 0.0 };
    let case = |piece| Case::new(&[&a], &x, &g, &curvature.d, vec![piece; 2]);
    let z = two_scalars(x, g, a, curvature, [Piece::FREE; 2]).expect("curvature is positive");
    assert_close(&z, &[0.5 - 4.0 / 13.0, 1.0 - 8.0 / 13.0]);
    assert_close(&[case(Piece::FREE).objective(&z)], &[-8.0 / 13.0]);
    let z = two_scalars(x, g, a, curvature, [l1(1.5); 2]).expect("curvature is positive");
    assert_eq!(z, [0.0, 0.0]);
    assert_close(&[case(l1(1.5)).objective(&z)], &[-3.0 / 8.0]);
}

const ROWS: [[f64; 6]; 3] =
    [[1.0, 0.0, 2.0, -1.0, 1.0, 0.0], [0.0, 1.0, -1.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0, -1.0, 2.0]];

fn three_rows(piece: Piece) -> Case {
    let rows: Vec<&[f64]> = ROWS.iter().map(|row| &row[..]).collect();
    Case::new(
        &rows,
        &[1.0, -1.0, 0.5, 0.0, 0.25, -0.5],
        &[2.0, -3.0, 1.0, 4.0, -2.0, 1.0],
        &[1.0, 1.0, 2.0, 2.0, 1.0, 4.0],
        vec![piece; 6],
    )
}

fn check_three_rows(piece: Piece, step: [f64; 6], lambda: [f64; 3], objective: f64) {
    let case = three_rows(piece);
    let expected: Vec<f64> = case.x.iter().zip(step).map(|(x, d)| x + d).collect();
    for guess in [[0.0; 3], lambda, [100.0, -50.0, 3.0]] {
        let (mut z, mut multipliers) = ([0.0; 6], guess);
        let outcome = case.newton(&mut multipliers, &mut z);
        assert!(outcome.converged, "{outcome:?}");
        assert_close(&z, &expected);
        assert_close(&multipliers, &lambda);
        assert_close(&[case.objective(&z)], &[objective]);
    }
}

#[test]
fn three_rows_free() {
    let step = [-614.0, 1094.0, -237.0, -654.0, 434.0, -23.0].map(|d| d / 331.0);
    let lambda = [90.0, 37.0, -138.0].map(|l| l / 331.0);
    check_three_rows(Piece::FREE, step, lambda, -4127.0 / 331.0);
    let case = three_rows(Piece::FREE);
    let factor = factor(&case.columns(), &case.d);
    let (mut z, mut multipliers) = ([0.0; 6], [0.0; 3]);
    let (first, second) = z.split_at_mut(2);
    let block = |range: std::ops::Range<usize>| Block {
        columns: &case.a[3 * range.start..3 * range.end],
        x: &case.x[range.clone()],
        gradient: &case.g[range.clone()],
        metric: Metric::Diagonal(&case.d[range]),
    };
    let mut workspace = smooth_rows::Workspace::default();
    smooth_rows::step([block(0..2), block(2..6)], &factor, &mut multipliers, &mut workspace, [first, second]);
    let expected: Vec<f64> = case.x.iter().zip(step).map(|(x, d)| x + d).collect();
    assert_close(&z, &expected);
    assert_close(&multipliers, &lambda);
}

#[test]
fn three_rows_box() {
    let step = [-1.3, 2.0, -0.1, -1.0, 0.5, -0.1];
    check_three_rows(bounds(-1.0, 1.0), step, [0.4, 1.6, -1.1], -49.0 / 5.0);
}

#[test]
fn three_rows_l1() {
    let step = [-73.0 / 61.0, 127.0 / 61.0, -0.5, -79.0 / 61.0, 55.0 / 61.0, 1.0 / 122.0];
    check_three_rows(l1(1.0), step, [9.0, -8.0, 3.0].map(|l| l / 61.0), -815.0 / 122.0);
}

#[test]
fn three_rows_l1_and_box() {
    let step = [-61.0 / 60.0, 11.0 / 6.0, -17.0 / 60.0, -1.0, 7.0 / 12.0, -7.0 / 60.0];
    let piece = Piece { l1: 0.5, ..bounds(-1.0, 1.0) };
    check_three_rows(piece, step, [13.0 / 60.0, 41.0 / 30.0, -0.7], -118.0 / 15.0);
}

#[test]
fn full_step_leaves_the_point_where_pairs_stall() {
    let rows: [&[f64]; 2] = [&[-1.0, -2.0, 1.0, 0.0, 2.0, 2.0], &[-2.0, 1.0, -2.0, -1.0, 0.0, 1.0]];
    let gradient = [1.0, 3.0, 2.0, 0.0, 0.0, 2.0];
    let case = Case::new(&rows, &[0.0; 6], &gradient, &[1.0; 6], vec![l1(2.0); 6]);
    let (mut z, mut lambda) = ([0.0; 6], [0.0; 2]);
    assert!(case.newton(&mut lambda, &mut z).converged);
    assert_close(&z, &[0.0, -0.5, -0.4, 0.0, 0.0, -0.3]);
    assert_close(&lambda, &[0.2, -0.1]);
    assert_eq!([z[0], z[3], z[4]], [0.0; 3]);
}

#[test]
fn a_row_is_met_with_a_right_hand_side() {
    let case = one_row_case(vec![bounds(-1.0, 1.5); 4]);
    let mut z = [0.0; 4];
    let mut workspace = one_row::Workspace::default();
    // a'z lies between -5.5 and 7 (at the bounds), and a'x = 1: the shift between -6.5 and 6.
    for (shift, possible) in [(-6.5, true), (6.0, true), (3.0, true), (-6.501, false), (6.001, false)] {
        let row = one_row::Row { coefficients: &case.a, shift };
        let outcome = one_row::solve(&case.model(), row, &case.h, 0.0, &mut workspace, &mut z);
        assert_eq!(outcome.found, possible, "shift {shift}: {outcome:?}");
        if possible {
            assert!(case.infeasibility(&z, &[shift]) < 1e-15);
            assert!(case.stationarity(&z, &[outcome.multiplier]) < 1e-14, "{shift} {outcome:?} {z:?}");
        }
        let hidden = Hidden(case.h.clone());
        let outcome = one_row::solve(&case.model(), row, &hidden, 0.0, &mut workspace, &mut z);
        assert_eq!(outcome.found, possible, "hidden, shift {shift}: {outcome:?}");
    }
}
