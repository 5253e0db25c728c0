//! From `threads.csv` to a summary, the targets beside what was reached, and plots of speed-ups.

mod chart;
mod groups;
mod plots;
mod summary;
mod wanted;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::table::read_table;
use groups::Groups;

/// Which record to report on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder of the record; the summary and the plots go there too.
    record: PathBuf,
}

/// Writes `summary.md` and the plots for which there are rows.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.record;
    let path = folder.join("threads.csv");
    let groups = Groups::new(&read_table(&path)?).with_context(|| path.display().to_string())?;
    let plots = plots::draw(&groups, folder)?;
    let target = folder.join("summary.md");
    std::fs::write(&target, summary::text(&groups, &plots))
        .with_context(|| format!("cannot write {}", target.display()))
}
