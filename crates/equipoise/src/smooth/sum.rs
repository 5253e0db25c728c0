//! `f = f_1 + f_2 + ...`: the products of the terms lie one after the other.

use super::factored::{self, Factored};
use super::{Bend, DualSide, FiniteSum, PairTerm, Reads, SmoothTerm};
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, Sum as EnclosedSum, above};
use crate::error::{Error, Result};
use crate::matrix::check_length;

/// A sum of smooth terms over the same variables.
#[derive(Debug)]
pub struct Sum<'t> {
    terms: Vec<Box<dyn SmoothTerm + 't>>,
    /// Where the product of each term begins; one more entry for the end.
    starts: Vec<usize>,
    decomposable: bool,
}

impl<'t> Sum<'t> {
    /// From at least one term, all of one dimension.
    pub fn new(terms: Vec<Box<dyn SmoothTerm + 't>>) -> Result<Self> {
        let expected = terms.first().ok_or(Error::EmptyProblem)?.dimension();
        let mut starts = vec![0];
        for (k, term) in terms.iter().enumerate() {
            check_length(&format!("term {k} of the sum"), "variables", term.dimension(), expected)?;
            starts.push(starts[k] + term.product_len());
        }
        let decomposable = terms.iter().all(PairTerm::is_decomposable);
        Ok(Self { terms, starts, decomposable })
    }

    fn parts<'a>(&'a self, product: &'a [f64]) -> impl Iterator<Item = (&'a dyn SmoothTerm, &'a [f64])> {
        let slices = self.starts.windows(2).map(|w| &product[w[0]..w[1]]);
        self.terms.iter().map(|term| &**term).zip(slices)
    }
}

impl PairTerm for Sum<'_> {
    fn dimension(&self) -> usize {
        self.terms[0].dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.parts(product).map(|(term, product)| term.partial(c, x, product)).sum()
    }
    fn curvature(&self, c: usize) -> f64 {
        self.terms.iter().map(|term| term.curvature(c)).sum()
    }
    fn own_curvature(&self, c: usize) -> f64 {
        self.terms.iter().map(|term| term.own_curvature(c)).sum()
    }
    fn interaction(&self, i: usize, j: usize) -> Option<f64> {
        self.terms.iter().map(|term| term.interaction(i, j)).sum()
    }
    fn is_decomposable(&self) -> bool {
        self.decomposable
    }
    fn reads(&self, c: usize) -> Reads<'_> {
        let own = |k: usize| self.terms[k].reads(c) == Reads::Entries(&[]);
        let count = self.terms.len();
        if (0..count).any(|k| self.terms[k].reads(c) == Reads::Everything) {
            Reads::Everything
        } else if (0..count).all(own) {
            Reads::Entries(&[])
        } else if self.starts[1] == self.product_len() && (1..count).all(own) {
            // Only the first term has a product, so its entries are those of the sum.
            self.terms[0].reads(c)
        } else {
            Reads::Product
        }
    }
    fn product_len(&self) -> usize {
        self.starts[self.terms.len()]
    }
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        for (term, w) in self.terms.iter().zip(self.starts.windows(2)) {
            term.add_to_product(c, delta, &mut product[w[0]..w[1]]);
        }
    }
    fn add_all_to_product(&self, coordinates: &[usize], deltas: &[f64], product: &mut [f64]) {
        for (term, w) in self.terms.iter().zip(self.starts.windows(2)) {
            term.add_all_to_product(coordinates, deltas, &mut product[w[0]..w[1]]);
        }
    }
}

impl SmoothTerm for Sum<'_> {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.parts(product).map(|(term, product)| term.value(x, product)).sum()
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        for (term, w) in self.terms.iter().zip(self.starts.windows(2)) {
            term.fill_product(x, &mut product[w[0]..w[1]], control)?;
        }
        Ok(())
    }
    /// Term after term: one that reads its data anew reads them once, not once a coordinate.
    fn gradient(&self, x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        let mut part = vec![0.0; out.len()];
        out.fill(0.0);
        for (term, product) in self.parts(product) {
            term.gradient(x, product, &mut part, control)?;
            out.iter_mut().zip(&part).for_each(|(out, part)| *out += part);
        }
        Ok(())
    }
    fn hessian_product(
        &self,
        x: &[f64],
        product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        let mut part = vec![0.0; out.len()];
        out.fill(0.0);
        for (term, product) in self.parts(product) {
            if !term.hessian_product(x, product, v, &mut part, control)? {
                return Ok(false);
            }
            out.iter_mut().zip(&part).for_each(|(out, part)| *out += part);
        }
        Ok(true)
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        factored::of_sum(&self.terms)
    }
    /// One term over samples, the others of single coordinates.
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        let (alone, coupled): (Vec<_>, Vec<_>) =
            self.terms.iter().map(|term| &**term).partition(|term| term.is_decomposable());
        let [sampled] = coupled[..] else { return None };
        let mut sum = sampled.finite_sum()?;
        sum.rest.extend(alone);
        Some(sum)
    }
    fn is_spread(&self) -> bool {
        self.terms.iter().any(SmoothTerm::is_spread)
    }
    fn bends(&self, x: &[f64], product: &[f64]) -> Option<Vec<Bend<'_>>> {
        let mut all = Vec::new();
        for (term, ends) in self.terms.iter().zip(self.starts.windows(2)) {
            all.extend(term.bends(x, &product[ends[0]..ends[1]])?);
        }
        Some(all)
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        self.terms.iter().all(|term| term.dual().is_some()).then_some(self)
    }
    fn least_value(&self) -> f64 {
        let mut sum = EnclosedSum::default();
        self.terms.iter().for_each(|term| sum.add(term.least_value()));
        sum.value().lower()
    }
    fn narrow(&self, level: f64, within: &mut [(f64, f64)], control: &Control) -> Pass {
        for (k, term) in self.terms.iter().enumerate() {
            // What the others are at least is not left for this one.
            let mut left = EnclosedSum::default();
            left.add(level);
            self.terms
                .iter()
                .enumerate()
                .filter(|(j, _)| *j != k)
                .for_each(|(_, other)| left.add(-other.least_value()));
            let left = left.value().upper();
            if left.is_finite() {
                term.narrow(left, within, control)?;
            }
        }
        Ok(())
    }
    fn is_enclosed(&self) -> bool {
        self.terms.iter().all(SmoothTerm::is_enclosed)
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = EnclosedSum::default();
        for term in &self.terms {
            sum.add_enclosure(term.enclose_value(x, control)?);
        }
        Ok(sum.value())
    }
}

impl Sum<'_> {
    /// The dual descriptions with the ranges that their u occupy.
    fn duals(&self) -> impl Iterator<Item = (&dyn DualSide, std::ops::Range<usize>)> {
        let sides = self.terms.iter().filter_map(|term| term.dual());
        sides.scan(0, |start, side| {
            let range = *start..*start + side.dual_len();
            *start = range.end;
            Some((side, range))
        })
    }
}

impl DualSide for Sum<'_> {
    fn dual_len(&self) -> usize {
        self.duals().map(|(_, range)| range.end).last().unwrap_or(0)
    }
    fn dual_point(&self, x: &[f64], product: &[f64], u: &mut [f64]) {
        for ((side, range), w) in self.duals().zip(self.starts.windows(2)) {
            side.dual_point(x, &product[w[0]..w[1]], &mut u[range]);
        }
    }
    fn add_dual_step(&self, x: &[f64], product: &[f64], y: &[f64], u: &mut [f64], control: &Control) -> Pass {
        for ((side, range), w) in self.duals().zip(self.starts.windows(2)) {
            side.add_dual_step(x, &product[w[0]..w[1]], y, &mut u[range], control)?;
        }
        Ok(())
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        for (side, range) in self.duals() {
            side.add_dual_gradient(&u[range], out, control)?;
        }
        Ok(())
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        for (side, range) in self.duals() {
            side.add_dual_magnitude(&u[range], out, control)?;
        }
        Ok(())
    }
    fn conjugate(&self, u: &[f64], control: &Control) -> Pass<f64> {
        self.duals().map(|(side, range)| side.conjugate(&u[range], control)).sum()
    }
    fn settle(&self, u: &mut [f64]) {
        self.duals().for_each(|(side, range)| side.settle(&mut u[range]));
    }
    fn enclose_conjugate(&self, u: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = EnclosedSum::default();
        for (side, range) in self.duals() {
            sum.add_enclosure(side.enclose_conjugate(&u[range], control)?);
        }
        Ok(sum.value())
    }
    fn enclose_dual_entry(&self, c: usize, u: &[f64]) -> Option<Enclosure> {
        let mut sum = Enclosure::from(0.0);
        for (side, range) in self.duals() {
            sum += side.enclose_dual_entry(c, &u[range])?;
        }
        Some(sum)
    }
    fn enclose_dual_gradient(&self, u: &[f64], out: &mut [Enclosure], control: &Control) -> Pass {
        self.duals().try_for_each(|(side, range)| side.enclose_dual_gradient(&u[range], out, control))
    }
    fn is_convex(&self) -> bool {
        self.duals().all(|(side, _)| side.is_convex())
    }
    fn concavity(&self, u: &[f64], within: &[(f64, f64)]) -> f64 {
        above(self.duals().map(|(side, range)| side.concavity(&u[range], within)).sum())
    }
    fn absorb(&self, c: usize, u: &[f64], by: Enclosure) -> Option<Enclosure> {
        self.duals().find_map(|(side, range)| side.absorb(c, &u[range], by))
    }
}
