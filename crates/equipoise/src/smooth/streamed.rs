//! `f(x) = sum_l w_l phi(a_l'x, y_l)` over samples that do not fit into memory.
//!
//! - Given: a [`SampleSource`], which reads the rows `a_l` in order as often as asked; a scalar loss phi.
//! - Returns: f with the product `M x`, the dual description and the majorant's diagonal of
//!   [`LossOfProduct`](super::LossOfProduct). In memory are vectors of N (targets, weights, product) and of n, and one
//!   batch of rows. Whatever needs M costs one pass over the source: the product, the gradient, a Hessian product, and
//!   also a single partial derivative or the move of a single coordinate, which are therefore slow.
//! - Must not know: files, how samples are drawn, h, A.
//!
//! Every row is checked once when the term is made. A later pass answers with the fault it meets; it looks at its control
//! once a batch. A pair step has no way to answer: what it could not read counts as 0, the fault is kept, and the next
//! pass, which ends every round of pairs, answers with it.

use std::sync::OnceLock;

use super::loss::ScalarLoss;
use super::row_losses::RowLosses;
use super::{
    DualSide, FiniteSum, PairTerm, Reads, SampleBatch, SampleData, SampleFault, SampleSource, SmoothTerm,
};
use crate::control::{Control, Halt, Pass};
use crate::enclosure::{Enclosure, Sum};
use crate::error;
use crate::separable::Values;

/// A sum over samples of a scalar loss, the samples read anew whenever they are needed.
#[derive(Debug)]
pub struct Streamed<L> {
    source: Box<dyn SampleSource>,
    rows: RowLosses<L>,
    /// Diagonal of the majorant.
    curvature: Vec<f64>,
    /// The first fault that a pair step met.
    fault: OnceLock<SampleFault>,
}

impl<L: ScalarLoss> Streamed<L> {
    /// From samples and the loss; one pass checks every row, target and weight.
    pub fn new(source: Box<dyn SampleSource>, loss: L) -> error::Result<Self> {
        Self::within(source, loss, &Control::unlimited())
    }

    /// The same where the pass may be ended.
    pub fn within(source: Box<dyn SampleSource>, loss: L, control: &Control) -> error::Result<Self> {
        let samples = source.samples();
        let mut target = Vec::with_capacity(samples);
        let mut weights = Gathered::default();
        let mut curvature = vec![0.0; source.columns()];
        pass(&*source, control, |batch| {
            target.extend_from_slice(&batch.target);
            weights.append(batch, samples);
            for i in 0..batch.rows.len() {
                let w = batch.weights.at(i);
                batch.rows.for_each(i, |c, value| curvature[c] += w * value * value);
            }
        })?;
        let rows = RowLosses::new(loss, target, weights.values(), samples)?;
        let kappa = rows.loss.largest_curvature();
        curvature.iter_mut().for_each(|curvature| *curvature *= kappa);
        Ok(Self { source, rows, curvature, fault: OnceLock::new() })
    }

    /// Shows every batch.
    fn pass(&self, control: &Control, visit: impl FnMut(&SampleBatch)) -> Pass {
        match self.fault.get() {
            Some(fault) => Err(fault.clone().into()),
            None => pass(&*self.source, control, visit),
        }
    }

    /// The same for a pair step: a fault is kept, and whether all batches were shown is the answer.
    fn pass_of_pair(&self, visit: impl FnMut(&SampleBatch)) -> bool {
        match self.pass(&Control::unlimited(), visit) {
            Err(Halt::Fault(fault)) => {
                self.fault.get_or_init(|| fault);
                false
            }
            outcome => outcome.is_ok(),
        }
    }

    /// `out[l] += a_l'x`.
    fn add_image(&self, x: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.pass(control, |batch| add_dots(batch, x, out))
    }

    /// `out += sum_l scale(l) a_l`.
    fn add_rows(&self, scale: impl Fn(usize) -> f64, out: &mut [f64], control: &Control) -> Pass {
        self.pass(control, |batch| {
            for i in 0..batch.rows.len() {
                let scale = scale(batch.first + i);
                if scale != 0.0 {
                    batch.rows.add(i, scale, out);
                }
            }
        })
    }
}

/// `out[l] += a_l'x` for the rows of a batch.
fn add_dots(batch: &SampleBatch, x: &[f64], out: &mut [f64]) {
    let rows = out[batch.first..].iter_mut().take(batch.rows.len()).enumerate();
    rows.for_each(|(i, out)| *out += batch.rows.dot(i, x));
}

/// Shows every batch of a source, each checked, up to the first fault, with a look at the control between two.
fn pass(source: &dyn SampleSource, control: &Control, mut visit: impl FnMut(&SampleBatch)) -> Pass {
    let (samples, columns) = (source.samples(), source.columns());
    let (mut reader, mut used, mut next) = (source.open_in_small_batches()?, None, 0);
    while let Some(batch) = reader.next(used.take())? {
        check_batch(&batch, next, samples, columns)?;
        visit(&batch);
        next += batch.rows.len();
        used = Some(batch);
        if next < samples {
            control.check()?;
        }
    }
    if next < samples {
        let reason = format!("found the end of the samples, expected {samples} of them");
        return Err(SampleFault { row: next, reason }.into());
    }
    Ok(())
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

impl<L: ScalarLoss> PairTerm for Streamed<L> {
    fn dimension(&self) -> usize {
        self.source.columns()
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
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.add_all_to_product(&[c], &[delta], product);
    }
    fn partials(&self, coordinates: &[usize], _x: &[f64], product: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let whole = self.pass_of_pair(|batch| {
            for i in 0..batch.rows.len() {
                let slope = self.rows.slope(batch.first + i, product);
                for (out, &c) in out.iter_mut().zip(coordinates) {
                    *out += slope * batch.rows.entry(i, c);
                }
            }
        });
        if !whole {
            out.fill(0.0);
        }
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
        self.pass_of_pair(|batch| add_dots(batch, &change, product));
    }
}

impl<L: ScalarLoss> SmoothTerm for Streamed<L> {
    fn value(&self, _x: &[f64], product: &[f64]) -> f64 {
        self.rows.value(product)
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        product.fill(0.0);
        self.add_image(x, product, control)
    }
    fn gradient(&self, _x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        out.fill(0.0);
        self.add_rows(|l| self.rows.slope(l, product), out, control)
    }
    fn hessian_product(
        &self,
        _x: &[f64],
        product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        out.fill(0.0);
        self.pass(control, |batch| {
            for i in 0..batch.rows.len() {
                let scale = self.rows.bend(batch.first + i, product) * batch.rows.dot(i, v);
                batch.rows.add(i, scale, out);
            }
        })?;
        Ok(true)
    }
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        Some(FiniteSum { loss: &self.rows.loss, data: SampleData::Stream(&*self.source), rest: Vec::new() })
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn least_value(&self) -> f64 {
        self.rows.least_value()
    }
    fn is_enclosed(&self) -> bool {
        self.rows.loss.is_enclosed()
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = Sum::default();
        self.pass(control, |batch| {
            for i in 0..batch.rows.len() {
                let z = batch.rows.enclose_dot(i, x);
                sum.add_enclosure(self.rows.enclose_row(batch.first + i, z));
            }
        })?;
        Ok(sum.value())
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
    fn add_dual_step(
        &self,
        _x: &[f64],
        product: &[f64],
        y: &[f64],
        u: &mut [f64],
        control: &Control,
    ) -> Pass {
        let mut image = vec![0.0; product.len()];
        self.add_image(y, &mut image, control)?;
        self.rows.add_dual_step(product, &image, u);
        Ok(())
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.add_rows(|l| u[l], out, control)
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.pass(control, |batch| {
            for i in 0..batch.rows.len() {
                let scale = u[batch.first + i];
                batch.rows.for_each(i, |c, value| out[c] += (value * scale).abs());
            }
        })
    }
    fn conjugate(&self, u: &[f64], _control: &Control) -> Pass<f64> {
        Ok(self.rows.conjugate(u))
    }
    fn settle(&self, u: &mut [f64]) {
        self.rows.settle(u);
    }
    fn enclose_conjugate(&self, u: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(self.rows.enclose_conjugate(u))
    }
    fn enclose_dual_gradient(&self, u: &[f64], out: &mut [Enclosure], control: &Control) -> Pass {
        self.pass(control, |batch| {
            for i in 0..batch.rows.len() {
                let scale = u[batch.first + i];
                batch.rows.for_each(i, |c, value| out[c] += Enclosure::product(value, scale));
            }
        })
    }
}

#[cfg(test)]
mod tests;
