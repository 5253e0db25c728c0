//! How several threads share a run, as typed; of `solve` and of training.

use clap::Args;
use clap::builder::PossibleValuesParser;
use equipoise::{Locking, Settings, StepRule};

use crate::settings::{name_of, names};

/// Without effect on one thread.
#[derive(Debug, Default, Args)]
pub(crate) struct Multicore {
    #[arg(long, value_parser = PossibleValuesParser::new(names(Locking::ALL)), help = locking_help())]
    pub(crate) locking: Option<String>,
    #[arg(long, value_name = "D", help = delay_help())]
    pub(crate) delay_us: Option<u64>,
    #[arg(long, value_parser = PossibleValuesParser::new(names(StepRule::ALL)), help = step_rule_help())]
    pub(crate) step_rule: Option<String>,
    /// With several threads: one seed and thread count, one result
    #[arg(long)]
    pub(crate) deterministic: bool,
}

fn locking_help() -> String {
    let default = name_of(&Locking::ALL, Settings::default().locking);
    format!("With several threads: the blocks that a pair update locks [default: {default}]")
}

fn delay_help() -> String {
    let default = Settings::default().delay_us;
    format!("With several threads: microseconds of artificial delay, twice an update [default: {default}]")
}

fn step_rule_help() -> String {
    let default = name_of(&StepRule::ALL, Settings::default().step_rule);
    format!("With several threads: how steps allow for stale reads [default: {default}]")
}
