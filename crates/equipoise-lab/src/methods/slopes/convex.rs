//! Accelerated pairs, and pairs for contrast, on a quadratic over a ring that is flat in half of all directions:
//! errors beside `2 nu R0^2 / k^2`.
//!
//! `f(x) = 1/2 (x - t)'H(x - t)`, `H = R diag(s) R'`, `s = condition^U` on one half and 0 on the other. t sums to 0
//! and is an optimum. R0 is the distance of the start from the nearest of the optima, in the norm of `norm.rs`.

use anyhow::Result;
use equipoise::graph::Topology;
use equipoise::smooth::Quadratic;
use equipoise::{Coupling, DenseMatrix, Method, Problem, Solution};

use super::super::Arguments;
use super::super::contenders::{Contender, on_convex};
use super::super::data::{Rotation, dot, spectrum, zero_sum};
use super::super::measure::Optimum;
use super::Course;
use super::norm::Norm;
use super::record::Record;
use crate::random::Stream;

const SIZE: usize = 200;
const QUICK_SIZE: usize = 40;
const CONDITION: f64 = 1e4;
const SEED: u64 = 1;

/// With momentum and without.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let b = if arguments.quick { QUICK_SIZE } else { SIZE };
    let mut random = Stream::new(SEED);
    let mut values = spectrum(b / 2, CONDITION, &mut random);
    values.resize(b, 0.0);
    let rotation = Rotation::new(b, &mut random);
    let hessian = rotation.conjugate(&values);
    let target = zero_sum(b, &mut random);
    let slope = hessian.chunks_exact(b).map(|row| -dot(row, &target)).collect();
    let f = Quadratic::new(DenseMatrix::from_columns(b, b, hessian.clone())?, slope)?;
    let problem = Problem::builder(f).coupling(Coupling::sum(0.0)?).graph(Topology::Ring).build()?;
    let (objective, start) = (problem.objective(&target)?, problem.objective(problem.start())?);
    // No certificate is needed, and none is as sharp: f cannot be lower anywhere.
    let optimum = Optimum { x: target, objective, gap: f64::EPSILON * objective.abs(), start };

    let edges: Vec<(usize, usize)> = problem.graph().edges().collect();
    let norm = Norm::new(&hessian, b, &edges)?;
    let away: Vec<f64> = optimum.x.iter().zip(problem.start()).map(|(x, start)| x - start).collect();
    let flat = |k: usize| {
        let mut vector = vec![0.0; b];
        vector[k] = 1.0;
        rotation.apply(&mut vector);
        vector
    };
    let null: Vec<Vec<f64>> = (b / 2..b).map(flat).collect();
    let scale = 2.0 * norm.nu * norm.nearest_squared(&away, &null)?;
    let bound = |contender: Contender, updates: u64| {
        (contender.method == Method::Accelerated).then(|| scale / (updates as f64).powi(2))
    };
    let course = Course { name: format!("flat quadratic b={b}"), problem: &problem, optimum, bound: &bound };
    let value = |problem: &Problem<Quadratic>, solution: &Solution| Ok(Some(problem.objective(&solution.x)?));
    course.run(arguments, &on_convex(), value, record)
}
