//! Training: data in, a certified model out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::charge::Charges;
use super::dual::Task;
use super::ended::{Ended, patience};
use super::error::{Error, Result};
use super::judge::{GapJudge, Proven};
use super::labels::{classes, counted, labels_of_all};
use super::proof::{Bounds, Goal};
use super::ranks::together;
use super::report::{ClassReport, Doubt, Report, Trained};
use super::snapshot::{FitKeeper, Kept, Progressed, TrainSnapshot};
use super::warm::Start;
use super::watch::{Labelled, Watch};
use super::{Kind, LinearModel, TrainSettings};
use equipoise::collective::Collective;
use equipoise::matrix::Rows;
use equipoise::solve::{Method, Observer, Settings, Solver, Status};
use equipoise::{Control, Experiment, Halt, Team};

/// What is learnt from: rows, one label each, and perhaps a weight each (a weight of k counts as k rows).
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    /// The features.
    pub rows: &'a Rows<'a>,
    /// One label (or target) a row.
    pub labels: &'a [f64],
    /// One weight a row, at least 0; `None` for 1 each.
    pub weights: Option<&'a [f64]>,
}

impl Samples<'_> {
    /// Refuses no rows, labels or weights of another length, and numbers that are none or negative.
    pub(super) fn check(&self) -> Result<()> {
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
    Plan::new(samples, settings, warm_start)?.train(watch, started)
}

/// Who and what accompanies every fit.
pub(super) struct Company<'c> {
    pub(super) control: &'c Control,
    pub(super) experiment: Option<&'c dyn Experiment>,
    pub(super) started: Instant,
    pub(super) resumed: Option<&'c TrainSnapshot>,
    pub(super) kept: Option<&'c Kept<'c>>,
    pub(super) multipliers: &'c [Option<Vec<f64>>],
}

impl Company<'_> {
    /// How far decision function k had come before.
    fn progressed(&self, k: usize) -> Option<&Progressed> {
        self.resumed.map(|snapshot| &snapshot.fits[k])
    }

    /// Multipliers at which decision function k begins, if they were given.
    fn multipliers(&self, k: usize) -> Option<&[f64]> {
        self.multipliers.get(k)?.as_deref()
    }
}

/// One decision function and how it was reached.
pub(super) struct Fit {
    pub(super) weights: Vec<f64>,
    pub(super) report: ClassReport,
    pub(super) multipliers: Option<Vec<f64>>,
}

/// What is to be trained, checked.
pub(super) struct Plan<'a> {
    pub(super) samples: Samples<'a>,
    pub(super) settings: &'a TrainSettings,
    pub(super) warm_start: Option<&'a LinearModel>,
    /// In ascending order; empty where there are no classes.
    pub(super) labels: Vec<f64>,
    /// The label of the positive side of every fit.
    pub(super) positive: Vec<f64>,
    /// The other ranks with rows of their own, where there are any, and the rows of all.
    pub(super) world: Option<Arc<dyn Collective>>,
    pub(super) rows_of_all: usize,
    /// Squared norms of the rows, which all fits share.
    pub(super) squared_norms: OnceLock<Arc<[f64]>>,
    /// How charges are made smaller, for fits that serve as a guess.
    pub(super) smaller: Smaller,
}

/// Charges that are made smaller: a share of all, and what is above a ceiling cut off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Smaller {
    pub(super) share: f64,
    pub(super) ceiling: f64,
}

impl Smaller {
    /// As they are.
    const NOT: Self = Self { share: 1.0, ceiling: f64::INFINITY };
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        samples: Samples<'a>,
        settings: &'a TrainSettings,
        warm_start: Option<&'a LinearModel>,
    ) -> Result<Self> {
        samples.check()?;
        let known = |label: f64| samples.labels.contains(&label);
        Self::of(samples, settings, warm_start, known, || counted(samples))
    }

    /// The same for the rows of all ranks, of which these are checked.
    pub(super) fn across(
        samples: Samples<'a>,
        settings: &'a TrainSettings,
        world: Arc<dyn Collective>,
    ) -> Result<Self> {
        let counts = labels_of_all(&world, samples)?;
        let mut rows = [samples.rows.len() as f64];
        world.sum(&mut rows)?;
        let known = |label: f64| counts.iter().any(|(known, _)| *known == label);
        let of_all = || counts.iter().copied().filter(|(_, count)| *count > 0).collect();
        let plan = Self::of(samples, settings, None, known, of_all)?;
        Ok(Self { world: Some(world), rows_of_all: rows[0] as usize, ..plan })
    }

    /// With whether a label occurs at all, and the labels that count, ascending, with their rows.
    fn of(
        samples: Samples<'a>,
        settings: &'a TrainSettings,
        warm_start: Option<&'a LinearModel>,
        occurs: impl Fn(f64) -> bool,
        counts: impl Fn() -> Vec<(f64, usize)>,
    ) -> Result<Self> {
        let (labels, positive) = match settings.kind {
            Kind::Svr | Kind::OneClass => (Vec::new(), vec![f64::NAN]),
            Kind::Svc | Kind::NuSvc => classes(&counts(), settings)?,
        };
        for (label, _) in &settings.class_weights {
            // A row that weighs nothing still shows that its label exists.
            if !occurs(*label) {
                let known = labels.iter().take(10).copied().collect();
                return Err(Error::UnknownLabel { label: *label, known });
            }
        }
        let fits = |model: &&LinearModel| {
            let same = model.weights.len() == positive.len() && model.labels == labels;
            same && model.weights.iter().all(|w| w.len() == samples.rows.columns())
        };
        Ok(Self {
            samples,
            settings,
            warm_start: warm_start.filter(fits),
            labels,
            positive,
            world: None,
            rows_of_all: samples.rows.len(),
            squared_norms: OnceLock::new(),
            smaller: Smaller::NOT,
        })
    }

    /// Every fit, as one model.
    pub(super) fn train(self, watch: Watch<'_>, started: Instant) -> Result<Trained> {
        let settings = self.settings;
        // The limit on time is for all fits together, and for what lies between them.
        let control = settings.time_limit.into_iter().fold(watch.control, Control::within);
        let fits = self.run(Watch { control, ..watch }, started)?;
        let bias = fits.iter().map(|fit| fit.report.bias).collect();
        let (mut weights, mut multipliers, mut classes) = (Vec::new(), Vec::new(), Vec::new());
        for fit in fits {
            weights.push(fit.weights);
            multipliers.push(fit.multipliers);
            classes.push(fit.report);
        }
        let model = LinearModel {
            kind: settings.kind,
            loss: settings.loss,
            labels: self.labels,
            cost: settings.cost,
            nu: settings.nu,
            epsilon: settings.epsilon,
            class_weights: settings.class_weights.clone(),
            weights,
            bias,
        };
        let report = Report { classes, seconds: started.elapsed().as_secs_f64() };
        Ok(Trained { model, report, multipliers })
    }

    /// Why work should end, if it should; on ranks all are told the same.
    fn halted(&self, control: &Control) -> Result<Option<Halt>> {
        match &self.world {
            None => Ok(control.halted()),
            Some(world) => Ok(world.halted(control)?),
        }
    }

    /// Snapshots of ranks are of the same step.
    fn same_stage(&self, resumed: Option<&TrainSnapshot>) -> Result<()> {
        let (Some(world), Some(snapshot)) = (&self.world, resumed) else { return Ok(()) };
        let stage = (snapshot.finished() as f64, snapshot.updates() as f64);
        let latest = (world.largest(stage.0)?, world.largest(stage.1)?);
        let complaint = "its snapshot is of an earlier step than that of another rank";
        Ok(world.agree((stage != latest).then_some(complaint))?)
    }

    /// Every fit, several side by side where threads allow.
    fn run(&self, watch: Watch<'_>, started: Instant) -> Result<Vec<Fit>> {
        let (fits, resumed) = (self.positive.len(), watch.resumed);
        let threads = if self.world.is_some() { 1 } else { self.settings.threads.min(fits) };
        let columns = self.samples.rows.columns();
        let what = "it is of other decision functions";
        let is_fit = resumed.is_none_or(|snapshot| snapshot.is_of(fits, columns));
        self.together(if is_fit { Ok(()) } else { Err(equipoise::Error::BadSnapshot { what }.into()) })?;
        self.same_stage(resumed)?;
        let so_far = || resumed.cloned().unwrap_or_else(|| TrainSnapshot::new(fits));
        let kept = watch.keeper.map(|keeper| Kept::new(so_far(), keeper));
        let (control, experiment) = (&watch.control, watch.experiment);
        let multipliers = watch.multipliers.unwrap_or_default();
        let company = Company { control, experiment, started, resumed, kept: kept.as_ref(), multipliers };
        let observer = watch.observer.map(Mutex::new);
        let fit = |k: usize| {
            let mut labelled =
                observer.as_ref().map(|observer| Labelled { observer, label: self.positive[k] });
            let told = labelled.as_mut().map(|labelled| labelled as &mut dyn Observer);
            self.fit(k, told, &company)
        };
        if threads <= 1 {
            return (0..self.positive.len()).map(fit).collect();
        }
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<Fit>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        if k >= self.positive.len() {
                            break;
                        }
                        let fitted = fit(k);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((k, fitted));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(k, _)| *k);
        done.into_iter().map(|(_, fit)| fit).collect()
    }

    /// Whether decision functions have a bias.
    pub(super) fn has_bias(&self) -> bool {
        self.settings.bias
    }

    /// Decision function k, checked, for passes by all threads.
    pub(super) fn single_task(&self, k: usize) -> Result<Task<'a>> {
        let rows = self.samples.rows;
        let team = Team::for_work(self.settings.threads, rows.entries() + rows.len());
        let task = self.task(k, Arc::new(team.across(self.world.clone())));
        task.check_caps()?;
        task.check_nu(self.settings)?;
        Ok(task)
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
            Kind::Svc | Kind::Svr => self.smaller.share * settings.cost,
            Kind::NuSvc | Kind::OneClass => 1.0,
        };
        let charges = Charges {
            cost,
            class_weights: &settings.class_weights,
            labels: samples.labels,
            weights: samples.weights,
            ceiling: self.smaller.ceiling,
        };
        let squared_norms = Arc::clone(self.squared_norms.get_or_init(|| {
            let mut norms = vec![0.0; samples.rows.len()];
            team.fill(&mut norms, |first, norms| {
                norms
                    .iter_mut()
                    .enumerate()
                    .for_each(|(k, norm)| *norm = samples.rows.squared_norm(first + k));
            });
            norms.into()
        }));
        Task {
            rows: samples.rows,
            kind: settings.kind,
            loss: settings.loss,
            targets,
            charges,
            caps: charges.below(),
            epsilon: settings.epsilon,
            nu: settings.nu,
            has_bias: settings.bias,
            largest_norm: team.largest(squared_norms.iter().copied().fold(0.0, f64::max)).sqrt(),
            squared_norms,
            samples: self.rows_of_all,
            team,
        }
    }

    /// One fit. Where there was no time to begin it, it is what it was before, if anything was: those after the first
    /// cost nothing, and those with a warm start have that.
    fn fit(&self, k: usize, observer: Option<&mut dyn Observer>, company: &Company<'_>) -> Result<Fit> {
        if let Some(Progressed::Finished { weights, report }) = company.progressed(k) {
            return Ok(Fit { weights: weights.clone(), report: report.clone(), multipliers: None });
        }
        let control = company.control;
        let has_something = k > 0 || self.warm_start.is_some();
        let halted = || -> Result<Option<Status>> {
            let halt = self.halted(control)?;
            Ok(halt.as_ref().and_then(Status::after).filter(|_| has_something))
        };
        if let Some(status) = halted()? {
            return Ok(self.untrained(k, status));
        }
        let fit = match (self.trained(k, observer, company), halted()?) {
            (Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. })), Some(status)) => {
                Ok(self.untrained(k, status))
            }
            (fit, _) => fit,
        };
        // One that was ended goes on another time.
        if let (Ok(Fit { weights, report, .. }), Some(kept)) = (&fit, company.kept)
            && !matches!(report.status, Status::Interrupted | Status::TimeLimit)
        {
            kept.finish(k, weights, report);
        }
        fit
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
            doubt: if self.warm_start.is_none() { Some(Doubt::Untrained) } else { None },
        };
        let nothing = || vec![0.0; self.samples.rows.columns()];
        let weights = self.warm_start.map_or_else(nothing, |model| model.weights[k].clone());
        Fit { weights, report, multipliers: None }
    }

    /// Threads for each of the fits that are made side by side; on ranks, one fit comes after the other.
    fn threads_of_a_fit(&self) -> usize {
        self.settings.threads.div_ceil(if self.world.is_some() { 1 } else { self.positive.len() })
    }

    /// Decision function k, checked, for one of several fits side by side.
    pub(super) fn task_of_fit(&self, k: usize) -> Result<Task<'a>> {
        let (settings, rows) = (self.settings, self.samples.rows);
        let shares_passes = settings.method != Method::Pairs;
        let in_passes = if shares_passes { self.threads_of_a_fit() } else { 1 };
        let team = Team::for_work(in_passes, rows.entries() + rows.len());
        let task = self.task(k, Arc::new(team.across(self.world.clone())));
        self.together(task.check_caps())?;
        task.check_nu(settings)?;
        Ok(task)
    }

    /// A fit with the charges of the task.
    pub(super) fn solved(
        &self,
        k: usize,
        task: &Task<'_>,
        observer: Option<&mut dyn Observer>,
        company: &Company<'_>,
        max_epochs: Option<f64>,
    ) -> Result<Fit> {
        let Company { control, experiment, started, kept, .. } = *company;
        let settings = self.settings;
        let threads = self.threads_of_a_fit();
        let with_purse = task.with_purse();
        let problem =
            self.together(task.problem(with_purse.as_ref().unwrap_or(task.rows)).map_err(Error::from))?;
        // Nothing is known yet: a model of nothing is no model.
        self.halted(control)?.map_or(Ok(()), Err).map_err(equipoise::Error::from)?;
        let time_limit = settings.time_limit.map(|most| (most - started.elapsed().as_secs_f64()).max(1e-9));
        let choices = Settings {
            method: settings.method,
            seed: settings.seed,
            max_epochs,
            time_limit,
            threads,
            locking: settings.locking,
            deterministic: settings.deterministic,
            ..Settings::default()
        };
        let least = task.least_scale(control).map_err(equipoise::Error::from)?;
        let goal = Goal { gap: settings.gap, least };
        let judge = GapJudge::new(task, goal);
        let mut solver = Solver::new(&problem, &choices).team(Arc::clone(&task.team));
        let limited = time_limit.into_iter().fold(control.clone(), Control::within);
        let (spent_updates, spent_epochs);
        if let Some(Progressed::UnderWay { updates, epochs, snapshot }) = company.progressed(k) {
            (spent_updates, spent_epochs) = (*updates, *epochs);
            solver = solver.resume(snapshot);
        } else {
            let given = company.multipliers(k).and_then(|given| self.given_start(given, task, &problem));
            let start = given.or_else(|| self.start(k, task, &problem, &limited));
            (spent_updates, spent_epochs) =
                start.as_ref().map_or((0, 0.0), |start| (start.updates, start.epochs));
            if let Some(Start { x, dual, .. }) = start {
                solver = solver.warm_start(x);
                if let Some((weights, multipliers)) = dual {
                    solver = solver.warm_dual(weights, multipliers);
                }
            }
        }
        let keeper = |kept| FitKeeper { kept, fit: k, updates: spent_updates, epochs: spent_epochs };
        let mut keeper = kept.map(keeper);
        if let Some(keeper) = &mut keeper {
            solver = solver.keeper(keeper);
        }
        if let Some(observer) = observer {
            solver = solver.observer(observer);
        }
        if let Some(experiment) = experiment {
            solver = solver.experiment(experiment);
        }
        let mut ended = Ended::of(solver.control(limited).run_judged(&judge), &problem)?;
        ended.updates += spent_updates;
        ended.epochs += spent_epochs;
        // Where nobody waits for the model there is none.
        company.control.afterwards(f64::INFINITY).check().map_err(equipoise::Error::from)?;
        let patience = patience(ended.status, company);
        self.concluded(k, task, ended, (judge, goal), &task.team.patient(&patience))
    }

    /// A result, where every rank has one.
    fn together<T>(&self, own: Result<T>) -> Result<T> {
        match &self.world {
            None => own,
            Some(world) => together(world, own),
        }
    }

    /// The fit with what is proven of it.
    fn concluded(
        &self,
        k: usize,
        task: &Task<'_>,
        ended: Ended,
        (judge, goal): (GapJudge<'_>, Goal),
        patience: &Control,
    ) -> Result<Fit> {
        let settings = self.settings;
        let mut x = ended.x;
        let (plain, proven) = judge.into_proven(&x, patience).map_err(equipoise::Error::from)?;
        let is_cut = proven.is_none();
        let proven = proven.unwrap_or_else(|| {
            let (weights, bias) = plain.written(settings.kind);
            Proven { weights, bias, bounds: Bounds::NONE }
        });
        let is_met = goal.is_met(proven.bounds);
        let has_no_margin = settings.kind == Kind::NuSvc && proven.is_zero() && is_met;
        let Proven { weights, bias, bounds } = proven;
        let status = match ended.status {
            Status::Stalled | Status::IterationLimit | Status::TimeLimit if is_met => Status::Converged,
            Status::Converged if !is_met => Status::Stalled,
            status => status,
        };
        let doubt = match status {
            _ if has_no_margin => Some(Doubt::NoMargin),
            Status::Converged => None,
            _ if is_cut => Some(Doubt::Stopped),
            _ if ended.overflows || !bounds.gap().is_finite() => Some(Doubt::Overflow),
            Status::Stalled => Some(Doubt::Rounding),
            _ => None,
        };
        x.truncate(self.samples.rows.len());
        let report = ClassReport {
            label: self.positive[k],
            status,
            primal: bounds.primal,
            dual: bounds.dual,
            relative_gap: bounds.relative_gap(goal.least),
            doubt,
            bias,
            infeasibility: plain.infeasibility,
            support: task.team.count(x.iter().filter(|t| **t != 0.0).count()),
            bounded_support: task.team.count(task.bounded(&x)),
            updates: ended.updates,
            epochs: ended.epochs,
        };
        if settings.kind == Kind::NuSvc {
            x.iter_mut().for_each(|beta| *beta /= plain.margin());
        }
        Ok(Fit { weights, report, multipliers: Some(x) })
    }
}
