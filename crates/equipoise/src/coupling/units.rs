//! Units of rows: powers of two by which rows of very small or very large numbers are multiplied,
//!
//! ```text
//! (u_r a_r) x = u_r b_r ,        lambda_r = u_r (multiplier of the multiplied row) .
//! ```
//!
//! Methods square coefficients, and squares of numbers below 1e-154 are 0, those of numbers above 1e154 infinite: a row in units
//! of 1e-300 would be none to them. A row is multiplied only where that changes no bit of a coefficient or of its right-hand
//! side, so that what is proven of the one system is proven of the other.
//!
//! - Given: a coupling.
//! - Returns: the same equations in even units, and multipliers and errors in those of the caller.
//! - Must not know: gradients, h, pairs, who solves.

use super::{Coupling, Shape};
use crate::control::{Control, Pass};
use crate::enclosure::above;
use crate::error::Error;
use crate::matrix::{Matrix, max_abs};
use crate::separable::Values;

/// Rows whose largest coefficient is between `2^-300` and `2^300` are left as they are.
const EVEN: i32 = 300;
/// The largest exponent of a unit: its inverse is a normal number too.
const LARGEST: i32 = 1000;

/// The units of some rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowUnits {
    /// One for every row; empty where all are 1.
    of_row: Vec<f64>,
}

/// `2^exponent`, for exponents of normal numbers.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52)
}

/// The unit that brings the largest coefficient near 1; 1 where it is near enough.
fn unit_for(largest: f64) -> f64 {
    if largest == 0.0 {
        return 1.0;
    }
    let exponent = largest.log2().floor() as i32;
    if exponent.abs() <= EVEN { 1.0 } else { power_of_two((-exponent).clamp(-LARGEST, LARGEST)) }
}

/// Whether nothing is lost when a number is given in another unit.
fn is_exact(value: f64, unit: f64) -> bool {
    value * unit / unit == value
}

impl RowUnits {
    /// Units in which no row is far out, for n variables.
    pub(crate) fn of(coupling: &Coupling, n: usize, control: &Control) -> Pass<Self> {
        if matches!(coupling.shape, Shape::None | Shape::BlockSum) {
            return Ok(Self::default());
        }
        let mut largest = vec![0.0_f64; coupling.rows()];
        control.in_parts(n, coupling.numbers_per_column(), |part| {
            for c in part {
                coupling.for_each_in_column(c, |r, a| largest[r] = largest[r].max(a.abs()));
            }
        })?;
        let mut of_row: Vec<f64> = largest.into_iter().map(unit_for).collect();
        if of_row.iter().all(|unit| *unit == 1.0) {
            return Ok(Self::default());
        }
        let mut exact: Vec<bool> = of_row.iter().zip(&coupling.rhs).map(|(u, b)| is_exact(*b, *u)).collect();
        control.in_parts(n, coupling.numbers_per_column(), |part| {
            for c in part {
                coupling.for_each_in_column(c, |r, a| exact[r] = exact[r] && is_exact(a, of_row[r]));
            }
        })?;
        of_row.iter_mut().zip(exact).filter(|(_, exact)| !exact).for_each(|(unit, _)| *unit = 1.0);
        Ok(if of_row.iter().all(|unit| *unit == 1.0) { Self::default() } else { Self { of_row } })
    }

    /// Whether a row with this largest coefficient is left as it is.
    pub(crate) fn is_even(largest: f64) -> bool {
        unit_for(largest) == 1.0
    }

    fn at(&self, row: usize) -> f64 {
        self.of_row.get(row).copied().unwrap_or(1.0)
    }

    /// The same equations in these units; `None` where they are the caller's.
    pub(crate) fn applied_to(&self, coupling: &Coupling) -> Option<Coupling> {
        if self.of_row.is_empty() {
            return None;
        }
        let shape = match &coupling.shape {
            Shape::Row(Values::Uniform(a)) => Shape::Row(Values::Uniform(a * self.at(0))),
            Shape::Row(Values::Each(row)) => {
                Shape::Row(Values::Each(row.iter().map(|a| a * self.at(0)).collect()))
            }
            Shape::Rows(Matrix::Dense(matrix)) => Shape::Rows(matrix.with_rows_times(&self.of_row).into()),
            Shape::Rows(Matrix::Sparse(matrix)) => Shape::Rows(matrix.with_rows_times(&self.of_row).into()),
            other => other.clone(),
        };
        let rhs = coupling.rhs.iter().zip(&self.of_row).map(|(b, unit)| b * unit).collect();
        Some(Coupling { shape, rhs })
    }

    /// Those of some of the rows.
    pub(crate) fn of_rows(&self, kept: &[usize]) -> Self {
        let of_row = if self.of_row.is_empty() { &[] } else { kept };
        Self { of_row: of_row.iter().map(|&row| self.of_row[row]).collect() }
    }

    /// A multiplier of a row in the caller's unit.
    pub(crate) fn multiplier_given(&self, row: usize, own: f64) -> f64 {
        own * self.at(row)
    }

    /// A multiplier of a row in its own unit, from one in the caller's.
    pub(crate) fn multiplier_own(&self, row: usize, given: f64) -> f64 {
        given / self.at(row)
    }

    /// A size in the unit of a row in the caller's, from above.
    pub(crate) fn size_given(&self, row: usize, own: f64) -> f64 {
        let unit = self.at(row);
        let given = own / unit;
        if given * unit < own { above(given) } else { given }
    }

    /// What is wrong with the rows, in the caller's units.
    pub(crate) fn error_given(&self, error: Error) -> Error {
        if self.of_row.is_empty() {
            return error;
        }
        match error {
            Error::InconsistentRows { row, rows, coefficients, implied, found } => {
                let unit = self.at(row);
                let coefficients =
                    coefficients.iter().zip(&rows).map(|(t, &r)| t * (self.at(r) / unit)).collect();
                Error::InconsistentRows {
                    row,
                    rows,
                    coefficients,
                    implied: implied / unit,
                    found: found / unit,
                }
            }
            Error::EmptyDomain { reachable, needed, witness } => {
                let given: Vec<f64> = witness.iter().enumerate().map(|(r, y)| y * self.at(r)).collect();
                let size = max_abs(&given).max(f64::MIN_POSITIVE);
                Error::EmptyDomain {
                    reachable: reachable / size,
                    needed: needed / size,
                    witness: given.iter().map(|y| y / size).collect(),
                }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    fn units(coupling: &Coupling, n: usize) -> RowUnits {
        RowUnits::of(coupling, n, &Control::unlimited()).expect("no limit")
    }

    #[test]
    fn ordinary_rows_are_left_alone() {
        for scale in [1e-80, 1.0, 1e80] {
            let row = Coupling::row(vec![scale, -2.0 * scale], 3.0).expect("finite");
            assert!(units(&row, 2).applied_to(&row).is_none(), "{scale}");
        }
    }

    #[test]
    fn rows_far_out_come_near_one_and_no_bit_is_lost() {
        for scale in [5e-324, 1e-310, 1e-200, 1e200, 1e300] {
            let rows = [[0.7 * scale, scale, 0.0], [1.0, 2.0, 3.0]];
            let dense = Matrix::from_rows(&rows).expect("rectangular");
            let entries = [(0, 0, rows[0][0]), (0, 1, scale), (1, 0, 1.0), (1, 1, 2.0), (1, 2, 3.0)];
            let sparse = SparseMatrix::from_triplets(2, 3, &entries).expect("inside").into();
            for matrix in [dense, sparse] {
                let given = Coupling::rows_of(matrix, vec![scale, 5.0]).expect("finite");
                let units = units(&given, 3);
                let even = units.applied_to(&given).expect("a row far out");
                // The largest exponent stops at 2^1000.
                assert!((1e-23..=2.0).contains(&even.entry(0, 1)), "{scale}: {}", even.entry(0, 1));
                assert_eq!([even.entry(1, 0), even.rhs[1]], [1.0, 5.0]);
                for c in 0..3 {
                    assert_eq!(even.entry(0, c) / units.at(0), given.entry(0, c), "{scale}");
                }
                assert_eq!(even.rhs[0] / units.at(0), scale);
                assert_eq!(units.multiplier_own(0, units.multiplier_given(0, 0.3)), 0.3);
            }
        }
    }

    #[test]
    fn a_row_that_would_lose_something_stays() {
        for (row, rhs) in [(vec![1e200, 1e-150], 0.0), (vec![1e-200, 1e-200], 1e200)] {
            let given = Coupling::row(row, rhs).expect("finite");
            assert!(units(&given, 2).applied_to(&given).is_none());
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_the_units_given() {
        let given = Coupling::row(1e-200, 1e-200).expect("finite");
        let units = units(&given, 2);
        let unit = units.at(0);
        let own = Error::EmptyDomain { reachable: 0.0, needed: 1e-200 * unit, witness: vec![1.0] };
        let told = units.error_given(own);
        assert_eq!(told, Error::EmptyDomain { reachable: 0.0, needed: 1e-200, witness: vec![1.0] });
    }
}
