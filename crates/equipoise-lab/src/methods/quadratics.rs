//! Momentum: quadratics over a sum row, well and badly conditioned, on sparse graphs and on the clique.
//!
//! Diagonal: `1/2 sum s_c (x_c - t_c)^2`. Dense: `1/2 x'R diag(s) R'x + c'x`, R a product of three reflections. In both
//! `s = condition^U`, U uniform.

use std::sync::Arc;

use anyhow::Result;
use equipoise::graph::Topology;
use equipoise::smooth::{Distance, Quadratic, SmoothTerm};
use equipoise::{Coupling, DenseMatrix, ProbabilityChoice, Problem};
use equipoise_theory::Equalised;

use super::Arguments;
use super::contenders::on_graphs;
use super::data::{Rotation, spectrum};
use super::measure::{Contest, Optimum};
use super::record::Record;
use crate::random::Stream;

/// Scalars.
const SIZE: usize = 1000;
const QUICK_SIZE: usize = 60;
/// Of the linear term of the dense problems.
const SLOPE: f64 = 10.0;
/// Graphs with the condition of the quadratics on them: where pairs are slow, and where they are not.
const CASES: [(&str, f64); 3] = [("ring", 1e4), ("tree+ring", 1e4), ("clique", 2.0)];

/// Every graph, both kinds, every seed.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let n = if arguments.quick { QUICK_SIZE } else { SIZE };
    for &seed in arguments.seeds() {
        for (graph, condition) in CASES {
            let name = |kind: &str| format!("{kind} n={n} condition={condition}");
            measure(arguments, name("diagonal"), graph, seed, &diagonal(n, condition, seed)?, record)?;
            measure(arguments, name("dense"), graph, seed, &dense(n, condition, seed)?, record)?;
        }
    }
    Ok(())
}

fn diagonal(n: usize, condition: f64, seed: u64) -> Result<Distance> {
    let mut random = Stream::new(seed);
    let weights: Vec<f64> = spectrum(n, condition, &mut random).iter().map(|s| 0.5 * s).collect();
    Ok(Distance::new(random.normals(n), weights)?)
}

fn dense(n: usize, condition: f64, seed: u64) -> Result<Quadratic<'static>> {
    let mut random = Stream::new(seed);
    let spectrum = spectrum(n, condition, &mut random);
    let matrix = Rotation::new(n, &mut random).conjugate(&spectrum);
    let slope = random.normals(n).iter().map(|value| SLOPE * value).collect();
    Ok(Quadratic::new(DenseMatrix::from_columns(n, n, matrix)?, slope)?)
}

fn measure<F: SmoothTerm + Clone>(
    arguments: &Arguments,
    name: String,
    graph: &'static str,
    seed: u64,
    f: &F,
    record: &mut Record,
) -> Result<()> {
    let build = |probabilities| -> Result<Problem<F>> {
        let topology = Topology::parse(graph, f.dimension(), 0)?;
        let builder = Problem::builder(f.clone()).coupling(Coupling::sum(0.0)?).graph(topology);
        Ok(builder.probabilities(probabilities).build()?)
    };
    let problem = build(ProbabilityChoice::Uniform)?;
    let equalised = build(ProbabilityChoice::Law(Arc::new(Equalised)))?;
    let contest = Contest {
        part: "accelerated",
        name,
        graph,
        seed,
        problem: &problem,
        equalised: Some(&equalised),
        optimum: Optimum::find(&problem, arguments.quick)?,
        time_limit: arguments.limit(),
        asked_limit: Some(arguments.limit()),
    };
    contest.rounds(&on_graphs(), arguments.repeats(), record).map(drop)
}
