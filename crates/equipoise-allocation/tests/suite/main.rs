//! Tests of resource allocation as others rely on it.
//!
//! - `spec`: small problems in plain numbers, drawn at random, and what they are for the library
//! - `oracle`: the same for Clarabel, every kind of cost as cones
//! - `agreement`: both beside each other; prices, sensitivities, warm starts
//! - `exact`: every bound that is reported, beside rational numbers
//! - `degenerate`: prices that are intervals, jumps, users without limits
//! - `ends`: the least and the most that rows can ask for, limits that rows imply, costs that are far apart
//! - `input`: everything that must be refused, with its evidence
//! - `sweep`: many small problems of every kind, none of which may end without an answer
//! - `large`: many users: windows, samples, threads, interrupts

mod agreement;
mod degenerate;
mod edges;
mod ends;
mod exact;
mod input;
mod large;
mod oracle;
mod spec;
mod sweep;
