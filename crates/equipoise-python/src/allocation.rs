//! Resource allocation with prices: users with convex costs, rows that they serve together.
//!
//! - Given: groups of users as dictionaries (`kind` and parameters named as the columns of `equipoise allocate`), rows as
//!   `(name, sense, value)`. Returns: what everybody gives, prices with their ranges, and what is proven.

use std::sync::Arc;

use equipoise_allocation::{
    Allocation, Column, Cost, Costs, Piecewise, Polynomial, Problem, Row, Sense, Settings, Step, Users,
    Watch, allocate as solve, allocate_many as solve_many, sensitivity, supply_curve, verify,
};
use equipoise_formats::matpower::{CaseCost, read_case as read};
use numpy::{AllowTypeChange, PyArrayLike2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answers::{answer, array, known, table};
use crate::errors::{Fault, refused};
use crate::options::{Options, numbers};
use crate::running::{Limits, Report, run};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(allocate, module)?)?;
    module.add_function(wrap_pyfunction!(allocate_many, module)?)?;
    module.add_function(wrap_pyfunction!(allocate_verify, module)?)?;
    module.add_function(wrap_pyfunction!(allocate_supply, module)?)?;
    module.add_function(wrap_pyfunction!(read_case, module)?)
}

/// A dictionary of a group, each key taken once.
struct Group<'py> {
    place: usize,
    kind: String,
    dict: Bound<'py, PyDict>,
}

impl<'py> Group<'py> {
    fn raw(&self, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.dict.get_item(key)?.filter(|value| !value.is_none()))
    }

    /// One number for all, or one each.
    fn column(&self, key: &str, default: Option<f64>) -> PyResult<Column> {
        match (self.raw(key)?, default) {
            (Some(value), _) => column(&format!("groups[{}]: {key}", self.place), &value),
            (None, Some(default)) => Ok(Column::One(default)),
            (None, None) => {
                let Self { place, kind, .. } = self;
                Err(refused(format!("groups[{place}]: no \"{key}\"; {kind} costs need it")))
            }
        }
    }

    fn costs(&self, lower: &Column, upper: &Column) -> PyResult<Costs> {
        let column = |key: &str, default: f64| self.column(key, Some(default));
        Ok(match self.kind.as_str() {
            "quadratic" => {
                Costs::Quadratic { c2: column("c2", 0.0)?, c1: column("c1", 0.0)?, c0: column("c0", 0.0)? }
            }
            "linear" => Costs::Quadratic {
                c2: Column::One(0.0),
                c1: self.column("c1", None)?,
                c0: column("c0", 0.0)?,
            },
            "entropy" => Costs::Entropy {
                weight: column("weight", 1.0)?,
                reference: column("reference", 1.0)?,
                c1: column("c1", 0.0)?,
            },
            "power" => Costs::Power {
                weight: column("weight", 1.0)?,
                exponent: self.column("exponent", None)?,
                c1: column("c1", 0.0)?,
            },
            "log" => Costs::Log {
                weight: column("weight", 1.0)?,
                offset: column("offset", 0.0)?,
                c1: column("c1", 0.0)?,
            },
            "piecewise" => self.own("points", |_, value| {
                let points: Vec<(f64, f64)> = value.extract()?;
                Ok(Piecewise::new(&points).map(|cost| Arc::new(cost) as Arc<dyn Cost>))
            })?,
            "polynomial" => match self.quadratics()? {
                Some(costs) => costs,
                None => self.own("polynomial", |user, value| {
                    let cost =
                        Polynomial::new(numbers("polynomial", value)?, lower.get(user), upper.get(user));
                    Ok(cost.map(|cost| Arc::new(cost) as Arc<dyn Cost>))
                })?,
            },
            other => {
                let known = ["quadratic", "linear", "piecewise", "polynomial", "entropy", "power", "log"];
                let near = equipoise_formats::suggest::nearest(other, &known)
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let place = self.place;
                return Err(refused(format!(
                    "groups[{place}]: unknown kind {other:?}; known: {}{near}",
                    known.join(", ")
                )));
            }
        })
    }

    /// Polynomials of a degree of at most 2, for which there are closed forms.
    fn quadratics(&self) -> PyResult<Option<Costs>> {
        let Some(list) = self.raw("polynomial")? else { return Ok(None) };
        let mut columns: [Vec<f64>; 3] = Default::default();
        for value in list.try_iter()? {
            let coefficients = numbers("polynomial", &value?)?;
            if coefficients.iter().skip(3).any(|c| *c != 0.0) {
                return Ok(None);
            }
            let entries = columns.iter_mut().enumerate();
            entries.for_each(|(k, column)| column.push(coefficients.get(k).copied().unwrap_or(0.0)));
        }
        let [c0, c1, c2] = columns;
        Ok(Some(Costs::quadratic(c2, c1, c0)))
    }

    /// A cost of its own for every user.
    fn own(
        &self,
        key: &str,
        make: impl Fn(usize, &Bound<'py, PyAny>) -> PyResult<Result<Arc<dyn Cost>, String>>,
    ) -> PyResult<Costs> {
        let place = self.place;
        let Some(list) = self.raw(key)? else {
            return Err(refused(format!("groups[{place}]: no \"{key}\"; {} costs need it", self.kind)));
        };
        let mut costs = Vec::new();
        for (user, value) in list.try_iter()?.enumerate() {
            let said = |words: String| refused(format!("groups[{place}], user {user}: {words}"));
            costs.push(make(user, &value?)?.map_err(said)?);
        }
        Ok(Costs::Own(costs))
    }

    fn users(&self, rows: usize) -> PyResult<Users> {
        let place = self.place;
        let (lower, upper) = (self.column("lower", Some(0.0))?, self.column("upper", Some(f64::INFINITY))?);
        let costs = self.costs(&lower, &upper)?;
        let coefficients = match self.raw("coefficients")? {
            None => vec![Column::One(1.0); rows],
            Some(value) => {
                if let Ok(list) = value.extract::<PyArrayLike2<'_, f64, AllowTypeChange>>() {
                    list.as_array().rows().into_iter().map(|row| Column::Many(row.to_vec())).collect()
                } else {
                    let name = format!("groups[{place}]: coefficients");
                    value.try_iter()?.map(|row| column(&name, &row?)).collect::<PyResult<_>>()?
                }
            }
        };
        let given: Option<usize> = self.raw("count")?.map(|count| count.extract()).transpose()?;
        let count = given.or_else(|| inferred(&costs, [&lower, &upper].into_iter().chain(&coefficients)));
        let count = count.unwrap_or(1);
        let places = self.raw("places")?.map(|places| places.extract()).transpose()?;
        Ok(Users { count, costs, lower, upper, coefficients, places })
    }
}

fn column(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Column> {
    match value.extract::<f64>() {
        Ok(number) => Ok(Column::One(number)),
        Err(_) => numbers(name, value).map(Column::Many),
    }
}

/// How many users there are, by the first list that says so.
fn inferred<'a>(costs: &'a Costs, more: impl Iterator<Item = &'a Column>) -> Option<usize> {
    let of_costs: Vec<&Column> = match costs {
        Costs::Own(list) => return Some(list.len()),
        Costs::Quadratic { c2, c1, c0 } => vec![c2, c1, c0],
        Costs::Entropy { weight, reference, c1 } => vec![weight, reference, c1],
        Costs::Power { weight, exponent, c1 } => vec![weight, exponent, c1],
        Costs::Log { weight, offset, c1 } => vec![weight, offset, c1],
    };
    of_costs.into_iter().chain(more).find_map(|column| match column {
        Column::Many(list) => Some(list.len()),
        Column::One(_) => None,
    })
}

fn problem(groups: &Bound<'_, PyList>, rows: &Bound<'_, PyList>) -> PyResult<Problem> {
    let mut list = Vec::new();
    for row in rows {
        let (name, sense, value): (String, String, f64) = row
            .extract()
            .map_err(|_| refused("rows: expected a list of (name, \"=\" or \">=\" or \"<=\", number)"))?;
        list.push(Row { name, sense: sense.parse::<Sense>().map_err(Fault::from)?, value });
    }
    let mut users = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        let dict = group
            .cast_into::<PyDict>()
            .map_err(|_| refused(format!("groups[{place}]: expected a dictionary")))?;
        let kind: Option<Bound<'_, PyAny>> = dict.get_item("kind")?;
        let kind = kind.ok_or_else(|| refused(format!("groups[{place}]: no \"kind\"")))?.extract()?;
        users.push(Group { place, kind, dict }.users(list.len())?);
    }
    Ok(Problem::new(users, list).map_err(Fault::from)?)
}

fn settings_of(options: &Options<'_>) -> PyResult<Settings> {
    let plain = Settings::default();
    Ok(Settings { gap: options.or("gap", plain.gap)?, threads: options.or("threads", plain.threads)? })
}

/// Finds the cheapest allocation and its prices; `start` are prices.
#[pyfunction]
#[pyo3(signature = (groups, rows, **settings))]
fn allocate<'py>(
    py: Python<'py>,
    groups: Bound<'py, PyList>,
    rows: Bound<'py, PyList>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("allocate", settings);
    let (settings, start, limits) =
        (settings_of(&options)?, options.numbers("start")?, Limits::of(&options)?);
    let asks_rates = options.or("sensitivity", false)?;
    options.done()?;
    let problem = problem(&groups, &rows)?;
    let (found, rates) = run(py, &limits, |talk| {
        let mut tell = |step: &Step<'_>| talk.tell(report_of(step));
        let watch = Watch {
            control: talk.control().clone(),
            observer: if talk.is_heard() { Some(&mut tell) } else { None },
        };
        let found = solve(&problem, &settings, start.as_deref(), watch)?;
        let rates = if asks_rates { sensitivity(&problem, &found) } else { None };
        Ok((found, rates))
    })?;
    let answer = describe(py, found)?;
    let users = problem.users();
    answer.set_item("sensitivity", rates.map(|rates| table(py, users, &rates)).transpose()?)?;
    Ok(answer)
}

/// The same for many values of one row.
#[pyfunction]
#[pyo3(signature = (groups, rows, values, **settings))]
fn allocate_many<'py>(
    py: Python<'py>,
    groups: Bound<'py, PyList>,
    rows: Bound<'py, PyList>,
    values: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let options = Options::new("allocate_many", settings);
    let (settings, start, limits) =
        (settings_of(&options)?, options.numbers("start")?, Limits::of(&options)?);
    let (row, keep_x) = (options.or("row", 0)?, options.or("keep_x", true)?);
    options.done()?;
    let (problem, values) = (problem(&groups, &rows)?, numbers("values", &values)?);
    let found = run(py, &limits, |talk| {
        Ok(solve_many(&problem, row, &values, &settings, start.as_deref(), keep_x, talk.control())?)
    })?;
    let list = PyList::empty(py);
    for one in found {
        list.append(describe(py, one)?)?;
    }
    Ok(list)
}

/// What is proven of an allocation, from raw data.
#[pyfunction]
#[pyo3(signature = (groups, rows, x, prices=None, **settings))]
fn allocate_verify<'py>(
    py: Python<'py>,
    groups: Bound<'py, PyList>,
    rows: Bound<'py, PyList>,
    x: Bound<'py, PyAny>,
    prices: Option<Bound<'py, PyAny>>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("allocate_verify", settings);
    let (settings, limits) = (settings_of(&options)?, Limits::of(&options)?);
    options.done()?;
    let (problem, x) = (problem(&groups, &rows)?, numbers("x", &x)?);
    let prices = prices.map(|prices| numbers("prices", &prices)).transpose()?;
    let found =
        run(py, &limits, |talk| Ok(verify(&problem, &settings, &x, prices.as_deref(), talk.control())?))?;
    let answer = describe(py, found.allocation)?;
    answer.set_item("price_bound", found.price_bound.and_then(known))?;
    answer.set_item("prices_met", found.are_prices_met)?;
    Ok(answer)
}

/// Points (quantity, price) of what all users give together.
#[pyfunction]
fn allocate_supply(
    groups: Bound<'_, PyList>,
    rows: Bound<'_, PyList>,
    around: f64,
) -> PyResult<Vec<(f64, f64)>> {
    Ok(supply_curve(&problem(&groups, &rows)?, around))
}

/// A MATPOWER case: its demand, and its generators one by one.
#[pyfunction]
fn read_case(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let options = Options::new("read_case", None);
    let case = run(py, &Limits::of(&options)?, |talk| Ok(read(&path, talk.control())?))?;
    let generators = PyList::empty(py);
    for generator in case.generators {
        let one = answer!(py, {
            "number": generator.number,
            "bus": generator.bus,
            "lower": generator.least,
            "upper": generator.most,
            "in_service": generator.is_on,
            "ramp_10": generator.ramp_10,
            "line": generator.line,
        });
        match generator.cost {
            CaseCost::Piecewise(points) => one.set_item("points", points)?,
            CaseCost::Polynomial(list) => one.set_item("polynomial", array(py, list))?,
        }
        generators.append(one)?;
    }
    Ok(answer!(py, { "demand": case.demand, "generators": generators }))
}

fn report_of(step: &Step<'_>) -> Report {
    Report {
        seconds: Some(step.seconds),
        gap: Some(step.infeasibility),
        label: step.prices.first().copied(),
        round: Some(step.pass),
        ..Report::default()
    }
}

fn describe(py: Python<'_>, found: Allocation) -> PyResult<Bound<'_, PyDict>> {
    Ok(answer!(py, {
        "x": array(py, found.x),
        "prices": array(py, found.prices),
        "price_low": array(py, found.price_low),
        "price_high": array(py, found.price_high),
        "objective": found.objective,
        "bound": known(found.bound),
        "relative_gap": found.relative_gap,
        "infeasibility": found.infeasibility,
        "relative_infeasibility": found.relative_infeasibility,
        "passes": found.passes,
        "method": found.method,
        "status": found.status.name(),
        "seconds": found.seconds + found.seconds_certificate,
    }))
}
