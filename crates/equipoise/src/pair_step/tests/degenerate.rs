//! Zero columns, single coordinates, full bounds, ties, no curvature.

use super::super::scalar::{PairCurvature, Unbounded, single, two_scalars};
use super::super::{DualWorkspace, Rows, free, newton, one_row};
use super::{Case, Hidden, assert_close, bounds, l1};
use crate::separable::{Bounds, Piece};

const FLAT: PairCurvature = PairCurvature { d: [1.0, 1.0], cross: -1.0 };
const ROUND: PairCurvature = PairCurvature { d: [1.0, 1.0], cross: 0.0 };

#[test]
fn a_single_coordinate_on_a_row_stays() {
    for piece in [Piece::FREE, bounds(0.0, 1.0), l1(0.3), bounds(0.25, 0.25)] {
        let case = Case::new(&[&[3.0]], &[0.25], &[7.0], &[2.0], vec![piece]);
        let mut z = [9.0];
        assert!(case.one_row(&case.h, 0.0, &mut z).found);
        assert_close(&z, &[0.25]);
        assert!(case.one_row(&Hidden(case.h.clone()), 0.0, &mut z).found);
        assert_close(&z, &[0.25]);
        assert!(case.newton(&mut [0.0], &mut z).converged);
        assert_close(&z, &[0.25]);
    }
}

#[test]
fn zero_columns_take_their_own_step() {
    let h = vec![bounds(-1.0, 1.0), l1(1.0), bounds(0.0, 0.5)];
    let case = Case::new(&[&[0.0; 3]], &[0.0, 2.0, 0.25], &[4.0, 1.0, 1.0], &[2.0, 1.0, 8.0], h);
    let expected = [-1.0, 0.0, 0.125];
    let mut z = [9.0; 3];
    assert!(case.one_row(&case.h, 5.0, &mut z).found);
    assert_eq!(z, expected);
    assert!(case.one_row(&Hidden(case.h.clone()), 5.0, &mut z).found);
    assert_eq!(z, expected);
    assert!(case.newton(&mut [5.0], &mut z).converged);
    assert_eq!(z, expected);
    free::solve(&case.model(), &case.h, &mut z);
    assert_eq!(z, expected);
}

#[test]
fn everything_at_its_bounds_stays_there() {
    // The gradient pushes each coordinate into its bound, along the row and against it.
    let h = vec![bounds(0.0, 1.0); 4];
    let x = [0.0, 1.0, 0.0, 1.0];
    let case = Case::new(&[&[1.0, 1.0, -1.0, -1.0]], &x, &[5.0, -5.0, 4.0, -3.0], &[1.0; 4], h);
    let mut z = [9.0; 4];
    for guess in [0.0, 100.0, -100.0] {
        assert!(case.one_row(&case.h, guess, &mut z).found);
        assert_eq!(z, x);
        assert!(case.newton(&mut [guess], &mut z).converged);
        assert_eq!(z, x);
    }
}

#[test]
fn equal_corners_and_equal_bounds() {
    let mut h = vec![bounds(0.0, 1.0); 5];
    h[4] = bounds(0.3, 0.3);
    let case =
        Case::new(&[&[1.0; 5]], &[0.5, 0.5, 0.5, 0.5, 0.3], &[3.0, 3.0, -3.0, -3.0, 9.0], &[1.0; 5], h);
    let mut z = [9.0; 5];
    assert!(case.one_row(&case.h, 0.0, &mut z).found);
    assert_eq!(z, [0.0, 0.0, 1.0, 1.0, 0.3]);
    assert!(case.newton(&mut [0.0], &mut z).converged);
    assert_eq!(z, [0.0, 0.0, 1.0, 1.0, 0.3]);
}

#[test]
fn duplicate_and_zero_rows_change_nothing() {
    let (x, g, d) = ([1.0, -1.0, 0.5, 0.25], [2.0, -3.0, 1.0, 1.5], [1.0, 2.0, 2.0, 1.0]);
    let row = [1.0, 2.0, -1.0, 0.5];
    let twice = row.map(|a| -1e5 * a);
    for piece in [Piece::FREE, bounds(-1.0, 1.0), l1(0.5), Piece { l2: 0.5, ..l1(0.5) }] {
        let once = Case::new(&[&row], &x, &g, &d, vec![piece; 4]);
        let more = Case::new(&[&row, &[0.0; 4], &twice, &row], &x, &g, &d, vec![piece; 4]);
        let (mut expected, mut z) = ([0.0; 4], [0.0; 4]);
        once.one_row(&once.h, 0.0, &mut expected);
        let mut lambda = [0.0; 4];
        assert!(more.newton(&mut lambda, &mut z).converged);
        assert_close(&z, &expected);
        assert!(more.stationarity(&z, &lambda) < 1e-13);
    }
}

#[test]
fn several_rows_are_met_with_a_right_hand_side_or_not_at_all() {
    let columns = super::DenseColumns::new(2, &[1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
    let case = Case::new(&[&[0.0; 3]], &[0.0; 3], &[0.0; 3], &[1.0, 2.0, 3.0], vec![Piece::FREE; 3]);
    let h = Bounds::new(0.0, 1.0).expect("bounds are fine");
    for (shift, possible) in [([1.5, 0.75], true), ([2.0, 2.0], true), ([2.5, 0.0], false)] {
        let (mut lambda, mut z) = ([0.0; 2], [0.0; 3]);
        let rows = Rows { columns: &columns, shift: &shift };
        let outcome = newton::solve(
            &case.model(),
            rows,
            &h,
            &mut lambda,
            &mut DualWorkspace::default(),
            &mut z,
            &|| false,
        );
        assert_eq!(outcome.converged, possible, "{outcome:?} {z:?}");
        if possible {
            assert_close(&[z[0] + z[1], z[1] + z[2]], &shift);
        }
    }
}

#[test]
fn two_scalars_with_zero_coefficients() {
    let h = [bounds(-1.0, 0.25), bounds(0.0, 1.0)];
    let step = |a, curvature| two_scalars([0.0, 0.5], [-1.0, 2.0], a, curvature, h);
    assert_eq!(step([0.0, 2.0], ROUND), Ok([0.25, 0.5])); // the second is bound by the row
    assert_eq!(step([2.0, 0.0], ROUND), Ok([0.0, 0.0])); // the first is
    assert_eq!(step([0.0, 0.0], ROUND), Ok([0.25, 0.0]));
    let free = [Piece::FREE; 2];
    let coupled = PairCurvature { d: [1.0, 4.0], cross: 1.0 };
    assert_eq!(two_scalars([0.0, 0.5], [-1.0, 2.0], [0.0, 0.0], coupled, free), Ok([0.5, 0.25]));
    assert_eq!(single(1.0, 3.0, 2.0, l1(1.0)), 0.0);
}

#[test]
fn two_scalars_without_curvature() {
    // H = -1 cancels both diagonal entries along (1, 1), that is, for a = (1, -1).
    let step = |g, h| two_scalars([0.5, 0.5], g, [1.0, -1.0], FLAT, h);
    assert_eq!(step([1.0, 1.0], [bounds(0.0, 1.0), bounds(0.25, 1.0)]), Ok([0.25, 0.25]));
    assert_eq!(step([1.0, 1.0], [bounds(0.0, 1.0), Piece::FREE]), Ok([0.0, 0.0]));
    assert_eq!(step([1.0, 1.0], [Piece::FREE; 2]), Err(Unbounded));
    assert_eq!(step([1.0, -1.0], [Piece::FREE; 2]), Ok([0.5, 0.5]));
    // An l1 penalty stops the fall at its kink, or not when it is too weak.
    assert_eq!(step([1.0, 1.0], [l1(3.0), Piece::FREE]), Ok([0.0, 0.0]));
    assert_eq!(step([1.0, 1.0], [l1(0.5), l1(0.25)]), Err(Unbounded));
    assert_eq!(step([1.0, 1.0], [Piece { l2: 1.0, ..Piece::FREE }, Piece::FREE]), Ok([-2.0, -2.0]));
}

#[test]
fn cross_curvature_counts_along_the_line() {
    // f = 1/2 (x_1 + x_2)^2 and the row x_1 - x_2: the exact step goes to the minimiser.
    let curvature = PairCurvature { d: [1.0, 1.0], cross: 1.0 };
    let z = two_scalars([1.0, 1.0], [2.0, 2.0], [1.0, -1.0], curvature, [Piece::FREE; 2]);
    assert_eq!(z, Ok([0.0, 0.0]));
    let case = Case::new(&[&[1.0, -1.0]], &[1.0, 1.0], &[2.0, 2.0], &[1.0, 1.0], vec![Piece::FREE; 2]);
    let mut workspace = one_row::Workspace::default();
    let z = one_row::two_scalars_by_prox(
        &case.model(),
        [1.0, -1.0],
        1.0,
        &Hidden(case.h.clone()),
        &mut workspace,
    );
    assert_close(&z, &[0.0, 0.0]);
}

#[test]
fn bounds_thinner_than_the_digits_of_the_multiplier() {
    // lambda is near 1e9, where numbers are 1e-7 apart, and the bounds leave room of 1e-12.
    let h = vec![bounds(0.0, 1e-12), bounds(0.0, 1e-12), bounds(0.0, 3e-12)];
    let x = [1e-12, 0.5e-12, 1e-12];
    let case = Case::new(&[&[1.0, 1.0, 1.0]], &x, &[1e9, 1e9 - 1e-6, 1e9], &[1e-3, 2e-3, 1e-3], h);
    let mut z = [9.0; 3];
    let outcome = case.one_row(&case.h, 0.0, &mut z);
    assert!(outcome.found && case.infeasibility(&z, &[0.0]) < 1e-15, "{outcome:?} {z:?}");
    assert!(case.stationarity(&z, &[outcome.multiplier]) < 1e-14);
    let mut lambda = [0.0];
    let outcome = case.newton(&mut lambda, &mut z);
    assert!(case.infeasibility(&z, &[0.0]) < 1e-14, "{outcome:?} {z:?}");
    assert!(case.objective(&z) <= case.objective(&x));
}
