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
mod inside;
mod multipliers;
mod proof;
mod reach;
mod residual;

use crate::control::{Control, Halt, Pass};
use crate::coupling::ALLOWED_SHARE;
use crate::enclosure::Enclosure;
use crate::error::Result;
use crate::matrix::{check_finite_vector, check_length, max_abs};
use crate::problem::{Problem, View};
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;

use multipliers::Multipliers;
pub(crate) use multipliers::estimate as estimate_multipliers;
pub(crate) use residual::{NUMBERS_OF_H, Residuals};

/// The gap, relative to `1 + |objective|`, above which multipliers are sought in another way as well.
const CLOSE: f64 = 1e-9;
/// Rows up to which a search among all multipliers follows where those that were proposed are not enough.
const MOST_SEARCHED: usize = 200;
/// Seconds that the optimality conditions may still take where the search for multipliers was ended.
const GRACE: f64 = 0.02;

/// What can be said of a point without trusting whoever found it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// f(x) + h(x), from above; infinite outside the domain of h.
    pub objective: f64,
    /// f(x), from above.
    pub smooth: f64,
    /// h(x), from above.
    pub separable: f64,
    /// The largest size of an entry of A x - b, from above.
    pub infeasibility: f64,
    /// The largest share of its own terms that a row of A x = b is off by, `|a_i x - b_i| / (|b_i| + sum_j |a_ij x_j|)`, from
    /// above; feasible is a point with at most 1e-9.
    pub relative_infeasibility: f64,
    /// lambda of `L = f + h + lambda'(A x - b)`, one for every row given; none where there was no time to look for them.
    pub multipliers: Vec<f64>,
    /// The scaled distance from the optimality conditions; infinite where it is not known.
    pub kkt_residual: f64,
    /// What a violation r of the optimality conditions may be worth, `max_c |r_c| (|x_c| + sqrt((1 + |objective|) / curvature_c))`:
    /// an estimate of the gap in its own units, for terms that have none. It is no bound.
    pub kkt_estimate: f64,
    /// A number that the optimum does not fall below; `None` when a term has no conjugate.
    pub lower_bound: Option<f64>,
    /// How far the objective is from the lower bound, from above. A bound above the objective, which shows that x is
    /// infeasible, counts as much as one below it.
    pub duality_gap: Option<f64>,
    /// Where the lower bound holds only for points whose coordinates are no larger than this in size; `None` for
    /// everywhere.
    pub holds_within: Option<f64>,
    /// Whether objective, infeasibility and lower bound hold in exact arithmetic. Certificates during a run are computed
    /// in plain arithmetic, and so are those of terms that have no enclosures.
    pub is_proven: bool,
    /// Whether there was no time for all of it: multipliers may then be rough, the KKT residual infinite, the gap larger
    /// than it need be or missing. What is said is true all the same.
    pub is_partial: bool,
}

/// How much work a certificate may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// The dual point at hand, repaired by scaling only.
    Quick,
    /// The dual point is moved until it is feasible and sharp.
    Full,
}

/// Multipliers of the independent rows that somebody proposes. They are judged as those that are found: by what they prove.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proposal<'p> {
    pub(crate) lambdas: &'p [Vec<f64>],
    /// The gap, relative to `1 + |objective|`, at which none are sought beside them.
    pub(crate) enough: f64,
}

impl Proposal<'_> {
    /// Nobody proposes anything.
    pub(crate) const NONE: Self = Proposal { lambdas: &[], enough: 0.0 };
}

impl Certificate {
    /// Whether the point is in the domain, feasible, and optimal to the tolerance: the gap within
    /// `tolerance (1 + |objective|)`. Where a term has no conjugate, and there is no gap therefore, [`kkt_estimate`](Self::kkt_estimate)
    /// stands in for it.
    pub fn meets(&self, tolerance: f64) -> bool {
        let gap = self.duality_gap.unwrap_or(self.kkt_estimate);
        // A gap of an objective beyond the largest number is small beside nothing.
        self.is_feasible() && self.objective.is_finite() && gap <= tolerance * (1.0 + self.objective.abs())
    }

    /// Whether the point is in the domain of h and satisfies A x = b.
    pub fn is_feasible(&self) -> bool {
        self.separable.is_finite() && self.relative_infeasibility <= ALLOWED_SHARE
    }
}

/// The certificate of any point x of the right length.
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
    check_within(problem, x, &Control::unlimited())
}

/// The same under a control; [`Error::StoppedEarly`](crate::Error::StoppedEarly) where it ended the search: a part of a
/// certificate is of use to a run that was interrupted, and to nobody else.
pub fn check_within<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    x: &[f64],
    control: &Control,
) -> Result<Certificate> {
    let view = problem.view();
    check_point(view, x)?;
    let seek = || inside::multipliers(view, x, control);
    // A search among many rows takes long, and what comes from the interior proves as much.
    let is_many = view.independent_coupling().rows() >= inside::MANY_ROWS;
    let sought = if is_many { seek()? } else { Vec::new() };
    let proposal = Proposal { lambdas: &sought, enough: f64::INFINITY };
    let mut certificate = certify(view, x, Effort::Full, &proposal, control)?;
    if !is_many && !certificate.is_partial && certificate.is_feasible() && !certificate.meets(CLOSE) {
        let sought = seek()?;
        if !sought.is_empty() {
            let proposal = Proposal { lambdas: &sought, enough: f64::INFINITY };
            let other = certify(view, x, Effort::Full, &proposal, control)?;
            let gap = |of: &Certificate| of.duality_gap.unwrap_or(f64::INFINITY);
            if other.is_partial || gap(&other) < gap(&certificate) {
                certificate = other;
            }
        }
    }
    if certificate.is_partial {
        return Err(control.halted().unwrap_or(Halt::Interrupted).into());
    }
    Ok(certificate)
}

/// Refuses what is no point of the problem's space.
pub(crate) fn check_point(view: View<'_>, x: &[f64]) -> Result<()> {
    check_length("solution x", "entries", x.len(), view.dimension())?;
    check_finite_vector("solution x", x)
}

/// The certificate of a point; [`Halt`] where there was no time for its objective and feasibility, and a partial one
/// where there was no more than that.
pub(crate) fn certify(
    view: View<'_>,
    x: &[f64],
    effort: Effort,
    proposal: &Proposal<'_>,
    control: &Control,
) -> Pass<Certificate> {
    let f = view.smooth();
    let mut product = vec![0.0; f.product_len()];
    f.fill_product(x, &mut product, control)?;
    let (smooth, separable) = (f.value(x, &product), view.separable_value(x));
    let miss = view.coupling().miss_within(x, control)?;
    let mut certificate = Certificate {
        objective: smooth + separable,
        smooth,
        separable,
        infeasibility: miss.absolute,
        relative_infeasibility: miss.relative,
        multipliers: Vec::new(),
        kkt_residual: f64::INFINITY,
        kkt_estimate: f64::INFINITY,
        lower_bound: None,
        duality_gap: None,
        holds_within: None,
        is_proven: false,
        is_partial: true,
    };
    let outcome = match effort {
        Effort::Quick => Ok(()),
        Effort::Full => certificate.prove_objective(view, x, control),
    };
    match outcome.and_then(|()| certificate.complete(view, x, &product, effort, proposal, control)) {
        Err(fault) if fault.is_fault() => return Err(fault),
        outcome => certificate.is_partial = outcome.is_err(),
    }
    if effort == Effort::Full && !certificate.is_proven && is_enclosed(view) {
        // Where a proof was possible and failed (numbers overflowed, say) nothing is known, and nothing is claimed.
        (certificate.lower_bound, certificate.duality_gap) = (None, None);
        certificate.kkt_estimate = f64::INFINITY;
    }
    Ok(certificate)
}

/// Whether every term has enclosures.
fn is_enclosed(view: View<'_>) -> bool {
    let of_h = match view.separable() {
        Nonsmooth::Coordinates(h) => h.is_enclosed(view.dimension()),
        Nonsmooth::Groups(_) => true,
    };
    of_h && view.smooth().is_enclosed()
}

impl Certificate {
    /// Replaces objective and infeasibility by what holds in exact arithmetic, where the terms can say.
    fn prove_objective(&mut self, view: View<'_>, x: &[f64], control: &Control) -> Pass {
        let miss = view.coupling().enclose_miss(x, control)?;
        (self.infeasibility, self.relative_infeasibility) = (miss.absolute, miss.relative);
        let (smooth, separable) = proof::objective(view, x, control)?;
        let objective = smooth + separable;
        if objective.is_known() {
            (self.smooth, self.separable) = (smooth.upper(), separable.upper());
            self.objective = objective.upper();
            self.is_proven = true;
        }
        Ok(())
    }

    /// Adds multipliers, KKT residual and gap, as far as time allows.
    fn complete(
        &mut self,
        view: View<'_>,
        x: &[f64],
        product: &[f64],
        effort: Effort,
        proposal: &Proposal<'_>,
        control: &Control,
    ) -> Pass {
        // From where the multipliers are known on, the gradient's memory holds s = -(grad f + A'lambda).
        let mut s = vec![0.0; x.len()];
        view.smooth().gradient(x, product, &mut s, control)?;
        let residuals = Residuals::new(view, x);
        let at = At { residuals: &residuals, product, gradient: &s, objective: self.objective };
        let found = at.multipliers(proposal, effort, control);
        self.multipliers = view.expand_multipliers(&found.lambda);
        let grace = Control::unlimited().within(GRACE);
        let until = if found.outcome.is_ok() { control } else { &grace };
        let coupling = view.independent_coupling();
        let largest_gradient = max_abs(&s);
        let mut largest_pull: f64 = 0.0;
        until.in_parts(s.len(), coupling.numbers_per_column(), |part| {
            for c in part {
                let pull = coupling.column_dot(c, &found.lambda);
                largest_pull = largest_pull.max(pull.abs());
                s[c] = -(s[c] + pull);
            }
        })?;
        let Some(largest) = residuals.largest(&s, until)? else { return Ok(()) };
        let kkt_residual = largest / (1.0 + largest_gradient + largest_pull);
        // Infinite over infinite.
        if kkt_residual.is_nan() {
            return Ok(());
        }
        self.kkt_residual = kkt_residual;
        self.kkt_estimate = residuals.worth(&s, self.objective, until)?;
        found.outcome?;
        if self.objective.is_finite() {
            let (lambda, near) = (&found.lambda, kkt_residual <= 1e-2);
            let point = dual::Point {
                residuals: &residuals,
                product,
                lambda,
                objective: self.objective,
                near,
                control,
            };
            let (bound, outcome) = dual::bound(&point, s, effort == Effort::Full);
            if let Some(found) = bound.filter(|found| found.lower.bound.is_finite()) {
                let bound = found.lower.bound;
                self.lower_bound = Some(bound);
                self.duality_gap = Some(Enclosure::difference(self.objective, bound).abs().upper());
                self.holds_within = found.lower.holds_within;
                self.is_proven &= found.is_proven;
            }
            outcome?;
        }
        Ok(())
    }
}

/// A point with what is known of it.
struct At<'a> {
    residuals: &'a Residuals<'a>,
    product: &'a [f64],
    gradient: &'a [f64],
    objective: f64,
}

impl At<'_> {
    /// The multipliers that prove the most: of those proposed, and, where these are not enough, those that fit best.
    fn multipliers(&self, proposal: &Proposal<'_>, effort: Effort, control: &Control) -> Multipliers {
        let mut best: Option<(f64, &Vec<f64>)> = None;
        for lambda in proposal.lambdas {
            match self.bound(lambda, false, control) {
                Ok(bound) if best.is_none_or(|(most, _)| bound > most) => best = Some((bound, lambda)),
                Ok(_) => {}
                Err(halt) => return Multipliers { lambda: lambda.clone(), outcome: Err(halt) },
            }
        }
        let enough = proposal.enough * (1.0 + self.objective.abs());
        let Some((most, lambda)) = best else {
            return estimate_multipliers(self.residuals, self.gradient, control);
        };
        let proposed = Multipliers { lambda: lambda.clone(), outcome: Ok(()) };
        if most > f64::NEG_INFINITY && self.objective - most <= enough {
            return proposed;
        }
        // How far points can be that matter is worth a closer look before a search among all multipliers, which takes the
        // eigenvalues of a matrix of the order of A A' at every step.
        for lambda in proposal.lambdas.iter().filter(|_| effort == Effort::Full) {
            match self.bound(lambda, true, control) {
                Ok(bound) if self.objective - bound <= enough => {
                    return Multipliers { lambda: lambda.clone(), outcome: Ok(()) };
                }
                Ok(_) => {}
                Err(halt) => return Multipliers { lambda: lambda.clone(), outcome: Err(halt) },
            }
        }
        if self.residuals.coupling().rows() > MOST_SEARCHED {
            return proposed;
        }
        let found = estimate_multipliers(self.residuals, self.gradient, control);
        match self.bound(&found.lambda, false, control) {
            Ok(bound) if found.outcome.is_ok() && bound <= most => proposed,
            _ => found,
        }
    }

    /// What these multipliers prove, in plain arithmetic unless it is to be thorough.
    fn bound(&self, lambda: &[f64], thorough: bool, control: &Control) -> Pass<f64> {
        let coupling = self.residuals.coupling();
        let mut s = self.gradient.to_vec();
        control.in_parts(s.len(), coupling.numbers_per_column(), |part| {
            part.for_each(|c| s[c] = -(s[c] + coupling.column_dot(c, lambda)));
        })?;
        let (product, objective, residuals) = (self.product, self.objective, self.residuals);
        let point = dual::Point { residuals, product, lambda, objective, near: true, control };
        let (found, outcome) = dual::bound(&point, s, thorough);
        outcome?;
        Ok(found.map_or(f64::NEG_INFINITY, |found| found.lower.bound))
    }
}

#[cfg(test)]
mod tests;
