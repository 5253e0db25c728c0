//! A training that is put aside, and goes on later as if nothing had happened.
//!
//! The decision functions that are finished are kept as they are; one that is under way is kept as the solver's snapshot.
//!
//! - Given: whoever keeps snapshots, and says when one is due.
//! - Returns: snapshots as lists of words.
//! - Must not know: files.

use std::sync::{Mutex, PoisonError};

use super::report::{ClassReport, Doubt};
use equipoise::solve::Archive;
use equipoise::{Error, Keeper, Result, Snapshot, Status};

/// Statuses by their place in a snapshot.
pub(super) const STATUSES: [Status; 6] = [
    Status::Converged,
    Status::IterationLimit,
    Status::TimeLimit,
    Status::Stalled,
    Status::Interrupted,
    Status::TargetReached,
];
/// The same of doubts, none first.
const DOUBTS: [Option<Doubt>; 6] = [
    None,
    Some(Doubt::Overflow),
    Some(Doubt::Rounding),
    Some(Doubt::Stopped),
    Some(Doubt::Untrained),
    Some(Doubt::NoMargin),
];

/// How far one decision function has come.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Progressed {
    Untouched,
    /// Its run, and what its start had cost.
    UnderWay {
        updates: u64,
        epochs: f64,
        snapshot: Snapshot,
    },
    Finished {
        weights: Vec<f64>,
        report: ClassReport,
    },
}

/// A training between two rounds; see [`Watch`](super::Watch).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct TrainSnapshot {
    pub(super) fits: Vec<Progressed>,
}

impl TrainSnapshot {
    /// Of so many decision functions, none of them begun.
    pub(super) fn new(fits: usize) -> Self {
        Self { fits: vec![Progressed::Untouched; fits] }
    }

    /// How many decision functions are finished.
    pub fn finished(&self) -> usize {
        self.fits.iter().filter(|fit| matches!(fit, Progressed::Finished { .. })).count()
    }

    /// How many there are.
    pub fn fits(&self) -> usize {
        self.fits.len()
    }

    /// Whether it is of so many decision functions over so many columns.
    pub(super) fn is_of(&self, fits: usize, columns: usize) -> bool {
        let fits_in = |fit: &Progressed| match fit {
            Progressed::Finished { weights, .. } => weights.len() == columns,
            _ => true,
        };
        self.fits.len() == fits && self.fits.iter().all(fits_in)
    }

    /// Updates so far, over all.
    pub fn updates(&self) -> u64 {
        let of = |fit: &Progressed| match fit {
            Progressed::Untouched => 0,
            Progressed::UnderWay { updates, snapshot, .. } => updates + snapshot.updates(),
            Progressed::Finished { report, .. } => report.updates,
        };
        self.fits.iter().map(of).sum()
    }

    /// Whether the training goes on with the bits that it would have had.
    pub fn is_exact(&self) -> bool {
        self.fits.iter().all(|fit| match fit {
            Progressed::UnderWay { snapshot, .. } => snapshot.is_exact(),
            _ => true,
        })
    }

    /// The snapshot as a list of words, for a file.
    pub fn to_words(&self) -> Vec<u64> {
        let mut archive = Archive::to_write();
        // To write does not fail.
        let _ = self.clone().carry(&mut archive);
        archive.into_words()
    }

    /// The snapshot that such a list is of.
    pub fn from_words(words: &[u64]) -> Result<Self> {
        let (mut archive, mut snapshot) = (Archive::to_read(words), Self::new(0));
        snapshot.carry(&mut archive)?;
        archive.end()?;
        Ok(snapshot)
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let length = archive.length(self.fits.len())?;
        self.fits.resize(length, Progressed::Untouched);
        self.fits.iter_mut().try_for_each(|fit| fit.carry(archive))
    }
}

impl Progressed {
    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut stage = match self {
            Self::Untouched => 0,
            Self::UnderWay { .. } => 1,
            Self::Finished { .. } => 2,
        };
        archive.count(&mut stage, 2)?;
        if archive.is_read() {
            *self = match stage {
                0 => Self::Untouched,
                1 => Self::under_way(archive)?,
                _ => Self::Finished { weights: Vec::new(), report: blank() },
            };
            if stage < 2 {
                return Ok(());
            }
        }
        match self {
            Self::Untouched => Ok(()),
            Self::UnderWay { updates, epochs, snapshot } => {
                archive.work(updates)?;
                archive.number(epochs)?;
                archive.words(&mut snapshot.to_words())
            }
            Self::Finished { weights, report } => {
                archive.list(weights, |_| true)?;
                carry_report(report, archive)
            }
        }
    }

    /// Reads a fit that is under way.
    fn under_way(archive: &mut Archive<'_>) -> Result<Self> {
        let (mut updates, mut epochs, mut words) = (0, 0.0, Vec::new());
        archive.work(&mut updates)?;
        archive.number(&mut epochs)?;
        archive.words(&mut words)?;
        Ok(Self::UnderWay { updates, epochs, snapshot: Snapshot::from_words(&words)? })
    }
}

fn blank() -> ClassReport {
    ClassReport {
        label: 0.0,
        status: Status::Stalled,
        primal: 0.0,
        dual: 0.0,
        relative_gap: 0.0,
        doubt: None,
        bias: 0.0,
        infeasibility: 0.0,
        support: 0,
        bounded_support: 0,
        updates: 0,
        epochs: 0.0,
    }
}

fn carry_report(report: &mut ClassReport, archive: &mut Archive<'_>) -> Result<()> {
    let unknown = || Error::BadSnapshot { what: "a status is unknown" };
    let place = |found: Option<usize>| found.ok_or_else(unknown);
    let mut status = place(STATUSES.iter().position(|status| *status == report.status))?;
    archive.count(&mut status, STATUSES.len() - 1)?;
    report.status = STATUSES[status];
    let mut doubt = place(DOUBTS.iter().position(|doubt| *doubt == report.doubt))?;
    archive.count(&mut doubt, DOUBTS.len() - 1)?;
    report.doubt = DOUBTS[doubt];
    [
        &mut report.label,
        &mut report.primal,
        &mut report.dual,
        &mut report.relative_gap,
        &mut report.bias,
        &mut report.infeasibility,
        &mut report.epochs,
    ]
    .into_iter()
    .try_for_each(|number| archive.number(number))?;
    archive.count(&mut report.support, usize::MAX)?;
    archive.count(&mut report.bounded_support, usize::MAX)?;
    archive.work(&mut report.updates)
}

/// Keeps snapshots of a training.
pub trait TrainKeeper {
    /// Whether a snapshot is wanted now; asked between two rounds.
    fn is_due(&mut self) -> bool;

    /// Takes it; also called whenever one of several decision functions is finished.
    fn keep(&mut self, snapshot: &TrainSnapshot);
}

/// The snapshot and its keeper, which fits, perhaps on several threads, take turns with.
pub(super) struct Kept<'k> {
    shared: Mutex<(TrainSnapshot, &'k mut (dyn TrainKeeper + Send))>,
}

impl<'k> Kept<'k> {
    pub(super) fn new(snapshot: TrainSnapshot, keeper: &'k mut (dyn TrainKeeper + Send)) -> Self {
        Self { shared: Mutex::new((snapshot, keeper)) }
    }

    /// Decision function k is finished.
    pub(super) fn finish(&self, k: usize, weights: &[f64], report: &ClassReport) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (snapshot, keeper) = &mut *shared;
        snapshot.fits[k] = Progressed::Finished { weights: weights.to_vec(), report: report.clone() };
        if snapshot.fits.len() > 1 {
            keeper.keep(snapshot);
        }
    }
}

/// Keeps the snapshots of decision function `fit`, whose start had cost so much.
pub(super) struct FitKeeper<'m, 'k> {
    pub(super) kept: &'m Kept<'k>,
    pub(super) fit: usize,
    pub(super) updates: u64,
    pub(super) epochs: f64,
}

impl Keeper for FitKeeper<'_, '_> {
    fn is_due(&mut self) -> bool {
        self.kept.shared.lock().unwrap_or_else(PoisonError::into_inner).1.is_due()
    }

    fn keep(&mut self, snapshot: Snapshot) {
        let mut shared = self.kept.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, keeper) = &mut *shared;
        all.fits[self.fit] = Progressed::UnderWay { updates: self.updates, epochs: self.epochs, snapshot };
        keeper.keep(all);
    }
}
