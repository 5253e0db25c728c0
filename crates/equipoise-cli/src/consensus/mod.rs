//! `equipoise consensus`: one model for data that stay at their sites.

mod data;
mod fit;
mod picture;
mod report;
mod verify;

use anyhow::Result;

use crate::args::{ConsensusArguments, ConsensusCommand};
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &ConsensusArguments, interrupt: &Interrupt) -> Result<Outcome> {
    match &args.command {
        Some(ConsensusCommand::Fit(args)) => fit::run(args, interrupt),
        Some(ConsensusCommand::Verify(args)) => verify::run(args, interrupt),
        None => fit::run(&args.fit, interrupt),
    }
}
