//! `equipoise allocate`: what every user gives, and at which prices.

mod case;
mod data;
mod picture;
mod report;
mod run;
mod table;
mod verify;

use anyhow::Result;

use crate::args::{AllocateArguments, AllocateCommand};
use crate::exit::Outcome;
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &AllocateArguments, interrupt: &Interrupt) -> Result<Outcome> {
    match &args.command {
        Some(AllocateCommand::Verify(args)) => verify::run(args, interrupt),
        None => run::run(&args.run, interrupt),
    }
}
