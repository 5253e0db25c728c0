//! Families of data that benchmarks are generated from: text, dense rows, few columns, categories, targets.
//!
//! Every family is fixed by its name: sizes, parameters and seed stand here, so that nobody can choose them after a
//! timing. One name gives the same file on every machine with the same rounding of `ln`, `exp`, `sin` and `cos`.
//!
//! Must not know: solvers.

mod categories;
mod few_columns;
mod gaussian;
mod text;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::generate::decimals;
use text::{Text, Values};

/// What to generate.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which family.
    family: Family,
    /// Where it goes (LIBSVM text).
    #[arg(long)]
    out: PathBuf,
}

/// The families, each with its parameters.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Family {
    /// Text as tf-idf, half of the rows in the class.
    #[value(name = "text-tfidf-50")]
    TextTfidf50,
    /// Text as tf-idf, a twentieth of the rows in the class.
    #[value(name = "text-tfidf-5")]
    TextTfidf5,
    /// Text as counts of words, half of the rows in the class.
    #[value(name = "text-counts-50")]
    TextCounts50,
    /// Text as counts of words, a twentieth of the rows in the class.
    #[value(name = "text-counts-5")]
    TextCounts5,
    /// Text as tf-idf in 20 classes of equal size.
    #[value(name = "text-20")]
    Text20,
    /// 8,000 rows of 256 normal values.
    #[value(name = "dense-tall")]
    DenseTall,
    /// 200 rows of 7,000 normal values.
    #[value(name = "dense-wide")]
    DenseWide,
    /// 60,000 rows of 8 correlated, skewed columns, standardised.
    #[value(name = "low-8")]
    Low8,
    /// 50,000 rows of 22 columns in [0, 1], a tenth of the rows in the class.
    #[value(name = "low-22")]
    Low22,
    /// 30,000 rows of 12 categories with 10 levels each, as 120 indicators.
    #[value(name = "one-hot")]
    OneHot,
    /// 20,000 rows of 50 normal values, and a target.
    #[value(name = "regression-50")]
    Regression50,
}

/// A row with its label or target: columns from 0, ascending, with values other than 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    label: f64,
    entries: Vec<(usize, f64)>,
}

impl Family {
    fn rows(self) -> Vec<Row> {
        let of_text = |seed, values, shares: &[f64]| Text { seed, values, shares }.rows();
        match self {
            Self::TextTfidf50 => of_text(11, Values::TfIdf, &[0.5, 0.5]),
            Self::TextTfidf5 => of_text(12, Values::TfIdf, &[0.95, 0.05]),
            Self::TextCounts50 => of_text(13, Values::Counts, &[0.5, 0.5]),
            Self::TextCounts5 => of_text(14, Values::Counts, &[0.95, 0.05]),
            Self::Text20 => of_text(15, Values::TfIdf, &[0.05; 20]),
            Self::DenseTall => gaussian::classes(21, 8000, 256),
            Self::DenseWide => gaussian::classes(22, 200, 7000),
            Self::Low8 => few_columns::standardised(31, 60_000, 8),
            Self::Low22 => few_columns::in_unit_range(32, 50_000, 22),
            Self::OneHot => categories::rows(41, 30_000, 12, 10),
            Self::Regression50 => gaussian::targets(51, 20_000, 50),
        }
    }
}

/// Writes the family's file.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.out;
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&arguments.family.rows(), &mut out).with_context(|| format!("cannot write {}", path.display()))
}

fn write(rows: &[Row], out: &mut impl Write) -> std::io::Result<()> {
    for Row { label, entries } in rows {
        write!(out, "{label}")?;
        for &(column, value) in entries {
            // Counts and indicators as they are, other values with six digits.
            if value.fract() == 0.0 {
                write!(out, " {}:{value}", column + 1)?;
            } else {
                write!(out, " {}:{:.*}", column + 1, decimals(value), value)?;
            }
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// The value below which this share of the numbers lies.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = (share * sorted.len() as f64) as usize;
    sorted[place.min(sorted.len() - 1)]
}

/// The columns of a dense row, those that are 0 left out.
fn entries(values: &[f64]) -> Vec<(usize, f64)> {
    values.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(rows: &[Row], label: f64) -> f64 {
        rows.iter().filter(|row| row.label == label).count() as f64 / rows.len() as f64
    }

    #[test]
    fn sizes_and_classes_are_as_announced() {
        let cases = [
            (Family::TextTfidf5, 15_000, 60_000, Some(100), 1.0, 0.05),
            (Family::TextCounts50, 15_000, 60_000, Some(100), 1.0, 0.5),
            (Family::Text20, 15_000, 60_000, Some(100), 7.0, 0.05),
            (Family::DenseWide, 200, 7000, Some(7000), 1.0, 0.6),
            (Family::Low8, 60_000, 8, Some(8), 1.0, 0.4),
            (Family::Low22, 50_000, 22, None, 1.0, 0.1),
            (Family::OneHot, 30_000, 120, Some(12), 1.0, 0.25),
        ];
        for (family, count, columns, non_zeros, label, wanted) in cases {
            let rows = family.rows();
            assert_eq!(rows.len(), count, "{family:?}");
            let largest = rows.iter().flat_map(|row| &row.entries).map(|entry| entry.0).max();
            assert!(largest.is_some_and(|largest| largest < columns), "{family:?}: {largest:?}");
            for row in &rows {
                assert!(non_zeros.is_none_or(|wanted| row.entries.len() == wanted), "{family:?}");
                assert!(row.entries.windows(2).all(|pair| pair[0].0 < pair[1].0), "{family:?}");
            }
            let found = share(&rows, label);
            assert!((found - wanted).abs() < 0.12 * wanted.max(0.3), "{family:?}: {found}");
        }
    }

    #[test]
    fn numbers_are_written_with_six_digits_and_counts_plainly() {
        let rows = [Row { label: -1.0, entries: vec![(0, 3.0), (4, 0.123_456_78)] }];
        let mut text = Vec::new();
        write(&rows, &mut text).expect("memory");
        assert_eq!(String::from_utf8(text).expect("text"), "-1 1:3 5:0.123457\n");
    }
}
