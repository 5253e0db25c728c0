//! The gradient of a few samples, which stands in for that of f.
//!
//! ```text
//! v = mean + 1/B sum over the samples l drawn of  (w_l phi'(a_l'x) - s_l) / p_l  a_l,     mean = sum_l s_l a_l
//! ```
//!
//! `stochastic` has s = 0; `svrg` has the slopes at a snapshot; `saga` the slopes last seen, and replaces those of the
//! samples drawn once the draw is used up. The expected v is the gradient of the sum over samples, whatever s is.
//! Terms of single coordinates beside the sum are added exactly.
//!
//! - Given: a batch of samples, a law to draw from it, x.
//! - Returns: a [`PairTerm`] that keeps no product, whose partial derivatives are those of the last draw and whose
//!   curvature is the metric of the steps.
//! - Must not know: which pair is moved, how far.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::feed::Feed;
use super::law::Law;
use crate::control::{Control, Pass};
use crate::matrix::ByRow;
use crate::smooth::loss::ScalarLoss;
use crate::smooth::{FiniteSum, PairTerm, SampleBatch, SmoothTerm};

/// What is known of the slopes of the samples that are not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// Nothing.
    None,
    /// Those at a snapshot.
    Snapshot,
    /// Those last seen.
    LastSeen,
}

/// A sample that was drawn.
#[derive(Debug, Clone, Copy)]
struct Pick {
    /// Its place in the batch.
    row: usize,
    /// `w_l phi'(a_l'x)`.
    slope: f64,
    /// What its row is multiplied by in v.
    coefficient: f64,
}

/// The stand-in for f.
#[derive(Debug)]
pub(super) struct Estimate<'a> {
    loss: &'a dyn ScalarLoss,
    rest: Vec<&'a dyn SmoothTerm>,
    memory: Memory,
    /// The metric of the steps, and whether it needs no room for what two coordinates have in common.
    pub(super) curvature: Vec<f64>,
    pub(super) apart: bool,
    pub(super) law: Law,
    /// The samples to draw from.
    pub(super) batch: Option<SampleBatch>,
    /// s, one number a sample; empty for none.
    slopes: Vec<f64>,
    /// `sum_l s_l a_l`.
    mean: Vec<f64>,
    /// v without the terms of single coordinates, but for the row of `beside`.
    v: Vec<f64>,
    picks: Vec<Pick>,
    /// Whether the row of a single sample is looked up entry by entry rather than added to v.
    pub(super) by_entry: bool,
    /// The sample that is looked up.
    beside: Option<(usize, f64)>,
}

impl<'a> Estimate<'a> {
    pub(super) fn new(
        sum: FiniteSum<'a>,
        batch: Option<SampleBatch>,
        memory: Memory,
        dimension: usize,
    ) -> Self {
        let samples = sum.data.len();
        Self {
            loss: sum.loss,
            rest: sum.rest,
            memory,
            curvature: Vec::new(),
            apart: false,
            law: Law::uniform(samples),
            batch,
            slopes: if memory == Memory::None { Vec::new() } else { vec![0.0; samples] },
            mean: vec![0.0; dimension],
            v: vec![0.0; dimension],
            picks: Vec::new(),
            by_entry: false,
            beside: None,
        }
    }

    /// The samples at hand.
    pub(super) fn at_hand(&self) -> usize {
        self.batch.as_ref().map_or(0, |batch| batch.target.len())
    }

    /// Takes the slopes of all samples, and their mean, at x; returns the sum over the samples there. After a pass that
    /// was cut short the slopes are of several points, and of no use.
    pub(super) fn anchor(&mut self, feed: &mut Feed<'_>, x: &[f64], control: &Control) -> Pass<f64> {
        let Self { loss, batch, slopes, mean, .. } = self;
        mean.fill(0.0);
        let mut value = 0.0;
        feed.pass(batch, control, |batch, l| {
            let (z, w, y) = (batch.rows.dot(l, x), batch.weights.at(l), batch.target[l]);
            let slope = w * loss.derivative(z, y);
            value += w * loss.value(z, y);
            slopes[batch.first + l] = slope;
            batch.rows.add(l, slope, mean);
        })?;
        self.v.copy_from_slice(&self.mean);
        Ok(value)
    }

    /// Draws `count` samples (all of them where there are no more) and makes v from their slopes at x.
    #[inline]
    pub(super) fn draw(&mut self, x: &[f64], count: usize, rng: &mut Xoshiro256PlusPlus) {
        let rows = self.at_hand();
        if rows == count && matches!(self.law, Law::Uniform { inverse } if inverse == rows as f64) {
            (0..rows).for_each(|row| self.pick(row, x, 1.0));
        } else {
            for _ in 0..count {
                let row = self.law.draw(rng, rows);
                self.pick(row, x, self.law.inverse(row) / count as f64);
            }
        }
        self.spread();
    }

    #[inline]
    pub(super) fn pick(&mut self, row: usize, x: &[f64], weight: f64) {
        let Some(batch) = &self.batch else { return };
        let z = batch.rows.dot(row, x);
        let slope = batch.weights.at(row) * self.loss.derivative(z, batch.target[row]);
        let known = if self.memory == Memory::None { 0.0 } else { self.slopes[batch.first + row] };
        self.picks.push(Pick { row, slope, coefficient: weight * (slope - known) });
    }

    /// v from the mean and the samples drawn.
    #[inline]
    pub(super) fn spread(&mut self) {
        let (Some(batch), [first, others @ ..]) = (&self.batch, &self.picks[..]) else { return };
        if self.by_entry && others.is_empty() {
            self.beside = Some((first.row, first.coefficient));
            return;
        }
        if let ByRow::Dense { columns, values } = &batch.rows {
            let row = &values[first.row * columns..(first.row + 1) * columns];
            for ((v, mean), a) in self.v.iter_mut().zip(&self.mean).zip(row) {
                *v = mean + first.coefficient * a;
            }
        } else {
            batch.rows.add(first.row, first.coefficient, &mut self.v);
        }
        others.iter().for_each(|pick| batch.rows.add(pick.row, pick.coefficient, &mut self.v));
    }

    /// The draw is used up: v is the mean again, up to entries that the next draw overwrites.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.beside = None;
        let Some(batch) = &self.batch else { return };
        if self.memory == Memory::LastSeen {
            for pick in &self.picks {
                // A sample drawn twice is replaced once.
                let known = &mut self.slopes[batch.first + pick.row];
                let change = pick.slope - *known;
                *known = pick.slope;
                batch.rows.add(pick.row, change, &mut self.mean);
            }
        }
        let overwritten = matches!(batch.rows, ByRow::Dense { .. }) && !self.by_entry;
        if !overwritten {
            let (v, mean) = (&mut self.v, &self.mean);
            self.picks.iter().for_each(|pick| batch.rows.for_each(pick.row, |c, _| v[c] = mean[c]));
        }
        self.picks.clear();
    }

    /// The terms of single coordinates at x.
    pub(super) fn rest_value(&self, x: &[f64]) -> f64 {
        self.rest.iter().map(|term| term.value(x, &[])).sum()
    }
}

impl PairTerm for Estimate<'_> {
    fn dimension(&self) -> usize {
        self.curvature.len()
    }

    #[inline]
    fn partial(&self, c: usize, x: &[f64], _product: &[f64]) -> f64 {
        let mut partial = self.v[c];
        if let (Some((row, coefficient)), Some(batch)) = (self.beside, &self.batch) {
            partial += coefficient * batch.rows.entry(row, c);
        }
        for term in &self.rest {
            partial += term.partial(c, x, &[]);
        }
        partial
    }

    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        self.curvature[c]
    }

    #[inline]
    fn is_decomposable(&self) -> bool {
        self.apart
    }
}
