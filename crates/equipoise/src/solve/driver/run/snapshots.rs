//! A run put aside and taken up again: what the rounds to come depend on, named once for both ways.

use super::Run;
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::Snapshot;

impl<F: SmoothTerm, H: SeparableTerm> Run<'_, F, H> {
    /// Hands out a snapshot, where one is due and the run goes on.
    pub(super) fn keep(&mut self) -> Result<()> {
        if self.checkpoints.status.is_some()
            || !self.plan.keeper.as_mut().is_some_and(|keeper| keeper.is_due())
        {
            return Ok(());
        }
        let (spent, exact) = (self.spent(), self.gear.is_resumable());
        let mut archive = Archive::to_write();
        if exact {
            self.carry(&mut archive)?;
        }
        let snapshot = Snapshot {
            exact,
            updates: spent.updates,
            epochs: spent.epochs,
            seconds: self.checkpoints.limits.seconds(),
            handed_over: self.handed_over && exact,
            x: self.state.x.clone(),
            rest: archive.into_words(),
        };
        if let Some(keeper) = &mut self.plan.keeper {
            keeper.keep(snapshot);
        }
        Ok(())
    }

    /// Takes up what a snapshot holds.
    pub(super) fn take_up(&mut self) -> Result<()> {
        let Some(snapshot) = self.plan.resumed else { return Ok(()) };
        if !self.gear.is_resumable() {
            return Err(Error::BadSnapshot { what: "it is of a run on one thread" });
        }
        self.handed_over = snapshot.handed_over;
        let mut archive = Archive::to_read(&snapshot.rest);
        self.carry(&mut archive)?;
        archive.end()
    }

    /// Shows an archive what the rounds to come depend on, beside x.
    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let n = self.state.x.len();
        archive.numbers(&mut self.state.product)?;
        [&mut self.objective, &mut self.gain_of_pairs, &mut self.least_gap, &mut self.preparation]
            .into_iter()
            .try_for_each(|number| archive.number(number))?;
        [&mut self.updates, &mut self.looked_at, &mut self.others, &mut self.rounds]
            .into_iter()
            .try_for_each(|count| archive.work(count))?;
        [&mut self.idle_rounds, &mut self.unbounded_rounds, &mut self.taken_back]
            .into_iter()
            .try_for_each(|count| archive.small(count))?;
        archive.list(&mut self.feasible, |length| length == 0 || length == n)?;
        self.gear.carry(archive)?;
        self.beyond.carry(archive)?;
        self.checkpoints.carry(archive)
    }
}
