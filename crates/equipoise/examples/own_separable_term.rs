//! A penalty of your own: the quantile (asymmetric) l1 norm, with one coupling row and with two.
//!
//! `h_c(z) = max(up z, -down z)`: what goes up costs `up` a unit, what goes down costs `down`. Value, prox and
//! subdifferential make it a term; with the conjugate a duality gap is certified as well.

use equipoise::separable::SeparableTerm;
use equipoise::smooth::Distance;
use equipoise::{Coupling, Error, Matrix, Problem, Settings, Solution, Status, solve};

#[derive(Debug)]
struct Quantile {
    up: f64,
    down: f64,
}

impl SeparableTerm for Quantile {
    fn value(&self, _c: usize, z: f64) -> f64 {
        (self.up * z).max(-self.down * z)
    }
    /// The minimiser of `h(z) + d/2 (z - v)^2`: a soft threshold with two widths.
    fn prox(&self, _c: usize, v: f64, d: f64) -> f64 {
        v - v.clamp(-self.down / d, self.up / d)
    }
    fn subdifferential(&self, _c: usize, z: f64) -> (f64, f64) {
        (if z > 0.0 { self.up } else { -self.down }, if z < 0.0 { -self.down } else { self.up })
    }
    /// Zero on the subgradients at 0, infinite elsewhere.
    fn conjugate(&self, _c: usize, s: f64) -> Option<f64> {
        Some(if -self.down <= s && s <= self.up { 0.0 } else { f64::INFINITY })
    }
    fn dual_domain(&self, _c: usize) -> (f64, f64) {
        (-self.down, self.up)
    }
}

/// Half the squared distance to targets plus the penalty, under a coupling.
fn rebalance(coupling: Coupling) -> Result<Solution, Error> {
    let f = Distance::new(vec![3.0, -2.0, 1.0, 0.5, -1.0, 2.0], 0.5)?;
    let h = Quantile { up: 1.0, down: 0.25 };
    solve(&Problem::builder(f).separable(h).coupling(coupling).build()?, &Settings::default())
}

fn main() -> Result<(), Error> {
    let one = rebalance(Coupling::sum(0.0)?)?;
    println!("one row:  {:.4?}, objective {:.6}", one.x, one.certificate.objective);
    let rows = Matrix::from_rows(&[[1.0; 6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])?;
    let two = rebalance(Coupling::rows_of(rows, vec![0.0, 0.0])?)?;
    println!("two rows: {:.4?}, objective {:.6}", two.x, two.certificate.objective);

    for solution in [&one, &two] {
        assert_eq!(solution.status, Status::Converged);
        assert!(solution.certificate.duality_gap.is_some_and(|gap| gap < 1e-5));
    }
    assert!(one.certificate.objective < two.certificate.objective, "another row cannot lower the optimum");
    Ok(())
}
