//! The smallest lambda at which every penalised coefficient is 0.
//!
//! ```text
//! lambda_max = min over nu   max_j  |g_j + a_j'nu| / v_j          g: slopes of the fit without penalised columns, a_j = N'C_j
//! ```
//!
//! One free direction: `g_j + a_j nu` in `[-lambda v_j, lambda v_j]` is an interval of nu for each column; they share a
//! point where `max_j low_j(lambda) <= min_j high_j(lambda)`, and the difference is convex and piecewise linear in lambda, so
//! Newton's method from the left ends after a few steps. Several: the violations v at some lambda give a direction that
//! keeps the constraints, along which the objective falls unless `lambda >= sum (lambda v_j + |v_j|)|v_j| / sum v_j |v_j|`; that is
//! the next lambda (Dinkelbach's method).
//!
//! - Given: slopes, factors, columns. Returns: `lambda_max` and nu.
//! - Must not know: data, losses.

use equipoise::matrix::{axpy, dot};

use super::balance::{Resting, least_violation};

/// A penalised column: its slope g, its factor v, its column a.
#[derive(Debug)]
pub(super) struct Pull {
    pub(super) slope: f64,
    pub(super) factor: f64,
    pub(super) along: Vec<f64>,
}

/// `lambda_max` and the nu at which it is reached.
pub(super) fn lambda_max(pulls: &[Pull], directions: usize) -> (f64, Vec<f64>) {
    match directions {
        0 => (alone(pulls), Vec::new()),
        1 => one_direction(pulls),
        _ => several(pulls, directions),
    }
}

fn alone(pulls: &[Pull]) -> f64 {
    pulls.iter().map(|pull| pull.slope.abs() / pull.factor).fold(0.0, f64::max)
}

fn one_direction(pulls: &[Pull]) -> (f64, Vec<f64>) {
    // The columns that nu does not touch.
    let mut lambda = pulls
        .iter()
        .filter(|pull| pull.along[0] == 0.0)
        .map(|pull| pull.slope.abs() / pull.factor)
        .fold(0.0, f64::max);
    let mut nu = 0.0;
    for _ in 0..200 {
        // Ends of the intervals, with their slopes in lambda.
        let (mut low, mut low_slope) = (f64::NEG_INFINITY, 0.0);
        let (mut high, mut high_slope) = (f64::INFINITY, 0.0);
        for Pull { slope, factor, along } in pulls {
            let a = along[0];
            if a == 0.0 {
                continue;
            }
            let (centre, reach) = (-slope / a, factor / a.abs());
            if centre - lambda * reach > low {
                (low, low_slope) = (centre - lambda * reach, reach);
            }
            if centre + lambda * reach < high {
                (high, high_slope) = (centre + lambda * reach, reach);
            }
        }
        if low.is_infinite() {
            break;
        }
        nu = f64::midpoint(low, high);
        let step = (low - high) / (low_slope + high_slope);
        if step <= 1e-15 * lambda {
            break;
        }
        lambda += step;
    }
    (lambda, vec![nu])
}

fn several(pulls: &[Pull], directions: usize) -> (f64, Vec<f64>) {
    let mut lambda = 0.0;
    let mut nu = vec![0.0; directions];
    for _ in 0..500 {
        let resting: Vec<Resting> = pulls
            .iter()
            .map(|pull| Resting { slope: pull.slope, limit: lambda * pull.factor, along: pull.along.clone() })
            .collect();
        nu = least_violation(&resting, directions);
        let (mut top, mut bottom) = (0.0, 0.0);
        let (mut sum, mut size) = (vec![0.0; directions], 0.0);
        for pull in pulls {
            let slope = pull.slope + dot(&pull.along, &nu);
            let beyond = (slope.abs() - lambda * pull.factor).max(0.0);
            top += slope.abs() * beyond;
            bottom += pull.factor * beyond;
            axpy(beyond * slope.signum(), &pull.along, &mut sum);
            size += beyond * dot(&pull.along, &pull.along).sqrt();
        }
        // What does not balance is no direction: rounding is all that is left.
        if dot(&sum, &sum).sqrt() > 1e-6 * size {
            break;
        }
        if bottom <= 0.0 || top <= lambda * bottom * (1.0 + 1e-14) {
            break;
        }
        lambda = top / bottom;
    }
    (lambda, nu)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(pulls: &[Pull], nu: &[f64]) -> f64 {
        pulls.iter().map(|pull| (pull.slope + dot(&pull.along, nu)).abs() / pull.factor).fold(0.0, f64::max)
    }

    #[test]
    fn under_a_sum_it_is_half_the_spread() {
        let of = |slope| Pull { slope, factor: 1.0, along: vec![1.0] };
        let (lambda, nu) = lambda_max(&[of(3.0), of(-2.0), of(0.5), of(1.0)], 1);
        assert!((lambda - 2.5).abs() < 1e-12 && (nu[0] + 0.5).abs() < 1e-12, "{lambda} {nu:?}");
    }

    #[test]
    fn no_other_multiplier_does_better() {
        let mut seed = 7_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
        };
        for directions in 1..4 {
            for round in 0..40 {
                // Every other round each column belongs to one direction alone.
                let along = |j: usize, draw: &mut dyn FnMut() -> f64| -> Vec<f64> {
                    let of = |k: usize, t: f64| {
                        if round % 2 == 0 { t } else { f64::from(u8::from(j % directions == k)) }
                    };
                    (0..directions).map(|k| of(k, draw())).collect()
                };
                let pulls: Vec<Pull> = (0..30)
                    .map(|j| Pull { slope: draw(), factor: 0.5 + draw().abs(), along: along(j, &mut draw) })
                    .collect();
                let (lambda, nu) = lambda_max(&pulls, directions);
                assert!(
                    (largest(&pulls, &nu) / lambda - 1.0).abs() < 1e-6,
                    "{} {lambda}",
                    largest(&pulls, &nu)
                );
                for size in [1e-2, 1e-4] {
                    for _ in 0..200 {
                        let other: Vec<f64> = nu.iter().map(|nu| nu + size * draw()).collect();
                        assert!(largest(&pulls, &other) >= lambda * (1.0 - 1e-9));
                    }
                }
            }
        }
    }
}
