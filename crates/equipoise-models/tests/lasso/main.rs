//! Regressions under constraints, judged from outside: by the conic oracle, and by rational arithmetic.
//!
//! * `instances`: random regressions, and the same as the oracle's problems.
//! * `optima`: every fit is the oracle's optimum.
//! * `exact`: every bound that is reported holds in rational arithmetic.
//! * `paths`: a path point is a cold fit; what rescaling changes; folds; halves; what is refused; wishes to stop.

mod exact;
mod instances;
mod optima;
mod paths;
