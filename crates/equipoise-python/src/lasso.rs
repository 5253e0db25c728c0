//! The lasso under constraints: one fit, paths, cross-validation, stability selection, verification.
//!
//! - Given: x, targets, the settings of `equipoise lasso` as keywords. Returns: coefficients with what is proven of them.

use std::time::Instant;

use equipoise::{Control, Matrix, Status};
use equipoise_models::lasso::{
    Data, Error, Fitter, Lambdas, Loss, Point, Settings, cross_validate, path, stability, verify,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answers::{answer, array, known};
use crate::data::Held;
use crate::errors::{Answered, Fault, refused};
use crate::options::{Options, numbers};
use crate::running::{Limits, Report, Talk, run};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lasso_fit, module)?)?;
    module.add_function(wrap_pyfunction!(lasso_path, module)?)?;
    module.add_function(wrap_pyfunction!(lasso_cv, module)?)?;
    module.add_function(wrap_pyfunction!(lasso_stability, module)?)?;
    module.add_function(wrap_pyfunction!(lasso_verify, module)?)
}

/// Everything that a fit is told, beside x and y.
struct Asked<'py> {
    settings: Settings,
    constraints: Option<Held<'py>>,
    weights: Option<Vec<f64>>,
    limits: Limits,
}

impl<'py> Asked<'py> {
    fn of(options: &Options<'py>) -> PyResult<Self> {
        let plain = Settings::default();
        let loss = match options.get::<String>("loss")? {
            None => plain.loss,
            Some(name) => name.parse::<Loss>().map_err(refused)?,
        };
        let loss = match (loss, options.get::<f64>("huber")?) {
            (Loss::Huber(_), Some(delta)) => Loss::Huber(delta),
            (loss, None) => loss,
            (loss, Some(_)) => {
                return Err(refused(format!("huber belongs to loss=\"huber\", and the loss is {loss}")));
            }
        };
        let settings = Settings {
            loss,
            intercept: options.or("intercept", plain.intercept)?,
            l1_ratio: options.or("l1_ratio", plain.l1_ratio)?,
            penalties: options.numbers("penalties")?,
            gap: options.or("gap", plain.gap)?,
            threads: options.or("threads", plain.threads)?,
            ..plain
        };
        let constraints = options.raw("constraints")?;
        Ok(Self {
            settings,
            constraints: constraints.map(|rows| Held::of("constraints", &rows)).transpose()?,
            weights: options.numbers("sample_weight")?,
            limits: Limits::of(options)?,
        })
    }
}

/// What the worker has in hand.
struct Task<'a> {
    data: Data<'a>,
    settings: Settings,
    talk: &'a Talk<'a>,
}

impl Task<'_> {
    fn control(&self) -> &Control {
        self.talk.control()
    }

    fn fitter(&self) -> Answered<Fitter<'_>> {
        Ok(Fitter::new(self.data, &self.settings, self.control())?)
    }
}

/// Work on a regression, with the interpreter free.
fn over<T: Send>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    asked: &Asked<'_>,
    work: impl FnOnce(&Task<'_>) -> Answered<T> + Send,
) -> PyResult<T> {
    let (held, y) = (Held::of("x", x)?, numbers("y", y)?);
    let view = held.table()?;
    let rows = asked.constraints.as_ref().map(Held::table).transpose()?;
    let (settings, weights) = (asked.settings.clone(), asked.weights.as_deref());
    run(py, &asked.limits, |talk| {
        let x: Matrix<'_> = view.matrix(talk.control())?;
        let constraints = rows.map(|rows| Ok(rows.matrix(talk.control())?.into_owned()));
        let constraints = constraints.transpose().map_err(|error: Fault| error)?;
        let data = Data { x: &x, y: &y, weights };
        work(&Task { data, settings: Settings { constraints, ..settings }, talk })
    })
}

/// The lambda that is asked for, given the largest that matters.
#[derive(Clone, Copy)]
enum Wanted {
    Lambda(f64),
    Ratio(f64),
}

impl Wanted {
    fn of(options: &Options<'_>) -> PyResult<Self> {
        match (options.get("lam")?, options.get::<f64>("ratio")?) {
            (Some(lambda), None) => Ok(Self::Lambda(lambda)),
            (None, Some(ratio)) if ratio > 0.0 && ratio.is_finite() => Ok(Self::Ratio(ratio)),
            (None, Some(ratio)) => {
                Err(refused(format!("ratio is {ratio}; allowed: a number above 0, at most about 1")))
            }
            (Some(_), Some(_)) => Err(refused("lam and ratio: give one of them")),
            (None, None) => Err(refused("give lam, or ratio, its share of the largest lambda that matters")),
        }
    }

    fn resolve(self, lambda_max: f64) -> Answered<f64> {
        match self {
            Self::Lambda(lambda) if lambda > 0.0 && lambda.is_finite() => Ok(lambda),
            Self::Lambda(lambda) => {
                Err(Fault::Refused(format!("lam is {lambda}; it must be positive and finite")))
            }
            Self::Ratio(_) if lambda_max == 0.0 => Err(Error::NothingToExplain.into()),
            Self::Ratio(ratio) => Ok(ratio * lambda_max),
        }
    }
}

/// One fit.
#[pyfunction]
#[pyo3(signature = (x, y, **settings))]
fn lasso_fit<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("lasso_fit", settings);
    let (asked, wanted) = (Asked::of(&options)?, Wanted::of(&options)?);
    let start = options.numbers("start")?;
    options.done()?;
    let (lambda_max, point, seconds) = over(py, &x, &y, &asked, |task| {
        let begun = Instant::now();
        let mut fitter = task.fitter()?;
        let (lambda_max, lambda) = (fitter.lambda_max(), wanted.resolve(fitter.lambda_max())?);
        if let Some(start) = &start {
            fitter.start_at(start, task.control())?;
        }
        let point = fitter.fit(lambda, task.control())?;
        Ok((lambda_max, point, begun.elapsed().as_secs_f64()))
    })?;
    let found = describe(py, point)?;
    found.set_item("lambda_max", lambda_max)?;
    found.set_item("seconds", seconds)?;
    Ok(found)
}

/// `None`, a list, or how many down to which share of the largest.
fn lambdas(options: &Options<'_>) -> PyResult<Lambdas> {
    match options.raw("lambdas")? {
        None => Ok(Lambdas::default()),
        Some(value) => match value.extract::<(usize, f64)>() {
            Ok((count, least)) if value.is_instance_of::<pyo3::types::PyTuple>() => {
                Ok(Lambdas::Falling { count, least })
            }
            _ => numbers("lambdas", &value).map(Lambdas::Given),
        },
    }
}

/// Fits along a falling list of lambdas.
#[pyfunction]
#[pyo3(signature = (x, y, **settings))]
fn lasso_path<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("lasso_path", settings);
    let (asked, lambdas) = (Asked::of(&options)?, lambdas(&options)?);
    options.done()?;
    let (lambda_max, points, seconds) = over(py, &x, &y, &asked, |task| {
        let begun = Instant::now();
        let mut fitter = task.fitter()?;
        let lambda_max = fitter.lambda_max();
        let lambdas = lambdas.resolve(lambda_max)?;
        let mut round = 0;
        let points = path(&mut fitter, &lambdas, task.control(), |point| {
            round += 1;
            task.talk.tell(report_of(point, round, begun));
        })?;
        Ok((lambda_max, points, begun.elapsed().as_secs_f64()))
    })?;
    let list = PyList::empty(py);
    for point in points {
        list.append(describe(py, point)?)?;
    }
    Ok(answer!(py, { "lambda_max": lambda_max, "points": list, "seconds": seconds }))
}

fn report_of(point: &Point, round: usize, begun: Instant) -> Report {
    Report {
        seconds: Some(begun.elapsed().as_secs_f64()),
        objective: Some(point.objective),
        bound: Some(point.bound),
        gap: Some(point.relative_gap),
        label: Some(point.lambda),
        round: Some(round),
        ..Report::default()
    }
}

/// Prediction errors along a path, on folds that were left out.
#[pyfunction]
#[pyo3(signature = (x, y, **settings))]
fn lasso_cv<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("lasso_cv", settings);
    let (asked, lambdas) = (Asked::of(&options)?, lambdas(&options)?);
    let (folds, seed) = (options.need("folds")?, options.or("seed", 0)?);
    options.done()?;
    let (cv, seconds) = over(py, &x, &y, &asked, |task| {
        let begun = Instant::now();
        let tell = |fold: usize| {
            let seconds = Some(begun.elapsed().as_secs_f64());
            task.talk.tell(Report { seconds, round: Some(fold), ..Report::default() });
        };
        let cv = cross_validate(task.data, &task.settings, &lambdas, folds, seed, task.control(), tell)?;
        // Some of the folds choose nothing.
        if matches!(cv.status, Status::Interrupted | Status::TimeLimit) {
            return Err(equipoise::Error::StoppedEarly { by: cv.status.name() }.into());
        }
        Ok((cv, begun.elapsed().as_secs_f64()))
    })?;
    let list = PyList::empty(py);
    for one in cv.points {
        let point = describe(py, one.point)?;
        point.set_item("mean", one.error)?;
        point.set_item("standard_error", one.standard_error)?;
        list.append(point)?;
    }
    Ok(answer!(py, {
        "lambda_max": cv.lambda_max,
        "points": list,
        "best": cv.best,
        "one_se": cv.one_se,
        "seconds": seconds,
    }))
}

/// How often each coefficient is chosen on random halves of the rows.
#[pyfunction]
#[pyo3(signature = (x, y, **settings))]
fn lasso_stability<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("lasso_stability", settings);
    let (asked, wanted) = (Asked::of(&options)?, Wanted::of(&options)?);
    let (pairs, seed) = (options.or("pairs", 50)?, options.or("seed", 0)?);
    options.done()?;
    let (lambda, found) = over(py, &x, &y, &asked, |task| {
        let lambda = wanted.resolve(task.fitter()?.lambda_max())?;
        let tell = |round: usize| task.talk.tell(Report { round: Some(round), ..Report::default() });
        let found = stability(task.data, &task.settings, lambda, pairs, seed, task.control(), tell)?;
        Ok((lambda, found))
    })?;
    Ok(answer!(py, {
        "lambda": lambda,
        "frequencies": array(py, found.frequencies),
        "samples": found.samples,
        "converged": found.converged,
    }))
}

/// What is proven of coefficients, from raw data.
#[pyfunction]
#[pyo3(signature = (x, y, coefficients, fitted_intercept=None, **settings))]
fn lasso_verify<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    coefficients: Bound<'py, PyAny>,
    fitted_intercept: Option<f64>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("lasso_verify", settings);
    let (asked, coefficients) = (Asked::of(&options)?, numbers("coefficients", &coefficients)?);
    let lambda: f64 = options.need("lam")?;
    options.done()?;
    let point = over(py, &x, &y, &asked, |task| {
        let fitted = (coefficients.as_slice(), fitted_intercept);
        Ok(verify(task.data, &task.settings, lambda, fitted, task.control())?)
    })?;
    describe(py, point)
}

fn describe(py: Python<'_>, point: Point) -> PyResult<Bound<'_, PyDict>> {
    Ok(answer!(py, {
        "lambda": point.lambda,
        "coefficients": array(py, point.coefficients),
        "intercept": point.intercept,
        "objective": point.objective,
        "bound": known(point.bound),
        "relative_gap": point.relative_gap,
        "relative_infeasibility": point.relative_infeasibility,
        "multipliers": array(py, point.multipliers),
        "nonzeros": point.nonzeros,
        "products": point.products,
        "walks": point.walks,
        "status": point.status.name(),
    }))
}
