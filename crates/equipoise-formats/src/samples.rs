//! Samples in a file, as the library reads them: batches of half the memory budget.
//!
//! Given the rows of a file, targets (in memory, or the labels of the file) and weights; returns a source of samples.
//! A file that cannot be read any more becomes a fault of the sample at hand, in the words of the file's error.

use std::ops::Range;

use equipoise::Error;
use equipoise::matrix::{ByRow, Rows};
use equipoise::separable::Values;
use equipoise::smooth::{SampleBatch, SampleFault, SampleReader, SampleSource};

use crate::RowStream;
use crate::row_stream::RowPass;

/// Most bytes of a batch that is only looked at: read and parsed well within a tenth of a second.
const SMALL: usize = 8 << 20;

/// Rows in a file; targets and weights beside it.
#[derive(Debug)]
pub struct FileSamples {
    rows: RowStream,
    target: Option<Vec<f64>>,
    weights: Values,
    budget: usize,
    /// Which of the rows are shown.
    part: Range<usize>,
}

impl FileSamples {
    /// The rows with their targets (`None`: the labels of the file) and weights; batches take half of `memory_budget`
    /// bytes. [`Error::TooMuchMemory`] says the least that works where that is more.
    pub fn new(
        rows: RowStream,
        target: Option<Vec<f64>>,
        weights: Values,
        memory_budget: usize,
    ) -> equipoise::Result<Self> {
        for (input, found) in [("target", target.as_ref().map(Vec::len)), ("weights", weights.len())] {
            if let Some(found) = found.filter(|&found| found != rows.rows()) {
                let (input, unit, expected) = (input.into(), "entries", rows.rows());
                return Err(Error::ShapeMismatch { input, unit, found, expected });
            }
        }
        // Half of the budget holds a batch, and a batch at least a row.
        let row = usize::try_from(rows.memory().div_ceil(rows.rows().max(1) as u64)).unwrap_or(usize::MAX);
        let (needed, allowed) = (row.saturating_mul(2), memory_budget);
        if needed > allowed {
            let what = format!("two rows of {} (--memory-budget)", rows.path().display());
            return Err(Error::TooMuchMemory { what, needed, allowed });
        }
        let part = 0..rows.rows();
        Ok(Self { rows, target, weights, budget: memory_budget / 2, part })
    }

    /// A part of these samples, as one of several who share a file: what comes before is read over.
    pub(crate) fn part(self, part: Range<usize>) -> Self {
        Self { part, ..self }
    }

    fn pass(&self, batch: usize) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        let pass = self.rows.pass().map_err(|error| SampleFault { row: 0, reason: error.to_string() })?;
        Ok(Box::new(FilePass { samples: self, batch, pass }))
    }
}

impl SampleSource for FileSamples {
    fn samples(&self) -> usize {
        self.part.len()
    }
    fn columns(&self) -> usize {
        self.rows.columns()
    }
    fn memory_budget(&self) -> usize {
        self.budget
    }
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        self.pass(self.budget)
    }
    fn open_in_small_batches(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        self.pass(self.budget.min(SMALL))
    }
}

/// A pass over the file.
struct FilePass<'a> {
    samples: &'a FileSamples,
    /// Bytes of a batch.
    batch: usize,
    pass: RowPass,
}

impl SampleReader for FilePass<'_> {
    fn next(&mut self, used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault> {
        let FileSamples { target, weights, part, .. } = self.samples;
        let (mut used, first) = (used, part.start);
        let (mut batch, shown) = loop {
            if self.pass.row() >= part.end {
                return Ok(None);
            }
            let read = self.pass.next(self.batch, used.take());
            let fault = |reason: String| SampleFault { row: self.pass.row(), reason };
            let Some(batch) = read.map_err(|error| fault(error.to_string()))? else { return Ok(None) };
            let shown = batch.first.max(part.start)..self.pass.row().min(part.end);
            if !shown.is_empty() {
                break (batch, shown);
            }
            used = Some(batch);
        };
        let within = shown.start - batch.first..shown.end - batch.first;
        if within.len() < batch.rows.len() {
            batch.rows = rows_of(&batch.rows, &within)
                .map_err(|error| SampleFault { row: shown.start, reason: error.to_string() })?;
            batch.target = batch.target.get(within).map(<[f64]>::to_vec).unwrap_or_default();
        }
        if let Some(target) = target {
            batch.target = target[shown.clone()].to_vec();
        }
        batch.weights = match weights {
            Values::Uniform(weight) => Values::Uniform(*weight),
            Values::Each(list) => Values::Each(list[shown.clone()].to_vec()),
        };
        batch.first = shown.start - first;
        Ok(Some(batch))
    }
}

/// Some of the rows of a batch.
fn rows_of(rows: &ByRow, range: &Range<usize>) -> equipoise::Result<ByRow> {
    Ok(match rows {
        ByRow::Dense { columns, values } => {
            let values = values[range.start * columns..range.end * columns].to_vec();
            ByRow::Dense { columns: *columns, values }
        }
        ByRow::Sparse(rows) => {
            let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in range.clone() {
                rows.for_each(row, |column, value| {
                    indices.push(column as u32);
                    values.push(value);
                });
                starts.push(indices.len());
            }
            ByRow::Sparse(Rows::new(rows.columns(), starts, indices, Some(values))?)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use equipoise::smooth::loss::{LogisticLoss, ScalarLoss, Squared};
    use equipoise::smooth::{SmoothTerm, Streamed};
    use equipoise::{Control, Pass};

    use super::*;

    fn write(name: &str, text: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("equipoise-samples-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(name);
        fs::write(&path, text).expect("writable");
        path
    }

    fn open(path: &PathBuf) -> RowStream {
        RowStream::open(path, &Control::unlimited()).expect("readable")
    }

    fn streamed(
        rows: RowStream,
        target: Option<Vec<f64>>,
        weights: impl Into<Values>,
        loss: impl ScalarLoss + 'static,
        budget: usize,
    ) -> equipoise::Result<Box<dyn SmoothTerm>> {
        let samples = FileSamples::new(rows, target, weights.into(), budget)?;
        Ok(Box::new(Streamed::new(Box::new(samples), loss)?))
    }

    /// f(x) and its gradient, or the fault that was met.
    fn look(f: &dyn SmoothTerm, x: &[f64]) -> Pass<(f64, Vec<f64>)> {
        let (mut product, mut gradient) = (vec![0.0; f.product_len()], vec![0.0; f.dimension()]);
        f.fill_product(x, &mut product, &Control::unlimited())?;
        f.gradient(x, &product, &mut gradient, &Control::unlimited())?;
        Ok((f.value(x, &product), gradient))
    }

    #[test]
    fn a_csv_file_is_summed_in_any_batches_and_its_fault_names_the_row() {
        let path = write("sum.csv", "1,2\n3,4\n5,6\n");
        let (needed, allowed) = (32, 31);
        let refused =
            streamed(open(&path), Some(vec![0.0; 3]), 1.0, Squared, allowed).expect_err("too little");
        assert!(
            matches!(refused, Error::TooMuchMemory { needed: least, .. } if least == needed),
            "the least that works is said: {refused}"
        );
        for budget in [needed, 50, 1 << 20] {
            let rows = open(&path);
            let (target, weights) = (Some(vec![1.0, 0.0, -1.0]), vec![1.0, 2.0, 1.0]);
            let f = streamed(rows, target, weights, Squared, budget).expect("finite");
            assert_eq!(look(&*f, &[1.0, 0.0]), Ok((27.0, vec![48.0, 60.0])), "{budget}");
        }
        let rows = open(&path);
        let f = streamed(rows.clone(), Some(vec![0.0; 3]), 1.0, Squared, 50).expect("finite");
        fs::write(&path, "1,2\n3,4\n5,nan\n").expect("writable");
        let fault = look(&*f, &[1.0, 0.0]).expect_err("a fault").to_string();
        assert!(fault.starts_with("sample 2: "), "{fault}");
        assert!(fault.contains("sum.csv: row 2, column 1 is NaN"), "{fault}");
        let error = streamed(rows.clone(), Some(vec![0.0; 3]), 1.0, Squared, 50).expect_err("a fault");
        assert!(error.to_string().starts_with("sample 2: "), "{error}");
        let error = streamed(rows, Some(vec![0.0; 2]), 1.0, Squared, 50).expect_err("too short");
        assert_eq!(error.to_string(), "target: found 2 entries, expected 3");
    }

    #[test]
    fn labels_of_the_file_are_targets() {
        let path = write("labels.svm", "+1 2:1\n-1 1:2 3:1\n");
        let rows = open(&path);
        let f = streamed(rows, None, 1.0, LogisticLoss, 36).expect("labels");
        let (value, gradient) = look(&*f, &[0.0; 3]).expect("readable");
        assert!((value - 2.0 * 2.0_f64.ln()).abs() < 1e-15);
        assert_eq!(gradient, [1.0, -0.5, 0.5]);
    }
}
