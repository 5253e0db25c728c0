//! Algorithm 1 on one thread: the reference.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to A x = b`, from a feasible start.
//! # Per-iteration cost
//! The gradients and product updates of two blocks, and the pair step of `pair_step/`.
//! # Guarantees
//! Every iterate is feasible and in the domain; the objective never rises; the same seed gives the same bits.
//! # Reference
//! Reddi, Hefny, Downey, Dubey, Sra (UAI 2015), Algorithm 1.

use crate::archive::Archive;
use crate::error::Result;
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::pace::Pace;
use crate::solve::gears::{Attempt, Gear, Habits, Round, Task, renewed};
use crate::solve::pairs::PairUpdater;
use crate::state::State;

/// Random pairs, one after the other.
#[derive(Debug)]
pub(crate) struct Plain<'r, F, H> {
    problem: &'r Problem<F, H>,
    pairs: PairUpdater<'r, H>,
    edges: SampledEdges,
    pace: Pace,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Plain<'r, F, H> {
    pub(crate) fn new(problem: &'r Problem<F, H>, pairs: PairUpdater<'r, H>, edges: SampledEdges) -> Self {
        Self { problem, pairs, edges, pace: Pace::new() }
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Plain<'_, F, H> {
    fn habits(&self) -> Habits {
        Habits::default()
    }

    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let (f, pairs, edges) = (self.problem.smooth(), &mut self.pairs, &mut self.edges);
        let update = || {
            let (i, j) = edges.draw();
            pairs.update(f, state, i, j)
        };
        let (limits, heartbeat) = (task.limits, &mut task.heartbeat);
        let (updates, mut status) =
            self.pace.run(task.updates, limits, update, |made| heartbeat(made, None))?;
        let found = renewed(self.problem.view(), state, task, &mut status)?;
        // What an x is worth that there was no time for, the certificate will say.
        let objective = found.unwrap_or(task.objective);
        Ok(Round { status, ..Round::new(updates, objective) })
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.pairs.carry(archive)?;
        self.edges.carry(archive)
    }
}
