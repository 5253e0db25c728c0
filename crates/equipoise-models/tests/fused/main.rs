//! The generalised lasso, judged from outside: D is written out from its definition, objectives are computed in rational
//! numbers, optima come from the conic oracle.
//!
//! * `judge`: a problem as plain numbers; its objective, its optimum.
//! * `agreement`: hundreds of random problems of every kind reach the oracle's optimum, and no bound is false.
//! * `paths`: paths, warm starts, checks, degrees of freedom.
//! * `limits`: interrupts, time limits, bad input.

mod agreement;
mod judge;
mod limits;
mod paths;
