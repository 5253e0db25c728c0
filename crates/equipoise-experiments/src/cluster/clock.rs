//! Seconds that a thread had a processor: what it waited, for others or for a processor, is no part of them.
//!
//! So the seconds of four ranks that share two processors with other work are those that each would take on one of its own. Where a system
//! does not tell, seconds on the wall stand in.
//!
//! Must not know: what is measured.

/// Seconds of a processor that this thread has taken so far.
#[cfg(unix)]
pub(crate) fn of_thread() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// Seconds since the first call.
#[cfg(not(unix))]
pub(crate) fn of_thread() -> f64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
