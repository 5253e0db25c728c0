//! Vectors and matrices of a problem file: inline, or in a file that a key names.

use equipoise::Matrix;
use equipoise::separable::Values;
use toml::Value;

use super::keys::{Keys, as_number};
use crate::numbers::{from_row_major, read_matrix, read_vector};
use crate::{Error, Result};

const VECTOR: &str = "an array of numbers or the name of a .csv, .mtx or .npy file";
const MATRIX: &str = "an array of rows or the name of a .csv, .mtx or .npy file";

impl Keys<'_> {
    /// A list of numbers.
    pub(super) fn vector(&mut self, key: &str) -> Result<Option<Vec<f64>>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(name)) => {
                self.load(key, &name, |path| read_vector(path, &self.origin.control)).map(Some)
            }
            Some(Value::Array(items)) => self.inline(key, &items).map(Some),
            Some(other) => Err(self.wrong_type(key, &other, VECTOR)),
        }
    }

    /// A matrix, row by row when it is inline.
    pub(super) fn matrix(&mut self, key: &str) -> Result<Option<Matrix<'static>>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(name)) => {
                self.load(key, &name, |path| read_matrix(path, &self.origin.control)).map(Some)
            }
            Some(Value::Array(rows)) => self.inline_matrix(key, &rows).map(Some),
            Some(other) => Err(self.wrong_type(key, &other, MATRIX)),
        }
    }

    /// One number for all, or a list.
    pub(super) fn values(&mut self, key: &str) -> Result<Option<Values>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        if let Some(number) = as_number(&value) {
            return Ok(Some(Values::Uniform(number)));
        }
        let list = match &value {
            Value::String(name) => self.load(key, name, |path| read_vector(path, &self.origin.control))?,
            Value::Array(items) => self.inline(key, items)?,
            _ => return Err(self.wrong_type(key, &value, &format!("a number, {VECTOR}"))),
        };
        Ok(Some(Values::Each(list)))
    }

    /// Reads a file that a key names, relative to the problem file.
    pub(super) fn load<T>(
        &self,
        key: &str,
        name: &str,
        read: impl FnOnce(&std::path::Path) -> Result<T>,
    ) -> Result<T> {
        let asked_by = || format!("`{key}` in [{}] of {}", self.place.table, self.place.path.display());
        read(&self.origin.folder.join(name)).map_err(|error: Error| error.asked_for_by(asked_by))
    }

    fn inline(&self, key: &str, items: &[Value]) -> Result<Vec<f64>> {
        let number = |(index, item)| {
            as_number(item).ok_or_else(|| self.wrong_type(&format!("{key}[{index}]"), item, "a number"))
        };
        items.iter().enumerate().map(number).collect()
    }

    pub(super) fn inline_matrix(&self, key: &str, rows: &[Value]) -> Result<Matrix<'static>> {
        let (mut columns, mut by_rows) = (0, Vec::new());
        for (index, row) in rows.iter().enumerate() {
            let place = format!("{key}[{index}]");
            let Value::Array(items) = row else {
                return Err(self.wrong_type(&place, row, "a row: an array of numbers"));
            };
            if index > 0 && items.len() != columns {
                let expected = format!("a row of {columns} numbers, as the first row has");
                return Err(self.place.wrong(&place, format!("a row of {}", items.len()), &expected));
            }
            columns = items.len();
            by_rows.extend(self.inline(&place, items)?);
        }
        from_row_major(rows.len(), columns, by_rows, &self.origin.control)
    }
}
