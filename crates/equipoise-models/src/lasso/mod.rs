//! The lasso and its kin under linear constraints on the coefficients.
//!
//! ```text
//! minimise   sum_i w_i phi(b_0 + x_i'b, y_i)  +  lambda sum_j v_j ( r |b_j| + (1 - r)/2 b_j^2 )      subject to   C b = 0
//! ```
//!
//! phi: squares `1/2 (z - y)^2`, Huber's loss, the logistic loss; `v_j` = 0 for columns that are not penalised; C a row of ones
//! for the zero-sum (log-contrast) lasso, several rows for sub-compositions, none for the plain lasso. Sums, not means.
//!
//! - `data`, `settings`, `error`: what is given, checked
//! - `fitter`: one lambda after the other
//! - `working`, `factor`, `balance`: the exact minimiser over the working columns
//! - `design`, `correlations`, `constraints`: columns, their products with the residual where they matter, rows of C
//! - `lambda_max`: where the path begins
//! - `proof`: bounds that hold in exact arithmetic
//! - `path`, `cv`, `stability`: many fits; `samples`: folds and halves
//! - `verify`: a fit of somebody else

mod balance;
mod constraints;
mod correlations;
mod cv;
mod data;
mod design;
mod error;
mod factor;
mod fitter;
mod lambda_max;
mod path;
mod point;
mod proof;
mod samples;
mod settings;
mod stability;
mod verify;
mod working;

pub use cv::{Cv, CvPoint, cross_validate};
pub use data::Data;
pub use error::{Error, Result};
pub use fitter::Fitter;
pub use path::{Lambdas, path};
pub use point::Point;
pub use settings::{Loss, Settings};
pub use stability::{Stability, stability};
pub use verify::verify;
