//! Ctrl-C: the first asks the solver to stop with its best iterate, the second ends the process at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// Exit status of a process that SIGINT ended, by convention of shells.
const ENDED_BY_INTERRUPT: i32 = 130;

/// The flag that becomes true at the first Ctrl-C. To be called once, right before the run: until then the
/// system's own handling ends the process.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if shared.swap(true, Ordering::Relaxed) {
            process::exit(ENDED_BY_INTERRUPT);
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}
