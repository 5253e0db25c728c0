//! How several threads share a run, as typed; of `solve` and of training.

use clap::Args;
use equipoise::{Locking, Settings};
use equipoise_theory::{Delayed, StepRule};

use super::by_name;

use crate::args::values;

/// Without effect on one thread.
#[derive(Debug, Default, Args)]
pub(crate) struct Multicore {
    #[arg(long, value_parser = by_name::<Locking>(), help = locking_help())]
    pub(crate) locking: Option<Locking>,
    #[arg(long, value_name = "D", value_parser = values::count::<u64>, help = delay_help())]
    pub(crate) delay_us: Option<u64>,
    #[arg(long, value_parser = by_name::<StepRule>(), help = step_rule_help())]
    pub(crate) step_rule: Option<StepRule>,
    /// With several threads: one seed and thread count, one result
    #[arg(long)]
    pub(crate) deterministic: bool,
}

impl Multicore {
    /// What only experiments ask for, checked.
    pub(crate) fn experiment(&self) -> equipoise::Result<Delayed> {
        Delayed::new(self.step_rule.unwrap_or_default(), self.delay_us.unwrap_or_default())
    }
}

fn locking_help() -> String {
    let default = Settings::default().locking;
    format!("With several threads: the blocks that a pair update locks [default: {default}]")
}

fn delay_help() -> String {
    let default = Delayed::default().delay_us();
    format!("With several threads: microseconds of artificial delay, twice an update [default: {default}]")
}

fn step_rule_help() -> String {
    let default = Delayed::default().rule();
    format!("With several threads: how steps allow for stale reads [default: {default}]")
}
