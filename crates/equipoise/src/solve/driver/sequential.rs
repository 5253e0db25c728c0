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

use crate::certificate::separable_value;
use crate::control::Control;
use crate::coupling::Shape;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::solve::driver::checkpoints::{Checkpoints, Spent, lost};
use crate::solve::driver::round::{Pace, Task};
use crate::solve::gears::accelerated::Accelerated;
use crate::solve::gears::catalyst::Catalyst;
use crate::solve::gears::graph_constant;
use crate::solve::gears::multicore::Multicore;
use crate::solve::pairs::PairUpdater;
use crate::solve::steps::free_step::FreeStep;
use crate::solve::steps::full_step::FullStep;
use crate::solve::steps::proximal_newton::{Outcome, ProximalNewton};
use crate::solve::steps::repair::repair;
use crate::solve::{Method, Metric, Settings, Solution, Status};
use crate::state::State;

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

/// Runs from a feasible start, after so many updates of another method.
pub(crate) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    start: Vec<f64>,
    updates_per_epoch: f64,
    updates: u64,
) -> Result<Solution> {
    let mut run = Run::new(problem, settings, checkpoints, start, updates_per_epoch)?;
    run.others = updates;
    if settings.target_objective.is_some() {
        run.until_target()?;
    } else {
        run.until_tolerance()?;
    }
    let spent = run.spent();
    run.checkpoints.finish(run.state.x, spent)
}

/// Who makes the pair updates.
enum Gear<'r, F, H> {
    /// This thread, one after the other.
    Plain(Pace),
    /// Several threads.
    Threads(Box<Multicore<'r, F, H>>),
    /// This thread, with momentum.
    Momentum(Box<Accelerated>),
    /// This thread, around proximal points with momentum.
    Points(Box<Catalyst<'r, H>>),
}

struct Run<'r, F, H> {
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    edges: SampledEdges,
    pairs: PairUpdater<'r, H>,
    gear: Gear<'r, F, H>,
    preparation: f64,
    full_step: FullStep,
    proximal_newton: Option<ProximalNewton<'r, H>>,
    state: State,
    updates_per_epoch: f64,
    updates: u64,
    /// Updates that another method made before.
    others: u64,
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
        let state = State::new(problem.smooth(), start.clone(), &Control::unlimited())
            .map_err(|halt| lost(halt, &start, 0))?;
        let second_order = settings.method == Method::Auto;
        let edges = SampledEdges::new(problem.graph(), problem.probabilities(), settings.seed)?;
        Multicore::check_memory(problem, settings)?;
        let begun = Instant::now();
        let pairs = PairUpdater::with_metric(problem, settings, metric(problem, settings));
        let gear = if settings.method == Method::Accelerated {
            momentum(problem, settings, &pairs, &state, updates_per_epoch)?
        } else if Multicore::threads(problem, settings) > 1 {
            let mut multicore = Multicore::new(problem, settings, &state, &edges);
            multicore.prepare(&checkpoints.budget)?;
            Gear::Threads(Box::new(multicore))
        } else {
            Gear::Plain(Pace::new())
        };
        let mut run = Self {
            problem,
            settings,
            checkpoints,
            edges,
            pairs,
            gear,
            preparation: begun.elapsed().as_secs_f64(),
            full_step: FullStep::new(),
            proximal_newton: if second_order { ProximalNewton::new(problem) } else { None },
            state,
            updates_per_epoch,
            updates: 0,
            others: 0,
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
        let updates = self.updates + self.others;
        let epochs = updates as f64 / self.updates_per_epoch;
        let threads = if let Gear::Threads(multicore) = &self.gear { multicore.active() } else { 1 };
        Spent { updates, epochs, preparation: self.preparation, threads }
    }

    fn until_tolerance(&mut self) -> Result<()> {
        self.checkpoint()?;
        while self.checkpoints.status.is_none() {
            self.pairs()?;
            self.beyond_pairs()?;
            self.keep_feasible()?;
            self.checkpoint()?;
        }
        Ok(())
    }

    /// No certificate before the end: only the objective is asked for.
    fn until_target(&mut self) -> Result<()> {
        let target = self.settings.target_objective.unwrap_or(f64::NEG_INFINITY);
        while self.checkpoints.status.is_none() {
            if self.objective <= target {
                self.checkpoints.reached_target();
                break;
            }
            self.pairs()?;
            if self.settings.method == Method::Auto {
                if self.objective > target {
                    self.beyond_pairs()?;
                }
            } else {
                let idle = self.gain_of_pairs <= 1e-15 * (1.0 + self.objective.abs()) && !self.undone;
                self.idle_rounds = if idle { self.idle_rounds + 1 } else { 0 };
            }
            if self.idle_rounds >= IDLE_ROUNDS_TO_TARGET {
                self.checkpoints.status.get_or_insert(Status::Stalled);
            }
        }
        if self.drifted() {
            self.keep_feasible()?;
        }
        self.checkpoint()
    }

    /// Whether `A x` is off b by more than half of what is allowed, and by more than rounding when it is added up.
    fn drifted(&self) -> bool {
        let coupling = self.problem.independent_coupling();
        let off = coupling.infeasibility(&self.state.x);
        off > 0.5 * coupling.allowed_infeasibility() && off > coupling.rounding(&self.state.x)
    }

    /// What the others left.
    fn most_updates(&self) -> u64 {
        self.checkpoints.budget.most_updates.saturating_sub(self.others)
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.checkpoints.take(&self.state.x, self.spent(), self.idle_rounds)
    }

    /// Pair updates until the next checkpoint is due or a limit binds.
    fn pairs(&mut self) -> Result<()> {
        let growth = (self.updates as f64 * CHECKPOINT_GROWTH) as u64;
        let fewest = if let Gear::Threads(_) = self.gear { FEWEST_ON_THREADS } else { FEWEST_UPDATES };
        // Some gears look for the target during a round, one only after it.
        let blind = self.settings.target_objective.is_some()
            && (matches!(self.gear, Gear::Plain(_)) || self.settings.deterministic);
        let growth = if blind { 0 } else { growth };
        let round = growth.max(self.updates_per_epoch.ceil() as u64).max(fewest);
        let until = self.updates.saturating_add(round).min(self.most_updates());
        let before = self.objective;
        self.round(until)?;
        if self.updates >= self.most_updates() {
            self.checkpoints.status.get_or_insert(Status::IterationLimit);
        }
        self.gain_of_pairs = before - self.objective;
        Ok(())
    }

    fn round(&mut self, until: u64) -> Result<()> {
        let spent = self.spent();
        let (problem, state, edges) = (self.problem, &mut self.state, &mut self.edges);
        let Checkpoints { budget, observer, .. } = &mut self.checkpoints;
        let updates_per_epoch = self.updates_per_epoch;
        let mut task = Task {
            updates: until - self.updates,
            objective: self.objective,
            target: self.settings.target_objective,
            budget,
            heartbeat: &mut |claimed| {
                if let Some(observer) = observer {
                    let updates = spent.updates + claimed;
                    observer.heartbeat(updates, updates as f64 / updates_per_epoch);
                }
            },
        };
        let round = match &mut self.gear {
            Gear::Plain(pace) => {
                let (pairs, f) = (&mut self.pairs, problem.smooth());
                let update = || {
                    let (i, j) = edges.draw();
                    pairs.update(f, state, i, j)
                };
                let (made, status) = pace.run(task.updates, task.budget, update, task.heartbeat)?;
                self.updates += made;
                self.checkpoints.status = status.or(self.checkpoints.status);
                self.refresh()?;
                self.objective = self.evaluate()?;
                return Ok(());
            }
            Gear::Threads(multicore) => multicore.round(state, task)?,
            Gear::Momentum(gear) => gear.round(problem, &mut self.pairs, edges, state, &mut task)?,
            Gear::Points(gear) => gear.round(problem, edges, state, &mut task)?,
        };
        self.updates += round.updates;
        self.objective = round.objective;
        self.undone = round.undone;
        self.checkpoints.status = round.status.or(self.checkpoints.status);
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
        // With h = 0 pairs hardly ever stall, and momentum is not lost for a step that they do not need.
        let needed = stalled && (self.idle_rounds > 0 || !matches!(self.gear, Gear::Momentum(_)));
        if self.settings.method == Method::Auto || needed {
            let (view, control) = (self.problem.view(), self.checkpoints.budget.control());
            let outcome = self.full_step.take(view, self.pairs.metric(), &mut self.state, control);
            if let Err(halt) = outcome {
                self.checkpoints.ended(halt, &self.state.x, self.updates)?;
            }
        }
        if self.settings.method == Method::Auto && !self.at_target() {
            let step = FreeStep {
                view: self.problem.view(),
                metric: self.pairs.metric(),
                control: self.checkpoints.budget.control(),
            };
            let products = (self.updates as f64 / self.updates_per_epoch).clamp(20.0, 400.0) as usize;
            if let Err(halt) = step.take(&mut self.state, products)? {
                self.checkpoints.ended(halt, &self.state.x, self.updates)?;
            }
            if !self.at_target() {
                self.newton()?;
            }
        } else if self.settings.method != Method::Auto
            && self.rounds % ROUNDS_PER_SOUNDING == ROUNDS_PER_SOUNDING - 1
        {
            // Pairs never see that an objective falls for ever; second-order directions do. Nothing is moved.
            let step = FreeStep {
                view: self.problem.view(),
                metric: self.pairs.metric(),
                control: self.checkpoints.budget.control(),
            };
            if let Err(halt) = step.take(&mut self.state.clone(), 20)? {
                self.checkpoints.ended(halt, &self.state.x, self.updates)?;
            }
        }
        self.rounds += 1;
        self.objective = self.evaluate()?;
        let gain = self.gain_of_pairs + before - self.objective;
        let idle = gain <= 1e-15 * (1.0 + self.objective.abs());
        // A round that was undone says nothing of what smaller steps will do.
        self.idle_rounds = if !idle || self.undone { 0 } else { self.idle_rounds + 1 };
        Ok(())
    }

    /// Whether the objective is as low as was asked for.
    fn at_target(&self) -> bool {
        let objective = || {
            self.problem.smooth().value(&self.state.x, &self.state.product)
                + separable_value(self.problem, &self.state.x)
        };
        self.settings.target_objective.is_some_and(|target| objective() <= target)
    }

    /// Proximal Newton steps until they know the gap to be small enough, or find nothing.
    fn newton(&mut self) -> Result<()> {
        let Some(newton) = &mut self.proximal_newton else { return Ok(()) };
        let lambda = self.checkpoints.certificate.as_ref().map(|certificate| certificate.multipliers.clone());
        newton.restart(&self.problem.reduce_multipliers(lambda.as_deref()));
        let wanted = self.checkpoints.wanted_gap(self.objective);
        loop {
            let outcome = newton.step(&mut self.state.x, self.checkpoints.budget.control());
            if !matches!(outcome, Outcome::Moved { .. }) || outcome.seems_within(wanted) {
                break;
            }
        }
        self.refresh()
    }

    /// Computes the product afresh.
    fn refresh(&mut self) -> Result<()> {
        let outcome = self.state.refresh(self.problem.smooth(), &Control::unlimited());
        outcome.map_err(|halt| lost(halt, &self.state.x, self.updates))
    }

    /// What the objective may still fall, as far as the last certificate knows.
    fn distance_left(&self) -> f64 {
        let gap = self.checkpoints.certificate.as_ref().and_then(|certificate| certificate.duality_gap);
        gap.unwrap_or(self.settings.tolerance * (1.0 + self.objective.abs()))
    }

    /// Takes rounding drift out of A x = b and of the maintained products.
    fn keep_feasible(&mut self) -> Result<()> {
        // Whoever interrupts does not want to wait for the last digit, and momentum is not lost for it.
        let content = self.checkpoints.status == Some(Status::Interrupted)
            || matches!(self.gear, Gear::Momentum(_) | Gear::Points(_));
        if content && !self.drifted() {
            return Ok(());
        }
        match repair(self.problem.view(), &mut self.state.x, &self.checkpoints.control()) {
            Ok(true) => self.refresh(),
            Ok(false) => Ok(()),
            Err(halt) => self.checkpoints.ended(halt, &self.state.x, self.updates),
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

/// The gear of the accelerated method: momentum in the pairs, or around them where there is an h.
fn momentum<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    settings: &Settings,
    pairs: &PairUpdater<'_, H>,
    state: &State,
    updates_per_epoch: f64,
) -> Result<Gear<'r, F, H>> {
    let smooth = matches!(problem.separable(), Nonsmooth::Coordinates(h) if h.is_zero());
    if !smooth {
        return Ok(Gear::Points(Box::new(Catalyst::new(problem, settings, state, updates_per_epoch))));
    }
    let constant = graph_constant::of(problem, pairs.metric())?;
    Ok(Gear::Momentum(Box::new(Accelerated::new(problem.smooth(), state, constant, updates_per_epoch))))
}

/// The metric of the pairs. Momentum takes all gradients of a pair at one point, also where the pair moves entry by
/// entry: there the entries count as moving together.
fn metric<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, settings: &Settings) -> Metric {
    let mut metric = Metric::new(problem.view(), settings.step_size);
    let by_entry = matches!(problem.independent_coupling().shape(), Shape::None | Shape::BlockSum);
    if settings.method == Method::Accelerated && by_entry && !problem.smooth().is_decomposable() {
        let together = metric.pair_factor();
        metric.damp(problem.blocks().len(), |_| together);
    }
    metric
}
