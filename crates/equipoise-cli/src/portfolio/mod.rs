//! `equipoise portfolio`: portfolios of least variance, and efficient frontiers, from a table of prices.

mod data;
mod picture;
mod points;
mod report;
mod solve;
mod verify;

use anyhow::{Result, bail};

use crate::args::{PortfolioArguments, PortfolioCommand};
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &PortfolioArguments, interrupt: &Interrupt) -> Result<Outcome> {
    match (&args.command, &args.solve.data) {
        (Some(PortfolioCommand::Verify(args)), _) => verify::run(args, interrupt),
        (None, Some(data)) => solve::run(data, &args.solve, interrupt),
        (None, None) => bail!("PRICES is missing: name a table of prices"),
    }
}
