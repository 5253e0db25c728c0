//! Independent judges for the solver: an oracle, a suite of random problems, and known optima.
//!
//! Everything here is plain data about `minimise f(x) + h(x) subject to A x = b`, written from the
//! problem statement alone. The crate must not know the solver it judges.
//!
//! * [`instance`]: the description of a problem, and its naive evaluation.
//! * [`oracle`]: the optimum by a conic interior-point method (Clarabel).
//! * [`random`]: the fixed suite of random problems.
//! * [`soak`]: promises under many random seeds, for as long as there is time.
//! * [`known`]: problems whose optimum is known in closed form.
//! * [`public_data`]: where the public data sets lie.

mod dense;
mod evaluate;
pub mod instance;
pub mod known;
mod loss;
pub mod oracle;
mod penalty;
pub mod public_data;
pub mod random;
pub mod soak;

pub use instance::{Blocks, Coupling, Dense, Instance, Loss, Separable, Smooth, infeasibility, objective};
pub use known::Known;
pub use oracle::{Oracle, OracleFailure, solve};
