//! A table that grows: one line a run, on disk as soon as it is known.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The open file.
#[derive(Debug)]
pub(crate) struct Csv {
    file: File,
    name: &'static str,
}

impl Csv {
    /// Opens a file of a folder for more lines; makes both where they are missing. A file with other columns is
    /// refused: its rows and ours could not be told apart.
    pub(crate) fn open(folder: &Path, name: &'static str, header: &str) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(name);
        let present = std::fs::read_to_string(&path).unwrap_or_default();
        let first = present.lines().next();
        ensure!(first.is_none_or(|line| line == header), "{} has other columns", path.display());
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
        if first.is_none() {
            writeln!(file, "{header}")?;
        }
        Ok(Self { file, name })
    }

    /// Appends a line, and shows it.
    pub(crate) fn push(&mut self, line: &str) -> Result<()> {
        eprintln!("{line}");
        // One write a line: it is there as a whole or not at all.
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_data().with_context(|| format!("cannot write {}", self.name))
    }
}

/// A cell without a comma, which would shift the columns.
pub(crate) fn cell(text: &str) -> String {
    text.replace(',', ";")
}
