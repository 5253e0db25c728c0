//! The outer loops and what they share.

pub(crate) mod budget;
pub(crate) mod checkpoints;
pub(crate) mod choice;
pub(crate) mod round;
pub(crate) mod sequential;
pub(crate) mod solver;
