//! A small dense matrix with naive products: plain data for [`crate::instance`], no more.

/// A dense matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Entry (r, c) is `data[r * cols + c]`.
    pub data: Vec<f64>,
    /// A hint: hand this matrix over in sparse form, leaving the zeros out.
    pub sparse: bool,
}

impl Dense {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols], sparse: false }
    }

    /// A matrix from its rows, all of one length.
    pub fn from_rows<Row: AsRef<[f64]>>(rows: &[Row]) -> Self {
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        assert!(rows.iter().all(|row| row.as_ref().len() == cols), "rows of different lengths");
        let data = rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect();
        Self { rows: rows.len(), cols, data, sparse: false }
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.cols..(row + 1) * self.cols]
    }

    /// One row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.data[row * self.cols..(row + 1) * self.cols]
    }

    /// One entry.
    pub fn get(&self, row: usize, col: usize) -> f64 {
        self.data[row * self.cols + col]
    }

    /// The product with a vector.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.cols, "vector length");
        (0..self.rows).map(|r| self.row(r).iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// The product of the transpose with a vector.
    pub fn transpose_times(&self, y: &[f64]) -> Vec<f64> {
        assert_eq!(y.len(), self.rows, "vector length");
        (0..self.cols).map(|c| (0..self.rows).map(|r| self.get(r, c) * y[r]).sum()).collect()
    }

    /// `M' M`.
    #[must_use]
    pub fn gram(&self) -> Self {
        let mut gram = Self::zeros(self.cols, self.cols);
        gram.sparse = self.sparse;
        for i in 0..self.cols {
            for j in 0..=i {
                let entry: f64 = (0..self.rows).map(|r| self.get(r, i) * self.get(r, j)).sum();
                gram.data[i * self.cols + j] = entry;
                gram.data[j * self.cols + i] = entry;
            }
        }
        gram
    }
}
