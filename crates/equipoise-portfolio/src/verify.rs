//! A portfolio, whoever found it, beside the data: its objective, and a bound that none gets below.
//!
//! - Given: data, limits, weights, multipliers where some are known. Returns: a [`Portfolio`] of those very weights, `Converged`
//!   where their gap is met. The bound is that of the weights and multipliers; where that is not enough, the one of a search of
//!   our own.
//! - Must not know: what was claimed of the weights. Multipliers cannot mislead: whatever they are, their bound holds.

use equipoise::{Control, Status, Team};

use crate::engine::{ALLOWED, Found};
use crate::passes::{product, transposed};
use crate::proof::Ground;
use crate::{
    Constraints, Covariance, Error, Multipliers, Portfolio, Result, Returns, Settings, Watch, check,
    describe, solve,
};

/// Checks weights from raw data. Weights that miss a row or a limit are never `Converged`.
pub fn verify(
    returns: &Returns,
    covariance: &Covariance,
    constraints: &Constraints,
    settings: &Settings,
    weights: &[f64],
    multipliers: Option<&Multipliers>,
    control: &Control,
) -> Result<Portfolio> {
    check(returns, covariance, constraints, settings, Some(weights))?;
    let team = Team::for_work(settings.threads, returns.assets() * returns.days());
    covariance.check_made_of(returns, &team, control)?;
    let ground = Ground::new(returns, covariance, constraints);
    let theta = product(returns.centred(), weights, control)?;
    let products = if ground.holds_within.is_some() {
        ground.products_enclosed(weights, &theta, control)?
    } else {
        let values = transposed(returns.centred(), &theta, &team, control)?;
        ground.products_by_pass(weights, &theta, values)
    };
    let (variance, objective) = ground.objective(weights, &products, constraints);
    let infeasibility = constraints.missed(returns, weights);
    let multipliers = multipliers.cloned().unwrap_or_default();
    let bound = ground.bound(&products, &multipliers, constraints);
    let w = weights.to_vec();
    let relative_gap = ground.relative_gap(objective, bound);
    let found = Found { w, variance, objective, bound, relative_gap, infeasibility, multipliers };
    let mut checked = describe(found, constraints, returns, ground.holds_within);
    if checked.relative_gap > settings.gap && infeasibility <= ALLOWED {
        let watch = Watch { observer: None, control: control.clone() };
        let own = match solve(returns, covariance, constraints, settings, Some(weights), watch) {
            Ok(own) => Some(own),
            // Nothing is within limits that these weights miss by a little.
            Err(Error::Contradiction { .. } | Error::ReturnOutOfReach { .. }) => None,
            Err(error) => return Err(error),
        };
        if let Some(own) = own.filter(|own| own.bound > checked.bound) {
            checked.bound = own.bound;
            checked.multipliers = own.multipliers;
            checked.relative_gap = ground.relative_gap(checked.objective, checked.bound);
        }
    }
    if checked.relative_gap <= settings.gap && infeasibility <= ALLOWED {
        checked.status = Status::Converged;
    }
    Ok(checked)
}
