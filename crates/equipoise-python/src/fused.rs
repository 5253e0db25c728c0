//! The fused lasso, trend filters and the generalised lasso: one fit, paths with criteria, the largest lambda, verification.
//!
//! - Given: observations, a penalty such as `("chain",)`, perhaps a design, the settings of `equipoise fused` as keywords.
//!   Returns: coefficients, their pieces, and what is proven of them.

use equipoise::{Control, Matrix, SparseMatrix};
use equipoise_models::fused::{
    self, Design, Edge, Fit, FitSettings, Penalty, Point, Signal, fit_from, lambda_max, lambdas, path, verify,
};
use numpy::{AllowTypeChange, PyArrayLike2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::answers::{answer, array, known};
use crate::data::{Held, Table};
use crate::errors::{Answered, refused};
use crate::options::{Options, numbers};
use crate::running::{Limits, Report, Talk, run};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fused_fit, module)?)?;
    module.add_function(wrap_pyfunction!(fused_path, module)?)?;
    module.add_function(wrap_pyfunction!(fused_lambda_max, module)?)?;
    module.add_function(wrap_pyfunction!(fused_verify, module)?)
}

/// D as Python gave it.
enum HeldPenalty<'py> {
    Made(Penalty),
    Matrix(Held<'py>),
}

impl<'py> HeldPenalty<'py> {
    fn of(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        const ALLOWED: &str = "(\"chain\",), (\"trend1\",), (\"trend2\",), (\"grid\", rows, columns), (\"graph\", edges, weights) or (\"matrix\", D)";
        let wrong = || refused(format!("penalty: expected {ALLOWED}"));
        let tuple = value.cast::<PyTuple>().map_err(|_| wrong())?;
        let name: String = tuple.get_item(0).and_then(|name| name.extract()).map_err(|_| wrong())?;
        Ok(match (name.as_str(), tuple.len()) {
            ("chain", 1) => Self::Made(Penalty::Chain),
            ("trend1", 1) => Self::Made(Penalty::Trend1),
            ("trend2", 1) => Self::Made(Penalty::Trend2),
            ("grid", 3) => {
                let (rows, columns) = (tuple.get_item(1)?.extract()?, tuple.get_item(2)?.extract()?);
                Self::Made(Penalty::Grid { rows, columns })
            }
            ("graph", 2 | 3) => {
                let weights = if tuple.len() == 3 { Some(tuple.get_item(2)?) } else { None };
                let weights = weights.filter(|weights| !weights.is_none());
                Self::Made(Penalty::Graph(edges(&tuple.get_item(1)?, weights.as_ref())?))
            }
            ("matrix", 2) => Self::Matrix(Held::of("penalty", &tuple.get_item(1)?)?),
            _ => return Err(wrong()),
        })
    }
}

/// Pairs of nodes, and a weight each.
fn edges(pairs: &Bound<'_, PyAny>, weights: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Edge>> {
    let pairs: PyArrayLike2<'_, i64, AllowTypeChange> =
        pairs.extract().map_err(|_| refused("edges: expected an array of two columns, one row an edge"))?;
    let pairs = pairs.as_array();
    if pairs.ncols() != 2 {
        return Err(refused(format!(
            "edges: found {} columns, expected 2, the nodes of an edge",
            pairs.ncols()
        )));
    }
    let weights = weights.map(|weights| numbers("weights of the edges", weights)).transpose()?;
    if let Some(found) = weights.as_ref().map(Vec::len).filter(|found| *found != pairs.nrows()) {
        return Err(refused(format!("found {found} weights for {} edges", pairs.nrows())));
    }
    let node = |edge: usize, side: usize| {
        let found = pairs[[edge, side]];
        usize::try_from(found)
            .map_err(|_| refused(format!("edge {edge}: node {found}; nodes are numbered from 0")))
    };
    (0..pairs.nrows())
        .map(|edge| {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[edge]);
            Ok(Edge { from: node(edge, 0)?, to: node(edge, 1)?, weight })
        })
        .collect()
}

/// Everything that a fit is told, beside y.
struct Asked<'py> {
    penalty: HeldPenalty<'py>,
    design: Option<Held<'py>>,
    /// Which coefficients are observed, of how many.
    observed: Option<(Vec<usize>, usize)>,
    settings: FitSettings,
    limits: Limits,
}

impl<'py> Asked<'py> {
    fn of(options: &Options<'py>) -> PyResult<Self> {
        let plain = FitSettings::default();
        let settings = FitSettings {
            lambda: plain.lambda,
            sparse: options.or("sparse", plain.sparse)?,
            gap: options.or("gap", plain.gap)?,
            method: options.named("method", plain.method)?,
            threads: options.or("threads", plain.threads)?,
            max_rounds: options.or("max_rounds", plain.max_rounds)?,
        };
        let design = options.raw("design")?.map(|x| Held::of("design", &x)).transpose()?;
        let observed: Option<(Vec<usize>, usize)> = options.get("observed")?;
        if design.is_some() && observed.is_some() {
            return Err(refused("design and observed: give one of them"));
        }
        let penalty = HeldPenalty::of(&options.need::<Bound<'py, PyAny>>("penalty")?)?;
        Ok(Self { penalty, design, observed, settings, limits: Limits::of(options)? })
    }
}

/// Work on a signal, with the interpreter free.
fn over<T: Send>(
    py: Python<'_>,
    y: &Bound<'_, PyAny>,
    asked: &Asked<'_>,
    work: impl FnOnce(Signal<'_>, &Talk<'_>) -> Answered<T> + Send,
) -> PyResult<T> {
    let y = numbers("y", y)?;
    let design = asked.design.as_ref().map(Held::table).transpose()?;
    let (made, matrix): (Option<&Penalty>, Option<Table<'_>>) = match &asked.penalty {
        HeldPenalty::Made(penalty) => (Some(penalty), None),
        HeldPenalty::Matrix(held) => (None, Some(held.table()?)),
    };
    let observed = asked.observed.as_ref();
    run(py, &asked.limits, |talk| {
        let control: &Control = talk.control();
        let design: Option<Matrix<'_>> = design.as_ref().map(|x| x.matrix(control)).transpose()?;
        let d: Option<SparseMatrix<'_>> = matrix.as_ref().map(|d| d.sparse(control)).transpose()?;
        let of_matrix = d.map(|d| Penalty::Matrix(d.into_owned()));
        let design = match (&design, observed) {
            (Some(x), _) => Design::Matrix(x),
            (None, Some((indices, coefficients))) => {
                Design::Observed { indices, coefficients: *coefficients }
            }
            (None, None) => Design::Identity,
        };
        let penalty = made.or(of_matrix.as_ref()).unwrap_or(&Penalty::Chain);
        work(Signal { y: &y, design, penalty }, talk)
    })
}

/// One fit, at `lam`.
#[pyfunction]
#[pyo3(signature = (y, **settings))]
fn fused_fit<'py>(
    py: Python<'py>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("fused_fit", settings);
    let (asked, lambda) = (Asked::of(&options)?, options.need("lam")?);
    let start = options.numbers("start")?;
    options.done()?;
    let settings = FitSettings { lambda, ..asked.settings.clone() };
    let found = over(py, &y, &asked, |signal, talk| {
        Ok(fit_from(signal, &settings, start.as_deref(), talk.control())?)
    })?;
    describe(py, found)
}

/// Fits along lambdas that fall: given, or `count` of them down to `ratio` of the largest.
#[pyfunction]
#[pyo3(signature = (y, **settings))]
fn fused_path<'py>(
    py: Python<'py>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("fused_path", settings);
    let (asked, given) = (Asked::of(&options)?, options.numbers("lambdas")?);
    let (count, ratio): (Option<usize>, Option<f64>) = (options.get("count")?, options.get("ratio")?);
    options.done()?;
    let (largest, points) = over(py, &y, &asked, |signal, talk| {
        let control = talk.control();
        let largest = match &given {
            Some(_) => fused::quick_lambda_max(signal, control)?,
            None => Some(lambda_max(signal, &asked.settings, control)?),
        };
        let list = match given {
            Some(given) => given,
            None => lambdas(largest.unwrap_or_default(), ratio.unwrap_or(1e-3), count.unwrap_or(50))?,
        };
        let mut round = 0;
        let points = path(signal, &asked.settings, &list, control, |fit| {
            round += 1;
            talk.tell(report_of(fit, round));
        })?;
        Ok((largest, points))
    })?;
    let list = PyList::empty(py);
    for Point { fit, residual, aic, bic, cp, .. } in points {
        let point = describe(py, fit)?;
        point.set_item("residual", residual)?;
        point.set_item("aic", aic)?;
        point.set_item("bic", bic)?;
        point.set_item("cp", cp)?;
        list.append(point)?;
    }
    Ok(answer!(py, { "lambda_max": largest, "points": list }))
}

/// The smallest lambda from which on nothing changes any more.
#[pyfunction]
#[pyo3(signature = (y, **settings))]
fn fused_lambda_max<'py>(
    py: Python<'py>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<f64> {
    let options = Options::new("fused_lambda_max", settings);
    let asked = Asked::of(&options)?;
    options.done()?;
    over(py, &y, &asked, |signal, talk| Ok(lambda_max(signal, &asked.settings, talk.control())?))
}

/// What is proven of coefficients, from raw data.
#[pyfunction]
#[pyo3(signature = (y, x, **settings))]
fn fused_verify<'py>(
    py: Python<'py>,
    y: Bound<'py, PyAny>,
    x: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("fused_verify", settings);
    let (asked, lambda, x) = (Asked::of(&options)?, options.need("lam")?, numbers("x", &x)?);
    options.done()?;
    let settings = FitSettings { lambda, ..asked.settings.clone() };
    let found = over(py, &y, &asked, |signal, talk| Ok(verify(signal, &settings, &x, talk.control())?))?;
    Ok(answer!(py, {
        "objective": found.objective,
        "bound": known(found.bound),
        "relative_gap": found.relative_gap,
    }))
}

fn report_of(fit: &Fit, round: usize) -> Report {
    Report {
        seconds: Some(fit.seconds_solve + fit.seconds_certify),
        objective: Some(fit.objective),
        bound: known(fit.bound),
        gap: Some(fit.relative_gap),
        label: Some(fit.lambda),
        round: Some(round),
        ..Report::default()
    }
}

fn describe(py: Python<'_>, fit: Fit) -> PyResult<Bound<'_, PyDict>> {
    Ok(answer!(py, {
        "x": array(py, fit.x),
        "segments": fit.segments,
        "breaks": fit.breaks,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "objective": fit.objective,
        "bound": known(fit.bound),
        "relative_gap": fit.relative_gap,
        "lambda": fit.lambda,
        "sparse": fit.sparse,
        "rounds": fit.rounds,
        "status": fit.status.name(),
        "method": fit.method.name(),
        "seconds": fit.seconds_solve + fit.seconds_certify,
    }))
}
