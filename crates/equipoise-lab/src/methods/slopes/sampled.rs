//! The stochastic method on a logistic problem over a sum row, every pair allowed: the average of its iterates beside
//! `R0 G / sqrt k`.
//!
//! Notation: b blocks (here scalars), x0 the start, `R0 = ||x0 - x*||` in the norm of `K^+`, G bounds the steps in the
//! same norm. On the clique with one constant L a block, `K^+ = L (b - 1)` on vectors that sum to 0, and
//! `G^2 <= (b - 1) M^2 / L` with M bounding the gradient of a pair over all samples. L cancels:
//! `R0 G = (b - 1) M ||x0 - x*||`.

use anyhow::Result;
use equipoise::{Coupling, DenseMatrix, Problem, Solution};

use super::super::Arguments;
use super::super::contenders::{Contender, on_sampled};
use super::super::data::{Loss, dot, mean_loss, noisy, zero_sum};
use super::super::measure::Optimum;
use super::Course;
use super::record::Record;
use crate::random::Stream;

/// Few of both: the first error is forgotten after about `(b - 1)^2` times the squared condition of updates, and only then
/// does the rate show. With 2000 samples of 16 features that takes more than 10^6 updates.
const SAMPLES: usize = 200;
const FEATURES: usize = 4;
const RIDGE: f64 = 1e-3;
const SEED: u64 = 1;

/// Both schedules.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let mut random = Stream::new(SEED);
    let rule = zero_sum(FEATURES, &mut random);
    let rows: Vec<Vec<f64>> = (0..SAMPLES).map(|_| random.normals(FEATURES)).collect();
    let target = noisy(rows.iter().map(|row| dot(row, &rule)).collect(), &mut random);
    let f = mean_loss(DenseMatrix::from_rows(&rows)?.into(), target, Loss::Logistic, RIDGE)?;
    let problem = Problem::builder(f).coupling(Coupling::sum(0.0)?).build()?;
    let optimum = Optimum::find(&problem, arguments.quick)?;
    let away: Vec<f64> = optimum.x.iter().zip(problem.start()).map(|(x, start)| x - start).collect();
    let distance = dot(&away, &away).sqrt();
    let steepest = rows.iter().map(|row| steepest_pair(row)).fold(0.0, f64::max);
    // No iterate is expected further from 0 than twice the optimum; the ridge is a thousandth of the rest anyway.
    let largest = steepest + RIDGE * 2.0 * dot(&optimum.x, &optimum.x).sqrt();
    let scale = (FEATURES as f64 - 1.0) * largest * distance;
    let bound = |_: Contender, updates: u64| Some(scale / (updates as f64).sqrt());
    let name = format!("logistic N={SAMPLES} n={FEATURES}");
    let course = Course { name, problem: &problem, optimum, bound: &bound };
    course.run(arguments, &on_sampled(), |_, solution| Ok(average(solution)), record)
}

/// The most that a pair's gradient of this sample can be: no slope of the loss is above 1.
fn steepest_pair(row: &[f64]) -> f64 {
    let mut squares: Vec<f64> = row.iter().map(|value| value * value).collect();
    squares.sort_by(|a, b| b.total_cmp(a));
    squares.iter().take(2).sum::<f64>().sqrt()
}

fn average(solution: &Solution) -> Option<f64> {
    let candidate = solution.candidates.iter().find(|candidate| candidate.name == "average");
    candidate.map(|candidate| candidate.objective)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_steepest_in_its_two_largest_entries() {
        assert_eq!(steepest_pair(&[1.0, -4.0, 2.0, 3.0]), 5.0);
    }
}
