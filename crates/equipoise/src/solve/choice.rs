//! Which method `auto` takes, and why, in one line.
//!
//! | the problem | method |
//! |---|---|
//! | samples that are streamed | svrg: it reads them in order |
//! | one row, scalars, every pair allowed, h in closed form | violating |
//! | everything else | pairs of the graph, in turns with proximal and second-order steps |
//!
//! Must not know: how any of them works.

use super::{Method, Settings, violating};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{SampleData, SmoothTerm};

/// A method with its reason; `Auto` stands for pairs in turns with steps over all blocks.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) method: Method,
    pub(super) reason: String,
}

impl Choice {
    fn new(method: Method, reason: impl Into<String>) -> Self {
        Self { method, reason: reason.into() }
    }

    /// The method asked for, if it fits; with `auto` the one that suits the problem.
    pub(super) fn of<F: SmoothTerm, H: SeparableTerm>(
        problem: &Problem<F, H>,
        settings: &Settings,
    ) -> Result<Self> {
        let obstacle = violating::obstacle(problem);
        match settings.method {
            Method::Auto => {}
            Method::Violating => {
                return match obstacle {
                    Some(why) => Err(Error::MethodNotApplicable { method: "violating", why }),
                    None => Ok(Self::new(Method::Violating, "as asked")),
                };
            }
            method => return Ok(Self::new(method, "as asked")),
        }
        let sum = problem.smooth().finite_sum();
        if sum.is_some_and(|sum| matches!(sum.data, SampleData::Stream(_))) {
            return Ok(Self::new(Method::Svrg, "the samples are read from disk, in order"));
        }
        Ok(match obstacle {
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
