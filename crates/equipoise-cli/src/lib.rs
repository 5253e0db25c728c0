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
mod ending;
mod exit;
mod fused;
mod generate;
mod graph;
mod history;
mod interrupt;
mod lab;
mod lasso;
mod man;
mod outputs;
mod page;
mod picture;
mod plot;
mod portfolio;
mod predict;
mod progress;
mod ranks;
mod report;
mod rounding;
mod shards;
mod solve;
mod svm;
mod usage;
mod verify;
mod version;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use equipoise::collective::{Collective, Post};

use args::Arguments;
use exit::Outcome;
use interrupt::Interrupt;

/// All commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Solve a problem file and certify the answer
    Solve(args::SolveArguments),
    /// Check a solution against its problem, from raw data alone
    Verify(args::VerifyArguments),
    /// Train, cross-validate and apply linear support vector machines
    Svm(args::SvmArguments),
    /// Allocate resources: economic dispatch, budgets, shares; with prices
    Allocate(args::AllocateArguments),
    /// Least squares on a simplex, in a box, under equality rows; one target or many
    Constrained(args::ConstrainedArguments),
    /// One model for data that stay at their sites: consensus by pairs over a graph
    Consensus(Box<args::ConsensusArguments>),
    /// Fit signals, images and graphs in pieces: fused lasso, trend filtering, total variation
    Fused(args::FusedArguments),
    /// Fit lassos, also under constraints such as a zero sum: paths, cross-validation, stability
    Lasso(args::LassoArguments),
    /// Portfolios of least variance from a table of prices, and efficient frontiers
    Portfolio(Box<args::PortfolioArguments>),
    /// Make a random problem whose optimum is known
    Generate(args::GenerateArguments),
    /// Describe a communication graph: edges, degrees, diameter, Laplacian
    Graph(args::GraphArguments),
    /// Run the paper's experiments again: figures, claims with verdicts, one page
    Lab(args::LabArguments),
    /// Show histories, paths and frontiers on one page
    Report(args::ReportArguments),
    /// A race on a built-in problem, shown on a page (no files needed)
    Demo(args::DemoArguments),
    /// Write a manual page for every command
    #[command(after_help = args::MAN_EXAMPLES)]
    Man {
        /// The folder for the pages, created if need be
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print the completion script of a shell
    #[command(after_help = args::COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// The program in README.md, compiled and run with the examples of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// Runs the command with these arguments, the name of the program first; the outcome is its exit status.
///
/// Asked-for help ends the process as [`clap`] does.
pub fn run<I, T>(args: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let started = Instant::now();
    let words: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let typed: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let wants_json = typed.iter().any(|word| word == "--json");
    exit::begin(wants_json);
    let command = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments.command,
        Err(error) if error.use_stderr() => {
            return exit::misunderstood(error, &usage::hints(&typed), wants_json);
        }
        Err(asked_for) => asked_for.exit(),
    };
    let result = interrupt::listen(started).and_then(|interrupt| execute(&command, &interrupt));
    exit::code(result, wants_json)
}

/// Runs the command on this rank of a world, all of whose ranks call this with the same arguments. A world of one rank does what
/// [`run`] does. Of several, the first one says all there is to say, and all have the same exit status.
pub fn run_across<I, T>(args: I, world: &Arc<dyn Collective>) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    run_with_post(args, world, None)
}

/// The same with a post between the ranks, which `consensus` needs.
pub fn run_with_post<I, T>(args: I, world: &Arc<dyn Collective>, post: Option<&mut dyn Post>) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let mut words: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let speaks = world.rank() == 0;
    if words.get(1).is_some_and(|word| word == svm::launch::LAUNCHED) {
        words.remove(1);
        if speaks {
            exit::note(svm::launch::SIGN);
        }
    }
    if world.ranks() == 1 {
        return run(words);
    }
    let started = Instant::now();
    let typed: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let wants_json = typed.iter().any(|word| word == "--json");
    exit::begin(wants_json);
    let result = ranks::same_words(&**world, version::long(), &typed).and_then(|()| {
        let command = match Arguments::try_parse_from(words) {
            Ok(arguments) => arguments.command,
            Err(error) => return Ok(Err(error)),
        };
        interrupt::listen(started)
            .and_then(|interrupt| execute_across(&command, &interrupt, world, post))
            .map(Ok)
    });
    match result {
        Ok(Err(error)) if error.use_stderr() && speaks => {
            exit::misunderstood(error, &usage::hints(&typed), wants_json)
        }
        Ok(Err(error)) if error.use_stderr() => ExitCode::from(2),
        Ok(Err(asked_for)) => {
            if speaks {
                // A closed stdout is nobody's problem.
                let _ = asked_for.print();
            }
            ExitCode::SUCCESS
        }
        Ok(Ok(outcome)) => exit::quiet_code(&Ok(outcome)),
        Err(error) if speaks => exit::code(Err(error), wants_json),
        Err(error) => exit::quiet_code(&Err(error)),
    }
}

fn execute_across(
    command: &Command,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
    post: Option<&mut dyn Post>,
) -> anyhow::Result<Outcome> {
    match (command, post) {
        (Command::Svm(args), _) => svm::run_across(&args.command, interrupt, world),
        (Command::Solve(args), _) => solve::run_across(args, interrupt, world),
        (Command::Consensus(args), Some(post)) => consensus::run_across(args, interrupt, world, post),
        _ => anyhow::bail!(
            "only `svm train`, `svm cv`, `svm path`, `solve` and `consensus` run on several ranks; run the others with `equipoise`"
        ),
    }
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
        Command::Lab(args) => lab::run(args, interrupt),
        Command::Report(args) => page::run(args, &interrupt.control),
        Command::Demo(args) => demo::run(args, interrupt),
        Command::Man { folder } => man::run(folder),
        Command::Completions { shell } => completions::run(*shell),
    }
}
