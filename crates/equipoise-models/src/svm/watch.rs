//! Who accompanies a training run, and how several fits share one observer.

use std::sync::{Mutex, PoisonError};

use super::snapshot::{TrainKeeper, TrainSnapshot};
use equipoise::solve::{Observer, Progress};
use equipoise::{Control, Experiment};

/// Who accompanies a training run.
#[derive(Default)]
pub struct Watch<'a> {
    /// Is told of every checkpoint of every fit, with its label first. Of a verdict, the objective is minus the dual, and
    /// the gap added to the dual is the primal.
    pub observer: Option<&'a mut (dyn Observer + Send)>,
    /// Changes what several threads do, for the sake of an experiment.
    pub experiment: Option<&'a dyn Experiment>,
    /// Ends the run.
    pub control: Control,
    /// Keeps snapshots, from which a training can go on another time; paths and cross-validations have none.
    pub keeper: Option<&'a mut (dyn TrainKeeper + Send)>,
    /// An earlier training on the same data with the same settings (limits on time aside), which is gone on with.
    pub resumed: Option<&'a TrainSnapshot>,
    /// Where decision functions begin: the multipliers of an earlier training on the same rows (`Trained::multipliers`), which
    /// win over those that go with the weights of a model. Multipliers beyond their bounds are put on them; lists of another
    /// length are left out.
    pub multipliers: Option<&'a [Option<Vec<f64>>]>,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The observer that fits, perhaps on several threads, take turns to tell.
pub(super) type Told<'o> = Mutex<&'o mut (dyn Observer + Send)>;

/// Tells the checkpoints of one decision function.
pub(super) struct Labelled<'m, 'o> {
    pub(super) observer: &'m Told<'o>,
    pub(super) label: f64,
}

impl Observer for Labelled<'_, '_> {
    fn checkpoint(&mut self, progress: &Progress) {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        observer.of_fit(self.label);
        observer.checkpoint(progress);
    }

    fn heartbeat(&mut self, update: u64, epoch: f64) {
        self.observer.lock().unwrap_or_else(PoisonError::into_inner).heartbeat(update, epoch);
    }
}
