//! The benchmarks' own tools: data that anyone can generate again, our solver for a benchmark that asks, and
//! plots. `benchmarks/svm/run.py` and `cargo xtask bench threads` and `methods` call them; see `benchmarks/*/README.md`.

mod cholesky;
mod csv;
mod drawing;
mod families;
mod generate;
mod methods;
mod random;
mod report;
mod reproduction;
mod runs;
mod serve;
mod setup;
mod table;
mod threads;
mod verdict;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(about, version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a sparse classification set with a planted rule, and a test set.
    GenerateSvm(generate::Arguments),
    /// Write one of the families that benchmarks are generated from.
    GenerateFamily(families::Arguments),
    /// Train models for a benchmark that asks for one at a time.
    ServeSvm(serve::Arguments),
    /// Write the tables of ratios and the plots of a record.
    ReportSvm(report::Arguments),
    /// Measure several threads: runs of one part, appended to a record.
    BenchThreads(threads::Arguments),
    /// Write the summary and the plots of a record of several threads.
    ReportThreads(threads::report::Arguments),
    /// Measure the methods against each other: runs of one part, appended to a record.
    BenchMethods(methods::Arguments),
    /// Write the summary and the plots of a record of the methods.
    ReportMethods(methods::report::Arguments),
    /// Write docs/reproduction.md and its figures from the records on 16 cores.
    Reproduction(reproduction::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::GenerateSvm(arguments) => generate::run(&arguments),
        Command::GenerateFamily(arguments) => families::run(&arguments),
        Command::ServeSvm(arguments) => serve::run(&arguments),
        Command::ReportSvm(arguments) => report::run(&arguments),
        Command::BenchThreads(arguments) => threads::run(&arguments),
        Command::ReportThreads(arguments) => threads::report::run(&arguments),
        Command::BenchMethods(arguments) => methods::run(&arguments),
        Command::ReportMethods(arguments) => methods::report::run(&arguments),
        Command::Reproduction(arguments) => reproduction::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
