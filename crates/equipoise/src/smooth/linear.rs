//! `f(x) = c'x`.

use super::factored::{Factored, OwnTerms};
use super::{Bend, DualSide, PairTerm, SmoothTerm};
use crate::control::{Control, Pass};
use crate::enclosure::{self, Enclosure};
use crate::error::Result;
use crate::matrix::{axpy, check_finite_vector, dot};

/// A linear term.
#[derive(Debug, Clone)]
pub struct Linear {
    coefficients: Vec<f64>,
}

impl Linear {
    /// From its coefficients c, all finite.
    pub fn new(coefficients: Vec<f64>) -> Result<Self> {
        check_finite_vector("linear", &coefficients)?;
        Ok(Self { coefficients })
    }
}

impl PairTerm for Linear {
    fn dimension(&self) -> usize {
        self.coefficients.len()
    }
    #[inline]
    fn partial(&self, c: usize, _x: &[f64], _product: &[f64]) -> f64 {
        self.coefficients[c]
    }
    #[inline]
    fn curvature(&self, _c: usize) -> f64 {
        0.0
    }
    #[inline]
    fn interaction(&self, _i: usize, _j: usize) -> Option<f64> {
        Some(0.0)
    }
    fn is_decomposable(&self) -> bool {
        true
    }
}

impl SmoothTerm for Linear {
    fn value(&self, x: &[f64], _product: &[f64]) -> f64 {
        dot(&self.coefficients, x)
    }
    fn hessian_product(
        &self,
        _x: &[f64],
        _product: &[f64],
        _v: &[f64],
        out: &mut [f64],
        _control: &Control,
    ) -> Pass<bool> {
        out.fill(0.0);
        Ok(true)
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        Some(Box::new(OwnTerms { curvature: |_| 0.0, slope: |c: usize| self.coefficients[c] }))
    }
    fn bends(&self, _x: &[f64], _product: &[f64]) -> Option<Vec<Bend<'_>>> {
        Some(Vec::new())
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, x: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(enclosure::dot(&self.coefficients, x))
    }
}

impl DualSide for Linear {
    fn dual_len(&self) -> usize {
        0
    }
    fn dual_point(&self, _x: &[f64], _product: &[f64], _u: &mut [f64]) {}
    fn add_dual_step(
        &self,
        _x: &[f64],
        _product: &[f64],
        _y: &[f64],
        _u: &mut [f64],
        _control: &Control,
    ) -> Pass {
        Ok(())
    }
    fn add_dual_gradient(&self, _u: &[f64], out: &mut [f64], _control: &Control) -> Pass {
        axpy(1.0, &self.coefficients, out);
        Ok(())
    }
    fn add_dual_magnitude(&self, _u: &[f64], out: &mut [f64], _control: &Control) -> Pass {
        out.iter_mut().zip(&self.coefficients).for_each(|(out, c)| *out += c.abs());
        Ok(())
    }
    fn conjugate(&self, _u: &[f64], _control: &Control) -> Pass<f64> {
        Ok(0.0)
    }
    fn enclose_conjugate(&self, _u: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(Enclosure::from(0.0))
    }
    fn enclose_dual_entry(&self, c: usize, _u: &[f64]) -> Option<Enclosure> {
        Some(self.coefficients[c].into())
    }
}
