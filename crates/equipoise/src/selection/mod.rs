//! Which pair, or which coordinate, moves next.
//!
//! A selection knows the graph and its own random numbers, not how a pair is solved.

use crate::archive::Archive;
use crate::coupling::Members;
use crate::error::{Error, Result};

mod sampled;
mod singles;
mod violating;

pub(crate) use sampled::SampledEdges;
pub(crate) use singles::Singles;
pub(crate) use violating::{Choice, Slopes, ViolatingPairs, Way};

/// Shows an archive which coordinates of a row are active.
fn carry_members(members: &Members, active: &mut Vec<u32>, archive: &mut Archive<'_>) -> Result<()> {
    archive.indices(active, members.end())?;
    if active.iter().all(|c| members.contains(*c)) {
        Ok(())
    } else {
        Err(Error::BadSnapshot { what: "an active coordinate is of another row" })
    }
}
