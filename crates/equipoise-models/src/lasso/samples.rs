//! Parts of the samples: folds and halves.
//!
//! - Given: data, rows. Returns: the same columns over these rows; rows dealt at random, label by label.
//! - Must not know: fits.

use equipoise::{DenseMatrix, Matrix, SparseMatrix};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::data::Data;
use super::error::{Error, Result};

/// Some rows of the data, copied.
#[derive(Debug)]
pub(super) struct Part {
    x: Matrix<'static>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Part {
    /// The rows in this order.
    pub(super) fn of(data: Data<'_>, rows: &[usize]) -> Result<Self> {
        let columns = data.x.columns();
        let x: Matrix<'static> = match data.x {
            Matrix::Dense(dense) => {
                let mut values = Vec::with_capacity(rows.len() * columns);
                for j in 0..columns {
                    let column = dense.column(j);
                    values.extend(rows.iter().map(|&i| column[i]));
                }
                DenseMatrix::from_columns(rows.len(), columns, values)?.into()
            }
            Matrix::Sparse(sparse) => {
                let mut place = vec![usize::MAX; data.x.rows()];
                rows.iter().enumerate().for_each(|(k, &i)| place[i] = k);
                let mut triplets = Vec::new();
                for j in 0..columns {
                    let kept = sparse.column(j).filter(|(i, _)| place[*i] != usize::MAX);
                    triplets.extend(kept.map(|(i, value)| (place[i], j, value)));
                }
                SparseMatrix::from_triplets(rows.len(), columns, &triplets)?.into()
            }
        };
        let pick = |v: &[f64]| rows.iter().map(|&i| v[i]).collect();
        Ok(Self { x, y: pick(data.y), weights: data.weights.map(pick) })
    }

    pub(super) fn data(&self) -> Data<'_> {
        Data { x: &self.x, y: &self.y, weights: self.weights.as_deref() }
    }
}

/// All rows in random order; where there are labels, each label's rows together.
pub(super) fn shuffled(data: Data<'_>, by_label: bool, seed: u64) -> Vec<usize> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rows: Vec<usize> = (0..data.y.len()).collect();
    for last in (1..rows.len()).rev() {
        let other = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        rows.swap(last, other as usize);
    }
    if by_label {
        rows.sort_by(|&a, &b| data.y[a].total_cmp(&data.y[b]));
    }
    rows
}

/// The fold of every row: dealt like cards.
pub(super) fn folds(data: Data<'_>, count: usize, by_label: bool, seed: u64) -> Result<Vec<usize>> {
    let rows = data.y.len();
    if count < 2 || count > rows {
        let allowed = "at least 2, and at most the number of rows";
        return Err(Error::Setting { name: "folds", found: count as f64, allowed });
    }
    let mut fold_of = vec![0; rows];
    for (place, i) in shuffled(data, by_label, seed).into_iter().enumerate() {
        fold_of[i] = place % count;
    }
    Ok(fold_of)
}

/// Refuses parts that no classifier can be fitted to.
pub(super) fn check_labels(part: Data<'_>, what: impl Fn() -> String) -> Result<()> {
    let is_one = part.y.iter().all(|y| *y == part.y[0]);
    if is_one {
        Err(Error::Sample { what: what(), why: "only one label is in it; use fewer folds" })
    } else {
        Ok(())
    }
}
