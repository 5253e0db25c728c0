//! Group norms: prox, its derivative, the subdifferential.

use crate::numbers::Numbers;
use equipoise::separable::GroupL2;

const SIZE: usize = 5;

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Random (term, block, v, d), some of them inside the ball that the prox sends to zero.
fn cases() -> Vec<(GroupL2, usize, Vec<f64>, f64)> {
    let mut numbers = Numbers::new(41);
    let mut cases = Vec::new();
    for k in 0..60 {
        let term = GroupL2::new(vec![0.0, 0.75, 2.0]).expect("valid");
        let size = [0.2, 1.0, 5.0][k % 3];
        cases.push((term, k / 3 % 3, numbers.vector(SIZE, size), 1.5 + numbers.next()));
    }
    cases
}

#[test]
fn the_prox_satisfies_its_optimality_condition() {
    for (h, b, v, d) in cases() {
        let (mut z, mut residual) = (vec![f64::NAN; SIZE], vec![f64::NAN; SIZE]);
        h.prox(b, &v, d, &mut z);
        let s: Vec<f64> = v.iter().zip(&z).map(|(v, z)| d * (v - z)).collect();
        h.subdifferential_residual(b, &z, &s, &mut residual);
        assert!(norm(&residual) <= 1e-12, "{residual:?} for {v:?} with {d}");
        assert!((h.value(b, &z) - h.weight(b) * norm(&z)).abs() <= 1e-15);
    }
}

#[test]
fn the_slope_of_the_prox_agrees_with_differences() {
    let mut numbers = Numbers::new(43);
    for (h, b, v, d) in cases() {
        let (direction, step) = (numbers.vector(SIZE, 1.0), 1e-6);
        let prox_at = |t: f64| {
            let moved: Vec<f64> = v.iter().zip(&direction).map(|(v, w)| v + t * w).collect();
            let mut z = vec![f64::NAN; SIZE];
            h.prox(b, &moved, d, &mut z);
            z
        };
        let (above, below) = (prox_at(step), prox_at(-step));
        let (alpha, beta) = h.prox_slope(b, &v, d);
        let along: f64 = v.iter().zip(&direction).map(|(v, w)| v * w).sum();
        for c in 0..SIZE {
            let (found, expected) =
                (alpha * direction[c] + beta * along * v[c], (above[c] - below[c]) / (2.0 * step));
            assert!((found - expected).abs() <= 1e-7, "{found} is not {expected} at {v:?} with {d}");
        }
    }
}

#[test]
fn the_residual_is_the_distance_to_the_subdifferential() {
    let h = GroupL2::new(2.0).expect("valid");
    let mut residual = [0.0; 2];
    h.subdifferential_residual(0, &[0.0, 0.0], &[0.6, 0.8], &mut residual);
    assert_eq!(residual, [0.0, 0.0], "inside the ball");
    h.subdifferential_residual(0, &[0.0, 0.0], &[3.0, 4.0], &mut residual);
    assert!((residual[0] - 1.8).abs() < 1e-15 && (residual[1] - 2.4).abs() < 1e-15, "3 beyond the ball");
    h.subdifferential_residual(0, &[0.0, 5.0], &[1.0, 2.5], &mut residual);
    assert_eq!(residual, [1.0, 0.5], "one point where x is not zero");
}
