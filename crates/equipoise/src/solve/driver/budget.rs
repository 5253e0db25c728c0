//! Limits that bind inside the inner loops: updates, time, and the caller's wish to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::solve::{Settings, Status};
use crate::stop_scope::StopScope;

/// What a run may still spend.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    started: Instant,
    deadline: Option<Instant>,
    pub(crate) most_updates: u64,
    interrupt: Option<&'a AtomicBool>,
    /// The flag of the scope that the run was begun in.
    around: Option<Arc<AtomicBool>>,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(
        settings: &Settings,
        updates_per_epoch: f64,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let started = Instant::now();
        let by_epochs = settings.max_epochs.map(|epochs| ((epochs * updates_per_epoch).ceil() as u64).max(1));
        // A limit too long for the clock is no limit.
        let limit = settings.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self {
            started,
            deadline: limit.and_then(|limit| started.checked_add(limit)),
            most_updates: settings.max_updates.unwrap_or(u64::MAX).min(by_epochs.unwrap_or(u64::MAX)),
            interrupt,
            around: StopScope::flag(),
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// A scope that ends work when time is up or the flag of the scope around the run is raised.
    pub(crate) fn scope(&self) -> StopScope {
        StopScope::open(self.around.clone(), self.deadline)
    }

    /// Whether time is up or the caller wants to stop; cheap enough for inner loops.
    #[inline]
    pub(crate) fn stop(&self) -> Option<Status> {
        let flags = [self.interrupt, self.around.as_deref()];
        if flags.into_iter().flatten().any(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Status::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Some(Status::TimeLimit),
            _ => None,
        }
    }
}
