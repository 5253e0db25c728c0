//! Placeholder
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
/// Which record to report on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    record: PathBuf,
}
/// x
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let _ = &arguments.record;
    Ok(())
}
