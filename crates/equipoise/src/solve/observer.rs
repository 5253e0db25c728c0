//! Watching a run without disturbing it.

use crate::certificate::Certificate;
use crate::solve::judge::Verdict;

/// Where a run stands at a checkpoint.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Pair updates so far.
    pub update: u64,
    /// Epochs so far.
    pub epoch: f64,
    /// Seconds so far.
    pub seconds: f64,
    /// What was found of the iterate.
    pub verdict: Verdict,
    /// Its certificate, unless a [judge](crate::Judge) stood in for it.
    pub certificate: Option<Certificate>,
}

/// Is told how a run goes.
pub trait Observer {
    /// Whose checkpoints follow, where a model makes several runs: the label of a decision function. Runs on several threads
    /// take turns, each with its label first.
    fn of_fit(&mut self, _label: f64) {}

    /// The iterate of the checkpoint that follows.
    fn iterate(&mut self, _x: &[f64]) {}

    /// At every checkpoint, the first before any update.
    fn checkpoint(&mut self, progress: &Progress);

    /// Now and then in between: updates and epochs so far.
    fn heartbeat(&mut self, _update: u64, _epoch: f64) {}
}

/// Keeps every checkpoint.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The checkpoints, oldest first.
    pub checkpoints: Vec<Progress>,
}

impl Observer for History {
    fn checkpoint(&mut self, progress: &Progress) {
        self.checkpoints.push(progress.clone());
    }
}
