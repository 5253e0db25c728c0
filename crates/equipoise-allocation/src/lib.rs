//! Resource allocation: what every user gives, and at which prices,
//!
//! ```text
//! minimise  sum_i f_i(x_i)   subject to   a_k'x = b_k  (or >=, or <=),   lower_i <= x_i <= upper_i
//! ```
//!
//! every `f_i` convex: generators that meet a demand, budgets, rates, shares. Prices are the multipliers of the rows: by how much
//! the least cost rises with each `b_k`. Every answer has a bound that holds in exact arithmetic.
//!
//! | item | what |
//! |---|---|
//! | [`Costs`], [`Cost`] | `f_i`: quadratic, linear, piecewise linear, entropy, power, logarithm, polynomial, your own |
//! | [`Users`], [`Row`], [`Problem`] | limits, coefficients, rows; checked together |
//! | [`allocate`] | x, prices, the proof |
//! | [`allocate_many`] | many right-hand sides, one after the other |
//! | [`sensitivity`] | how x moves with what is asked |
//! | [`verify`] | a point and prices, whoever found them |
//!
//! A guest of [`equipoise`]: it uses the public interface of the library and nothing else. No files, no printing.

mod answer;
mod column;
mod contradiction;
mod cost;
mod costs;
mod curve;
mod elementary;
mod enclosed;
mod error;
mod implied;
mod lanes;
mod line;
mod many;
mod near;
mod one_row;
mod pass;
mod prices;
mod problem;
mod proof;
mod proximal;
mod root;
mod round;
mod rows;
mod small;
mod solve;
mod verify;
mod window;

pub use column::Column;
pub use cost::{Cost, Near, Piecewise, Polynomial};
pub use costs::Costs;
pub use curve::supply_curve;
pub use error::{Error, Result};
pub use many::allocate_many;
pub use prices::sensitivity;
pub use problem::{Problem, Row, Sense, Users};
pub use solve::{Allocation, Settings, Step, Watch, allocate};
pub use verify::{Verified, verify};
