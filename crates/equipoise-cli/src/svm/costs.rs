//! The costs of `cv` and `path`: a list, or `C_k = from (to / from)^(k / (steps - 1))`.

use anyhow::{Result, bail};

use crate::args::Costs;

/// The costs where none are asked for.
pub(crate) const GRID: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];

/// The costs asked for, if any were.
pub(crate) fn list(costs: &Costs) -> Result<Option<Vec<f64>>> {
    if let Some(list) = &costs.list {
        return Ok(Some(list.clone()));
    }
    let (Some(from), Some(to), Some(steps)) = (costs.from, costs.to, costs.steps) else {
        return Ok(None);
    };
    for (name, value) in [("--from", from), ("--to", to)] {
        if !(value > 0.0 && value.is_finite()) {
            bail!("{name} is {value}; allowed: a finite number above 0");
        }
    }
    if steps < 2 {
        bail!("--steps is {steps}; allowed: 2 or more, --from and --to included");
    }
    let last = steps - 1;
    let cost = |k: usize| match k {
        0 => from,
        k if k == last => to,
        k => from * (to / from).powf(k as f64 / last as f64),
    };
    Ok(Some((0..steps).map(cost).collect()))
}

/// A cost in six digits, for tables.
pub(crate) fn short(cost: f64) -> String {
    let rounded: f64 = format!("{cost:.5e}").parse().unwrap_or(cost);
    if (1e-4..1e6).contains(&rounded) { rounded.to_string() } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_one_ratio_between_them_and_exact_ends() {
        let costs = Costs { list: None, from: Some(0.1), to: Some(12.8), steps: Some(8) };
        let found = list(&costs).expect("valid").expect("some");
        assert_eq!((found.len(), found[0], found[7]), (8, 0.1, 12.8));
        assert!(found.windows(2).all(|pair| (pair[1] / pair[0] - 2.0).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn ends_outside_their_range_are_refused() {
        for (from, to, steps) in [(0.0, 1.0, 3), (1.0, -1.0, 3), (1.0, 2.0, 1), (1.0, f64::INFINITY, 3)] {
            let costs = Costs { list: None, from: Some(from), to: Some(to), steps: Some(steps) };
            list(&costs).expect_err("refused");
        }
        assert_eq!(list(&Costs::default()).expect("valid"), None);
    }

    #[test]
    fn costs_in_tables_are_short() {
        for (cost, words) in [(1.0, "1"), (0.1, "0.1"), (1.0 / 3.0, "0.333333"), (1e-7, "1e-7"), (2e9, "2e9")]
        {
            assert_eq!(short(cost), words);
        }
    }
}
