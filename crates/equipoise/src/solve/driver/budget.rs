//! Limits that bind inside the inner loops: updates, time, and the caller's wish to stop.

use std::time::Instant;

use crate::control::Control;
use crate::solve::{Settings, Status};

/// What a run may still spend.
#[derive(Debug)]
pub(crate) struct Budget {
    started: Instant,
    control: Control,
    pub(crate) most_updates: u64,
}

impl Budget {
    pub(crate) fn new(settings: &Settings, updates_per_epoch: f64, control: Control) -> Self {
        let by_epochs = settings.max_epochs.map(|epochs| ((epochs * updates_per_epoch).ceil() as u64).max(1));
        Self {
            started: Instant::now(),
            control: settings.time_limit.into_iter().fold(control, Control::within),
            most_updates: settings.max_updates.unwrap_or(u64::MAX).min(by_epochs.unwrap_or(u64::MAX)),
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Time and the caller's wish, for passes over data.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Whether time is up or the caller wants to stop; cheap enough for inner loops.
    #[inline]
    pub(crate) fn stop(&self) -> Option<Status> {
        self.control.halted().and_then(|halt| Status::after(&halt))
    }
}
