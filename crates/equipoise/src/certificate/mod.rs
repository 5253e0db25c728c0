//! How far from optimal a point is, recomputed from the raw data alone.
//!
//! Given a problem and any x: objective, `max |A x - b|`, multipliers, the KKT residual
//!
//! ```text
//! max_c dist( -(grad f + A'lambda)_c , subdifferential of h_c ) / (1 + max |grad f| + max |A'lambda|)
//! ```
//!
//! and a duality gap wherever the terms have conjugates. Nothing here imports a solver, and nothing that a
//! solver maintained is trusted: products are rebuilt, multipliers are found afresh.

mod dual;
mod multipliers;
mod residual;

use crate::StopScope;
use crate::error::{Error, Result};
use crate::matrix::{check_length, max_abs};
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;

pub(crate) use multipliers::estimate as estimate_multipliers;
pub(crate) use residual::Residuals;

/// What can be said of a point without trusting whoever found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// f(x) + h(x); infinite outside the domain of h.
    pub objective: f64,
    /// f(x).
    pub smooth: f64,
    /// h(x).
    pub separable: f64,
    /// The largest size of an entry of A x - b.
    pub infeasibility: f64,
    /// The largest infeasibility that counts as feasible, `1e-9 (1 + max |b|)`.
    pub allowed_infeasibility: f64,
    /// lambda of `L = f + h + lambda'(A x - b)`, one for every row given.
    pub multipliers: Vec<f64>,
    /// The scaled distance from the optimality conditions.
    pub kkt_residual: f64,
    /// Objective minus a proven lower bound; `None` when no finite dual point was found.
    pub duality_gap: Option<f64>,
}

/// How much work a certificate may take; a caller who wants to stop gets what is known by then.
#[derive(Clone, Copy)]
pub(crate) enum Effort<'a> {
    /// The dual point at hand, repaired by scaling only.
    Quick(&'a dyn Fn() -> bool),
    /// The dual point is moved until it is feasible and sharp.
    Full(&'a dyn Fn() -> bool),
}

impl Certificate {
    /// Whether the point is in the domain, feasible, and optimal to the tolerance: the gap within
    /// `tolerance (1 + |objective|)`, or the KKT residual within the tolerance where there is no gap.
    pub fn meets(&self, tolerance: f64) -> bool {
        let optimal = match self.duality_gap {
            Some(gap) => gap <= tolerance * (1.0 + self.objective.abs()),
            None => self.kkt_residual <= tolerance,
        };
        self.is_feasible() && optimal
    }

    /// Whether the point is in the domain of h and satisfies A x = b.
    pub fn is_feasible(&self) -> bool {
        self.separable.is_finite() && self.infeasibility <= self.allowed_infeasibility
    }
}

/// The certificate of any point x of the right length; [`Error::StoppedEarly`] where a [`StopScope`] ended a pass over data.
///
/// ```
/// use equipoise::{Coupling, Problem, certificate, smooth::Distance};
/// let problem = Problem::builder(Distance::new(vec![0.0, 2.0], 0.5)?)
///     .coupling(Coupling::sum(1.0)?)
///     .build()?;
/// let certificate = certificate::check(&problem, &[-0.5, 1.5])?;
/// assert!(certificate.meets(1e-9));
/// assert!((certificate.multipliers[0] - 0.5).abs() < 1e-12);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn check<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, x: &[f64]) -> Result<Certificate> {
    let scope = StopScope::within();
    let certificate = check_with(problem, x, Effort::Full(&|| false))?;
    if scope.was_cut() {
        // Numbers of half a pass certify nothing.
        return Err(Error::StoppedEarly { by: "interrupted" });
    }
    Ok(certificate)
}

pub(crate) fn check_with<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    x: &[f64],
    effort: Effort<'_>,
) -> Result<Certificate> {
    let (thorough, wish) = match effort {
        Effort::Quick(stop) => (false, stop),
        Effort::Full(stop) => (true, stop),
    };
    // Once a pass has ended early the rest is for nothing.
    let stop: &dyn Fn() -> bool = &|| wish() || StopScope::is_cut();
    check_length("solution x", "entries", x.len(), problem.dimension())?;
    crate::matrix::check_finite_vector("solution x", x)?;
    let f = problem.smooth();
    let mut product = vec![0.0; f.product_len()];
    f.fill_product(x, &mut product);
    let (smooth, separable) = (f.value(x, &product), separable_value(problem, x));
    let objective = smooth + separable;
    let mut gradient = vec![0.0; x.len()];
    f.gradient(x, &product, &mut gradient);
    let residuals = Residuals::new(problem, x);
    let lambda = estimate_multipliers(&residuals, &gradient, stop);
    let coupling = problem.independent_coupling();
    let largest_gradient = max_abs(&gradient);
    let mut largest_pull: f64 = 0.0;
    // From here on the gradient's memory holds s = -(grad f + A'lambda).
    let mut s = gradient;
    for (c, s) in s.iter_mut().enumerate() {
        let pull = coupling.column_dot(c, &lambda);
        largest_pull = largest_pull.max(pull.abs());
        *s = -(*s + pull);
    }
    let kkt_residual = residuals.largest(&s) / (1.0 + largest_gradient + largest_pull);
    let duality_gap = if objective.is_finite() && !kkt_residual.is_nan() {
        let near = kkt_residual <= 1e-2;
        let point =
            dual::Point { residuals: &residuals, product: &product, lambda: &lambda, objective, near, stop };
        dual::gap(&point, s, thorough)
    } else {
        None
    };
    Ok(Certificate {
        objective,
        smooth,
        separable,
        infeasibility: problem.coupling().infeasibility(x),
        allowed_infeasibility: problem.coupling().allowed_infeasibility(),
        multipliers: problem.expand_multipliers(&lambda),
        kkt_residual: if kkt_residual.is_nan() { f64::INFINITY } else { kkt_residual },
        duality_gap,
    })
}

/// h(x).
pub(crate) fn separable_value<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, x: &[f64]) -> f64 {
    match problem.separable() {
        Nonsmooth::Coordinates(h) if h.is_zero() => 0.0,
        Nonsmooth::Coordinates(h) => x.iter().enumerate().map(|(c, &z)| h.value(c, z)).sum(),
        Nonsmooth::Groups(h) => {
            let blocks = problem.blocks();
            let norm = |i: usize| blocks.coordinates(i).map(|c| x[c] * x[c]).sum::<f64>().sqrt();
            (0..blocks.len()).map(|i| h.weight(i) * norm(i)).sum()
        }
    }
}
