//! `equipoise allocate`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_allocation::Settings;

use crate::args::values;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise allocate case.m --plot merit.svg
  equipoise allocate case.m --demand 4200 --reserve 300 --out dispatch.json
  equipoise allocate case.m --demands 3000:6000:100 --json
  equipoise allocate users.csv --cost log --demand 100
  equipoise allocate users.csv --demand 100 --row 'water<=40' --sensitivity --json
  equipoise allocate verify dispatch.json case.m --demand 4200 --reserve 300

Minimises the sum of the users' costs, each within its limits, so that every row holds. DATA is a
MATPOWER case (.m: generators, their costs and limits, total demand), or a table of one row a
user:
  name, cost         words, both optional: what the user is called, its kind of cost (else --cost)
  lower, upper       limits; 0 and none where missing
  c2, c1, c0         quadratic: c2 x^2 + c1 x + c0          linear: c1 x + c0
  points             piecewise: \"x:cost x:cost ...\" with x rising
  weight, reference  entropy: weight x ln(x/reference) + c1 x
  weight, exponent   power: weight x^exponent + c1 x
  weight, offset     log: -weight ln(x + offset) + c1 x
A price is by how much the cost rises with what its row asks for. Ctrl-C ends a run with what
users give at the last prices.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise allocate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct AllocateArguments {
    #[command(subcommand)]
    pub(crate) command: Option<AllocateCommand>,
    #[command(flatten)]
    pub(crate) run: AllocateRunArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AllocateCommand {
    /// Check an allocation, whoever found it, from raw data alone
    Verify(AllocateVerifyArguments),
}

/// `equipoise allocate DATA`.
#[derive(Debug, Args)]
pub(crate) struct AllocateRunArguments {
    /// The table or the case
    #[arg(required = true)]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: AskedArguments,
    /// Allocate for many demands: K of them from LO to HI, or those of a file
    #[arg(long, value_name = "LO:HI:K|FILE", conflicts_with = "sensitivity", allow_hyphen_values = true)]
    pub(crate) demands: Option<String>,
    /// Add how every user moves with what each row asks for
    #[arg(long)]
    pub(crate) sensitivity: bool,
    /// Leave x out of the result
    #[arg(long)]
    pub(crate) no_x: bool,
    /// Write the JSON object of --json to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a result that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Draw what is given at every price, and what each user gives
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Begin at the prices of this result
    #[arg(long, value_name = "RESULT", visible_alias = "start")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Write a row to this CSV file in every pass over the users
    #[arg(long, value_name = "FILE.csv", conflicts_with = "demands")]
    pub(crate) history: Option<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise allocate verify dispatch.json case.m --demand 4200
  equipoise allocate verify shares.json users.csv --cost entropy --demand 1 --gap 1e-9 --json

The problem is typed as it was for `allocate`.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise allocate verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct AllocateVerifyArguments {
    /// What `allocate --out` wrote, or any JSON object with a list `x`
    pub(crate) result: PathBuf,
    /// The table or the case
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) asked: AskedArguments,
}

/// What is asked for, and how far.
#[derive(Debug, Args)]
pub(crate) struct AskedArguments {
    /// What all users give together [default: of a case, the sum of Pd over its buses]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) demand: Option<f64>,
    /// A row: the coefficients are those of a column of the table
    #[arg(long = "row", value_name = "COLUMN=B|COLUMN>=B|COLUMN<=B", allow_hyphen_values = true)]
    pub(crate) rows: Vec<String>,
    /// The kind of cost of users that have none of their own
    #[arg(long, value_name = "KIND", default_value = "quadratic", help = cost_help())]
    pub(crate) cost: String,
    /// Of a case: what generators keep back of their Pmax, together, at least
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) reserve: Option<f64>,
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "reserve", help = UNITS_HELP)]
    pub(crate) reserve_units: Vec<usize>,
    /// Columns that are left out, whatever they hold
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// A file of the names of the columns
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
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

const UNITS_HELP: &str = "The generators that count for the reserve, by their rows in mpc.gen [default: those with \
                          ramp_10 above 0, or all]";

fn cost_help() -> String {
    "The kind of cost of users that have none of their own: quadratic, linear, piecewise, entropy, power or log".into()
}

fn gap_help() -> String {
    format!(
        "Allowed gap between objective and bound, relative to the sizes of all costs [default: {:e}]",
        Settings::default().gap
    )
}

fn threads_help() -> String {
    format!("Threads that work on it; they change no bit of it [default: {}]", Settings::default().threads)
}
