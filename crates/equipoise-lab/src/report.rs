//! From a record's `times.csv` and `parse.csv` to tables of ratios and plots.

mod means;
mod plot;
mod ratios;
mod targets;
mod times;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::table::read_table;
use times::Times;

/// Which record to report on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder of the record; the tables and plots go there too.
    record: PathBuf,
    /// The ratios that were aimed at (CSV: comparison, accuracy, statistic, wanted).
    #[arg(long)]
    wanted: Option<PathBuf>,
}

/// Writes `ratios.md` and `time-to-accuracy.svg`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.record;
    let times = Times::read(&folder.join("times.csv"))?;
    let wanted = arguments.wanted.as_deref().map(read_table).transpose()?.unwrap_or_default();
    let parse = folder.join("parse.csv");
    let parse = if parse.exists() { read_table(&parse)? } else { Vec::new() };
    let target = folder.join("ratios.md");
    std::fs::write(&target, ratios::report(&times, &parse, &wanted))
        .with_context(|| format!("cannot write {}", target.display()))?;
    plot::draw(&times, &folder.join("time-to-accuracy.svg"))
}
