//! `equipoise portfolio`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equipoise_portfolio::{Missing, Settings};

use crate::args::{by_name, values};

const EXAMPLES: &str = "\
EXAMPLES
  equipoise portfolio prices.csv
  equipoise portfolio prices.csv --target-return 0.0005 --max-weight 0.2 --out weights.json
  equipoise portfolio prices.csv --sectors sectors.csv --sector-limits limits.csv --shrinkage auto
  equipoise portfolio prices.csv --current held.csv --max-turnover 0.3
  equipoise portfolio prices.csv --frontier 50 --frontier-csv frontier.csv --plot frontier.svg
  equipoise portfolio verify weights.json prices.csv --target-return 0.0005 --max-weight 0.2

Minimises the variance of the return of one period (a day, where rows are days), plus K sum |w -
held| with --turnover-penalty K. PRICES has one column an asset and one row a period, dates in its
first column or none; .gz, .bz2 and .xz are unpacked. Small tables: --limits asset,min,max;
--sectors asset,sector; --sector-limits sector,min,max; --current asset,weight. Empty cells there
are no limit of their own. Ctrl-C ends a run with the weights so far. A result appears whole or
not at all, and one that did not converge leaves a better one there alone.
Exit status: 0 converged, 1 finished without converging, 2 error.";

/// `equipoise portfolio`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct PortfolioArguments {
    #[command(subcommand)]
    pub(crate) command: Option<PortfolioCommand>,
    #[command(flatten)]
    pub(crate) solve: PortfolioSolveArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PortfolioCommand {
    /// Check weights, whoever found them, from raw data alone
    Verify(PortfolioVerifyArguments),
}

/// `equipoise portfolio PRICES`.
#[derive(Debug, Args)]
pub(crate) struct PortfolioSolveArguments {
    /// The table of prices (or returns, with --returns)
    #[arg(value_name = "PRICES", required = true)]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) market: MarketArguments,
    /// K portfolios from the least variance to the largest return, evenly spaced in return
    #[arg(long, value_name = "K", value_parser = values::count::<usize>, conflicts_with = "target_return")]
    pub(crate) frontier: Option<usize>,
    /// Write the points of the frontier to this CSV file
    #[arg(long, value_name = "FILE.csv", requires = "frontier")]
    pub(crate) frontier_csv: Option<PathBuf>,
    /// Write the JSON object of --json to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a result that did not converge also in place of a better one
    #[arg(long, requires = "out")]
    pub(crate) keep_partial: bool,
    /// Draw risk and return of assets and portfolios, and the weights
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
    /// Begin at the weights of this result
    #[arg(long, value_name = "RESULT", visible_alias = "warm-start")]
    pub(crate) start: Option<PathBuf>,
    /// Write a row to this CSV file in every round
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) history: Option<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  equipoise portfolio verify weights.json prices.csv --max-weight 0.2
  equipoise portfolio verify frontier.json prices.csv --gap 1e-9 --json

The problem is typed as it was when it was solved; of a frontier every point is checked, with its
own target.
Exit status: 0 met, 1 not met, 2 error.";

/// `equipoise portfolio verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct PortfolioVerifyArguments {
    /// What --out wrote, or any JSON object with `weights`: numbers by the names of the assets
    pub(crate) result: PathBuf,
    /// The table of prices (or returns, with --returns)
    #[arg(value_name = "PRICES")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) market: MarketArguments,
}

/// What is to be solved, and how far.
#[derive(Debug, Args)]
pub(crate) struct MarketArguments {
    /// The table holds returns
    #[arg(long)]
    pub(crate) returns: bool,
    /// What becomes of days on which a number is missing: `drop` leaves them out, and returns span them; `fill` carries the last
    /// price forward, and a missing return is 0; `refuse` makes them an error
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = by_name::<Missing>())]
    pub(crate) missing: Missing,
    /// Columns that are left out, whatever they hold
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// What the weights sum to
    #[arg(long, value_name = "B", default_value_t = 1.0, allow_hyphen_values = true)]
    pub(crate) budget: f64,
    /// The expected return of a period is at least this
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) target_return: Option<f64>,
    /// Weights may be negative
    #[arg(long)]
    pub(crate) long_short: bool,
    /// What every weight is at least [default: 0, or no limit with --long-short]
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub(crate) min_weight: Option<f64>,
    /// What every weight is at most [default: no limit]
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub(crate) max_weight: Option<f64>,
    /// Limits of single assets: a table asset,min,max
    #[arg(long, value_name = "FILE")]
    pub(crate) limits: Option<PathBuf>,
    /// Who is in which sector: a table asset,sector
    #[arg(long, value_name = "FILE", requires = "sector_limits")]
    pub(crate) sectors: Option<PathBuf>,
    /// Limits of sectors: a table sector,min,max
    #[arg(long, value_name = "FILE", requires = "sectors")]
    pub(crate) sector_limits: Option<PathBuf>,
    /// Weights that are held now: a table asset,weight; assets that are not named: 0
    #[arg(long, value_name = "FILE")]
    pub(crate) current: Option<PathBuf>,
    /// What a unit of turnover, sum |w - held|, costs, in the unit of the variance
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) turnover_penalty: Option<f64>,
    /// The most that the turnover may be
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) max_turnover: Option<f64>,
    /// Draw the covariance towards a multiple of the identity: a share from 0 to 1, or `auto` (Ledoit and Wolf)
    #[arg(long, value_name = "V|auto", allow_hyphen_values = true)]
    pub(crate) shrinkage: Option<String>,
    /// Rows of the table in a year, for annual figures
    #[arg(long, value_name = "N", default_value_t = 252.0)]
    pub(crate) periods_per_year: f64,
    #[arg(long, value_name = "T", allow_hyphen_values = true, help = gap_help())]
    pub(crate) gap: Option<f64>,
    #[arg(long, value_name = "N", value_parser = values::threads::<usize>, help = threads_help())]
    pub(crate) threads: Option<usize>,
    /// Most seconds from start to answer, reading included
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) time_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) print: PrintArguments,
}

/// What is printed.
#[derive(Debug, Args)]
pub(crate) struct PrintArguments {
    /// Print the result as one JSON object, and nothing else, on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but errors, that a run did not converge, and what --json asks for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn gap_help() -> String {
    format!(
        "Allowed gap between objective and bound, relative to the objective [default: {:e}]",
        Settings::default().gap
    )
}

fn threads_help() -> String {
    format!(
        "Threads that share the passes; they change no bit of the result [default: {}]",
        Settings::default().threads
    )
}
