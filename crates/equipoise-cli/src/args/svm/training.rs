//! The options of training that `train`, `cv` and `path` share.

use std::path::PathBuf;

use clap::Args;
use equipoise::Method;
use equipoise_models::svm::{Kind, Loss, TrainSettings};

use crate::args::solve::limit;
use crate::args::{Multicore, by_name, values};

/// What is trained, and how far.
#[derive(Debug, Default, Args)]
pub(crate) struct Training {
    #[arg(long, value_parser = by_name::<Kind>(), help = kind_help())]
    pub(crate) kind: Option<Kind>,
    #[arg(long, value_name = "C", allow_hyphen_values = true, help = cost_help())]
    pub(crate) cost: Option<f64>,
    #[arg(long, value_name = "V", allow_hyphen_values = true, help = nu_help())]
    pub(crate) nu: Option<f64>,
    #[arg(long, value_name = "V", allow_hyphen_values = true, help = epsilon_help())]
    pub(crate) epsilon: Option<f64>,
    #[arg(long, value_parser = by_name::<Loss>(), help = loss_help())]
    pub(crate) loss: Option<Loss>,
    /// Train without a bias, for svc and svr: the decision functions go through 0
    #[arg(long)]
    pub(crate) no_bias: bool,
    #[arg(long, value_name = "T", allow_hyphen_values = true, help = gap_help())]
    pub(crate) gap: Option<f64>,
    /// Factors on the cost of the rows of a label, for svc; labels not named have 1. A label is a number, or its word in the
    /// table. `balanced`: as much for every label
    #[arg(long, value_name = "L=W,...|balanced", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) class_weight: Vec<String>,
    /// A file with one weight a line, one for every row, or a column of the table; a row of weight 2 counts as two
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    #[arg(long, value_parser = by_name::<Method>(), help = method_help())]
    pub(crate) method: Option<Method>,
    #[arg(long, value_name = "N", value_parser = values::threads::<usize>, help = threads_help("Threads that read the data and work on the fits"))]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) multicore: Multicore,
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, help = seed_help())]
    pub(crate) seed: Option<u64>,
    #[arg(long, value_name = "S", allow_hyphen_values = true, help = time_limit_help())]
    pub(crate) time_limit: Option<f64>,
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, help = max_epochs_help())]
    pub(crate) max_epochs: Option<u64>,
    /// Print the result as one JSON object, and nothing else, on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors, that a run did not converge, and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn kind_help() -> String {
    let default = TrainSettings::default().kind.name();
    format!("Classifier, classifier with nu, regression, or support of a distribution [default: {default}]")
}

fn cost_help() -> String {
    format!("C, what an error costs, for svc and svr [default: {}]", TrainSettings::default().cost)
}

fn nu_help() -> String {
    let default = TrainSettings::default().nu;
    format!("Bound on the share of errors, for nu-svc and one-class [default: {default}]")
}

fn epsilon_help() -> String {
    format!("Errors up to this size are free, for svr [default: {}]", TrainSettings::default().epsilon)
}

fn loss_help() -> String {
    format!(
        "Whether an error costs its size or its square, for svc [default: {}]",
        TrainSettings::default().loss.name()
    )
}

fn gap_help() -> String {
    let default = TrainSettings::default().gap;
    format!("Allowed duality gap, relative to the dual objective [default: {default:e}]")
}

fn method_help() -> String {
    let default = TrainSettings::default().method;
    format!("`pairs` is the paper's algorithm, `violating` the fast one, `auto` chooses [default: {default}]")
}

/// Also of `predict`.
pub(super) fn threads_help(what: &str) -> String {
    format!("{what} [default: {}]", TrainSettings::default().threads)
}

fn seed_help() -> String {
    format!("Seed of the random draws; one seed, one result [default: {}]", TrainSettings::default().seed)
}

fn time_limit_help() -> String {
    format!(
        "Most seconds from start to answer, reading included, over all fits {}",
        limit(TrainSettings::default().time_limit)
    )
}

fn max_epochs_help() -> String {
    format!("Most epochs of one fit {}", limit(TrainSettings::default().max_epochs))
}
