//! Rows that share no coordinate: each is one row over coordinates of its own, and whatever is said of one row holds for each.
//!
//! Given: a coupling of several rows. Returns: the coefficient of every coordinate in its row, and the coordinates of every row.
//! Must not know: f, h, how anything is moved.

use std::sync::Arc;

use super::{Coupling, Shape};
use crate::matrix::Matrix;
use crate::separable::Values;

/// Several rows, none of which has a coordinate of another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Apart {
    /// The coefficient of every coordinate in its own row; 0 where no row has it.
    pub(crate) weights: Values,
    /// The coordinates of every row, ascending; those of no row are with the first.
    pub(crate) members: Vec<Members>,
}

/// The coordinates of one row: all there are, or a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Members {
    All(usize),
    Some(Arc<[u32]>),
}

impl Members {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some(list) => list.len(),
        }
    }

    /// The k-th of them.
    #[inline]
    pub(crate) fn at(&self, k: usize) -> usize {
        match self {
            Self::All(_) => k,
            Self::Some(list) => list[k] as usize,
        }
    }

    /// All of them, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|k| self.at(k))
    }

    /// The same as a list of its own.
    pub(crate) fn list(&self, out: &mut Vec<u32>) {
        out.clear();
        match self {
            Self::All(n) => out.extend(0..*n as u32),
            Self::Some(list) => out.extend_from_slice(list),
        }
    }

    /// Whether c is one of them.
    pub(crate) fn contains(&self, c: u32) -> bool {
        match self {
            Self::All(n) => (c as usize) < *n,
            Self::Some(list) => list.binary_search(&c).is_ok(),
        }
    }

    /// One more than the last of them.
    pub(crate) fn end(&self) -> usize {
        if self.len() == 0 { 0 } else { self.at(self.len() - 1) + 1 }
    }
}

impl Coupling {
    /// The rows one by one, where there are several and every one of n coordinates is in one of them at most.
    pub(crate) fn apart(&self, n: usize) -> Option<Apart> {
        let Shape::Rows(matrix) = &self.shape else { return None };
        let mut weights = vec![0.0; n];
        let mut members = vec![Vec::new(); self.rows()];
        for (c, weight) in weights.iter_mut().enumerate() {
            let (row, a) = only_entry(matrix, c)?;
            *weight = a;
            members[row].push(c as u32);
        }
        let members = members.into_iter().map(|list| Members::Some(list.into())).collect();
        Some(Apart { weights: Values::Each(weights), members })
    }
}

/// The one entry of column c, an entry of 0 where it has none; `None` where it has several.
fn only_entry(matrix: &Matrix, c: usize) -> Option<(usize, f64)> {
    let mut found = None;
    let mut take = |(row, value): (usize, f64)| {
        let is_first = value == 0.0 || found.is_none();
        if value != 0.0 {
            found = Some((row, value));
        }
        is_first
    };
    let is_alone = match matrix {
        Matrix::Dense(dense) => dense.column(c).iter().copied().enumerate().all(&mut take),
        Matrix::Sparse(sparse) => sparse.column(c).all(&mut take),
    };
    is_alone.then(|| found.unwrap_or((0, 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    #[test]
    fn rows_are_apart_where_no_column_has_two_entries() {
        let triplets = [(0, 0, 2.0), (1, 2, -1.0), (0, 3, 1.0), (1, 3, 0.0)];
        let sparse: Matrix = SparseMatrix::from_triplets(2, 5, &triplets).expect("inside").into();
        let dense = Matrix::from_rows(&[[2.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, -1.0, 0.0, 0.0]]);
        for matrix in [sparse, dense.expect("rectangular")] {
            let coupling = Coupling::rows_of(matrix, vec![1.0, 2.0]).expect("valid");
            let apart = coupling.apart(5).expect("apart");
            assert_eq!(apart.weights, Values::Each(vec![2.0, 0.0, -1.0, 1.0, 0.0]));
            let members: Vec<Vec<usize>> = apart.members.iter().map(|row| row.iter().collect()).collect();
            assert_eq!(members, [vec![0, 1, 3, 4], vec![2]]);
            assert!(apart.members[0].contains(3) && !apart.members[1].contains(3));
        }
        let shared = Matrix::from_rows(&[[1.0, 1.0], [0.0, 1.0]]).expect("rectangular");
        assert_eq!(Coupling::rows_of(shared, vec![1.0, 1.0]).expect("valid").apart(2), None);
        assert_eq!(Coupling::sum(1.0).expect("finite").apart(3), None);
    }
}
