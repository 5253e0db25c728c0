//! Ranks that run the same program on the same x, each with data of its own: sums over all of them, and one moment for all at which a wish
//! to stop is heard.
//!
//! ```text
//! every sum     numbers, faults, wishes to stop        added up over the ranks, in their order
//! ```
//!
//! Clocks differ, and so do the moments at which signals arrive. So no rank heeds its own: it carries its wish along with the next sum, and
//! all hear of it there. Between two sums a control of this accord ([`Accord::control`]) answers the same on every rank.
//!
//! - Given: a world, and the control of this rank. Returns: sums, and a control that all may heed. Must not know: what is added up.

use std::sync::Arc;

use super::Collective;
use crate::control::{Agreed, Control, Halt, Pass};
use crate::enclosure;
use crate::error::{Error, Result, SampleFault};
use crate::team::Team;

/// What a wish counts for in a sum: of a million ranks every one may have either.
const TIME_IS_UP: f64 = 1.0;
const INTERRUPTED: f64 = 1_048_576.0;

/// What ranks agree upon.
#[derive(Debug)]
pub struct Accord {
    world: Arc<dyn Collective>,
    team: Team,
    /// Of this rank: its clock, its signals.
    own: Control,
    agreed: Agreed,
}

impl Accord {
    /// Of a world, whose ranks each have a control of their own.
    pub fn new(world: Arc<dyn Collective>, own: Control) -> Arc<Self> {
        let team = Team::of(1).across(Some(Arc::clone(&world)));
        Arc::new(Self { world, team, own, agreed: Agreed::default() })
    }

    /// What work that all ranks do alike takes along: it ends on all of them at the same place.
    pub fn control(&self) -> Control {
        if self.team.is_spread() { Control::of_ranks(&self.agreed) } else { self.own.clone() }
    }

    /// An error where ranks cannot go on together.
    pub fn check(&self) -> Result<()> {
        self.team.check()
    }

    /// Everyone goes on where everyone can; otherwise everyone learns which rank cannot, and why.
    pub fn agree(&self, complaint: Option<&str>) -> Result<()> {
        self.world.agree(complaint)
    }

    /// The number of this rank and how many there are.
    pub fn place(&self) -> (usize, usize) {
        self.team.place()
    }

    /// Numbers become their sums over all ranks, unless work on any of them ended in a fault.
    pub(crate) fn total(&self, numbers: &mut [f64], own: Pass) -> Pass {
        if !self.team.is_spread() {
            return own;
        }
        let wish = match self.own.halted() {
            None => 0.0,
            Some(Halt::Interrupted) => INTERRUPTED,
            Some(_) => TIME_IS_UP,
        };
        let mut all = Vec::with_capacity(numbers.len() + 2);
        all.extend_from_slice(numbers);
        all.extend([f64::from(u8::from(own.is_err())), wish]);
        self.team.total(&mut all);
        self.be_together()?;
        let (wishes, faults) = (all.pop().unwrap_or(0.0), all.pop().unwrap_or(0.0));
        numbers.copy_from_slice(&all);
        if wishes > 0.0 {
            let is_signal = wishes >= INTERRUPTED;
            self.agreed.raise(if is_signal { &Halt::Interrupted } else { &Halt::TimeLimit });
        }
        if faults > 0.0 { Err(self.fault(own)) } else { Ok(()) }
    }

    /// Why ranks cannot go on together, where they cannot. Every control of this accord then says so, too.
    fn be_together(&self) -> Pass {
        match self.team.check() {
            Ok(()) => Ok(()),
            Err(Error::Rank { rank, what }) => Err(self.came_apart(rank, what)),
            Err(error) => Err(self.came_apart(self.team.place().0, error.to_string())),
        }
    }

    fn came_apart(&self, rank: usize, what: String) -> Halt {
        let halt = Halt::Apart { rank, what };
        self.agreed.raise(&halt);
        halt
    }

    /// The sum of a number of every rank; no number where ranks cannot go on, which the next pass says.
    pub(crate) fn total_of(&self, number: f64) -> f64 {
        let mut sum = [number];
        if self.total(&mut sum, Ok(())).is_ok() { sum[0] } else { f64::NAN }
    }

    /// Sums with their errors.
    pub(crate) fn merge(&self, sums: &mut [enclosure::Sum], own: Pass) -> Pass {
        self.total(&mut [], own)?;
        if !self.team.is_spread() {
            return Ok(());
        }
        let all = self.lists(&enclosure::Sum::packed(sums))?;
        sums.fill(enclosure::Sum::default());
        for numbers in &all {
            enclosure::Sum::merge_packed(sums, numbers);
        }
        Ok(())
    }

    /// The numbers of every rank, as many of each.
    pub(crate) fn lists(&self, own: &[f64]) -> Pass<Vec<Vec<f64>>> {
        let lists = self.team.lists(own);
        self.be_together()?;
        match lists.iter().position(|list| list.len() != lists[0].len()) {
            Some(rank) => {
                let (found, expected) = (lists[rank].len(), lists[0].len());
                Err(self
                    .came_apart(rank, format!("it has {found} numbers, expected {expected} as on rank 0")))
            }
            None => Ok(lists),
        }
    }

    /// Takes note of numbers that all ranks should have: where they differ, the next sum tells.
    pub(crate) fn witness(&self, numbers: &[f64]) {
        self.team.witness(numbers);
    }

    /// What every rank learns of the first fault.
    fn fault(&self, own: Pass) -> Halt {
        let (rank, _) = self.team.place();
        let (row, reason) = match &own {
            Err(Halt::Fault(SampleFault { row, reason })) => (*row as f64, reason.clone()),
            Err(halt) => (0.0, halt.to_string()),
            Ok(()) => (-1.0, String::new()),
        };
        let mut words = vec![row];
        words.extend(reason.bytes().map(f64::from));
        for (k, list) in self.team.lists(&words).into_iter().enumerate() {
            if let Some((row, bytes)) = list.split_first()
                && *row >= 0.0
            {
                let bytes = bytes.iter().map(|byte| *byte as u8).collect::<Vec<u8>>();
                let reason = format!("on rank {k}: {}", String::from_utf8_lossy(&bytes));
                return SampleFault { row: *row as usize, reason }.into();
            }
        }
        own.err().unwrap_or_else(|| {
            SampleFault { row: 0, reason: format!("rank {rank} was not told which rank is at fault") }.into()
        })
    }
}
