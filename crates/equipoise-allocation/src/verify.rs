//! A point, whoever found it, beside the problem: its objective, and a bound that none gets below.
//!
//! - Given: a problem, x, perhaps prices. Returns: an [`Allocation`] of that very x, `Converged` where its gap is met and the rows
//!   hold; the bound is that of the prices, or where that is not enough the one of an allocation of our own.
//! - Must not know: what was claimed of x.

use equipoise::{Control, Status};

use crate::error::{Error, Result};
use crate::pass::Passes;
use crate::problem::Problem;
use crate::proof::prove;
use crate::solve::{Allocation, Settings, Watch, allocate, check_start, is_met, team};

/// Checks a point from raw data. A point outside its limits is an error; one that misses a row is never `Converged`.
pub fn verify(
    problem: &Problem,
    settings: &Settings,
    x: &[f64],
    prices: Option<&[f64]>,
    control: &Control,
) -> Result<Allocation> {
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
    let mut prices = prices.map(<[f64]>::to_vec);
    let mut low_high = None;
    let mut proof = None;
    if let Some(prices) = &prices {
        proof = Some(prove(&passes, &problem.rows, &inner, prices)?);
    }
    if !proof.as_ref().is_some_and(|proof| is_met(proof, settings)) {
        let watch = Watch { observer: None, control: control.clone() };
        let own = allocate(problem, settings, prices.as_deref(), watch)?;
        let with_own = prove(&passes, &problem.rows, &inner, &own.prices)?;
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
    Ok(Allocation {
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
    })
}
