//! The matrix of a loss: loaded, or left in its file when it is larger than the caller allows.

use std::fs;
use std::path::Path;

use equipoise::{Control, Matrix};
use toml::Value;

use super::keys::Keys;
use crate::libsvm::read_labelled_matrix;
use crate::numbers::{extension, read_matrix};
use crate::row_stream::{RowStream, is_libsvm};
use crate::{Error, Result};

const SAMPLES: &str = "an array of rows or the name of a .csv, .mtx, .npy, .svm or .libsvm file";

/// The rows of a loss.
#[derive(Debug)]
pub(super) enum Read {
    /// In memory, with their labels where the file has labels.
    Loaded(Matrix<'static>, Option<Vec<f64>>),
    /// In their file.
    Unloaded(RowStream),
}

impl Keys<'_> {
    /// The rows of a loss, inline or in a file.
    pub(super) fn samples(&mut self, key: &str) -> Result<Option<Read>> {
        let (most, control) = (self.origin.most_bytes, &self.origin.control);
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(name)) => self.load(key, &name, |path| read(path, most, control)).map(Some),
            Some(Value::Array(rows)) => Ok(Some(Read::Loaded(self.inline_matrix(key, &rows)?, None))),
            Some(other) => Err(self.wrong_type(key, &other, SAMPLES)),
        }
    }
}

/// Loads a file unless its matrix would take more than so many bytes.
fn read(path: &Path, most: Option<u64>, control: &Control) -> Result<Read> {
    if let Some(most) = most {
        // A MatrixMarket file cannot be read by rows: one that is larger than the limit is refused by the stream.
        let size =
            || fs::metadata(path).map(|about| about.len()).map_err(|reason| Error::reading(path, &reason));
        if extension(path) != "mtx" || size()? > most {
            let rows = RowStream::open(path, control)?;
            if rows.memory() > most {
                return Ok(Read::Unloaded(rows));
            }
        }
    }
    if is_libsvm(path) {
        let (matrix, labels) = read_labelled_matrix(path, control)?;
        return Ok(Read::Loaded(matrix, Some(labels)));
    }
    Ok(Read::Loaded(read_matrix(path, control)?, None))
}
