//! `equipoise solve`, as typed.

use std::path::PathBuf;

use clap::Args;
use equipoise::{Method, Named as _, Schedule, Settings};
use equipoise_formats::problem_file::{BYTES, SolveSpec, parse_bytes};

use super::{Checkpointing, Multicore, by_name};

use crate::args::values;

const EXAMPLES: &str = "\
EXAMPLES
  equipoise solve problem.toml
  equipoise solve problem.toml --tolerance 1e-9 --out x.json --history run.csv
  equipoise solve problem.toml --json --time-limit 10 | jq .objective
  equipoise solve changed.toml --warm-start x.json
  equipoise solve program.qps                         a linear or quadratic program (MPS, QPS)
  equipoise solve problem.toml --method pairs --threads 8 --locking none
  equipoise solve large.toml --method svrg --memory-budget 64MiB
  equipoise solve large.toml --ranks 16
  equipoise solve long.toml --checkpoint long.ckpt --every 300 --resume --out x.json

SIZE is bytes, or has a unit: k, M, G, kB, MB, GB, KiB, MiB, GiB. The methods stochastic, svrg and
saga, and auto where a SIZE is given, read a matrix that is larger than that from its file (.npy,
.csv, .svm, .libsvm), row by row. Options win over [solve] of the problem file. Ctrl-C ends a run
with the best iterate so far; a second one at once. With --checkpoint a run is put aside now and
then; typed again with --resume it goes on from there, on one thread to the same bits. The file
goes away when the run converges. A FILE of --out appears whole or not at all, and a run that did
not converge leaves a better one there alone.
Exit status: 0 converged, 1 finished without converging (the status says why), 2 error.";

/// `equipoise solve`.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SolveArguments {
    /// The problem, with tables smooth, separable, coupling, blocks, graph and solve
    #[arg(value_name = "PROBLEM.toml")]
    pub(crate) problem: PathBuf,
    /// Write the result, x included, to this JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a result that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Print the result as one JSON object, and nothing else, on stdout
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_name = "T", allow_hyphen_values = true, help = tolerance_help())]
    pub(crate) tolerance: Option<f64>,
    #[arg(long, value_name = "S", allow_hyphen_values = true, help = time_limit_help())]
    pub(crate) time_limit: Option<f64>,
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, help = max_epochs_help())]
    pub(crate) max_epochs: Option<u64>,
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, help = max_updates_help())]
    pub(crate) max_updates: Option<u64>,
    #[arg(long, value_parser = by_name::<Method>(), help = method_help())]
    pub(crate) method: Option<Method>,
    #[arg(long, value_parser = by_name::<Schedule>(), help = schedule_help())]
    pub(crate) schedule: Option<Schedule>,
    #[arg(long, value_name = "A", allow_hyphen_values = true, help = step_size_help())]
    pub(crate) step_size: Option<f64>,
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, help = batch_help())]
    pub(crate) batch: Option<u64>,
    #[arg(long, value_name = "N", value_parser = values::count::<u64>, help = seed_help())]
    pub(crate) seed: Option<u64>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, help = memory_budget_help())]
    pub(crate) memory_budget: Option<u64>,
    #[arg(long, value_name = "N", value_parser = values::threads::<u64>, help = threads_help())]
    pub(crate) threads: Option<u64>,
    #[command(flatten)]
    pub(crate) multicore: Multicore,
    /// Write a row to this CSV file at every checkpoint
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
    /// Plot objective and gap over time to this SVG file
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) checkpointing: Checkpointing,
    /// Begin at the x of this solution file, moved to the nearest feasible point if need be
    #[arg(long, value_name = "FILE")]
    pub(crate) warm_start: Option<PathBuf>,
    /// Start so many MPI ranks of `equipoise-mpi`, each with a share of the rows of losses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: Option<u32>,
    /// Say nothing but errors, that a run did not converge, and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl SolveArguments {
    /// What was typed about the run.
    pub(crate) fn wishes(&self) -> SolveSpec {
        SolveSpec {
            tolerance: self.tolerance,
            time_limit: self.time_limit,
            max_epochs: self.max_epochs,
            max_updates: self.max_updates,
            method: self.method,
            seed: self.seed,
            memory_budget: self.memory_budget,
            threads: self.threads,
            locking: self.multicore.locking,
            delay_us: self.multicore.delay_us,
            step_rule: self.multicore.step_rule,
            deterministic: self.multicore.deterministic.then_some(true),
            schedule: self.schedule,
            batch: self.batch,
            step_size: self.step_size,
            misnamed: Vec::new(),
        }
    }
}

/// Also the help of `verify --tolerance`.
pub(super) fn tolerance_help() -> String {
    let default = Settings::default().tolerance;
    format!(
        "Allowed duality gap, relative to 1 + |objective|; KKT residual where there is no gap [default: {default:e}]"
    )
}

fn time_limit_help() -> String {
    format!(
        "Most seconds from start to answer, reading and building included {}",
        limit(Settings::default().time_limit)
    )
}

fn max_epochs_help() -> String {
    format!("Most epochs; in one, as many blocks move as there are {}", limit(Settings::default().max_epochs))
}

fn max_updates_help() -> String {
    format!("Most pair updates {}", limit(Settings::default().max_updates))
}

fn method_help() -> String {
    let default = Settings::default().method;
    let all = Method::ALL.iter().map(|(name, method)| format!("`{name}`: {}", method.summary()));
    format!("{} [default: {default}]", all.collect::<Vec<_>>().join("; "))
}

fn schedule_help() -> String {
    let default = Settings::default().schedule;
    format!("With stochastic: how the steps shrink [default: {default}]")
}

fn step_size_help() -> String {
    format!("The paper's alpha, above 0 and below 2 [default: {}]", Settings::default().step_size)
}

fn batch_help() -> String {
    let default = Settings::default().batch;
    format!("With stochastic, svrg and saga: samples that a gradient is estimated from [default: {default}]")
}

fn seed_help() -> String {
    format!(
        "Seed of the random draws and of random topologies; one seed, one result [default: {}]",
        Settings::default().seed
    )
}

/// A number of bytes as typed.
fn bytes(text: &str) -> Result<u64, String> {
    parse_bytes(text).ok_or_else(|| format!("expected {BYTES}"))
}

fn memory_budget_help() -> String {
    let default = Settings::default().memory_budget >> 20;
    format!("Memory for factors and for batches of data, such as 64MiB [default: {default}MiB]")
}

fn threads_help() -> String {
    format!("Threads that work on the run [default: {}]", Settings::default().threads)
}

/// Also of `svm`.
pub(super) fn limit(default: Option<impl std::fmt::Display>) -> String {
    default.map_or_else(|| "[default: no limit]".into(), |limit| format!("[default: {limit}]"))
}
