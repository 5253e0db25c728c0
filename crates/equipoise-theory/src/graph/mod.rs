//! What the theorems ask of a graph: the ends of the spectrum of its Laplacian, its diameter, solutions of `K z = r`.
//!
//! - Given: an [`equipoise::graph::Graph`], weights. Returns: [`Spectrum`], [`Diameter`], [`Laplacian`].
//! - Must not know: probabilities, curvature.

mod adjacency;
mod diameter;
mod elimination;
mod laplacian;
mod spectrum;
mod tridiagonal;

pub use diameter::Diameter;
pub(crate) use elimination::Elimination;
pub use laplacian::Laplacian;
pub use spectrum::Spectrum;

use equipoise::graph::Graph;

/// The edges of a graph as a list.
fn edge_list(graph: &Graph) -> Vec<(u32, u32)> {
    graph.edges().map(|(i, j)| (i as u32, j as u32)).collect()
}
