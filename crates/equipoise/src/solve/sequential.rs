//! Algorithm 1 on one core: the reference loop.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to A x = b`, from a feasible start.
//! # Requires
//! A validated [`Problem`]; f with the four methods of [`SmoothTerm`], h with prox and subdifferential.
//! # Per-iteration cost
//! The gradients and product updates of two blocks, and the pair step of `pair_step/`.
//! # Guarantees
//! Every iterate is feasible and in the domain; the objective never rises; the same seed gives the same bits.
//! `Converged` is said only when the independent certificate says so.
//! # Reference
//! Reddi, Hefny, Downey, Dubey, Sra (UAI 2015), Algorithm 1.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::free_step::FreeStep;
use super::full_step::FullStep;
use super::observer::{Observer, Progress};
use super::pairs::PairUpdater;
use super::repair::repair;
use super::{Method, Settings, Solution, Status};
use crate::certificate::{Certificate, Effort, check_with, separable_value};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::state::State;

/// Most updates between two looks at the clock and the interrupt flag.
const MOST_UPDATES_PER_LOOK: u64 = 4096;
/// Seconds between two looks that are aimed at. They change how often the clock is read, not what is computed.
const SECONDS_PER_LOOK: f64 = 2e-3;
/// Fewest updates between two checkpoints.
const FEWEST_UPDATES: u64 = 32;
/// Checkpoints come whenever the work has grown by this share since the last one.
const CHECKPOINT_GROWTH: f64 = 0.3;
/// With the paper's pairs alone: rounds between two soundings for an objective that falls for ever.
const ROUNDS_PER_SOUNDING: u32 = 8;
/// Rounds without any progress after which a run is `Stalled`.
const PATIENCE: u32 = 4;

/// Solves a problem with the given settings.
///
/// ```
/// use equipoise::{Coupling, Problem, Settings, Status, solve};
/// use equipoise::{separable::NonNegative, smooth::Distance};
/// // The point of the simplex nearest to (0.6, 0.9, -0.3).
/// let problem = Problem::builder(Distance::new(vec![0.6, 0.9, -0.3], 0.5)?)
///     .separable(NonNegative)
///     .coupling(Coupling::sum(1.0)?)
///     .build()?;
/// let solution = solve(&problem, &Settings::default())?;
/// assert_eq!(solution.status, Status::Converged);
/// assert!((solution.x[0] - 0.35).abs() < 1e-6 && solution.x[2] == 0.0);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn solve<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    settings: &Settings,
) -> Result<Solution> {
    Solver::new(problem, settings).run()
}

/// A run with everything that may accompany it: a warm start, an observer, a way to stop it.
pub struct Solver<'a, F, H> {
    problem: &'a Problem<F, H>,
    settings: &'a Settings,
    start: Option<Vec<f64>>,
    observer: Option<&'a mut dyn Observer>,
    interrupt: Option<&'a AtomicBool>,
}

impl<F, H> std::fmt::Debug for Solver<'_, F, H> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Solver").field("settings", self.settings).finish_non_exhaustive()
    }
}

impl<'a, F: SmoothTerm, H: SeparableTerm> Solver<'a, F, H> {
    /// A run on this problem with these settings.
    pub fn new(problem: &'a Problem<F, H>, settings: &'a Settings) -> Self {
        Self { problem, settings, start: None, observer: None, interrupt: None }
    }

    /// Begins at x, which must be feasible (see [`Problem::nearest_feasible`]).
    #[must_use]
    pub fn warm_start(mut self, x: Vec<f64>) -> Self {
        self.start = Some(x);
        self
    }

    /// Is told of every checkpoint.
    #[must_use]
    pub fn observer(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Stops, with the best iterate, soon after the flag becomes true.
    #[must_use]
    pub fn interrupt(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Runs until the certificate is met, a limit is reached or nothing moves.
    pub fn run(mut self) -> Result<Solution> {
        self.settings.validate()?;
        let mut run = Run::new(&mut self)?;
        run.checkpoint()?;
        while run.status.is_none() {
            run.pairs()?;
            run.beyond_pairs()?;
            run.keep_feasible();
            run.checkpoint()?;
        }
        run.finish()
    }
}

struct Run<'r, F, H> {
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    budget: Budget<'r>,
    observer: Option<&'r mut dyn Observer>,
    edges: SampledEdges,
    pairs: PairUpdater<'r, F, H>,
    full_step: FullStep,
    state: State,
    updates_per_epoch: f64,
    updates: u64,
    updates_per_look: u64,
    rounds: u32,
    objective: f64,
    /// By how much the pairs of the last round lowered the objective.
    gain_of_pairs: f64,
    idle_rounds: u32,
    certificate: Option<Certificate>,
    /// Updates and KKT residual at the last full certificate.
    last_full: (u64, f64),
    status: Option<Status>,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Run<'r, F, H> {
    fn new<'a: 'r>(solver: &'r mut Solver<'a, F, H>) -> Result<Self> {
        let (problem, settings) = (solver.problem, solver.settings);
        let start = match solver.start.take() {
            Some(x) => {
                problem.check_start(&x)?;
                x
            }
            None => problem.start().to_vec(),
        };
        let blocks = problem.blocks().len();
        // An epoch touches as many blocks as there are.
        let updates_per_epoch = if blocks == 1 { 1.0 } else { blocks as f64 / 2.0 };
        let state = State::new(problem.smooth(), start);
        let mut run = Self {
            problem,
            settings,
            budget: Budget::new(settings, updates_per_epoch, solver.interrupt),
            observer: match &mut solver.observer {
                Some(observer) => Some(&mut **observer),
                None => None,
            },
            edges: SampledEdges::new(problem.graph(), problem.probabilities(), settings.seed)?,
            pairs: PairUpdater::new(problem, settings),
            full_step: FullStep::new(),
            state,
            updates_per_epoch,
            updates: 0,
            updates_per_look: 1,
            rounds: 0,
            objective: 0.0,
            gain_of_pairs: 0.0,
            idle_rounds: 0,
            certificate: None,
            last_full: (0, f64::INFINITY),
            status: None,
        };
        run.objective = run.evaluate()?;
        Ok(run)
    }

    /// Pair updates until the next checkpoint is due or a limit binds.
    fn pairs(&mut self) -> Result<()> {
        let growth = (self.updates as f64 * CHECKPOINT_GROWTH) as u64;
        let round = growth.max(self.updates_per_epoch.ceil() as u64).max(FEWEST_UPDATES);
        let until = self.updates.saturating_add(round).min(self.budget.most_updates);
        while self.updates < until {
            let (begun, look) = (Instant::now(), (self.updates + self.updates_per_look).min(until));
            while self.updates < look {
                let (i, j) = self.edges.draw();
                self.pairs.update(&mut self.state, i, j)?;
                self.updates += 1;
            }
            if let Some(status) = self.budget.stop() {
                self.status = Some(status);
                break;
            }
            let taken = begun.elapsed().as_secs_f64();
            let scale = if taken < 0.5 * SECONDS_PER_LOOK { 2.0 } else { SECONDS_PER_LOOK / taken };
            self.updates_per_look =
                ((self.updates_per_look as f64 * scale.min(2.0)) as u64).clamp(1, MOST_UPDATES_PER_LOOK);
            if let Some(observer) = &mut self.observer {
                observer.heartbeat(self.updates, self.updates as f64 / self.updates_per_epoch);
            }
        }
        if self.updates >= self.budget.most_updates {
            self.status.get_or_insert(Status::IterationLimit);
        }
        self.state.refresh(self.problem.smooth());
        let before = self.objective;
        self.objective = self.evaluate()?;
        self.gain_of_pairs = before - self.objective;
        Ok(())
    }

    /// Where pairs do too little: a full proximal step, and with `auto` second-order steps on the free variables.
    fn beyond_pairs(&mut self) -> Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        let before = self.objective;
        let wanted = self.distance_left();
        let stalled = self.gain_of_pairs <= 1e-2 * wanted.min(self.gain_of_pairs.abs() + wanted);
        if self.settings.method == Method::Auto || stalled {
            let stop = || self.budget.stop().is_some();
            self.full_step.take(self.problem, self.pairs.metric(), &mut self.state, &stop);
        }
        if self.settings.method == Method::Auto {
            let step = FreeStep { problem: self.problem, metric: self.pairs.metric(), budget: &self.budget };
            let products = (self.updates as f64 / self.updates_per_epoch).clamp(20.0, 400.0) as usize;
            step.take(&mut self.state, products)?;
        } else if self.rounds % ROUNDS_PER_SOUNDING == ROUNDS_PER_SOUNDING - 1 {
            // Pairs never see that an objective falls for ever; second-order directions do. Nothing is moved.
            let step = FreeStep { problem: self.problem, metric: self.pairs.metric(), budget: &self.budget };
            step.take(&mut self.state.clone(), 20)?;
        }
        self.rounds += 1;
        self.objective = self.evaluate()?;
        let gain = self.gain_of_pairs + before - self.objective;
        let idle = gain <= 1e-15 * (1.0 + self.objective.abs());
        self.idle_rounds = if idle { self.idle_rounds + 1 } else { 0 };
        Ok(())
    }

    /// What the objective may still fall, as far as the last certificate knows.
    fn distance_left(&self) -> f64 {
        let gap = self.certificate.as_ref().and_then(|certificate| certificate.duality_gap);
        gap.unwrap_or(self.settings.tolerance * (1.0 + self.objective.abs()))
    }

    /// Takes rounding drift out of A x = b and of the maintained products.
    fn keep_feasible(&mut self) {
        if repair(self.problem, &mut self.state.x) {
            self.state.refresh(self.problem.smooth());
        }
    }

    /// The certificate; observes; decides whether to stop.
    fn checkpoint(&mut self) -> Result<()> {
        let tolerance = self.settings.tolerance;
        let (begun, patience) = (Instant::now(), self.patience());
        let stop = || match patience {
            Some(patience) => begun.elapsed() >= patience,
            None => self.budget.stop().is_some(),
        };
        let mut certificate = check_with(self.problem, &self.state.x, Effort::Quick(&stop))?;
        // Without a gap the quick look says nothing of optimality: one may be found that is not small.
        let kkt = certificate.kkt_residual;
        let mut conclusive = certificate.duality_gap.is_some();
        let promising = kkt <= tolerance.max(1e-3) && self.worth_a_full_certificate(kkt);
        // Whoever interrupts does not want to wait for a sharper gap.
        let wanted = self.status != Some(Status::Interrupted) && (promising || self.status.is_some());
        if wanted && !(conclusive && certificate.meets(tolerance)) {
            certificate = check_with(self.problem, &self.state.x, Effort::Full(&stop))?;
            self.last_full = (self.updates, kkt);
            // A search that was cut short has not shown that there is no gap.
            conclusive = certificate.duality_gap.is_some() || !stop();
        }
        if !certificate.objective.is_finite() {
            let found = certificate.objective;
            return Err(Error::NonFiniteIterate { what: "the objective", found, updates: self.updates });
        }
        if conclusive && certificate.meets(tolerance) {
            self.status = Some(Status::Converged);
        } else if self.idle_rounds >= PATIENCE {
            self.status.get_or_insert(Status::Stalled);
        }
        if let Some(observer) = &mut self.observer {
            observer.checkpoint(&Progress {
                update: self.updates,
                epoch: self.updates as f64 / self.updates_per_epoch,
                seconds: self.budget.seconds(),
                certificate: certificate.clone(),
            });
        }
        self.certificate = Some(certificate);
        Ok(())
    }

    /// A full certificate costs many passes: only after enough work or progress since the last one.
    fn worth_a_full_certificate(&self, kkt: f64) -> bool {
        let (updates, last) = self.last_full;
        kkt <= self.settings.tolerance || kkt <= 0.3 * last || 2 * self.updates >= 3 * updates
    }

    /// How long the last certificate may take once a limit was reached; `None` while the run goes on.
    fn patience(&self) -> Option<Duration> {
        match self.status? {
            Status::Interrupted => Some(Duration::from_millis(20)),
            Status::TimeLimit => {
                Some(Duration::from_secs_f64((0.1 * self.budget.seconds()).clamp(0.02, 1.0)))
            }
            _ => None,
        }
    }

    fn evaluate(&self) -> Result<f64> {
        let value = self.problem.smooth().value(&self.state.x, &self.state.product)
            + separable_value(self.problem, &self.state.x);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(Error::NonFiniteIterate { what: "the objective", found: value, updates: self.updates })
        }
    }

    fn finish(self) -> Result<Solution> {
        let certificate = match self.certificate {
            Some(certificate) => certificate,
            None => check_with(self.problem, &self.state.x, Effort::Quick(&|| false))?,
        };
        Ok(Solution {
            status: self.status.unwrap_or(Status::Stalled),
            x: self.state.x,
            certificate,
            updates: self.updates,
            epochs: self.updates as f64 / self.updates_per_epoch,
            seconds: self.budget.seconds(),
            seed: self.settings.seed,
        })
    }
}
