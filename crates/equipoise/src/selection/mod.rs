//! Which pair, or which coordinate, moves next.
//!
//! A selection knows the graph and its own random numbers, not how a pair is solved.

mod sampled;
mod singles;
mod violating;

pub(crate) use sampled::SampledEdges;
pub(crate) use singles::Singles;
pub(crate) use violating::{Choice, Slopes, ViolatingPairs, Way};
