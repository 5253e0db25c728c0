//! Ctrl-C: the first asks for an end, with the best iterate where there is one; the second ends the process at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use equipoise::Control;

/// Exit status of a process that SIGINT ended, by convention of shells.
pub(crate) const ENDED_BY_INTERRUPT: u8 = 130;

/// What the first Ctrl-C raises, and when the command began.
#[derive(Debug)]
pub(crate) struct Interrupt {
    pub(crate) control: Control,
    started: Instant,
}

impl Interrupt {
    /// The control of a command with this limit on its time, in seconds from its beginning: reading and building count. A
    /// limit that is no length of time is left to whoever checks the settings.
    pub(crate) fn within(&self, limit: Option<f64>) -> Control {
        let limit =
            limit.filter(|limit| *limit > 0.0).and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        let deadline = limit.and_then(|limit| self.started.checked_add(limit));
        deadline.into_iter().fold(self.control.clone(), Control::until)
    }

    /// What is left of a limit, at least a moment.
    pub(crate) fn left(&self, limit: Option<f64>) -> Option<f64> {
        /// What a limit may be at least, in seconds.
        const MOMENT: f64 = 1e-9;
        // What is no length of time stays what it is, for whoever checks it.
        limit.map(
            |most| if most > 0.0 { (most - self.started.elapsed().as_secs_f64()).max(MOMENT) } else { most },
        )
    }
}

/// Listens for Ctrl-C from now on. A process listens once, however many commands it runs, also side by side.
pub(crate) fn listen(started: Instant) -> anyhow::Result<Interrupt> {
    static FLAG: OnceLock<Result<Arc<AtomicBool>, String>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&flag);
        let end = move || {
            if shared.swap(true, Ordering::Relaxed) {
                process::exit(ENDED_BY_INTERRUPT.into());
            }
        };
        ctrlc::set_handler(end).map(|()| flag).map_err(|error| error.to_string())
    });
    let flag = flag.clone().map_err(|error| anyhow!("cannot listen for Ctrl-C: {error}"))?;
    flag.store(false, Ordering::Relaxed);
    Ok(Interrupt { control: Control::on(flag), started })
}
