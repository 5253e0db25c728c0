//! `equipoise generate`, as typed: each kind has the options that make sense for it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::values;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise generate lasso --size 1000 --density 0.1 --out my-lasso
  equipoise generate box-qp --size 300 --rows 2 --seed 7 --out my-qp
  equipoise generate synthetic --nodes 1000 --block 50 --rows 10 --topology tree+ring --out paper

Writes DIR/problem.toml, the data it names, and DIR/optimum.json, which `verify` accepts.";

/// `equipoise generate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GenerateArguments {
    #[command(subcommand)]
    pub(crate) kind: Kind,
}

/// What to make.
#[derive(Debug, Subcommand)]
pub(crate) enum Kind {
    /// Zero-sum lasso: 1/2 ||Mx - y||^2 + ||x||_1 with sum(x) = 0, sparse optimum
    Lasso {
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        to: Destination,
    },
    /// Least squares under several coupling rows
    LeastSquares {
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        coupling: CouplingRows,
        #[command(flatten)]
        to: Destination,
    },
    /// Quadratic over the box [0, 1], two thirds of the bounds active
    BoxQp {
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        coupling: CouplingRows,
        #[command(flatten)]
        to: Destination,
    },
    /// The point of the probability simplex nearest to a target
    Simplex {
        #[command(flatten)]
        size: Size,
        #[command(flatten)]
        to: Destination,
    },
    /// Logistic loss plus a linear term and an l1 penalty under coupling rows
    Logistic {
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        coupling: CouplingRows,
        #[command(flatten)]
        to: Destination,
    },
    /// The paper's synthetic problem, as a TOML file of a few lines
    Synthetic {
        /// Number of blocks
        #[arg(long, value_name = "N", value_parser = values::count::<usize>, default_value_t = 1000)]
        nodes: usize,
        /// Size of a block
        #[arg(long, value_name = "P", value_parser = values::count::<usize>, default_value_t = 50)]
        block: usize,
        /// Number of coupling rows
        #[arg(long, value_name = "M", value_parser = values::count::<usize>, default_value_t = 10)]
        rows: usize,
        /// Communication graph [default: clique]
        #[arg(long)]
        topology: Option<String>,
        #[command(flatten)]
        to: Destination,
    },
}

/// How many variables.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Size {
    /// Number of variables
    #[arg(long = "size", value_name = "N", value_parser = values::count::<usize>, default_value_t = 200)]
    pub(crate) variables: usize,
}

/// The matrix M of a loss.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Data {
    #[command(flatten)]
    pub(crate) size: Size,
    /// Rows of the data matrix [default: twice as many as variables]
    #[arg(long, value_name = "K", value_parser = values::count::<usize>)]
    pub(crate) samples: Option<usize>,
    /// Share of entries of the data matrix that are not 0; below 1 the matrix is stored sparse
    #[arg(long, value_name = "D", default_value_t = 1.0)]
    pub(crate) density: f64,
}

/// The coupling A x = b.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct CouplingRows {
    /// Number of coupling rows
    #[arg(long = "rows", value_name = "M", value_parser = values::count::<usize>, default_value_t = 2)]
    pub(crate) count: usize,
}

/// Where it goes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Destination {
    /// Seed of the random numbers; one seed, one problem
    #[arg(long, value_name = "S", value_parser = values::count::<u64>, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Folder for the files, created if need be
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Print a summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
