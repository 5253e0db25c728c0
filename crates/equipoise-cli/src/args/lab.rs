//! `equipoise lab`, `equipoise report` and `equipoise demo`, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values;

const LAB_EXAMPLES: &str = "\
EXAMPLES
  equipoise lab all                              all figures, smaller where threads are timed
  equipoise lab topologies --seeds 10            Figure 1 in full size
  equipoise lab concurrency --scale paper --threads 1,2,4,8,15
  equipoise lab svm --data data --out runs/svm   Figure 3 on a7a and w8a, files in the folder data

EXPERIMENTS
  topologies   Figure 1: the graph decides how fast pairs converge; bounds beside the curves
  concurrency  Figure 2: threads, locks and delays; speed-up and time
  svm          Figure 3 and Table 2: support vector machines by pairs and by our methods; LIBSVM
               and LIBLINEAR where svm-train and liblinear-train are installed
  theory       the theorems beside runs, steps under delay, spectra of graphs
  methods      plain, accelerated, stochastic, SVRG, SAGA and auto on shared problems
  cluster      ranks and nodes on more machines than there are here, by a model that is checked
               first: 10^9 rows on up to 1024 ranks, pairs on graphs of 10,000 nodes
  all          all of these

DIR receives index.html (a page that needs no network), figures/*.svg and *.png, claims.json, and
a CSV and a JSON file for every cell (experiment, settings, seed). Cells that are there already
are not run again: typed again after Ctrl-C or a crash, the same command goes on. --scale paper
takes the sizes of the paper: hours, and 4 GB for concurrency.
Exit status: 0 done, 2 error, 130 interrupted.";

/// Which experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabExperiment {
    Topologies,
    Concurrency,
    Svm,
    Theory,
    Methods,
    Cluster,
    All,
}

/// How large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabScale {
    Quick,
    Paper,
}

/// `equipoise lab`.
#[derive(Debug, Args)]
#[command(after_help = LAB_EXAMPLES)]
pub(crate) struct LabArguments {
    /// What to run
    #[arg(value_enum, hide_possible_values = true, value_name = "EXPERIMENT")]
    pub(crate) experiment: LabExperiment,
    /// Minutes on two cores, or the sizes of the paper
    #[arg(long, value_enum, default_value = "quick")]
    pub(crate) scale: LabScale,
    /// Thread counts, such as 1,2,4; `auto` is one a processor [default: 1 to the number of cores]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::threads::<usize>)]
    pub(crate) threads: Option<Vec<usize>>,
    /// Seeds of every experiment [default: 3, or 10 with --scale paper]
    #[arg(long, value_name = "K", value_parser = values::count::<u64>)]
    pub(crate) seeds: Option<u64>,
    /// Folder of the records and the page
    #[arg(long, value_name = "DIR", default_value = "equipoise-lab")]
    pub(crate) out: PathBuf,
    /// Folder with a7a and w8a as LIBSVM text; without it generated look-alikes stand in
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const REPORT_EXAMPLES: &str = "\
EXAMPLES
  equipoise solve problem.toml --history run.csv
  equipoise report run.csv                              equipoise-report.html
  equipoise report pairs.csv auto.csv --out both.html   two runs side by side
  equipoise svm path data --costs 0.1,1,10 --json > path.json
  equipoise report path.json --out path.html

FILE is a history (--history of any command), or the JSON that svm path, svm cv, lasso path, lasso
cv, fused path, portfolio --frontier or lab wrote; plain or packed by gzip, bzip2, xz, zstd; `-`
is stdin, and --out - is stdout. The page needs no network; hover for values, click names to hide
series.";

/// `equipoise report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArguments {
    /// What to show
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The page
    #[arg(long, value_name = "FILE.html", default_value = "equipoise-report.html")]
    pub(crate) out: PathBuf,
    /// The title of the page
    #[arg(long, value_name = "WORDS")]
    pub(crate) title: Option<String>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const DEMO_EXAMPLES: &str = "\
EXAMPLES
  equipoise demo                     a race, and equipoise-demo.html
  equipoise demo --out race.html     the page elsewhere

The problem is made in memory: a lasso whose 2000 coefficients sum to zero. Random pairs as in the
paper and the default method solve it to the same proven accuracy; the first is given three
seconds.
Exit status: 0, or 1 where the default was interrupted.";

/// `equipoise demo`.
#[derive(Debug, Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub(crate) struct DemoArguments {
    /// The page
    #[arg(long, value_name = "FILE.html", default_value = "equipoise-demo.html")]
    pub(crate) out: PathBuf,
}
