//! Factors of `M_ij = A_i A_i'/D_i + A_j A_j'/D_j` for the pairs of a smooth problem.
//!
//! When the factors of all edges fit the memory budget each is computed once, on first use or beforehand, and shared
//! by all threads. Beyond the budget (a large clique) a pair is factored on the fly from the blocks' Gram matrices,
//! which are kept, and shared, if they fit.

use std::sync::{Arc, OnceLock};

use crate::graph::Graph;
use crate::pair_step::Factor;

/// What all threads share.
#[derive(Debug)]
struct Kept {
    rows: usize,
    /// Packed edges in increasing order; empty when factors are not kept.
    edges: Vec<u64>,
    factors: Vec<OnceLock<Box<Factor>>>,
    /// `A_i A_i'/D_i` of every block, filled on first use; empty when they are not kept.
    grams: Vec<OnceLock<Box<[f64]>>>,
}

/// Factors by edge, or the means to make them quickly.
#[derive(Debug)]
pub(crate) struct FactorCache {
    kept: Arc<Kept>,
    /// Where a pair is factored on the fly.
    scratch: Factor,
    gram: Vec<f64>,
}

fn pack(i: usize, j: usize) -> u64 {
    ((i.min(j) as u64) << 32) | i.max(j) as u64
}

impl FactorCache {
    pub(crate) fn new(graph: &Graph, rows: usize, budget: usize) -> Self {
        let factor_bytes = 4 * rows * (rows + 1) + 128;
        let keep_factors = graph.edge_count().saturating_mul(factor_bytes + 16) <= budget;
        let keep_grams = !keep_factors && graph.nodes().saturating_mul(8 * rows * rows + 16) <= budget;
        let mut edges: Vec<u64> =
            if keep_factors { graph.edges().map(|(i, j)| pack(i, j)).collect() } else { Vec::new() };
        if keep_factors && edges.is_empty() {
            edges.push(pack(0, 0));
        }
        edges.sort_unstable();
        let factors = edges.iter().map(|_| OnceLock::new()).collect();
        let grams =
            if keep_grams { (0..graph.nodes()).map(|_| OnceLock::new()).collect() } else { Vec::new() };
        let kept = Arc::new(Kept { rows, edges, factors, grams });
        Self { kept, scratch: Factor::default(), gram: vec![0.0; rows * rows] }
    }

    /// Another user of the same factors.
    pub(crate) fn fork(&self) -> Self {
        Self { kept: Arc::clone(&self.kept), scratch: Factor::default(), gram: self.gram.clone() }
    }

    /// The pairs whose factors are kept, the `part`-th of `parts` shares of them.
    pub(crate) fn kept_pairs(
        &self,
        part: usize,
        parts: usize,
    ) -> impl Iterator<Item = (usize, usize)> + use<> {
        let kept = Arc::clone(&self.kept);
        (part..kept.edges.len()).step_by(parts.max(1)).map(move |at| {
            let edge = kept.edges[at];
            ((edge >> 32) as usize, (edge & u64::from(u32::MAX)) as usize)
        })
    }

    /// The factor for the pair (i, j); `add_gram(b, gram)` adds block b's Gram matrix to the lower triangle.
    #[inline]
    pub(crate) fn factor(&mut self, i: usize, j: usize, add_gram: impl Fn(usize, &mut [f64])) -> &Factor {
        let (rows, gram) = (self.kept.rows, &mut self.gram);
        if let Ok(at) = self.kept.edges.binary_search(&pack(i, j)) {
            return self.kept.factors[at].get_or_init(|| {
                gram.fill(0.0);
                // Always the smaller index first: the same bits whichever way the pair was drawn.
                add_gram(i.min(j), gram);
                if i != j {
                    add_gram(i.max(j), gram);
                }
                Box::new(Factor::from_gram(rows, gram))
            });
        }
        gram.fill(0.0);
        self.add_block(i.min(j), &add_gram);
        if i != j {
            self.add_block(i.max(j), &add_gram);
        }
        self.scratch.refactor(rows, &self.gram);
        &self.scratch
    }

    fn add_block(&mut self, block: usize, add_gram: &impl Fn(usize, &mut [f64])) {
        if self.kept.grams.is_empty() {
            add_gram(block, &mut self.gram);
            return;
        }
        let size = self.kept.rows * self.kept.rows;
        let kept = self.kept.grams[block].get_or_init(|| {
            let mut gram = vec![0.0; size].into_boxed_slice();
            add_gram(block, &mut gram);
            gram
        });
        self.gram.iter_mut().zip(kept.iter()).for_each(|(sum, part)| *sum += part);
    }
}
