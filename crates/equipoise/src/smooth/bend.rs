//! How f bends at a point, as matrices that whoever factors them can read:
//!
//! ```text
//! Hessian of f at x  =  sum of parts,    each   diag(d) ,   Q   or   M' diag(w) M .
//! ```
//!
//! - Given: a term at a point.
//! - Returns: its parts, none of them copied that is a matrix already.
//! - Must not know: what is factored, who asks.

use crate::matrix::Matrix;

/// A part of the Hessian of a term.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Bend<'a> {
    /// A diagonal, at least 0.
    Diagonal(Vec<f64>),
    /// A symmetric positive semidefinite matrix.
    Matrix(&'a Matrix<'a>),
    /// `M' diag(w) M` with one weight a row of M, at least 0.
    Product(&'a Matrix<'a>, Vec<f64>),
}

impl Bend<'_> {
    /// `out += (this part) v`.
    pub(crate) fn add_product(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(d) => out.iter_mut().zip(d).zip(v).for_each(|((out, d), v)| *out += d * v),
            Self::Matrix(matrix) => {
                v.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(c, &v)| {
                    matrix.add_column(c, v, out);
                });
            }
            Self::Product(matrix, weights) => {
                let mut image = vec![0.0; weights.len()];
                matrix.multiply(v, &mut image);
                image.iter_mut().zip(weights).for_each(|(image, w)| *image *= w);
                matrix.add_transposed(&image, out);
            }
        }
    }

    /// `out_c += entry (c, c)`.
    pub(crate) fn add_diagonal(&self, out: &mut [f64]) {
        match self {
            Self::Diagonal(d) => out.iter_mut().zip(d).for_each(|(out, d)| *out += d),
            Self::Matrix(matrix) => {
                out.iter_mut().enumerate().for_each(|(c, out)| *out += matrix.entry(c, c));
            }
            Self::Product(matrix, weights) => out.iter_mut().enumerate().for_each(|(c, out)| {
                matrix.for_each_in_column(c, |k, value| *out += weights[k] * value * value);
            }),
        }
    }
}
