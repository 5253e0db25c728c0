//! The testkit by itself, one binary: what it draws and what is written down. What its oracle says of the random suite
//! is judged beside the solver (`oracle` in the tests of equipoise), so that each problem is solved once.

mod known_optima;
mod suite;
