//! A MATPOWER case as a problem: generators in service, total demand, perhaps a reserve.
//!
//! Given: a file and what is asked for. Returns: a draft of a problem. Must not know: how it is solved.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use equipoise::Control;
use equipoise_allocation::{Column, Cost, Costs, Piecewise, Polynomial, Row, Users};
use equipoise_formats::matpower::{CaseCost, Generator, parse_case, read_case};

use super::data::Draft;
use crate::args::AskedArguments;

/// Whether a text begins as a case does: `function mpc = ...`, or a statement about `mpc`.
pub(super) fn is_case(text: &str) -> bool {
    let mut lines =
        text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('%'));
    lines.next().is_some_and(|first| first.starts_with("function ") || first.starts_with("mpc."))
}

/// Reads a case, or takes the text of one that is at hand.
pub(super) fn read(
    path: &Path,
    text: Option<&str>,
    args: &AskedArguments,
    demand: Option<f64>,
    control: &Control,
) -> Result<Draft> {
    let place = path.display();
    for (given, option) in [(!args.rows.is_empty(), "--row"), (!args.drop.is_empty(), "--drop")] {
        if given {
            bail!(
                "{option} is for tables; {place} is a case: its row is the demand, and --reserve adds another"
            );
        }
    }
    let case = match text {
        Some(text) => parse_case(text, path)?,
        None => read_case(path, control)?,
    };
    let on: Vec<&Generator> = case.generators.iter().filter(|generator| generator.is_on).collect();
    let off = case.generators.len() - on.len();
    if on.is_empty() {
        bail!("{place}: none of {off} generators is in service (status above 0); expected at least one");
    }
    let mut rows = vec![Row::equal("demand", demand.unwrap_or(case.demand))];
    let reserve = args.reserve.map(|reserve| reserve_of(args, &on, reserve)).transpose()?;
    if let Some((_, value)) = &reserve {
        rows.push(Row::at_least("reserve", *value));
    }
    let mut groups = Vec::new();
    let (mut quadratic, mut own) = (Vec::new(), Vec::new());
    for (place, generator) in on.iter().enumerate() {
        match cost_of(generator)? {
            Kind::Quadratic(coefficients) => quadratic.push((place, coefficients)),
            Kind::Own(cost) => own.push((place, cost)),
        }
    }
    let users = |places: Vec<usize>, costs: Costs| {
        let column = |of: &dyn Fn(usize) -> f64| Column::Many(places.iter().map(|&k| of(k)).collect());
        let mut coefficients = vec![Column::One(1.0)];
        if let Some((counts, _)) = &reserve {
            coefficients.push(column(&|k| if counts[k] { -1.0 } else { 0.0 }));
        }
        Users {
            count: places.len(),
            costs,
            lower: column(&|k| on[k].least),
            upper: column(&|k| on[k].most),
            coefficients,
            places: Some(places),
        }
    };
    if !quadratic.is_empty() {
        let column = |k: usize| quadratic.iter().map(|(_, own)| own[k]).collect::<Vec<f64>>();
        let costs = Costs::quadratic(column(2), column(1), column(0));
        groups.push(users(quadratic.iter().map(|(place, _)| *place).collect(), costs));
    }
    if !own.is_empty() {
        let places = own.iter().map(|(place, _)| *place).collect();
        groups.push(users(places, Costs::Own(own.into_iter().map(|(_, cost)| cost).collect())));
    }
    let names = on.iter().map(|generator| format!("gen {}", generator.number)).collect();
    Ok(Draft { groups, rows, names: Some(names), off })
}

enum Kind {
    /// Of 1, x and x^2.
    Quadratic([f64; 3]),
    Own(Arc<dyn Cost>),
}

fn cost_of(generator: &Generator) -> Result<Kind> {
    let refused = |evidence: String| {
        let (number, line) = (generator.number, generator.line);
        anyhow::anyhow!(
            "the cost of gen {number} (line {line}) cannot be used: {evidence}; only convex costs have prices that clear"
        )
    };
    match &generator.cost {
        CaseCost::Piecewise(points) => Ok(Kind::Own(Arc::new(Piecewise::new(points).map_err(refused)?))),
        CaseCost::Polynomial(coefficients) => {
            let degree = coefficients.iter().rposition(|c| *c != 0.0).unwrap_or(0);
            if degree <= 2 {
                let of = |k: usize| coefficients.get(k).copied().unwrap_or(0.0);
                return Ok(Kind::Quadratic([of(0), of(1), of(2)]));
            }
            let cost = Polynomial::new(coefficients[..=degree].to_vec(), generator.least, generator.most);
            Ok(Kind::Own(Arc::new(cost.map_err(refused)?)))
        }
    }
}

/// Which generators count for the reserve, and the right-hand side of `-sum P >= R - sum Pmax`.
fn reserve_of(args: &AskedArguments, on: &[&Generator], reserve: f64) -> Result<(Vec<bool>, f64)> {
    if !(reserve.is_finite() && reserve >= 0.0) {
        bail!("--reserve: found {reserve}, expected a number of at least 0");
    }
    for unit in &args.reserve_units {
        if !on.iter().any(|generator| generator.number == *unit) {
            let last = on.last().map_or(0, |generator| generator.number);
            bail!(
                "--reserve-units: found {unit}, expected generators in service, by their rows in mpc.gen (up to {last})"
            );
        }
    }
    let ramps = |generator: &Generator| generator.ramp_10.is_some_and(|ramp| ramp > 0.0);
    let any_ramps = on.iter().any(|generator| ramps(generator));
    let counts: Vec<bool> = on
        .iter()
        .map(|generator| match () {
            () if !args.reserve_units.is_empty() => args.reserve_units.contains(&generator.number),
            () => !any_ramps || ramps(generator),
        })
        .collect();
    let kept = || on.iter().zip(&counts).filter(|(_, counts)| **counts).map(|(generator, _)| generator);
    if let Some(generator) = kept().find(|generator| generator.most.is_infinite()) {
        bail!("--reserve: gen {} has no upper limit to keep back from", generator.number);
    }
    let room: f64 = kept().map(|generator| generator.most - generator.least).sum();
    if reserve > room * (1.0 + 1e-9) {
        let (count, missing) = (kept().count(), reserve - room);
        bail!(
            "--reserve: found {reserve}, but the {count} generators that count keep back {room} at most, each at its Pmin: {missing} are \
             missing"
        );
    }
    let capacity: f64 = kept().map(|generator| generator.most).sum();
    Ok((counts, reserve - capacity))
}
