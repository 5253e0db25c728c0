//! A world of one rank: nothing travels.

use super::{Collective, Ledger};
use crate::error::Result;

/// One rank.
///
/// ```
/// use equipoise::collective::{Alone, Collective};
/// let mut numbers = [0.1, 0.2];
/// assert_eq!(Alone::default().sum(&mut numbers), Ok(()));
/// assert_eq!(numbers, [0.1, 0.2]);
/// ```
#[derive(Debug, Default)]
pub struct Alone {
    ledger: Ledger,
}

impl Collective for Alone {
    fn rank(&self) -> usize {
        0
    }
    fn ranks(&self) -> usize {
        1
    }
    fn gather(&self, own: &[f64], all: &mut [f64]) -> Result<()> {
        all.copy_from_slice(own);
        Ok(())
    }
    fn deal(&self, blocks: &[f64], dealt: &mut [f64]) -> Result<()> {
        dealt.copy_from_slice(blocks);
        Ok(())
    }
    fn broadcast(&self, _numbers: &mut [f64]) -> Result<()> {
        Ok(())
    }
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}
