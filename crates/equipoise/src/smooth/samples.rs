//! f as a finite sum over samples: `f(x) = sum_l w_l phi(a_l'x, y_l) + rest(x)`.
//!
//! - Given: rows `a_l` with targets `y_l` and weights `w_l`, in memory or from a [`SampleSource`] that reads them in order; a
//!   scalar loss phi; perhaps terms of single coordinates beside it (a ridge, a slope), which need no sampling.
//! - Returns: a [`FiniteSum`] for methods that look at one sample at a time.
//! - Must not know: pairs, h, A, how samples are drawn.

use std::fmt::Debug;

use super::SmoothTerm;
use super::loss::ScalarLoss;
use crate::error::SampleFault;
use crate::matrix::{ByRow, Matrix};
use crate::separable::Values;

/// f by its samples.
#[derive(Debug, Clone)]
pub struct FiniteSum<'a> {
    /// phi.
    pub loss: &'a dyn ScalarLoss,
    /// The rows `a_l` with their targets and weights.
    pub data: SampleData<'a>,
    /// Terms of single coordinates beside the sum.
    pub rest: Vec<&'a dyn SmoothTerm>,
}

/// Where samples come from.
#[derive(Debug, Clone, Copy)]
pub enum SampleData<'a> {
    /// All in memory, by columns.
    Memory {
        /// The rows `a_l`.
        matrix: &'a Matrix<'a>,
        /// The targets `y_l`.
        target: &'a [f64],
        /// The weights `w_l`.
        weights: &'a Values,
    },
    /// Read in order, a batch at a time.
    Stream(&'a dyn SampleSource),
}

impl SampleData<'_> {
    /// The number N of samples.
    pub fn len(&self) -> usize {
        match self {
            Self::Memory { target, .. } => target.len(),
            Self::Stream(source) => source.samples(),
        }
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Consecutive samples, in memory.
#[derive(Debug, Clone)]
pub struct SampleBatch {
    /// The number of the first of them among all samples, from 0.
    pub first: usize,
    /// Their rows.
    pub rows: ByRow,
    /// Their targets.
    pub target: Vec<f64>,
    /// Their weights.
    pub weights: Values,
}

/// Samples that do not fit into memory, read in order as often as needed.
pub trait SampleSource: Debug + Send + Sync {
    /// The number of samples.
    fn samples(&self) -> usize;
    /// The number of columns.
    fn columns(&self) -> usize;
    /// Bytes that a batch may take.
    fn memory_budget(&self) -> usize;
    /// Begins a pass at the first sample.
    fn open(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault>;
    /// Begins a pass that looks at every sample once and draws none: small batches do, and let a wish to stop be heard
    /// sooner.
    fn open_in_small_batches(&self) -> Result<Box<dyn SampleReader + '_>, SampleFault> {
        self.open()
    }
}

/// A pass over samples.
pub trait SampleReader {
    /// The next batch, of at most the budget of its source and at least one sample; `None` after the last. A batch
    /// that was used up may be handed back, so that its memory is used again.
    fn next(&mut self, used: Option<SampleBatch>) -> Result<Option<SampleBatch>, SampleFault>;
}
