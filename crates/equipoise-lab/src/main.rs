//! The benchmarks' own tools: data that anyone can generate again, an evaluation that knows no solver, and
//! plots. `benchmarks/svm/run.py` and `cargo xtask bench threads` and `methods` call them; see `benchmarks/*/README.md`.

mod cholesky;
mod csv;
mod drawing;
mod evaluate;
mod generate;
mod methods;
mod mirror;
mod model;
mod parse_speed;
mod random;
mod report;
mod rows;
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
    /// Write rows on which a free bias solves the problem with a penalised one.
    MirrorSvm(mirror::Arguments),
    /// Print the primal value and the accuracy of each model that is asked for.
    EvaluateSvm(evaluate::Arguments),
    /// Print how long our reader of LIBSVM text takes.
    ParseSpeed(parse_speed::Arguments),
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
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::GenerateSvm(arguments) => generate::run(&arguments),
        Command::MirrorSvm(arguments) => mirror::run(&arguments),
        Command::EvaluateSvm(arguments) => evaluate::run(&arguments),
        Command::ParseSpeed(arguments) => parse_speed::run(&arguments),
        Command::ReportSvm(arguments) => report::run(&arguments),
        Command::BenchThreads(arguments) => threads::run(&arguments),
        Command::ReportThreads(arguments) => threads::report::run(&arguments),
        Command::BenchMethods(arguments) => methods::run(&arguments),
        Command::ReportMethods(arguments) => methods::report::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
