//! Which rows of A are independent: redundant rows are dropped, contradicting ones refused.
//!
//! Rows are scaled to unit length; a row whose distance to the span of the others is below `1e-10` is
//! a combination of them. If that combination reproduces its right-hand side the row is redundant,
//! otherwise `A x = b` has no solution. Large matrices are judged by their Gram matrix (to `1e-7`).

use faer::Mat;

use super::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, max_abs};

/// Relative distance to the span of the other rows under which a row counts as dependent.
const DEPENDENCE: f64 = 1e-10;
/// The same where only the Gram matrix is at hand, whose entries are squares.
const GRAM_DEPENDENCE: f64 = 1e-14;
/// Entries up to which a dense orthogonal factorisation is made.
const DENSE_ENTRIES: usize = 50_000_000;
/// The same for a sparse matrix, which would have to be filled up with zeros.
const SPARSE_ENTRIES: usize = 1_000_000;

/// A row of A that the others imply.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedRow {
    /// Which row, from 0.
    pub row: usize,
    /// The rows that it is a combination of.
    pub of: Vec<usize>,
}

/// The rows to keep, and those that follow from them.
#[derive(Debug)]
pub(crate) struct Independence {
    pub(crate) kept: Vec<usize>,
    pub(crate) dropped: Vec<DroppedRow>,
}

/// Splits the rows of A into independent and redundant ones, for n variables.
pub(crate) fn independent_rows(coupling: &Coupling, n: usize) -> Result<Independence> {
    let m = coupling.rows();
    match coupling.shape() {
        Shape::None | Shape::BlockSum => Ok(Independence { kept: (0..m).collect(), dropped: Vec::new() }),
        Shape::Row(weights) if weights.as_slice().iter().any(|&w| w != 0.0) => {
            Ok(Independence { kept: vec![0], dropped: Vec::new() })
        }
        Shape::Row(_) => drop_rows(coupling, Vec::new(), &[(0, Vec::new())]),
        Shape::Rows(matrix) => {
            let (kept, combinations) = dependent_rows(coupling, matrix, n);
            drop_rows(coupling, kept, &combinations)
        }
    }
}

/// Checks the right-hand side of every dependent row against the combination that gives it.
fn drop_rows(
    coupling: &Coupling,
    mut kept: Vec<usize>,
    combinations: &[(usize, Vec<(usize, f64)>)],
) -> Result<Independence> {
    let mut dropped = Vec::new();
    for (row, combination) in combinations {
        let implied: f64 = combination.iter().map(|&(r, t)| t * coupling.rhs[r]).sum();
        let size: f64 = combination.iter().map(|&(r, t)| (t * coupling.rhs[r]).abs()).sum();
        let found = coupling.rhs[*row];
        let rows: Vec<usize> = combination.iter().map(|&(r, _)| r).collect();
        let rounding = 1e-9 * size.max(found.abs()) + 1e-12 * (1.0 + max_abs(&coupling.rhs));
        if (implied - found).abs() > rounding {
            let coefficients = combination.iter().map(|&(_, t)| t).collect();
            return Err(Error::InconsistentRows { row: *row, rows, coefficients, implied, found });
        }
        dropped.push(DroppedRow { row: *row, of: rows });
    }
    kept.sort_unstable();
    dropped.sort_by_key(|dropped| dropped.row);
    Ok(Independence { kept, dropped })
}

/// Independent rows, and for every other row its combination of them.
#[allow(clippy::type_complexity)]
fn dependent_rows(
    coupling: &Coupling,
    matrix: &Matrix,
    n: usize,
) -> (Vec<usize>, Vec<(usize, Vec<(usize, f64)>)>) {
    let m = coupling.rows();
    let mut norms = vec![0.0; m];
    matrix.for_each(|r, _, value| norms[r] += value * value);
    norms.iter_mut().for_each(|norm: &mut f64| *norm = norm.sqrt());
    let scaled = |r: usize, value: f64| if norms[r] > 0.0 { value / norms[r] } else { 0.0 };
    let most = if matches!(matrix, Matrix::Dense(_)) { DENSE_ENTRIES } else { SPARSE_ENTRIES };
    let (triangle, order, tolerance) = if m.saturating_mul(n) <= most {
        let mut transposed = Mat::<f64>::zeros(n, m);
        matrix.for_each(|r, c, value| transposed[(c, r)] = scaled(r, value));
        let factor = transposed.col_piv_qr();
        let (order, _) = factor.P().arrays();
        (factor.R().to_owned(), order.to_vec(), DEPENDENCE)
    } else {
        let mut gram = vec![0.0; m * m];
        coupling.add_outers(0..n, &mut gram);
        let full = Mat::from_fn(m, m, |r, c| scaled(r, scaled(c, gram[c.min(r) * m + r.max(c)])));
        let factor = full.col_piv_qr();
        let (order, _) = factor.P().arrays();
        (factor.R().to_owned(), order.to_vec(), GRAM_DEPENDENCE)
    };
    let size = triangle.nrows().min(m);
    let rank = (0..size).take_while(|&k| triangle[(k, k)].abs() > tolerance).count();
    let mut combinations = Vec::new();
    for k in rank..m {
        // Back substitution: R11 t = R12[:, k].
        let mut t: Vec<f64> = (0..rank).map(|r| triangle[(r, k)]).collect();
        for r in (0..rank).rev() {
            t[r] /= triangle[(r, r)];
            for above in 0..r {
                t[above] -= triangle[(above, r)] * t[r];
            }
        }
        let row = order[k];
        let combination = (0..rank).filter(|&r| t[r].abs() > DEPENDENCE && norms[row] > 0.0);
        combinations
            .push((row, combination.map(|r| (order[r], t[r] * norms[row] / norms[order[r]])).collect()));
    }
    (order[..rank].to_vec(), combinations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rhs: Vec<f64>) -> Coupling {
        let matrix = Matrix::from_rows(&[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [2.0, 5.0, 3.0]]).expect("3 x 3");
        Coupling::rows_of(matrix, rhs).expect("valid")
    }

    #[test]
    fn a_consistent_combination_is_dropped() {
        let found = independent_rows(&rows(vec![1.0, 2.0, 8.0]), 3).expect("consistent");
        assert_eq!((found.kept.len(), found.dropped.len()), (2, 1));
    }

    #[test]
    fn a_contradicting_combination_is_refused_with_evidence() {
        let refused = independent_rows(&rows(vec![1.0, 2.0, 9.0]), 3);
        let Err(Error::InconsistentRows { implied, found, .. }) = refused else { panic!("{refused:?}") };
        assert!((implied - found).abs() > 1e-3);
    }

    #[test]
    fn a_zero_row_is_redundant_or_contradicting() {
        let zero = |rhs| Coupling::row(vec![0.0, 0.0], rhs).expect("valid");
        assert!(independent_rows(&zero(0.0), 2).expect("consistent").kept.is_empty());
        assert!(matches!(independent_rows(&zero(1.0), 2), Err(Error::InconsistentRows { .. })));
    }
}
