//! `equipoise allocate verify`: an allocation beside the data, trusting nobody.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use equipoise::Status;
use equipoise_allocation::verify;
use equipoise_formats::fit_file;

use super::data::{Input, named};
use super::report::{self, AllocationJson, Check, Stored, StoredPoint};
use super::run::Found;
use crate::args::AllocateVerifyArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &AllocateVerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let asked = &args.asked;
    let control = interrupt.within(asked.time_limit);
    let stored: Stored = fit_file::read_fit(&args.result, &control)?;
    let points = points(&args.result, stored.x, stored.prices, stored.points)?;
    let demands: Option<Vec<f64>> = points.iter().map(|point| point.demand).collect();
    let first = demands.as_ref().map(|demands| demands[0]);
    if first.is_some() && asked.demand.is_some() {
        bail!("{}: it holds many demands; leave --demand out", args.result.display());
    }
    let input = Input::read(&args.data, asked, first, &control)?;
    if let (Some(names), Some(own)) = (&stored.names, &input.names)
        && names != own
    {
        let differs = names.iter().zip(own).find(|(a, b)| a != b);
        let found =
            differs.map_or_else(|| format!("{} users", names.len()), |(a, b)| format!("`{a}` for `{b}`"));
        bail!("{}: its users are not those of the data: found {found}", args.result.display());
    }
    let begun = Instant::now();
    let (mut list, mut checks) = (Vec::new(), Vec::new());
    let mut problem = input.problem.clone();
    for point in &points {
        let failed = |error| {
            let place = point.demand.map_or(String::new(), |demand| format!(", demand {demand}"));
            named(error, input.names.as_deref(), input.is_case)
                .context(format!("{}{place}", args.result.display()))
        };
        if let Some(demand) = point.demand {
            problem.set_value(0, demand).map_err(failed)?;
        }
        let checked = verify(&problem, &input.settings, &point.x, point.prices.as_deref(), &control);
        let checked = checked.map_err(failed)?;
        list.push(checked.allocation);
        checks.push(Check { price_bound: checked.price_bound, prices_met: checked.are_prices_met });
    }
    let met = list.iter().all(|one| one.status == Status::Converged)
        && checks.iter().all(|check| check.prices_met != Some(false));
    let found = Found {
        list,
        demands,
        is_sensitivity_asked: false,
        rates: None,
        keep_x: true,
        seconds: 0.0,
        seconds_certificate: begun.elapsed().as_secs_f64(),
        checks: Some(checks),
    };
    let text = if asked.json {
        let mut object = serde_json::to_value(AllocationJson::new(&found, &input))?;
        object["met"] = met.into();
        serde_json::to_string(&object)? + "\n"
    } else if asked.quiet {
        String::new()
    } else {
        let words = report::words(&found, &input);
        let rest = words.split_once('\n').map_or("", |(_, rest)| rest);
        format!("{}\n{rest}", if met { "met" } else { "not met" })
    };
    exit::print(&text)?;
    Ok(met.into())
}

/// A point of a file.
struct Point {
    demand: Option<f64>,
    x: Vec<f64>,
    prices: Option<Vec<f64>>,
}

/// The points of a file: one, or one a demand.
fn points(
    path: &Path,
    x: Option<Vec<f64>>,
    prices: Option<Vec<f64>>,
    many: Option<Vec<StoredPoint>>,
) -> Result<Vec<Point>> {
    let without = |place: String| {
        anyhow!("{}: no list `x` to check{place}; was it written with --no-x?", path.display())
    };
    if let Some(x) = x {
        return Ok(vec![Point { demand: None, x, prices }]);
    }
    let many = many.filter(|many| !many.is_empty()).ok_or_else(|| without(String::new()))?;
    let of = |(k, point): (usize, StoredPoint)| {
        let Some(demand) = point.demand else {
            bail!("{}: point {} has no `demand`", path.display(), k + 1);
        };
        let x = point.x.ok_or_else(|| without(format!(" for demand {demand}")))?;
        Ok(Point { demand: Some(demand), x, prices: point.prices })
    };
    many.into_iter().enumerate().map(of).collect()
}
