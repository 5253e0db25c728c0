//! `f(x) = c'x`.

use super::factored::{Factored, OwnTerms};
use super::{DualSide, SmoothTerm};
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

impl SmoothTerm for Linear {
    fn dimension(&self) -> usize {
        self.coefficients.len()
    }
    fn value(&self, x: &[f64], _product: &[f64]) -> f64 {
        dot(&self.coefficients, x)
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
    fn hessian_product(&self, _x: &[f64], _product: &[f64], _v: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        Some(Box::new(OwnTerms { curvature: |_| 0.0, slope: |c: usize| self.coefficients[c] }))
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
}

impl DualSide for Linear {
    fn dual_len(&self) -> usize {
        0
    }
    fn dual_point(&self, _x: &[f64], _product: &[f64], _u: &mut [f64]) {}
    fn add_dual_step(&self, _x: &[f64], _product: &[f64], _y: &[f64], _u: &mut [f64]) {}
    fn add_dual_gradient(&self, _u: &[f64], out: &mut [f64]) {
        axpy(1.0, &self.coefficients, out);
    }
    fn add_dual_magnitude(&self, _u: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(&self.coefficients).for_each(|(out, c)| *out += c.abs());
    }
    fn conjugate(&self, _u: &[f64]) -> f64 {
        0.0
    }
}
