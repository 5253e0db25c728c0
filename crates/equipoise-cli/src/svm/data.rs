//! Rows, labels and weights: read, timed, counted.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::Control;
use equipoise::matrix::Rows;
use equipoise_formats::libsvm::{ReadOptions, read_path, read_path_with_features};
use equipoise_formats::{LabelledRows, read_text};
use equipoise_models::svm::Samples;

use crate::exit::note;

/// The most labels that are named one by one.
const MOST_NAMED: usize = 6;
/// From so many labels on, fractions among them look like the targets of a regression.
const MANY: usize = 20;

/// What is learnt from, or predicted.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) rows: Rows,
    pub(crate) labels: Vec<f64>,
    /// The feature of every column, ascending, from 1.
    pub(crate) features: Vec<u32>,
    /// One a row, if they were given.
    pub(crate) weights: Option<Vec<f64>>,
    /// Every label, ascending, with the number of its rows; rows of weight 0 do not count.
    pub(crate) counts: Vec<(f64, usize)>,
    /// Seconds from the file to rows in memory.
    pub(crate) seconds: f64,
}

/// How to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) threads: usize,
    pub(crate) quiet: bool,
    pub(crate) control: &'a Control,
}

impl Data {
    /// Reads rows and, if there are any, their weights.
    pub(crate) fn read(path: &Path, weights: Option<&Path>, reading: Reading<'_>) -> Result<Self> {
        let started = Instant::now();
        let mut data = Self::new(read_path(path, reading.options(), reading.control)?, path, reading)?;
        if let Some(path) = weights {
            let weights = read_weights(path, data.labels.len(), reading.control)?;
            data.counts = counts(&data.labels, Some(&weights));
            data.weights = Some(weights);
        }
        data.seconds = started.elapsed().as_secs_f64();
        Ok(data)
    }

    /// Reads rows into the columns of a model.
    pub(crate) fn read_for(path: &Path, features: &[u32], reading: Reading<'_>) -> Result<Self> {
        let started = Instant::now();
        let mut data = Self::new(
            read_path_with_features(path, features, reading.options(), reading.control)?,
            path,
            reading,
        )?;
        data.seconds = started.elapsed().as_secs_f64();
        Ok(data)
    }

    fn new(read: LabelledRows, path: &Path, reading: Reading<'_>) -> Result<Self> {
        let LabelledRows { labels, starts, indices, values, features, notes, .. } = read;
        if !reading.quiet {
            notes.iter().for_each(|words| note(format_args!("note: {words}")));
        }
        let ended = |halt| equipoise_formats::Error::from(halt);
        reading.control.check().map_err(ended)?;
        let rows = Rows::new(features.len(), starts, indices, values);
        let rows = rows.with_context(|| path.display().to_string())?;
        reading.control.check().map_err(ended)?;
        let counts = counts(&labels, None);
        Ok(Self { rows, labels, features, weights: None, counts, seconds: 0.0 })
    }

    pub(crate) fn samples(&self) -> Samples<'_> {
        Samples { rows: &self.rows, labels: &self.labels, weights: self.weights.as_deref() }
    }

    /// Every label, ascending.
    pub(crate) fn distinct(&self) -> Vec<f64> {
        self.counts.iter().map(|(label, _)| *label).collect()
    }

    /// "-1 (24720 rows), 1 (7841 rows)", the most frequent only where there are many.
    pub(crate) fn label_words(&self) -> String {
        let mut named: Vec<&(f64, usize)> = self.counts.iter().collect();
        let others = named.len().saturating_sub(MOST_NAMED);
        if others > 0 {
            named.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            named.truncate(MOST_NAMED);
        }
        let mut words: Vec<String> =
            named.iter().map(|(label, count)| format!("{label} ({})", counted(*count, "row"))).collect();
        if others > 0 {
            words.push(format!("and {}", counted(others, "other")));
        }
        words.join(", ")
    }

    /// Whether the labels look like the targets of a regression.
    pub(crate) fn looks_like_targets(&self) -> bool {
        self.counts.len() > MANY && self.counts.iter().any(|(label, _)| label.fract() != 0.0)
    }
}

impl Reading<'_> {
    fn options(self) -> ReadOptions {
        ReadOptions { threads: self.threads }
    }
}

/// "1 row", "2 rows".
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn counts(labels: &[f64], weights: Option<&[f64]>) -> Vec<(f64, usize)> {
    let counts = |i: usize| weights.is_none_or(|weights| weights[i] > 0.0);
    let mut sorted: Vec<f64> = (0..labels.len()).filter(|&i| counts(i)).map(|i| labels[i]).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect()
}

/// One finite number a line, at least 0, as many as there are rows; blank lines do not count.
fn read_weights(path: &Path, rows: usize, control: &Control) -> Result<Vec<f64>> {
    let text = read_text(path, control)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let weights: Vec<f64> = lines
        .map(|(index, line)| match line.trim().parse::<f64>() {
            Ok(weight) if weight >= 0.0 && weight.is_finite() => Ok(weight),
            _ => bail!(
                "{}: line {}: found {:?}, expected a weight: a finite number, at least 0",
                path.display(),
                index + 1,
                line.trim()
            ),
        })
        .collect::<Result<_>>()?;
    if weights.len() != rows {
        bail!("{}: found {} weights, expected {rows}, one a row", path.display(), weights.len());
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_counted_in_ascending_order() {
        assert_eq!(counts(&[1.0, -1.0, 1.0, 0.5], None), [(-1.0, 1), (0.5, 1), (1.0, 2)]);
        assert_eq!(counts(&[1.0, -1.0, 1.0], Some(&[0.0, 1.0, 2.0])), [(-1.0, 1), (1.0, 1)]);
    }
}
