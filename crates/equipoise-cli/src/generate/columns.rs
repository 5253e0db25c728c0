//! A random data matrix in the making, column by column.

use equipoise::{DenseMatrix, Matrix, SparseMatrix};

use super::source::Source;

/// A matrix as columns of (row, value), rows rising within each.
#[derive(Debug)]
pub(super) struct Columns {
    rows: usize,
    columns: Vec<Vec<(usize, f64)>>,
}

impl Columns {
    /// Normal entries in a share of the places, at least one in every column, whose expected length is 1.
    pub(super) fn random(source: &mut Source, rows: usize, columns: usize, density: f64) -> Self {
        let stored = ((density * rows as f64).round() as usize).clamp(1, rows);
        let scale = 1.0 / (stored as f64).sqrt();
        let mut column = || {
            let places = if stored == rows { (0..rows).collect() } else { source.choose(stored, rows) };
            places.into_iter().map(|row| (row, scale * source.normal())).collect()
        };
        Self { rows, columns: (0..columns).map(|_| column()).collect() }
    }

    /// M x.
    pub(super) fn multiply(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        for (column, x) in self.columns.iter().zip(x).filter(|(_, x)| **x != 0.0) {
            for &(row, value) in column {
                out[row] += value * x;
            }
        }
        out
    }

    /// M'y.
    pub(super) fn multiply_transposed(&self, y: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|column| dot(column, y)).collect()
    }

    /// The least change, within the places stored, that makes M'y what is wanted; no entry of y may be 0.
    pub(super) fn bend(&mut self, y: &[f64], wanted: &[f64]) {
        for (column, wanted) in self.columns.iter_mut().zip(wanted) {
            let square: f64 = column.iter().map(|&(row, _)| y[row] * y[row]).sum();
            let step = (wanted - dot(column, y)) / square;
            for (row, value) in column {
                *value += step * y[*row];
            }
        }
    }

    /// The matrix as files hold it: dense when every place is stored.
    pub(super) fn into_matrix(self) -> Matrix<'static> {
        let (rows, columns) = (self.rows, self.columns.len());
        let entries = || self.columns.iter().flatten();
        let values = entries().map(|&(_, value)| value).collect();
        if self.columns.iter().all(|column| column.len() == rows) {
            return DenseMatrix::from_columns(rows, columns, values).expect("every place is stored").into();
        }
        let row_indices = entries().map(|&(row, _)| row as u32).collect();
        let mut column_starts = vec![0];
        column_starts.extend(self.columns.iter().scan(0, |end, column| {
            *end += column.len();
            Some(*end)
        }));
        let matrix = SparseMatrix::from_columns(rows, columns, column_starts, row_indices, values);
        matrix.expect("rows rise within each column").into()
    }
}

fn dot(column: &[(usize, f64)], y: &[f64]) -> f64 {
    column.iter().map(|&(row, value)| value * y[row]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bending_gives_the_products_wanted() {
        for density in [1.0, 0.3] {
            let mut source = Source::new(1);
            let mut matrix = Columns::random(&mut source, 9, 4, density);
            let y: Vec<f64> = (0..9).map(|_| source.between(0.5, 1.5)).collect();
            let wanted = source.normals(4);
            matrix.bend(&y, &wanted);
            let found = matrix.multiply_transposed(&y);
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?} {wanted:?}");
            let data = matrix.into_matrix();
            let mut stored = 0;
            data.for_each(|_, _, _| stored += 1);
            assert_eq!((data.rows(), data.columns(), stored), (9, 4, if density < 1.0 { 12 } else { 36 }));
        }
    }
}
