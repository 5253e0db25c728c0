//! `equipoise constrained`: least squares on a simplex, in a box, under equality rows.

mod data;
mod fit;
mod picture;
mod report;
mod verify;

use anyhow::Result;

use crate::args::ConstrainedCommand;
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

pub(crate) fn run(command: &ConstrainedCommand, interrupt: &Interrupt) -> Result<Outcome> {
    match command {
        ConstrainedCommand::Fit(args) => fit::run(args, interrupt),
        ConstrainedCommand::Verify(args) => verify::run(args, interrupt),
    }
}
