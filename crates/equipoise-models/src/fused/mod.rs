//! Signals, images and graphs in pieces: the generalised lasso with a certified gap.
//!
//! ```text
//! minimise 1/2 ||y - X b||^2 + lambda ||D b||_1 + mu ||b||_1
//! ```
//!
//! D takes differences: of neighbours on a chain (fused lasso), their bends (trend filtering), of neighbours in an image (total
//! variation) or on a graph, or is any sparse matrix ([`Penalty`]). X is the identity, leaves some coefficients unobserved,
//! or is any matrix ([`Design`]). [`fit`] returns coefficients with their objective from above and the optimum from below, both in
//! exact arithmetic.

mod aside;
mod band;
mod chain;
mod degrees;
mod design;
mod error;
mod fit;
mod image;
mod interior;
mod jumps;
mod lambda_max;
mod lines;
mod path;
mod penalty;
mod proof;
mod reach;
mod regions;
mod saddle;
mod settings;
mod slack;
mod string;
mod system;
mod verify;
mod watch;
mod whole;

pub use design::Design;
pub use error::{Error, Result};
pub use fit::{Fit, Signal, fit, fit_from, fit_watched};
pub use lambda_max::{lambda_max, quick_lambda_max};
pub use path::{Criterion, Point, choose, lambdas, path};
pub use penalty::{Edge, Penalty};
pub use settings::{FitSettings, Method};
pub use verify::{Check, verify};
pub use watch::{Round, Watch};
