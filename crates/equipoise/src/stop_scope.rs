//! A wish to stop that long computations of a thread look at between two parts of their work.
//!
//! ```text
//! go on while   flag = 0   and   now < deadline
//! ```
//!
//! - Given: a flag, a deadline, for as long as the scope lives. Methods of a term have no room for either, and a term may
//!   serve several runs at once: so both belong to the thread that works, not to what it works on.
//! - Returns: to the work, whether to go on; to whoever opened the scope, whether something was cut short in it.
//! - Must not know: what the work is, what a limit means to a run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

thread_local! {
    static WISH: RefCell<Wish> = RefCell::default();
}

#[derive(Debug, Clone, Default)]
struct Wish {
    flag: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
    /// Whether something ended early; the scope knows it, too.
    cut: Rc<Cell<bool>>,
}

/// While it lives, long computations of this thread end early once a flag is raised.
///
/// These are passes over samples that stay in their file ([`Streamed`](crate::smooth::Streamed)), which look at the flag
/// once a batch, and the search for equalised probabilities, once a round. A run begun in the
/// scope needs no other [`interrupt`](crate::Solver::interrupt), unless it works on threads of its own (one fit a class,
/// cross validation). What a term computes in a pass that ended early is NaN: look at the flag before using it.
///
/// Scopes of one thread must end in the reverse order in which they began.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
/// let flag = Arc::new(AtomicBool::new(false));
/// let _scope = equipoise::StopScope::new(Arc::clone(&flag));
/// // Build the problem and solve it; whoever raises the flag is soon answered.
/// ```
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct StopScope {
    before: Wish,
    cut: Rc<Cell<bool>>,
    /// Whether it tells the scope around it what was cut short.
    is_part: bool,
}

impl StopScope {
    /// Opens a scope with a flag.
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self::open(Some(flag), None)
    }

    /// With a flag and a deadline, or without; those of the scope around it do not count in it.
    pub(crate) fn open(flag: Option<Arc<AtomicBool>>, deadline: Option<Instant>) -> Self {
        let cut = Rc::new(Cell::new(false));
        let before = WISH.replace(Wish { flag, deadline, cut: Rc::clone(&cut) });
        Self { before, cut, is_part: false }
    }

    /// With what the scope around it has; what is cut short in it is so in that one, too.
    pub(crate) fn within() -> Self {
        let (flag, deadline) = WISH.with_borrow(|wish| (wish.flag.clone(), wish.deadline));
        let mut scope = Self::open(flag, deadline);
        scope.is_part = true;
        scope
    }

    /// The flag of the innermost scope.
    pub(crate) fn flag() -> Option<Arc<AtomicBool>> {
        WISH.with_borrow(|wish| wish.flag.clone())
    }

    /// Whether work should end; whoever ends it before it is done says so by [`cut_short`](Self::cut_short).
    pub(crate) fn is_over() -> bool {
        WISH.with_borrow(|wish| {
            wish.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
                || wish.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        })
    }

    /// Work in the innermost scope is not complete.
    pub(crate) fn cut_short() {
        WISH.with_borrow(|wish| wish.cut.set(true));
    }

    /// Whether something was cut short in the innermost scope.
    pub(crate) fn is_cut() -> bool {
        WISH.with_borrow(|wish| wish.cut.get())
    }

    /// Whether something was cut short in this scope, those within it not counted.
    pub(crate) fn was_cut(&self) -> bool {
        self.cut.get()
    }
}

impl Drop for StopScope {
    fn drop(&mut self) {
        if self.is_part && self.cut.get() {
            self.before.cut.set(true);
        }
        WISH.set(std::mem::take(&mut self.before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_nest_and_belong_to_their_thread() {
        let flag = Arc::new(AtomicBool::new(true));
        assert!(!StopScope::is_over());
        let outer = StopScope::new(Arc::clone(&flag));
        assert!(StopScope::is_over());
        assert!(!std::thread::spawn(StopScope::is_over).join().expect("no panic"));
        {
            let inner = StopScope::open(None, None);
            assert!(!StopScope::is_over());
            StopScope::cut_short();
            assert!(inner.was_cut());
        }
        assert!(StopScope::is_over() && !outer.was_cut());
        {
            let part = StopScope::within();
            assert!(StopScope::is_over() && !part.was_cut());
            StopScope::cut_short();
            assert!(part.was_cut() && !outer.was_cut());
        }
        assert!(StopScope::is_over() && outer.was_cut());
        flag.store(false, Ordering::Relaxed);
        assert!(!StopScope::is_over());
        let passed = StopScope::open(None, Some(Instant::now()));
        assert!(StopScope::is_over() && StopScope::flag().is_none());
        drop(passed);
        drop(outer);
        assert!(!StopScope::is_over() && StopScope::flag().is_none());
    }
}
