//! Parts of the samples: folds and halves.
//!
//! - Given: data, rows, a control. Returns: the same columns over these rows; rows dealt at random, label by label. A copy that is no
//!   longer wanted ends between two columns.
//! - Must not know: fits.

use equipoise::{Control, DenseMatrix, Matrix, Pass, SparseMatrix};
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
    pub(super) fn of(data: Data<'_>, rows: &[usize], control: &Control) -> Result<Self> {
        control.check()?;
        let x: Matrix<'static> = match data.x {
            Matrix::Dense(dense) => {
                let values = entries(dense, rows, control)?;
                DenseMatrix::from_columns(rows.len(), dense.columns(), values)?.into()
            }
            Matrix::Sparse(sparse) => {
                let Stored { starts, indices, values } = stored(sparse, rows, control)?;
                SparseMatrix::from_columns(rows.len(), sparse.columns(), starts, indices, values)?.into()
            }
        };
        let pick = |v: &[f64]| rows.iter().map(|&i| v[i]).collect();
        Ok(Self { x, y: pick(data.y), weights: data.weights.map(pick) })
    }

    pub(super) fn data(&self) -> Data<'_> {
        Data { x: &self.x, y: &self.y, weights: self.weights.as_deref() }
    }
}

/// These rows of every column.
fn entries(x: &DenseMatrix<'_>, rows: &[usize], control: &Control) -> Pass<Vec<f64>> {
    let mut values = Vec::with_capacity(rows.len() * x.columns());
    control.in_parts(x.columns(), rows.len(), |part| {
        for j in part {
            let column = x.column(j);
            values.extend(rows.iter().map(|&i| column[i]));
        }
    })?;
    Ok(values)
}

/// The stored entries of a sparse matrix by column.
struct Stored {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// These rows of every column, in their new order.
fn stored(x: &SparseMatrix<'_>, rows: &[usize], control: &Control) -> Pass<Stored> {
    let mut place = vec![u32::MAX; x.rows()];
    rows.iter().enumerate().for_each(|(k, &i)| place[i] = k as u32);
    let (mut kept, mut starts) = (Vec::new(), vec![0]);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    control.in_parts(x.columns(), x.stored().div_ceil(x.columns().max(1)), |part| {
        for j in part {
            let found = x.column(j).map(|(i, value)| (place[i], value));
            kept.clear();
            kept.extend(found.filter(|(k, _)| *k != u32::MAX));
            kept.sort_unstable_by_key(|(k, _)| *k);
            indices.extend(kept.iter().map(|(k, _)| *k));
            values.extend(kept.iter().map(|(_, value)| *value));
            starts.push(values.len());
        }
    })?;
    Ok(Stored { starts, indices, values })
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Rows of a sparse and of a dense matrix of the same numbers, in an order of their own.
    #[test]
    fn rows_are_copied_in_their_order() {
        let entries = [(0, 0, 1.0), (1, 0, 2.0), (3, 0, 4.0), (2, 2, 3.0), (3, 2, 5.0), (0, 2, 7.0)];
        let sparse = SparseMatrix::from_triplets(4, 3, &entries).expect("valid triplets");
        let dense =
            DenseMatrix::from_rows(&[[1.0, 0.0, 7.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
                .expect("a matrix");
        let y = [10.0, 11.0, 12.0, 13.0];
        for x in [Matrix::from(sparse), Matrix::from(dense)] {
            let data = Data { x: &x, y: &y, weights: Some(&y) };
            let part = Part::of(data, &[3, 0, 1], &Control::unlimited()).expect("a part");
            let mut found = [[0.0; 3]; 3];
            part.x.for_each(|i, j, value| found[i][j] = value);
            assert_eq!(found, [[4.0, 0.0, 5.0], [1.0, 0.0, 7.0], [2.0, 0.0, 0.0]]);
            assert_eq!((part.y, part.weights), (vec![13.0, 10.0, 11.0], Some(vec![13.0, 10.0, 11.0])));
        }
    }

    #[test]
    fn nothing_is_copied_once_nobody_waits_for_it() {
        let x: Matrix<'_> = DenseMatrix::from_columns(2, 1, vec![1.0, 2.0]).expect("a matrix").into();
        let data = Data { x: &x, y: &[1.0, 2.0], weights: None };
        let ended = Control::on(Arc::new(AtomicBool::new(true)));
        let error = Part::of(data, &[1], &ended).expect_err("ended");
        assert_eq!(error, equipoise::Halt::Interrupted.into());
    }
}
