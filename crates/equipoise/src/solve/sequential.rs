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

use std::time::Instant;

use super::checkpoints::{Checkpoints, Spent};
use super::free_step::FreeStep;
use super::full_step::FullStep;
use super::multicore::{Multicore, Task};
use super::pairs::PairUpdater;
use super::proximal_newton::{Outcome, ProximalNewton};
use super::repair::repair;
use super::{Method, Settings, Solution, Status};
use crate::certificate::separable_value;
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
/// The same where threads have to be started for it.
const FEWEST_ON_THREADS: u64 = 4096;
/// Checkpoints come whenever the work has grown by this share since the last one.
const CHECKPOINT_GROWTH: f64 = 0.3;
/// Rounds without gain after which a target is given up.
const IDLE_ROUNDS_TO_TARGET: u32 = 8;
/// With the paper's pairs alone: rounds between two soundings for an objective that falls for ever.
const ROUNDS_PER_SOUNDING: u32 = 8;

/// Runs from a feasible start.
pub(crate) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    start: Vec<f64>,
    updates_per_epoch: f64,
) -> Result<Solution> {
    let mut run = Run::new(problem, settings, checkpoints, start, updates_per_epoch)?;
    if settings.target_objective.is_some() {
        run.until_target()?;
    } else {
        run.until_tolerance()?;
    }
    let spent = run.spent();
    run.checkpoints.finish(run.state.x, spent)
}

struct Run<'r, F, H> {
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    edges: SampledEdges,
    pairs: PairUpdater<'r, H>,
    /// The threads that make the pair updates, where there are several.
    multicore: Option<Multicore<'r, F, H>>,
    preparation: f64,
    full_step: FullStep,
    proximal_newton: Option<ProximalNewton<'r, F, H>>,
    state: State,
    updates_per_epoch: f64,
    updates: u64,
    updates_per_look: u64,
    rounds: u32,
    objective: f64,
    /// By how much the pairs of the last round lowered the objective.
    gain_of_pairs: f64,
    idle_rounds: u32,
    /// Whether the last round of several threads was undone.
    undone: bool,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Run<'r, F, H> {
    fn new(
        problem: &'r Problem<F, H>,
        settings: &'r Settings,
        checkpoints: Checkpoints<'r, F, H>,
        start: Vec<f64>,
        updates_per_epoch: f64,
    ) -> Result<Self> {
        let state = State::new(problem.smooth(), start);
        let second_order = settings.method == Method::Auto;
        let edges = SampledEdges::new(problem.graph(), problem.probabilities(), settings.seed)?;
        Multicore::check_memory(problem, settings)?;
        let mut multicore = (Multicore::threads(problem, settings) > 1)
            .then(|| Multicore::new(problem, settings, &state, &edges));
        let begun = Instant::now();
        if let Some(multicore) = &mut multicore {
            multicore.prepare(&checkpoints.budget)?;
        }
        let mut run = Self {
            problem,
            settings,
            checkpoints,
            edges,
            pairs: PairUpdater::new(problem, settings),
            multicore,
            preparation: begun.elapsed().as_secs_f64(),
            full_step: FullStep::new(),
            proximal_newton: if second_order { ProximalNewton::new(problem) } else { None },
            state,
            updates_per_epoch,
            updates: 0,
            updates_per_look: 1,
            rounds: 0,
            objective: 0.0,
            gain_of_pairs: 0.0,
            idle_rounds: 0,
            undone: false,
        };
        run.objective = run.evaluate()?;
        Ok(run)
    }

    fn spent(&self) -> Spent {
        let epochs = self.updates as f64 / self.updates_per_epoch;
        let threads = self.multicore.as_ref().map_or(1, Multicore::active);
        Spent { updates: self.updates, epochs, preparation: self.preparation, threads }
    }

    fn until_tolerance(&mut self) -> Result<()> {
        self.checkpoint()?;
        while self.checkpoints.status.is_none() {
            self.pairs()?;
            self.beyond_pairs()?;
            self.keep_feasible();
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Nothing but pairs, and no certificate before the end: only the objective is asked for.
    fn until_target(&mut self) -> Result<()> {
        let target = self.settings.target_objective.unwrap_or(f64::NEG_INFINITY);
        while self.checkpoints.status.is_none() {
            if self.objective <= target {
                self.checkpoints.reached_target();
                break;
            }
            self.pairs()?;
            let idle = self.gain_of_pairs <= 1e-15 * (1.0 + self.objective.abs()) && !self.undone;
            self.idle_rounds = if idle { self.idle_rounds + 1 } else { 0 };
            if self.idle_rounds >= IDLE_ROUNDS_TO_TARGET {
                self.checkpoints.status.get_or_insert(Status::Stalled);
            }
        }
        if self.drifted() {
            self.keep_feasible();
        }
        self.checkpoint()
    }

    /// Whether `A x` is off b by more than half of what is allowed, and by more than rounding when it is added up.
    fn drifted(&self) -> bool {
        let coupling = self.problem.independent_coupling();
        let off = coupling.infeasibility(&self.state.x);
        off > 0.5 * coupling.allowed_infeasibility() && off > coupling.rounding(&self.state.x)
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.checkpoints.take(&self.state.x, self.spent(), self.idle_rounds)
    }

    /// Pair updates until the next checkpoint is due or a limit binds.
    fn pairs(&mut self) -> Result<()> {
        let growth = (self.updates as f64 * CHECKPOINT_GROWTH) as u64;
        let fewest = if self.multicore.is_some() { FEWEST_ON_THREADS } else { FEWEST_UPDATES };
        // Several threads are watched during a round, one only after it.
        let blind = self.settings.target_objective.is_some()
            && (self.multicore.is_none() || self.settings.deterministic);
        let growth = if blind { 0 } else { growth };
        let round = growth.max(self.updates_per_epoch.ceil() as u64).max(fewest);
        let until = self.updates.saturating_add(round).min(self.checkpoints.budget.most_updates);
        let before = self.objective;
        if self.multicore.is_some() {
            self.on_all_threads(until)?;
        } else {
            self.on_this_thread(until)?;
        }
        if self.updates >= self.checkpoints.budget.most_updates {
            self.checkpoints.status.get_or_insert(Status::IterationLimit);
        }
        self.gain_of_pairs = before - self.objective;
        Ok(())
    }

    fn on_this_thread(&mut self, until: u64) -> Result<()> {
        while self.updates < until {
            let (begun, look) = (Instant::now(), (self.updates + self.updates_per_look).min(until));
            while self.updates < look {
                let (i, j) = self.edges.draw();
                self.pairs.update(self.problem.smooth(), &mut self.state, i, j)?;
                self.updates += 1;
            }
            if let Some(status) = self.checkpoints.budget.stop() {
                self.checkpoints.status = Some(status);
                break;
            }
            let taken = begun.elapsed().as_secs_f64();
            let scale = if taken < 0.5 * SECONDS_PER_LOOK { 2.0 } else { SECONDS_PER_LOOK / taken };
            self.updates_per_look =
                ((self.updates_per_look as f64 * scale.min(2.0)) as u64).clamp(1, MOST_UPDATES_PER_LOOK);
            self.checkpoints.heartbeat(self.spent());
        }
        self.state.refresh(self.problem.smooth());
        self.objective = self.evaluate()?;
        Ok(())
    }

    fn on_all_threads(&mut self, until: u64) -> Result<()> {
        let spent = self.spent();
        let Some(multicore) = &mut self.multicore else { return Ok(()) };
        let Checkpoints { budget, observer, .. } = &mut self.checkpoints;
        let task = Task {
            updates: until - self.updates,
            objective: self.objective,
            target: self.settings.target_objective,
            budget,
            heartbeat: &mut |claimed| {
                if let Some(observer) = observer {
                    let updates = spent.updates + claimed;
                    observer.heartbeat(updates, updates as f64 / self.updates_per_epoch);
                }
            },
        };
        let round = multicore.round(&mut self.state, task)?;
        self.updates += round.updates;
        self.objective = round.objective;
        self.undone = round.undone;
        if round.status.is_some() {
            self.checkpoints.status = round.status;
        }
        Ok(())
    }

    /// Where pairs do too little: a full proximal step, and with `auto` second-order steps on the free variables.
    fn beyond_pairs(&mut self) -> Result<()> {
        if self.checkpoints.status.is_some() {
            return Ok(());
        }
        let before = self.objective;
        let wanted = self.distance_left();
        let stalled = self.gain_of_pairs <= 1e-2 * wanted.min(self.gain_of_pairs.abs() + wanted);
        if self.settings.method == Method::Auto || stalled {
            let stop = || self.checkpoints.budget.stop().is_some();
            self.full_step.take(self.problem, self.pairs.metric(), &mut self.state, &stop);
        }
        if self.settings.method == Method::Auto {
            let step = FreeStep {
                problem: self.problem,
                metric: self.pairs.metric(),
                budget: &self.checkpoints.budget,
            };
            let products = (self.updates as f64 / self.updates_per_epoch).clamp(20.0, 400.0) as usize;
            step.take(&mut self.state, products)?;
            self.newton();
        } else if self.rounds % ROUNDS_PER_SOUNDING == ROUNDS_PER_SOUNDING - 1 {
            // Pairs never see that an objective falls for ever; second-order directions do. Nothing is moved.
            let step = FreeStep {
                problem: self.problem,
                metric: self.pairs.metric(),
                budget: &self.checkpoints.budget,
            };
            step.take(&mut self.state.clone(), 20)?;
        }
        self.rounds += 1;
        self.objective = self.evaluate()?;
        let gain = self.gain_of_pairs + before - self.objective;
        let idle = gain <= 1e-15 * (1.0 + self.objective.abs());
        // A round that was undone says nothing of what smaller steps will do.
        self.idle_rounds = if !idle || self.undone { 0 } else { self.idle_rounds + 1 };
        Ok(())
    }

    /// Proximal Newton steps until they know the gap to be small enough, or find nothing.
    fn newton(&mut self) {
        let Some(newton) = &mut self.proximal_newton else { return };
        let lambda = self.checkpoints.certificate.as_ref().map(|certificate| certificate.multipliers.clone());
        newton.restart(&self.problem.reduce_multipliers(lambda.as_deref()));
        let wanted = self.checkpoints.wanted_gap(self.objective);
        loop {
            let outcome = newton.step(&mut self.state.x, &self.checkpoints.budget);
            if !matches!(outcome, Outcome::Moved { .. }) || outcome.seems_within(wanted) {
                break;
            }
        }
        self.state.refresh(self.problem.smooth());
    }

    /// What the objective may still fall, as far as the last certificate knows.
    fn distance_left(&self) -> f64 {
        let gap = self.checkpoints.certificate.as_ref().and_then(|certificate| certificate.duality_gap);
        gap.unwrap_or(self.settings.tolerance * (1.0 + self.objective.abs()))
    }

    /// Takes rounding drift out of A x = b and of the maintained products.
    fn keep_feasible(&mut self) {
        // Whoever interrupts does not want to wait for the last digit.
        if self.checkpoints.status == Some(Status::Interrupted) && !self.drifted() {
            return;
        }
        if repair(self.problem, &mut self.state.x) {
            self.state.refresh(self.problem.smooth());
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
}
