//! `equipoise fused`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_models::fused::{Criterion, FitSettings, Method};

use crate::args::{by_name, values};
use crate::fused::PenaltyName;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise fused fit signal.csv --lambda 2 --plot fit.svg        steps in a signal
  equipoise fused fit signal.csv --penalty trend1 --choose bic    straight pieces, lambda by BIC
  equipoise fused fit image.npy --penalty grid --lambda 0.2       regions of an image
  equipoise fused path signal.csv --json                          one lambda after another
  equipoise fused verify fit.json signal.csv                      is it as good as it says?

Minimises 1/2 ||y - X b||^2 + L ||D b||_1 + S ||b||_1. DATA is CSV with or without a header, .npy
or .mtx.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise fused`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FusedArguments {
    #[command(subcommand)]
    pub(crate) command: FusedCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FusedCommand {
    /// Fit a signal, an image or a graph in pieces, to a certified gap
    Fit(FusedFitArguments),
    /// Fit for one lambda after another, from the one that leaves a single piece down
    Path(FusedPathArguments),
    /// Check a fit, whoever made it: its objective, and a bound that none gets below
    Verify(FusedVerifyArguments),
}

/// What is fitted, and how.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command")]
#[derive(Debug, Args)]
pub(crate) struct Fitting {
    /// Which column of DATA is the signal, by name or number from 1, where there are several
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// Which differences are penalised: neighbours (chain), bends (trend1), changes of bends (trend2), neighbours in an
    /// image (grid), edges of a graph, any matrix
    #[arg(long, value_name = "PENALTY", value_parser = by_name::<PenaltyName>())]
    pub(crate) penalty: Option<PenaltyName>,
    /// An image: short for --penalty grid
    #[arg(long, conflicts_with_all = ["penalty", "trend"])]
    pub(crate) grid: bool,
    /// Trend filtering of order 1 or 2: short for --penalty trend1 or trend2
    #[arg(long, value_name = "ORDER", conflicts_with = "penalty", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) trend: Option<u8>,
    /// For penalty graph: a table of two nodes a row, numbered from 0, and perhaps a weight
    #[arg(long, value_name = "FILE")]
    pub(crate) edges: Option<PathBuf>,
    /// For penalty matrix: D, one column a coefficient
    #[arg(long, value_name = "FILE")]
    pub(crate) d: Option<PathBuf>,
    /// X, one row an observation and one column a coefficient; the identity if not given
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<PathBuf>,
    /// Leave observations without a number out, rather than refuse them
    #[arg(long)]
    pub(crate) skip_missing: bool,
    /// Weight of ||b||_1: small coefficients become 0
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) sparse: Option<f64>,
    #[arg(long, value_name = "G", allow_hyphen_values = true, help = gap_help())]
    pub(crate) gap: Option<f64>,
    #[arg(long, value_name = "METHOD", value_parser = by_name::<Method>(), help = method_help())]
    pub(crate) method: Option<Method>,
    #[arg(long, value_name = "N", value_parser = values::threads::<usize>, help = threads_help())]
    pub(crate) threads: Option<usize>,
    #[arg(long, value_name = "N", value_parser = values::count::<usize>, help = rounds_help())]
    pub(crate) max_rounds: Option<usize>,
    /// Most seconds from start to answer, reading included [default: none]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(crate) time_limit: Option<f64>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Fitting {
    /// The penalty, where one is named.
    pub(crate) fn named_penalty(&self) -> Option<PenaltyName> {
        match (self.penalty, self.grid, self.trend) {
            (Some(penalty), ..) => Some(penalty),
            (None, true, _) => Some(PenaltyName::Grid),
            (None, false, Some(1)) => Some(PenaltyName::Trend1),
            (None, false, Some(_)) => Some(PenaltyName::Trend2),
            // Files say it as well.
            (None, false, None) if self.edges.is_some() => Some(PenaltyName::Graph),
            (None, false, None) if self.d.is_some() => Some(PenaltyName::Matrix),
            (None, false, None) => None,
        }
    }
}

const FIT_EXAMPLES: &str = "\
EXAMPLES
  equipoise fused fit signal.csv --lambda 2 --out fit.json
  equipoise fused fit signal.csv --lambda-ratio 0.05 --plot fit.svg
  equipoise fused fit probes.csv --column log_ratio --skip-missing --choose bic
  equipoise fused fit y.npy --design X.npy --lambda 10
  equipoise fused fit counties.csv --column rate --penalty graph --edges borders.csv --lambda 0.5

A file of --out appears whole or not at all, and a fit that did not converge leaves a better one
there alone. Ctrl-C ends a run with the fit so far.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise fused fit`.
#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
#[command(group(clap::ArgGroup::new("which lambda").required(true).args(["lambda", "lambda_ratio", "choose"])))]
pub(crate) struct FusedFitArguments {
    /// The signal, or the image
    pub(crate) data: PathBuf,
    /// Weight of ||D b||_1, in the units of 1/2 ||y - X b||^2
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) lambda: Option<f64>,
    /// The same as a share of the smallest lambda that leaves a single piece
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) lambda_ratio: Option<f64>,
    /// Take the best lambda of a path, by this criterion
    #[arg(long, value_name = "CRITERION", value_parser = by_name::<Criterion>())]
    pub(crate) choose: Option<Criterion>,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    /// Write the result to this file: the JSON object of --json
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a fit that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Begin at the coefficients of this result
    #[arg(long, value_name = "RESULT")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Draw the fit over the data; an image before and after
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a row to this CSV file in every round: lambda, round, seconds, objective, bound, relative gap
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
}

const PATH_EXAMPLES: &str = "\
EXAMPLES
  equipoise fused path signal.csv
  equipoise fused path signal.csv --penalty trend1 --steps 30 --choose aic --plot path.svg
  equipoise fused path signal.csv --json | jq '.points[] | [.lambda, .segments]'";

/// `equipoise fused path`.
#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct FusedPathArguments {
    /// The signal, or the image
    pub(crate) data: PathBuf,
    /// How many lambdas, in equal steps of their logarithm
    #[arg(long, value_name = "N", value_parser = values::count::<usize>, default_value_t = 50)]
    pub(crate) steps: usize,
    /// The last lambda, as a share of the first
    #[arg(long, value_name = "R", default_value_t = 1e-3, allow_hyphen_values = true)]
    pub(crate) to: f64,
    /// What the best lambda is chosen by
    #[arg(long, value_name = "CRITERION", value_parser = by_name::<Criterion>(), default_value = Criterion::default().name())]
    pub(crate) choose: Criterion,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    /// Write the result to this file: the JSON object of --json
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a path that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Draw the criterion over lambda, and the chosen fit
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise fused verify fit.json signal.csv
  equipoise fused verify fit.json image.npy --penalty grid --gap 1e-5 --json

Penalty, lambda and the weight of ||b||_1 are those of the result; files of --design, --edges and
--d are to be named again.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise fused verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct FusedVerifyArguments {
    /// What `fit --out` wrote
    pub(crate) result: PathBuf,
    /// The signal, or the image
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
}

fn gap_help() -> String {
    format!(
        "Allowed gap between objective and bound, relative to the objective [default: {:e}]",
        FitSettings::default().gap
    )
}

fn method_help() -> String {
    "How the optimum is sought: the exact recursion of a chain, lines of an image in turn, jumps as a lasso, the interior of \
     the dual's box, the paper's pairs with slacks [default: auto]"
        .into()
}

fn threads_help() -> String {
    format!("Threads that work on an image or a long chain [default: {}]", FitSettings::default().threads)
}

fn rounds_help() -> String {
    format!("Most rounds of an iterative method [default: {}]", FitSettings::default().max_rounds)
}
