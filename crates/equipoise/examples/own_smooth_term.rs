//! A smooth term of your own: pseudo-Huber distances to targets, under one budget.
//!
//! `f(x) = sum_c sqrt(1 + (x_c - t_c)^2) - 1` is quadratic near the target and linear far away. Three methods
//! for pair steps and the value make it a term; the others are optional and make the solver faster (here: f does not couple coordinates, and has a
//! Hessian for second-order steps). Without `dual` there is no duality gap: the KKT residual certifies.

use equipoise::smooth::{PairTerm, SmoothTerm};
use equipoise::{Control, Coupling, Error, Pass, Problem, Settings, Status, solve};

#[derive(Debug)]
struct PseudoHuber {
    target: Vec<f64>,
}

/// The length of the vector (1, r).
fn length(r: f64) -> f64 {
    1.0_f64.hypot(r)
}

impl PairTerm for PseudoHuber {
    fn dimension(&self) -> usize {
        self.target.len()
    }
    fn partial(&self, c: usize, x: &[f64], _product: &[f64]) -> f64 {
        let r = x[c] - self.target[c];
        r / length(r)
    }
    /// The second derivative is `(1 + r^2)^(-3/2)`: at most 1.
    fn curvature(&self, _c: usize) -> f64 {
        1.0
    }
    fn is_decomposable(&self) -> bool {
        true
    }
}

impl SmoothTerm for PseudoHuber {
    fn value(&self, x: &[f64], _product: &[f64]) -> f64 {
        x.iter().zip(&self.target).map(|(x, t)| length(x - t) - 1.0).sum()
    }
    fn hessian_product(
        &self,
        x: &[f64],
        _product: &[f64],
        v: &[f64],
        out: &mut [f64],
        _control: &Control,
    ) -> Pass<bool> {
        for c in 0..v.len() {
            out[c] = v[c] / length(x[c] - self.target[c]).powi(3);
        }
        Ok(true)
    }
}

fn main() -> Result<(), Error> {
    let wishes = vec![4.0, 1.0, 2.5, 40.0];
    let problem =
        Problem::builder(PseudoHuber { target: wishes.clone() }).coupling(Coupling::sum(45.0)?).build()?;
    let solution = solve(&problem, &Settings { tolerance: 1e-10, ..Settings::default() })?;
    println!("wishes {wishes:?}, of which 45 can be met: {:.4?} ({})", solution.x, solution.status);

    assert_eq!(solution.status, Status::Converged);
    // All wishes weigh the same, so all give way by the same amount: (47.5 - 45) / 4.
    assert!(solution.x.iter().zip(&wishes).all(|(x, wish)| (wish - x - 0.625).abs() < 1e-7));
    Ok(())
}
