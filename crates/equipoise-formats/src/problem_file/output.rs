//! TOML text in the making, and the files that go with it.
//!
//! Must not know what a problem is: only keys, numbers, lists and matrices.

use std::fmt::{Display, Write as _};
use std::path::Path;

use equipoise::Matrix;

use crate::Result;
use crate::numbers::{write_matrix_market, write_matrix_npy, write_vector_csv};

/// The longest list that stays inline.
pub(super) const INLINE: usize = 20;

/// The TOML text so far.
#[derive(Debug)]
pub(super) struct Output<'a> {
    folder: &'a Path,
    name: &'a str,
    text: String,
    /// The table being written, as part of file names.
    stem: String,
}

impl<'a> Output<'a> {
    pub(super) fn new(folder: &'a Path, name: &'a str) -> Self {
        Self { folder, name, text: String::new(), stem: String::new() }
    }

    pub(super) fn as_toml(&self) -> &str {
        &self.text
    }

    pub(super) fn table(&mut self, header: &str, stem: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        self.line(format_args!("{gap}{header}"));
        self.stem = stem.into();
    }

    pub(super) fn line(&mut self, line: impl Display) {
        writeln!(self.text, "{line}").expect("writing to a string does not fail");
    }

    pub(super) fn pair(&mut self, key: &str, value: impl Display) {
        self.line(format_args!("{key} = {value}"));
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.pair(key, toml::Value::String(text.into()));
    }

    /// A count, in quotes where it is too large for TOML's integers.
    pub(super) fn whole(&mut self, key: &str, whole: u64) {
        match i64::try_from(whole) {
            Ok(whole) => self.pair(key, whole),
            Err(_) => self.text(key, &whole.to_string()),
        }
    }

    /// Names a file for a key and lets `write` fill it.
    pub(super) fn file(
        &mut self,
        key: &str,
        ending: &str,
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let name = format!("{}-{}-{key}.{ending}", self.name, self.stem);
        write(&self.folder.join(&name))?;
        self.text(key, &name);
        Ok(())
    }

    pub(super) fn list(&mut self, key: &str, list: &[f64]) -> Result<()> {
        if list.len() > INLINE {
            return self.file(key, "csv", |path| write_vector_csv(path, list));
        }
        let items: Vec<String> = list.iter().map(|&value| number(value)).collect();
        self.pair(key, format_args!("[{}]", items.join(", ")));
        Ok(())
    }

    pub(super) fn matrix(&mut self, key: &str, matrix: &Matrix) -> Result<()> {
        match matrix {
            Matrix::Sparse(_) => self.file(key, "mtx", |path| write_matrix_market(path, matrix)),
            Matrix::Dense(_) => self.file(key, "npy", |path| write_matrix_npy(path, matrix)),
        }
    }
}

/// The fewest digits that read back to the same bits, as TOML spells them.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:?}") }
}
