//! The constant nu of the graph for a problem: what momentum divides its steps by.
//!
//! With one row over scalars, pairs in the variables `y = a x` have the curvature
//! `L_e = H_ii/a_i^2 + H_jj/a_j^2 - 2 H_ij/(a_i a_j)`, and `nu = max_e r_e / L_e` is computed. Otherwise every block
//! counts as a scalar with its mean curvature, and nu is an estimate, which `accelerated.rs` corrects.
//!
//! Reference: Necoara and Takac 2021 (accelerated sketch descent); `graph/resistance/`.

use crate::control::Control;
use crate::coupling::Shape;
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, EdgeSampler, Graph, resistances};
use crate::problem::Problem;
use crate::separable::{SeparableTerm, Values};
use crate::smooth::SmoothTerm;
use crate::solve::gears::accelerated::GraphConstant;
use crate::solve::pairs::metric::Metric;

/// Most numbers that may be looked at for the curvature of all pairs.
const MOST_WORK: usize = 200_000_000;
/// Most nodes of a graph whose constant is computed.
const MOST_NODES: usize = 2000;
/// A pair with less curvature than this, relative to that of its two parts, counts as one with so much.
const SHARE_OF_FLAT: f64 = 1e-9;

/// Edges between two looks at the control.
const LOOK: usize = 1024;

/// nu of a problem; its lower bound, as an estimate, once the control ends the work.
pub(crate) fn of<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    metric: &Metric,
    control: &Control,
) -> Result<GraphConstant> {
    let (f, blocks, graph) = (problem.smooth(), problem.blocks(), problem.graph());
    if blocks.len() == 1 {
        return Ok(GraphConstant { nu: 1.0, exact: true });
    }
    let least = GraphConstant { nu: blocks.len() as f64 - 1.0, exact: false };
    let coefficient = |c: usize| match problem.independent_coupling().shape() {
        Shape::Row(Values::Uniform(a)) => *a,
        Shape::Row(weights) => weights.at(c),
        _ => 0.0,
    };
    // Beyond, the constant may take longer than the run: momentum corrects an estimate as it goes.
    if blocks.len() > MOST_NODES && !graph.is_clique() {
        return Ok(least);
    }
    // Of all graphs the clique gains least from momentum: its constant is not worth much work.
    if graph.is_clique() {
        let alike = metric.uniform_at_full_step().is_some() && f.is_decomposable();
        return Ok(GraphConstant { exact: alike && problem.coupling().uniform_row().is_some(), ..least });
    }
    let one_row = blocks.are_scalars() && (0..problem.dimension()).all(|c| coefficient(c) != 0.0);
    let affordable = graph.edge_count().saturating_mul(f.product_len().max(1)) <= MOST_WORK;
    if one_row && (f.is_decomposable() || affordable) {
        let own = |c: usize| metric.diagonal(f, c) / coefficient(c).powi(2);
        let curvature = |i: usize, j: usize| {
            let apart = own(i) + own(j);
            let along = match f.interaction(i, j) {
                Some(cross) => apart - 2.0 * cross / (coefficient(i) * coefficient(j)),
                None => metric.pair_factor() * apart,
            };
            along.max(SHARE_OF_FLAT * apart)
        };
        let found = pair_constant(graph, problem.probabilities(), &curvature, control)?;
        return Ok(found.map_or(least, |nu| GraphConstant { nu, exact: true }));
    }
    let mean = |i: usize| {
        blocks.coordinates(i).map(|c| metric.at_full_step(f, c, i)).sum::<f64>() / blocks.size(i) as f64
    };
    let means: Vec<f64> = (0..blocks.len()).map(mean).collect();
    // Where rows bind only some of the blocks the graph need not be connected.
    let found = pair_constant(graph, problem.probabilities(), &|i, j| means[i] + means[j], control);
    Ok(GraphConstant { nu: found.ok().flatten().unwrap_or(least.nu), exact: false })
}

/// `max_e r_e / L_e` over the edges that can be drawn, `L_e = curvature(i, j)`; never below b - 1 (Foster). `None` where
/// the resistances are not known, or not in time.
fn pair_constant(
    graph: &Graph,
    probabilities: &EdgeProbabilities,
    curvature: &dyn Fn(usize, usize) -> f64,
    control: &Control,
) -> Result<Option<f64>> {
    graph.check_support_connected(probabilities)?;
    let sampler = EdgeSampler::new(graph, probabilities)?;
    let (mut edges, mut weights, mut bends) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (i, j)) in graph.edges().enumerate().filter(|(edge, _)| sampler.probability(*edge) > 0.0) {
        if index.is_multiple_of(LOOK) && control.halted().is_some() {
            return Ok(None);
        }
        let found = curvature(i, j);
        if !(found > 0.0 && found.is_finite()) {
            let input = "curvature of pairs".to_owned();
            return Err(Error::OutOfRange { input, index, found, allowed: "a finite number above 0" });
        }
        edges.push((i as u32, j as u32));
        weights.push(sampler.probability(index) / found);
        bends.push(found);
    }
    let found = resistances(graph.nodes(), &edges, &weights, control).ok().flatten();
    let most = |found: Vec<f64>| found.iter().zip(&bends).map(|(r, bend)| r / bend).fold(0.0, f64::max);
    Ok(found.map(|found| most(found).max((graph.nodes() - 1) as f64)))
}
