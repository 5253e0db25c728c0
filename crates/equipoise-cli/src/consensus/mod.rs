//! `equipoise consensus`: one model for data that stay at their sites.

mod data;
mod fit;
mod picture;
mod report;
mod verify;

use std::sync::Arc;

use anyhow::Result;
use equipoise::collective::{Collective, Post};

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

/// The command on every rank of a world.
pub(crate) fn run_across(
    args: &ConsensusArguments,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
    post: &mut dyn Post,
) -> Result<Outcome> {
    match &args.command {
        Some(ConsensusCommand::Fit(args)) => fit::run_across(args, interrupt, world, post),
        Some(ConsensusCommand::Verify(_)) => {
            anyhow::bail!(
                "`consensus verify` runs with one process, which must see all rows: use `equipoise`"
            )
        }
        None => fit::run_across(&args.fit, interrupt, world, post),
    }
}
