//! From `methods.csv` and `slopes.csv` to a summary, what was wanted beside what was reached, and plots.

mod curves;
mod decades;
mod dots;
mod groups;
mod plots;
mod ratio;
mod summary;
mod wanted;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::table::{Row, read_table};
use curves::Curves;
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
    let (runs, slopes) = (rows(folder, "methods.csv")?, rows(folder, "slopes.csv")?);
    ensure!(!(runs.is_empty() && slopes.is_empty()), "nothing to report on in {}", folder.display());
    let groups = Groups::new(&runs).context("methods.csv")?;
    let curves = Curves::new(&slopes).context("slopes.csv")?;
    let plots = plots::draw(&groups, &curves, folder)?;
    let target = folder.join("summary.md");
    std::fs::write(&target, summary::text(&groups, &curves, &plots))
        .with_context(|| format!("cannot write {}", target.display()))
}

/// The rows of a table; none where its part was not measured.
fn rows(folder: &Path, name: &str) -> Result<Vec<Row>> {
    let path = folder.join(name);
    if path.is_file() { read_table(&path) } else { Ok(Vec::new()) }
}
