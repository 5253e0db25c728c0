//! Who makes a round of updates.

pub(crate) mod accelerated;
pub(crate) mod anchored;
pub(crate) mod catalyst;
pub(crate) mod graph_constant;
pub(crate) mod multicore;
pub(crate) mod sampled;
pub(crate) mod staleness;
pub(crate) mod violating;
