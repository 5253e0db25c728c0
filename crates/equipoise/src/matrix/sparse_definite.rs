//! Whether a sparse symmetric matrix has a Cholesky factor, under a control.
//!
//! - Given: the lower triangle of a matrix, and a control.
//! - Returns: whether all pivots are above 0; a halt where the control ended the wait for it.
//! - Must not know: what the answer is for.
//!
//! The factorisation itself cannot be told to stop, and fill may make it long. So where it may be long and
//! somebody may want to stop, it is left to a thread that owns the matrix, and only the wait is ended: the
//! thread goes on until it is done, and nobody hears of it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use faer::Side;
use faer::sparse::{SparseColMat, Triplet};

use crate::control::{Control, Pass};

/// Entries of the lower triangle up to which a factorisation takes a few milliseconds.
const SHORT: usize = 20_000;
/// Between two looks of whoever waits.
const LOOK: Duration = Duration::from_millis(5);

/// Whether the matrix with these entries on and below its diagonal has a Cholesky factor.
pub(super) fn has_factor(
    order: usize,
    triplets: &[Triplet<usize, usize, f64>],
    control: &Control,
) -> Pass<bool> {
    control.check()?;
    let Ok(sparse) = SparseColMat::<usize, f64>::try_new_from_triplets(order, order, triplets) else {
        return Ok(false);
    };
    let is_long = triplets.len() > SHORT;
    within(is_long, control, move || sparse.sp_cholesky(Side::Lower).is_ok())
}

/// What work that cannot be told to stop says, unless the control ends the wait for it.
fn within(is_long: bool, control: &Control, work: impl FnOnce() -> bool + Send + 'static) -> Pass<bool> {
    if !is_long || control.is_unlimited() {
        return Ok(work());
    }
    let (told, heard) = channel();
    let worker = std::thread::Builder::new().name("factorisation".into()).spawn(move || {
        // Whoever waited may have left.
        let _ = told.send(work());
    });
    let Ok(worker) = worker else {
        // No thread is to be had, and the work went with it: not known is not shown.
        return Ok(false);
    };
    loop {
        match heard.recv_timeout(LOOK) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => control.check()?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Ok(false),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::control::Halt;

    #[test]
    fn a_wait_ends_at_a_flag_and_short_work_is_done_at_once() {
        let flag = Arc::new(AtomicBool::new(false));
        let control = Control::on(Arc::clone(&flag));
        assert_eq!(within(true, &control, || true), Ok(true));
        // Work that ends only after the wait for it has.
        let (end, ended) = channel::<()>();
        let raise = Arc::clone(&flag);
        let waited = within(true, &control, move || {
            raise.store(true, Ordering::Relaxed);
            ended.recv().is_ok()
        });
        assert_eq!(waited, Err(Halt::Interrupted));
        drop(end);
        assert_eq!(within(false, &control, || true), Ok(true));
    }

    #[test]
    fn definite_and_indefinite_are_told_apart() {
        let order = 30_000;
        let mut triplets: Vec<_> = (0..order).map(|c| Triplet::new(c, c, 2.5)).collect();
        triplets.extend((1..order).map(|c| Triplet::new(c, c - 1, -1.0)));
        let control = Control::on(Arc::new(AtomicBool::new(false)));
        assert_eq!(has_factor(order, &triplets, &control), Ok(true));
        triplets[7] = Triplet::new(7, 7, 0.1);
        assert_eq!(has_factor(order, &triplets, &control), Ok(false));
    }
}
