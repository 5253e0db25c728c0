//! `equipoise svm`, as typed.

mod training;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_formats::svm_model::Format;

use crate::args::{Checkpointing, by_name};

pub(crate) use training::Training;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise svm train a9a --cost 1 --model a9a.json         train, certify, save
  equipoise svm predict a9a.t --model a9a.json              accuracy on other rows
  equipoise svm verify a9a.json a9a                         is it as good as it says?
  equipoise svm cv a9a --folds 5 --costs 0.01,0.1,1,10      choose the cost
  equipoise svm path a9a --from 0.001 --to 10 --steps 9     one model after another

DATA is LIBSVM text, `LABEL FEATURE:VALUE ...` a line, plain or .gz, .bz2, .xz; `-` is stdin.
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
  equipoise svm train news20.xz --threads 4 --model news20.txt --format liblinear

With several labels, one model a label is trained against the rest. Ctrl-C ends a run with the
model so far. With --checkpoint a training is put aside now and then; typed again with --resume it goes
on from there, on one thread to the same bits. A model file appears whole or not at all, and a training that did not converge leaves
a better one there alone. Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise svm train`.
#[derive(Debug, Args)]
#[command(after_help = TRAIN_EXAMPLES)]
pub(crate) struct TrainArguments {
    /// The rows to learn from, LIBSVM text; `-` for stdin
    pub(crate) data: PathBuf,
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
}

const PREDICT_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm predict a9a.t --model a9a.json
  equipoise svm predict a9a.t --model a9a.json --out predictions.txt --json | jq .accuracy";

/// `equipoise svm predict`.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArguments {
    /// The rows, LIBSVM text; `-` for stdin
    pub(crate) data: PathBuf,
    /// The model: what `train --model` wrote, or a model of LIBLINEAR
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Write one prediction a line to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print `accuracy` (or `mse`) and `rows` as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_name = "N", help = training::threads_help("Threads that read the data"))]
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
    /// The rows that it was trained on, LIBSVM text; `-` for stdin
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) training: Training,
}

const CV_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm cv a9a --folds 5 --costs 0.01,0.1,1,10 --threads 4
  equipoise svm cv a9a --folds 10 --costs 0.1,1 --json | jq .best_cost

Every fold has its share of each label; --seed says how the rows are dealt.";

/// `equipoise svm cv`.
#[derive(Debug, Args)]
#[command(after_help = CV_EXAMPLES)]
pub(crate) struct CvArguments {
    /// The rows, LIBSVM text; `-` for stdin
    pub(crate) data: PathBuf,
    /// How many parts the rows are dealt into; each is held out once
    #[arg(long, value_name = "K")]
    pub(crate) folds: usize,
    #[command(flatten)]
    pub(crate) costs: Costs,
    #[command(flatten)]
    pub(crate) training: Training,
}

const PATH_EXAMPLES: &str = "\
EXAMPLES
  equipoise svm path a9a --costs 0.01,0.1,1
  equipoise svm path a9a --from 0.001 --to 10 --steps 9 --test a9a.t";

/// `equipoise svm path`.
#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct PathArguments {
    /// The rows to learn from, LIBSVM text; `-` for stdin
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) costs: Costs,
    #[command(flatten)]
    pub(crate) training: Training,
    /// Also say how well each model predicts these rows
    #[arg(long, value_name = "DATA2")]
    pub(crate) test: Option<PathBuf>,
}

/// Which costs.
#[derive(Debug, Default, Args)]
pub(crate) struct Costs {
    /// The costs C, in this order
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
