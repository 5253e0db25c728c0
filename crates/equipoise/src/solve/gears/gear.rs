//! A gear: makes a round of updates, behind one trait.
//!
//! - Given: an x that is feasible and in the domain, what the round may spend, and whom to ask whether to stop.
//! - Returns: such an x again, with its objective.
//! - Must not know: certificates, observers, targets beyond a number, who comes after.

use crate::archive::Archive;
use crate::control::{Control, Halt, Pass};
use crate::error::{Error, Result};
use crate::problem::View;
use crate::solve::driver::limits::Limits;
use crate::solve::{Candidate, Status};
use crate::state::State;

/// Makes rounds.
pub(crate) trait Gear {
    /// What the driver should know of it.
    fn habits(&self) -> Habits;

    /// Makes a round from `state`. A round that is ended early leaves an x that is feasible.
    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round>;

    /// Is told that someone else moved x; answers with the objective there where the gear computes it anyway.
    fn moved(&mut self, _state: &State, _control: &Control) -> Pass<Option<f64>> {
        Ok(None)
    }

    /// Is told of the gap that a verdict found at its point, in shares of the one wanted.
    fn judged(&mut self, _found: f64) {}

    /// The point that stands for the run so far.
    fn candidate<'a>(&'a self, state: &'a State) -> &'a [f64] {
        &state.x
    }

    /// The same at the end.
    fn finish(self: Box<Self>, state: State) -> Vec<f64> {
        state.x
    }

    /// The points that were compared for it, where there are several.
    fn candidates(&self) -> Vec<Candidate> {
        Vec::new()
    }

    /// Epochs so far, where they are not counted by updates.
    fn epochs(&self) -> Option<f64> {
        None
    }

    /// Threads at work.
    fn threads(&self) -> usize {
        1
    }

    /// Whether a gear that is put in at the same x, and then takes up what this one shows an archive, goes on with the same
    /// bits.
    fn is_resumable(&self) -> bool {
        true
    }

    /// Shows an archive what rounds to come depend on, beside the state.
    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()>;
}

/// What the driver should know of a gear.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing, and any mixture makes sense")]
pub(crate) struct Habits {
    /// Fewest updates between two checkpoints.
    pub(crate) fewest_updates: u64,
    /// Updates in which every sample is seen once; 0 without samples.
    pub(crate) updates_per_pass: u64,
    /// Whether rounds end at a target on their own; those of others are kept short where there is one.
    pub(crate) sees_target: bool,
    /// Whether the state's product is that of f at x between rounds.
    pub(crate) has_product: bool,
    /// Whether rounds keep `A x = b` free of drift on their own.
    pub(crate) repairs: bool,
    /// Whether it loses something where someone else moves x.
    pub(crate) minds_moves: bool,
    /// Whether it does with a proximal step over all blocks where its pairs stall.
    pub(crate) takes_full_steps: bool,
    /// Rounds in a row that know of no bound from below, after which it is asked whether the objective falls for ever.
    pub(crate) rounds_per_sounding: u32,
    /// Rounds without gain that count as one: noise hides small gains.
    pub(crate) rounds_per_idle: u32,
    /// What is done at the start.
    pub(crate) begins_with: Due,
}

impl Default for Habits {
    /// Those of plain pairs.
    fn default() -> Self {
        Self {
            fewest_updates: 32,
            updates_per_pass: 0,
            sees_target: false,
            has_product: true,
            repairs: false,
            minds_moves: false,
            takes_full_steps: true,
            rounds_per_sounding: 8,
            rounds_per_idle: 1,
            begins_with: Due::Now,
        }
    }
}

/// When the iterate after a round is to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// When enough was done since the last time.
    ByWork,
    /// Now.
    Now,
    /// Not now; an observer may see it.
    Show,
    /// Not now.
    Later,
}

/// What a round is given.
pub(crate) struct Task<'t> {
    /// Updates that bring the next checkpoint, those of a round at least.
    pub(crate) updates: u64,
    /// The objective before it.
    pub(crate) objective: f64,
    pub(crate) target: Option<f64>,
    /// The gap that would end the run.
    pub(crate) wanted_gap: f64,
    /// The same for a point with another objective.
    pub(crate) wanted_gap_at: &'t dyn Fn(f64) -> f64,
    pub(crate) limits: &'t Limits,
    /// Shows the judge a point of the dual, or takes it back.
    pub(crate) hint: &'t dyn Fn(&[f64]),
    /// Is told of the updates so far, and of the epochs of a gear that counts its own.
    pub(crate) heartbeat: &'t mut dyn FnMut(u64, Option<f64>),
}

impl Task<'_> {
    /// Time and the caller's wish.
    pub(crate) fn control(&self) -> &Control {
        self.limits.control()
    }
}

/// What a round did.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing, and any mixture makes sense")]
pub(crate) struct Round {
    pub(crate) updates: u64,
    /// The objective after it.
    pub(crate) objective: f64,
    /// Why it ended early, if it did.
    pub(crate) status: Option<Status>,
    /// Whether it was undone.
    pub(crate) undone: bool,
    /// Whether it says nothing of what rounds to come will gain.
    pub(crate) is_inconclusive: bool,
    /// Whether it knows a bound of the objective from below.
    pub(crate) is_bounded: bool,
    /// Whether something else would be faster from here on.
    pub(crate) is_slow: bool,
    pub(crate) due: Due,
}

impl Round {
    /// So many updates to this objective, of which there is nothing else to say.
    pub(crate) fn new(updates: u64, objective: f64) -> Self {
        Self {
            updates,
            objective,
            status: None,
            undone: false,
            is_inconclusive: false,
            is_bounded: false,
            is_slow: false,
            due: Due::ByWork,
        }
    }
}

/// The objective at x with its product computed afresh; `None`, and a status, where the run ends before that is done.
pub(crate) fn renewed(
    view: View<'_>,
    state: &mut State,
    task: &Task<'_>,
    status: &mut Option<Status>,
) -> Attempt<Option<f64>> {
    match state.refresh(view.smooth(), &task.limits.control_after(*status)) {
        Ok(()) => Ok(Some(view.value(&state.x, &state.product))),
        Err(fault) if fault.is_fault() => Err(fault.into()),
        Err(halt) => {
            *status = status.or(Status::after(&halt));
            Ok(None)
        }
    }
}

/// What a round, or the way to the first, comes to.
pub(crate) type Attempt<T> = std::result::Result<T, Stop>;

/// Why a round, or the way to the first, was not made to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// By the caller or by time: the x at hand is as good as any. Or by a fault of data or ranks.
    Halt(Halt),
    Error(Error),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<Error> for Stop {
    /// What was ended early is no fault of anybody.
    fn from(error: Error) -> Self {
        match error {
            Error::StoppedEarly { by } if by == Status::Interrupted.name() => Self::Halt(Halt::Interrupted),
            Error::StoppedEarly { .. } => Self::Halt(Halt::TimeLimit),
            error => Self::Error(error),
        }
    }
}
