//! `f(x) = sum_c w_c (x_c - t_c)^2`, the weighted squared distance to targets.
//!
//! The paper's synthetic problem is of this form. No half: the curvature is `2 w_c`.

use std::ops::Range;

use super::factored::{Factored, OwnTerms};
use super::{Bend, DualSide, PairTerm, SmoothTerm};
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, Sum, above};
use crate::error::Result;
use crate::matrix::{check_finite_vector, check_length};
use crate::separable::Values;

/// Weighted squared distance to targets.
#[derive(Debug, Clone)]
pub struct Distance {
    target: Vec<f64>,
    weight: Values,
}

impl Distance {
    /// From targets t and weights w (one for all or one each), w at least 0.
    pub fn new(target: Vec<f64>, weight: impl Into<Values>) -> Result<Self> {
        let weight = weight.into();
        check_finite_vector("distance target", &target)?;
        weight.check_weights("distance weight")?;
        if let Some(found) = weight.len() {
            check_length("distance weight", "entries", found, target.len())?;
        }
        Ok(Self { target, weight })
    }
}

impl PairTerm for Distance {
    fn dimension(&self) -> usize {
        self.target.len()
    }
    #[inline]
    fn partial(&self, c: usize, x: &[f64], _product: &[f64]) -> f64 {
        2.0 * self.weight.at(c) * (x[c] - self.target[c])
    }
    #[inline]
    fn range_partials(&self, range: Range<usize>, x: &[f64], _product: &[f64], out: &mut [f64]) {
        let values = out.iter_mut().zip(&x[range.clone()]).zip(&self.target[range.clone()]);
        match &self.weight {
            Values::Uniform(w) => values.for_each(|((out, x), t)| *out = 2.0 * w * (x - t)),
            Values::Each(w) => values.zip(&w[range]).for_each(|(((out, x), t), w)| *out = 2.0 * w * (x - t)),
        }
    }
    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        2.0 * self.weight.at(c)
    }
    #[inline]
    fn own_curvature(&self, c: usize) -> f64 {
        self.curvature(c)
    }
    #[inline]
    fn interaction(&self, _i: usize, _j: usize) -> Option<f64> {
        Some(0.0)
    }
    fn is_decomposable(&self) -> bool {
        true
    }
}

impl SmoothTerm for Distance {
    fn value(&self, x: &[f64], _product: &[f64]) -> f64 {
        let terms = x.iter().zip(&self.target).enumerate();
        terms.map(|(c, (x, t))| self.weight.at(c) * (x - t) * (x - t)).sum()
    }
    fn hessian_product(
        &self,
        _x: &[f64],
        _product: &[f64],
        v: &[f64],
        out: &mut [f64],
        _control: &Control,
    ) -> Pass<bool> {
        for (c, (out, v)) in out.iter_mut().zip(v).enumerate() {
            *out = 2.0 * self.weight.at(c) * v;
        }
        Ok(true)
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        Some(Box::new(OwnTerms {
            curvature: |c: usize| 2.0 * self.weight.at(c),
            slope: |c: usize| -2.0 * self.weight.at(c) * self.target[c],
        }))
    }
    fn bends(&self, _x: &[f64], _product: &[f64]) -> Option<Vec<Bend<'_>>> {
        Some(vec![Bend::Diagonal((0..self.target.len()).map(|c| self.curvature(c)).collect())])
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn least_value(&self) -> f64 {
        0.0
    }
    fn narrow(&self, level: f64, within: &mut [(f64, f64)], _control: &Control) -> Pass {
        for (c, within) in within.iter_mut().enumerate() {
            let (w, t) = (self.weight.at(c), self.target[c]);
            if w > 0.0 {
                let reach = above(above(level.max(0.0) / w).sqrt());
                *within = (within.0.max((t - reach).next_down()), within.1.min((t + reach).next_up()));
            }
        }
        Ok(())
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = Sum::default();
        control.in_parts(x.len(), 16, |part| {
            for c in part {
                let square = Enclosure::difference(x[c], self.target[c]).square();
                sum.add_enclosure(square * self.weight.at(c).into());
            }
        })?;
        Ok(sum.value())
    }
}

/// K = I and `f*(u) = sum u^2 / (4 w) + u t`; where w is 0, u must be 0.
impl DualSide for Distance {
    fn dual_len(&self) -> usize {
        self.target.len()
    }
    fn dual_point(&self, x: &[f64], product: &[f64], u: &mut [f64]) {
        self.range_partials(0..u.len(), x, product, u);
    }
    fn add_dual_step(
        &self,
        _x: &[f64],
        _product: &[f64],
        y: &[f64],
        u: &mut [f64],
        _control: &Control,
    ) -> Pass {
        for (c, (u, y)) in u.iter_mut().zip(y).enumerate() {
            *u += 2.0 * self.weight.at(c) * y;
        }
        Ok(())
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], _control: &Control) -> Pass {
        out.iter_mut().zip(u).for_each(|(out, u)| *out += u);
        Ok(())
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], _control: &Control) -> Pass {
        out.iter_mut().zip(u).for_each(|(out, u)| *out += u.abs());
        Ok(())
    }
    fn conjugate(&self, u: &[f64], _control: &Control) -> Pass<f64> {
        let terms = u.iter().zip(&self.target).enumerate();
        let scalar = |w: f64, u: f64, t: f64| match (w > 0.0, u == 0.0) {
            (true, _) => u * (u / (4.0 * w) + t),
            (false, true) => 0.0,
            (false, false) => f64::INFINITY,
        };
        Ok(terms.map(|(c, (&u, &t))| scalar(self.weight.at(c), u, t)).sum())
    }
    fn settle(&self, u: &mut [f64]) {
        u.iter_mut().enumerate().filter(|(c, _)| self.weight.at(*c) == 0.0).for_each(|(_, u)| *u = 0.0);
    }
    fn enclose_conjugate(&self, u: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = Sum::default();
        control.in_parts(u.len(), 32, |part| {
            for c in part.filter(|&c| u[c] != 0.0) {
                let quarter = Enclosure::from(u[c]).over((4.0 * self.weight.at(c)).into());
                sum.add_enclosure((quarter + self.target[c].into()) * u[c].into());
            }
        })?;
        Ok(sum.value())
    }
    fn enclose_dual_entry(&self, c: usize, u: &[f64]) -> Option<Enclosure> {
        Some(u[c].into())
    }
    fn absorb(&self, c: usize, u: &[f64], by: Enclosure) -> Option<Enclosure> {
        let w = self.weight.at(c);
        let twice = Enclosure::from(u[c]) + Enclosure::from(u[c]) + by;
        (w > 0.0).then(|| by * (twice.over((4.0 * w).into()) + self.target[c].into()))
    }
}
