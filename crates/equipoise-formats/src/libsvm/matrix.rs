//! Labelled rows as a matrix by columns, column c of it feature c + 1.

use std::path::Path;

use equipoise::{Control, Matrix, SparseMatrix};

use super::{LabelledRows, ReadOptions, read_path};
use crate::numbers::check_claim;
use crate::{Error, Result};

/// Entries between two looks at the wish to stop.
const LOOK: usize = 1 << 18;

/// Reads a file into a sparse matrix with as many columns as the largest feature, and its labels.
pub fn read_labelled_matrix(
    path: impl AsRef<Path>,
    control: &Control,
) -> Result<(Matrix<'static>, Vec<f64>)> {
    let path = path.as_ref();
    let LabelledRows { labels, starts, indices, values, features, largest_feature, .. } =
        read_path(path, ReadOptions::default(), control)?;
    let (rows, columns) = (labels.len(), largest_feature as usize);
    check_claim(path, rows, columns, indices.len())?;
    let feature = |entry: usize| features[indices[entry] as usize] as usize - 1;
    let mut column_starts = vec![0; columns + 1];
    let halted = |halt| Error::from(halt).while_reading(path);
    for first in (0..indices.len()).step_by(LOOK) {
        control.check().map_err(halted)?;
        (first..indices.len().min(first + LOOK)).for_each(|entry| column_starts[feature(entry) + 1] += 1);
    }
    (0..columns).for_each(|c| column_starts[c + 1] += column_starts[c]);
    let mut next = column_starts.clone();
    let (mut row_indices, mut by_columns) = (vec![0; indices.len()], vec![1.0; indices.len()]);
    let mut looked = 0;
    for row in 0..rows {
        if starts[row + 1] - looked > LOOK {
            control.check().map_err(halted)?;
            looked = starts[row];
        }
        for entry in starts[row]..starts[row + 1] {
            let place = &mut next[feature(entry)];
            row_indices[*place] = row as u32;
            if let Some(values) = &values {
                by_columns[*place] = values[entry];
            }
            *place += 1;
        }
    }
    let matrix = SparseMatrix::from_columns(rows, columns, column_starts, row_indices, by_columns)?;
    Ok((matrix.into(), labels))
}
