//! Whether a file can be written, asked before a long run.

use std::fs::{self, OpenOptions};
use std::path::Path;

use anyhow::{Context, Result};

/// Refuses a file that cannot be written, without changing it and without leaving one behind.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    if is_new {
        fs::remove_file(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
