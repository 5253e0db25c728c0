//! A law of draws that somebody else makes for a problem: `p_e` from the graph and the constants of the blocks.
//!
//! - Given: the graph, `L_i` for every block, a [`Control`]. Returns: [`EdgeProbabilities`].
//! - Must not know: f, h, A.

use crate::control::Control;
use crate::graph::{EdgeProbabilities, Graph};

/// Makes probabilities for a problem that is being built; see [`ProbabilityChoice::Law`](super::ProbabilityChoice::Law).
pub trait DrawLaw: std::fmt::Debug + Send + Sync {
    /// Its name in files.
    fn name(&self) -> &'static str;
    /// The law, for blocks of which block i bends by at most `constants[i]`. Once it should end, the best law so far: any
    /// law can be drawn from.
    fn probabilities(&self, graph: &Graph, constants: &[f64], control: &Control) -> EdgeProbabilities;
}
