//! A sparse classification set with a planted linear rule, the same on every machine for one seed.
//!
//! Notation: `w*` is the planted rule, `x` a row, `sigma` the weight of the noise. Each row has the same number of
//! distinct columns, drawn uniformly, with standard normal values. `w*` is scaled so that `w*.x` has unit standard
//! deviation: the variance of `w*.x` is `|w*|^2 k / d` with `k` non-zeros in `d` columns. The label is the sign of
//! `w*.x + OFFSET + NOISE e` with `e` standard normal.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::random::Stream;

/// Coordinates of the planted rule that are not zero.
const PLANTED: usize = 100;
/// Bias of the planted rule.
const OFFSET: f64 = 0.5;
/// Standard deviation of the noise in the label.
const NOISE: f64 = 0.5;

/// What to generate.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Rows of the training file.
    #[arg(long, default_value_t = 1_000_000)]
    rows: usize,
    /// Rows of the test file, drawn from the same stream after the training rows.
    #[arg(long, default_value_t = 100_000)]
    test_rows: usize,
    /// Columns of both files.
    #[arg(long, default_value_t = 1000)]
    columns: usize,
    /// Non-zeros in each row.
    #[arg(long, default_value_t = 20)]
    non_zeros: usize,
    /// Seed of the only random stream.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Training file (LIBSVM text); the test file is named the same with `.t` appended.
    #[arg(long)]
    out: PathBuf,
}

/// Writes the training and the test file.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.non_zeros <= arguments.columns, "more non-zeros a row than columns");
    let mut source = Source::new(arguments.columns, arguments.non_zeros, arguments.seed);
    write_rows(&arguments.out, arguments.rows, &mut source)?;
    let mut test = arguments.out.clone().into_os_string();
    test.push(".t");
    write_rows(Path::new(&test), arguments.test_rows, &mut source)
}

fn write_rows(path: &Path, rows: usize, source: &mut Source) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    for _ in 0..rows {
        let positive = source.next_row();
        out.write_all(if positive { b"+1" } else { b"-1" })?;
        for &(column, value) in &source.row {
            write!(out, " {}:{:.*}", column + 1, decimals(value), value)?;
        }
        out.write_all(b"\n")?;
    }
    out.flush().with_context(|| format!("cannot write {}", path.display()))
}

/// Decimals that show six significant digits.
pub(crate) fn decimals(value: f64) -> usize {
    let exponent = value.abs().max(1e-12).log10().floor();
    (5.0 - exponent).max(0.0) as usize
}

/// The random stream, the planted rule and the row drawn last.
#[derive(Debug)]
pub(crate) struct Source {
    random: Stream,
    planted: Vec<f64>,
    non_zeros: usize,
    /// Columns, from 0 and ascending, with their values.
    pub(crate) row: Vec<(usize, f64)>,
}

impl Source {
    pub(crate) fn new(columns: usize, non_zeros: usize, seed: u64) -> Self {
        let random = Stream::new(seed);
        let mut source = Self { random, planted: vec![0.0; columns], non_zeros, row: Vec::new() };
        let chosen = source.random.distinct(PLANTED.min(columns), columns);
        for column in chosen {
            source.planted[column] = source.random.normal();
        }
        let squares: f64 = source.planted.iter().map(|value| value * value).sum();
        let scale = (columns as f64 / (non_zeros as f64 * squares)).sqrt();
        source.planted.iter_mut().for_each(|value| *value *= scale);
        source
    }

    /// Draws the next row; true where its label is +1.
    pub(crate) fn next_row(&mut self) -> bool {
        let columns = self.random.distinct(self.non_zeros, self.planted.len());
        self.row.clear();
        let mut score = OFFSET;
        for column in columns {
            let value = self.random.normal();
            score += self.planted[column] * value;
            self.row.push((column, value));
        }
        score + NOISE * self.random.normal() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_shown() {
        for (value, text) in
            [(1.234_567_89, "1.23457"), (-0.012_345_678, "-0.0123457"), (3.0e-5, "0.0000300000")]
        {
            assert_eq!(format!("{:.*}", decimals(value), value), text);
        }
    }

    #[test]
    fn rows_are_distinct_and_scores_have_unit_deviation() {
        let mut source = Source::new(1000, 20, 1);
        let (mut squares, mut positive) = (0.0, 0);
        for _ in 0..5000 {
            positive += usize::from(source.next_row());
            assert!(source.row.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let score: f64 = source.row.iter().map(|&(column, value)| source.planted[column] * value).sum();
            squares += score * score;
        }
        assert!((squares / 5000.0 - 1.0).abs() < 0.15, "{squares}");
        // P(N(0, 1 + 0.25) > -0.5), roughly: the score is a mixture of normals.
        assert!((3000..4000).contains(&positive), "{positive}");
    }

    #[test]
    fn one_seed_gives_one_stream() {
        let draw = |seed| {
            let mut source = Source::new(50, 5, seed);
            source.next_row();
            source.row.clone()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
