//! `equipoise fused`: signals, images and graphs in pieces.

mod data;
mod drawing;
mod fit;
mod path;
mod report;
mod verify;

use anyhow::Result;

use crate::args::FusedCommand;
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

/// The penalties as options and files name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PenaltyName {
    #[default]
    Chain,
    Trend1,
    Trend2,
    Grid,
    Graph,
    Matrix,
}

equipoise::named!(PenaltyName, "penalty":
    "chain" => Self::Chain,
    "trend1" => Self::Trend1,
    "trend2" => Self::Trend2,
    "grid" => Self::Grid,
    "graph" => Self::Graph,
    "matrix" => Self::Matrix,
);

pub(crate) fn run(command: &FusedCommand, interrupt: &Interrupt) -> Result<Outcome> {
    match command {
        FusedCommand::Fit(args) => fit::run(args, interrupt),
        FusedCommand::Path(args) => path::run(args, interrupt),
        FusedCommand::Verify(args) => verify::run(args, interrupt),
    }
}
