//! The command `equipoise`: arguments as typed, then a checked plan, then a run, then a rendering.
//!
//! Reading and writing files is `equipoise-formats`, solving and certifying is `equipoise`; no numerics live here.

mod args;
mod completions;
mod demo;
mod exit;
mod generate;
mod graph;
mod history;
mod interrupt;
mod predict;
mod problem;
mod progress;
mod report;
mod samples;
mod settings;
mod solve;
mod suggest;
mod svm;
mod terms;
mod verify;
mod watch;
mod writable;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    exit::code(match Arguments::parse().command {
        Command::Solve(args) => solve::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Svm(args) => svm::run(&args.command),
        Command::Generate(args) => generate::run(&args.kind),
        Command::Graph(args) => graph::run(&args),
        Command::Demo => demo::run(),
        Command::Completions { shell } => completions::run(shell),
    })
}
