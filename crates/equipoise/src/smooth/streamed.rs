//! `f(x) = sum_l w_l phi(a_l'x, y_l)` over samples that do not fit into memory.
//!
//! - Given: a [`SampleSource`], which reads the rows `a_l` in order as often as asked; a scalar loss phi.
//! - Returns: f with the product `M x`, the dual description and the majorant's diagonal of
//!   [`LossOfProduct`](super::LossOfProduct). In memory are vectors of N (targets, weights, product) and of n, and one
//!   batch of rows. Whatever needs M costs one pass over the source: the product, the gradient, a Hessian product, and
//!   also a single partial derivative or the move of a single coordinate, which are therefore slow.
//! - Must not know: files, how samples are drawn, h, A.
//!
//! Every row is checked once when the term is made. A fault that a later pass meets is kept ([`SmoothTerm::fault`]); the
//! numbers of that pass are NaN, and so is what is computed from them. So they are, without a fault, where a
//! [`StopScope`] ends a pass early: it is asked once a batch.

use std::sync::{Mutex, PoisonError};

use super::loss::ScalarLoss;
use super::row_losses::RowLosses;
use super::{DualSide, FiniteSum, Reads, SampleBatch, SampleData, SampleFault, SampleSource, SmoothTerm};
use crate::error::{self, Error};
use crate::separable::Values;
use crate::stop_scope::StopScope;

/// A sum over samples of a scalar loss, the samples read anew whenever they are needed.
#[derive(Debug)]
pub struct Streamed<L> {
    source: Box<dyn SampleSource>,
    rows: RowLosses<L>,
    /// Diagonal of the majorant.
    curvature: Vec<f64>,
    /// The first fault that a pass met.
    fault: Mutex<Option<SampleFault>>,
}

impl<L: ScalarLoss> Streamed<L> {
    /// From samples and the loss; one pass checks every row, target and weight.
    pub fn new(source: Box<dyn SampleSource>, loss: L) -> error::Result<Self> {
        let samples = source.samples();
        let mut target = Vec::with_capacity(samples);
        let mut weights = Gathered::default();
        let mut curvature = vec![0.0; source.columns()];
        let scan = pass(&*source, |batch| {
            target.extend_from_slice(&batch.target);
            weights.append(batch, samples);
            for i in 0..batch.rows.len() {
                let w = batch.weights.at(i);
                batch.rows.for_each(i, |c, value| curvature[c] += w * value * value);
            }
        });
        let whole = scan.map_err(|SampleFault { row, reason }| Error::UnusableSample { row, reason })?;
        if !whole {
            return Err(Error::StoppedEarly { by: "interrupted" });
        }
        let rows = RowLosses::new(loss, target, weights.values(), samples)?;
        let kappa = rows.loss.largest_curvature();
        curvature.iter_mut().for_each(|curvature| *curvature *= kappa);
        Ok(Self { source, rows, curvature, fault: Mutex::new(None) })
    }

    /// Shows every batch; whether all were shown. A fault is kept.
    fn pass(&self, visit: impl FnMut(&SampleBatch)) -> bool {
        match pass(&*self.source, visit) {
            Ok(whole) => whole,
            Err(fault) => {
                self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
                false
            }
        }
    }

    /// `out[l] += a_l'x`; NaN where the pass was not whole.
    fn add_image(&self, x: &[f64], out: &mut [f64]) {
        let fine = self.pass(|batch| {
            let rows = out[batch.first..].iter_mut().take(batch.rows.len()).enumerate();
            rows.for_each(|(i, out)| *out += batch.rows.dot(i, x));
        });
        spoil_unless(fine, out);
    }

    /// `out += sum_l scale(l) a_l`; NaN where the pass was not whole.
    fn add_rows(&self, scale: impl Fn(usize) -> f64, out: &mut [f64]) {
        let fine = self.pass(|batch| {
            for i in 0..batch.rows.len() {
                let scale = scale(batch.first + i);
                if scale != 0.0 {
                    batch.rows.add(i, scale, out);
                }
            }
        });
        spoil_unless(fine, out);
    }
}

/// Numbers of a pass that was cut short are none.
fn spoil_unless(fine: bool, out: &mut [f64]) {
    if !fine {
        out.fill(f64::NAN);
    }
}

/// Shows every batch of a source, each checked, up to the first fault; false where it was ended early.
fn pass(source: &dyn SampleSource, mut visit: impl FnMut(&SampleBatch)) -> Result<bool, SampleFault> {
    let (samples, columns) = (source.samples(), source.columns());
    let (mut reader, mut used, mut next) = (source.open_in_small_batches()?, None, 0);
    while let Some(batch) = reader.next(used.take())? {
        check_batch(&batch, next, samples, columns)?;
        visit(&batch);
        next += batch.rows.len();
        used = Some(batch);
        if next < samples && StopScope::is_over() {
            StopScope::cut_short();
            return Ok(false);
        }
    }
    if next < samples {
        let reason = format!("found the end of the samples, expected {samples} of them");
        return Err(SampleFault { row: next, reason });
    }
    Ok(true)
}

/// Refuses a batch that is out of order, of another shape, or holds a number that is not finite.
fn check_batch(batch: &SampleBatch, next: usize, samples: usize, columns: usize) -> Result<(), SampleFault> {
    let (count, fault) = (batch.rows.len(), |row, reason| Err(SampleFault { row, reason }));
    if batch.first != next || count == 0 {
        return fault(next, format!("found a batch of {count} samples from {} on", batch.first));
    }
    if next + count > samples {
        return fault(samples, format!("found more than the {samples} samples that were announced"));
    }
    let weights = batch.weights.len().unwrap_or(count);
    if batch.rows.columns() != columns || batch.target.len() != count || weights != count {
        let (found, targets) = (batch.rows.columns(), batch.target.len());
        let reason = format!(
            "found a batch of {count} rows, {found} columns, {targets} targets and {weights} weights, expected \
             {columns} columns, and a target and a weight a row"
        );
        return fault(next, reason);
    }
    for i in 0..count {
        let mut bad = None;
        batch.rows.for_each(i, |c, value| bad = bad.or((!value.is_finite()).then_some((c, value))));
        if let Some((column, value)) = bad {
            return fault(next + i, format!("column {column} is {value}; every entry must be finite"));
        }
        let (y, w) = (batch.target[i], batch.weights.at(i));
        if !y.is_finite() {
            return fault(next + i, format!("its target is {y}; it must be finite"));
        }
        if !(w.is_finite() && w >= 0.0) {
            return fault(next + i, format!("its weight is {w}; it must be finite and at least 0"));
        }
    }
    Ok(())
}

/// The weights of all batches: one number as long as it is one.
#[derive(Debug, Default)]
struct Gathered(Option<Values>);

impl Gathered {
    fn append(&mut self, batch: &SampleBatch, samples: usize) {
        match (&mut self.0, &batch.weights) {
            (None, Values::Uniform(w)) if batch.first == 0 => self.0 = Some(Values::Uniform(*w)),
            (Some(Values::Uniform(all)), Values::Uniform(w)) if *all == *w => {}
            (all, weights) => {
                let mut list = match all.take() {
                    Some(Values::Each(list)) => list,
                    other => {
                        let mut list = Vec::with_capacity(samples);
                        list.resize(batch.first, other.map_or(1.0, |all| all.at(0)));
                        list
                    }
                };
                list.extend((0..batch.rows.len()).map(|i| weights.at(i)));
                *all = Some(Values::Each(list));
            }
        }
    }

    fn values(self) -> Values {
        self.0.unwrap_or(Values::Uniform(1.0))
    }
}

impl<L: ScalarLoss> SmoothTerm for Streamed<L> {
    fn dimension(&self) -> usize {
        self.source.columns()
    }
    fn value(&self, _x: &[f64], product: &[f64]) -> f64 {
        self.rows.value(product)
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        let mut out = [0.0];
        self.partials(&[c], x, product, &mut out);
        out[0]
    }
    fn curvature(&self, c: usize) -> f64 {
        self.curvature[c]
    }
    fn reads(&self, _c: usize) -> Reads<'_> {
        Reads::Product
    }
    fn product_len(&self) -> usize {
        self.rows.len()
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64]) {
        product.fill(0.0);
        self.add_image(x, product);
    }
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.add_all_to_product(&[c], &[delta], product);
    }
    fn partials(&self, coordinates: &[usize], _x: &[f64], product: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let fine = self.pass(|batch| {
            for i in 0..batch.rows.len() {
                let slope = self.rows.slope(batch.first + i, product);
                for (out, &c) in out.iter_mut().zip(coordinates) {
                    *out += slope * batch.rows.entry(i, c);
                }
            }
        });
        spoil_unless(fine, out);
    }
    fn range_partials(&self, range: std::ops::Range<usize>, x: &[f64], product: &[f64], out: &mut [f64]) {
        let coordinates: Vec<usize> = range.collect();
        self.partials(&coordinates, x, product, out);
    }
    fn add_all_to_product(&self, coordinates: &[usize], deltas: &[f64], product: &mut [f64]) {
        if deltas.iter().all(|&delta| delta == 0.0) {
            return;
        }
        let mut change = vec![0.0; self.dimension()];
        coordinates.iter().zip(deltas).for_each(|(&c, &delta)| change[c] += delta);
        self.add_image(&change, product);
    }
    fn gradient(&self, _x: &[f64], product: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.add_rows(|l| self.rows.slope(l, product), out);
    }
    fn hessian_product(&self, _x: &[f64], product: &[f64], v: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        let fine = self.pass(|batch| {
            for i in 0..batch.rows.len() {
                let scale = self.rows.bend(batch.first + i, product) * batch.rows.dot(i, v);
                batch.rows.add(i, scale, out);
            }
        });
        spoil_unless(fine, out);
        true
    }
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        Some(FiniteSum { loss: &self.rows.loss, data: SampleData::Stream(&*self.source), rest: Vec::new() })
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn fault(&self) -> Option<SampleFault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// As of [`LossOfProduct`](super::LossOfProduct); K = M is read in one pass a call.
impl<L: ScalarLoss> DualSide for Streamed<L> {
    fn dual_len(&self) -> usize {
        self.rows.len()
    }
    fn dual_point(&self, _x: &[f64], product: &[f64], u: &mut [f64]) {
        self.rows.fill_slopes(product, u);
    }
    fn add_dual_step(&self, _x: &[f64], product: &[f64], y: &[f64], u: &mut [f64]) {
        let mut image = vec![0.0; product.len()];
        self.add_image(y, &mut image);
        self.rows.add_dual_step(product, &image, u);
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64]) {
        self.add_rows(|l| u[l], out);
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64]) {
        let fine = self.pass(|batch| {
            for i in 0..batch.rows.len() {
                let scale = u[batch.first + i];
                batch.rows.for_each(i, |c, value| out[c] += (value * scale).abs());
            }
        });
        spoil_unless(fine, out);
    }
    fn conjugate(&self, u: &[f64]) -> f64 {
        self.rows.conjugate(u)
    }
}

#[cfg(test)]
mod tests;
