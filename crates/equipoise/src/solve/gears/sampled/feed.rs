//! Samples as they are needed: all of them in one batch, or one batch after the other.
//!
//! - Given: samples in memory by columns, or a source that reads them in order.
//! - Returns: the batch to draw from, the next one when it is used up, and passes over all samples.
//! - Must not know: what is done with the samples.

use crate::control::{Control, Pass};
use crate::error::Result;
use crate::matrix::ByRow;
use crate::smooth::{SampleBatch, SampleData, SampleFault, SampleReader, SampleSource};

/// Where the batches come from.
pub(super) enum Feed<'a> {
    /// There is one batch, and it holds everything.
    Memory,
    /// Batches in order, and again from the first.
    Stream {
        source: &'a dyn SampleSource,
        reader: Option<Box<dyn SampleReader + 'a>>,
        /// Batches that the reader has read.
        batches: u64,
    },
}

impl<'a> Feed<'a> {
    /// The feed and the batch that is at hand at first: everything, or nothing yet.
    pub(super) fn new(data: SampleData<'a>, control: &Control) -> Result<(Self, Option<SampleBatch>)> {
        Ok(match data {
            SampleData::Memory { matrix, target, weights } => {
                let rows = ByRow::from_matrix_within(matrix, control)?;
                let batch = SampleBatch { first: 0, rows, target: target.to_vec(), weights: weights.clone() };
                (Self::Memory, Some(batch))
            }
            SampleData::Stream(source) => (Self::Stream { source, reader: None, batches: 0 }, None),
        })
    }

    /// Whether everything is at hand.
    pub(super) fn is_memory(&self) -> bool {
        matches!(self, Self::Memory)
    }

    /// Replaces a batch that is used up by the one after it; after the last comes the first.
    pub(super) fn advance(
        &mut self,
        batch: &mut Option<SampleBatch>,
    ) -> std::result::Result<(), SampleFault> {
        let Self::Stream { source, reader, batches } = self else { return Ok(()) };
        let mut fresh = reader.is_none();
        loop {
            let open = if let Some(open) = reader {
                open
            } else {
                *batches = 0;
                reader.insert(source.open()?)
            };
            *batch = open.next(batch.take())?;
            if batch.is_some() {
                *batches += 1;
                return Ok(());
            }
            *reader = None;
            if fresh {
                return Err(SampleFault { row: 0, reason: "the source has no samples".into() });
            }
            fresh = true;
        }
    }

    /// Batches of this pass up to the one at hand; 0 in memory, and where the next is the first.
    pub(super) fn batches(&self) -> u64 {
        match self {
            Self::Stream { reader: Some(_), batches, .. } => *batches,
            _ => 0,
        }
    }

    /// Reads on, from the first, until so many batches were read.
    pub(super) fn skip_to(
        &mut self,
        wanted: u64,
        batch: &mut Option<SampleBatch>,
    ) -> std::result::Result<(), SampleFault> {
        for k in 1..=wanted {
            self.advance(batch)?;
            if self.batches() != k {
                return Err(SampleFault {
                    row: 0,
                    reason: "the source has fewer batches than before".into(),
                });
            }
        }
        Ok(())
    }

    /// Shows every sample once, by its batch and its place there. With a stream the batch at hand makes room, the next one
    /// is the first again, and the control is asked after each; in memory it is asked now and then.
    pub(super) fn pass(
        &mut self,
        batch: &mut Option<SampleBatch>,
        control: &Control,
        mut visit: impl FnMut(&SampleBatch, usize),
    ) -> Pass {
        match self {
            Self::Memory => {
                if let Some(batch) = batch {
                    let each = numbers_per_row(&batch.rows);
                    control.in_parts(batch.target.len(), each, |part| part.for_each(|l| visit(batch, l)))?;
                }
            }
            Self::Stream { source, reader, .. } => {
                *reader = None;
                let (mut open, samples) = (source.open_in_small_batches()?, source.samples());
                loop {
                    *batch = open.next(batch.take())?;
                    let Some(batch) = batch else { return Ok(()) };
                    (0..batch.target.len()).for_each(|l| visit(batch, l));
                    if batch.first + batch.target.len() < samples {
                        control.check()?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Numbers in a row, on average.
fn numbers_per_row(rows: &ByRow) -> usize {
    match rows {
        ByRow::Dense { columns, .. } => *columns,
        ByRow::Sparse(rows) => rows.entries() / rows.len().max(1),
    }
}
