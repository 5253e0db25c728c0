//! The rows that tie coefficients together, `C beta = 0`, column by column.
//!
//! - Given: a matrix with a row for each constraint.
//! - Returns: independent rows of norm about 1 by column, and the way back to multipliers of the rows as given.
//! - Must not know: data, losses, penalties.

use equipoise::Matrix;
use equipoise::enclosure::Sum;

use super::error::{Error, Result};

/// What is left of a row beside the others, as a share of it, for it to count as independent.
const INDEPENDENT: f64 = 1e-10;

/// Independent rows of C, each of norm about 1.
#[derive(Debug, Clone)]
pub(super) struct Constraints {
    /// By column, a number for each independent row.
    by_column: Vec<f64>,
    count: usize,
    /// Which rows as given these are, and what each was divided by.
    kept: Vec<(usize, f64)>,
    /// The rows as given, by column.
    given: Matrix<'static>,
}

impl Constraints {
    /// The rows over this many columns of X, with zeros for the intercept, if there is one.
    pub(super) fn new(given: &Matrix, columns: usize, has_intercept: bool) -> Result<Self> {
        if given.columns() != columns {
            return Err(Error::ConstraintWidth { found: given.columns(), columns });
        }
        let mut rows = vec![vec![0.0; columns]; given.rows()];
        let mut fault = None;
        given.for_each(|i, j, value| {
            if !value.is_finite() {
                fault.get_or_insert(Error::ConstraintNotFinite { row: i, column: j, found: value });
            }
            rows[i][j] = value;
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let (mut basis, mut kept): (Vec<Vec<f64>>, Vec<(usize, f64)>) = (Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            let largest = equipoise::matrix::max_abs(row);
            if largest == 0.0 {
                return Err(Error::EmptyConstraint { row: i });
            }
            let mut rest: Vec<f64> = row.iter().map(|value| value / largest).collect();
            let size = norm(&rest);
            // Twice: once is not enough where little is left.
            for direction in basis.iter().chain(&basis) {
                let along = equipoise::matrix::dot(&rest, direction);
                equipoise::matrix::axpy(-along, direction, &mut rest);
            }
            let left = norm(&rest);
            if left > INDEPENDENT * size {
                rest.iter_mut().for_each(|value| *value /= left);
                basis.push(rest);
                // A power of two, so that dividing by it is exact and the rows stay what they are.
                kept.push((i, (largest * size).log2().round().clamp(-1000.0, 1000.0).exp2()));
            }
        }
        if kept.len() >= columns {
            return Err(Error::TooManyConstraints { found: kept.len(), columns });
        }
        let width = columns + usize::from(has_intercept);
        let mut by_column = vec![0.0; width * kept.len()];
        for (k, &(i, size)) in kept.iter().enumerate() {
            for j in 0..columns {
                by_column[j * kept.len() + k] = rows[i][j] / size;
            }
        }
        Ok(Self { by_column, count: kept.len(), kept, given: given.clone().into_owned() })
    }

    /// No constraint.
    pub(super) fn none() -> Self {
        let given = equipoise::SparseMatrix::from_triplets(0, 0, &[]).expect("an empty matrix is one");
        Self { by_column: Vec::new(), count: 0, kept: Vec::new(), given: given.into() }
    }

    /// How many independent rows there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Column j of the independent rows.
    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.by_column[j * self.count..(j + 1) * self.count]
    }

    /// `C_j'mu`.
    pub(super) fn dot(&self, j: usize, multipliers: &[f64]) -> f64 {
        self.column(j).iter().zip(multipliers).map(|(c, mu)| c * mu).sum()
    }

    /// The multipliers of the rows as given.
    pub(super) fn multipliers_as_given(&self, multipliers: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.given.rows()];
        for (&(i, size), mu) in self.kept.iter().zip(multipliers) {
            all[i] = mu / size;
        }
        all
    }

    /// At least the largest `|C_i beta| / sum_j |C_ij beta_j|` over the rows as given.
    pub(super) fn relative_infeasibility(&self, beta: &[f64]) -> f64 {
        let mut sums = vec![(Sum::default(), 0.0_f64); self.given.rows()];
        self.given.for_each(|i, j, value| {
            if beta[j] != 0.0 {
                sums[i].0.add_product(value, beta[j]);
                sums[i].1 += (value * beta[j]).abs();
            }
        });
        let share = |(sum, size): &(Sum, f64)| {
            // No term, no miss.
            if *size == 0.0 { 0.0 } else { sum.value().magnitude() / (size * (1.0 - 1e-10)) }
        };
        sums.iter().map(share).fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
    }
}

fn norm(v: &[f64]) -> f64 {
    equipoise::matrix::dot(v, v).sqrt()
}
