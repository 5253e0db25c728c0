//! Models of the protocols: every order in which threads can meet, and every value that a relaxed load may see, up to
//! a bound on preemptions. Run by `cargo xtask loom`.

use loom::sync::Arc;
use loom::thread;

use super::*;

/// Explores `model` with at most three preemptions of a thread.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Runs both on threads of their own, and the third here.
fn together(one: impl FnOnce() + 'static, two: impl FnOnce() + 'static, here: impl FnOnce()) {
    let (one, two) = (thread::spawn(one), thread::spawn(two));
    here();
    one.join().expect("no panic");
    two.join().expect("no panic");
}

#[test]
fn atomic_adds_lose_nothing() {
    explore(|| {
        let x = Arc::new(SharedNumbers::new(&[1.0]));
        let (a, b) = (Arc::clone(&x), Arc::clone(&x));
        together(move || a.add(0, 2.0), move || b.shift(0, 1.0, 5.0), || ());
        assert_eq!(x.load(0), 7.0);
    });
}

/// The protocol of two scalars on a row, as a window follows it: up at `master`, down at `slave`.
fn transfer(x: &SharedNumbers, purse: &SharedNumbers, slave: usize, master: usize, wanted: f64) {
    let bounds = (0.0, 2.0);
    let (seen, mut kept) = ([x.load(master), x.load(slave)], 0.0);
    let new = [(seen[0] + wanted).min(2.0), (seen[1] - wanted).max(0.0)];
    let down = x.shift_within(slave, seen[1], new[1], bounds);
    let mut moved = [x.shift_within(master, seen[0], new[0], bounds), down];
    if moved[0] + moved[1] != 0.0 {
        let side = |index| Side { index, a: 1.0, bounds };
        balance(x, [side(master), side(slave)], &mut moved, &mut kept);
    }
    if kept != 0.0 {
        purse.add(0, -kept);
    }
}

#[test]
fn transfers_conserve_the_sum_and_never_leave_the_bounds() {
    explore(|| {
        let x = Arc::new(SharedNumbers::new(&[1.0, 1.0]));
        let purse = Arc::new(SharedNumbers::new(&[0.0]));
        let ((a, p), (b, q)) = ((Arc::clone(&x), Arc::clone(&purse)), (Arc::clone(&x), Arc::clone(&purse)));
        together(
            move || transfer(&a, &p, 0, 1, 1.0),
            move || transfer(&b, &q, 1, 0, 2.0),
            || assert!((0..2).all(|k| (0.0..=2.0).contains(&x.load(k)))),
        );
        assert_eq!(x.load(0) + x.load(1) + purse.load(0), 2.0);
        assert!((0..2).all(|k| (0.0..=2.0).contains(&x.load(k))));
    });
}

/// Reserve, move, deposit. No clamping may be needed: the numbers here are exact, so the stores alone must hold x.
#[test]
fn escrow_conserves_the_sum_and_never_leaves_the_bounds() {
    explore(|| {
        let start = [1.0, 1.0];
        let (x, escrow) =
            (Arc::new(SharedNumbers::new(&start)), Arc::new(Escrow::new(&start, |_| (0.0, 2.0))));
        let ((a, e), (b, g)) = ((Arc::clone(&x), Arc::clone(&escrow)), (Arc::clone(&x), Arc::clone(&escrow)));
        // Bounds far away: what a store lets through is not cut off behind it.
        let far = (-9.0, 9.0);
        let exchange = move |x: &SharedNumbers, escrow: &Escrow, up: usize, down: usize| {
            let moves = [
                Move { index: down, seen: 1.0, new: -1.0, bounds: far },
                Move { index: up, seen: 1.0, new: 3.0, bounds: far },
            ];
            escrow.make(x, &moves, &mut Vec::new());
        };
        together(
            move || exchange(&a, &e, 0, 1),
            move || exchange(&b, &g, 1, 0),
            || assert!((0..2).all(|k| (0.0..=2.0).contains(&x.load(k)))),
        );
        assert_eq!(x.load(0) + x.load(1), 2.0);
        assert!((0..2).all(|k| (0.0..=2.0).contains(&x.load(k))));
    });
}

/// Who moves with room that another's move made must see that move, or would be cut at a bound that is no longer
/// there. Both numbers start at a bound, so the second mover has no room but what the first one deposits; it asks for
/// twice that, so its share is a half or nothing.
#[test]
fn escrow_shows_the_moves_behind_what_is_taken() {
    explore(|| {
        let (start, bounds) = ([0.0, 1.0], (0.0, 1.0));
        let (x, escrow) = (Arc::new(SharedNumbers::new(&start)), Arc::new(Escrow::new(&start, |_| bounds)));
        let ((a, e), (b, g)) = ((Arc::clone(&x), Arc::clone(&escrow)), (Arc::clone(&x), Arc::clone(&escrow)));
        let exchange = move |x: &SharedNumbers, escrow: &Escrow, up: usize, down: usize, size: f64| {
            let moves = [
                Move { index: up, seen: 0.0, new: size, bounds },
                Move { index: down, seen: 1.0, new: 1.0 - size, bounds },
            ];
            escrow.make(x, &moves, &mut Vec::new())
        };
        let first = thread::spawn(move || assert_eq!(exchange(&a, &e, 0, 1, 1.0), 1.0));
        let second = thread::spawn(move || exchange(&b, &g, 1, 0, 2.0));
        first.join().expect("no panic");
        let t = second.join().expect("no panic");
        assert_eq!((x.load(0), x.load(1)), if t == 0.5 { (0.0, 1.0) } else { (1.0, 0.0) }, "share {t}");
    });
}

#[test]
fn pairs_of_locks_exclude_each_other_and_never_deadlock() {
    explore(|| {
        let (x, locks) = (Arc::new(SharedNumbers::new(&[0.0, 0.0])), Arc::new(Locks::new(2)));
        let add = |x: &SharedNumbers, locks: &Locks, i: usize, j: usize| {
            if locks.try_lock_pair(i, j) || locks.lock_pair(i, j) {
                // Plain reads and writes: without exclusion, or without its memory order, one would be lost.
                x.store(i, x.load(i) + 1.0);
                x.store(j, x.load(j) + 1.0);
                locks.unlock_pair(i, j);
            }
        };
        let ((a, l), (b, m)) = ((Arc::clone(&x), Arc::clone(&locks)), (Arc::clone(&x), Arc::clone(&locks)));
        together(move || add(&a, &l, 0, 1), move || add(&b, &m, 1, 0), || ());
        assert_eq!((x.load(0), x.load(1)), (2.0, 2.0));
    });
}

#[test]
fn a_gate_shows_all_what_each_did_before() {
    explore(|| {
        let (x, gate) = (Arc::new(SharedNumbers::new(&[0.0, 0.0])), Arc::new(Gate::new(2)));
        let (a, g) = (Arc::clone(&x), Arc::clone(&gate));
        let other = thread::spawn(move || {
            a.store(0, 1.0);
            assert!(g.pass());
            assert_eq!(a.load(1), 2.0);
        });
        x.store(1, 2.0);
        assert!(gate.pass());
        assert_eq!(x.load(0), 1.0);
        other.join().expect("no panic");
    });
}

#[test]
fn a_quota_is_handed_out_once() {
    explore(|| {
        let (quota, claimed) = (Arc::new(Quota::new(3)), Arc::new(SharedNumbers::new(&[0.0])));
        let ((a, c), (b, d)) =
            ((Arc::clone(&quota), Arc::clone(&claimed)), (Arc::clone(&quota), Arc::clone(&claimed)));
        together(move || c.add(0, a.claim(2) as f64), move || d.add(0, b.claim(2) as f64), || ());
        assert_eq!(claimed.load(0), 3.0);
    });
}
