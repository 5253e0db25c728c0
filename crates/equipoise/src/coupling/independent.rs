//! Which rows of A are independent: redundant rows are dropped, contradicting ones refused.
//!
//! Rows are scaled to unit length; a row whose distance to the span of the others is below `1e-10` is
//! a combination of them. If that combination reproduces its right-hand side the row is redundant,
//! otherwise `A x = b` has no solution. Large matrices are judged by their Gram matrix (to `1e-7`), and once more by themselves
//! where that finds dependent rows and they are not too large. A row of a sparse matrix that has a column for itself, as one
//! with a slack has, is a combination of no others, and is left out of all this.
//! A control ends the search between two columns, or two handfuls of them.

use super::{Coupling, Shape};
use crate::control::{Control, Pass};
use crate::error::{Error, Result};
use crate::matrix::{Folded, Matrix, PivotedQr, max_abs};

/// Relative distance to the span of the other rows under which a row counts as dependent.
const DEPENDENCE: f64 = 1e-10;
/// The same where only the Gram matrix is at hand, whose entries are squares.
const GRAM_DEPENDENCE: f64 = 1e-14;
/// Entries up to which a dense orthogonal factorisation is made.
const DENSE_ENTRIES: usize = 50_000_000;
/// The same for a sparse matrix, which would have to be filled up with zeros.
const SPARSE_ENTRIES: usize = 1_000_000;
/// The same once dependent rows were found: combinations from squares have half the digits.
const SURE_ENTRIES: usize = 8_000_000;
/// The share of a row's length that a column for itself has at least.
const OWN_COLUMN: f64 = 1e-3;

/// Columns of A that are folded into the factorisation at once; the others' scaled copies are then in no memory.
const FOLDED: usize = 256;

/// A row of A that the others imply.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
pub(crate) fn independent_rows(coupling: &Coupling, n: usize, control: &Control) -> Result<Independence> {
    let m = coupling.rows();
    match coupling.shape() {
        Shape::None | Shape::BlockSum => Ok(Independence { kept: (0..m).collect(), dropped: Vec::new() }),
        Shape::Row(weights) if weights.as_slice().iter().any(|&w| w != 0.0) => {
            Ok(Independence { kept: vec![0], dropped: Vec::new() })
        }
        Shape::Row(_) => drop_rows(coupling, Vec::new(), &[(0, Vec::new())]),
        Shape::Rows(matrix) => {
            let (own, others) = with_own_column(coupling, matrix, n, control)?;
            if own.is_empty() {
                let (kept, combinations) = dependent_rows(coupling, matrix, n, control)?;
                return drop_rows(coupling, kept, &combinations);
            }
            let rhs = others.iter().map(|&r| coupling.rhs[r]).collect();
            let rest = Coupling { shape: Shape::Rows(matrix.keep_rows(&others)), rhs };
            let Shape::Rows(matrix) = rest.shape() else { return drop_rows(coupling, own, &[]) };
            let (kept, mut combinations) = dependent_rows(&rest, matrix, n, control)?;
            for (row, combination) in &mut combinations {
                *row = others[*row];
                combination.iter_mut().for_each(|(r, _)| *r = others[*r]);
            }
            let kept = kept.into_iter().map(|r| others[r]).chain(own).collect();
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

/// The rows of a sparse matrix that have a column for themselves, and the others.
fn with_own_column(
    coupling: &Coupling,
    matrix: &Matrix,
    n: usize,
    control: &Control,
) -> Pass<(Vec<usize>, Vec<usize>)> {
    let m = coupling.rows();
    if matches!(matrix, Matrix::Dense(_)) {
        return Ok((Vec::new(), (0..m).collect()));
    }
    let norms = coupling.row_norms_within(n, control)?;
    let mut is_own = vec![false; m];
    control.in_parts(n, coupling.numbers_per_column(), |part| {
        for c in part {
            let (mut count, mut last) = (0, (0, 0.0));
            matrix.for_each_in_column(c, |r, a| {
                if a != 0.0 {
                    (count, last) = (count + 1, (r, a));
                }
            });
            let (r, a): (usize, f64) = last;
            if count == 1 && a.abs() >= OWN_COLUMN * norms[r] {
                is_own[r] = true;
            }
        }
    })?;
    Ok((0..m).partition(|&r| is_own[r]))
}

/// Independent rows, and for every other row its combination of them.
#[allow(clippy::type_complexity)]
fn dependent_rows(
    coupling: &Coupling,
    matrix: &Matrix,
    n: usize,
    control: &Control,
) -> Pass<(Vec<usize>, Vec<(usize, Vec<(usize, f64)>)>)> {
    let m = coupling.rows();
    let norms = coupling.row_norms_within(n, control)?;
    let scaled = |r: usize, value: f64| if norms[r] > 0.0 { value / norms[r] } else { 0.0 };
    let most = if matches!(matrix, Matrix::Dense(_)) { DENSE_ENTRIES } else { SPARSE_ENTRIES };
    let by_itself = || -> Pass<PivotedQr> {
        let mut folded = Folded::new(m);
        let mut few = Vec::new();
        for first in (0..n).step_by(FOLDED) {
            let count = FOLDED.min(n - first);
            few.clear();
            few.resize(count * m, 0.0);
            for c in 0..count {
                matrix.for_each_in_column(first + c, |r, value| few[r * count + c] = scaled(r, value));
            }
            folded.add(&mut few, control)?;
        }
        folded.factor(control)
    };
    let (factor, tolerance) = if m.saturating_mul(n) <= most {
        (by_itself()?, DEPENDENCE)
    } else {
        let mut gram = vec![0.0; m * m];
        coupling.add_outers_within(0..n, &mut gram, control)?;
        let full = (0..m * m).map(|k| (k / m, k % m));
        let full = full.map(|(c, r)| scaled(r, scaled(c, gram[c.min(r) * m + r.max(c)]))).collect();
        let factor = PivotedQr::new(full, m, control)?;
        let is_full = (0..m).all(|k| factor.entry(k, k).abs() > GRAM_DEPENDENCE);
        if is_full || m.saturating_mul(n) > SURE_ENTRIES {
            (factor, GRAM_DEPENDENCE)
        } else {
            (by_itself()?, DEPENDENCE)
        }
    };
    let (triangle, order) = (|r: usize, c: usize| factor.entry(r, c), &factor.order);
    let rank = (0..factor.diagonal_len()).take_while(|&k| triangle(k, k).abs() > tolerance).count();
    let mut combinations = Vec::new();
    for k in rank..m {
        control.check()?;
        // Back substitution: R11 t = R12[:, k].
        let mut t: Vec<f64> = (0..rank).map(|r| triangle(r, k)).collect();
        for r in (0..rank).rev() {
            t[r] /= triangle(r, r);
            for above in 0..r {
                t[above] -= triangle(above, r) * t[r];
            }
        }
        let row = order[k];
        let combination = (0..rank).filter(|&r| t[r].abs() > DEPENDENCE && norms[row] > 0.0);
        combinations
            .push((row, combination.map(|r| (order[r], t[r] * norms[row] / norms[order[r]])).collect()));
    }
    Ok((order[..rank].to_vec(), combinations))
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
        let found =
            independent_rows(&rows(vec![1.0, 2.0, 8.0]), 3, &Control::unlimited()).expect("consistent");
        assert_eq!((found.kept.len(), found.dropped.len()), (2, 1));
    }

    #[test]
    fn a_contradicting_combination_is_refused_with_evidence() {
        let refused = independent_rows(&rows(vec![1.0, 2.0, 9.0]), 3, &Control::unlimited());
        let Err(Error::InconsistentRows { implied, found, .. }) = refused else { panic!("{refused:?}") };
        assert!((implied - found).abs() > 1e-3);
    }

    #[test]
    fn a_zero_row_is_redundant_or_contradicting() {
        let zero = |rhs| Coupling::row(vec![0.0, 0.0], rhs).expect("valid");
        let split = |coupling: Coupling| independent_rows(&coupling, 2, &Control::unlimited());
        assert!(split(zero(0.0)).expect("consistent").kept.is_empty());
        assert!(matches!(split(zero(1.0)), Err(Error::InconsistentRows { .. })));
    }

    #[test]
    fn rows_with_a_column_for_themselves_are_left_out() {
        // A chain of differences with slacks, among them a row twice, and a slack too small to tell anything.
        let m = 300;
        let mut entries = Vec::new();
        for r in 0..m {
            entries.extend([(r, r, 1.0), (r, r + 1, -1.0), (r, m + 1 + r, -0.5)]);
        }
        entries.extend([(m, 0, 3.0), (m, 1, 2.0), (m + 1, 0, 6.0), (m + 1, 1, 4.0)]);
        entries.extend([(m + 2, 0, 9.0), (m + 2, 1, 6.0), (m + 2, 2 * m + 1, 1e-12)]);
        let (rows, n) = (m + 3, 2 * m + 2);
        let matrix = crate::matrix::SparseMatrix::from_triplets(rows, n, &entries).expect("inside");
        let mut rhs = vec![0.0; rows];
        rhs[m..].copy_from_slice(&[5.0, 10.0, 15.0]);
        let coupling = Coupling::rows_of(matrix, rhs).expect("valid");
        let Shape::Rows(matrix) = coupling.shape() else { panic!("rows") };
        let (own, others) = with_own_column(&coupling, matrix, n, &Control::unlimited()).expect("unlimited");
        assert_eq!((own.len(), others), (m, vec![m, m + 1, m + 2]));
        let found = independent_rows(&coupling, n, &Control::unlimited()).expect("consistent");
        assert_eq!((found.kept.len(), found.dropped.len()), (m + 1, 2));
        assert!(found.dropped.iter().all(|dropped| dropped.row >= m && dropped.of.iter().all(|&r| r >= m)));
    }

    #[test]
    fn more_columns_than_are_folded_at_once_are_judged_alike() {
        let (m, n) = (5, 3 * FOLDED + 7);
        let entry = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5;
        let mut rows: Vec<Vec<f64>> = (0..m).map(|r| (0..n).map(|c| entry(r * n + c)).collect()).collect();
        rows[3] = (0..n).map(|c| rows[0][c] - 2.0 * rows[4][c]).collect();
        let matrix = Matrix::from_rows(&rows).expect("rectangular");
        let coupling = Coupling::rows_of(matrix, vec![1.0, 0.5, 0.25, -3.0, 2.0]).expect("valid");
        let found = independent_rows(&coupling, n, &Control::unlimited()).expect("consistent");
        assert_eq!((found.kept.len(), found.dropped.len()), (4, 1));
        for looks in [0, 1, 7, 20] {
            let cut = independent_rows(&coupling, n, &Control::after_looks(looks));
            assert_eq!(cut.err(), Some(Error::StoppedEarly { by: "interrupted" }), "{looks}");
        }
    }
}
