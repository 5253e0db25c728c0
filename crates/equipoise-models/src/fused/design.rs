//! X: how the coefficients are seen.
//!
//! ```text
//! identity   y_i = b_i + noise
//! observed   y_k = b_{i_k} + noise      some coefficients have no observation
//! matrix     y = X b + noise            dense or sparse
//! ```
//!
//! - Given: y, X. Returns: products with X and its transpose, and what they may be off by.
//! - Must not know: the penalty, how the problem is solved.

use equipoise::enclosure::{self, Sum, above};
use equipoise::{Control, Matrix, Pass};

use super::error::Result;

/// How the coefficients are seen.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Design<'a> {
    /// Each by an observation of its own: X = I.
    Identity,
    /// Those with these numbers, from 0 and increasing, by an observation each.
    Observed {
        /// Which coefficients are seen.
        indices: &'a [usize],
        /// How many coefficients there are.
        coefficients: usize,
    },
    /// By the rows of a matrix.
    Matrix(&'a Matrix<'a>),
}

/// Half the distance of 1 from the next f64.
const UNIT: f64 = f64::EPSILON / 2.0;

/// `k u / (1 - k u)`, from above: what k roundings in a row amount to.
pub(super) fn gamma(k: usize) -> f64 {
    let k = k as f64 * UNIT;
    if k < 0.5 { k / (1.0 - k) * (1.0 + 4.0 * f64::EPSILON) } else { f64::INFINITY }
}

impl Design<'_> {
    /// How many coefficients there are.
    pub fn coefficients(&self, observations: usize) -> usize {
        match self {
            Self::Identity => observations,
            Self::Observed { coefficients, .. } => *coefficients,
            Self::Matrix(x) => x.columns(),
        }
    }

    /// Refuses what does not fit y, and y with a number that is not finite.
    pub(super) fn check(&self, y: &[f64]) -> Result<()> {
        if let Some(row) = y.iter().position(|y| !y.is_finite()) {
            let (input, found) = ("y".into(), y[row]);
            return Err(equipoise::Error::NonFinite { input, row, column: 0, found }.into());
        }
        let expected = match self {
            Self::Identity => y.len(),
            Self::Observed { indices, coefficients } => {
                for (k, index) in indices.iter().enumerate() {
                    let after = indices.get(k + 1).copied().unwrap_or(*coefficients);
                    if *index >= after {
                        let allowed = "increasing numbers below the number of coefficients";
                        let (input, found) = ("observed coefficients".into(), *index as f64);
                        return Err(equipoise::Error::OutOfRange { input, index: k, found, allowed }.into());
                    }
                }
                indices.len()
            }
            Self::Matrix(x) => x.rows(),
        };
        if expected != y.len() {
            let (input, unit, found) = ("y".into(), "entries", y.len());
            return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into());
        }
        if y.is_empty() {
            return Err(equipoise::Error::EmptyProblem.into());
        }
        Ok(())
    }

    /// `X b`.
    pub(super) fn apply(&self, b: &[f64], rows: usize) -> Vec<f64> {
        match self {
            Self::Identity => b.to_vec(),
            Self::Observed { indices, .. } => indices.iter().map(|index| b[*index]).collect(),
            Self::Matrix(x) => {
                let mut out = vec![0.0; rows];
                x.multiply(b, &mut out);
                out
            }
        }
    }

    /// `X'theta`.
    pub(super) fn transposed(&self, theta: &[f64]) -> Vec<f64> {
        match self {
            Self::Identity => theta.to_vec(),
            Self::Observed { indices, coefficients } => {
                let mut out = vec![0.0; *coefficients];
                indices.iter().zip(theta).for_each(|(index, theta)| out[*index] = *theta);
                out
            }
            Self::Matrix(x) => {
                let mut out = vec![0.0; x.columns()];
                x.add_transposed(theta, &mut out);
                out
            }
        }
    }

    /// `X b` and what its entries may be off by, as a pass that may be ended.
    pub(super) fn apply_within(&self, b: &[f64], rows: usize, control: &Control) -> Pass<Known> {
        let Self::Matrix(x) = self else {
            return Ok(Known { values: self.apply(b, rows), errors: vec![0.0; rows] });
        };
        let mut values = vec![0.0; rows];
        control.in_parts(b.len(), rows, |part| {
            part.filter(|c| b[*c] != 0.0).for_each(|c| x.add_column(c, b[c], &mut values));
        })?;
        Ok(Known { values, errors: errors_of_apply(x, b, control)? })
    }

    /// `X'theta` and what its entries may be off by, as a pass that may be ended.
    pub(super) fn transposed_within(&self, theta: &[f64], control: &Control) -> Pass<Known> {
        let Self::Matrix(x) = self else {
            let values = self.transposed(theta);
            let errors = vec![0.0; values.len()];
            return Ok(Known { values, errors });
        };
        let (mut values, mut errors) = (Vec::with_capacity(x.columns()), Vec::with_capacity(x.columns()));
        control.in_parts(x.columns(), x.rows(), |part| {
            for (value, error) in part.map(|c| sharp_dot(x, c, theta)) {
                values.push(value);
                errors.push(error);
            }
        })?;
        Ok(Known { values, errors })
    }

    /// The length of each column of X, from above.
    pub(super) fn column_lengths(&self, observations: usize) -> Vec<f64> {
        match self {
            Self::Identity => vec![1.0; observations],
            Self::Observed { indices, coefficients } => {
                let mut out = vec![0.0; *coefficients];
                indices.iter().for_each(|index| out[*index] = 1.0);
                out
            }
            Self::Matrix(x) => {
                let factor = 1.0 + 2.0 * gamma(x.rows() + 4);
                (0..x.columns())
                    .map(|c| {
                        let (mut sum, mut largest) = (0.0, 0.0_f64);
                        for_each_in_column(x, c, |_, value| largest = largest.max(value.abs()));
                        if largest > 0.0 {
                            for_each_in_column(x, c, |_, value| sum += (value / largest) * (value / largest));
                        }
                        sum.sqrt() * largest * factor + underflow(1)
                    })
                    .collect()
            }
        }
    }
}

/// Products, and what each may be off by.
pub(super) struct Known {
    pub(super) values: Vec<f64>,
    pub(super) errors: Vec<f64>,
}

/// What the entries of `X b` may be off by.
fn errors_of_apply(x: &Matrix, b: &[f64], control: &Control) -> Pass<Vec<f64>> {
    let mut out = vec![0.0; x.rows()];
    if b.iter().all(|b| *b == 0.0) {
        return Ok(out);
    }
    control.in_parts(b.len(), x.rows(), |part| {
        for c in part.filter(|c| b[*c] != 0.0) {
            for_each_in_column(x, c, |r, value| out[r] += (value * b[c]).abs());
        }
    })?;
    // The sum of magnitudes is itself rounded, and products may underflow.
    let factor = 2.0 * gamma(b.len() + 2);
    out.iter_mut().for_each(|error| *error = *error * factor + underflow(b.len()));
    Ok(out)
}

/// A column's product with theta, and what it may be off by: as sharp as the data allow, because a proof multiplies it with the largest
/// coefficient there could be.
fn sharp_dot(x: &Matrix, c: usize, theta: &[f64]) -> (f64, f64) {
    let product = match x {
        Matrix::Dense(x) => {
            let column = x.column(c);
            // Products with 0 lose nothing, not even by underflow.
            if column.iter().zip(theta).all(|(value, theta)| *value == 0.0 || *theta == 0.0) {
                return (0.0, 0.0);
            }
            enclosure::dot(column, theta)
        }
        Matrix::Sparse(x) => {
            let mut sum = Sum::default();
            x.column(c)
                .filter(|(r, value)| *value != 0.0 && theta[*r] != 0.0)
                .for_each(|(r, value)| sum.add_product(value, theta[r]));
            sum.value()
        }
    };
    if !product.is_known() {
        return (0.0, f64::INFINITY);
    }
    let centre = product.centre();
    let off = (product.upper() - centre).max(centre - product.lower());
    (centre, if off > 0.0 { above(off) } else { 0.0 })
}

/// What so many products may lose by underflow.
fn underflow(products: usize) -> f64 {
    products as f64 * f64::MIN_POSITIVE
}

/// Every stored entry of a column.
pub(super) fn for_each_in_column(x: &Matrix, c: usize, mut visit: impl FnMut(usize, f64)) {
    match x {
        Matrix::Dense(x) => x.column(c).iter().enumerate().for_each(|(r, value)| visit(r, *value)),
        Matrix::Sparse(x) => x.column(c).for_each(|(r, value)| visit(r, value)),
    }
}
