//! The oracle, the naive evaluation and the written optima agree on every known problem.

use equipoise_testkit::{Instance, infeasibility, known, objective, solve};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[test]
fn oracle_finds_every_known_optimum() {
    for known in known::all() {
        let name = &known.instance.name;
        let oracle = solve(&known.instance).unwrap_or_else(|failure| panic!("{failure}"));
        let error = (oracle.objective - known.objective).abs();
        assert!(error <= 1e-8 * (1.0 + known.objective.abs()), "{name}: off by {error:e}");
        if let (Some(x), true) = (&known.x, known.unique) {
            let distance = x.iter().zip(&oracle.x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(distance <= 1e-4, "{name}: point off by {distance:e}");
        }
    }
}

#[test]
fn written_optima_have_the_written_value() {
    let mut written = 0;
    for known in known::all() {
        let Some(x) = &known.x else { continue };
        written += 1;
        let name = &known.instance.name;
        let error = (objective(&known.instance, x) - known.objective).abs();
        assert!(error <= 1e-13 * (1.0 + known.objective.abs()), "{name}: off by {error:e}");
        assert!(infeasibility(&known.instance, x) <= 1e-15, "{name}: infeasible");
    }
    assert!(written >= 5, "only {written} points are written down");
}

/// `f + h + lambda'(Ax - b)`.
fn lagrangian(instance: &Instance, multipliers: &[f64], x: &[f64]) -> f64 {
    let (matrix, rhs) = instance.coupling.equations(instance.dimension);
    let residuals = matrix.times(x).into_iter().zip(rhs).map(|(product, b)| product - b);
    objective(instance, x) + residuals.zip(multipliers).map(|(r, lambda)| r * lambda).sum::<f64>()
}

/// With the written multipliers no move inside the bounds, feasible or not, lowers the Lagrangian.
#[test]
fn written_multipliers_are_optimal() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut written = 0;
    for known in known::all() {
        let (Some(x), Some(multipliers)) = (&known.x, &known.multipliers) else { continue };
        written += 1;
        for trial in 0..600 {
            let step = [1e-4, 1e-2, 1.0][trial % 3];
            let mut moved = x.clone();
            for (c, value) in moved.iter_mut().enumerate() {
                let (lower, upper) = known.instance.separable.bounds(c);
                *value = (*value + step * (rng.random::<f64>() - 0.5)).clamp(lower, upper);
            }
            let gain = known.objective - lagrangian(&known.instance, multipliers, &moved);
            assert!(gain <= 1e-12, "{}: a move gains {gain:e}", known.instance.name);
        }
    }
    assert!(written >= 5, "only {written} multipliers are written down");
}
