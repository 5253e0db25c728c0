//! `equipoise svm`: rows in LIBSVM text or tables, models in files, and the library's trainer between them.
//!
//! - `data`: rows, labels and weights, read and counted
//! - `table`: tables as labelled rows
//! - `choices`: the settings typed, checked against the kind of model
//! - `costs`: the list of costs of `cv` and `path`
//! - `model`: model files, and their columns beside those of the data
//! - `score`: how well rows are predicted
//! - `report`: results in words and as JSON
//! - `train`, `predict`, `verify`, `cv`, `path`: the commands

mod choices;
mod costs;
mod cv;
mod data;
mod memory;
mod model;
mod path;
mod predict;
mod report;
mod score;
mod table;
mod train;
mod verify;

use anyhow::Result;

use crate::args::SvmCommand;
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

pub(crate) fn run(command: &SvmCommand, interrupt: &Interrupt) -> Result<Outcome> {
    match command {
        SvmCommand::Train(args) => train::run(args, interrupt),
        SvmCommand::Predict(args) => predict::run(args, interrupt),
        SvmCommand::Verify(args) => verify::run(args, interrupt),
        SvmCommand::Cv(args) => cv::run(args, interrupt),
        SvmCommand::Path(args) => path::run(args, interrupt),
    }
}
