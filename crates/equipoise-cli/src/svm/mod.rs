//! `equipoise svm`: rows in LIBSVM text or tables, models in files, and the library's trainer between them.
//!
//! - `data`: rows, labels and weights, read and counted
//! - `table`: tables as labelled rows
//! - `choices`: the settings typed, checked against the kind of model
//! - `costs`: the list of costs of `cv` and `path`
//! - `model`: model files, and their columns beside those of the data
//! - `score`: how well rows are predicted
//! - `report`: results in words and as JSON
//! - `across`: training on ranks, `launch`: starting them
//! - `train`, `predict`, `verify`, `cv`, `path`: the commands

mod across;
mod choices;
mod costs;
mod cv;
mod data;
pub(crate) mod launch;
mod memory;
mod model;
mod path;
mod predict;
mod report;
mod score;
mod table;
mod train;
mod verify;

use std::sync::Arc;

use anyhow::Result;
use equipoise::collective::Collective;

use crate::args::SvmCommand;
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

/// The command on every rank of a world.
pub(crate) fn run_across(
    command: &SvmCommand,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
) -> Result<Outcome> {
    match command {
        SvmCommand::Train(args) => across::run(args, interrupt, world),
        SvmCommand::Cv(args) => cv::run_across(args, interrupt, world),
        SvmCommand::Path(args) => path::run_across(args, interrupt, world),
        _ => anyhow::bail!("of `svm` only `train`, `cv` and `path` run on several ranks; run it with one"),
    }
}

pub(crate) fn run(command: &SvmCommand, interrupt: &Interrupt) -> Result<Outcome> {
    match command {
        SvmCommand::Train(args) => match args.ranks {
            Some(ranks) => launch::run(ranks, interrupt),
            None => train::run(args, interrupt),
        },
        SvmCommand::Predict(args) => predict::run(args, interrupt),
        SvmCommand::Verify(args) => verify::run(args, interrupt),
        SvmCommand::Cv(args) => match args.ranks {
            Some(ranks) => launch::run(ranks, interrupt),
            None => cv::run(args, interrupt),
        },
        SvmCommand::Path(args) => match args.ranks {
            Some(ranks) => launch::run(ranks, interrupt),
            None => path::run(args, interrupt),
        },
    }
}
