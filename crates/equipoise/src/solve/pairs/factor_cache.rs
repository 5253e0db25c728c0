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
    /// Edges in increasing order, each from its smaller end: those of block i are `ends[starts[i]..starts[i + 1]]`.
    /// Empty when factors are not kept.
    starts: Vec<u32>,
    ends: Vec<u32>,
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

impl Kept {
    /// Where the factor of a pair is kept.
    #[inline]
    fn place(&self, i: usize, j: usize) -> Option<usize> {
        let (low, high) = (i.min(j), i.max(j) as u32);
        let (from, to) = (*self.starts.get(low)? as usize, *self.starts.get(low + 1)? as usize);
        let ends = &self.ends[from..to];
        // Most blocks have a few neighbours, a hub has many.
        let at = if ends.len() <= 8 {
            ends.iter().position(|end| *end == high)?
        } else {
            ends.binary_search(&high).ok()?
        };
        Some(from + at)
    }

    /// The pair whose factor is kept there.
    fn pair(&self, at: usize) -> (usize, usize) {
        let low = self.starts.partition_point(|start| *start as usize <= at) - 1;
        (low, self.ends[at] as usize)
    }
}

impl FactorCache {
    pub(crate) fn new(graph: &Graph, rows: usize, budget: usize) -> Self {
        let factor_bytes = 4 * rows * (rows + 1) + 128;
        let keep_factors = graph.edge_count().saturating_mul(factor_bytes + 16) <= budget;
        let keep_grams = !keep_factors && graph.nodes().saturating_mul(8 * rows * rows + 16) <= budget;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        if keep_factors {
            edges.extend(graph.edges().map(|(i, j)| (i.min(j) as u32, i.max(j) as u32)));
            if edges.is_empty() {
                edges.push((0, 0));
            }
        }
        edges.sort_unstable();
        let nodes = if keep_factors { graph.nodes() as u32 } else { 0 };
        let starts = (0..=nodes).map(|i| edges.partition_point(|(low, _)| *low < i) as u32).collect();
        let ends: Vec<u32> = edges.iter().map(|(_, high)| *high).collect();
        let factors = ends.iter().map(|_| OnceLock::new()).collect();
        let grams =
            if keep_grams { (0..graph.nodes()).map(|_| OnceLock::new()).collect() } else { Vec::new() };
        let kept = Arc::new(Kept { rows, starts, ends, factors, grams });
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
        (part..kept.ends.len()).step_by(parts.max(1)).map(move |at| kept.pair(at))
    }

    /// The factor for the pair (i, j); `add_gram(b, gram)` adds block b's Gram matrix to the lower triangle.
    #[inline]
    pub(crate) fn factor(&mut self, i: usize, j: usize, add_gram: impl Fn(usize, &mut [f64])) -> &Factor {
        let (rows, gram) = (self.kept.rows, &mut self.gram);
        if let Some(at) = self.kept.place(i, j) {
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
