//! `f(x) = 1/2 ||X'x||^2 + 1/2 sum_c d_c x_c^2 + l'x`: the quadratic of a Gram matrix `X X'`, with samples by row.
//!
//! The duals of linear support vector machines are of this form, one coordinate a sample. The maintained product is
//! `w = X'x`, so a partial derivative costs one row.

use std::ops::Range;

use super::factored::Factored;
use super::{DualSide, PairTerm, Reads, SmoothTerm};
use crate::control::{Control, Pass};
use crate::enclosure::{self, Enclosure, Sum};
use crate::error::Result;
use crate::matrix::{Rows, check_finite_vector, check_length, dot};
use crate::separable::Values;

/// The quadratic of a Gram matrix plus a diagonal and a linear term.
#[derive(Debug, Clone)]
pub struct Gram<'a> {
    rows: &'a Rows<'a>,
    diagonal: Values,
    linear: Values,
    squared_norms: Vec<f64>,
}

impl<'a> Gram<'a> {
    /// From samples X, a diagonal d (at least 0) and linear coefficients l, each one for all or one a sample.
    pub fn new(rows: &'a Rows<'a>, diagonal: impl Into<Values>, linear: impl Into<Values>) -> Result<Self> {
        let squared_norms = (0..rows.len()).map(|i| rows.squared_norm(i)).collect();
        Self::with_squared_norms(rows, diagonal.into(), linear.into(), squared_norms)
    }

    /// The same where the squared norms of the samples are known.
    pub fn with_squared_norms(
        rows: &'a Rows<'a>,
        diagonal: Values,
        linear: Values,
        squared_norms: Vec<f64>,
    ) -> Result<Self> {
        diagonal.check_weights("gram diagonal")?;
        check_finite_vector("gram linear", linear.as_slice())?;
        for (name, values) in [("gram diagonal", &diagonal), ("gram linear", &linear)] {
            values.len().map_or(Ok(()), |found| check_length(name, "entries", found, rows.len()))?;
        }
        Ok(Self { rows, diagonal, linear, squared_norms })
    }

    /// The samples.
    pub fn rows(&self) -> &'a Rows<'a> {
        self.rows
    }

    /// A pass over the samples, in parts.
    fn pass(&self, control: &Control, work: impl FnMut(Range<usize>)) -> Pass {
        control.in_parts(self.rows.len(), self.rows.entries().div_ceil(self.rows.len().max(1)), work)
    }

    /// `w += X'x`.
    fn add_image(&self, x: &[f64], w: &mut [f64], control: &Control) -> Pass {
        self.pass(control, |part| {
            for c in part {
                if x[c] != 0.0 {
                    self.rows.add(c, x[c], w);
                }
            }
        })
    }

    fn has_diagonal(&self) -> bool {
        self.diagonal.as_slice().iter().any(|d| *d > 0.0)
    }
}

impl PairTerm for Gram<'_> {
    fn dimension(&self) -> usize {
        self.rows.len()
    }
    #[inline]
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.rows.dot(c, product) + self.diagonal.at(c) * x[c] + self.linear.at(c)
    }
    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        self.squared_norms[c] + self.diagonal.at(c)
    }
    #[inline]
    fn own_curvature(&self, c: usize) -> f64 {
        self.diagonal.at(c)
    }
    #[inline]
    fn interaction(&self, i: usize, j: usize) -> Option<f64> {
        Some(self.rows.rows_dot(i, j))
    }
    #[inline]
    fn reads(&self, c: usize) -> Reads<'_> {
        Reads::Entries(self.rows.row(c).0)
    }
    #[inline]
    fn product_len(&self) -> usize {
        self.rows.columns()
    }
    #[inline]
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.rows.add(c, delta, product);
    }
}

impl SmoothTerm for Gram<'_> {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        let own: f64 =
            x.iter().enumerate().map(|(c, x)| x * (0.5 * self.diagonal.at(c) * x + self.linear.at(c))).sum();
        0.5 * dot(product, product) + own
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        product.fill(0.0);
        self.add_image(x, product, control)
    }
    fn least_value(&self) -> f64 {
        let has_slope = self.linear.as_slice().iter().any(|l| *l != 0.0);
        if has_slope { f64::NEG_INFINITY } else { 0.0 }
    }
    fn gradient(&self, x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.pass(control, |part| self.range_partials(part.clone(), x, product, &mut out[part]))
    }
    fn hessian_product(
        &self,
        _x: &[f64],
        product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        let mut image = vec![0.0; product.len()];
        self.fill_product(v, &mut image, control)?;
        self.pass(control, |part| {
            for c in part {
                out[c] = self.rows.dot(c, &image) + self.diagonal.at(c) * v[c];
            }
        })?;
        Ok(true)
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut image = vec![Sum::default(); self.rows.columns()];
        let mut sum = Sum::default();
        self.pass(control, |part| {
            for c in part.filter(|&c| x[c] != 0.0) {
                self.rows.for_each(c, |k, value| image[k].add_product(value, x[c]));
                let own = Enclosure::product(self.diagonal.at(c), x[c]).half() + self.linear.at(c).into();
                sum.add_enclosure(own * x[c].into());
            }
        })?;
        image.iter().for_each(|w| sum.add_enclosure(w.value().square().half()));
        Ok(sum.value())
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        Some(Box::new(self))
    }
}

/// K is X' over sqrt(d): `u = (w, sqrt(d) x)` and `f*(u) = 1/2 u'u`; without a diagonal only w.
impl DualSide for Gram<'_> {
    fn dual_len(&self) -> usize {
        self.rows.columns() + if self.has_diagonal() { self.rows.len() } else { 0 }
    }
    fn dual_point(&self, x: &[f64], product: &[f64], u: &mut [f64]) {
        let (w, own) = u.split_at_mut(self.rows.columns());
        w.copy_from_slice(product);
        own.iter_mut().enumerate().for_each(|(c, own)| *own = self.diagonal.at(c).sqrt() * x[c]);
    }
    fn add_dual_step(
        &self,
        _x: &[f64],
        _product: &[f64],
        y: &[f64],
        u: &mut [f64],
        control: &Control,
    ) -> Pass {
        let (w, own) = u.split_at_mut(self.rows.columns());
        self.add_image(y, w, control)?;
        own.iter_mut().enumerate().for_each(|(c, own)| *own += self.diagonal.at(c).sqrt() * y[c]);
        Ok(())
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        let (w, own) = u.split_at(self.rows.columns());
        self.pass(control, |part| {
            for c in part {
                out[c] += self.rows.dot(c, w) + self.linear.at(c);
            }
        })?;
        let own = out.iter_mut().zip(own).enumerate();
        own.for_each(|(c, (out, own))| *out += self.diagonal.at(c).sqrt() * own);
        Ok(())
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        let (w, own) = u.split_at(self.rows.columns());
        self.pass(control, |part| {
            for c in part {
                let (indices, values) = self.rows.row(c);
                let size = |(k, &j): (usize, &u32)| (values.at(k) * w[j as usize]).abs();
                out[c] += indices.iter().enumerate().map(size).sum::<f64>() + self.linear.at(c).abs();
            }
        })?;
        let own = out.iter_mut().zip(own).enumerate();
        own.for_each(|(c, (out, own))| *out += (self.diagonal.at(c).sqrt() * own).abs());
        Ok(())
    }
    fn conjugate(&self, u: &[f64], _control: &Control) -> Pass<f64> {
        Ok(0.5 * dot(u, u))
    }
    fn enclose_conjugate(&self, u: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(enclosure::dot(u, u).half())
    }
    fn enclose_dual_entry(&self, c: usize, u: &[f64]) -> Option<Enclosure> {
        let (w, own) = u.split_at(self.rows.columns());
        let shared = self.rows.enclose_dot(c, w) + self.linear.at(c).into();
        let root = || Enclosure::from(self.diagonal.at(c)).sqrt();
        Some(own.get(c).map_or(shared, |&own| shared + root() * own.into()))
    }
    fn absorb(&self, c: usize, u: &[f64], by: Enclosure) -> Option<Enclosure> {
        let (d, own) = (self.diagonal.at(c), *u.get(self.rows.columns() + c)?);
        let change = || by.over(Enclosure::from(d).sqrt());
        (d > 0.0).then(|| change() * (change().half() + own.into()))
    }
}

impl Factored for &Gram<'_> {
    fn rank(&self) -> usize {
        self.rows.columns()
    }
    fn own_curvature(&self, c: usize) -> f64 {
        self.diagonal.at(c)
    }
    fn own_slope(&self, c: usize) -> f64 {
        self.linear.at(c)
    }
    fn column_square(&self, c: usize) -> f64 {
        self.squared_norms[c]
    }
    fn stored(&self) -> usize {
        self.rows.entries()
    }
    fn consecutive_dots(&self, first: usize, u: &[f64], out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = self.rows.dot(first + k, u));
    }
    fn dots(&self, columns: &[u32], u: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(columns).for_each(|(out, &c)| *out = self.rows.dot(c as usize, u));
    }
    fn add_columns(&self, columns: &[u32], amounts: &[f64], out: &mut [f64]) {
        columns.iter().zip(amounts).for_each(|(&c, &t)| self.rows.add(c as usize, t, out));
    }
    fn copy_columns(&self, columns: &[u32]) -> Option<Rows<'static>> {
        Some(self.rows.chosen(columns))
    }
    fn add_outer(&self, columns: &[u32], scales: &[f64], first: usize, out: &mut [f64], stride: usize) {
        let chosen = columns.iter().zip(scales).map(|(&c, &scale)| (c as usize, scale));
        self.rows.add_outers(chosen, first, out, stride);
    }
}
