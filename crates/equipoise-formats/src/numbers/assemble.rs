//! Matrices from what files hold: rows one after the other, or entries in any order.
//!
//! Must not know files or algebra.

use equipoise::{Control, DenseMatrix, Matrix, SparseMatrix};

use crate::Result;

/// Rows of a dense matrix that are turned over together, so that what is read stays in the cache.
const ROWS_AT_A_TIME: usize = 16;
/// Steps between two looks at the wish to stop.
const LOOK: usize = 1 << 18;

/// A dense matrix from its values column after column.
pub(super) fn from_column_major(rows: usize, columns: usize, values: Vec<f64>) -> Result<Matrix<'static>> {
    Ok(DenseMatrix::from_columns(rows, columns, values)?.into())
}

/// A dense matrix from its values row after row.
pub(crate) fn from_row_major(
    rows: usize,
    columns: usize,
    by_rows: Vec<f64>,
    control: &Control,
) -> Result<Matrix<'static>> {
    if rows <= 1 || columns <= 1 {
        return from_column_major(rows, columns, by_rows);
    }
    let mut values = vec![0.0; by_rows.len()];
    for (k, few) in by_rows.chunks(ROWS_AT_A_TIME * columns).enumerate() {
        if (k * ROWS_AT_A_TIME * columns) % LOOK < ROWS_AT_A_TIME * columns {
            control.check()?;
        }
        for column in 0..columns {
            let place = rows * column + k * ROWS_AT_A_TIME;
            let entries = few.iter().skip(column).step_by(columns);
            values[place..].iter_mut().zip(entries).for_each(|(value, entry)| *value = *entry);
        }
    }
    from_column_major(rows, columns, values)
}

/// One entry of a sparse matrix in the making.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) value: f64,
}

/// A sparse matrix from entries in any order, all inside it; equal places are summed in their order.
pub(super) fn from_entries(
    rows: usize,
    columns: usize,
    entries: &[Entry],
    control: &Control,
) -> Result<Matrix<'static>> {
    // By columns first, in their order; then each column by rows.
    let mut next = vec![0; columns + 1];
    for few in entries.chunks(LOOK) {
        control.check()?;
        few.iter().for_each(|entry| next[entry.column as usize + 1] += 1);
    }
    (0..columns).for_each(|column| next[column + 1] += next[column]);
    let mut starts = next.clone();
    let mut sorted = vec![(0_u32, 0.0); entries.len()];
    for few in entries.chunks(LOOK) {
        control.check()?;
        for entry in few {
            let place = &mut next[entry.column as usize];
            sorted[*place] = (entry.row, entry.value);
            *place += 1;
        }
    }
    let (mut indices, mut values) = (Vec::with_capacity(sorted.len()), Vec::with_capacity(sorted.len()));
    let mut looked = 0;
    for column in 0..columns {
        let range = starts[column]..next[column];
        if range.end - looked > LOOK || column % LOOK == 0 {
            control.check()?;
            looked = range.end;
        }
        starts[column] = values.len();
        let held = &mut sorted[range];
        if !held.is_sorted_by_key(|(row, _)| *row) {
            held.sort_by_key(|(row, _)| *row);
        }
        for &(row, value) in &*held {
            match values.last_mut() {
                Some(last) if last_row(&indices, starts[column]) == Some(row) => *last += value,
                _ => {
                    indices.push(row);
                    values.push(value);
                }
            }
        }
    }
    starts[columns] = values.len();
    Ok(SparseMatrix::from_columns(rows, columns, starts, indices, values)?.into())
}

/// The last row of the column that begins at `start`, if it has one.
fn last_row(indices: &[u32], start: usize) -> Option<u32> {
    indices[start..].last().copied()
}

/// All entries, column-major.
pub(crate) fn into_dense_values(matrix: Matrix) -> Vec<f64> {
    match matrix {
        Matrix::Dense(dense) => dense.into_values(),
        Matrix::Sparse(_) => {
            let mut dense = vec![0.0; matrix.rows() * matrix.columns()];
            matrix.for_each(|row, column, value| dense[matrix.rows() * column + row] = value);
            dense
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(row: u32, column: u32, value: f64) -> Entry {
        Entry { row, column, value }
    }

    #[test]
    fn entries_are_sorted_and_equal_places_are_summed() {
        let entries =
            [entry(2, 3, 1.0), entry(0, 1, 2.0), entry(2, 3, 0.5), entry(1, 1, -1.0), entry(2, 4, 7.0)];
        let control = Control::unlimited();
        let matrix = from_entries(3, 6, &entries, &control).expect("inside");
        let (starts, indices) = (vec![0, 0, 2, 2, 3, 4, 4], vec![0, 1, 2, 2]);
        let expected = SparseMatrix::from_columns(3, 6, starts, indices, vec![2.0, -1.0, 1.5, 7.0]);
        assert_eq!(matrix, expected.expect("sorted").into());
        let reversed: Vec<Entry> = entries.into_iter().rev().collect();
        assert_eq!(from_entries(3, 6, &reversed, &control).expect("inside"), matrix);
        assert_eq!((matrix.entry(2, 3), matrix.entry(0, 0), matrix.entry(1, 1)), (1.5, 0.0, -1.0));
    }

    #[test]
    fn rows_become_columns() {
        let rows = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let matrix = from_row_major(2, 3, rows, &Control::unlimited()).expect("2 x 3");
        assert_eq!(matrix.entry(1, 2), 6.0);
        assert_eq!(into_dense_values(matrix), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let many: Vec<f64> = (0..37 * 5).map(f64::from).collect();
        let matrix = from_row_major(37, 5, many, &Control::unlimited()).expect("37 x 5");
        assert!((0..37).all(|r| (0..5).all(|c| matrix.entry(r, c) == (r * 5 + c) as f64)));
    }

    #[test]
    fn a_wish_to_stop_ends_them() {
        let ended = Control::unlimited().within(0.0);
        assert!(from_entries(1, 1, &[entry(0, 0, 1.0)], &ended).is_err());
        assert!(from_row_major(2, 2, vec![0.0; 4], &ended).is_err());
    }
}
