//! How the run of a solver ended, and how long its last proof may take.
//!
//! Must not know: what is trained.

use super::dual::Pieces;
use super::error::Result;
use super::train::Company;
use equipoise::Control;
use equipoise::problem::Problem;
use equipoise::smooth::Gram;
use equipoise::solve::{Solution, Status};

/// Seconds that the last proof may take after an interrupt: with what it takes to notice that, and with the model, a tenth of a
/// second on data of some million numbers.
const AFTER_INTERRUPT: f64 = 0.04;
/// After a time limit a share of the time, within these.
const LEAST_PATIENCE: f64 = 0.1;
const SHARE_OF_TIME: f64 = 0.1;
const MOST_PATIENCE: f64 = 1.0;

/// A run that was ended does not wait for its proof for long.
pub(super) fn patience(status: Status, company: &Company<'_>) -> Control {
    match status {
        Status::Interrupted => company.control.afterwards(AFTER_INTERRUPT),
        Status::TimeLimit => {
            let share = SHARE_OF_TIME * company.started.elapsed().as_secs_f64();
            company.control.afterwards(share.clamp(LEAST_PATIENCE, MOST_PATIENCE))
        }
        _ => company.control.clone(),
    }
}

/// How the run of a solver ended.
pub(super) struct Ended {
    pub(super) x: Vec<f64>,
    pub(super) status: Status,
    pub(super) updates: u64,
    pub(super) epochs: f64,
    /// Whether its numbers were too large.
    pub(super) overflows: bool,
}

impl Ended {
    /// A run whose numbers overflow ends where it began: there something can be said of it.
    pub(super) fn of(
        run: equipoise::Result<Solution<equipoise::Verdict>>,
        problem: &Problem<Gram<'_>, Pieces<'_>>,
    ) -> Result<Self> {
        match run {
            Ok(Solution { x, status, updates, epochs, .. }) => {
                Ok(Self { x, status, updates, epochs, overflows: false })
            }
            // Any model has a primal, so that no dual falls for ever: one that seems to has lost its curvature in
            // rounding.
            Err(error @ (equipoise::Error::NonFiniteIterate { .. } | equipoise::Error::Unbounded { .. })) => {
                let (x, status) = (problem.start().to_vec(), Status::Stalled);
                let updates = match error {
                    equipoise::Error::NonFiniteIterate { updates, .. } => updates,
                    _ => 0,
                };
                Ok(Self { x, status, updates, epochs: 0.0, overflows: true })
            }
            Err(error) => Err(error.into()),
        }
    }
}
