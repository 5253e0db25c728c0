//! A matrix as plain data: dense by columns, or compressed sparse columns.
//!
//! Must not know files or algebra; the solver's own matrix types are built from it.

/// A matrix of `f64`, as read from or written to a file. Indices count from 0.
#[derive(Debug, Clone, PartialEq)]
pub enum MatrixData {
    /// Every entry, column after column.
    Dense {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// `rows * columns` values, column-major.
        values: Vec<f64>,
    },
    /// Compressed sparse columns: within a column the rows rise strictly.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Where each column starts in `row_indices`; `columns + 1` numbers, the last is their count.
        column_starts: Vec<usize>,
        /// Row of each stored entry.
        row_indices: Vec<u32>,
        /// Value of each stored entry.
        values: Vec<f64>,
    },
}

impl MatrixData {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } | Self::Sparse { rows, .. } => *rows,
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense { columns, .. } | Self::Sparse { columns, .. } => *columns,
        }
    }

    /// Number of entries held, stored zeros included.
    pub fn stored(&self) -> usize {
        match self {
            Self::Dense { values, .. } | Self::Sparse { values, .. } => values.len(),
        }
    }

    /// The entry at a row and a column; 0 where a sparse matrix holds none.
    ///
    /// # Panics
    /// Outside the matrix.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(row < self.rows() && column < self.columns(), "({row}, {column}) is outside the matrix");
        match self {
            Self::Dense { rows, values, .. } => values[row + rows * column],
            Self::Sparse { column_starts, row_indices, values, .. } => {
                let start = column_starts[column];
                let held = &row_indices[start..column_starts[column + 1]];
                held.binary_search(&(row as u32)).map_or(0.0, |place| values[start + place])
            }
        }
    }

    /// A dense matrix from its values row after row.
    pub(crate) fn from_row_major(rows: usize, columns: usize, by_rows: Vec<f64>) -> Self {
        if rows <= 1 || columns <= 1 {
            return Self::Dense { rows, columns, values: by_rows };
        }
        let mut values = Vec::with_capacity(by_rows.len());
        for column in 0..columns {
            values.extend(by_rows.iter().skip(column).step_by(columns));
        }
        Self::Dense { rows, columns, values }
    }

    /// A sparse matrix from entries in any order, all inside it; equal places are summed.
    pub(crate) fn from_entries(rows: usize, columns: usize, mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| (entry.column, entry.row));
        let mut column_starts = vec![0; columns + 1];
        let mut row_indices = Vec::with_capacity(entries.len());
        let mut values: Vec<f64> = Vec::with_capacity(entries.len());
        let mut last = None;
        for entry in entries {
            let place = (entry.column, entry.row);
            match values.last_mut() {
                Some(value) if last == Some(place) => *value += entry.value,
                _ => {
                    row_indices.push(entry.row);
                    values.push(entry.value);
                    column_starts[entry.column as usize + 1] = values.len();
                }
            }
            last = Some(place);
        }
        // Columns without entries start where the one before them ends.
        for column in 0..columns {
            column_starts[column + 1] = column_starts[column + 1].max(column_starts[column]);
        }
        Self::Sparse { rows, columns, column_starts, row_indices, values }
    }

    /// All entries, column-major.
    pub(crate) fn into_dense_values(self) -> Vec<f64> {
        match self {
            Self::Dense { values, .. } => values,
            Self::Sparse { rows, columns, column_starts, row_indices, values } => {
                let mut dense = vec![0.0; rows * columns];
                for column in 0..columns {
                    for place in column_starts[column]..column_starts[column + 1] {
                        dense[rows * column + row_indices[place] as usize] = values[place];
                    }
                }
                dense
            }
        }
    }
}

/// One entry of a sparse matrix in the making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) value: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(row: u32, column: u32, value: f64) -> Entry {
        Entry { row, column, value }
    }

    #[test]
    fn entries_are_sorted_and_equal_places_are_summed() {
        let entries = vec![entry(2, 3, 1.0), entry(0, 1, 2.0), entry(2, 3, 0.5), entry(1, 1, -1.0)];
        let matrix = MatrixData::from_entries(3, 5, entries);
        let expected = MatrixData::Sparse {
            rows: 3,
            columns: 5,
            column_starts: vec![0, 0, 2, 2, 3, 3],
            row_indices: vec![0, 1, 2],
            values: vec![2.0, -1.0, 1.5],
        };
        assert_eq!(matrix, expected);
        assert_eq!((matrix.get(2, 3), matrix.get(0, 0), matrix.get(1, 1)), (1.5, 0.0, -1.0));
    }

    #[test]
    fn rows_become_columns() {
        let matrix = MatrixData::from_row_major(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(matrix.clone().into_dense_values(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(matrix.get(1, 2), 6.0);
    }
}
