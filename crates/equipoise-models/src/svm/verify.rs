//! Checking a model, whoever found it: its own primal from above, the optimum from below.
//!
//! ```text
//! primal  an upper bound of the objective of the model as it is, in exact arithmetic
//! dual    a lower bound of the optimum, by training from the model
//! met     (primal - dual) / max(|dual|, 1e-12) <= the gap allowed       (of nu-svc another least size, see `spread`)
//! ```
//!
//! The bound is sought to a tenth of the gap, so that nearly all of it is left to the model. Nothing that the file claims is
//! believed.

use std::time::Instant;

use super::error::{Error, Result};
use super::proof::Bounds;
use super::train::Plan;
use super::{LinearModel, Samples, TrainSettings, Watch, train};

/// Share of the allowed gap to which the optimum is sought.
const SHARE_OF_THE_BOUND: f64 = 0.1;

/// One decision function, checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClassCheck {
    /// The label of the positive side; NaN for regression and one-class models.
    pub label: f64,
    /// The objective of the model, from above; infinite where nothing is proven.
    pub primal: f64,
    /// What no model gets below; minus infinity where nothing is proven.
    pub dual: f64,
    /// `(primal - dual) / max(|dual|, 1e-12)`, from above; as in [`ClassReport`](super::ClassReport).
    pub relative_gap: f64,
}

/// A model, checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// One a decision function.
    pub classes: Vec<ClassCheck>,
    /// Seconds taken.
    pub seconds: f64,
}

impl Check {
    /// Whether every decision function is optimal to this relative gap.
    pub fn meets(&self, gap: f64) -> bool {
        self.classes.iter().all(|class| class.relative_gap <= gap)
    }

    /// The largest of any decision function.
    pub fn relative_gap(&self) -> f64 {
        self.classes.iter().map(|class| class.relative_gap).fold(0.0, f64::max)
    }

    /// The sum over decision functions, from above.
    pub fn primal(&self) -> f64 {
        super::report::sum(self.classes.iter().map(|class| class.primal)).upper()
    }

    /// The sum over decision functions, from below.
    pub fn dual(&self) -> f64 {
        super::report::sum(self.classes.iter().map(|class| class.dual)).lower()
    }
}

/// Checks a model against the problem that samples and settings make. Kind, loss, cost and the like are those of the
/// settings; limits bind the search for the bound.
///
/// ```
/// use equipoise::matrix::Rows;
/// use equipoise_models::svm::{Samples, TrainSettings, Watch, train, verify};
/// let rows = Rows::new(1, vec![0, 1, 2, 3, 4], vec![0; 4], Some(vec![-2.0, -1.0, 1.0, 2.0]))?;
/// let samples = Samples { rows: &rows, labels: &[0.0, 0.0, 1.0, 1.0], weights: None };
/// let settings = TrainSettings::default();
/// let mut model = train(samples, &settings, None, Watch::default())?.model;
/// assert!(verify(samples, &settings, &model, Watch::default())?.meets(settings.gap));
/// model.weights[0][0] *= 2.0;
/// assert!(!verify(samples, &settings, &model, Watch::default())?.meets(settings.gap));
/// # Ok::<(), equipoise_models::svm::Error>(())
/// ```
pub fn verify(
    samples: Samples<'_>,
    settings: &TrainSettings,
    model: &LinearModel,
    watch: Watch<'_>,
) -> Result<Check> {
    let started = Instant::now();
    settings.validate()?;
    let plan = Plan::new(samples, settings, None)?;
    plan.check_model(model)?;
    let (mut primals, mut least) = (Vec::new(), Vec::new());
    for k in 0..plan.positive.len() {
        let task = plan.single_task(k)?;
        let (w, bias) = (&model.weights[k], model.bias[k]);
        let bound = || task.primal_above(w, &task.enclosed_scores(w, &watch.control)?, bias, &watch.control);
        primals.push(bound().map_err(equipoise::Error::from)?);
        least.push(task.least_scale(&watch.control).map_err(equipoise::Error::from)?);
    }
    let sharper = TrainSettings { gap: SHARE_OF_THE_BOUND * settings.gap, ..settings.clone() };
    let report = train(samples, &sharper, Some(model), watch)?.report;
    let checked = |((class, primal), least): ((&super::ClassReport, f64), f64)| {
        let bounds = Bounds { primal, dual: class.dual };
        ClassCheck { label: class.label, primal, dual: class.dual, relative_gap: bounds.relative_gap(least) }
    };
    let classes = report.classes.iter().zip(primals).zip(least).map(checked).collect();
    Ok(Check { classes, seconds: started.elapsed().as_secs_f64() })
}

impl Plan<'_> {
    /// Refuses a model of other labels or columns, or with a bias where there is none.
    fn check_model(&self, model: &LinearModel) -> Result<()> {
        if model.labels != self.labels {
            return Err(Error::OtherLabels { model: model.labels.clone(), data: self.labels.clone() });
        }
        let functions =
            [("weights of the model", model.weights.len()), ("bias of the model", model.bias.len())];
        for (input, found) in functions {
            let expected = self.positive.len();
            if found != expected {
                let (input, unit) = (input.into(), "decision functions");
                return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into());
            }
        }
        if let Some(index) = model.bias.iter().position(|bias| *bias != 0.0).filter(|_| !self.has_bias()) {
            let (input, found) = ("bias of the model".into(), model.bias[index]);
            let allowed = "0, for the problem has no bias";
            return Err(equipoise::Error::OutOfRange { input, index, found, allowed }.into());
        }
        for weights in &model.weights {
            let (found, expected) = (weights.len(), self.samples.rows.columns());
            if found != expected {
                let (input, unit) = ("weights of the model".into(), "columns");
                return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into());
            }
        }
        Ok(())
    }
}
