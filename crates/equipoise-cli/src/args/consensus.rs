//! `equipoise consensus`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_consensus::{Loss, Method, Model, Settings, Split};

use super::by_name;

use crate::args::values;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise consensus north.csv east.csv south.csv west.csv --loss logistic --out model.json
  equipoise consensus all.csv --shards 8 --loss ridge --graph tree+ring --plot run.svg
  equipoise consensus all.csv --shards 8 --loss lasso --l1 2 --graph ring --asynchronous
  equipoise consensus north.csv east.csv south.csv west.csv --loss logistic --ranks 4
  equipoise consensus verify model.json north.csv east.csv south.csv west.csv --loss logistic

A SHARD is the data of one node: a table (.csv, .tsv, .npy, .mtx) or LIBSVM text (any other name).
Over all rows:
  ridge     1/2 ||A x - b||^2 + S/2 ||x||^2
  logistic  sum ln(1 + exp(-y a.x)) + S/2 ||x||^2
  lasso     1/2 ||A x - b||^2 + G ||x||_1 + S/2 ||x||^2
  hinge     1/2 ||w||^2 + C sum max(0, 1 - y (w.a + bias))
Of two labels the larger is +1. --bias puts the bias last in x.
Graphs: ring, clique, star, star+ring, tree+ring, tree, wheel, grid[:RxC], erdos-renyi[:P],
random-regular[:D].
bytes counts 8 a number and 16 a message. Ctrl-C ends a run with what is proven so far.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise consensus`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ConsensusArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ConsensusCommand>,
    #[command(flatten)]
    pub(crate) fit: ConsensusFitArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConsensusCommand {
    /// Find the point on which all shards agree; the word may be left out
    Fit(ConsensusFitArguments),
    /// Check a point, whoever found it, from all rows
    Verify(ConsensusVerifyArguments),
}

/// `equipoise consensus fit`.
#[derive(Debug, Args)]
pub(crate) struct ConsensusFitArguments {
    /// The data of the nodes, node 0 first
    #[arg(value_name = "SHARD", required = true)]
    pub(crate) shards: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) problem: ConsensusProblemArguments,
    /// Which nodes may exchange: a topology
    #[arg(long, value_name = "NAME", default_value = "ring")]
    pub(crate) graph: String,
    /// The same as a table: two node numbers a line, from 0
    #[arg(long, value_name = "FILE", conflicts_with = "graph")]
    pub(crate) edges: Option<PathBuf>,
    #[arg(long, value_parser = by_name::<Method>(), help = method_help())]
    pub(crate) method: Option<Method>,
    /// One thread a node, pairs at the same time
    #[arg(long)]
    pub(crate) asynchronous: bool,
    /// Start so many MPI ranks of `equipoise-mpi`, each with some of the nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: Option<u32>,
    /// Requests that a node waits for at a time, with --asynchronous and on ranks; steps are damped by as much
    #[arg(long, value_name = "W", value_parser = values::count::<usize>, default_value_t = Settings::default().outstanding)]
    pub(crate) outstanding: usize,
    /// Exchange with the neighbour that promises most
    #[arg(long)]
    pub(crate) greedy: bool,
    /// Seed of random graphs and schedules
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Most messages, looked at between waves and phases: what has begun ends first [default: no limit]
    #[arg(long, value_name = "M", value_parser = values::count::<u64>)]
    pub(crate) max_messages: Option<u64>,
    /// Write the JSON object of --json to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a result that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Draw gap and disagreement over messages
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a row to this CSV file in every round
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
    /// Begin at the point of this result
    #[arg(long, value_name = "RESULT", visible_alias = "warm-start")]
    pub(crate) start: Option<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise consensus verify model.json north.csv east.csv --loss logistic
  equipoise consensus verify model.json all.csv --loss hinge --cost 2 --bias --gap 1e-8 --json

The problem is typed as it was for the fit; over which nodes the rows were spread does not matter.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise consensus verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct ConsensusVerifyArguments {
    /// What the fit wrote, or any JSON object with a list `x`
    pub(crate) result: PathBuf,
    /// The data of the nodes
    #[arg(value_name = "SHARD", required = true)]
    pub(crate) shards: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) problem: ConsensusProblemArguments,
}

/// What is to be solved, and how far.
#[derive(Debug, Args)]
pub(crate) struct ConsensusProblemArguments {
    /// What is summed over the rows
    #[arg(long, value_parser = by_name::<Loss>(), required = true)]
    pub(crate) loss: Option<Loss>,
    #[arg(long, value_name = "S", allow_hyphen_values = true, help = ridge_help())]
    pub(crate) ridge: Option<f64>,
    /// G of the lasso
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    pub(crate) l1: Option<f64>,
    #[arg(long, value_name = "C", allow_hyphen_values = true, help = cost_help())]
    pub(crate) cost: Option<f64>,
    /// A bias without a penalty, for hinge
    #[arg(long)]
    pub(crate) bias: bool,
    /// Deal the rows of one file to so many nodes
    #[arg(long = "shards", id = "shards-of", value_name = "K", value_parser = values::count::<usize>)]
    pub(crate) shards_of: Option<usize>,
    /// How they are dealt: row by row, or in blocks [default: deal]
    #[arg(long, value_parser = by_name::<Split>())]
    pub(crate) split: Option<Split>,
    /// The column of a table that is explained [default: the last]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    #[arg(long, value_name = "T", allow_hyphen_values = true, help = gap_help())]
    pub(crate) gap: Option<f64>,
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

fn method_help() -> String {
    format!(
        "Along a spanning tree (ridge, logistic, hinge), or pairs over all edges [default: {}]",
        Settings::default().method
    )
}

fn ridge_help() -> String {
    let of = |loss| Model::new(loss).ridge;
    format!("S of ridge, logistic and lasso [default: {}; lasso {}]", of(Loss::Logistic), of(Loss::Lasso))
}

fn cost_help() -> String {
    format!("C of hinge [default: {}]", Model::new(Loss::Hinge).cost)
}

fn gap_help() -> String {
    format!(
        "Allowed gap between objective and bound, relative to the objective [default: {:e}]",
        Settings::default().gap
    )
}
