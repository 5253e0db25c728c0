//! Algorithm 2 and its variance-reduced kin: pairs of blocks moved along the gradient of a few samples.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to A x = b` with `f(x) = sum_l w_l phi(a_l'x, y_l) + rest(x)`.
//! # Requires
//! A smooth term with [`finite_sum`](SmoothTerm::finite_sum); everything else as in `sequential.rs`.
//! # Per-draw cost
//! One inner product with the row of each sample drawn, and a pair step for each pair that it moves.
//! # Guarantees
//! Every iterate is feasible and in the domain; the same seed gives the same bits; `Converged` is said only when the
//! independent certificate says so. With `svrg` and `saga` the objective never rises from one round to the next. Passes
//! over a stream end soon after a limit or an interrupt; where that leaves no time to certify the last iterate, the
//! result is the last one that was certified.
//! # Parts
//! `feed.rs` hands out the samples, `law.rs` draws from them, `scale.rs` measures them, `estimate.rs` is the gradient
//! that stands in for that of f, `engine.rs` moves pairs by it; `reduced.rs` and `plain.rs` are the two loops, `rounds.rs` the length of the
//! rounds of the first,
//! `averages.rs` what the second reports beside its last iterate.
//! # Reference
//! Reddi, Hefny, Downey, Dubey, Sra (UAI 2015), Algorithm 2; Johnson and Zhang (NIPS 2013); Defazio, Bach and
//! Lacoste-Julien (NIPS 2014).

mod averages;
mod engine;
mod estimate;
mod feed;
mod law;
mod plain;
mod reduced;
mod rounds;
mod scale;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{FiniteSum, SmoothTerm};
use crate::solve::driver::checkpoints::Checkpoints;
use crate::solve::{Method, Settings, Solution};

/// How a run ended.
pub(crate) enum Outcome<'r, F, H> {
    /// By its own means.
    Done(Box<Solution>),
    /// It became slow, and something else may go on from here.
    Slow { checkpoints: Box<Checkpoints<'r, F, H>>, x: Vec<f64>, updates: u64 },
}

/// Runs from a feasible start; ends where it is slow if it may.
pub(crate) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    start: Vec<f64>,
    updates_per_epoch: f64,
    may_hand_over: bool,
) -> Result<Outcome<'r, F, H>> {
    let sum = samples_of(problem.smooth(), settings)?;
    let task = engine::Task { problem, settings, checkpoints, start, updates_per_epoch };
    match settings.method {
        Method::Stochastic => Ok(Outcome::Done(Box::new(plain::run(task, sum)?))),
        _ => reduced::run(task, sum, may_hand_over),
    }
}

/// Whether the terms beside the samples are of single coordinates, without products of their own.
pub(crate) fn fits(sum: &FiniteSum<'_>) -> bool {
    !sum.data.is_empty() && sum.rest.iter().all(|term| term.product_len() == 0)
}

/// f by its samples, where it has some and the batch is no larger than they are.
fn samples_of<'a, F: SmoothTerm>(f: &'a F, settings: &Settings) -> Result<FiniteSum<'a>> {
    let method = settings.method.name();
    let refuse = |why| Err(Error::MethodNotApplicable { method, why });
    let Some(sum) = f.finite_sum() else {
        return refuse(
            "f is not a loss summed over samples, with terms of single coordinates beside it at most",
        );
    };
    if sum.data.is_empty() {
        return refuse("there are no samples");
    }
    if sum.rest.iter().any(|term| term.product_len() > 0) {
        return refuse("a term beside the samples keeps a product of its own");
    }
    if settings.batch > sum.data.len() {
        let allowed = "at most the number of samples";
        return Err(Error::InvalidSetting { name: "batch", found: settings.batch as f64, allowed });
    }
    Ok(sum)
}
