//! Conservation: many threads, many moves, and nothing is lost, made or driven out of its bounds.

use std::thread;

use super::*;

/// Moves of every thread; the number of all of them together is a promise of the documentation.
const MOVES: u64 = if cfg!(miri) { 40 } else { 200_000 };
const THREADS: u64 = if cfg!(miri) { 3 } else { 8 };

/// A small generator: tests must not depend on the one of the solver.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn unit(seed: &mut u64) -> f64 {
    (next(seed) >> 11) as f64 * (-53f64).exp2()
}

/// Runs `one(seed)` many times on many threads while a live checker looks at every number.
fn stress(x: &SharedNumbers, bounds: (f64, f64), moves: u64, one: impl Fn(&mut u64) + Sync) {
    let done = Quota::new(1);
    thread::scope(|scope| {
        let checker = scope.spawn(|| {
            let mut looks = 0_u64;
            while !done.is_stopped() || looks == 0 {
                for k in 0..x.len() {
                    let value = x.load(k);
                    assert!(bounds.0 <= value && value <= bounds.1, "number {k} was seen at {value}");
                }
                looks += 1;
                thread::yield_now();
            }
            looks
        });
        let workers: Vec<_> = (0..THREADS)
            .map(|t| {
                let one = &one;
                scope.spawn(move || {
                    let mut seed = 0x9e37_79b9_7f4a_7c15 ^ (t + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
                    (0..moves).for_each(|_| one(&mut seed));
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
        done.stop();
        assert!(checker.join().expect("bounds held") > 0);
    });
}

fn sum(x: &SharedNumbers) -> f64 {
    (0..x.len()).map(|k| x.load(k)).sum()
}

/// Whole numbers below 2^53 add exactly, so the sum must be exact.
fn transfers(n: usize, moves: u64) {
    let x = SharedNumbers::new(&vec![500.0; n]);
    let purse = SharedNumbers::new(&[0.0]);
    stress(&x, (0.0, 1000.0), moves, |seed| {
        let (i, j) = (next(seed) as usize % n, next(seed) as usize % n);
        let wanted = (next(seed) % 400) as f64 - 200.0;
        if i != j {
            // As a window does it, planned from what was seen: the two may have been moved meanwhile.
            let (bounds, seen, mut kept) = ((0.0, 1000.0), [x.load(i), x.load(j)], 0.0);
            let new = [(seen[0] + wanted).clamp(0.0, 1000.0), (seen[1] - wanted).clamp(0.0, 1000.0)];
            let down = x.shift_within(j, seen[1], new[1], bounds);
            let mut moved = [x.shift_within(i, seen[0], new[0], bounds), down];
            if moved[0] + moved[1] != 0.0 {
                let side = |index| Side { index, a: 1.0, bounds };
                balance(&x, [side(i), side(j)], &mut moved, &mut kept);
            }
            purse.add(0, -kept);
        }
    });
    assert_eq!(sum(&x) + purse.load(0), 500.0 * n as f64);
}

#[test]
fn transfers_conserve_the_sum_exactly_and_the_bounds_always() {
    transfers(10, MOVES);
}

/// 10^8 moves; on demand, since it takes some seconds.
#[test]
#[ignore = "10^8 moves: cargo xtask stress"]
fn a_hundred_million_transfers_conserve_the_sum_exactly() {
    transfers(64, 100_000_000 / THREADS);
}

fn through_escrow(n: usize, moves: u64) {
    let start = vec![0.5; n];
    let x = SharedNumbers::new(&start);
    let escrow = Escrow::new(&start, |_| (0.0, 1.0));
    stress(&x, (0.0, 1.0), moves, |seed| {
        // Four numbers of one row with coefficients 1, and a step that keeps their sum.
        let first = next(seed) as usize % n;
        let indices = [first, (first + 1) % n, (first + 2) % n, (first + 5) % n];
        let d = [unit(seed) - 0.5, unit(seed) - 0.5, unit(seed) - 0.5];
        let d = [d[0], d[1], d[2], -(d[0] + d[1] + d[2])];
        let mut moves = Vec::new();
        for (&index, d) in indices.iter().zip(d) {
            let seen = x.load(index);
            moves.push(Move { index, seen, new: seen + d, bounds: (0.0, 1.0) });
        }
        let t = escrow.make(&x, &moves, &mut Vec::new());
        assert!((0.0..=1.0).contains(&t));
    });
    assert!((sum(&x) - 0.5 * n as f64).abs() < 1e-9, "{}", sum(&x));
}

#[test]
fn escrow_conserves_rows_to_rounding_and_the_bounds_always() {
    through_escrow(16, MOVES / 4);
}

#[test]
#[ignore = "25 million moves of four numbers: cargo xtask stress"]
fn twenty_five_million_moves_of_four_through_escrow() {
    through_escrow(64, 25_000_000 / THREADS);
}

#[test]
fn locked_pairs_conserve_the_sum_exactly() {
    let (n, bounds) = (10, (0.0, 1000.0));
    let x = SharedNumbers::new(&vec![500.0; n]);
    let locks = Locks::new(n);
    stress(&x, bounds, MOVES, |seed| {
        let (i, j) = (next(seed) as usize % n, next(seed) as usize % n);
        let wanted = (next(seed) % 400) as f64 - 200.0;
        if i != j && locks.lock_pair(i, j) {
            let room = wanted.min(1000.0 - x.load(i)).min(x.load(j)).max(-x.load(i)).max(x.load(j) - 1000.0);
            x.store(i, x.load(i) + room);
            x.store(j, x.load(j) - room);
            locks.unlock_pair(i, j);
        }
    });
    assert_eq!(sum(&x), 500.0 * n as f64);
}

#[test]
fn atomic_sums_lose_nothing() {
    let x = SharedNumbers::new(&[0.0; 3]);
    let most = (THREADS * MOVES) as f64;
    stress(&x, (0.0, most), MOVES, |seed| x.add(next(seed) as usize % 3, 1.0));
    assert_eq!(sum(&x), most);
}

#[test]
fn a_gate_lets_nobody_through_early_and_a_closed_one_holds_nobody() {
    let (gate, x) = (Gate::new(4), SharedNumbers::new(&[0.0; 4]));
    let rounds = if cfg!(miri) { 5 } else { 1000 };
    thread::scope(|scope| {
        for t in 0..4 {
            let (gate, x) = (&gate, &x);
            scope.spawn(move || {
                for round in 1..=rounds {
                    x.store(t, f64::from(round));
                    assert!(gate.pass());
                    assert!((0..4).all(|k| x.load(k) == f64::from(round)));
                    assert!(gate.pass());
                }
            });
        }
    });
    thread::scope(|scope| {
        let waiting = scope.spawn(|| gate.pass());
        gate.close();
        assert!(!waiting.join().expect("no panic"));
    });
}

#[test]
fn closed_locks_hold_nobody() {
    let locks = Locks::new(2);
    assert!(locks.lock(0));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| locks.lock_pair(1, 0));
        locks.close();
        assert!(!waiting.join().expect("no panic"));
    });
    assert!(locks.try_lock(1), "a failed pair leaves no lock behind");
}

#[test]
fn what_fits_nowhere_stays_in_the_purse_until_there_is_room() {
    let side = |index: usize, a: f64| Side { index, a, bounds: (0.0, 1.0) };
    let (x, mut purse) = (SharedNumbers::new(&[1.0, 1.0]), 0.0);
    // The slave gave half a unit, and others filled both numbers before it could be placed.
    let mut moved = [0.0, -0.5];
    balance(&x, [side(0, 1.0), side(1, 2.0)], &mut moved, &mut purse);
    assert_eq!((x.load(0), x.load(1), moved, purse), (1.0, 1.0, [0.0, -0.5], -1.0));
    // A quarter of a unit of room at the slave, which counts twice, and all that is needed at the master.
    x.store(1, 0.75);
    x.store(0, 0.25);
    let mut moved = [0.0, 0.0];
    balance(&x, [side(0, 1.0), side(1, 2.0)], &mut moved, &mut purse);
    assert_eq!((x.load(0), x.load(1), moved, purse), (0.75, 1.0, [0.5, 0.25], 0.0));
}
