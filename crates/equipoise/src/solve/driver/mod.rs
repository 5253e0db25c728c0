//! The way in, and the outer loop that every gear runs in.

mod across;
mod beyond;
pub(crate) mod checkpoints;
pub(crate) mod choice;
pub(crate) mod limits;
pub(crate) mod pace;
pub(crate) mod run;
pub(crate) mod solver;
