//! Passes over the rows of a fit, by its team, which end soon after a control says so.
//!
//! Where the rows are those of one rank, sums are over those of all ranks, in the order of the ranks.
//!
//! Must not know: what is computed.

use std::ops::Range;

use super::dual::Task;
use equipoise::enclosure::{Enclosure, Sum};
use equipoise::{Control, Pass, Team};

/// Numbers that a row counts for besides its entries.
const NUMBERS_A_ROW: usize = 8;

impl Task<'_> {
    /// Every part of the rows of this rank with a total of its own, which `work` adds to; the totals in the order of the parts.
    pub(super) fn totals<T: Send>(
        &self,
        numbers_a_row: usize,
        control: &Control,
        begin: impl Fn() -> T + Sync,
        work: impl Fn(usize, &mut T) + Sync,
    ) -> Pass<Vec<T>> {
        let of_part = |part: Range<usize>| {
            let mut total = begin();
            control.in_parts(part.len(), numbers_a_row, |rows| {
                rows.for_each(|k| work(part.start + k, &mut total));
            })?;
            Ok(total)
        };
        self.team.map(self.team.parts(self.rows.len()), of_part).into_iter().collect()
    }

    /// The sum of a number of every row, with its error.
    pub(super) fn enclosed_sum(
        &self,
        control: &Control,
        of_row: impl Fn(usize) -> Option<Enclosure> + Sync,
    ) -> Pass<Enclosure> {
        let add = |i: usize, sum: &mut Sum| {
            if let Some(term) = of_row(i) {
                sum.add_enclosure(term);
            }
        };
        let parts = self.totals(NUMBERS_A_ROW, control, Sum::default, add)?;
        let mut total = Sum::default();
        parts.iter().for_each(|part| total.merge(part));
        self.across_ranks(std::slice::from_mut(&mut total));
        Ok(total.value())
    }

    /// Sums of this rank become those of all ranks.
    pub(super) fn across_ranks(&self, sums: &mut [Sum]) {
        merge_across(&self.team, sums);
    }

    /// A number of every row, where the row is read.
    pub(super) fn of_rows<T: Send>(
        &self,
        control: &Control,
        of_row: impl Fn(usize) -> T + Sync,
    ) -> Pass<Vec<T>> {
        let mut parts =
            self.totals(self.numbers_a_row(), control, Vec::new, |i, part| part.push(of_row(i)))?;
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { parts.into_iter().flatten().collect() })
    }

    /// Whether something holds on every rank.
    pub(super) fn everywhere(&self, holds: bool) -> bool {
        !self.team.any(!holds)
    }

    /// Numbers that reading a row counts for.
    pub(super) fn numbers_a_row(&self) -> usize {
        NUMBERS_A_ROW + self.rows.entries() / self.rows.len().max(1)
    }
}

/// Sums of this rank become those of all ranks, in the order of the ranks.
pub(super) fn merge_across(team: &Team, sums: &mut [Sum]) {
    if !team.is_spread() {
        return;
    }
    let own = Sum::packed(sums);
    sums.fill(Sum::default());
    for numbers in team.lists(&own) {
        Sum::merge_packed(sums, &numbers);
    }
}
