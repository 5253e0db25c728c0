//! Portfolios of least variance: one, or a frontier.
//!
//! - Given: returns (or prices) by day and asset, limits and the settings of `equipoise portfolio` as keywords. Returns: weights,
//!   risk and return, multipliers, and what is proven.

use equipoise::UnknownName;
use equipoise_portfolio::{
    Constraints, Covariance, Group, Kind, Missing, Multipliers, Portfolio, Quotes, Returns, Round, Settings,
    Shrinkage, Turnover, Watch, frontier as search, largest_return, solve, verify,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answers::{answer, array, known};
use crate::data::{Held, Table};
use crate::errors::{Answered, refused};
use crate::options::{Options, numbers};
use crate::running::{Limits, Report, Talk, run};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(portfolio, module)?)?;
    module.add_function(wrap_pyfunction!(frontier, module)?)?;
    module.add_function(wrap_pyfunction!(portfolio_verify, module)?)
}

/// Everything that is asked for, beside the numbers of the market.
struct Asked {
    names: Vec<String>,
    kind: Kind,
    missing: Missing,
    shrinkage: Shrinkage,
    constraints: Constraints,
    settings: Settings,
    start: Option<Vec<f64>>,
    limits: Limits,
}

impl Asked {
    fn of(options: &Options<'_>, assets: usize) -> PyResult<Self> {
        let plain = Settings::default();
        let names: Option<Vec<String>> = options.get("names")?;
        let names = names.unwrap_or_else(|| (0..assets).map(|place| format!("asset {place}")).collect());
        let is_short: bool = options.or("long_short", false)?;
        let least = if is_short { f64::NEG_INFINITY } else { 0.0 };
        let (price, limit): (Option<f64>, Option<f64>) =
            (options.get("turnover_penalty")?, options.get("max_turnover")?);
        let current = options.numbers("current")?;
        let turnover = match (price, limit) {
            (None, None) if current.is_some() => {
                return Err(refused("current has no effect without turnover_penalty or max_turnover"));
            }
            (None, None) => None,
            (price, limit) => Some(Turnover {
                current: current.unwrap_or_else(|| vec![0.0; assets]),
                price: price.unwrap_or(0.0),
                limit: limit.unwrap_or(f64::INFINITY),
            }),
        };
        let groups: Vec<(String, Vec<usize>, f64, f64)> = options.or("groups", Vec::new())?;
        let groups =
            groups.into_iter().map(|(name, members, lower, upper)| Group { name, members, lower, upper });
        let constraints = Constraints {
            budget: options.or("budget", 1.0)?,
            target_return: options.get("target_return")?,
            lower: options.numbers_or("lower", assets, least)?,
            upper: options.numbers_or("upper", assets, f64::INFINITY)?,
            groups: groups.collect(),
            turnover,
        };
        Ok(Self {
            names,
            kind: if options.or("prices", false)? { Kind::Prices } else { Kind::Returns },
            missing: missing(options.get("missing")?)?,
            shrinkage: shrinkage(options.raw("shrinkage")?)?,
            constraints,
            settings: Settings {
                gap: options.or("gap", plain.gap)?,
                threads: options.or("threads", plain.threads)?,
            },
            start: options.numbers("start")?,
            limits: Limits::of(options)?,
        })
    }

    /// What the model stands on.
    fn market(&self, view: &Table<'_>, talk: &Talk<'_>) -> Answered<(Returns, Covariance)> {
        let values = view.dense(talk.control())?;
        let quotes = Quotes {
            names: self.names.clone(),
            rows: values.rows(),
            values: values.into_values(),
            days: None,
            kind: self.kind,
        };
        let (returns, _) = quotes.returns(self.missing)?;
        let covariance =
            Covariance::new(&returns, self.shrinkage, self.settings.threads.max(1), talk.control())?;
        Ok((returns, covariance))
    }
}

fn missing(word: Option<String>) -> PyResult<Missing> {
    word.map_or(Ok(Missing::Refuse), |word| {
        word.parse().map_err(|error: UnknownName| refused(error.to_string()))
    })
}

fn shrinkage(given: Option<Bound<'_, PyAny>>) -> PyResult<Shrinkage> {
    let Some(given) = given else { return Ok(Shrinkage::default()) };
    match (given.extract::<f64>(), given.extract::<String>()) {
        (Ok(share), _) if (0.0..=1.0).contains(&share) => Ok(Shrinkage::Fixed(share)),
        (_, Ok(word)) if word == "auto" => Ok(Shrinkage::Auto),
        _ => Err(refused(format!("shrinkage is {given}; allowed: a number from 0 to 1, or \"auto\""))),
    }
}

/// The portfolio of least variance.
#[pyfunction]
#[pyo3(signature = (returns, **settings))]
fn portfolio<'py>(
    py: Python<'py>,
    returns: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (options, held) = (Options::new("portfolio", settings), Held::of("returns", &returns)?);
    let asked = Asked::of(&options, held.shape().1)?;
    options.done()?;
    let view = held.table()?;
    let (found, share) = run(py, &asked.limits, |talk| {
        let (returns, covariance) = asked.market(&view, talk)?;
        let mut tell = |round: &Round| talk.tell(report_of(round));
        let watch = watch(talk, &mut tell);
        let (constraints, start) = (&asked.constraints, asked.start.as_deref());
        Ok((
            solve(&returns, &covariance, constraints, &asked.settings, start, watch)?,
            covariance.shrinkage(),
        ))
    })?;
    let answer = describe(py, found)?;
    answer.set_item("shrinkage", share)?;
    Ok(answer)
}

/// Portfolios from least variance to the largest return.
#[pyfunction]
#[pyo3(signature = (returns, points, **settings))]
fn frontier<'py>(
    py: Python<'py>,
    returns: Bound<'py, PyAny>,
    points: usize,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (options, held) = (Options::new("frontier", settings), Held::of("returns", &returns)?);
    let asked = Asked::of(&options, held.shape().1)?;
    options.done()?;
    if points < 2 {
        return Err(refused(format!("points is {points}; allowed: 2 or more")));
    }
    let view = held.table()?;
    let (found, share) = run(py, &asked.limits, |talk| {
        let (returns, covariance) = asked.market(&view, talk)?;
        let mut tell = |round: &Round| talk.tell(report_of(round));
        let watch = watch(talk, &mut tell);
        let (constraints, start) = (&asked.constraints, asked.start.as_deref());
        let found = search(&returns, &covariance, constraints, &asked.settings, points, start, watch)?;
        Ok((found, covariance.shrinkage()))
    })?;
    let list = PyList::empty(py);
    for point in found.points {
        list.append(describe(py, point)?)?;
    }
    Ok(answer!(py, {
        "points": list,
        "largest_return": found.largest_return,
        "status": found.status.name(),
        "seconds": found.seconds,
        "shrinkage": share,
    }))
}

/// What is proven of weights, from raw data.
#[pyfunction]
#[pyo3(signature = (returns, weights, **settings))]
fn portfolio_verify<'py>(
    py: Python<'py>,
    returns: Bound<'py, PyAny>,
    weights: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (options, held) = (Options::new("portfolio_verify", settings), Held::of("returns", &returns)?);
    let asked = Asked::of(&options, held.shape().1)?;
    options.done()?;
    let (view, weights) = (held.table()?, numbers("weights", &weights)?);
    let (found, largest) = run(py, &asked.limits, |talk| {
        let (returns, covariance) = asked.market(&view, talk)?;
        let (constraints, control) = (&asked.constraints, talk.control());
        let found = verify(&returns, &covariance, constraints, &asked.settings, &weights, None, control)?;
        Ok((found, largest_return(&returns, &covariance, constraints, control)?))
    })?;
    let answer = describe(py, found)?;
    answer.set_item("largest_return", largest)?;
    Ok(answer)
}

fn watch<'a>(talk: &Talk<'_>, tell: &'a mut dyn FnMut(&Round)) -> Watch<'a> {
    Watch { control: talk.control().clone(), observer: if talk.is_heard() { Some(tell) } else { None } }
}

fn report_of(round: &Round) -> Report {
    Report {
        seconds: Some(round.seconds),
        objective: Some(round.objective),
        bound: known(round.bound),
        gap: known(round.objective - round.bound),
        label: Some(round.point as f64),
        round: Some(round.round),
        ..Report::default()
    }
}

fn describe(py: Python<'_>, found: Portfolio) -> PyResult<Bound<'_, PyDict>> {
    let Multipliers { budget, target_return, groups, turnover, .. } = found.multipliers;
    let multipliers = answer!(py, {
        "budget": budget,
        "target_return": target_return,
        "groups": array(py, groups),
        "turnover": turnover,
    });
    Ok(answer!(py, {
        "weights": array(py, found.weights),
        "expected_return": found.expected_return,
        "variance": found.variance,
        "turnover": found.turnover,
        "target_return": found.target_return,
        "objective": found.objective,
        "bound": known(found.bound),
        "relative_gap": found.relative_gap,
        "infeasibility": found.infeasibility,
        "holds_within": found.holds_within,
        "multipliers": multipliers,
        "rounds": found.rounds,
        "status": found.status.name(),
        "seconds": found.seconds,
    }))
}
