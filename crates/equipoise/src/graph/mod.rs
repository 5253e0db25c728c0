//! The communication graph G and its probabilities p: which pairs of blocks may move together, how often.
//!
//! G = (V, E), V = {0, ..., b-1} the blocks; an edge e = {i, j} is drawn with probability `p_e`, and the theory
//! looks at the weighted Laplacian `K = sum_e w_e (e_i - e_j)(e_i - e_j)^T`.
//!
//! - Given: a [`Topology`] (by name, or a list of edges), the number of nodes, [`EdgeProbabilities`].
//! - Returns: a [`Graph`], an [`EdgeSampler`], and the facts of theory: [`Spectrum`], [`Diameter`], connectivity.
//! - Must not know: x, gradients, f, h, A. Nodes are numbers.
//!
//! A clique is never stored: a million nodes cost nothing.
//!
//! Reference: the paper (UAI 2015), sections 3 and 4.
//!
//! ```
//! use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph, Laplacian, Topology};
//! use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
//!
//! let topology = Topology::parse("star+ring", 24, 0)?;
//! let graph = Graph::new(&topology, 24)?;
//! graph.check_connected()?;
//! assert_eq!(graph.edge_count(), 45);
//!
//! let sampler = EdgeSampler::new(&graph, &EdgeProbabilities::Uniform)?;
//! let (i, j) = sampler.draw(&mut Xoshiro256PlusPlus::seed_from_u64(1));
//! assert!(i != j && i < 24 && j < 24);
//!
//! let spectrum = Laplacian::uniform(&graph, 0.5 / 45.0)?.spectrum()?;
//! assert!((spectrum.smallest_nonzero - 0.011318).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adjacency;
mod alias;
mod connectivity;
mod diameter;
mod elimination;
mod generate;
mod laplacian;
mod probabilities;
mod random;
mod sampler;
mod spectrum;
mod structure;
mod topology;
mod tridiagonal;
mod uniform;

pub(crate) use alias::AliasTable;
pub use diameter::Diameter;
pub(crate) use elimination::Elimination;
pub use laplacian::Laplacian;
pub use probabilities::EdgeProbabilities;
pub use sampler::EdgeSampler;
pub use spectrum::Spectrum;
pub use structure::{Degrees, Graph};
pub use topology::{Topology, UnknownTopology};
pub(crate) use uniform::below;
