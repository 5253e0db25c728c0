//! Training: data in, a certified model out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::dual::Task;
use super::error::{Error, Result};
use super::evaluate::GapJudge;
use super::report::{ClassReport, Report, Trained};
use super::{Kind, LinearModel, TrainSettings};
use equipoise::matrix::Rows;
use equipoise::separable::Values;
use equipoise::solve::{Method, Observer, Progress, Settings, Solver, Status};
use equipoise::{Control, Experiment, Team};

/// What is learnt from: rows, one label each, and perhaps a weight each (a weight of k counts as k rows).
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    /// The features.
    pub rows: &'a Rows,
    /// One label (or target) a row.
    pub labels: &'a [f64],
    /// One weight a row, at least 0; `None` for 1 each.
    pub weights: Option<&'a [f64]>,
}

impl Samples<'_> {
    /// Refuses no rows, labels or weights of another length, and numbers that are none or negative.
    fn check(&self) -> Result<()> {
        if self.rows.is_empty() {
            return Err(equipoise::Error::EmptyProblem.into());
        }
        self.check_lengths()?;
        check_finite("labels", self.labels)?;
        let weights = self.weights.unwrap_or_default();
        check_finite("sample weights", weights)?;
        match weights.iter().position(|weight| *weight < 0.0) {
            None => Ok(()),
            Some(index) => {
                let input = "sample weights".into();
                Err(equipoise::Error::NegativeWeight { input, index, found: weights[index] }.into())
            }
        }
    }

    /// Refuses labels or weights that are not one a row.
    pub(super) fn check_lengths(&self) -> Result<()> {
        let expected = self.rows.len();
        let weights = self.weights.map_or(expected, <[f64]>::len);
        for (input, found) in [("labels", self.labels.len()), ("sample weights", weights)] {
            if found != expected {
                let (input, unit) = (input.into(), "entries");
                return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into());
            }
        }
        Ok(())
    }
}

fn check_finite(input: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(row) => {
            let found = values[row];
            Err(equipoise::Error::NonFinite { input: input.into(), row, column: 0, found }.into())
        }
    }
}

/// Who accompanies a training run.
#[derive(Default)]
pub struct Watch<'a> {
    /// Is told of every checkpoint of every fit.
    pub observer: Option<&'a mut (dyn Observer + Send)>,
    /// Changes what several threads do, for the sake of an experiment.
    pub experiment: Option<&'a dyn Experiment>,
    /// Ends the run.
    pub control: Control,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// Trains a model, from the weights of an earlier one where given.
///
/// ```
/// use equipoise::matrix::Rows;
/// use equipoise_models::svm::{Samples, TrainSettings, Watch, train};
/// // Four points on a line: -2, -1 | 1, 2.
/// let rows = Rows::new(1, vec![0, 1, 2, 3, 4], vec![0; 4], Some(vec![-2.0, -1.0, 1.0, 2.0]))?;
/// let samples = Samples { rows: &rows, labels: &[0.0, 0.0, 1.0, 1.0], weights: None };
/// let trained = train(samples, &TrainSettings { gap: 1e-9, ..Default::default() }, None, Watch::default())?;
/// assert!((trained.model.weights[0][0] - 1.0).abs() < 1e-6 && trained.model.bias[0].abs() < 1e-6);
/// assert_eq!(trained.model.predict(&rows), [0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), equipoise_models::svm::Error>(())
/// ```
pub fn train(
    samples: Samples<'_>,
    settings: &TrainSettings,
    warm_start: Option<&LinearModel>,
    watch: Watch<'_>,
) -> Result<Trained> {
    let started = Instant::now();
    settings.validate()?;
    let plan = Plan::new(samples, settings, warm_start)?;
    // The limit on time is for all fits together, and for what lies between them.
    let control = settings.time_limit.into_iter().fold(watch.control, Control::within);
    let fits = plan.run(Watch { control, ..watch }, started)?;
    let (weights, bias) = fits.iter().map(|fit| (fit.weights.clone(), fit.report.bias)).unzip();
    let model = LinearModel {
        kind: settings.kind,
        loss: settings.loss,
        labels: plan.labels,
        cost: settings.cost,
        nu: settings.nu,
        epsilon: settings.epsilon,
        weights,
        bias,
    };
    let classes = fits.into_iter().map(|fit| fit.report).collect();
    Ok(Trained { model, report: Report { classes, seconds: started.elapsed().as_secs_f64() } })
}

/// An observer that fits on several threads take turns to tell.
struct Shared<'m, 'o>(&'m Mutex<&'o mut (dyn Observer + Send)>);

impl Observer for Shared<'_, '_> {
    fn checkpoint(&mut self, progress: &Progress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).checkpoint(progress);
    }
    fn heartbeat(&mut self, update: u64, epoch: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).heartbeat(update, epoch);
    }
}

/// One decision function and how it was reached.
struct Fit {
    weights: Vec<f64>,
    report: ClassReport,
}

/// What is to be trained, checked.
struct Plan<'a> {
    samples: Samples<'a>,
    settings: &'a TrainSettings,
    warm_start: Option<&'a LinearModel>,
    /// In ascending order; empty where there are no classes.
    labels: Vec<f64>,
    /// The label of the positive side of every fit.
    positive: Vec<f64>,
}

impl<'a> Plan<'a> {
    fn new(
        samples: Samples<'a>,
        settings: &'a TrainSettings,
        warm_start: Option<&'a LinearModel>,
    ) -> Result<Self> {
        samples.check()?;
        let (labels, positive) = match settings.kind {
            Kind::Svr | Kind::OneClass => (Vec::new(), vec![f64::NAN]),
            Kind::Svc | Kind::NuSvc => classes(samples, settings)?,
        };
        for (label, _) in &settings.class_weights {
            // A row that weighs nothing still shows that its label exists.
            if !samples.labels.contains(label) {
                let known = labels.iter().take(10).copied().collect();
                return Err(Error::UnknownLabel { label: *label, known });
            }
        }
        let fits = |model: &&LinearModel| {
            let same = model.weights.len() == positive.len() && model.labels == labels;
            same && model.weights.iter().all(|w| w.len() == samples.rows.columns())
        };
        Ok(Self { samples, settings, warm_start: warm_start.filter(fits), labels, positive })
    }

    /// Every fit, several side by side where threads allow.
    fn run(&self, watch: Watch<'_>, started: Instant) -> Result<Vec<Fit>> {
        let threads = self.settings.threads.min(self.positive.len());
        if threads <= 1 {
            let mut watch = watch;
            return (0..self.positive.len())
                .map(|k| {
                    let observer: Option<&mut dyn Observer> = match &mut watch.observer {
                        Some(observer) => Some(&mut **observer),
                        None => None,
                    };
                    self.fit(k, observer, &watch.control, watch.experiment, started)
                })
                .collect();
        }
        let next = AtomicUsize::new(0);
        let (control, experiment) = (&watch.control, watch.experiment);
        let observer = watch.observer.map(Mutex::new);
        let done: Mutex<Vec<(usize, Result<Fit>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        if k >= self.positive.len() {
                            break;
                        }
                        let mut shared = observer.as_ref().map(Shared);
                        let told = shared.as_mut().map(|shared| shared as &mut dyn Observer);
                        let fit = self.fit(k, told, control, experiment, started);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((k, fit));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(k, _)| *k);
        done.into_iter().map(|(_, fit)| fit).collect()
    }

    fn task(&self, k: usize, team: Arc<Team>) -> Task<'a> {
        let (samples, settings) = (self.samples, self.settings);
        let positive = self.positive[k];
        let targets = match settings.kind {
            Kind::Svr | Kind::OneClass => samples.labels.to_vec(),
            Kind::Svc | Kind::NuSvc => {
                samples.labels.iter().map(|label| if *label == positive { 1.0 } else { -1.0 }).collect()
            }
        };
        let cost = match settings.kind {
            Kind::Svc | Kind::Svr => settings.cost,
            Kind::NuSvc | Kind::OneClass => 1.0,
        };
        let of_class = |label: f64| {
            settings
                .class_weights
                .iter()
                .find(|(named, _)| *named == label)
                .map_or(1.0, |(_, weight)| *weight)
        };
        let caps = if samples.weights.is_none() && settings.class_weights.is_empty() {
            Values::Uniform(cost)
        } else {
            let of_sample = |i: usize| samples.weights.map_or(1.0, |weights| weights[i]);
            let each = samples.labels.iter().enumerate();
            Values::Each(each.map(|(i, label)| cost * of_class(*label) * of_sample(i)).collect())
        };
        let (rows, kind, loss) = (samples.rows, settings.kind, settings.loss);
        Task { rows, kind, loss, targets, caps, epsilon: settings.epsilon, nu: settings.nu, team }
    }

    /// One fit. Where there was no time to begin it, it is what it was before, if anything was: those after the first
    /// cost nothing, and those with a warm start have that.
    fn fit(
        &self,
        k: usize,
        observer: Option<&mut dyn Observer>,
        control: &Control,
        experiment: Option<&dyn Experiment>,
        started: Instant,
    ) -> Result<Fit> {
        let has_something = k > 0 || self.warm_start.is_some();
        let halted = || control.halted().as_ref().and_then(Status::after).filter(|_| has_something);
        if let Some(status) = halted() {
            return Ok(self.untrained(k, status));
        }
        match (self.trained(k, observer, control, experiment, started), halted()) {
            (Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. })), Some(status)) => {
                Ok(self.untrained(k, status))
            }
            (fit, _) => fit,
        }
    }

    /// A decision function of which nothing is known but where it would have begun; without that it never answers for its
    /// label.
    fn untrained(&self, k: usize, status: Status) -> Fit {
        let report = ClassReport {
            label: self.positive[k],
            status,
            primal: f64::INFINITY,
            dual: 0.0,
            relative_gap: f64::INFINITY,
            bias: self.warm_start.map_or(-1.0, |model| model.bias[k]),
            infeasibility: 0.0,
            support: 0,
            bounded_support: 0,
            updates: 0,
            epochs: 0.0,
        };
        let nothing = || vec![0.0; self.samples.rows.columns()];
        Fit { weights: self.warm_start.map_or_else(nothing, |model| model.weights[k].clone()), report }
    }

    fn trained(
        &self,
        k: usize,
        observer: Option<&mut dyn Observer>,
        control: &Control,
        experiment: Option<&dyn Experiment>,
        started: Instant,
    ) -> Result<Fit> {
        let settings = self.settings;
        let threads = settings.threads.div_ceil(self.positive.len());
        let rows = self.samples.rows;
        let shares_passes = settings.method != Method::Pairs && settings.kind != Kind::NuSvc;
        let in_passes = if shares_passes { threads } else { 1 };
        let team = Arc::new(Team::for_work(in_passes, rows.entries() + rows.len()));
        let task = self.task(k, Arc::clone(&team));
        task.check_caps()?;
        task.check_nu(settings)?;
        let problem = task.problem()?;
        // Nothing is known yet: a model of nothing is no model.
        control.check().map_err(equipoise::Error::from)?;
        let time_limit = settings.time_limit.map(|most| (most - started.elapsed().as_secs_f64()).max(1e-9));
        let choices = Settings {
            method: settings.method,
            seed: settings.seed,
            max_epochs: settings.max_epochs,
            time_limit,
            threads,
            locking: settings.locking,
            deterministic: settings.deterministic,
            ..Settings::default()
        };
        let judge = GapJudge { task: &task, gap: settings.gap, last: Mutex::new(None) };
        let mut solver = Solver::new(&problem, &choices).team(team);
        // The nearest feasible point under two sums is dear, and nu-svc does well without.
        if let Some(model) = self.warm_start.filter(|_| settings.kind != Kind::NuSvc) {
            // A guess that cannot be made feasible to rounding is no start: the fit begins afresh.
            let guess =
                problem.nearest_feasible_within(&task.guess(&model.weights[k], model.bias[k]), control);
            let coupling = problem.coupling();
            let feasible = |x: &Vec<f64>| coupling.miss(x).is_feasible();
            if let Some(start) = guess.ok().filter(feasible) {
                solver = solver.warm_start(start);
            }
        }
        if let Some(observer) = observer {
            solver = solver.observer(observer);
        }
        if let Some(experiment) = experiment {
            solver = solver.experiment(experiment);
        }
        let solution = solver.control(control.clone()).run_judged(&judge)?;
        let mut found = judge.into_evaluation(&solution.x);
        if settings.kind == Kind::NuSvc && found.is_zero() {
            return Err(Error::NoMargin { nu: settings.nu, most: task.largest_nu() });
        }
        let report = ClassReport {
            label: self.positive[k],
            status: solution.status,
            primal: found.primal,
            dual: found.dual,
            relative_gap: found.relative_gap(),
            bias: if settings.kind == Kind::NuSvc { found.bias / found.margin() } else { found.bias },
            infeasibility: found.infeasibility,
            support: solution.x.iter().filter(|t| **t != 0.0).count(),
            bounded_support: task.bounded(&solution.x),
            updates: solution.updates,
            epochs: solution.epochs,
        };
        if settings.kind == Kind::NuSvc {
            let margin = found.margin();
            found.w.iter_mut().for_each(|w| *w /= margin);
        }
        Ok(Fit { weights: found.w, report })
    }
}

/// The labels in ascending order, and the positive label of every fit.
fn classes(samples: Samples<'_>, settings: &TrainSettings) -> Result<(Vec<f64>, Vec<f64>)> {
    let counts = |i: usize| samples.weights.is_none_or(|weights| weights[i] > 0.0);
    let mut labels: Vec<f64> = Vec::new();
    for (i, label) in samples.labels.iter().enumerate() {
        // 0 and -0 are one label.
        let label = *label + 0.0;
        if counts(i)
            && let Err(place) = labels.binary_search_by(|known| known.total_cmp(&label))
        {
            labels.insert(place, label);
        }
    }
    match labels.len() {
        0 | 1 => {
            let rows = (0..samples.labels.len()).filter(|&i| counts(i)).count();
            Err(Error::OneClassOnly { rows, label: labels.first().copied().unwrap_or(f64::NAN) })
        }
        2 => Ok((labels.clone(), vec![labels[1]])),
        found if settings.kind == Kind::NuSvc => Err(Error::TooManyClasses { kind: "nu-svc", found }),
        _ => Ok((labels.clone(), labels)),
    }
}
