//! A point, whoever found it, beside the data: its objective, and a bound that none gets below.
//!
//! - Given: data, a region, x. Returns: a [`Fit`] of that very x, `Converged` where its gap is met; the bound is that of x, or
//!   where that is not enough the one of a fit of our own.
//! - Must not know: what was claimed of x.

use equipoise::{Control, Status, Team};

use super::passes::{enclosed_residual, enclosed_transposed, residual, squared_norms, transposed};
use super::proof::Ground;
use super::region::{Region, Rows};
use super::working::missed;
use super::{Data, Error, Fit, Result, Settings, Watch, check_start, fit, rows};

/// The largest miss of a row, relative to its own terms.
const ALLOWED: f64 = equipoise::coupling::ALLOWED_SHARE;

/// Checks a point from raw data. A point outside its bounds is an error; one that misses a row is never `Converged`.
pub fn verify(
    data: &Data<'_>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    x: &[f64],
    control: &Control,
) -> Result<Fit> {
    settings.check()?;
    data.check_samples()?;
    data.check(target)?;
    region.check(data.matrix.columns())?;
    check_start(Some(x), data)?;
    for (k, &value) in x.iter().enumerate() {
        if value < region.lower[k] || value > region.upper[k] {
            let expected = "a number within its bounds";
            return Err(Error::BadNumber { what: "weight", place: k + 1, found: value, expected });
        }
    }
    let is_plain = region.is_bounded_enough(settings.ridge) && !matches!(region.rows, Rows::Equations { .. });
    let mut found = if is_plain {
        check(data, target, region, settings, x, control)?
    } else {
        rows::check(data, target, region, settings, x, control)?
    };
    if found.status != Status::Converged && found.infeasibility <= ALLOWED {
        let watch = Watch { observer: None, control: control.clone() };
        let own = fit(data, target, region, settings, Some(x), watch)?;
        if own.bound > found.bound {
            (found.bound, found.holds_within) = (own.bound, own.holds_within);
            found.relative_gap = (found.objective - own.bound).max(0.0) / data.scale(target, found.objective);
        }
        if found.relative_gap <= settings.gap {
            found.status = Status::Converged;
        }
    }
    Ok(found)
}

fn check(
    data: &Data<'_>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    x: &[f64],
    control: &Control,
) -> Result<Fit> {
    let matrix = data.matrix;
    let team = Team::for_work(settings.threads, matrix.rows() * matrix.columns());
    let squares = squared_norms(matrix, &team, control)?;
    let ground = Ground::new(*data, region, settings.ridge, &squares);
    let r = residual(matrix, x, target, &team, control)?;
    let theta = ground.theta(&r);
    let products = transposed(matrix, &theta, &team, control)?;
    let mut objective = ground.objective(x, target, &r);
    let mut bound = ground.bound(&theta, &products, target).max(0.0);
    let gap = |objective: f64, bound: f64| (objective - bound).max(0.0) / data.scale(target, objective);
    if gap(objective, bound) > settings.gap {
        // Perhaps it is what is charged for rounding that is too much.
        let r = enclosed_residual(matrix, x, target, &team, control)?;
        let theta = ground.theta(&r.iter().map(|r| r.centre()).collect::<Vec<_>>());
        let products = enclosed_transposed(matrix, &theta, &team, control)?;
        objective = objective.min(ground.objective_enclosed(x, &r));
        bound = bound.max(ground.bound_enclosed(&theta, &products, target));
    }
    let relative_gap = gap(objective, bound);
    let infeasibility = region.sum().map_or(0.0, |sum| missed(x, sum));
    let is_met = relative_gap <= settings.gap && infeasibility <= ALLOWED;
    Ok(Fit {
        status: if is_met { Status::Converged } else { Status::Stalled },
        x: x.to_vec(),
        objective,
        bound,
        relative_gap,
        multipliers: Vec::new(),
        infeasibility,
        holds_within: None,
        method: "",
        rounds: 0,
        seconds: 0.0,
    })
}
