//! A point, whoever found it, beside the problem: its objective, and a bound that none gets below.
//!
//! - Given: a problem, x, perhaps prices. Returns: a [`Verified`]: an [`Allocation`] of that very x, `Converged` where its gap is met
//!   and the rows hold; the bound is that of the prices, or where that is not enough the one of an allocation of our own; and what the
//!   prices are worth by themselves.
//! - Must not know: what was claimed of x.

use equipoise::{Control, Status};

use crate::error::{Error, Result};
use crate::implied::Rooms;
use crate::pass::Passes;
use crate::problem::Problem;
use crate::proof::{Proof, prove};
use crate::solve::{Allocation, Settings, Watch, allocate, check_start, is_met, team};

/// What was found of a point, and of the prices that came with it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Verified {
    /// The point, with the best bound that is known, and the prices that prove it.
    pub allocation: Allocation,
    /// What no point that meets the rows gets below, by the prices that came with the point; none where none came.
    pub price_bound: Option<f64>,
    /// Whether those prices alone prove that the gap is met.
    pub are_prices_met: Option<bool>,
}

/// Checks a point from raw data. A point outside its limits is an error; one that misses a row is never `Converged`.
pub fn verify(
    problem: &Problem,
    settings: &Settings,
    x: &[f64],
    prices: Option<&[f64]>,
    control: &Control,
) -> Result<Verified> {
    settings.check()?;
    check_start(problem, prices)?;
    if x.len() != problem.users {
        let (what, unit) = ("x".into(), "user");
        return Err(Error::Length { what, found: x.len(), expected: problem.users, unit });
    }
    let inner = problem.in_group_order(x);
    for (g, group) in problem.groups.iter().enumerate() {
        for place in 0..group.count {
            let found = inner[problem.starts[g] + place];
            if !(found >= group.lower.get(place) && found <= group.upper.get(place) && found.is_finite()) {
                let (what, expected) = ("what is given".into(), "a number within its limits");
                return Err(Error::BadNumber { what, user: problem.number(g, place), found, expected });
            }
        }
    }
    let team = team(problem, settings);
    let passes = Passes::new(problem, &team, control);
    let of = |prices: &[f64]| -> Result<Proof> {
        let plain = prove(&passes, &problem.rows, &inner, prices, &Rooms::unknown(problem.rows.len()))?;
        if is_met(&plain, settings) {
            return Ok(plain);
        }
        // Limits that rows imply may prove more.
        let other = prove(&passes, &problem.rows, &inner, prices, &Rooms::of(problem, &problem.rows))?;
        Ok(if other.bound > plain.bound { other } else { plain })
    };
    let of_prices = prices.map(of).transpose()?;
    let price_bound = of_prices.as_ref().map(|proof| proof.bound);
    let are_prices_met = of_prices.as_ref().map(|proof| is_met(proof, settings));
    let mut prices = prices.map(<[f64]>::to_vec);
    let mut low_high = None;
    let mut proof = of_prices;
    if are_prices_met != Some(true) {
        let watch = Watch { observer: None, control: control.clone() };
        let own = allocate(problem, settings, prices.as_deref(), watch)?;
        let with_own = of(&own.prices)?;
        // The bound holds for every point, whichever x it came with.
        let bound = own.bound.max(with_own.bound);
        if proof.as_ref().is_none_or(|proof| bound > proof.bound) {
            proof = Some(with_own.with_bound(bound));
            prices = Some(own.prices);
            low_high = Some((own.price_low, own.price_high));
        }
    }
    let (proof, prices) = (proof.expect("proven above"), prices.expect("found above"));
    let unknown = vec![f64::NAN; problem.rows.len()];
    let (price_low, price_high) = low_high.unwrap_or((unknown.clone(), unknown));
    let allocation = Allocation {
        status: if is_met(&proof, settings) { Status::Converged } else { Status::Stalled },
        x: x.to_vec(),
        objective: proof.objective,
        bound: proof.bound,
        relative_gap: proof.relative_gap,
        infeasibility: proof.infeasibility,
        relative_infeasibility: proof.relative_infeasibility,
        prices,
        price_low,
        price_high,
        method: "",
        passes: 0,
        seconds: 0.0,
        seconds_certificate: 0.0,
    };
    Ok(Verified { allocation, price_bound, are_prices_met })
}
