//! Threads that each do their part once, watched by the one that started them.
//!
//! Must not know: what the part is.

use std::any::Any;
use std::thread::{self, Thread};

use super::LOOK;
use crate::error::{Error, Result};

/// Looks at finished threads before the watcher sleeps again.
const LOOKS_BEFORE_SLEEP: u32 = 64;

/// Does something when the thread that holds it panics.
pub(super) struct Panic<A: Fn()>(A);

impl<A: Fn()> Panic<A> {
    pub(super) fn guard(action: A) -> Self {
        Self(action)
    }
}

impl<A: Fn()> Drop for Panic<A> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.0)();
        }
    }
}

/// Wakes the watcher when a thread ends, in whatever way.
struct Wake(Thread);

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// Runs `work(k, worker k)` for every worker, each on a thread; meanwhile `watch` is called about every millisecond.
///
/// When a thread cannot be started, `give_up` must make the others end.
pub(super) fn run<W: Send, T: Send>(
    workers: &mut [W],
    work: impl Fn(usize, &mut W) -> Result<T> + Sync,
    mut watch: impl FnMut(),
    give_up: impl Fn(),
) -> Result<Vec<T>> {
    let wanted = workers.len();
    thread::scope(|scope| {
        let (mut handles, mut refused) = (Vec::with_capacity(wanted), None);
        for (k, worker) in workers.iter_mut().enumerate() {
            let (work, wake) = (&work, Wake(thread::current()));
            let body = move || {
                let _wake = wake;
                work(k, worker)
            };
            match thread::Builder::new().name(format!("equipoise-{k}")).spawn_scoped(scope, body) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    refused = Some(Error::NoThread { number: k + 1, wanted, reason: error.to_string() });
                    give_up();
                    break;
                }
            }
        }
        // Whoever is told of the run may die: nobody then waits for the others to use up their work.
        let _ends_all = Panic::guard(&give_up);
        let finished = |handles: &[thread::ScopedJoinHandle<'_, _>]| {
            handles.iter().all(thread::ScopedJoinHandle::is_finished)
        };
        while !finished(&handles) {
            thread::park_timeout(LOOK);
            // A thread that has just woken us is finished in a moment.
            (0..LOOKS_BEFORE_SLEEP).take_while(|_| !finished(&handles)).for_each(|_| std::hint::spin_loop());
            watch();
        }
        let (mut results, mut failure) = (Vec::with_capacity(wanted), refused);
        for handle in handles {
            match handle.join() {
                Ok(Ok(result)) => results.push(result),
                Ok(Err(error)) => {
                    failure.get_or_insert(error);
                }
                Err(panic) => failure = Some(Error::WorkerPanicked { message: message(&*panic) }),
            }
        }
        failure.map_or(Ok(results), Err)
    })
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_failures_are_told() {
        let mut workers = [1, 2, 3];
        let squares = run(&mut workers, |k, w| Ok(k * 10 + *w), || {}, || {}).expect("no failure");
        assert_eq!(squares, [1, 12, 23]);
        let failed =
            run(&mut workers, |k, _| if k == 1 { Err(Error::EmptyProblem) } else { Ok(()) }, || {}, || {});
        assert!(matches!(failed, Err(Error::EmptyProblem)));
        let died = run(&mut workers, |k, _| if k == 2 { panic!("on purpose") } else { Ok(()) }, || {}, || {});
        assert!(died.expect_err("a panic").to_string().contains("panicked: on purpose"));
    }
}
