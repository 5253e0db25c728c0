//! `--checkpoint`, `--every` and `--resume`, as typed: for commands whose runs may be long.

use std::path::PathBuf;

use clap::Args;

/// Seconds between two checkpoints, unless others are asked for.
const EVERY: f64 = 60.0;

/// Where a run is put aside, and how often.
#[derive(Debug, Default, Args)]
pub(crate) struct Checkpointing {
    /// Put the run aside in this file now and then, so that --resume can go on with it
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    #[arg(long, value_name = "S", requires = "checkpoint", allow_hyphen_values = true, help = every_help())]
    pub(crate) every: Option<f64>,
    /// Go on with the run in the file of --checkpoint, or begin one where there is none
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
}

impl Checkpointing {
    /// Seconds between two checkpoints.
    pub(crate) fn every(&self) -> f64 {
        self.every.unwrap_or(EVERY)
    }
}

fn every_help() -> String {
    format!("Seconds between two checkpoints, each at the end of a round [default: {EVERY}]")
}
