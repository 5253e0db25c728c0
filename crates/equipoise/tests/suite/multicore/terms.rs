//! Terms of the caller's own on several threads: with only what is required, and one that panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use super::{converged, levels, pairs, same_optimum};
use crate::adaptor::{AnyProblem, builder, composite};
use crate::samples::rows;
use equipoise::separable::SeparableTerm;
use equipoise::smooth::{Distance, PairTerm, SmoothTerm};
use equipoise::{BlockChoice, Coupling, Locking, Method, Settings, solve};

/// Pseudo-Huber distances between neighbours and to targets, by the four required methods alone: coordinates
/// interact, and no product is kept.
#[derive(Debug)]
struct Neighbours {
    target: Vec<f64>,
}

/// The length of the vector (1, r).
fn length(r: f64) -> f64 {
    1.0_f64.hypot(r)
}

impl PairTerm for Neighbours {
    fn dimension(&self) -> usize {
        self.target.len()
    }
    fn partial(&self, c: usize, x: &[f64], _product: &[f64]) -> f64 {
        let slope = |r: f64| r / length(r);
        let before = if c > 0 { slope(x[c] - x[c - 1]) } else { 0.0 };
        let after = if c + 1 < x.len() { slope(x[c] - x[c + 1]) } else { 0.0 };
        slope(x[c] - self.target[c]) + before + after
    }
    /// Second derivatives of a length are at most 1; three lengths hold the coordinate.
    fn curvature(&self, _c: usize) -> f64 {
        3.0
    }
}

impl SmoothTerm for Neighbours {
    fn value(&self, x: &[f64], _product: &[f64]) -> f64 {
        let own: f64 = x.iter().zip(&self.target).map(|(x, t)| length(x - t) - 1.0).sum();
        own + x.windows(2).map(|pair| length(pair[1] - pair[0]) - 1.0).sum::<f64>()
    }
}

/// The quantile norm `max(up z, -down z)`, by what is required.
#[derive(Debug)]
struct Quantile {
    up: f64,
    down: f64,
}

impl SeparableTerm for Quantile {
    fn value(&self, _c: usize, z: f64) -> f64 {
        (self.up * z).max(-self.down * z)
    }
    fn prox(&self, _c: usize, v: f64, d: f64) -> f64 {
        v - v.clamp(-self.down / d, self.up / d)
    }
    fn subdifferential(&self, _c: usize, z: f64) -> (f64, f64) {
        (if z > 0.0 { self.up } else { -self.down }, if z < 0.0 { -self.down } else { self.up })
    }
}

/// `-log z` on `z >= 1/8`, weighted: a domain of its own that steps must not leave.
#[derive(Debug)]
struct Barrier;

impl SeparableTerm for Barrier {
    fn value(&self, c: usize, z: f64) -> f64 {
        if z < self.domain(c).0 { f64::INFINITY } else { -z.ln() }
    }
    fn domain(&self, _c: usize) -> (f64, f64) {
        (0.125, f64::INFINITY)
    }
    fn prox(&self, c: usize, v: f64, d: f64) -> f64 {
        // d z^2 - d v z - 1 = 0.
        let root = if v >= 0.0 {
            0.5 * (v + v.hypot(2.0 / d.sqrt()))
        } else {
            2.0 / d / (v.hypot(2.0 / d.sqrt()) - v)
        };
        root.max(self.domain(c).0)
    }
    fn subdifferential(&self, c: usize, z: f64) -> (f64, f64) {
        (if z > self.domain(c).0 { -1.0 / z } else { f64::NEG_INFINITY }, -1.0 / z)
    }
}

fn targets(n: usize) -> Vec<f64> {
    (0..n).map(|c| (c * 7 % 11) as f64 - 4.0).collect()
}

const N: usize = 12;

/// With the optimum of one thread and every level of locking.
fn solved_alike(name: &str, problem: &AnyProblem) {
    let tolerance = 1e-5;
    let one = Settings { tolerance: 1e-7, ..pairs(1, Locking::None) };
    let known = converged(name, problem, &one).certificate.objective;
    for locking in levels() {
        for threads in [2, 8] {
            for method in [Method::Pairs, Method::Auto] {
                let settings = Settings { tolerance, method, ..pairs(threads, locking) };
                let name = format!("{name}, {threads} threads, {locking:?}, {method:?}");
                let solution = converged(&name, problem, &settings);
                // No duality gap: the KKT residual says less about the objective.
                same_optimum(&name, 10.0 * tolerance, known, solution.certificate.objective);
            }
        }
    }
}

#[test]
fn a_smooth_term_with_only_what_is_required() {
    let f = || Neighbours { target: targets(N) };
    let sum = Coupling::sum(3.0).expect("finite");
    solved_alike("own f, one row", &builder(f()).coupling(sum).build().expect("valid"));
    let blocks = builder(f()).coupling(rows(2, N)).blocks(BlockChoice::Size(3));
    solved_alike("own f, two rows", &blocks.build().expect("valid"));
}

#[test]
fn a_separable_term_with_only_what_is_required() {
    let quantile = || Quantile { up: 1.0, down: 0.25 };
    let f = || Distance::new(targets(N), 0.5).expect("finite");
    for (name, coupling) in [("one row", Coupling::sum(3.0).expect("finite")), ("two rows", rows(2, N))] {
        let builder = composite(f(), quantile()).coupling(coupling);
        solved_alike(&format!("own h, {name}"), &builder.build().expect("valid"));
    }
    let builder = composite(f(), Barrier).coupling(Coupling::sum(6.0).expect("finite"));
    solved_alike("own h with a domain", &builder.build().expect("feasible"));
}

#[test]
fn both_terms_with_only_what_is_required() {
    let builder = composite(Neighbours { target: targets(N) }, Quantile { up: 0.5, down: 0.25 });
    solved_alike(
        "own f and h",
        &builder.coupling(Coupling::sum(3.0).expect("finite")).build().expect("valid"),
    );
}

/// Panics once its patience is spent.
#[derive(Debug)]
struct Impatient {
    inner: Neighbours,
    left: Arc<AtomicI64>,
    /// Whose calls do not count.
    spared: Option<ThreadId>,
}

impl PairTerm for Impatient {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        if self.spared != Some(thread::current().id()) {
            assert!(self.left.fetch_sub(1, Ordering::Relaxed) > 0, "out of patience");
        }
        self.inner.partial(c, x, product)
    }
    fn curvature(&self, c: usize) -> f64 {
        self.inner.curvature(c)
    }
}

impl SmoothTerm for Impatient {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.inner.value(x, product)
    }
}

/// How a run on a term that panics ends: with words, or with `None` if the panic reaches the caller.
fn outcome(threads: usize, locking: Locking, patience: i64, spare_the_caller: bool) -> Option<String> {
    const HANGS: Duration = Duration::from_secs(30);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let spared = spare_the_caller.then(|| thread::current().id());
        let f = Impatient { inner: Neighbours { target: targets(60) }, left: Arc::clone(&left), spared };
        let coupling = Coupling::sum(3.0).expect("finite");
        let problem = builder(f).coupling(coupling).build().expect("valid");
        let settings = Settings { tolerance: 1e-300, ..pairs(threads, locking) };
        left.store(patience, Ordering::Relaxed);
        let ended = solve(&problem, &settings);
        // A receiver that has given up is no concern of the run.
        let _ = sender.send(ended.expect_err("a run on a term that panics").to_string());
    });
    match receiver.recv_timeout(HANGS) {
        Ok(words) => Some(words),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("hangs: {threads} threads, {locking:?}, {patience}"),
    }
}

#[test]
fn a_panic_on_a_thread_of_the_solver_is_an_error() {
    for threads in [2, 8] {
        for locking in levels() {
            for patience in [0, 200, 5000] {
                let name = format!("{threads} threads, {locking:?}, patience {patience}");
                let words = outcome(threads, locking, patience, true);
                let words = words.unwrap_or_else(|| panic!("{name}: it reaches the caller"));
                assert!(words.contains("panic"), "{name}: {words}");
            }
        }
    }
}

#[test]
fn a_panic_anywhere_ends_the_run() {
    // The certificate is computed for the caller: its panic may be the caller's.
    for threads in [1, 2, 8] {
        for locking in levels() {
            for patience in [0, 30, 200, 777, 5000] {
                let words = outcome(threads, locking, patience, false);
                assert!(words.as_ref().is_none_or(|words| words.contains("panic")), "{words:?}");
            }
        }
    }
}
