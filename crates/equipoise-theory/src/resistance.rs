//! Effective resistances `r_e = (e_i - e_j)' K^+ (e_i - e_j)`, and what follows from them:
//!
//! ```text
//! nu = max_e r_e / L_e                  E[G_e K^+ G_e] <= nu K,   G_e = (e_i - e_j)(e_i - e_j)' / L_e
//! sum_e p_e r_e / L_e = b - 1           Foster; so nu >= b - 1, with equality iff all r_e / L_e are equal
//! ```
//!
//! - Given: a [`KNorm`]. Returns: [`Resistances`].
//! - Must not know: how K came about.
//!
//! | graph | how |
//! |---|---|
//! | clique by rule | `r = 2 L_e / (b p)`: `nu = b - 1` |
//! | what little fill or 2000 nodes allow | exactly, by [`equipoise::graph::resistances`] |
//! | otherwise | random projections, with a stated error (`projection.rs`) |
//!
//! Reference: Foster 1949; Klein and Randic 1993; for nu Necoara and Takac 2021 (accelerated sketch descent).

use super::k_norm::{KNorm, Pair, Pairs};
use super::{dense, projection, stopped};
use equipoise::graph::{Graph, Topology, resistances};
use equipoise::{Control, Error, Result};

/// Nodes up to which the smallest valid nu is computed.
const MOST_NODES_OF_EIGENPROBLEM: usize = 500;

/// The resistances of the edges that can be drawn.
#[derive(Debug, Clone)]
pub struct Resistances {
    nodes: usize,
    pairs: Vec<Pair>,
    values: Vec<f64>,
    /// Edges that each entry stands for: 1, or all of a clique.
    multiplicity: f64,
    error: f64,
}

impl Resistances {
    /// Computes them.
    ///
    /// Errors: [`Error::GraphDisconnected`] if the edges that can be drawn do not connect the nodes (a resistance would
    /// be infinite), [`Error::GraphTooSmall`] for one node, [`Error::StoppedEarly`] where the control ends it.
    pub fn of(norm: &KNorm, control: &Control) -> Result<Self> {
        let nodes = norm.nodes();
        if nodes < 2 {
            return Err(Error::GraphTooSmall { topology: "effective resistances", found: nodes, minimum: 2 });
        }
        let pairs = match &norm.pairs {
            Pairs::Clique { probability, curvature } => {
                let pair = Pair { i: 0, j: 1, probability: *probability, curvature: *curvature };
                let values = vec![2.0 / (nodes as f64 * pair.weight())];
                let multiplicity = 1.0 / probability;
                return Ok(Self { nodes, pairs: vec![pair], values, multiplicity, error: 0.0 });
            }
            Pairs::Listed(pairs) => pairs.clone(),
        };
        let edges: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.i, pair.j)).collect();
        let ends = edges.iter().map(|&(i, j)| (i as usize, j as usize)).collect();
        Graph::new(&Topology::Edges(ends), nodes)?.check_connected()?;
        let weights: Vec<f64> = pairs.iter().map(Pair::weight).collect();
        let exact = resistances(nodes, &edges, &weights, control).map_err(|halt| stopped(&halt))?;
        let (values, error) = if let Some(values) = exact {
            (values, 0.0)
        } else {
            let found = projection::estimates(nodes, &edges, &weights, control)?;
            (found.values, found.error)
        };
        Ok(Self { nodes, pairs, values, multiplicity: 1.0, error })
    }

    /// `r_e` of the edges that can be drawn, in the order of [`Graph::edges`]; of a clique by rule the one value.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// 0 if exact; else no value is below `1 - relative_error` times the truth, but for probability 1e-3.
    pub fn relative_error(&self) -> f64 {
        self.error
    }

    /// `r_e / L_e` of every edge that can be drawn, at the estimate.
    pub(super) fn ratios(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().zip(&self.pairs).map(|(r, pair)| r / pair.curvature)
    }

    /// nu = `max_e r_e / L_e`, from above where the values are estimates (and no edge more than `1 / p_e`).
    pub fn nu(&self) -> f64 {
        let above = |(ratio, pair): (f64, &Pair)| (ratio / (1.0 - self.error)).min(1.0 / pair.probability);
        let most = self.ratios().zip(&self.pairs).map(above).fold(0.0, f64::max);
        // Foster: never below b - 1.
        most.max((self.nodes - 1) as f64)
    }

    /// `sum_e p_e r_e / L_e`, which is b - 1 but for rounding and for the error of estimates.
    pub fn foster_sum(&self) -> f64 {
        let part = |(ratio, pair): (f64, &Pair)| ratio * pair.probability;
        self.multiplicity * self.ratios().zip(&self.pairs).map(part).sum::<f64>()
    }

    /// The smallest nu with `E[G_e K^+ G_e] <= nu K`, at most [`Resistances::nu`]; up to 500 nodes, where exact.
    pub fn smallest_nu(&self) -> Option<f64> {
        if self.multiplicity > 1.0 {
            return Some(self.nu());
        }
        if self.nodes > MOST_NODES_OF_EIGENPROBLEM || self.error > 0.0 {
            return None;
        }
        let edges: Vec<(u32, u32)> = self.pairs.iter().map(|pair| (pair.i, pair.j)).collect();
        let below: Vec<f64> = self.pairs.iter().map(Pair::weight).collect();
        // In units of nu, so that the two matrices are of one size.
        let nu = self.nu();
        let above: Vec<f64> = self.ratios().zip(&below).map(|(ratio, w)| ratio / nu * w).collect();
        let scale = below.iter().copied().fold(0.0, f64::max);
        let scaled = |weights: Vec<f64>| weights.into_iter().map(|w| w / scale).collect::<Vec<_>>();
        dense::largest_relative(self.nodes, &edges, &scaled(above), &scaled(below)).map(|part| nu * part)
    }
}

#[cfg(test)]
#[path = "resistance_tests.rs"]
mod tests;
