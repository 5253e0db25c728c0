//! `f(x) + h(x)` and the violation of the constraints, term by term as the definitions read.
//!
//! Given an [`Instance`] and a point. Written for clarity, not speed: this is what every other
//! number is compared with. It must not know any solver.

use crate::instance::{Dense, Instance, Loss, Separable, Smooth};

/// `f(x) + h(x)`, without the indicator of bounds and equations: see [`infeasibility`] for those.
pub fn objective(instance: &Instance, x: &[f64]) -> f64 {
    assert_eq!(x.len(), instance.dimension, "vector length");
    smooth(&instance.smooth, x) + separable(instance, x)
}

/// The largest violation at x: `max |A x - b|`, and how far any coordinate lies outside its bounds.
pub fn infeasibility(instance: &Instance, x: &[f64]) -> f64 {
    assert_eq!(x.len(), instance.dimension, "vector length");
    let (matrix, rhs) = instance.coupling.equations(instance.dimension);
    let equations = matrix.times(x).into_iter().zip(&rhs).map(|(product, b)| (product - b).abs());
    let bounds = x.iter().enumerate().map(|(c, value)| {
        let (lower, upper) = instance.separable.bounds(c);
        (lower - value).max(value - upper).max(0.0)
    });
    equations.chain(bounds).fold(0.0, f64::max)
}

fn smooth(term: &Smooth, x: &[f64]) -> f64 {
    match term {
        Smooth::Quadratic { q, c } => 0.5 * dot(&q.times(x), x) + dot(c, x),
        Smooth::Factor { m, c } => 0.5 * m.times(x).iter().map(|r| r * r).sum::<f64>() + dot(c, x),
        Smooth::Loss { loss, m, y, weights } => losses(*loss, m, y, weights.as_deref(), x),
        Smooth::Distance { target, weights } => {
            (0..x.len()).map(|c| weights[c] * (x[c] - target[c]).powi(2)).sum()
        }
        Smooth::Linear { c } => dot(c, x),
        Smooth::Sum(terms) => terms.iter().map(|term| smooth(term, x)).sum(),
    }
}

fn separable(instance: &Instance, x: &[f64]) -> f64 {
    if let Separable::GroupL2 { weights } = &instance.separable {
        let boundaries = instance.blocks.boundaries(instance.dimension).expect("groups need explicit blocks");
        let norms = boundaries.windows(2).map(|block| norm(&x[block[0]..block[1]]));
        return norms.zip(weights).map(|(norm, weight)| weight * norm).sum();
    }
    let h = &instance.separable;
    let slope = |c: usize, v: f64| if v < 0.0 { h.slopes(c).0 } else { h.slopes(c).1 };
    x.iter().enumerate().map(|(c, v)| slope(c, *v) * v.abs() + 0.5 * h.l2_weight(c) * v * v).sum()
}

fn losses(loss: Loss, m: &Dense, y: &[f64], weights: Option<&[f64]>, x: &[f64]) -> f64 {
    let weight = |row: usize| weights.map_or(1.0, |list| list[row]);
    m.times(x).iter().enumerate().map(|(row, product)| weight(row) * loss.value(*product, y[row])).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * x.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Blocks, Coupling};

    fn single(smooth: Smooth) -> Instance {
        Instance {
            name: "single".into(),
            smooth,
            separable: Separable::Zero,
            coupling: Coupling::None,
            blocks: Blocks::Auto,
            dimension: 1,
        }
    }

    fn assert_value(smooth: Smooth, x: f64, expected: f64) {
        let value = objective(&single(smooth), &[x]);
        assert!((value - expected).abs() < 1e-14, "{value} is not {expected}");
    }

    #[test]
    fn losses_by_hand() {
        let m = Dense::from_rows(&[[2.0]]);
        let weights = Some(vec![3.0]);
        let of =
            |loss: Loss, y: f64| Smooth::Loss { loss, m: m.clone(), y: vec![y], weights: weights.clone() };
        assert_value(of(Loss::LeastSquares, 1.0), 2.0, 13.5);
        assert_value(of(Loss::Logistic, -1.0), 0.5, 3.0 * (1.0 + 1.0_f64.exp()).ln());
        assert_value(of(Loss::SquaredHinge, -1.0), 0.5, 12.0);
        assert_value(of(Loss::Huber { delta: 0.5 }, 1.0), 2.0, 3.0 * 0.5 * 2.75);
        assert_value(of(Loss::Huber { delta: 0.5 }, 1.0), 0.6, 3.0 * 0.5 * 0.04);
        assert_value(Smooth::Distance { target: vec![1.0], weights: vec![3.0] }, 3.0, 12.0);
        assert_value(Smooth::Factor { m, c: vec![-1.0] }, 3.0, 15.0);
    }

    #[test]
    fn groups_and_violations_by_hand() {
        let mut instance = single(Smooth::Linear { c: vec![0.0; 4] });
        instance.dimension = 4;
        instance.blocks = Blocks::Size(2);
        instance.separable = Separable::GroupL2 { weights: vec![2.0, 1.0] };
        instance.coupling = Coupling::BlockSum(vec![1.0, 2.0]);
        let x = [3.0, 4.0, 0.0, -2.0];
        assert!((objective(&instance, &x) - 12.0).abs() < 1e-14);
        assert!((infeasibility(&instance, &x) - 2.0).abs() < 1e-14);
        instance.separable = Separable::NonNegative;
        instance.coupling = Coupling::Sum(5.0);
        assert!((infeasibility(&instance, &x) - 2.0).abs() < 1e-14);
    }
}
