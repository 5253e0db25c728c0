//! A run that is put aside, and goes on later as if nothing had happened.
//!
//! A snapshot is taken between two rounds and holds every number that the rounds to come depend on: x and its product, what
//! the driver remembers, what the gear remembers (its random generators included). On one thread a run that goes on from it
//! makes the bits that the first would have made. Several threads depend on their timing: their run goes on from x alone,
//! and [`Snapshot::is_exact`] says so.
//!
//! - Given: whoever keeps snapshots, and says when one is due.
//! - Returns: snapshots as lists of words.
//! - Must not know: files.

use crate::archive::Archive;
use crate::error::{Error, Result};

/// What a list of words begins with: another layout has another number.
const LAYOUT: u64 = 1;

/// A run between two rounds; see [`Solver::resume`](crate::Solver::resume).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Snapshot {
    /// Whether the run goes on with the same bits.
    pub(crate) exact: bool,
    pub(crate) updates: u64,
    pub(crate) epochs: f64,
    pub(crate) seconds: f64,
    /// Whether a second gear is at work.
    pub(crate) handed_over: bool,
    pub(crate) x: Vec<f64>,
    /// Everything else; empty where x is all that counts.
    pub(crate) rest: Vec<u64>,
}

impl Snapshot {
    /// A snapshot with nothing in it.
    pub(crate) fn empty() -> Self {
        Self {
            exact: false,
            updates: 0,
            epochs: 0.0,
            seconds: 0.0,
            handed_over: false,
            x: Vec::new(),
            rest: Vec::new(),
        }
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
        let (mut archive, mut snapshot) = (Archive::to_read(words), Self::empty());
        snapshot.carry(&mut archive)?;
        archive.end()?;
        Ok(snapshot)
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut layout = LAYOUT;
        archive.word(&mut layout)?;
        if layout != LAYOUT {
            return Err(Error::BadSnapshot { what: "it is of another version" });
        }
        archive.flag(&mut self.exact)?;
        archive.work(&mut self.updates)?;
        archive.number(&mut self.epochs)?;
        archive.number(&mut self.seconds)?;
        archive.flag(&mut self.handed_over)?;
        archive.list(&mut self.x, |_| true)?;
        archive.words(&mut self.rest)
    }

    /// Whether the run goes on with the bits that it would have had. Otherwise it begins again at [`x`](Self::x).
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Epochs so far.
    pub fn epochs(&self) -> f64 {
        self.epochs
    }

    /// Seconds so far.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The iterate: in the domain of h, with A x = b.
    pub fn x(&self) -> &[f64] {
        &self.x
    }
}

/// Keeps snapshots of a run.
///
/// ```
/// use equipoise::{Coupling, Keeper, Problem, Settings, Snapshot, Solver, smooth::Distance};
///
/// /// Keeps the last one.
/// struct Last(Option<Snapshot>);
///
/// impl Keeper for Last {
///     fn is_due(&mut self) -> bool {
///         true
///     }
///     fn keep(&mut self, snapshot: Snapshot) {
///         self.0 = Some(snapshot);
///     }
/// }
///
/// let target: Vec<f64> = (0..50).map(f64::from).collect();
/// let problem = Problem::builder(Distance::new(target, 0.5)?).coupling(Coupling::sum(1.0)?).build()?;
/// let settings = Settings { method: equipoise::Method::Pairs, tolerance: 1e-10, ..Settings::default() };
/// let mut last = Last(None);
/// let whole = Solver::new(&problem, &settings).keeper(&mut last).run()?;
/// let snapshot = last.0.expect("rounds were made");
/// let rest = Solver::new(&problem, &settings).resume(&snapshot).run()?;
/// assert_eq!((rest.x, rest.updates), (whole.x, whole.updates));
/// # Ok::<(), equipoise::Error>(())
/// ```
pub trait Keeper {
    /// Whether a snapshot is wanted now; asked between two rounds.
    fn is_due(&mut self) -> bool;

    /// Takes it. The run goes on, whatever becomes of the snapshot.
    fn keep(&mut self, snapshot: Snapshot);
}
