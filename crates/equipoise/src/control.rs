//! Limits and the wish to stop, as a value that long work takes along and answers.
//!
//! ```text
//! go on while   no flag is raised   and   now < deadline
//! ```
//!
//! - Given: a flag that somebody may raise (Ctrl-C), a deadline; either may be missing.
//! - Returns: to work, whether to go on; from work, a [`Halt`] where it was ended before it was done. What was computed
//!   until then is not a result, and the type says so: a pass answers with a `Result`.
//! - Must not know: what the work is, what a limit means to a run.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::error::{Error, SampleFault};

/// Why work ended before it was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Halt {
    /// Somebody wanted it to stop.
    #[error("interrupted")]
    Interrupted,
    /// Time was up.
    #[error("time limit reached")]
    TimeLimit,
    /// Data could not be read again.
    #[error(transparent)]
    Fault(#[from] SampleFault),
    /// Ranks that work on one problem cannot go on together.
    #[error("rank {rank}: {what}")]
    Apart {
        /// The rank that is at fault, or differs from rank 0.
        rank: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl Halt {
    /// Whether nobody wished for it: data or ranks failed, and what was being done is an error.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Interrupted | Self::TimeLimit => false,
            Self::Fault(_) | Self::Apart { .. } => true,
        }
    }
}

impl From<Halt> for Error {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Interrupted => Self::StoppedEarly { by: "interrupted" },
            Halt::TimeLimit => Self::StoppedEarly { by: "time-limit" },
            Halt::Fault(SampleFault { row, reason }) => Self::UnusableSample { row, reason },
            Halt::Apart { rank, what } => Self::Rank { rank, what },
        }
    }
}

/// What a pass over data answers: done, or ended before it was.
pub type Pass<T = ()> = std::result::Result<T, Halt>;

/// Numbers that a pass reads between two looks: a fraction of a millisecond of work, many times what a look costs.
const NUMBERS_PER_LOOK: usize = 1 << 18;

/// A wish to stop that ranks have agreed upon: raised on all of them at the same place of the same program. Or that they cannot agree
/// upon anything any more, which comes before any wish.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agreed(Arc<Common>);

#[derive(Debug, Default)]
struct Common {
    wish: AtomicU8,
    apart: OnceLock<Halt>,
}

impl Agreed {
    const TIME_LIMIT: u8 = 1;
    const INTERRUPTED: u8 = 2;

    /// Raises it; a wish to stop stays before a limit.
    pub(crate) fn raise(&self, halt: &Halt) {
        if matches!(halt, Halt::Apart { .. }) {
            self.0.apart.get_or_init(|| halt.clone());
        }
        let wish = if *halt == Halt::TimeLimit { Self::TIME_LIMIT } else { Self::INTERRUPTED };
        self.0.wish.fetch_max(wish, Ordering::Relaxed);
    }

    fn halted(&self) -> Option<Halt> {
        match self.0.wish.load(Ordering::Relaxed) {
            _ if self.0.apart.get().is_some() => self.0.apart.get().cloned(),
            0 => None,
            Self::TIME_LIMIT => Some(Halt::TimeLimit),
            _ => Some(Halt::Interrupted),
        }
    }
}

/// A flag and a deadline; cheap to clone and to ask.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// use equipoise::{Control, Halt};
/// let flag = Arc::new(AtomicBool::new(false));
/// let control = Control::on(Arc::clone(&flag));
/// assert_eq!(control.check(), Ok(()));
/// flag.store(true, Ordering::Relaxed);
/// assert_eq!(control.check(), Err(Halt::Interrupted));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Control {
    flag: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
    /// Raised where nobody waits for what an ended run could still prove.
    forsaken: Option<Arc<AtomicBool>>,
    /// What ranks have agreed upon; nothing else counts then, neither this rank's clock nor a look within a pass, whose parts are
    /// of another length on other ranks.
    agreed: Option<Agreed>,
    /// Looks that are left, for tests of where work looks at all.
    #[cfg(test)]
    looks: Option<Arc<std::sync::atomic::AtomicUsize>>,
}

impl Control {
    /// Never ends anything.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Ends work soon after the flag is raised.
    pub fn on(flag: Arc<AtomicBool>) -> Self {
        Self { flag: Some(flag), ..Self::default() }
    }

    /// Ends work where ranks have agreed to.
    pub(crate) fn of_ranks(agreed: &Agreed) -> Self {
        Self { agreed: Some(agreed.clone()), ..Self::default() }
    }

    /// The same, and at a deadline, if that is before the one it has.
    #[must_use]
    pub fn until(mut self, deadline: Instant) -> Self {
        if self.agreed.is_some() {
            return self;
        }
        self.deadline = Some(self.deadline.map_or(deadline, |own| own.min(deadline)));
        self
    }

    /// The same, and after so many seconds from now; more than a clock can count are no limit.
    #[must_use]
    pub fn within(self, seconds: f64) -> Self {
        let limit = Duration::try_from_secs_f64(seconds.max(0.0)).ok();
        match limit.and_then(|limit| Instant::now().checked_add(limit)) {
            Some(deadline) => self.until(deadline),
            None => self,
        }
    }

    /// The same, and a second flag for those who drop the result of a run that they ended: once it is raised, nobody waits
    /// for a last proof either.
    #[must_use]
    pub fn forsaken_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.forsaken = Some(flag);
        self
    }

    /// The control of what is left to be done once work was ended: it takes so many seconds at most, and none where nobody
    /// waits for it.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::AtomicBool};
    /// use equipoise::{Control, Halt};
    /// let ended = Control::on(Arc::new(AtomicBool::new(true)));
    /// assert_eq!(ended.afterwards(10.0).check(), Ok(()));
    /// let dropped = ended.forsaken_by(Arc::new(AtomicBool::new(true)));
    /// assert_eq!(dropped.afterwards(10.0).check(), Err(Halt::Interrupted));
    /// ```
    #[must_use]
    pub fn afterwards(&self, seconds: f64) -> Self {
        if self.agreed.is_some() {
            // Each rank has a clock of its own: what is left is done to its end.
            return Self::unlimited();
        }
        Self { flag: self.forsaken.clone(), ..Self::default() }.within(seconds)
    }

    /// Ends work at the look after so many.
    #[cfg(test)]
    pub(crate) fn after_looks(looks: usize) -> Self {
        Self { looks: Some(Arc::new(looks.into())), ..Self::default() }
    }

    /// Whether it never ends anything.
    pub fn is_unlimited(&self) -> bool {
        self.flag.is_none() && self.deadline.is_none() && self.agreed.is_none()
    }

    /// Why work should end, if it should.
    #[inline]
    pub fn halted(&self) -> Option<Halt> {
        #[cfg(test)]
        if let Some(looks) = &self.looks
            && looks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            return Some(Halt::Interrupted);
        }
        if let Some(agreed) = &self.agreed {
            return agreed.halted();
        }
        if self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Halt::Interrupted);
        }
        self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Halt::TimeLimit)
    }

    /// The same as a result, for `?`.
    #[inline]
    pub fn check(&self) -> Pass {
        self.halted().map_or(Ok(()), Err)
    }

    /// A pass over `0..count`, each of about so many numbers, in parts, with a look between two of them. What fits into
    /// one part is done without any.
    ///
    /// ```
    /// use equipoise::Control;
    /// let (columns, mut sum) = (vec![[1.0; 1000]; 1000], 0.0);
    /// Control::unlimited().in_parts(columns.len(), 1000, |part| {
    ///     sum += columns[part].iter().flatten().sum::<f64>();
    /// })?;
    /// assert_eq!(sum, 1e6);
    /// # Ok::<(), equipoise::Halt>(())
    /// ```
    #[inline]
    pub fn in_parts(&self, count: usize, each: usize, mut work: impl FnMut(Range<usize>)) -> Pass {
        let (step, mut done) = ((NUMBERS_PER_LOOK / each.max(1)).max(1), 0);
        while done < count {
            let end = count.min(done.saturating_add(step));
            work(done..end);
            done = end;
            if done < count && self.agreed.is_none() {
                self.check()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_and_the_earlier_deadline_end_work() {
        assert_eq!(Control::unlimited().check(), Ok(()));
        assert!(Control::unlimited().is_unlimited() && !Control::unlimited().within(1.0).is_unlimited());
        let flag = Arc::new(AtomicBool::new(false));
        let control = Control::on(Arc::clone(&flag)).within(1e300).within(3600.0);
        assert_eq!(control.check(), Ok(()));
        assert_eq!(control.clone().within(0.0).check(), Err(Halt::TimeLimit));
        assert_eq!(control.clone().within(0.0).within(10.0).check(), Err(Halt::TimeLimit));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(control.within(0.0).check(), Err(Halt::Interrupted));
    }

    #[test]
    fn a_pass_is_cut_between_two_parts_and_never_after_the_last() {
        let flag = Arc::new(AtomicBool::new(false));
        let control = Control::on(Arc::clone(&flag));
        let mut parts = Vec::new();
        let cut = control.in_parts(1000, 1000, |part| {
            flag.store(part.start > 0, Ordering::Relaxed);
            parts.push(part);
        });
        assert_eq!((cut, parts), (Err(Halt::Interrupted), vec![0..262, 262..524]));
        let mut seen = 0;
        assert_eq!(control.in_parts(100, 1, |part| seen += part.len()), Ok(()));
        assert_eq!(control.in_parts(0, 0, |_| seen = 0), Ok(()));
        assert_eq!(seen, 100);
    }
}
