//! The proof that rows contradict each other.
//!
//! ```text
//! weights w (of the signs that rows allow):   max over the limits of  w'A x  <  w'b    =>    no x within the limits meets the rows
//! ```
//!
//! - Given: a problem, weights: prices that grew without end. Returns: an error with the evidence, enclosed, or nothing at all.
//! - Must not know: where the prices came from.

use equipoise::enclosure::{Enclosure, Sum};

use crate::error::{Error, Result};
use crate::implied::Rooms;
use crate::problem::{Problem, Row, Users};

/// What rows may lack of each other, relative to their terms, and be met up to rounding all the same.
const ROUNDED: f64 = 1e-9;

/// By what weights are multiplied before they are rounded, to be read: halves, quarters and so on are exact. The last ones are not rounded.
const ROUNDINGS: [f64; 3] = [1.0, 8.0, 1024.0];
/// Limits that add up to a part of the coefficients smaller than this stand in nobody's way.
const SLIGHT: f64 = 1e-9;

/// An error where these prices prove that no x within the limits meets the rows.
pub(crate) fn check(problem: &Problem, rows: &[Row], prices: &[f64]) -> Result<()> {
    let size = prices.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    if size == 0.0 || !size.is_finite() {
        return Ok(());
    }
    // Whatever the rounding: these are the weights.
    let weights: Vec<f64> =
        prices.iter().zip(rows).map(|(price, row)| row.sense.allowed(*price) / size).collect();
    let rooms = Rooms::of(problem, rows);
    let exactly = proof(problem, rows, &weights, &rooms);
    if exactly.is_none() {
        return Ok(());
    }
    // Prices on their way to infinity are near to weights that say it best.
    let rounded = ROUNDINGS.iter().find_map(|parts| {
        let weights: Vec<f64> = weights.iter().map(|weight| (parts * weight).round() / parts).collect();
        proof(problem, rows, &weights, &rooms)
    });
    rounded.or(exactly).map_or(Ok(()), Err)
}

/// The error that these weights prove, if they do.
fn proof(problem: &Problem, rows: &[Row], weights: &[f64], rooms: &Rooms) -> Option<Error> {
    let (mut most, mut terms) = (Sum::default(), 0.0);
    for group in &problem.groups {
        for place in 0..group.count {
            let own = || group.coefficients.iter().map(|column| column.get(place));
            let mut sum = Sum::default();
            weights.iter().zip(own()).for_each(|(weight, a)| sum.add_product(*weight, a));
            let limits = rooms.narrow(own(), group.lower.get(place), group.upper.get(place));
            let greatest = greatest(sum.value(), limits);
            if !greatest.is_finite() {
                return None;
            }
            most.add(greatest);
            terms += greatest.abs();
        }
    }
    let mut asked = Sum::default();
    for (weight, row) in weights.iter().zip(rows) {
        asked.add_product(*weight, row.value);
        terms += (weight * row.value).abs();
    }
    let (asked, most) = (asked.value(), most.value());
    let missing = (asked - most).lower();
    if !(asked.is_known() && most.is_known() && missing > ROUNDED * terms) {
        return None;
    }
    let named = weights.iter().zip(rows).filter(|(w, _)| w.abs() > 1e-6);
    let named: Vec<String> = named.map(|(w, row)| format!("{w:.6} `{}`", row.name)).collect();
    let combination = named.join(" + ");
    let counts = |group: &Users, place: usize| {
        let parts = || weights.iter().zip(&group.coefficients).map(|(weight, a)| weight * a.get(place));
        let (sum, size) = (parts().sum::<f64>(), parts().map(f64::abs).sum::<f64>());
        if sum.abs() > SLIGHT * size { sum } else { 0.0 }
    };
    let binding = problem.binding(counts, true);
    Some(Error::Contradiction { combination, most: most.upper(), asked: asked.lower(), missing, binding })
}

/// The most that a coefficient makes of a number within its limits, from above.
fn greatest(a: Enclosure, (lower, upper): (f64, f64)) -> f64 {
    let of = |a: f64, limit: f64| match () {
        () if a == 0.0 => 0.0,
        () if limit.is_infinite() || a.is_infinite() => a * limit,
        () => Enclosure::product(a, limit).upper(),
    };
    let ends = [a.lower(), a.upper()];
    let all = ends.into_iter().flat_map(|a| [of(a, lower), of(a, upper)]);
    all.fold(f64::NEG_INFINITY, |most, own| if own.is_nan() { f64::INFINITY } else { most.max(own) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Costs;

    fn problem(upper: f64, second: f64) -> Problem {
        let users = Users {
            count: 2,
            costs: Costs::linear(vec![1.0, 2.0]),
            lower: 0.0.into(),
            upper: upper.into(),
            coefficients: vec![vec![1.0, 1.0].into(), vec![1.0, 1.0 + 1e-10].into()],
            places: None,
        };
        Problem::new(vec![users], vec![Row::equal("one", 2.0), Row::equal("two", second)]).expect("sound")
    }

    #[test]
    fn only_what_is_proven_is_claimed() {
        let check = |upper: f64, second: f64, prices: &[f64]| {
            let problem = problem(upper, second);
            super::check(&problem, &problem.rows, prices)
        };
        // x2 = 1e10 (b - 2): 1 for 2 + 1e-10, and 10 for 2 + 1e-9, which is more than 2.
        assert_eq!(check(2.0, 2.0 + 1e-10, &[-1.0, 1.0]), Ok(()));
        assert_eq!(check(1e6, 2.0 + 1e-10, &[-1.0, 1.0]), Ok(()));
        for upper in [2.0, f64::INFINITY] {
            let error = check(upper, 2.1, &[-3.0, 3.0]).expect_err("a contradiction").to_string();
            assert!(
                error.contains("-1.000000 `one` + 1.000000 `two`") && error.contains("are missing"),
                "{error}"
            );
            assert_eq!(check(upper, 2.1, &[3.0, -3.0]), Ok(()));
            assert_eq!(check(upper, 2.1, &[0.0, 0.0]), Ok(()));
        }
        assert_eq!(greatest(Enclosure::between(-1.0, 0.5), (-4.0, f64::INFINITY)), f64::INFINITY);
        assert_eq!(greatest(0.0.into(), (f64::NEG_INFINITY, f64::INFINITY)), 0.0);
        assert_eq!(greatest((-2.0).into(), (3.0, f64::INFINITY)), -6.0);
    }
}
