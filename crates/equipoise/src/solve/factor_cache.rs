//! Factors of `M_ij = A_i A_i'/D_i + A_j A_j'/D_j` for the pairs of a smooth problem.
//!
//! When the factors of all edges fit the memory budget each is computed once, on first use. Beyond the budget
//! (a large clique) a pair is factored on the fly from the blocks' Gram matrices, which are kept if they fit.

use crate::graph::Graph;
use crate::pair_step::Factor;

/// Factors by edge, or the means to make them quickly.
#[derive(Debug)]
pub(crate) struct FactorCache {
    rows: usize,
    /// Packed edges in increasing order; empty when factors are not kept.
    edges: Vec<u64>,
    factors: Vec<Option<Box<Factor>>>,
    /// `A_i A_i'/D_i` of every block, filled on first use; empty when they are not kept.
    grams: Vec<Option<Box<[f64]>>>,
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
        Self {
            rows,
            factors: vec![None; edges.len()],
            edges,
            grams: if keep_grams { vec![None; graph.nodes()] } else { Vec::new() },
            scratch: Factor::default(),
            gram: vec![0.0; rows * rows],
        }
    }

    /// The factor for the pair (i, j); `add_gram(b, gram)` adds block b's Gram matrix to the lower triangle.
    #[inline]
    pub(crate) fn factor(&mut self, i: usize, j: usize, add_gram: impl Fn(usize, &mut [f64])) -> &Factor {
        if let Ok(at) = self.edges.binary_search(&pack(i, j)) {
            let (rows, gram) = (self.rows, &mut self.gram);
            return self.factors[at].get_or_insert_with(|| {
                gram.fill(0.0);
                // Always the smaller index first: the same bits whichever way the pair was drawn.
                add_gram(i.min(j), gram);
                if i != j {
                    add_gram(i.max(j), gram);
                }
                Box::new(Factor::from_gram(rows, gram))
            });
        }
        self.gram.fill(0.0);
        self.add_block(i.min(j), &add_gram);
        if i != j {
            self.add_block(i.max(j), &add_gram);
        }
        self.scratch.refactor(self.rows, &self.gram);
        &self.scratch
    }

    fn add_block(&mut self, block: usize, add_gram: &impl Fn(usize, &mut [f64])) {
        if self.grams.is_empty() {
            add_gram(block, &mut self.gram);
            return;
        }
        let size = self.rows * self.rows;
        let kept = self.grams[block].get_or_insert_with(|| {
            let mut gram = vec![0.0; size].into_boxed_slice();
            add_gram(block, &mut gram);
            gram
        });
        self.gram.iter_mut().zip(kept.iter()).for_each(|(sum, part)| *sum += part);
    }
}
