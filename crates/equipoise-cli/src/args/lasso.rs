//! `equipoise lasso`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_models::lasso::{Lambdas, Loss, Settings};

use crate::args::values;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise lasso fit counts.csv --target bmi --zero-sum --log --pseudo-count 0.5 --lambda 2
  equipoise lasso path counts.csv --target bmi --zero-sum --log --plot path.svg
  equipoise lasso cv counts.csv --target bmi --zero-sum --log --folds 10 --plot cv.svg
  equipoise lasso stability counts.csv --target bmi --zero-sum --log --lambda-ratio 0.2
  equipoise lasso fit houses.csv --target price --lambda 3 --out fit.json
  equipoise lasso verify fit.json houses.csv --target price
  equipoise lasso predict fit.json others.csv --out prices.txt

DATA is a table: CSV with or without a header, .npy or .mtx; one row a sample, unless --transpose.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise lasso`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LassoArguments {
    #[command(subcommand)]
    pub(crate) command: LassoCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LassoCommand {
    /// Fit at one lambda, to a certified gap
    Fit(LassoFitArguments),
    /// Fit along falling lambdas, from the smallest at which nothing is chosen
    Path(LassoPathArguments),
    /// Choose lambda by how well held-out rows are predicted
    Cv(LassoCvArguments),
    /// Count how often each column is chosen in random halves of the rows
    Stability(StabilityArguments),
    /// Check a fit, whoever made it, from raw data alone
    Verify(LassoVerifyArguments),
    /// Predict the target of rows with a fit, and score it where the table has the target
    Predict(LassoPredictArguments),
}

const FIT_EXAMPLES: &str = "\
EXAMPLES
  equipoise lasso fit data.csv --target y --lambda-ratio 0.1
  equipoise lasso fit counts.csv --target bmi.csv --transpose --names genera.csv --lambda 2.5
  equipoise lasso fit data.csv --target y --covariates age,sex --lambda 5 --plot fit.svg

Minimises 1/2 ||y - X b - b0||^2 + L ||b||_1 (sums, not means), the coefficients of --zero-sum
summing to 0. Ctrl-C ends a run with the coefficients so far. A result appears whole or not at
all, and one that did not converge leaves a better one there alone.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise lasso fit`.
#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct LassoFitArguments {
    /// The table
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) weight: OneLambda,
    #[command(flatten)]
    pub(crate) regression: RegressionArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Begin at the coefficients of this result
    #[arg(long, value_name = "RESULT")]
    pub(crate) warm_start: Option<PathBuf>,
}

/// Which lambda.
#[derive(Debug, Args)]
pub(crate) struct OneLambda {
    /// The weight L of the penalty, in the units of 1/2 ||y - X b||^2 + L ||b||_1
    #[arg(long, value_name = "L", allow_hyphen_values = true, required_unless_present = "lambda_ratio")]
    pub(crate) lambda: Option<f64>,
    /// The same as a share of the smallest lambda at which nothing is chosen
    #[arg(long, value_name = "R", allow_hyphen_values = true, conflicts_with = "lambda")]
    pub(crate) lambda_ratio: Option<f64>,
}

/// `equipoise lasso path`.
#[derive(Debug, Args)]
pub(crate) struct LassoPathArguments {
    /// The table
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) lambdas: ManyLambdas,
    #[command(flatten)]
    pub(crate) regression: RegressionArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Which lambdas.
#[derive(Debug, Args)]
pub(crate) struct ManyLambdas {
    /// These weights of the penalty
    #[arg(long, value_name = "L1,L2,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) lambdas: Option<Vec<f64>>,
    #[arg(long, value_name = "N", value_parser = values::count::<usize>, conflicts_with = "lambdas", help = points_help())]
    pub(crate) points: Option<usize>,
    #[arg(long, value_name = "R", allow_hyphen_values = true, conflicts_with = "lambdas", help = ratio_help())]
    pub(crate) lambda_ratio: Option<f64>,
}

/// `equipoise lasso cv`.
#[derive(Debug, Args)]
pub(crate) struct LassoCvArguments {
    /// The table
    pub(crate) data: PathBuf,
    /// How many parts the rows are dealt into; each is held out once
    #[arg(long, value_name = "K", value_parser = values::count::<usize>, default_value_t = 10)]
    pub(crate) folds: usize,
    /// How the rows are dealt
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) lambdas: ManyLambdas,
    #[command(flatten)]
    pub(crate) regression: RegressionArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// `equipoise lasso stability`.
#[derive(Debug, Args)]
pub(crate) struct StabilityArguments {
    /// The table
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) weight: OneLambda,
    /// How many random halves are fitted, each with its rest
    #[arg(long, value_name = "B", value_parser = values::count::<usize>, default_value_t = 50)]
    pub(crate) pairs: usize,
    /// The share of halves from which on a column counts as selected
    #[arg(long, value_name = "S", default_value_t = 0.7)]
    pub(crate) threshold: f64,
    /// How the halves are drawn
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) regression: RegressionArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise lasso verify fit.json data.csv --target y
  equipoise lasso verify fit.json data.csv --target y --gap 1e-9 --json

The regression is typed as it was for `fit`; lambda is the one in the file.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise lasso verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct LassoVerifyArguments {
    /// What `fit --out` wrote, or any JSON object with `lambda`, `intercept` and `coefficients` by name
    pub(crate) result: PathBuf,
    /// The table
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) regression: RegressionArguments,
}

const PREDICT_EXAMPLES: &str = "\
EXAMPLES
  equipoise lasso predict fit.json others.csv
  equipoise lasso predict fit.json others.csv --out predictions.txt --json

Columns go by their names; the result says whether logarithms are taken, and of what. Columns
whose coefficient is 0 may be missing, and so may the target: then there is no score. A line of
--out is the prediction of a row: of the logistic loss the probability of the larger target.
Exit status: 0, or 2 on an error.";

/// `equipoise lasso predict`.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct LassoPredictArguments {
    /// What `fit --out` wrote
    pub(crate) result: PathBuf,
    /// The table
    pub(crate) data: PathBuf,
    /// The column to score by [default: the target of the fit, where the table has it]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Write the predictions to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print scores as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors, and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Where results go.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write the JSON object of --json to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a result that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Draw the result
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a row for each lambda to this CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
}

/// What is fitted to what, and how far.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags, as typed")]
pub(crate) struct RegressionArguments {
    /// The column to be explained, or a file of one column
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) target: String,
    /// Columns, or files of one column, that are neither penalised nor part of --zero-sum
    #[arg(long, value_name = "NAME|FILE,...", value_delimiter = ',')]
    pub(crate) covariates: Vec<String>,
    /// The coefficients of all columns that are no covariates sum to 0
    #[arg(long)]
    pub(crate) zero_sum: bool,
    /// A table of rows C with C b = 0, under the names of columns (others have 0), or one number a column
    #[arg(long, value_name = "FILE", conflicts_with = "zero_sum")]
    pub(crate) constraints: Option<PathBuf>,
    /// Take logarithms of all columns that are no covariates
    #[arg(long)]
    pub(crate) log: bool,
    /// What takes the place of zeros before logarithms are taken
    #[arg(long, value_name = "V", requires = "log", allow_hyphen_values = true)]
    pub(crate) pseudo_count: Option<f64>,
    /// Penalise the coefficients of standardised columns; coefficients and constraints stay those of the columns given
    #[arg(long)]
    pub(crate) standardise: bool,
    #[arg(long, value_name = "LOSS", help = loss_help())]
    pub(crate) loss: Option<Loss>,
    #[arg(long, value_name = "D", allow_hyphen_values = true, help = delta_help())]
    pub(crate) delta: Option<f64>,
    #[arg(long, value_name = "R", allow_hyphen_values = true, help = l1_ratio_help())]
    pub(crate) l1_ratio: Option<f64>,
    /// Fit without an intercept
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// How much each row counts: a column, or a file of one number a row
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) weights: Option<String>,
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

fn loss_help() -> String {
    format!("What an error costs: {} [default: {}]", Loss::NAMES.join(", "), Settings::default().loss)
}

fn delta_help() -> String {
    format!("The size of an error up to which the loss `huber` is quadratic [default: {}]", Loss::DELTA)
}

fn l1_ratio_help() -> String {
    let default = Settings::default().l1_ratio;
    format!("R of the elastic net L (R |b| + (1 - R)/2 b^2), above 0 and at most 1 [default: {default}]")
}

fn gap_help() -> String {
    format!("Allowed duality gap, relative to the objective [default: {:e}]", Settings::default().gap)
}

fn threads_help() -> String {
    format!("Threads that share passes, folds or halves [default: {}]", Settings::default().threads)
}

/// How many lambdas there are, and how far down they go.
fn falling() -> (usize, f64) {
    match Lambdas::default() {
        Lambdas::Falling { count, least } => (count, least),
        _ => (0, 0.0),
    }
}

fn points_help() -> String {
    format!("How many lambdas, in equal ratios [default: {}]", falling().0)
}

fn ratio_help() -> String {
    format!("The last lambda, as a share of the first [default: {}]", falling().1)
}
