//! What a run returns.

use crate::certificate::Certificate;
use crate::control::Halt;
use crate::solve::Method;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The certificate meets the tolerance.
    Converged,
    /// The limit on updates or epochs was reached first.
    IterationLimit,
    /// The limit on time was reached first.
    TimeLimit,
    /// No step makes progress any more, though the certificate is not met.
    Stalled,
    /// The caller asked for it.
    Interrupted,
    /// The objective reached the target that was set; nothing is said of the tolerance.
    TargetReached,
}

impl Status {
    /// How a run ends whose work was ended; `None` for a [fault](Halt::is_fault), which is an error.
    pub fn after(halt: &Halt) -> Option<Self> {
        match halt {
            Halt::Interrupted => Some(Self::Interrupted),
            Halt::TimeLimit => Some(Self::TimeLimit),
            Halt::Fault(_) | Halt::Apart { .. } => None,
        }
    }

    /// The stable name, as in the JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration-limit",
            Self::TimeLimit => "time-limit",
            Self::Stalled => "stalled",
            Self::Interrupted => "interrupted",
            Self::TargetReached => "target-reached",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One of the points that a stochastic run offers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// `last`, `best` (of all points compared so far), `average` (of all iterates) or `tail-average` (of the later half).
    pub name: &'static str,
    /// f + h there.
    pub objective: f64,
}

impl Candidate {
    /// A point by its name, with the objective there.
    pub fn new(name: &'static str, objective: f64) -> Self {
        Self { name, objective }
    }
}

/// The last iterate, what can be said of it, and how it came about.
///
/// `C` is what was found of x: the certificate, or the [`Verdict`](crate::Verdict) of a judge that stood in for it
/// ([`Solver::run_judged`](crate::Solver::run_judged)).
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct Solution<C = Certificate> {
    /// Why the run ended; only `Converged` means that the tolerance is met.
    pub status: Status,
    /// The iterate: in the domain of h, with A x = b.
    pub x: Vec<f64>,
    /// What was found of x, from raw data.
    pub certificate: C,
    /// Pair updates made.
    pub updates: u64,
    /// Epochs made: updates divided by the number of updates that moves every block once.
    pub epochs: f64,
    /// Seconds taken; with a target that was reached, until then (the certificate comes after).
    pub seconds: f64,
    /// Seconds of these that went into factors made before the first update.
    pub preparation_seconds: f64,
    /// Threads that worked on the run: as many as asked for, or fewer where there is not enough to do.
    pub threads: usize,
    /// The seed of the draws.
    pub seed: u64,
    /// The method that ran: the one asked for, or the one that `auto` chose.
    pub method: Method,
    /// Why this method, in one line.
    pub reason: String,
    /// With `stochastic`: the points that were compared; `x` is the one with the lowest objective.
    pub candidates: Vec<Candidate>,
}
