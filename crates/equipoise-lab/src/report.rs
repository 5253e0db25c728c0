//! From the tables of a record of `benchmarks/svm` to `ratios.md` and the heat map.

mod extras;
mod heat_map;
mod means;
mod tables;
mod times;
mod wanted;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::table::{Row, read_table};
use times::Times;

/// Which record to report on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder of the record; the tables and the plot go there too.
    record: PathBuf,
}

const HEAD: &str = "\
# SVM: time to an accuracy, against the peers

A number is the peer's seconds over ours, from data in memory to a model of that accuracy: above 1, ours is faster.
Ours is held to its proven relative duality gap; a peer to the relative suboptimality of its own primal against the best
one known, which is less strict, and its problem, with the bias penalised, is the easier one. One thread each. `>`: the peer
was stopped at its limit, so the ratio is larger than this; such cells enter means with this bound. The best peer of a
cell is the quickest of LinearSVC, liblinear, ReHLine and SnapML there, each at the cheapest setting of its ladder that
reaches the accuracy.
";

/// Writes `ratios.md` and `heat-map.svg`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.record;
    let times = Times::read(&folder.join("times.csv"))?;
    let other = |name: &str| -> Result<Vec<Row>> {
        let path = folder.join(name);
        if path.exists() { read_table(&path) } else { Ok(Vec::new()) }
    };
    let (cold, growth, one_row) = (other("cold.csv")?, other("growth.csv")?, other("one_row.csv")?);
    let mut text = HEAD.to_owned();
    wanted::table(&mut text, &times, &cold);
    tables::all(&mut text, &times);
    extras::cold(&mut text, &cold);
    extras::memory(&mut text, &times, &cold);
    extras::growth(&mut text, &growth);
    extras::one_row(&mut text, &one_row);
    let target = folder.join("ratios.md");
    std::fs::write(&target, text).with_context(|| format!("cannot write {}", target.display()))?;
    heat_map::draw(&times, &folder.join("heat-map.svg"))
}
