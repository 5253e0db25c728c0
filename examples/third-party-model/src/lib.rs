//! The portfolio of least variance, as a guest of equipoise: what a model of a third party looks like.
//!
//! ```text
//! minimise  1/2 w'Sw   subject to   sum(w) = 1,  0 <= w_i <= cap        S the covariance of n assets over T periods
//! ```
//!
//! A user of this crate speaks of returns, caps and volatility, not of terms and rows. The answer is accepted when the
//! volatility `sqrt(w'Sw)` is known to a relative accuracy; that is the business of the judge, see `judge.rs`.
//!
//! It depends on the public interface of equipoise and on nothing else of it: the problem is built from its terms, the
//! judge and the team of threads are handed to its solver, errors are this crate's own.
//!
//! ```
//! use equipoise::Control;
//! use minimum_variance::{Choices, Returns, least_variance};
//! // Two assets that have nothing to do with each other, the second twice as volatile.
//! let returns = Returns::new(&[vec![0.01, -0.01, 0.01, -0.01], vec![0.02, 0.02, -0.02, -0.02]])?;
//! let found = least_variance(&returns, &Choices::default(), &Control::unlimited())?;
//! assert!((found.weights[0] - 0.8).abs() < 1e-2 && (found.weights[1] - 0.2).abs() < 1e-2);
//! assert!(found.volatility >= found.lowest && found.volatility <= found.lowest * (1.0 + 1e-3));
//! # Ok::<(), minimum_variance::Error>(())
//! ```

mod error;
mod judge;
mod returns;

pub use error::{Error, Result};
pub use returns::Returns;

use std::sync::Arc;

use equipoise::separable::Bounds;
use equipoise::smooth::{LeastSquares, loss::Squared};
use equipoise::{Control, Coupling, Problem, Settings, Solver, Status, Team};

use judge::VolatilityJudge;

/// What a caller may choose.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choices {
    /// The largest weight of one asset, above 0 and at most 1.
    pub cap: f64,
    /// How well the volatility must be known, relative to itself.
    pub accuracy: f64,
    /// Threads that may work.
    pub threads: usize,
    /// Most seconds.
    pub time_limit: Option<f64>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { cap: 1.0, accuracy: 1e-4, threads: 1, time_limit: None }
    }
}

impl Choices {
    /// The same with another cap.
    #[must_use]
    pub fn with_cap(self, cap: f64) -> Self {
        Self { cap, ..self }
    }

    /// The same with another accuracy.
    #[must_use]
    pub fn with_accuracy(self, accuracy: f64) -> Self {
        Self { accuracy, ..self }
    }

    /// The same with more threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    fn check(&self, assets: usize) -> Result<()> {
        if !(self.cap > 0.0 && self.cap <= 1.0) {
            return Err(Error::Choice { name: "cap", found: self.cap, allowed: "above 0 and at most 1" });
        }
        if !(self.accuracy > 0.0 && self.accuracy < 1.0) {
            return Err(Error::Choice { name: "accuracy", found: self.accuracy, allowed: "between 0 and 1" });
        }
        if self.cap * (assets as f64) < 1.0 {
            return Err(Error::CapTooSmall { cap: self.cap, assets });
        }
        Ok(())
    }
}

/// A portfolio and what is known of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Portfolio {
    /// One weight an asset; they add up to 1.
    pub weights: Vec<f64>,
    /// Its volatility, per period.
    pub volatility: f64,
    /// No portfolio within the cap has less.
    pub lowest: f64,
    /// Why the search ended; `Converged` means that the accuracy is reached.
    pub status: Status,
}

/// The portfolio of least variance; the best so far where the control or the time limit ends the search.
pub fn least_variance(returns: &Returns, choices: &Choices, control: &Control) -> Result<Portfolio> {
    let assets = returns.assets();
    choices.check(assets)?;
    let factor = returns.factor().clone();
    let f = LeastSquares::new(factor, vec![0.0; returns.periods()], Squared)?;
    let problem = Problem::builder(f)
        .separable(Bounds::new(0.0, choices.cap)?)
        .coupling(Coupling::sum(1.0)?)
        .start(vec![1.0 / assets as f64; assets])
        .build()?;
    let mut settings = Settings::default();
    settings.threads = choices.threads;
    settings.time_limit = choices.time_limit;
    let team = Arc::new(Team::for_work(choices.threads, assets * returns.periods()));
    let judge = VolatilityJudge { returns, cap: choices.cap, accuracy: choices.accuracy, team: &team };
    let solver = Solver::new(&problem, &settings).control(control.clone()).team(Arc::clone(&team));
    let solution = solver.run_judged(&judge)?;
    let found = judge.evaluate(&solution.x);
    Ok(Portfolio {
        weights: solution.x,
        volatility: found.volatility,
        lowest: found.lowest,
        status: solution.status,
    })
}
