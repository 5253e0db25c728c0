//! The command `equipoise`: arguments as typed, then a checked plan, then a run, then a rendering.
//!
//! Reading and writing files, and problems in words, is `equipoise-formats`; solving and certifying is `equipoise`; no
//! numerics live here. It is a library so that others can offer the same commands under another roof.

mod allocate;
mod args;
mod checkpoint;
mod completions;
mod consensus;
mod constrained;
mod demo;
mod exit;
mod fused;
mod generate;
mod graph;
mod history;
mod interrupt;
mod lasso;
mod outputs;
mod plot;
mod portfolio;
mod predict;
mod progress;
mod report;
mod solve;
mod svm;
mod verify;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use args::{Arguments, Command};
use exit::Outcome;
use interrupt::Interrupt;

/// Runs the command with these arguments, the name of the program first; the outcome is its exit status.
///
/// Arguments that cannot be understood, and asked-for help, end the process as [`clap`] does.
pub fn run<I, T>(args: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let started = Instant::now();
    let command = Arguments::parse_from(args).command;
    exit::code(interrupt::listen(started).and_then(|interrupt| execute(&command, &interrupt)))
}

fn execute(command: &Command, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    match command {
        Command::Solve(args) => solve::run(args, interrupt),
        Command::Verify(args) => verify::run(args, interrupt),
        Command::Lasso(args) => lasso::run(&args.command, interrupt),
        Command::Svm(args) => svm::run(&args.command, interrupt),
        Command::Consensus(args) => consensus::run(args, interrupt),
        Command::Allocate(args) => allocate::run(args, interrupt),
        Command::Constrained(args) => constrained::run(&args.command, interrupt),
        Command::Fused(args) => fused::run(&args.command, interrupt),
        Command::Portfolio(args) => portfolio::run(args, interrupt),
        Command::Generate(args) => generate::run(&args.kind, interrupt),
        Command::Graph(args) => graph::run(args, interrupt),
        Command::Demo => demo::run(interrupt),
        Command::Completions { shell } => completions::run(*shell),
    }
}
