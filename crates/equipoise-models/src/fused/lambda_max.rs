//! The smallest lambda at which every penalised difference is 0.
//!
//! Let theta be what the best b with `D b = 0` leaves of y, and `v = X'theta`. Then
//!
//! ```text
//! lambda_max = min { ||z||_inf : D'z = v } = max { v'x / ||D x||_1 : x } .
//! ```
//!
//! On a chain `D'z = v` has one solution, by sums of v taken as often as D takes differences. For other penalties the second form is
//! climbed: `x` is the solution of the same penalty with X = I, y = v at the lambda so far, and the quotient at x is the next lambda
//! (Dinkelbach 1967); it grows and ends at the maximum.
//!
//! In plain arithmetic; mu is not considered. Must not know: paths, files.

use equipoise::{Control, Pass, matrix};

use super::design::Design;
use super::error::Result;
use super::fit::{Signal, differences, fit_from};
use super::jumps::multipliers;
use super::penalty::{Differences, Penalty};
use super::settings::FitSettings;
use super::whole;

/// Quotients, at most.
const MOST_ROUNDS: usize = 40;

/// The smallest lambda that leaves no difference, where one walk over the data finds it: on chains, and on graphs without
/// cycles that are seen as they are or with gaps.
pub fn quick_lambda_max(signal: Signal<'_>, control: &Control) -> Result<Option<f64>> {
    let d = differences(signal, control)?;
    let Some(order) = signal.penalty.chain_order() else {
        // On a graph without cycles there is one z.
        let is_graph = signal.penalty.is_graph();
        return Ok(if is_graph { whole::lambda_max(signal.y, signal.design, &d, control)? } else { None });
    };
    let mut z = pull(signal, &kernel(signal, &d, control)?);
    for _ in 0..order {
        control.check()?;
        z = multipliers(&z);
    }
    Ok(Some(matrix::max_abs(&z)))
}

/// The smallest lambda that leaves no difference, for any penalty.
pub fn lambda_max(signal: Signal<'_>, settings: &FitSettings, control: &Control) -> Result<f64> {
    if let Some(found) = quick_lambda_max(signal, control)? {
        return Ok(found);
    }
    let d = differences(signal, control)?;
    let v = match signal.penalty {
        Penalty::Matrix(_) => unpenalised(signal, settings, control)?,
        _ => pull(signal, &kernel(signal, &d, control)?),
    };
    let quotient = |x: &[f64]| {
        let variation: f64 = d.apply(x).iter().map(|difference| difference.abs()).sum();
        if variation > 0.0 { matrix::dot(&v, x) / variation } else { 0.0 }
    };
    let mut lambda = quotient(&v);
    let plain = Signal { y: &v, design: Design::Identity, penalty: signal.penalty };
    for _ in 0..MOST_ROUNDS {
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Ok(0.0);
        }
        // The last digits do not matter to whoever starts a path here.
        let settings = FitSettings { lambda, sparse: 0.0, method: super::Method::Auto, ..settings.clone() };
        let x = fit_from(plain, &settings, None, control)?.x;
        control.check()?;
        let next = quotient(&x);
        if next <= lambda * (1.0 + 1e-6) {
            break;
        }
        lambda = next;
    }
    Ok(lambda)
}

/// A basis of `{ X b : D b = 0 }`, orthonormal.
fn kernel(signal: Signal<'_>, d: &Differences, control: &Control) -> Pass<Vec<Vec<f64>>> {
    let n = d.columns();
    let candidates: Vec<Vec<f64>> = if let Some(order) = signal.penalty.chain_order() {
        let at = |c: usize| 2.0 * c as f64 / n as f64 - 1.0;
        let power = |last: &Vec<f64>| Some(last.iter().enumerate().map(|(c, last)| last * at(c)).collect());
        std::iter::successors(Some(vec![1.0; n]), power).take(order).collect()
    } else {
        let (number, count) = d.all_components(control)?;
        let mut out = vec![vec![0.0; n]; count];
        number.iter().enumerate().for_each(|(c, k)| out[*k][c] = 1.0);
        out
    };
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for candidate in candidates {
        control.check()?;
        let mut image = signal.design.apply(&candidate, signal.y.len());
        let before = matrix::dot(&image, &image).sqrt();
        take_off(&basis, &mut image);
        let length = matrix::dot(&image, &image).sqrt();
        if length > 1e-12 * before {
            image.iter_mut().for_each(|value| *value /= length);
            basis.push(image);
        }
    }
    Ok(basis)
}

/// Takes off the parts along a basis, twice against rounding.
fn take_off(basis: &[Vec<f64>], v: &mut [f64]) {
    for _ in 0..2 {
        for direction in basis {
            let share = matrix::dot(direction, v);
            matrix::axpy(-share, direction, v);
        }
    }
}

/// `X'theta` of what the kernel leaves of y.
fn pull(signal: Signal<'_>, kernel: &[Vec<f64>]) -> Vec<f64> {
    let mut theta = signal.y.to_vec();
    take_off(kernel, &mut theta);
    signal.design.transposed(&theta)
}

/// The same where the kernel of D is not known: by a fit with so large a lambda that differences are 0.
fn unpenalised(signal: Signal<'_>, settings: &FitSettings, control: &Control) -> Result<Vec<f64>> {
    let d = differences(signal, control)?;
    let pull = signal.design.transposed(signal.y);
    let size = d.apply(&pull).iter().map(|difference| difference.abs()).sum::<f64>().max(1e-300);
    let lambda = 1e4 * matrix::dot(&pull, &pull) / size;
    if !(lambda > 0.0 && lambda.is_finite()) {
        return Ok(pull);
    }
    let settings = FitSettings { lambda, sparse: 0.0, method: super::Method::Auto, ..settings.clone() };
    let x = fit_from(signal, &settings, None, control)?.x;
    let fitted = signal.design.apply(&x, signal.y.len());
    let theta: Vec<f64> = signal.y.iter().zip(&fitted).map(|(y, fitted)| y - fitted).collect();
    Ok(signal.design.transposed(&theta))
}

#[cfg(test)]
mod tests {
    use super::super::penalty::Edge;
    use super::*;

    #[test]
    fn a_walk_finds_it_on_trees_and_not_on_cycles() {
        let star = |weight: f64| (1..4).map(move |to| Edge { from: 0, to, weight }).collect::<Vec<_>>();
        let quick = |penalty: &Penalty| {
            let signal = Signal { y: &[0.0, 1.0, 2.0, 9.0], design: Design::Identity, penalty };
            quick_lambda_max(signal, &Control::unlimited()).expect("it works")
        };
        // The mean is 3: the leaves give 2, 1 and 6.
        assert_eq!(quick(&Penalty::Graph(star(1.0))), Some(6.0));
        assert_eq!(quick(&Penalty::Graph(star(2.0))), Some(3.0));
        assert_eq!(quick(&Penalty::Grid { rows: 4, columns: 1 }), quick(&Penalty::Chain));
        assert_eq!(quick(&Penalty::Grid { rows: 2, columns: 2 }), None);
        let mut cycle = star(1.0);
        cycle.push(Edge { from: 1, to: 2, weight: 1.0 });
        assert_eq!(quick(&Penalty::Graph(cycle)), None);
    }

    fn of(penalty: &Penalty, y: &[f64]) -> f64 {
        let signal = Signal { y, design: Design::Identity, penalty };
        lambda_max(signal, &FitSettings::default(), &Control::unlimited()).expect("it works")
    }

    #[test]
    fn by_hand() {
        // Sums of y less its mean: -1, -1, -2.
        assert!((of(&Penalty::Chain, &[0.0, 1.0, 0.0, 3.0]) - 2.0).abs() < 1e-12);
        // A straight line has no bend.
        assert!(of(&Penalty::Trend1, &[1.0, 3.0, 5.0, 7.0, 9.0]) < 1e-12);
        assert!(of(&Penalty::Trend2, &[1.0, 4.0, 9.0, 16.0, 25.0]) < 1e-10);
        // One pixel of four above the others: 3/4 of it leaves over two edges.
        assert!((of(&Penalty::Grid { rows: 2, columns: 2 }, &[4.0, 0.0, 0.0, 0.0]) - 1.5).abs() < 1e-4);
        // A chain as a graph.
        let edges = (0..3).map(|k| super::super::Edge { from: k, to: k + 1, weight: 1.0 }).collect();
        assert!((of(&Penalty::Graph(edges), &[0.0, 1.0, 0.0, 3.0]) - 2.0).abs() < 1e-12);
    }
}
