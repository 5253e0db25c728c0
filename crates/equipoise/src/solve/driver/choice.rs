//! Which method `auto` takes, and why, in one line.
//!
//! | the problem | method |
//! |---|---|
//! | rows of f spread over ranks | no pairs: proximal and second-order steps over all blocks |
//! | samples that are streamed | svrg: it reads them in order |
//! | at least 1000 samples a variable | svrg, and second-order steps once it is slow |
//! | one row, scalars, every pair allowed, h in closed form but not 0 | violating |
//! | several rows that share no coordinate, the same | violating, in every row |
//! | everything else | pairs of the graph, in turns with proximal and second-order steps |
//!
//! Must not know: how any of them works.

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::{SampleData, SmoothTerm};
use crate::solve::gears::{sampled, violating};
use crate::solve::{Method, Settings};

/// Samples a variable from which one sample says more than one column costs.
const SAMPLES_PER_VARIABLE: usize = 1000;

/// A method with its reason; `Auto` stands for pairs in turns with steps over all blocks.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) method: Method,
    pub(crate) reason: String,
    /// Whether `Auto` may go on where the method becomes slow.
    pub(crate) may_hand_over: bool,
}

impl Choice {
    fn new(method: Method, reason: impl Into<String>) -> Self {
        Self { method, reason: reason.into(), may_hand_over: false }
    }

    /// Where rows are spread over ranks all of them must do the same, and a partial derivative is as dear as a gradient.
    fn on_ranks(settings: &Settings) -> Result<Self> {
        if settings.method != Method::Auto {
            let why = "rows are spread over ranks, which move all blocks at once: choose `auto`";
            return Err(Error::MethodNotApplicable { method: settings.method.name(), why });
        }
        Ok(Self::new(Method::Auto, "rows on ranks: proximal and second-order steps over all blocks"))
    }

    /// The method asked for, if it fits; with `auto` the one that suits the problem.
    pub(crate) fn of<F: SmoothTerm, H: SeparableTerm>(
        problem: &Problem<F, H>,
        settings: &Settings,
    ) -> Result<Self> {
        if problem.smooth().is_spread() {
            return Self::on_ranks(settings);
        }
        let obstacle = violating::Fit::of(problem).err();
        let smooth = matches!(problem.separable(), Nonsmooth::Coordinates(h) if h.is_zero());
        match settings.method {
            Method::Auto => {}
            Method::Violating => {
                return match obstacle {
                    Some(why) => Err(Error::MethodNotApplicable { method: "violating", why }),
                    None => Ok(Self::new(Method::Violating, "as asked")),
                };
            }
            // Where bounds meet rows the pairs are not separable, and the proof of momentum breaks; around proximal
            // points it saved no updates.
            Method::Accelerated if !smooth => {
                let why = "momentum needs h = 0: no bounds, no l1, no group norms";
                return Err(Error::MethodNotApplicable { method: "accelerated", why });
            }
            method => {
                problem.check_pairs()?;
                return Ok(Self::new(method, "as asked"));
            }
        }
        let f = problem.smooth();
        let is_streamed = f.finite_sum().is_some_and(|sum| matches!(sum.data, SampleData::Stream(_)));
        if let Err(why) = problem.check_pairs()
            && obstacle.is_some()
        {
            // Only what moves all blocks gets there; samples that are streamed have nothing of the kind.
            let reason = "pairs of the graph do not reach every point: in turns with steps over all blocks";
            return if is_streamed { Err(why) } else { Ok(Self::new(Method::Auto, reason)) };
        }
        if let Some(sum) = f.finite_sum() {
            let samples = sum.data.len();
            if matches!(sum.data, SampleData::Stream(_)) {
                return Ok(Self::new(Method::Svrg, "the samples are read from disk, in order"));
            }
            if samples >= SAMPLES_PER_VARIABLE.saturating_mul(f.dimension()) && sampled::fits(&sum) {
                let n = f.dimension();
                let reason = format!("{samples} samples of {n} variables: samples are cheaper than columns");
                return Ok(Self { may_hand_over: true, ..Self::new(Method::Svrg, reason) });
            }
        }
        if smooth && obstacle.is_none() {
            let reason = "h = 0: random pairs in turns with proximal and second-order steps";
            return Ok(Self::new(Method::Auto, reason));
        }
        Ok(match obstacle {
            None if problem.apart().is_some() => Self::new(
                Method::Violating,
                "rows that share no coordinate, every pair allowed: in every row the pairs that violate optimality most, then \
                 Newton steps",
            ),
            None => Self::new(
                Method::Violating,
                "one row over scalars, every pair allowed: the pairs that violate optimality most, then Newton steps",
            ),
            Some(why) => Self::new(
                Method::Auto,
                format!("random pairs in turns with proximal and second-order steps (violating: {why})"),
            ),
        })
    }
}
