//! The constants of the theorems as numbers, and the bounds that follow from them.
//!
//! ```text
//! K = sum_e (p_e / L_e)(e_i - e_j)(e_i - e_j)'       L_e: curvature of f along e_i - e_j (2L when it is uniform)
//! r_e = (e_i - e_j)' K^+ (e_i - e_j)                 effective resistance
//! nu  = max_e r_e / L_e  >=  b - 1                   constant of the accelerated method
//! ```
//!
//! - Given: a graph, the probabilities of its edges, the curvature of a pair; for [`Prediction`] a whole problem.
//! - Returns: spectra and diameters of graphs, the K-norm, resistances, nu, probabilities that make nu smallest, steps
//!   under delay, curves of bounds.
//! - Must not know: the solver, which needs none of this. Only `problem.rs` and `prediction.rs` know more than graphs and
//!   matrices.
//!
//! | file | what |
//! |---|---|
//! | `k_norm.rs` | K, its norm and its dual norm, its smallest eigenvalue |
//! | `graph/` | spectrum of the Laplacian, diameter |
//! | `resistance.rs` | `r_e`, nu, Foster's sum; exact by [`equipoise::graph::resistances`], else `projection.rs` |
//! | `dense.rs` | eigenvalues of small dense matrices |
//! | `large_clique.rs` | nu of a clique that is too large to list |
//! | `equalise.rs` | probabilities with nu = b - 1 |
//! | `async_step.rs` | largest steps for a delay tau |
//! | `experiment.rs` | these steps, and delays, in a run |
//! | `curves.rs` | the bounds as functions of k |
//! | `problem.rs`, `prediction.rs` | the constants of a problem, and the bound that applies to a run on it |
//!
//! Reference: the paper (UAI 2015), section 4; docs/theory.md, which lists where it had to be corrected.
//!
//! ```
//! use equipoise::graph::{EdgeProbabilities, Graph, Topology};
//! use equipoise::Control;
//! use equipoise_theory as theory;
//!
//! let wheel = Graph::new(&Topology::Wheel, 24)?;
//! let nu = theory::pair_constant(&wheel, &EdgeProbabilities::Uniform, &|_, _| 2.0, &Control::unlimited())?;
//! assert!((nu - 25.4282).abs() < 1e-4);
//! let equal = theory::equalised(&wheel, &|_, _| 2.0, &Control::unlimited())?;
//! let nu = theory::pair_constant(&wheel, &equal, &|_, _| 2.0, &Control::unlimited())?;
//! assert!(nu < 23.0 * 1.001);
//! # Ok::<(), equipoise::Error>(())
//! ```

mod async_step;
pub mod curves;
mod dense;
mod equalise;
mod experiment;
mod graph;
mod k_norm;
mod large_clique;
mod prediction;
mod problem;
mod projection;
mod resistance;

pub use async_step::{repaired_step, sharp_step, theorem_2_rho, theorem_2_step};
pub use equalise::{Equalised, equalised, equalised_within};
pub use experiment::{Delayed, StepRule};
pub use graph::{Diameter, Laplacian, Spectrum};
pub use k_norm::{KNorm, Smallest};
pub use prediction::{Prediction, Scheme};
pub use problem::PairConstants;
pub use resistance::Resistances;

use equipoise::graph::{EdgeProbabilities, Graph};
use equipoise::{Control, Error, Halt, Result};

/// nu = `max_e r_e / L_e` over the edges that can be drawn, from above, for pairs whose curvature is
/// `curvature(i, j)` (i < j).
///
/// | graph | how | accuracy |
/// |---|---|---|
/// | clique, uniform draws, equal curvature at probed pairs | `b - 1` | exact |
/// | trees, and whatever little fill or 2000 nodes allow | elimination | exact |
/// | other lists | random projections, rounded up | fails with probability 1e-3 |
/// | clique of more than 1500 nodes | parallel paths, on a sample of pairs | an upper bound for each pair of the sample |
///
/// Errors: [`Error::GraphDisconnected`] where nu would be infinite,
/// [`Error::OutOfRange`] for a curvature that is not positive and finite,
/// [`Error::StoppedEarly`] where the control ended it.
pub fn pair_constant(
    graph: &Graph,
    probabilities: &EdgeProbabilities,
    curvature: &dyn Fn(usize, usize) -> f64,
    control: &Control,
) -> Result<f64> {
    if large_clique::applies(graph) {
        return large_clique::pair_constant(graph, probabilities, curvature);
    }
    let norm = KNorm::with_curvature(graph, probabilities, curvature)?;
    Ok(Resistances::of(&norm, control)?.nu())
}

/// The error of constants that were not known in time.
fn stopped(halt: &Halt) -> Error {
    Error::StoppedEarly { by: if *halt == Halt::TimeLimit { "time-limit" } else { "interrupted" } }
}
