//! How long our own reader of LIBSVM text takes: the median of five readings of one file.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use equipoise::Control;
use equipoise_formats::libsvm::{ReadOptions, read_path};

const READINGS: usize = 5;

/// What to read.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// LIBSVM text.
    data: PathBuf,
    /// Threads that parse.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Prints the seconds and what was read, as one line of JSON.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut seconds = Vec::with_capacity(READINGS);
    let (mut rows, mut non_zeros) = (0, 0);
    for _ in 0..READINGS {
        let start = Instant::now();
        let read = read_path(
            &arguments.data,
            ReadOptions { threads: arguments.threads.max(1) },
            &Control::unlimited(),
        )?;
        seconds.push(start.elapsed().as_secs_f64());
        (rows, non_zeros) = (read.labels.len(), read.indices.len());
    }
    seconds.sort_by(f64::total_cmp);
    let seconds = seconds[READINGS / 2];
    println!("{}", serde_json::json!({"seconds": seconds, "rows": rows, "non_zeros": non_zeros}));
    Ok(())
}
