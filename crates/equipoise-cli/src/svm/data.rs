//! Rows, labels and weights: read, timed, counted.

use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::Control;
use equipoise::matrix::Rows;
use equipoise_formats::libsvm::{ReadOptions, read_path, read_path_with_features};
use equipoise_formats::svm_model::ModelContext;
use equipoise_formats::{Error, LabelledRows, read_text};
use equipoise_models::svm::{Curves, Samples, ScaleKind, Scaling};

use super::table::{self, Labelled};
use crate::args::TableChoice;
use crate::exit::note;
use crate::report::number;

/// The most labels that are named one by one.
const MOST_NAMED: usize = 6;
/// From so many labels on, fractions among them look like the targets of a regression.
const MANY: usize = 20;

/// What is learnt from, or predicted.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) rows: Rows<'static>,
    pub(crate) labels: Vec<f64>,
    /// The feature of every column, ascending, from 1.
    pub(crate) features: Vec<u32>,
    /// One a row, if they were given.
    pub(crate) weights: Option<Vec<f64>>,
    /// Every label, ascending, with the number of its rows; rows of weight 0 do not count.
    pub(crate) counts: Vec<(f64, usize)>,
    /// The names of the columns and of the column of labels, where the data are a table.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) target: Option<String>,
    /// The words that the labels 0, 1, ... stand for.
    pub(crate) label_names: Option<Vec<String>>,
    /// Whether there are labels; else every label is 0.
    pub(crate) has_labels: bool,
    /// How the rows were scaled.
    pub(crate) scaling: Option<Scaling>,
    /// Seconds from the file to rows in memory.
    pub(crate) seconds: f64,
    /// Where these are the rows of one rank: what there is beside them.
    pub(crate) across: Option<Across>,
}

/// Ranks, and what they have in common.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Across {
    pub(crate) ranks: usize,
    /// Rows of all ranks.
    pub(crate) rows: usize,
    /// Bytes that all ranks sent, and the share of the training in which a rank waited for others or for what travelled.
    pub(crate) bytes_sent: u64,
    pub(crate) communication: f64,
}

/// The columns that rows are read into: those of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) features: &'a [u32],
    pub(crate) names: Option<&'a [String]>,
    pub(crate) target: Option<&'a str>,
    pub(crate) label_names: Option<&'a [String]>,
}

impl<'a> Columns<'a> {
    /// Those of a model file.
    pub(crate) fn of(features: &'a [u32], context: &'a ModelContext) -> Self {
        Self {
            features,
            names: context.feature_names.as_deref(),
            target: context.target.as_deref(),
            label_names: context.label_names.as_deref(),
        }
    }
}

/// How to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) threads: usize,
    pub(crate) quiet: bool,
    pub(crate) control: &'a Control,
    pub(crate) table: &'a TableChoice,
    /// Whether rows without labels are of no use.
    pub(crate) needs_labels: bool,
    /// Whether rows will be scaled: then their scales need no word.
    pub(crate) scale: Option<ScaleKind>,
}

impl Data {
    /// Reads rows and, if there are any, their weights.
    pub(crate) fn read(path: &Path, weights: Option<&Path>, reading: Reading<'_>) -> Result<Self> {
        let started = Instant::now();
        let mut data = if table::is_table(path, reading.table) {
            let of_weights = weights.and_then(Path::to_str);
            let read = table::read(path, reading.table, of_weights, reading.needs_labels, reading.control)?;
            Self::of_table(read, true)
        } else {
            reading.refuse_choices()?;
            let read = read_path(path, reading.options(), reading.control);
            Self::new(read.map_err(|error| looks_like_a_table(error, path))?, path, reading)?
        };
        data.note_scales(reading);
        if let Some(path) = weights.filter(|_| data.weights.is_none()) {
            let weights = read_weights(path, data.labels.len(), reading.control)?;
            data.weights = Some(weights);
        }
        data.counts = counts(&data.labels, data.weights.as_deref());
        if let Some(kind) = reading.scale {
            let scaling = Scaling::fit(&data.rows, data.weights.as_deref(), kind);
            data.apply(scaling)?;
        }
        data.seconds = started.elapsed().as_secs_f64();
        Ok(data)
    }

    /// Reads rows into the columns of a model.
    pub(crate) fn read_for(path: &Path, columns: &Columns<'_>, reading: Reading<'_>) -> Result<Self> {
        let started = Instant::now();
        let is_piped = path.as_os_str() == "-" && columns.names.is_some();
        let mut data = if is_piped || table::is_table(path, reading.table) {
            let (read, has_labels) =
                table::read_for(path, reading.table, columns, reading.quiet, reading.control)?;
            Self { features: columns.features.to_vec(), ..Self::of_table(read, has_labels) }
        } else {
            reading.refuse_choices()?;
            let read = read_path_with_features(path, columns.features, reading.options(), reading.control);
            Self::new(read.map_err(|error| looks_like_a_table(error, path))?, path, reading)?
        };
        data.seconds = started.elapsed().as_secs_f64();
        Ok(data)
    }

    /// Rows, of all ranks.
    pub(crate) fn row_count(&self) -> usize {
        self.across.map_or(self.rows.len(), |across| across.rows)
    }

    /// Scales the rows.
    pub(crate) fn apply(&mut self, scaling: Scaling) -> Result<()> {
        self.rows = scaling.apply(&self.rows)?;
        self.scaling = Some(scaling);
        Ok(())
    }

    /// The rows, scaled as others were.
    pub(crate) fn scaled_as(mut self, other: &Self) -> Result<Self> {
        if let Some(scaling) = &other.scaling {
            self.apply(scaling.clone())?;
        }
        Ok(self)
    }

    /// What goes with a model of these data.
    pub(crate) fn context(&self, curves: Option<Curves>) -> ModelContext {
        ModelContext {
            feature_names: self.names.clone(),
            target: self.target.clone(),
            label_names: self.label_names.clone(),
            scaling: self.scaling.clone(),
            curves,
        }
    }

    /// The columns, for other rows.
    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns {
            features: &self.features,
            names: self.names.as_deref(),
            target: self.target.as_deref(),
            label_names: self.label_names.as_deref(),
        }
    }

    fn of_table(read: Labelled, has_labels: bool) -> Self {
        let Labelled { rows, labels, names, target, label_names, weights } = read;
        let features = (1..=u32::try_from(names.len()).unwrap_or(u32::MAX)).collect();
        let (names, counts) = (Some(names), counts(&labels, weights.as_deref()));
        Self {
            rows,
            labels,
            features,
            weights,
            counts,
            names,
            target,
            label_names,
            has_labels,
            scaling: None,
            seconds: 0.0,
            across: None,
        }
    }

    /// A word about named features of very different sizes; rows in LIBSVM text have had theirs.
    fn note_scales(&self, reading: Reading<'_>) {
        /// Sizes that differ by more are worth a word.
        const FAR_APART: f64 = 1e4;
        let Some(names) = self.names.as_ref().filter(|_| !reading.quiet && reading.scale.is_none()) else {
            return;
        };
        let mut sizes = vec![0.0_f64; names.len()];
        for i in 0..self.rows.len() {
            self.rows.for_each(i, |j, value| sizes[j] = sizes[j].max(value.abs()));
        }
        let places = || (0..sizes.len()).filter(|&j| sizes[j] > 0.0);
        let order = |a: &usize, b: &usize| sizes[*a].total_cmp(&sizes[*b]);
        if let (Some(small), Some(large)) = (places().min_by(order), places().max_by(order))
            && sizes[large] > FAR_APART * sizes[small]
        {
            note(format_args!(
                "note: {} reaches {} and {} only {}; --scale standard brings features to one scale",
                names[large],
                number(sizes[large]),
                names[small],
                number(sizes[small]),
            ));
        }
    }

    pub(crate) fn new(read: LabelledRows, path: &Path, reading: Reading<'_>) -> Result<Self> {
        let LabelledRows { labels, starts, indices, values, features, notes, .. } = read;
        if !reading.quiet && reading.scale.is_none() {
            notes.iter().for_each(|words| note(format_args!("note: {words}")));
        }
        let ended = |halt| equipoise_formats::Error::from(halt);
        reading.control.check().map_err(ended)?;
        let rows = Rows::new(features.len(), starts, indices, values);
        let rows = rows.with_context(|| path.display().to_string())?;
        reading.control.check().map_err(ended)?;
        let counts = counts(&labels, None);
        Ok(Self {
            rows,
            labels,
            features,
            weights: None,
            counts,
            names: None,
            target: None,
            label_names: None,
            has_labels: true,
            scaling: None,
            seconds: 0.0,
            across: None,
        })
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
        let mut words: Vec<String> = named
            .iter()
            .map(|(label, count)| format!("{} ({})", self.label(*label), counted(*count, "row")))
            .collect();
        if others > 0 {
            words.push(format!("and {}", counted(others, "other")));
        }
        words.join(", ")
    }

    /// A label as it is in the data.
    pub(crate) fn label(&self, label: f64) -> String {
        label_word(label, self.label_names.as_deref())
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

    /// Refuses what says something about tables where there is none.
    fn refuse_choices(self) -> Result<()> {
        if self.table.no_header || !self.table.drop.is_empty() {
            bail!(
                "--drop and --no-header are for tables (.csv, .tsv, or with --target NAME), and the data are LIBSVM text"
            );
        }
        Ok(())
    }
}

/// A label: its word, or its number.
pub(crate) fn label_word(label: f64, names: Option<&[String]>) -> String {
    let word =
        names.filter(|_| label >= 0.0 && label.fract() == 0.0).and_then(|names| names.get(label as usize));
    word.map_or_else(|| number(label), Clone::clone)
}

/// The error of rows in LIBSVM text; where they look like a table, with the way to read one.
fn looks_like_a_table(error: Error, path: &Path) -> anyhow::Error {
    let is_like = match &error {
        Error::BadRow { found, .. } if found.contains([',', ';']) => true,
        Error::BadRow { line: 1, .. } => first_line(path).is_some_and(|line| {
            let separated = [',', ';', '\t'].iter().any(|&sign| line.matches(sign).count() > 0);
            separated && !line.contains(':')
        }),
        _ => false,
    };
    let error = anyhow::Error::new(error);
    if is_like {
        let advice = "the data look like a table (CSV): --target NAME says which column has the labels";
        return anyhow::anyhow!("{error:#}; {advice}");
    }
    error
}

/// The beginning of a file, up to its first line end; not longer than a glance, and nothing where it is packed.
pub(crate) fn first_line(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    std::fs::File::open(path).ok()?.take(4096).read_to_end(&mut start).ok()?;
    let line = std::str::from_utf8(&start).ok()?.lines().next()?;
    Some(if line.chars().count() > 200 {
        line.chars().take(200).chain("...".chars()).collect()
    } else {
        line.into()
    })
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
