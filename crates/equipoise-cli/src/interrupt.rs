//! Ctrl-C: the first asks for an end, with the best iterate where there is one; the second ends the process at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use equipoise::Control;

/// Exit status of a process that SIGINT ended, by convention of shells.
pub(crate) const ENDED_BY_INTERRUPT: u8 = 130;

/// What the first Ctrl-C raises.
#[derive(Debug)]
pub(crate) struct Interrupt {
    pub(crate) control: Control,
}

/// Listens for Ctrl-C from now on. A process listens once, however many commands it runs.
pub(crate) fn listen() -> anyhow::Result<Interrupt> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let is_new = FLAG.get().is_none();
    let flag = Arc::clone(FLAG.get_or_init(Arc::default));
    flag.store(false, Ordering::Relaxed);
    if is_new {
        let shared = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if shared.swap(true, Ordering::Relaxed) {
                process::exit(ENDED_BY_INTERRUPT.into());
            }
        })
        .context("cannot listen for Ctrl-C")?;
    }
    Ok(Interrupt { control: Control::on(flag) })
}
