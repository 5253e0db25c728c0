//! Portfolios of least variance, and efficient frontiers,
//!
//! ```text
//! minimise    w'Sw + kappa sum_j |w_j - c_j|
//! subject to  sum w = B,   m'w >= R,   l <= w <= u,   low_s <= sum of w over group s <= high_s,   sum_j |w_j - c_j| <= limit
//! ```
//!
//! - Given: returns of T days ([`Returns`]), a covariance by its factor ([`Covariance`]), [`Constraints`], [`Settings`].
//! - Returns: a [`Portfolio`]: w, its objective from above, a bound that no portfolio within the limits gets below, the
//!   multipliers; or many of them along the frontier.
//! - Must not know: files, how results are shown.
//!
//! m are mean returns, `S = (1 - delta) C'C/(T - 1) + delta mu I` with the centred returns C, everything per period of the
//! data. An exact active set works on the few assets that matter (`active.rs`), passes over all assets choose those and prove the
//! result (`engine.rs`, `proof.rs`); no n x n matrix is made where there are many assets.
//!
//! ```
//! use equipoise::{Control, Status};
//! use equipoise_portfolio::{Constraints, Covariance, Returns, Settings, Shrinkage, Watch, solve};
//! // Two assets that move against each other, and one that moves more.
//! let returns = vec![0.01, -0.01, 0.02, 0.00, -0.01, 0.02, -0.01, 0.01, 0.04, -0.04, 0.03, -0.01];
//! let names = ["a", "b", "c"].map(String::from).to_vec();
//! let returns = Returns::new(names, 4, returns)?;
//! let covariance = Covariance::new(&returns, Shrinkage::default(), 1, &Control::unlimited())?;
//! let limits = Constraints::long_only(3);
//! let found = solve(&returns, &covariance, &limits, &Settings::default(), None, Watch::default())?;
//! assert_eq!(found.status, Status::Converged);
//! assert!(found.weights[1] > 0.6 && found.bound <= found.objective);
//! # Ok::<(), equipoise_portfolio::Error>(())
//! ```

mod active;
mod constraints;
mod covariance;
mod degenerate;
mod engine;
mod error;
mod factor;
mod frontier;
mod guess;
mod passes;
mod proof;
mod returns;
mod rows;
mod scale;
mod system;
#[cfg(test)]
mod tests;
mod tight;
mod units;
mod verify;

use std::time::Instant;

use equipoise::{Halt, Status};

pub use constraints::{Constraints, Group, Turnover};
pub use covariance::{Covariance, Shrinkage};
pub use error::Error;
pub use frontier::{Frontier, frontier, largest_return};
pub use returns::{Gap, Gaps, Kind, Missing, Quotes, Returns};
pub use verify::verify;

use engine::{Ended, Engine, Found};
use scale::Scale;

/// What every fallible function here returns.
pub type Result<T> = std::result::Result<T, Error>;

/// The choices of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The largest gap between objective and bound, relative to the objective (to a billionth of the mean variance of the
    /// assets where the objective is less).
    pub gap: f64,
    /// Threads that share the passes; they change no bit of the result.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { gap: 1e-6, threads: 1 }
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        if !(self.gap > 0.0 && self.gap < 1.0) {
            let expected = "a number above 0 and below 1";
            return Err(Error::BadSetting { name: "gap", found: self.gap, expected });
        }
        if self.threads == 0 {
            return Err(Error::BadSetting { name: "threads", found: 0.0, expected: "1 or more" });
        }
        Ok(())
    }
}

/// Derivatives of the optimum with respect to the right-hand sides; 0 where a row is not tight.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Multipliers {
    /// Of the budget B.
    pub budget: f64,
    /// Of the target return R; at least 0.
    pub target_return: f64,
    /// Of the limits of the groups: at least 0 at a lower one, at most 0 at an upper one.
    pub groups: Vec<f64>,
    /// Of the limit of the turnover; at most 0.
    pub turnover: f64,
}

impl Multipliers {
    /// With the sign that they have in `L = f + sum_k lambda_k (a_k'w - b_k)`, and none where the limit it would be of is not there.
    fn admissible(&self, constraints: &Constraints) -> Self {
        let known = |value: f64| if value.is_finite() { -value } else { 0.0 };
        let limit = constraints.turnover.as_ref().map_or(f64::INFINITY, |turnover| turnover.limit);
        let of_group = |(k, group): (usize, &Group)| {
            let lambda = known(self.groups.get(k).copied().unwrap_or(0.0));
            let end = if lambda > 0.0 { group.upper } else { group.lower };
            if end.is_finite() { lambda } else { 0.0 }
        };
        Self {
            budget: known(self.budget),
            target_return: constraints.target_return.map_or(0.0, |_| known(self.target_return).min(0.0)),
            groups: constraints.groups.iter().enumerate().map(of_group).collect(),
            turnover: if limit.is_finite() { known(self.turnover).max(0.0) } else { 0.0 },
        }
    }
}

/// Weights, and what is known of them.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Portfolio {
    /// Why the search ended; only `Converged` means that the gap is met.
    pub status: Status,
    /// w.
    pub weights: Vec<f64>,
    /// A number that the objective at w does not exceed.
    pub objective: f64,
    /// A number that no portfolio within the limits gets below.
    pub bound: f64,
    /// The gap between the two, relative to the objective.
    pub relative_gap: f64,
    /// By how much a row or limit is missed, relative to its own terms, from above.
    pub infeasibility: f64,
    /// R where the bound holds only for portfolios with no weight beyond R in size.
    pub holds_within: Option<f64>,
    /// `m'w`, rounded to nearest.
    pub expected_return: f64,
    /// `w'Sw`, from above.
    pub variance: f64,
    /// `sum_j |w_j - c_j|`, rounded; from 0 where nothing is held.
    pub turnover: f64,
    /// The return that was asked for.
    pub target_return: Option<f64>,
    /// Derivatives of the optimum.
    pub multipliers: Multipliers,
    /// Rounds of the working set.
    pub rounds: usize,
    /// Seconds that it took.
    pub seconds: f64,
}

/// One observation of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// Rounds so far.
    pub round: usize,
    /// The point of the frontier, from 0.
    pub point: usize,
    /// Assets in the working set.
    pub assets: usize,
    /// Seconds since the start.
    pub seconds: f64,
    /// The objective, from above.
    pub objective: f64,
    /// The bound, from below.
    pub bound: f64,
}

/// Who is told about rounds, and who may end the search. An ended one has the best point so far.
pub type Watch<'a> = equipoise::Watch<'a, dyn FnMut(&Round) + 'a>;

/// The portfolio of least variance, from a start where one is given (it need not be within the limits).
pub fn solve(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Portfolio> {
    let begun = Instant::now();
    check(returns, covariance, constraints, settings, start)?;
    let scale = Scale::of(constraints);
    let (inside, start) = (scale.inside(constraints), scale.start(start));
    let Watch { mut observer, control } = watch;
    let mut tell = |round: &Round| {
        if let Some(observer) = &mut observer {
            observer(&scale.round(round));
        }
    };
    let mut engine =
        Engine::new(returns, covariance, &inside, settings, start.as_deref(), &control, Some(&mut tell));
    let ended = engine.search();
    let found = conclude(&mut engine, ended, returns, settings, Reach::Unknown);
    let mut found = scale.outside(found.map_err(|error| scale.error(error))?);
    found.seconds = begun.elapsed().as_secs_f64();
    Ok(found)
}

fn check(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
    settings: &Settings,
    start: Option<&[f64]>,
) -> Result<()> {
    settings.check()?;
    covariance.check_shape(returns)?;
    constraints.check(returns)?;
    let Some(start) = start else { return Ok(()) };
    if start.len() != returns.assets() {
        return Err(Error::Length { what: "weights", found: start.len(), expected: returns.assets() });
    }
    if let Some(j) = start.iter().position(|w| !w.is_finite()) {
        let (what, asset, expected) = ("weight", returns.names()[j].clone(), "a finite number");
        return Err(Error::BadNumber { what, asset, day: String::new(), found: start[j], expected });
    }
    Ok(())
}

/// A row that is missed by less than this share of the budget is no contradiction of limits.
const DOUBT: f64 = 1e-6;

/// Whether it is known that there is a portfolio within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Known,
    Unknown,
}

/// The result of a search for one point, however it ended.
fn conclude(
    engine: &mut Engine<'_, '_>,
    ended: std::result::Result<Ended, Halt>,
    returns: &Returns,
    settings: &Settings,
    reach: Reach,
) -> Result<Portfolio> {
    let status = match ended {
        Ok(Ended::Met) => Status::Converged,
        Ok(Ended::Stalled) => Status::Stalled,
        // Between the least variance and the largest return there is a portfolio for every return.
        Ok(Ended::Missed(..)) if reach == Reach::Known => Status::Stalled,
        // Next to nothing may be the search's own shortcoming: only what is beyond doubt is said of the limits.
        Ok(Ended::Missed(_, by)) if by <= DOUBT * (1.0 + engine.constraints.budget.abs()) => Status::Stalled,
        Ok(Ended::Missed(row, by)) => return Err(contradiction(engine, row, by, returns)?),
        Err(halt @ Halt::Fault(_)) => return Err(halt.into()),
        Err(halt) => match (&engine.best, Status::after(&halt)) {
            (Some(_), Some(status)) => status,
            _ => return Err(halt.into()),
        },
    };
    let found = engine.best.take().expect("a search that ended has judged a point");
    // A halt may come after the gap was met.
    let is_covered = engine.ground.holds_within.is_none_or(|reach| found.w.iter().all(|w| w.abs() <= reach));
    let is_met = found.relative_gap <= settings.gap && found.infeasibility <= engine::ALLOWED && is_covered;
    let mut portfolio = describe(found, &engine.constraints, returns, engine.ground.holds_within);
    portfolio.status = match status {
        _ if is_met => Status::Converged,
        // The bound does not speak of weights so large.
        Status::Converged => Status::Stalled,
        status => status,
    };
    portfolio.rounds = engine.rounds;
    Ok(portfolio)
}

/// A point in the words of the outside.
fn describe(
    found: Found,
    constraints: &Constraints,
    returns: &Returns,
    holds_within: Option<f64>,
) -> Portfolio {
    Portfolio {
        status: Status::Stalled,
        objective: found.objective,
        bound: found.bound,
        relative_gap: found.relative_gap,
        infeasibility: found.infeasibility,
        holds_within,
        expected_return: equipoise::enclosure::dot(&found.w, returns.mean()).centre(),
        variance: found.variance,
        turnover: constraints.turnover_of(&found.w),
        target_return: constraints.target_return,
        multipliers: found.multipliers,
        weights: found.w,
        rounds: 0,
        seconds: 0.0,
    }
}

/// Why no portfolio is within the limits.
fn contradiction(engine: &Engine<'_, '_>, row: String, by: f64, returns: &Returns) -> Result<Error> {
    if let Some(target) = engine.constraints.target_return
        && let Some((largest, _)) = engine.largest_return()?
        && largest < target
    {
        let order = |a: &usize, b: &usize| returns.mean()[*a].total_cmp(&returns.mean()[*b]);
        let best = (0..returns.assets()).max_by(order).map_or_else(String::new, |j| {
            format!(", and the best asset, `{}`, has {}", returns.names()[j], returns.mean()[j])
        });
        return Ok(Error::ReturnOutOfReach { target, largest, best });
    }
    Ok(Error::Contradiction { row, by })
}
