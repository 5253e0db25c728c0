//! Many samples of few dense features: logistic loss with a small ridge over a sum row, every pair allowed.
//!
//! Rows are stationary autoregressions, `z_j = rho z_{j-1} + sqrt(1 - rho^2) e_j`, columns scaled by `10^(U - 1/2)`.

use anyhow::Result;
use equipoise::{Coupling, DenseMatrix, Problem};

use super::Arguments;
use super::contenders::{STOCHASTIC, VARIANCE_REDUCED, on_samples};
use super::data::{Loss, mean_loss, noisy, zero_sum};
use super::measure::{Contest, Optimum};
use super::record::Record;
use crate::random::Stream;
use crate::runs::Measured;
use crate::table::median;

/// Samples and features.
const SIZE: (usize, usize) = (100_000, 50);
const QUICK_SIZE: (usize, usize) = (2000, 10);
const CORRELATION: f64 = 0.5;
const RIDGE: f64 = 1e-4;
/// What the stochastic method may take, in times of the best variance-reduced one: enough to show 20.
const PATIENCE: f64 = 25.0;

/// Every seed.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let (samples, n) = if arguments.quick { QUICK_SIZE } else { SIZE };
    for &seed in arguments.seeds() {
        let mut random = Stream::new(seed);
        let matrix = features(samples, n, &mut random)?;
        let target = targets(&matrix, &mut random);
        let f = mean_loss(matrix.into(), target, Loss::Logistic, RIDGE)?;
        let problem = Problem::builder(f).coupling(Coupling::sum(0.0)?).build()?;
        let contest = Contest {
            part: "samples",
            name: format!("logistic N={samples} n={n}"),
            graph: "clique",
            seed,
            problem: &problem,
            equalised: None,
            optimum: Optimum::find(&problem, arguments.quick)?,
            time_limit: arguments.limit(),
            asked_limit: Some(arguments.limit()),
        };
        let runs = contest.rounds(&on_samples(), arguments.repeats(), record)?;
        let mut time_limit = best(&runs).map_or(arguments.limit(), |seconds| PATIENCE * seconds);
        if arguments.quick {
            time_limit = time_limit.min(arguments.limit());
        }
        let contest = Contest { time_limit, asked_limit: None, ..contest };
        contest.rounds(&STOCHASTIC, 1, record)?;
    }
    Ok(())
}

fn features(samples: usize, n: usize, random: &mut Stream) -> Result<DenseMatrix<'static>> {
    let scales: Vec<f64> = (0..n).map(|_| 10f64.powf(random.unit() - 0.5)).collect();
    let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
    let mut values = vec![0.0; samples * n];
    for l in 0..samples {
        let mut z = random.normal();
        for (j, scale) in scales.iter().enumerate() {
            if j > 0 {
                z = CORRELATION * z + fresh * random.normal();
            }
            values[j * samples + l] = scale * z;
        }
    }
    Ok(DenseMatrix::from_columns(samples, n, values)?)
}

fn targets(matrix: &DenseMatrix, random: &mut Stream) -> Vec<f64> {
    let mut scores = vec![0.0; matrix.rows()];
    for (c, weight) in zero_sum(matrix.columns(), random).into_iter().enumerate() {
        scores.iter_mut().zip(matrix.column(c)).for_each(|(score, value)| *score += weight * value);
    }
    noisy(scores, random)
}

/// Seconds of the best variance-reduced method, by medians, where one reached the target in every run.
fn best(runs: &[(&'static str, Measured)]) -> Option<f64> {
    let of = |name: &&str| {
        let mine: Vec<&Measured> = runs.iter().filter(|(own, _)| own == name).map(|(_, run)| run).collect();
        let all = mine.iter().all(|run| run.reached);
        median(mine.iter().map(|run| run.seconds).collect()).filter(|_| all)
    };
    VARIANCE_REDUCED.iter().filter_map(of).min_by(f64::total_cmp)
}
