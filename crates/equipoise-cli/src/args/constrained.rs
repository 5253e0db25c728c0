//! `equipoise constrained`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_models::constrained::Settings;

use crate::args::values;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise constrained fit units.csv --target west --simplex --out weights.json
  equipoise constrained verify weights.json units.csv --target west --simplex
  equipoise constrained fit library.csv --targets pixels.csv --simplex --threads 4 --json

DATA is a table: CSV with or without a header, .npy or .mtx; one column a weight.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise constrained`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConstrainedArguments {
    #[command(subcommand)]
    pub(crate) command: ConstrainedCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConstrainedCommand {
    /// Find the weights, to a certified gap
    Fit(FitArguments),
    /// Check weights, whoever found them, from raw data alone
    Verify(VerifyFitArguments),
}

const FIT_EXAMPLES: &str = "\
EXAMPLES
  equipoise constrained fit units.csv --target west --simplex --plot weights.svg
  equipoise constrained fit models.csv --target outcome --simplex --ridge 0.1 --out stack.json
  equipoise constrained fit library.csv --targets pixels.csv --simplex --threads 4 --json
  equipoise constrained fit data.csv --target y --lower 0 --upper 1 --equality rows.csv

Minimises 1/2 ||X w - y||^2 + R/2 ||w||^2. --simplex is w >= 0 with sum 1, --sum S with sum S;
--lower and --upper say otherwise. A row of --equality holds the coefficients under the names of
the columns and its right-hand side under `rhs`; without a header, one number a column and the
right-hand side last. Ctrl-C ends a run with the weights so far. A result appears whole or not at
all, and one that did not converge leaves a better one there alone.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise constrained fit`.
#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitArguments {
    /// The table
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
    /// Write the JSON object of --json to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a result that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Draw the weights, and the fit beside the target
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Begin at the weights of this result
    #[arg(long, value_name = "RESULT")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Write a row to this CSV file in every round
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise constrained verify weights.json units.csv --target west --simplex
  equipoise constrained verify weights.json units.csv --target west --simplex --gap 1e-9 --json

The problem is typed as it was for `fit`.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise constrained verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyFitArguments {
    /// What `fit --out` wrote, or any JSON object with a list `x`
    pub(crate) result: PathBuf,
    /// The table
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
}

/// What is to be solved, and how far.
#[derive(Debug, Args)]
pub(crate) struct ProblemArguments {
    /// The column to be explained, or a file of one column; a file of several is many targets
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "targets")]
    pub(crate) target: Option<String>,
    /// A table of targets, one a column, fitted each by itself
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    pub(crate) targets: Option<PathBuf>,
    /// Weights of at least 0 that sum to 1
    #[arg(long, conflicts_with = "sum")]
    pub(crate) simplex: bool,
    /// Weights of at least 0 that sum to this
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) sum: Option<f64>,
    /// What weights are at least: a number, or a file of one a column [default: 0 with a sum, else -inf]
    #[arg(long, value_name = "V|FILE", allow_hyphen_values = true)]
    pub(crate) lower: Option<String>,
    /// What weights are at most: a number, or a file of one a column [default: inf]
    #[arg(long, value_name = "V|FILE", allow_hyphen_values = true)]
    pub(crate) upper: Option<String>,
    /// Rows that the weights must meet exactly
    #[arg(long, value_name = "FILE", conflicts_with_all = ["simplex", "sum"])]
    pub(crate) equality: Option<PathBuf>,
    #[arg(long, value_name = "R", allow_hyphen_values = true, help = ridge_help())]
    pub(crate) ridge: Option<f64>,
    /// How much each row counts: a column, or a file of one number a row
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) weights: Option<String>,
    #[command(flatten)]
    pub(crate) table: TableArguments,
    #[arg(long, value_name = "T", allow_hyphen_values = true, help = gap_help())]
    pub(crate) gap: Option<f64>,
    #[arg(long, value_name = "N", value_parser = values::threads::<usize>, help = threads_help())]
    pub(crate) threads: Option<usize>,
    /// Most seconds from start to answer, reading included
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) time_limit: Option<f64>,
    /// Print the result as one JSON object, and nothing else, on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors, that a run did not converge, and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How the table is read.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// Columns that are left out, whatever they hold
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// The first line of the table holds numbers, whatever it looks like
    #[arg(long)]
    pub(crate) no_header: bool,
    /// The first column of the table holds names of rows
    #[arg(long)]
    pub(crate) row_names: bool,
    /// The rows of the table are the columns
    #[arg(long)]
    pub(crate) transpose: bool,
    /// A file of the names of the columns
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
}

fn ridge_help() -> String {
    format!("R of R/2 ||w||^2 [default: {}]", Settings::default().ridge)
}

fn gap_help() -> String {
    format!(
        "Allowed gap between objective and bound, relative to ||y||^2 [default: {:e}]",
        Settings::default().gap
    )
}

fn threads_help() -> String {
    format!(
        "Threads that work on the fit; they change no bit of it [default: {}]",
        Settings::default().threads
    )
}
