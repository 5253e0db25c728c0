//! No pairs at all: what moves x is left to the steps over all blocks.
//!
//! # Problem
//! One whose f is spread over ranks, where a partial derivative is as dear as a gradient.
//! # Per-iteration cost
//! None: a round counts as an epoch, after which the driver takes a proximal step over all blocks and second-order steps.
//! # Guarantees
//! Those of these steps: every iterate is feasible and in the domain, the objective never rises, and ranks that hold the same numbers
//! take the same steps.

use crate::archive::Archive;
use crate::error::Result;
use crate::solve::gears::{Attempt, Gear, Habits, Round, Task};
use crate::state::State;

/// Rounds without updates of its own.
#[derive(Debug)]
pub(crate) struct Whole {
    /// Updates of an epoch.
    epoch: u64,
}

impl Whole {
    pub(crate) fn new(updates_per_epoch: f64) -> Self {
        Self { epoch: updates_per_epoch.ceil().max(1.0) as u64 }
    }
}

impl Gear for Whole {
    fn habits(&self) -> Habits {
        Habits { fewest_updates: 1, ..Habits::default() }
    }

    fn round(&mut self, _state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        task.control().check()?;
        Ok(Round::new(self.epoch, task.objective))
    }

    fn carry(&mut self, _archive: &mut Archive<'_>) -> Result<()> {
        Ok(())
    }
}
