//! How often one thread looks at the clock while it makes updates.

use std::time::{Duration, Instant};

use crate::solve::Status;
use crate::solve::driver::limits::Limits;

/// Most updates between two looks at the clock and the interrupt flag.
const MOST_UPDATES_PER_LOOK: u64 = 4096;
/// Seconds between two looks that are aimed at. They change how often the clock is read, not what is computed.
const SECONDS_PER_LOOK: f64 = 2e-3;

/// How many updates one thread makes between two looks at the clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    updates_per_look: u64,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { updates_per_look: 1 }
    }

    /// Updates until the next look.
    pub(crate) fn updates(self) -> u64 {
        self.updates_per_look
    }

    /// Takes note of how long the updates of a look took.
    pub(crate) fn adapt(&mut self, taken: Duration) {
        let taken = taken.as_secs_f64();
        let scale = if taken < 0.5 * SECONDS_PER_LOOK { 2.0 } else { SECONDS_PER_LOOK / taken };
        self.updates_per_look =
            ((self.updates_per_look as f64 * scale.min(2.0)) as u64).clamp(1, MOST_UPDATES_PER_LOOK);
    }

    /// Makes `count` updates by `update`, looking at the limits now and then; returns how many were made, and why they
    /// were ended if they were.
    pub(crate) fn run<E>(
        &mut self,
        count: u64,
        limits: &Limits,
        mut update: impl FnMut() -> Result<(), E>,
        mut heartbeat: impl FnMut(u64),
    ) -> Result<(u64, Option<Status>), E> {
        let mut made = 0;
        while made < count {
            let (begun, look) = (Instant::now(), (made + self.updates_per_look).min(count));
            while made < look {
                update()?;
                made += 1;
            }
            if let Some(status) = limits.stop() {
                return Ok((made, Some(status)));
            }
            self.adapt(begun.elapsed());
            heartbeat(made);
        }
        Ok((made, None))
    }
}
