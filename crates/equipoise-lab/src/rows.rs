//! Labelled rows of two classes, as the evaluation walks through them: feature numbers as they stand in the file,
//! labels of -1 and +1, of which the larger one in the file is +1.

use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::Control;
use equipoise_formats::LabelledRows;
use equipoise_formats::libsvm::{ReadOptions, read_path};

/// Labels of -1 and +1, and the non-zeros of each row.
#[derive(Debug)]
pub(crate) struct Rows {
    read: LabelledRows,
}

impl Rows {
    /// Reads a whole file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        Self::of(read_path(path, ReadOptions { threads: 1 }, &Control::unlimited())?)
            .with_context(|| path.display().to_string())
    }

    fn of(mut read: LabelledRows) -> Result<Self> {
        let largest = read.labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = read.labels.iter().copied().fold(f64::INFINITY, f64::min);
        if let Some(other) = read.labels.iter().find(|&&label| label != largest && label != smallest) {
            bail!("more than two labels: {smallest}, {other}, {largest}");
        }
        read.labels.iter_mut().for_each(|label| *label = if *label == largest { 1.0 } else { -1.0 });
        Ok(Self { read })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.read.labels.len()
    }

    /// The largest feature number, 0 without any.
    pub(crate) fn largest_feature(&self) -> u32 {
        self.read.largest_feature
    }

    /// The label of every row, with its feature numbers and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, impl Iterator<Item = (u32, f64)> + Clone)> {
        let LabelledRows { labels, starts, indices, values, features, .. } = &self.read;
        labels.iter().zip(starts.windows(2)).map(move |(&label, ends)| {
            let entry = move |place: usize| {
                let value = values.as_ref().map_or(1.0, |values| values[place]);
                (features[indices[place] as usize], value)
            };
            (label, (ends[0]..ends[1]).map(entry))
        })
    }
}

#[cfg(test)]
pub(crate) fn rows_of(text: &str) -> Result<Rows> {
    Rows::of(equipoise_formats::libsvm::parse(text.as_bytes(), "test", ReadOptions { threads: 1 })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_label_is_positive_and_features_keep_their_numbers() {
        let rows = rows_of("2 1:0.5 30:-1\n1\n").expect("two labels");
        let rows: Vec<(f64, Vec<(u32, f64)>)> =
            rows.iter().map(|(label, entries)| (label, entries.collect())).collect();
        assert_eq!(rows, [(1.0, vec![(1, 0.5), (30, -1.0)]), (-1.0, vec![])]);
    }

    #[test]
    fn three_labels_are_too_many() {
        assert!(rows_of("1 1:1\n2 1:1\n3 1:1\n").is_err());
    }
}
