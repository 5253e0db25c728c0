//! `equipoise svm`, as typed.

mod table;
mod training;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_formats::svm_model::Format;
use equipoise_models::svm::{CalibrationKind, ScaleKind};

use crate::args::{Checkpointing, by_name, values};

pub(crate) use table::TableChoice;
pub(crate) use training::Training;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise svm train a9a --cost 1 --model a9a.json         train, certify, save
  equipoise svm predict a9a.t --model a9a.json              accuracy on other rows
  equipoise svm verify a9a.json a9a                         is it as good as it says?
  equipoise svm cv a9a --folds 5 --costs 0.01,0.1,1,10      choose the cost
  equipoise svm path a9a --from 0.001 --to 10 --steps 9     one model after another

  equipoise svm train flowers.csv --target species --scale standard --model flowers.json

DATA is LIBSVM text, `LABEL FEATURE:VALUE ...` a line, or a table (.csv, .tsv) whose labels are in
the column of --target NAME; plain or packed by gzip, bzip2, xz, zstd; `-` is stdin. Outputs named
`-` go to stdout.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise svm`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SvmArguments {
    #[command(subcommand)]
    pub(crate) command: SvmCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SvmCommand {
    /// Train a linear support vector machine with a true bias, to a certified gap
    Train(TrainArguments),
    /// Predict the labels of rows with a model
    Predict(PredictArguments),
    /// Check a model, whoever trained it: its objective, and a bound that none gets below
    Verify(CheckArguments),
    /// Cross-validate: how well do models of several costs do on rows they have not seen?
    Cv(CvArguments),
    /// Train for one cost after another, each from the model before it
    Path(PathArguments),
}

const TRAIN_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm train a9a --cost 1 --model a9a.json
  equipoise svm train a9a --class-weight 1=3,-1=1 --gap 1e-6 --json | jq .relative_gap
  equipoise svm train housing --kind svr --cost 10 --epsilon 0.5 --model housing.json
  equipoise svm train news20 --checkpoint news20.ckpt --resume --model news20.json
  equipoise svm train flowers.csv --target species --probabilities --model flowers.json
  equipoise svm train news20.xz --threads auto --model news20.txt --format liblinear
  equipoise svm train big.svm --ranks 4 --model big.json

With several labels, one model a label is trained against the rest. Ctrl-C ends a run with the
model so far. With --checkpoint a training is put aside now and then; typed again with --resume it
goes on from there, on one thread to the same bits. A model file appears whole or not at all, and
a training that did not converge leaves a better one there alone.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise svm train`.
#[derive(Debug, Args)]
#[command(after_help = TRAIN_EXAMPLES)]
pub(crate) struct TrainArguments {
    /// The rows to learn from, LIBSVM text or a table; `-` for stdin
    pub(crate) data: PathBuf,
    /// On several ranks: more files of rows, dealt to the ranks in turn
    #[arg(value_name = "PART")]
    pub(crate) parts: Vec<PathBuf>,
    /// Start so many MPI ranks of `equipoise-mpi`, each with a share of the rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: Option<u32>,
    #[command(flatten)]
    pub(crate) table: TableChoice,
    /// Bring features to one scale first; the model file keeps it, and `predict` applies it
    #[arg(long, value_parser = by_name::<ScaleKind>())]
    pub(crate) scale: Option<ScaleKind>,
    /// Fit probabilities of labels to rows held out, for `predict --probabilities` (five more fits): by a sigmoid, or by steps
    /// that only rise (for a thousand rows or more)
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true,
          default_missing_value = CalibrationKind::default().name(), value_parser = by_name::<CalibrationKind>())]
    pub(crate) probabilities: Option<CalibrationKind>,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Write a model that did not converge also in place of a better one, or with labels that were not trained
    #[arg(long, requires = "model")]
    pub(crate) keep_partial: bool,
    /// How the model is written
    #[arg(long, requires = "model", default_value = Format::default().name(), value_parser = by_name::<Format>())]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) training: Training,
    #[command(flatten)]
    pub(crate) checkpointing: Checkpointing,
    /// Begin at this model, of either format
    #[arg(long, value_name = "MODEL")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Write a row to this CSV file at every checkpoint
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
    /// Plot objective and gap over time to this SVG file
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

const PREDICT_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm predict a9a.t --model a9a.json
  equipoise svm predict a9a.t --model a9a.json --out predictions.txt --json | jq .accuracy
  equipoise svm predict new.csv --model flowers.json --probabilities --out -

A table may lack the column of labels, and may have columns that the model does not know. Labels
that the model does not know, zeros for all rows say, are placeholders, and no score is printed.";

/// `equipoise svm predict`.
// Flags of a command line are not states.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArguments {
    /// The rows, LIBSVM text or a table; `-` for stdin
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableChoice,
    /// The model: what `train --model` wrote, or a model of LIBLINEAR
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Write one prediction a line to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write the values of the decision functions, too, and FILE as CSV with a header
    #[arg(long, requires = "out")]
    pub(crate) decision_values: bool,
    /// Write the probability of every label, too, and FILE as CSV with a header
    #[arg(long, requires = "out")]
    pub(crate) probabilities: bool,
    /// Print `accuracy` (or `mse`), `rows` and the other scores as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_name = "N", value_parser = values::threads::<usize>, help = training::threads_help("Threads that read the data"))]
    pub(crate) threads: Option<usize>,
    /// Say nothing but errors and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const CHECK_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm verify a9a.json a9a
  equipoise svm verify a9a.json a9a --gap 1e-6 --json | jq .relative_gap
  equipoise svm verify liblinear.model a9a --cost 1

What the model file says it was trained with need not be typed; a file of LIBLINEAR says neither
--cost nor --epsilon nor --nu. The bias counts as it does in `train`: it is not penalised.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise svm verify`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArguments {
    /// The model: what `train --model` wrote, or a model of LIBLINEAR
    pub(crate) model: PathBuf,
    /// The rows that it was trained on, LIBSVM text or a table; `-` for stdin
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableChoice,
    #[command(flatten)]
    pub(crate) training: Training,
}

const CV_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm cv a9a --folds 5 --costs 0.01,0.1,1,10 --threads 4
  equipoise svm cv a9a --folds 10 --costs 0.1,1 --json | jq .best_cost
  equipoise svm cv flowers.csv --target species --scale standard --model best.json

Every fold has its share of each label; --seed says how the rows are dealt. Costs with a fit that
did not converge are marked and never chosen.";

/// `equipoise svm cv`.
#[derive(Debug, Args)]
#[command(after_help = CV_EXAMPLES)]
pub(crate) struct CvArguments {
    /// The rows, LIBSVM text or a table; `-` for stdin
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableChoice,
    /// Bring features to one scale first, that of all rows
    #[arg(long, value_parser = by_name::<ScaleKind>())]
    pub(crate) scale: Option<ScaleKind>,
    /// Start so many MPI ranks of `equipoise-mpi`, which all read all rows and take the folds in turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: Option<u32>,
    /// How many parts the rows are dealt into; each is held out once
    #[arg(long, value_name = "K", value_parser = values::count::<usize>, default_value_t = 5)]
    pub(crate) folds: usize,
    /// Plot scores against the costs to this SVG file
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Train on all rows with the best cost, and write that model to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Write that model also in place of a better one where it did not converge, or was chosen among fewer fits
    #[arg(long, requires = "model")]
    pub(crate) keep_partial: bool,
    #[command(flatten)]
    pub(crate) costs: Costs,
    #[command(flatten)]
    pub(crate) training: Training,
}

const PATH_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm path a9a --costs 0.01,0.1,1
  equipoise svm path a9a --from 0.001 --to 10 --steps 9 --test a9a.t
  equipoise svm path a9a --test a9a.t --model best.json";

/// `equipoise svm path`.
#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct PathArguments {
    /// The rows to learn from, LIBSVM text or a table; `-` for stdin
    pub(crate) data: PathBuf,
    /// Plot objectives, support vectors and scores against the costs to this SVG file
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableChoice,
    /// Bring features to one scale first
    #[arg(long, value_parser = by_name::<ScaleKind>())]
    pub(crate) scale: Option<ScaleKind>,
    #[command(flatten)]
    pub(crate) costs: Costs,
    #[command(flatten)]
    pub(crate) training: Training,
    /// Also say how well each model predicts these rows
    #[arg(long, value_name = "DATA2")]
    pub(crate) test: Option<PathBuf>,
    /// Write the model that predicts the rows of --test best to this file
    #[arg(long, value_name = "FILE", requires = "test")]
    pub(crate) model: Option<PathBuf>,
    /// Start so many MPI ranks of `equipoise-mpi`, each with a share of the rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: Option<u32>,
    /// Write the best model of a walk that was cut short also in place of a better one
    #[arg(long, requires = "model")]
    pub(crate) keep_partial: bool,
}

/// Which costs.
#[derive(Debug, Default, Args)]
pub(crate) struct Costs {
    /// The costs C, in this order [default: 0.001, 0.01, 0.1, 1, 10, 100]
    #[arg(
        long = "costs",
        id = "costs",
        value_name = "C1,C2,...",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) list: Option<Vec<f64>>,
    /// In place of --costs: the first of --steps costs with one ratio between them
    #[arg(long, value_name = "C", requires_all = ["to", "steps"], conflicts_with = "costs")]
    pub(crate) from: Option<f64>,
    /// The last of them
    #[arg(long, value_name = "C", requires_all = ["from", "steps"])]
    pub(crate) to: Option<f64>,
    /// How many there are
    #[arg(long, value_name = "N", requires_all = ["from", "to"])]
    pub(crate) steps: Option<usize>,
}
