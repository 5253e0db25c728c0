//! Least squares under bounds and a sum or equations: one target or many.
//!
//! - Given: x, targets, the region and the settings of `equipoise constrained` as keywords. Returns: weights with what is proven
//!   of them; for many targets one row, or one entry, each.

use std::time::Instant;

use equipoise::{Control, DenseMatrix};
use equipoise_models::constrained::{Data, Fit, Region, Round, Rows, Settings, Watch, fit, fit_many, verify};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::{answer, array, known, table};
use crate::data::{Held, Table};
use crate::errors::{Answered, refused};
use crate::options::{Options, numbers};
use crate::running::{Limits, Report, run};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(constrained_fit, module)?)?;
    module.add_function(wrap_pyfunction!(constrained_verify, module)?)
}

/// Everything that a fit is told, beside x and y.
struct Asked<'py> {
    lower: Vec<f64>,
    upper: Vec<f64>,
    total: Option<f64>,
    equations: Option<(Held<'py>, Vec<f64>)>,
    settings: Settings,
    weights: Option<Vec<f64>>,
    limits: Limits,
}

impl<'py> Asked<'py> {
    fn of(options: &Options<'py>, columns: usize) -> PyResult<Self> {
        let plain = Settings::default();
        let total: Option<f64> = options.get("total")?;
        let equations = match options.raw("equations")? {
            None => None,
            Some(given) => {
                let (rows, rhs): (Bound<'py, PyAny>, Bound<'py, PyAny>) =
                    given.extract().map_err(|_| refused("equations: expected a pair (A, b)"))?;
                Some((Held::of("equations", &rows)?, numbers("equations", &rhs)?))
            }
        };
        if total.is_some() && equations.is_some() {
            return Err(refused(
                "total and equations: give one of them; the sum may be one of the equations",
            ));
        }
        Ok(Self {
            lower: options.numbers_or("lower", columns, f64::NEG_INFINITY)?,
            upper: options.numbers_or("upper", columns, f64::INFINITY)?,
            total,
            equations,
            settings: Settings {
                ridge: options.or("ridge", plain.ridge)?,
                gap: options.or("gap", plain.gap)?,
                threads: options.or("threads", plain.threads)?,
            },
            weights: options.numbers("sample_weight")?,
            limits: Limits::of(options)?,
        })
    }

    /// The parts that the worker makes its region of.
    fn region(&self) -> PyResult<Draft<'_>> {
        let equations = match &self.equations {
            None => None,
            Some((rows, rhs)) => Some((rows.table()?, rhs.clone())),
        };
        Ok(Draft { lower: self.lower.clone(), upper: self.upper.clone(), total: self.total, equations })
    }
}

/// A region whose rows are still Python's.
struct Draft<'a> {
    lower: Vec<f64>,
    upper: Vec<f64>,
    total: Option<f64>,
    equations: Option<(Table<'a>, Vec<f64>)>,
}

impl Draft<'_> {
    fn finished(self, control: &Control) -> Answered<Region> {
        let rows = match (self.total, self.equations) {
            (Some(total), _) => Rows::Sum(total),
            (None, Some((matrix, rhs))) => {
                Rows::Equations { matrix: matrix.matrix(control)?.into_owned(), rhs }
            }
            (None, None) => Rows::None,
        };
        Ok(Region { lower: self.lower, upper: self.upper, rows })
    }
}

/// Targets as Python gave them: a list, or one a column.
enum Targets<'py> {
    One(Vec<f64>),
    Many(Held<'py>),
}

impl<'py> Targets<'py> {
    fn of(y: &Bound<'py, PyAny>) -> PyResult<Self> {
        let is_table = y.cast::<numpy::PyUntypedArray>().is_ok_and(|array| array.ndim() == 2);
        if is_table { Held::of("y", y).map(Self::Many) } else { numbers("y", y).map(Self::One) }
    }
}

/// Fits one target, or many on the same columns.
#[pyfunction]
#[pyo3(signature = (x, y, **settings))]
fn constrained_fit<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("constrained_fit", settings);
    let (held, targets) = (Held::of("x", &x)?, Targets::of(&y)?);
    let asked = Asked::of(&options, held.shape().1)?;
    let start = options.raw("start")?;
    options.done()?;
    let (view, draft, weights) = (held.table()?, asked.region()?, asked.weights.as_deref());
    match targets {
        Targets::One(y) => {
            let start = start.map(|start| numbers("start", &start)).transpose()?;
            let found = run(py, &asked.limits, |talk| {
                let (matrix, region) = (view.dense(talk.control())?, draft.finished(talk.control())?);
                let mut tell = |round: &Round| talk.tell(report_of(round));
                let watch = Watch {
                    control: talk.control().clone(),
                    observer: if talk.is_heard() { Some(&mut tell) } else { None },
                };
                Ok(fit(
                    &Data { matrix: &matrix, weights },
                    &y,
                    &region,
                    &asked.settings,
                    start.as_deref(),
                    watch,
                )?)
            })?;
            describe(py, found)
        }
        Targets::Many(y) => {
            let (y, start) = (y.table()?, start.map(|start| rows_of(&start)).transpose()?);
            let (found, seconds) = run(py, &asked.limits, |talk| {
                let control = talk.control();
                let (matrix, region) = (view.dense(control)?, draft.finished(control)?);
                let (targets, begun): (DenseMatrix<'_>, _) = (y.dense(control)?, Instant::now());
                let data = Data { matrix: &matrix, weights };
                let fits = fit_many(&data, &targets, &region, &asked.settings, start.as_deref(), control)?;
                Ok((fits, begun.elapsed().as_secs_f64()))
            })?;
            describe_many(py, &found, held.shape().1, seconds)
        }
    }
}

/// What is proven of weights, from raw data.
#[pyfunction]
#[pyo3(signature = (x, y, weights, **settings))]
fn constrained_verify<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    weights: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("constrained_verify", settings);
    let (held, y, x) = (Held::of("x", &x)?, numbers("y", &y)?, numbers("weights", &weights)?);
    let asked = Asked::of(&options, held.shape().1)?;
    options.done()?;
    let (view, draft, weights) = (held.table()?, asked.region()?, asked.weights.as_deref());
    let found = run(py, &asked.limits, |talk| {
        let (matrix, region) = (view.dense(talk.control())?, draft.finished(talk.control())?);
        Ok(verify(&Data { matrix: &matrix, weights }, &y, &region, &asked.settings, &x, talk.control())?)
    })?;
    describe(py, found)
}

/// One row a target.
fn rows_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    value.try_iter()?.map(|row| numbers("start", &row?)).collect()
}

fn report_of(round: &Round) -> Report {
    Report {
        seconds: Some(round.seconds),
        objective: Some(round.objective),
        bound: known(round.bound),
        gap: known(round.objective - round.bound),
        round: Some(round.round),
        ..Report::default()
    }
}

fn describe(py: Python<'_>, found: Fit) -> PyResult<Bound<'_, PyDict>> {
    Ok(answer!(py, {
        "x": array(py, found.x),
        "multipliers": array(py, found.multipliers),
        "objective": found.objective,
        "bound": known(found.bound),
        "relative_gap": found.relative_gap,
        "infeasibility": found.infeasibility,
        "holds_within": found.holds_within,
        "rounds": found.rounds,
        "method": found.method,
        "status": found.status.name(),
        "seconds": found.seconds,
    }))
}

fn describe_many<'py>(
    py: Python<'py>,
    found: &[Fit],
    columns: usize,
    seconds: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let of = |number: fn(&Fit) -> f64| array(py, found.iter().map(number).collect());
    let x: Vec<Vec<f64>> = found.iter().map(|one| one.x.clone()).collect();
    let multipliers: Vec<Vec<f64>> = found.iter().map(|one| one.multipliers.clone()).collect();
    let rows = multipliers.first().map_or(0, Vec::len);
    Ok(answer!(py, {
        "x": table(py, columns, &x)?,
        "multipliers": table(py, rows, &multipliers)?,
        "objective": of(|one| one.objective),
        "bound": of(|one| one.bound),
        "relative_gap": of(|one| one.relative_gap),
        "infeasibility": of(|one| one.infeasibility),
        "holds_within": found.iter().map(|one| one.holds_within).collect::<Vec<_>>(),
        "rounds": found.iter().map(|one| one.rounds).collect::<Vec<_>>(),
        "method": found.iter().map(|one| one.method).collect::<Vec<_>>(),
        "statuses": found.iter().map(|one| one.status.name()).collect::<Vec<_>>(),
        "status": overall(found),
        "seconds": seconds,
    }))
}

/// The first status that is not `converged`.
fn overall(found: &[Fit]) -> &'static str {
    let other = found.iter().map(|one| one.status).find(|status| *status != equipoise::Status::Converged);
    other.unwrap_or(equipoise::Status::Converged).name()
}
