//! The communication graph G and its probabilities p: which pairs of blocks may move together, how often.
//!
//! G = (V, E), V = {0, ..., b-1} the blocks; an edge e = {i, j} is drawn with probability `p_e`, and the
//! constants of the theorems are those of the weighted Laplacian `K = sum_e w_e (e_i - e_j)(e_i - e_j)^T`.
//!
//! - Given: a [`Topology`] (by name, or a list of edges), the number of nodes, [`EdgeProbabilities`].
//! - Returns: a [`Graph`], an [`EdgeSampler`], connectivity, [`resistances`]. What theory says of a graph beyond that
//!   (spectra, diameters, constants) is in the crate `equipoise-theory`.
//! - Must not know: x, gradients, f, h, A. Nodes are numbers.
//!
//! A clique is never stored: a million nodes cost nothing.
//!
//! Reference: the paper (UAI 2015), sections 3 and 4.
//!
//! ```
//! use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph, Topology};
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alias;
mod connectivity;
mod generate;
mod probabilities;
mod random;
mod resistance;
mod sampler;
mod structure;
mod topology;
mod uniform;

pub(crate) use alias::AliasTable;
pub use probabilities::EdgeProbabilities;
pub use resistance::resistances;
pub use sampler::EdgeSampler;
pub use structure::{Degrees, Graph};
pub use topology::{Topology, TopologyChoice};
pub(crate) use uniform::below;
