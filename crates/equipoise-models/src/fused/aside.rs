//! Work that cannot be told to stop, done by a thread of its own while this one listens to the control.
//!
//! - Given: work that owns all it needs, its order, a [`Control`].
//! - Returns: what the work comes to; or a [`Halt`](equipoise::Halt), at once. The thread is then left behind: it ends with its
//!   work, and what it found is dropped.
//! - Must not know: what the work is.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use equipoise::{Control, Pass};

/// Order below which a factorisation is done before anybody would notice.
const SHORT: usize = 1000;
/// Between two looks at the control.
const LOOK: Duration = Duration::from_millis(10);

/// Does work of some order; aside where it is long and somebody may want it to end.
pub(super) fn aside<T: Send + 'static>(
    order: usize,
    control: &Control,
    work: impl FnOnce() -> T + Send + 'static,
) -> Pass<T> {
    control.check()?;
    if order < SHORT || control.is_unlimited() {
        return Ok(work());
    }
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || {
        // Nobody may be there any more.
        let _ = sender.send(work());
    });
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => control.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("the work ended without an answer");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use super::*;
    use equipoise::Halt;

    #[test]
    fn nobody_waits_for_work_that_is_no_longer_wanted() {
        let flag = Arc::new(AtomicBool::new(false));
        let control = Control::on(Arc::clone(&flag));
        assert_eq!(aside(SHORT, &control, || 7), Ok(7));
        assert_eq!(aside(1, &control, || 8), Ok(8));
        let (begun, begins) = channel();
        let (release, waits) = channel::<()>();
        let raise = Arc::clone(&flag);
        let watcher = std::thread::spawn(move || {
            begins.recv().expect("the work begins");
            raise.store(true, Ordering::Relaxed);
        });
        // The work ends only after it was given up.
        let found = aside(SHORT, &control, move || {
            begun.send(()).expect("somebody waits for it");
            waits.recv().is_ok()
        });
        assert_eq!(found, Err(Halt::Interrupted));
        watcher.join().expect("it works");
        let _ = release.send(());
        assert_eq!(aside(1, &control, || 9), Err(Halt::Interrupted));
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_is_passed_on() {
        let control = Control::unlimited().within(3600.0);
        let _ = aside(SHORT, &control, || panic!("a panic of the work"));
    }
}
