//! Algorithm 2 and its variance-reduced kin: pairs of blocks moved along the gradient of a few samples.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to A x = b` with `f(x) = sum_l w_l phi(a_l'x, y_l) + rest(x)`.
//! # Requires
//! A smooth term with [`finite_sum`](SmoothTerm::finite_sum); everything else as in `plain.rs`.
//! # Per-draw cost
//! One inner product with the row of each sample drawn, and a pair step for each pair that it moves.
//! # Guarantees
//! Every iterate is feasible and in the domain; the same seed gives the same bits. With `svrg` and `saga` the objective never
//! rises from one round to the next.
//! # Parts
//! `feed.rs` hands out the samples, `law.rs` draws from them, `scale.rs` measures them, `estimate.rs` is the gradient
//! that stands in for that of f, `engine.rs` moves pairs by it; `reduced.rs` and `stochastic.rs` are the two gears,
//! `rounds.rs` the length of the rounds of the first, `averages.rs` what the second offers beside its last iterate.
//! # Reference
//! Reddi, Hefny, Downey, Dubey, Sra (UAI 2015), Algorithm 2; Johnson and Zhang (NIPS 2013); Defazio, Bach and
//! Lacoste-Julien (NIPS 2014).

mod averages;
mod engine;
mod estimate;
mod feed;
mod law;
mod reduced;
mod rounds;
mod scale;
mod stochastic;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{FiniteSum, SmoothTerm};
use crate::solve::gears::{Attempt, Engaged, Order};
use crate::solve::{Method, Settings};

/// The gear of a method by samples, at a start.
pub(super) fn engage<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    order: &Order<'_>,
    start: &[f64],
) -> Attempt<Engaged<'r>> {
    let sum = samples_of(problem.smooth(), order.settings)?;
    match order.settings.method {
        Method::Stochastic => stochastic::engage(problem, order, sum, start),
        _ => reduced::engage(problem, order, sum, start),
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
