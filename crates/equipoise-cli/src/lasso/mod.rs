//! `equipoise lasso`: tables in, coefficients by name out, and the library's fits between them.
//!
//! - `data`: the table, its target, covariates, logarithms, constraints
//! - `report`: results in words and as JSON
//! - `picture`: coefficients along lambda, errors of cross-validation, frequencies
//! - `fit`, `path`, `cv`, `stability`, `verify`, `predict`: the commands

mod cv;
mod data;
mod fit;
mod path;
mod picture;
mod predict;
mod report;
mod stability;
mod verify;

use anyhow::Result;

use crate::args::LassoCommand;
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

pub(crate) fn run(command: &LassoCommand, interrupt: &Interrupt) -> Result<Outcome> {
    match command {
        LassoCommand::Fit(args) => fit::run(args, interrupt),
        LassoCommand::Path(args) => path::run(args, interrupt),
        LassoCommand::Cv(args) => cv::run(args, interrupt),
        LassoCommand::Stability(args) => stability::run(args, interrupt),
        LassoCommand::Verify(args) => verify::run(args, interrupt),
        LassoCommand::Predict(args) => predict::run(args, interrupt),
    }
}
