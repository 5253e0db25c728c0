//! The factor and the step without h.

use proptest::prelude::*;

use super::super::Columns;
use super::super::smooth_rows::{self, Block, Metric};
use super::{DenseColumns, factor};

/// m x p entries, some rows copies of others, each row with its own scale.
fn matrix() -> impl Strategy<Value = (usize, Vec<f64>)> {
    (1_usize..12, 1_usize..30).prop_flat_map(|(m, p)| {
        let entries = prop::collection::vec(-1.0..1.0, m * p);
        let rows = prop::collection::vec((0..m, -3.0_f64..3.0, prop::bool::weighted(0.2)), m);
        (entries, rows).prop_map(move |(mut a, rows)| {
            for (r, &(source, exponent, copy)) in rows.iter().enumerate() {
                for k in 0..p {
                    let entry = if copy { a[k * m + source] } else { a[k * m + r] };
                    a[k * m + r] = entry * 10.0_f64.powf(exponent);
                }
            }
            (m, a)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn solves_what_is_in_the_range((m, a) in matrix(), y in prop::collection::vec(-1.0..1.0, 12)) {
        let columns = DenseColumns::new(m, &a);
        let p = columns.len();
        let factor = factor(&columns, &vec![1.0; p]);
        prop_assert!(factor.rank() <= m.min(p) && factor.rows() == m);
        // rhs = A w for some w, so there is a solution; then A'y is unique and A A'y = rhs.
        let w: Vec<f64> = (0..p).map(|k| y[k % y.len()]).collect();
        let (mut rhs, mut back) = (vec![0.0; m], vec![0.0; m]);
        (0..p).for_each(|k| columns.add(k, w[k], &mut rhs));
        let mut solution = rhs.clone();
        factor.solve(&mut solution);
        (0..p).for_each(|k| columns.add(k, columns.dot(k, &solution), &mut back));
        for r in 0..m {
            let norm = (0..p).map(|k| a[k * m + r].powi(2)).sum::<f64>().sqrt();
            prop_assert!((back[r] - rhs[r]).abs() <= 1e-7 * norm * (p as f64).sqrt(), "row {r}: {back:?} {rhs:?}");
        }
    }

    #[test]
    fn smooth_step_keeps_the_rows((m, a) in matrix(), seed in prop::collection::vec(-1.0..1.0, 64), pull in -2.0_f64..6.0) {
        let p = a.len() / m;
        let split = p / 3;
        let x: Vec<f64> = (0..p).map(|k| seed[k]).collect();
        let g: Vec<f64> = (0..p).map(|k| seed[63 - k] * 10.0_f64.powf(pull)).collect();
        let metric = [0.5, 3.0];
        let d: Vec<f64> = (0..p).map(|k| metric[usize::from(k >= split)]).collect();
        let factor = factor(&DenseColumns::new(m, &a), &d);
        let (mut z, mut lambda) = (vec![0.0; p], vec![0.0; m]);
        let (first, second) = z.split_at_mut(split);
        let block = |range: std::ops::Range<usize>, metric| Block {
            columns: &a[m * range.start..m * range.end], x: &x[range.clone()], gradient: &g[range], metric,
        };
        let blocks = [block(0..split, Metric::Isotropic(metric[0])), block(split..p, Metric::Diagonal(&d[split..]))];
        let mut workspace = smooth_rows::Workspace::default();
        smooth_rows::step(blocks, &factor, &mut lambda, &mut workspace, [first, second]);
        let largest = z.iter().chain(&x).fold(0.0_f64, |l, v| l.max(v.abs()));
        for r in 0..m {
            let sum: f64 = (0..p).map(|k| a[k * m + r] * (z[k] - x[k])).sum();
            let size: f64 = (0..p).map(|k| a[k * m + r].abs()).sum::<f64>() * largest;
            prop_assert!(sum.abs() <= 1e-9 * size, "row {r}: {sum:e} of {size:e}, rank {}", factor.rank());
        }
    }
}

#[test]
fn dependent_rows_are_dropped_whatever_their_scale() {
    let rows: [&[f64]; 4] = [&[1e-6, 2e-6, 0.0], &[0.0; 3], &[1e6, 2e6, 0.0], &[0.0, 1.0, 1.0]];
    let a: Vec<f64> = (0..3).flat_map(|k| rows.iter().map(move |row| row[k])).collect();
    let factor = factor(&DenseColumns::new(4, &a), &[1.0; 3]);
    assert_eq!(factor.rank(), 2);
}
