//! Consensus by pairs over a graph:
//!
//! ```text
//! minimise  sum_i f_i(x),     f_i known to node i alone,     nodes joined by a graph,
//! ```
//!
//! solved in the dual, `minimise sum_i f_i*(lambda_i) subject to sum_i lambda_i = 0`: neighbours exchange what each believes,
//! `x_i = argmin f_i(x) - lambda_i.x`, and transfer some of lambda from one to the other. Data stay where they are.
//!
//! - Given: shards of rows with their targets, a [`Model`], a [`Graph`](equipoise::graph::Graph), [`Settings`].
//! - Returns: a [`Fit`]: the point on which the nodes agree, an objective from above and a bound from below that hold in
//!   exact arithmetic, the disagreement, and what crossed every edge.
//! - Must not know: files, how results are shown.
//!
//! | what | where |
//! |---|---|
//! | the problem and what is wrong with it | [`Problem`], [`Error`] |
//! | what a node solves alone | `local/` |
//! | lambda in fixed point, so that its sum is exactly 0 | `ledger.rs` |
//! | the three steps of an exchange; who carries messages | [`protocol`] |
//! | waves along a spanning tree, for all losses but the lasso | `tree/` |
//! | bounds that are proven | `proof.rs` |

mod curvature;
mod error;
mod factor;
mod fit;
mod ledger;
mod local;
mod pairs;
mod problem;
mod proof;
pub mod protocol;
mod settings;
mod traffic;
mod tree;
mod verify;

#[cfg(test)]
mod tests;

pub use curvature::Curvature;
pub use error::Error;
pub use fit::{Checkpoint, Fit, Ranks, Watch, fit, fit_across};
pub use problem::{Loss, Model, Problem, Shard, Split};
pub use settings::{Method, Settings};
pub use traffic::{EdgeTraffic, Traffic};
pub use verify::{Checked, verify};
