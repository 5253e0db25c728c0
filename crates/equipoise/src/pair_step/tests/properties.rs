//! Random subproblems: descent, rows and bounds kept, optimality, and agreement of the solvers.

use proptest::prelude::*;

use super::super::group::{self, Group, Groups};
use super::super::scalar::{PairCurvature, two_scalars};
use super::super::{DualWorkspace, Rows};
use super::{Case, Hidden, Pieces};
use crate::separable::{GroupL2, Piece, SeparableTerm};

/// A number with a sign and a size between 10^-spread and 10^spread; sometimes 0 or a small integer (for ties).
fn number(spread: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-spread..spread, any::<bool>()).prop_map(|(e, s)| 10.0_f64.powf(e) * if s { 1.0 } else { -1.0 }),
        3 => (-2_i8..=2).prop_map(f64::from),
        1 => Just(0.0),
    ]
}

fn positive(spread: f64) -> impl Strategy<Value = f64> {
    prop_oneof![(-spread..spread).prop_map(|e| 10.0_f64.powf(e)), Just(1.0)]
}

/// A piece, and a value in its domain that is often at an end or at the kink.
fn piece(spread: f64) -> impl Strategy<Value = (Piece, f64)> {
    let (positive, number) = (move || positive(spread), move || number(spread));
    let weights = prop_oneof![
        Just((0.0, 0.0)),
        (positive(), Just(0.0)),
        (positive(), positive()),
        (Just(0.0), positive())
    ];
    let ends = prop_oneof![
        Just((f64::NEG_INFINITY, f64::INFINITY)),
        number().prop_map(|l| (l, f64::INFINITY)),
        number().prop_map(|u| (f64::NEG_INFINITY, u)),
        (number(), positive()).prop_map(|(l, width)| (l, l + width)),
        number().prop_map(|l| (l, l)),
    ];
    (weights, ends, number())
        .prop_map(|((l1, l2), (lower, upper), x)| (Piece { l1, l2, lower, upper }, x.max(lower).min(upper)))
}

fn case(rows: impl Strategy<Value = usize>, most: usize, spread: f64) -> impl Strategy<Value = Case> {
    (rows, 1..=most).prop_flat_map(move |(m, p)| {
        let lists = (
            prop::collection::vec(number(spread), m * p),
            prop::collection::vec(piece(spread), p),
            prop::collection::vec(number(spread), p),
            prop::collection::vec(positive(spread), p),
        );
        lists.prop_map(move |(a, pieces, g, d)| Case {
            rows: m,
            a,
            x: pieces.iter().map(|(_, x)| *x).collect(),
            g,
            d,
            h: Pieces(pieces.iter().map(|(piece, _)| *piece).collect()),
            coordinates: (0..p).collect(),
        })
    })
}

/// One row: every number on its own scale, from 1e-3 to 1e3.
fn one_row(most: usize) -> impl Strategy<Value = Case> {
    case(Just(1), most, 3.0)
}

/// Several rows: numbers from 0.1 to 10, then each row scaled by a factor from 1e-3 to 1e3, and x, g and D by one
/// from 10^-spread to 10^spread.
fn several_rows(
    rows: std::ops::RangeInclusive<usize>,
    most: usize,
    spread: f64,
) -> impl Strategy<Value = Case> {
    let of_values = prop::collection::vec(positive(spread), 3);
    let of_rows = prop::collection::vec(positive(3.0), *rows.end());
    (case(rows, most, 1.0), of_values, of_rows).prop_map(|(mut case, of_values, of_rows)| {
        let (x, g, d) = (of_values[0], of_values[1], of_values[2]);
        let rows = case.rows;
        case.a.iter_mut().enumerate().for_each(|(i, a)| *a *= of_rows[i % rows]);
        case.g.iter_mut().for_each(|value| *value *= g);
        case.d.iter_mut().for_each(|value| *value *= d);
        for (h, value) in case.h.0.iter_mut().zip(&mut case.x) {
            *h = Piece { l1: h.l1 * g, l2: h.l2 * d, lower: h.lower * x, upper: h.upper * x };
            *value = (*value * x).max(h.lower).min(h.upper);
        }
        case
    })
}

/// Rows kept, bounds kept, objective not above that at x.
fn check_feasible_descent(case: &Case, z: &[f64], tolerance: f64) -> Result<(), TestCaseError> {
    let infeasible = case.infeasibility(z, &vec![0.0; case.rows]);
    prop_assert!(infeasible <= tolerance, "rows off by {infeasible:e}: {z:?}");
    for (z, piece) in z.iter().zip(&case.h.0) {
        prop_assert!(*z >= piece.lower && *z <= piece.upper);
    }
    let (before, after) = (case.objective(&case.x), case.objective(z));
    prop_assert!(after <= before + 1e-13 * case.magnitude(z), "{before} -> {after}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_row_is_optimal(case in one_row(12), guess in number(3.0)) {
        let mut z = vec![0.0; case.x.len()];
        let outcome = case.one_row(&case.h, guess, &mut z);
        prop_assert!(outcome.found);
        check_feasible_descent(&case, &z, 1e-15)?;
        let off = case.stationarity(&z, &[outcome.multiplier]);
        prop_assert!(off <= 1e-13, "stationarity {off:e}: {z:?} {outcome:?}");
    }

    #[test]
    fn one_row_needs_no_closed_form(case in one_row(12), guess in number(3.0)) {
        let mut z = vec![0.0; case.x.len()];
        let outcome = case.one_row(&Hidden(case.h.clone()), guess, &mut z);
        prop_assert!(outcome.found);
        check_feasible_descent(&case, &z, 1e-15)?;
        let off = case.stationarity(&z, &[outcome.multiplier]);
        prop_assert!(off <= 1e-13, "stationarity {off:e}: {z:?} {outcome:?}");
    }

    #[test]
    fn newton_is_optimal(case in several_rows(1..=4, 12, 3.0)) {
        let (mut z, mut lambda) = (vec![0.0; case.x.len()], vec![0.0; case.rows]);
        let outcome = case.newton(&mut lambda, &mut z);
        // Where x is optimal already, rounding may hide that the step is none; Newton then says so and stays.
        prop_assert!(outcome.converged || z == case.x, "{outcome:?}");
        check_feasible_descent(&case, &z, 1e-12)?;
        let off = case.stationarity(&z, &lambda);
        prop_assert!(off <= 1e-10, "stationarity {off:e}: {z:?} {outcome:?}");
    }

    #[test]
    fn two_scalars_agree_with_the_general_solvers(case in one_row(2).prop_filter("two", |c| c.x.len() == 2)) {
        let two = |list: &[f64]| [list[0], list[1]];
        let curvature = PairCurvature { d: two(&case.d), cross: 0.0 };
        let z = two_scalars(two(&case.x), two(&case.g), two(&case.a), curvature, [case.h.0[0], case.h.0[1]]);
        let z = z.expect("the metric is positive");
        check_feasible_descent(&case, &z, 1e-15)?;
        let (mut general, mut newton) = ([0.0; 2], [0.0; 2]);
        case.one_row(&case.h, 0.0, &mut general);
        // Coefficients 1e6 apart can leave the dual too few digits; Newton then says so and stays.
        if !case.newton(&mut [0.0], &mut newton).converged {
            prop_assert_eq!(&newton[..], &case.x[..]);
            newton = general;
        }
        for other in [general, newton] {
            let (a, b) = (case.objective(&z), case.objective(&other));
            prop_assert!((a - b).abs() <= 1e-12 * case.magnitude(&z).max(case.magnitude(&other)), "{z:?} {other:?}");
        }
        // The model is strongly convex, so close objectives need not mean close digits; values agree to half of them.
        for k in 0..2 {
            let size = case.burden(&z, k) + case.g[k].abs() / case.d[k] + super::NOTHING;
            prop_assert!((z[k] - general[k]).abs() <= 1e-9 * size, "{z:?} {general:?}");
        }
    }

    #[test]
    fn groups_are_optimal(
        case in several_rows(1..=3, 9, 1.0), weight in positive(1.0), cut in 0_usize..9, ratio in positive(1.0),
    ) {
        let p = case.x.len();
        let cut = cut.min(p);
        let mut case = Case { h: Pieces(vec![Piece::FREE; p]), ..case };
        case.d = (0..p).map(|k| if k < cut { case.d[0] } else { ratio * case.d[0] }).collect();
        // Between too weak and too strong to be seen beside g and D x.
        let typical = case.g.iter().chain(&case.x).fold(0.0_f64, |l, v| l.max(v.abs())).max(case.d[0]);
        let weight = weight * typical;
        let term = GroupL2::new(vec![weight, 2.0 * weight]).expect("weights are fine");
        let list = [Group { block: 0, range: 0..cut }, Group { block: 1, range: cut..p }];
        let (mut z, mut lambda) = (vec![0.0; p], vec![0.0; case.rows]);
        let shift = vec![0.0; case.rows];
        let columns = case.columns();
        let rows = Rows { columns: &columns, shift: &shift };
        let mut workspace = DualWorkspace::default();
        let groups = Groups { term: &term, list: &list };
        let outcome = group::solve(&case.model(), rows, groups, &mut lambda, &mut workspace, &mut z, &|| false);
        prop_assert!(outcome.converged, "{outcome:?}");
        prop_assert!(case.infeasibility(&z, &shift) <= 1e-12);
        let norms = |x: &[f64]| term.value(0, &x[..cut]) + term.value(1, &x[cut..]);
        let size = case.magnitude(&z) + norms(&z) + norms(&case.x);
        prop_assert!(case.objective(&z) + norms(&z) <= norms(&case.x) + 1e-13 * size);
        for group in &list {
            let range = group.range.clone();
            let pull = |k: usize| super::Columns::dot(&columns, k, &lambda);
            let s: Vec<f64> = range.clone().map(|k| -(case.g[k] + pull(k) + case.d[k] * (z[k] - case.x[k]))).collect();
            let mut off = vec![0.0; s.len()];
            term.subdifferential_residual(group.block, &z[range.clone()], &s, &mut off);
            let scale: f64 = range.clone().map(|k| {
                case.g[k].abs() + case.size_of_pull(k, &lambda) + case.d[k] * (z[k].abs() + case.x[k].abs())
            }).sum::<f64>() + term.weight(group.block);
            // Near z = 0 the direction z/||z|| has as many digits fewer as z is smaller than x and g/D.
            let span: f64 = range.clone().map(|k| case.x[k].abs() + case.g[k].abs() / case.d[k]).sum();
            let tiny = z[range.clone()].iter().map(|z| z * z).sum::<f64>().sqrt();
            let lost = if tiny > 0.0 { 1.0 + span / tiny } else { 1.0 };
            prop_assert!(off.iter().all(|r| r.abs() <= (1e-9 * scale).max(1e-13 * lost * scale)), "{off:?} of {scale:e}, {z:?} {outcome:?}");
        }
    }

    #[test]
    fn a_shift_that_is_possible_is_met(case in one_row(8), towards in prop::collection::vec(0.0_f64..1.0, 8)) {
        // The right-hand side of some point in the domain.
        let target: Vec<f64> = case.h.0.iter().zip(&towards).map(|(h, t)| {
            let (lower, upper) = (h.lower.max(-10.0).min(h.upper), h.upper.min(10.0).max(h.lower));
            lower + t * (upper - lower)
        }).collect();
        let shift: f64 = (0..case.x.len()).map(|k| case.a[k] * (target[k].max(case.h.0[k].lower).min(case.h.0[k].upper) - case.x[k])).sum();
        let row = super::super::one_row::Row { coefficients: &case.a, shift };
        let mut z = vec![0.0; case.x.len()];
        let mut workspace = super::super::one_row::Workspace::default();
        let outcome = super::super::one_row::solve(&case.model(), row, &case.h, 0.0, &mut workspace, &mut z);
        prop_assert!(outcome.found && case.infeasibility(&z, &[shift]) <= 1e-14, "{outcome:?} {z:?}");
        prop_assert!(case.stationarity(&z, &[outcome.multiplier]) <= 1e-13);
        prop_assert!((0..z.len()).all(|k| case.h.value(k, z[k]).is_finite()));
    }
}
