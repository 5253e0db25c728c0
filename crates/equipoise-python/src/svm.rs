//! Support vector machines: train, paths and cross-validation over costs, verification, decision values.
//!
//! - Given: x, labels, the settings of `equipoise svm train` as keywords. Returns: weights, biases, multipliers and what is proven
//!   of each decision function.

use equipoise::Status;
use equipoise::matrix::dot;
use equipoise_models::svm::{
    self, Check, ClassReport, CrossValidation, LinearModel, Samples, TrainSettings, Trained, Watch,
};
use numpy::{AllowTypeChange, PyArray2, PyArrayLike2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answers::{answer, array, flat_table, known, table};
use crate::data::{Held, Table};
use crate::errors::{Answered, refused};
use crate::options::{Options, numbers};
use crate::running::{Limits, Talk, Telling, run};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(svm_train, module)?)?;
    module.add_function(wrap_pyfunction!(svm_path, module)?)?;
    module.add_function(wrap_pyfunction!(svm_cv, module)?)?;
    module.add_function(wrap_pyfunction!(svm_verify, module)?)?;
    module.add_function(wrap_pyfunction!(svm_decision, module)?)
}

/// Everything that a training is told, beside its data.
struct Asked {
    settings: TrainSettings,
    weights: Option<Vec<f64>>,
    /// Where decision functions begin, a list for each.
    multipliers: Option<Vec<Option<Vec<f64>>>>,
    limits: Limits,
}

impl Asked {
    fn of(options: &Options<'_>) -> PyResult<Self> {
        let default = TrainSettings::default();
        let limits = Limits::of(options)?;
        let settings = TrainSettings {
            kind: options.named("kind", default.kind)?,
            loss: options.named("loss", default.loss)?,
            cost: options.or("cost", default.cost)?,
            nu: options.or("nu", default.nu)?,
            epsilon: options.or("epsilon", default.epsilon)?,
            bias: options.or("intercept", default.bias)?,
            gap: options.or("gap", default.gap)?,
            class_weights: options.or("class_weights", default.class_weights)?,
            method: options.named("method", default.method)?,
            threads: options.or("threads", default.threads)?,
            locking: options.named("locking", default.locking)?,
            deterministic: options.or("deterministic", default.deterministic)?,
            seed: options.or("seed", default.seed)?,
            time_limit: limits.seconds(),
            max_epochs: options.get("max_epochs")?,
        };
        Ok(Self { settings, weights: options.numbers("sample_weight")?, multipliers: None, limits })
    }

    /// An earlier model with these settings.
    fn model(&self, options: &Options<'_>, name: &'static str) -> PyResult<Option<LinearModel>> {
        let Some(earlier) = options.raw(name)? else { return Ok(None) };
        let cost = earlier.get_item("cost").ok().map(|cost| cost.extract()).transpose()?;
        let part = |key: &str| earlier.get_item(key).map_err(|_| refused(format!("{name} has no \"{key}\"")));
        let labels = numbers("labels", &part("labels")?)?;
        let weights = weight_rows(&part("weights")?)?;
        let bias = numbers("bias", &part("bias")?)?;
        Ok(Some(self.linear(labels, weights, bias, cost)))
    }

    /// The same with multipliers to begin at, where there are some: a row for each decision function.
    fn with_multipliers(self, options: &Options<'_>) -> PyResult<Self> {
        let Some(given) = options.raw("multipliers")? else { return Ok(self) };
        let rows = two_dimensional("multipliers", &given)?;
        Ok(Self { multipliers: Some(rows.into_iter().map(Some).collect()), ..self })
    }

    fn linear(
        &self,
        labels: Vec<f64>,
        weights: Vec<Vec<f64>>,
        bias: Vec<f64>,
        cost: Option<f64>,
    ) -> LinearModel {
        let TrainSettings { kind, loss, nu, epsilon, class_weights, .. } = self.settings.clone();
        let cost = cost.unwrap_or(self.settings.cost);
        LinearModel { kind, loss, cost, nu, epsilon, class_weights, labels, weights, bias }
    }
}

fn weight_rows(value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    two_dimensional("weights", value)
}

fn two_dimensional(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    let expected = "a two-dimensional array, one row a decision function";
    let rows: PyArrayLike2<'_, f64, AllowTypeChange> =
        value.extract().map_err(|_| refused(format!("{name}: expected {expected}")))?;
    Ok(rows.as_array().rows().into_iter().map(|row| row.to_vec()).collect())
}

/// Trains a support vector machine; keywords are the settings of `equipoise svm train`.
#[pyfunction]
#[pyo3(signature = (x, y, **settings))]
fn svm_train<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("svm_train", settings);
    let asked = Asked::of(&options)?.with_multipliers(&options)?;
    let warm = asked.model(&options, "warm")?;
    options.done()?;
    let trained = over(py, &x, &y, &asked, |samples, watch| {
        Ok(svm::train(samples, &asked.settings, warm.as_ref(), watch)?)
    })?;
    describe(py, trained)
}

/// The same for several costs, each begun where the one before ended.
#[pyfunction]
#[pyo3(signature = (x, y, costs, **settings))]
fn svm_path<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    costs: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let options = Options::new("svm_path", settings);
    let (asked, costs) = (Asked::of(&options)?, numbers("costs", &costs)?);
    options.done()?;
    let points =
        over(py, &x, &y, &asked, |samples, watch| Ok(svm::path(samples, &asked.settings, &costs, watch)?))?;
    let list = PyList::empty(py);
    for point in points {
        let cost = point.model.cost;
        let point = describe(py, point)?;
        point.set_item("cost", cost)?;
        list.append(point)?;
    }
    Ok(list)
}

/// Scores of several costs on folds that were left out.
#[pyfunction]
#[pyo3(signature = (x, y, costs, folds, **settings))]
fn svm_cv<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    costs: Bound<'py, PyAny>,
    folds: usize,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("svm_cv", settings);
    let (asked, costs) = (Asked::of(&options)?, numbers("costs", &costs)?);
    options.done()?;
    let found: CrossValidation = over(py, &x, &y, &asked, |samples, watch| {
        Ok(svm::cross_validate(samples, &asked.settings, &costs, folds, watch)?)
    })?;
    let of = |number: fn(&svm::CostScores) -> f64| array(py, found.costs.iter().map(number).collect());
    let scores: Vec<Vec<f64>> = found.costs.iter().map(|cost| cost.scores.clone()).collect();
    // A run that was ended has scores of the folds that were done, and there may be fewer of the last cost.
    let width = scores.iter().map(Vec::len).max().unwrap_or(0);
    let scores: Vec<Vec<f64>> = scores
        .into_iter()
        .map(|mut list| {
            list.resize(width, f64::NAN);
            list
        })
        .collect();
    Ok(answer!(py, {
        "costs": of(|cost| cost.cost),
        "scores": table(py, width, &scores)?,
        "mean": of(|cost| cost.mean),
        "relative_gap": of(|cost| cost.relative_gap),
        "statuses": found.costs.iter().map(|cost| cost.status.name()).collect::<Vec<_>>(),
        "status": found.status().name(),
        "best_cost": found.best_cost,
        "folds": found.folds,
        "seconds": found.seconds,
    }))
}

/// What is proven of a model, from raw data.
#[pyfunction]
#[pyo3(signature = (x, y, weights, bias, labels, **settings))]
fn svm_verify<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    weights: Bound<'py, PyAny>,
    bias: Bound<'py, PyAny>,
    labels: Bound<'py, PyAny>,
    settings: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options::new("svm_verify", settings);
    let asked = Asked::of(&options)?;
    options.done()?;
    let model =
        asked.linear(numbers("labels", &labels)?, weight_rows(&weights)?, numbers("bias", &bias)?, None);
    let check: Check =
        over(py, &x, &y, &asked, |samples, watch| Ok(svm::verify(samples, &asked.settings, &model, watch)?))?;
    let classes = PyList::empty(py);
    for class in &check.classes {
        classes.append(answer!(py, {
            "label": known(class.label),
            "primal": class.primal,
            "dual": class.dual,
            "relative_gap": class.relative_gap,
        }))?;
    }
    Ok(answer!(py, {
        "primal": check.primal(),
        "dual": check.dual(),
        "relative_gap": check.relative_gap(),
        "meets": check.meets(asked.settings.gap),
        "classes": classes,
        "seconds": check.seconds,
    }))
}

/// `x w + b` for every row of x and every decision function.
#[pyfunction]
fn svm_decision<'py>(
    py: Python<'py>,
    x: Bound<'py, PyAny>,
    weights: Bound<'py, PyAny>,
    bias: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let options = Options::new("svm_decision", None);
    let (held, weights, bias) = (Held::of("x", &x)?, weight_rows(&weights)?, numbers("bias", &bias)?);
    let (rows, columns) = held.shape();
    if weights.len() != bias.len() {
        return Err(refused(format!("found {} rows of weights and {} biases", weights.len(), bias.len())));
    }
    if let Some(row) = weights.iter().find(|row| row.len() != columns) {
        return Err(refused(format!("X has {columns} features, but the model has {}", row.len())));
    }
    let view = held.table()?;
    let values = run(py, &Limits::of(&options)?, |talk| decisions(&view, &weights, &bias, talk))?;
    flat_table(py, [rows, bias.len()], values)
}

fn decisions(view: &Table<'_>, weights: &[Vec<f64>], bias: &[f64], talk: &Talk<'_>) -> Answered<Vec<f64>> {
    let ((count, columns), control) = (view.shape(), talk.control());
    let mut values = Vec::with_capacity(count * bias.len());
    if let Table::Double(dense) = view {
        let mut buffer = vec![0.0; columns];
        control.in_parts(count, columns, |part| {
            for i in part {
                let row = dense.row(i);
                let row = row.as_slice().unwrap_or_else(|| {
                    buffer.iter_mut().zip(row).for_each(|(own, value)| *own = *value);
                    &buffer
                });
                values.extend(weights.iter().zip(bias).map(|(w, b)| dot(row, w) + b));
            }
        })?;
        return Ok(values);
    }
    let rows = view.rows(control)?;
    let each = rows.entries() / rows.len().max(1);
    control.in_parts(count, each, |part| {
        for i in part {
            values.extend(weights.iter().zip(bias).map(|(w, b)| rows.dot(i, w) + b));
        }
    })?;
    Ok(values)
}

/// Work on samples, with the interpreter free.
fn over<T: Send>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    asked: &Asked,
    work: impl FnOnce(Samples<'_>, Watch<'_>) -> Answered<T> + Send,
) -> PyResult<T> {
    let (held, labels) = (Held::of("x", x)?, numbers("y", y)?);
    let (view, weights) = (held.table()?, asked.weights.as_deref());
    run(py, &asked.limits, |talk| {
        let rows = view.rows(talk.control())?;
        let mut telling = Telling::of_dual(talk);
        let watch = Watch {
            control: talk.control().clone(),
            observer: if talk.is_heard() { Some(&mut telling) } else { None },
            multipliers: asked.multipliers.as_deref(),
            ..Watch::default()
        };
        work(Samples { rows: &rows, labels: &labels, weights }, watch)
    })
}

fn describe(py: Python<'_>, trained: Trained) -> PyResult<Bound<'_, PyDict>> {
    let Trained { model, report, multipliers, .. } = trained;
    let columns = model.weights.first().map_or(0, Vec::len);
    let classes = PyList::empty(py);
    for class in &report.classes {
        classes.append(of_class(py, class)?)?;
    }
    let epochs = report.classes.iter().map(|class| class.epochs).fold(0.0, f64::max);
    Ok(answer!(py, {
        "labels": array(py, model.labels),
        "weights": table(py, columns, &model.weights)?,
        "bias": array(py, model.bias),
        "multipliers": multipliers.into_iter().map(|list| list.map(|list| array(py, list))).collect::<Vec<_>>(),
        "status": report.status().name(),
        "converged": report.status() == Status::Converged,
        "objective": report.primal(),
        "bound": report.dual(),
        "relative_gap": report.relative_gap(),
        "epochs": epochs,
        "updates": report.classes.iter().map(|class| class.updates).sum::<u64>(),
        "seconds": report.seconds,
        "doubt": report.doubt().map(|doubt| doubt.to_string()),
        "classes": classes,
    }))
}

fn of_class<'py>(py: Python<'py>, class: &ClassReport) -> PyResult<Bound<'py, PyDict>> {
    Ok(answer!(py, {
        "label": known(class.label),
        "status": class.status.name(),
        "primal": class.primal,
        "dual": class.dual,
        "relative_gap": class.relative_gap,
        "support": class.support,
        "bounded_support": class.bounded_support,
        "updates": class.updates,
        "epochs": class.epochs,
        "infeasibility": class.infeasibility,
        "doubt": class.doubt.map(|doubt| doubt.to_string()),
    }))
}
