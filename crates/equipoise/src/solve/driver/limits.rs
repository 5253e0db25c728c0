//! Limits that bind inside the inner loops: updates, time, and the caller's wish to stop.

use std::time::Instant;

use crate::control::Control;
use crate::solve::{Settings, Status};

/// Seconds that the last certificate may take after an interrupt.
const PATIENCE: f64 = 0.02;
/// The same after a time limit, as a share of the time taken, and at most.
const SHARE_OF_TIME: f64 = 0.025;
const MOST_PATIENCE: f64 = 1.0;

/// What a run may spend.
#[derive(Debug)]
pub(crate) struct Limits {
    started: Instant,
    /// Seconds before that, of a run that goes on.
    earlier: f64,
    control: Control,
    pub(crate) most_updates: u64,
}

impl Limits {
    pub(crate) fn new(settings: &Settings, updates_per_epoch: f64, control: Control) -> Self {
        let by_epochs = settings.max_epochs.map(|epochs| ((epochs * updates_per_epoch).ceil() as u64).max(1));
        Self {
            started: Instant::now(),
            earlier: 0.0,
            control: settings.time_limit.into_iter().fold(control, Control::within),
            most_updates: settings.max_updates.unwrap_or(u64::MAX).min(by_epochs.unwrap_or(u64::MAX)),
        }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    /// The run goes on after so many seconds. Its limit counts from now.
    pub(crate) fn goes_on_after(&mut self, seconds: f64) {
        self.earlier = seconds;
    }

    /// Time and the caller's wish, for passes over data.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The same for what has to be done once the run has this status: it ends when patience does. A target that was
    /// reached has one certificate only, and it is worth waiting for.
    pub(crate) fn control_after(&self, status: Option<Status>) -> Control {
        match status {
            Some(Status::TargetReached) => Control::unlimited(),
            Some(Status::Interrupted) => self.control.afterwards(PATIENCE),
            Some(Status::TimeLimit) => {
                // Of this part of the run, which the limit is for.
                let taken = self.started.elapsed().as_secs_f64();
                let patience = (SHARE_OF_TIME * taken).clamp(PATIENCE, MOST_PATIENCE);
                self.control.afterwards(patience)
            }
            _ => self.control.clone(),
        }
    }

    /// Whether time is up or the caller wants to stop; cheap enough for inner loops.
    #[inline]
    pub(crate) fn stop(&self) -> Option<Status> {
        self.control.halted().and_then(|halt| Status::after(&halt))
    }

    /// The same, or so many updates are all there may be.
    #[inline]
    pub(crate) fn stop_after(&self, updates: u64) -> Option<Status> {
        if updates >= self.most_updates { Some(Status::IterationLimit) } else { self.stop() }
    }
}
