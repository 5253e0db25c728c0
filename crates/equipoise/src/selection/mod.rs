//! Which pair moves next.
//!
//! A selection knows the graph and its own random numbers, not how a pair is solved.

mod sampled;

pub(crate) use sampled::SampledEdges;
