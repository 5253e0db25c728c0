//! The optimum of an [`Instance`] by a conic interior-point method (Clarabel), or an honest failure.
//!
//! Given an instance; returns a point and the objective evaluated naively at it. The point is only
//! approximately feasible: compare objectives, not points.
//!
//! A result is trusted only if the naive objective agrees with a lower bound to [`GAP`]
//! (Clarabel's *dual* objective, or 0 for a sum of losses), and the equations and bounds hold to [`VIOLATION`] in the natural scale of each. Several
//! attempts (with and without scaling of the variables, tight and less tight tolerances) are made;
//! the first excellent one wins, else the best acceptable one.
//!
//! This module must not know the solver under test.

pub(crate) mod conic;
mod model;
mod once;
mod scales;

use std::fmt;
use std::sync::LazyLock;

use clarabel::solver::SolverStatus;
use conic::Accuracy;

use crate::instance::{Instance, Smooth, infeasibility, objective};

/// Largest accepted `|primal - dual| / (1 + |primal|)`.
pub const GAP: f64 = 1e-7;
/// Largest accepted violation of an equation or a bound, relative to its own scale.
pub const VIOLATION: f64 = 1e-8;
/// Largest accepted relative residual of dual feasibility.
const DUAL_RESIDUAL: f64 = 1e-8;
/// An attempt with a gap below this is returned without trying further.
const EXCELLENT_GAP: f64 = 1e-9;

/// A trusted optimum.
#[derive(Clone, Debug, PartialEq)]
pub struct Oracle {
    /// `f(x) + h(x)`, evaluated naively at [`Oracle::x`].
    pub objective: f64,
    /// An optimal point, feasible to about 1e-9.
    pub x: Vec<f64>,
    /// `|primal - dual| / (1 + |primal|)` of the attempt that was accepted.
    pub gap: f64,
}

/// No attempt gave a trusted optimum; the numbers are those of the best one.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleFailure {
    /// The instance's name.
    pub name: String,
    /// Clarabel's last word.
    pub status: String,
    /// The naive objective.
    pub objective: f64,
    /// `|primal - dual| / (1 + |primal|)`.
    pub gap: f64,
    /// The largest violation relative to its scale.
    pub violation: f64,
    /// The largest violation, absolute.
    pub infeasibility: f64,
}

impl fmt::Display for OracleFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}: {} with objective {:.9e}, relative gap {:.1e}, relative violation {:.1e} (absolute {:.1e})",
            self.name, self.status, self.objective, self.gap, self.violation, self.infeasibility
        )
    }
}

impl std::error::Error for OracleFailure {}

/// What one attempt gave, with its measures.
struct Attempt {
    status: SolverStatus,
    x: Vec<f64>,
    objective: f64,
    gap: f64,
    violation: f64,
    /// Whether the lower bound behind `gap` is one.
    bounded: bool,
}

impl Attempt {
    fn acceptable(&self) -> bool {
        self.bounded && self.gap <= GAP && self.violation <= VIOLATION
    }

    /// Acceptable before unacceptable, then the smaller measure; a NaN never wins.
    fn beats(&self, old: &Self) -> bool {
        match (self.acceptable(), old.acceptable()) {
            (true, true) => self.gap < old.gap,
            (false, false) => self.worst() < old.worst(),
            (acceptable, _) => acceptable,
        }
    }

    fn worst(&self) -> f64 {
        let worst = self.gap.max(self.violation);
        if self.gap.is_nan() || self.violation.is_nan() || !self.bounded { f64::INFINITY } else { worst }
    }
}

/// How an attempt is set up.
#[derive(Clone, Copy)]
struct Setup {
    /// Whether coordinates are measured in their natural size.
    scaled: bool,
    /// Whether all columns are measured in the size that b suggests as well.
    magnified: bool,
    accuracy: Accuracy,
}

const TIGHT: Accuracy = Accuracy { tolerance: 1e-10, regularization: 1e-8 };
const LOOSE: Accuracy = Accuracy { tolerance: 1e-9, regularization: 1e-8 };
/// Singular Q of many columns makes Clarabel's first system break down at the usual 1e-8.
const REGULARIZED: Accuracy = Accuracy { tolerance: 1e-10, regularization: 1e-7 };

const SETUPS: [Setup; 7] = [
    Setup { scaled: true, magnified: false, accuracy: Accuracy { tolerance: 1e-11, ..TIGHT } },
    Setup { scaled: true, magnified: false, accuracy: TIGHT },
    Setup { scaled: false, magnified: false, accuracy: TIGHT },
    Setup { scaled: true, magnified: true, accuracy: TIGHT },
    Setup { scaled: true, magnified: false, accuracy: REGULARIZED },
    Setup { scaled: true, magnified: false, accuracy: LOOSE },
    Setup { scaled: false, magnified: false, accuracy: LOOSE },
];

static ANSWERS: LazyLock<once::Answers> = LazyLock::new(once::Answers::default);

/// The optimum of an instance. Each instance is solved once in a process: asking again costs a copy.
pub fn solve(instance: &Instance) -> Result<Oracle, OracleFailure> {
    ANSWERS.get(instance, solve_afresh)
}

fn solve_afresh(instance: &Instance) -> Result<Oracle, OracleFailure> {
    let mut best: Option<Attempt> = None;
    for setup in SETUPS {
        let attempt = attempt(instance, setup);
        let excellent = attempt.acceptable() && attempt.gap <= EXCELLENT_GAP;
        if best.as_ref().is_none_or(|old| attempt.beats(old)) {
            best = Some(attempt);
        }
        if excellent {
            break;
        }
    }
    let best = best.expect("at least one attempt is made");
    if best.acceptable() {
        return Ok(Oracle { objective: best.objective, x: best.x, gap: best.gap });
    }
    Err(OracleFailure {
        name: instance.name.clone(),
        status: format!("{:?}", best.status),
        objective: best.objective,
        gap: best.gap,
        violation: best.violation,
        infeasibility: infeasibility(instance, &best.x),
    })
}

fn attempt(instance: &Instance, setup: Setup) -> Attempt {
    let natural = scales::natural(instance);
    let scale = if setup.scaled { natural.clone() } else { vec![1.0; instance.dimension] };
    let magnitude = if setup.magnified { scales::magnitude(instance, &scale) } else { 1.0 };
    let outcome = model::build(instance, &scale, magnitude).solve(setup.accuracy);
    let x = outcome.point[..instance.dimension].to_vec();
    let objective = objective(instance, &x);
    let mut error = (objective - outcome.dual).abs();
    let mut bounded = outcome.dual_residual <= DUAL_RESIDUAL && !refused(outcome.status);
    if is_non_negative(&instance.smooth) && (!bounded || objective.abs() < error) {
        (error, bounded) = (objective.abs(), true);
    }
    let gap = error / (1.0 + objective.abs());
    let violation = scales::violation(instance, &x, &natural);
    Attempt { status: outcome.status, x, objective, gap, violation, bounded }
}

/// Whether Clarabel says that what it returns is no approximate optimum: at an early breakdown it
/// returns x = 0 and z = 0, whose two objectives agree at 0.
fn refused(status: SolverStatus) -> bool {
    !matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress)
}

/// Whether f is a sum of losses, each at least 0. Then 0 is a lower bound that needs no dual point,
/// which decides where the optimum is 0 on an unbounded set and interior-point methods falter.
fn is_non_negative(smooth: &Smooth) -> bool {
    match smooth {
        Smooth::Loss { loss, .. } => loss.is_non_negative(),
        Smooth::Distance { .. } => true,
        Smooth::Quadratic { .. } | Smooth::Factor { .. } | Smooth::Linear { .. } => false,
        Smooth::Sum(terms) => terms.iter().all(is_non_negative),
    }
}
