//! Columns much denser than rows: few entries a sample, many samples an entry of x. Squared and logistic loss with a
//! ridge over a sum row, every pair allowed.

use anyhow::Result;
use equipoise::{Coupling, Problem, SparseMatrix};

use super::Arguments;
use super::contenders::on_columns;
use super::data::{Loss, mean_loss, noisy, zero_sum};
use super::measure::{Contest, Optimum};
use super::record::Record;
use crate::random::Stream;

/// Samples and columns.
const SIZE: (usize, usize) = (200_000, 1000);
const QUICK_SIZE: (usize, usize) = (2000, 40);
/// Non-zeros a row.
const NON_ZEROS: usize = 10;
const RIDGE: f64 = 1e-3;

/// Both losses, every seed.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let (samples, n) = if arguments.quick { QUICK_SIZE } else { SIZE };
    for &seed in arguments.seeds() {
        for (loss, name) in [(Loss::Squared, "squared"), (Loss::Logistic, "logistic")] {
            let (matrix, target) = data(samples, n, seed)?;
            let f = mean_loss(matrix.into(), target, loss, RIDGE)?;
            let problem = Problem::builder(f).coupling(Coupling::sum(0.0)?).build()?;
            let contest = Contest {
                part: "columns",
                name: format!("{name} N={samples} n={n}"),
                graph: "clique",
                seed,
                problem: &problem,
                equalised: None,
                optimum: Optimum::find(&problem, arguments.quick)?,
                time_limit: arguments.limit(),
                asked_limit: Some(arguments.limit()),
            };
            contest.rounds(&on_columns(), arguments.repeats(), record)?;
        }
    }
    Ok(())
}

/// Rows with distinct uniform columns and normal values; targets of a planted rule.
fn data(samples: usize, n: usize, seed: u64) -> Result<(SparseMatrix<'static>, Vec<f64>)> {
    let mut random = Stream::new(seed);
    let rule = zero_sum(n, &mut random);
    let mut columns: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    let mut scores = vec![0.0; samples];
    for (l, score) in scores.iter_mut().enumerate() {
        for c in random.distinct(NON_ZEROS, n) {
            let value = random.normal();
            *score += rule[c] * value;
            columns[c].push((l as u32, value));
        }
    }
    let mut starts = vec![0];
    starts.extend(columns.iter().scan(0, |end, column| {
        *end += column.len();
        Some(*end)
    }));
    let (indices, values) = columns.into_iter().flatten().unzip();
    Ok((SparseMatrix::from_columns(samples, n, starts, indices, values)?, noisy(scores, &mut random)))
}
