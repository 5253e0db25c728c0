//! The fast gear for one row and scalar coordinates: sweeps of violating pairs, then proximal Newton steps.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to a'x = b`, blocks of one coordinate, every pair allowed.
//! # Method
//! Select: `selection/violating.rs` sweeps over an active set and pairs coordinates that want to move in opposite
//! ways. Solve the pair exactly, move it. After a few sweeps the remaining work is done by `proximal_newton/` where
//! f is a factored quadratic, else by `free_step.rs` on the free variables; sweeps come back when those find nothing.
//! # Guarantees
//! Every iterate is feasible; the objective never rises; the same seed gives the same bits. `Converged` is said only
//! when the certificate, from raw data, says so.

use std::sync::Arc;

use crate::certificate::separable_value;
use crate::control::{Control, Halt, Pass};
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::pair_step::scalar::free_scalar;
use crate::problem::Problem;
use crate::selection::{Choice, Slopes, ViolatingPairs, Way};
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::solve::driver::checkpoints::{Checkpoints, Spent, lost};
use crate::solve::pairs::{OnRow, PairUpdater};
use crate::solve::steps::face_step::FaceStep;
use crate::solve::steps::free_step::FreeStep;
use crate::solve::steps::proximal_newton::{Outcome, ProximalNewton};
use crate::solve::steps::repair::repair;
use crate::solve::{Settings, Solution, Status};
use crate::state::{Iterate, State};
use crate::team::Team;

/// Sweeps before the first second-order step.
const OPENING_SWEEPS: u32 = 2;
/// Coordinates in them, at most, where proximal Newton steps follow: those need no more to begin with, and unlike
/// sweeps they can be shared by threads.
const MOST_OPENING_COORDINATES: usize = 25_000;
/// The same where those work on the face of x, which has to settle first.
const SWEEPS_BEFORE_FACES: u32 = 10;
/// Sweeps between second-order steps that find nothing.
const SWEEPS_BETWEEN: u32 = 10;
/// Conjugate gradient steps on one face, at first and at most.
const STEPS_ON_FACE: usize = 60;
const MOST_STEPS_ON_FACE: usize = 2000;
/// Share of the wanted gap that Newton steps go on to where only a tolerance is set.
const GENEROSITY: f64 = 1e-4;
/// Newton steps in a row that know of no bound, after which it is asked whether the objective falls for ever.
const STEPS_PER_SOUNDING: u32 = 6;
/// Coordinates whose slopes give the first multiplier.
const SAMPLE: usize = 256;
/// Coordinates between two looks at the clock.
const VISITS_PER_LOOK: u32 = 1024;

/// Why the gear does not fit a problem; `None` where it does.
pub(crate) fn obstacle<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> Option<&'static str> {
    let one_row = matches!(problem.independent_coupling().shape(), Shape::Row(_));
    if !one_row {
        Some("it needs exactly one coupling row")
    } else if !problem.blocks().are_scalars() || problem.dimension() < 2 {
        Some("it needs two or more blocks of one coordinate each")
    } else if !matches!(problem.separable(), Nonsmooth::Coordinates(_)) {
        Some("it needs a separable term of single coordinates, not group norms")
    } else if !problem.graph().is_clique() {
        Some("it needs every pair of blocks to be allowed (a clique)")
    } else if !has_closed_form(problem) {
        Some("it needs a separable term in closed form (bounds, l1, elastic net or a mixture)")
    } else {
        None
    }
}

fn has_closed_form<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> bool {
    match problem.separable() {
        Nonsmooth::Coordinates(h) => (0..problem.dimension()).all(|c| h.piece(c).is_some()),
        Nonsmooth::Groups(_) => false,
    }
}

/// The threads that are worth while: Newton steps share their passes over the data.
pub(crate) fn team<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, settings: &Settings) -> Team {
    let numbers =
        || problem.smooth().factored().map_or(0, |factored| factored.stored() + problem.dimension());
    Team::for_work(settings.threads, if settings.threads > 1 { numbers() } else { 0 })
}

/// Runs from a feasible start; a warm one may be good enough already.
pub(crate) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    start: Vec<f64>,
    warm: bool,
    team: &Arc<Team>,
) -> Result<Solution> {
    let mut run = Run::new(problem, settings, checkpoints, start, team)?;
    if warm {
        run.checkpoint()?;
    } else {
        run.checkpoints.show(&run.state.x, run.spent())?;
    }
    if run.checkpoints.status.is_some() {
        let spent = run.spent();
        return run.checkpoints.finish(run.state.x, spent);
    }
    run.first_multiplier();
    if run.newton.is_some() {
        run.selection.thin_out(MOST_OPENING_COORDINATES);
    }
    run.sweeps(if run.newton.is_some() { OPENING_SWEEPS } else { SWEEPS_BEFORE_FACES })?;
    while run.checkpoints.status.is_none() {
        let sweeps = run.second_order()?;
        if run.checkpoints.status.is_none() {
            run.sweeps(sweeps)?;
        }
    }
    let spent = run.spent();
    run.checkpoints.finish(run.state.x, spent)
}

struct Run<'r, F, H> {
    problem: &'r Problem<F, H>,
    coupling: &'r Coupling,
    settings: &'r Settings,
    checkpoints: Checkpoints<'r, F, H>,
    team: Arc<Team>,
    selection: ViolatingPairs,
    pairs: PairUpdater<'r, H>,
    newton: Option<ProximalNewton<'r, H>>,
    face: Option<FaceStep<'r>>,
    steps_on_face: usize,
    state: State,
    updates: u64,
    most_updates: u64,
    visits: u64,
    most_visits: u64,
    objective: f64,
    /// What the last sweeps gained, and the coordinates they looked at.
    gain_of_sweeps: f64,
    visits_of_sweeps: u64,
    idle_rounds: u32,
    least_gap: f64,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Run<'r, F, H> {
    fn new(
        problem: &'r Problem<F, H>,
        settings: &'r Settings,
        checkpoints: Checkpoints<'r, F, H>,
        start: Vec<f64>,
        team: &Arc<Team>,
    ) -> Result<Self> {
        let state = State::new(problem.smooth(), start.clone(), &Control::unlimited())
            .map_err(|halt| lost(halt, &start, 0))?;
        let newton = ProximalNewton::new(problem).map(|newton| newton.with_team(Arc::clone(team)));
        let face = FaceStep::new(problem.view());
        Ok(Self {
            problem,
            coupling: problem.independent_coupling(),
            settings,
            checkpoints,
            team: Arc::clone(team),
            selection: ViolatingPairs::new(problem.dimension(), settings.seed),
            pairs: PairUpdater::new(problem, settings),
            newton,
            face,
            steps_on_face: STEPS_ON_FACE,
            state,
            updates: 0,
            most_updates: settings.max_updates.unwrap_or(u64::MAX),
            visits: 0,
            most_visits: settings
                .max_epochs
                .map_or(u64::MAX, |most| (most * problem.dimension() as f64).ceil() as u64),
            objective: f64::INFINITY,
            gain_of_sweeps: 0.0,
            visits_of_sweeps: 0,
            idle_rounds: 0,
            least_gap: f64::INFINITY,
        })
    }

    fn spent(&self) -> Spent {
        let passes = self.newton.as_ref().map_or(0.0, ProximalNewton::passes);
        let steps = self.newton.as_ref().map_or(0, ProximalNewton::newton_steps);
        let epochs = self.visits as f64 / self.problem.dimension() as f64 + passes;
        let threads = if self.newton.is_some() { self.team.threads() } else { 1 };
        Spent { updates: self.updates + steps, epochs, threads, ..Spent::default() }
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.checkpoints.take(&self.state.x, self.spent(), self.idle_rounds)
    }

    /// A multiplier at which about as many coordinates want to rise as to fall, from a sample of them.
    fn first_multiplier(&mut self) {
        let n = self.problem.dimension();
        let mut slopes = Vec::new();
        for c in (0..n).step_by((n / SAMPLE).max(1)) {
            let a = self.coupling.column_dot(c, &[1.0]);
            if a != 0.0 {
                let (_, Slopes { rise, fall }) = self.slopes(c, a);
                slopes.extend([rise, fall].into_iter().filter(|slope| slope.is_finite()));
            }
        }
        if !slopes.is_empty() {
            let middle = slopes.len() / 2;
            let (_, &mut median, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
            self.selection.multiplier = -median;
        }
    }

    /// Sweeps over the active set.
    fn sweeps(&mut self, count: u32) -> Result<()> {
        let (before, visits) = (self.evaluate(), self.visits);
        self.sweep(count)?;
        self.visits_of_sweeps = self.visits - visits;
        self.end_of_round(before)
    }

    fn sweep(&mut self, count: u32) -> Result<()> {
        for _ in 0..count {
            let mut look = VISITS_PER_LOOK;
            while let Some(i) = self.selection.next() {
                self.visit(i)?;
                look -= 1;
                if look == 0 || self.visits >= self.most_visits || self.updates >= self.most_updates {
                    look = VISITS_PER_LOOK;
                    if self.over() {
                        return Ok(());
                    }
                }
            }
            if self.over() {
                return Ok(());
            }
            self.checkpoints.heartbeat(self.spent());
        }
        Ok(())
    }

    /// Whether a limit binds; sets the status.
    fn over(&mut self) -> bool {
        if let Some(status) = self.checkpoints.budget.stop() {
            self.checkpoints.status = Some(status);
        } else if self.spent().updates >= self.most_updates
            || self.settings.max_epochs.is_some_and(|most| self.spent().epochs >= most)
        {
            self.checkpoints.status = Some(Status::IterationLimit);
        }
        self.checkpoints.status.is_some()
    }

    /// Looks at coordinate i, and moves it with a partner where it wants to move and one is known.
    #[inline]
    fn visit(&mut self, i: usize) -> Result<()> {
        self.visits += 1;
        let a = self.coupling.column_dot(i, &[1.0]);
        if a == 0.0 {
            return self.alone(i);
        }
        let (g, slopes) = self.slopes(i, a);
        if let Choice::Pair { way, partner } = self.selection.consider(i, slopes) {
            self.pair([i, partner], a, g, slopes, way)?;
        }
        Ok(())
    }

    /// Moves a coordinate that the row does not bind.
    fn alone(&mut self, i: usize) -> Result<()> {
        let f = self.problem.smooth();
        let g = f.partial(i, &self.state.x, &self.state.product);
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return Ok(()) };
        let Some(piece) = h.piece(i) else { return Ok(()) };
        let d = f.curvature(i) / self.settings.step_size;
        let z = free_scalar(self.state.x[i], g, d, piece)
            .map_err(|_| Error::Unbounded { coordinates: vec![i] })?;
        self.state.set(f, i, z);
        Ok(())
    }

    /// Moves a pair, if its slopes are still what the pool believed.
    #[inline]
    fn pair(&mut self, c: [usize; 2], a: f64, g: f64, slopes: Slopes, way: Way) -> Result<()> {
        let b = self.coupling.column_dot(c[1], &[1.0]);
        let (partner_g, partner) = self.slopes(c[1], b);
        self.visits += 1;
        let paired = match way {
            Way::Rise => [slopes.rise, partner.fall],
            Way::Fall => [slopes.fall, partner.rise],
        };
        let opposed = if way == Way::Rise { paired[0] < paired[1] } else { paired[0] > paired[1] };
        if !opposed {
            self.selection.settle(way, c[1], paired, false, None);
            return Ok(());
        }
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return Ok(()) };
        let moved = self.pairs.pair_with_gradient(
            h,
            self.problem.smooth(),
            &mut self.state,
            OnRow { row: 0, pair: c, c, a: [a, b] },
            [g, partner_g],
        )?;
        self.updates += 1;
        // The partner's slope by its own curvature alone: cheap, and renewed before it is used.
        let (lo, hi) = h.subdifferential(c[1], self.state.x[c[1]]);
        let g_after = partner_g + self.problem.smooth().curvature(c[1]) * moved[1];
        let falls = (way == Way::Rise) == (b > 0.0);
        let after = (g_after + if falls { lo } else { hi }) / b;
        self.selection.settle(way, c[1], paired, moved[1] != 0.0, after.is_finite().then_some(after));
        Ok(())
    }

    /// The partial derivative of f at coordinate c, and the slopes of the objective per unit of the row.
    #[inline]
    fn slopes(&self, c: usize, a: f64) -> (f64, Slopes) {
        let g = self.problem.smooth().partial(c, &self.state.x, &self.state.product);
        let (lo, hi) = match self.problem.separable() {
            Nonsmooth::Coordinates(h) => h.subdifferential(c, self.state.x[c]),
            Nonsmooth::Groups(_) => (0.0, 0.0),
        };
        let slopes = if a > 0.0 {
            Slopes { rise: (g + hi) / a, fall: (g + lo) / a }
        } else {
            Slopes { rise: (g + lo) / a, fall: (g + hi) / a }
        };
        (g, slopes)
    }

    fn evaluate(&self) -> f64 {
        self.problem.smooth().value(&self.state.x, &self.state.product)
            + separable_value(self.problem, &self.state.x)
    }

    /// After sweeps: rounding is taken out, and progress is noted.
    fn end_of_round(&mut self, before: f64) -> Result<()> {
        // Newton steps bring the rows back themselves.
        let drift = self.coupling.infeasibility(&self.state.x);
        if self.newton.is_none() || drift > 1e-3 * self.coupling.allowed_infeasibility() {
            self.repair()?;
        }
        self.refresh()?;
        let objective = self.evaluate();
        self.gain_of_sweeps = before - objective;
        if !objective.is_finite() {
            let what = "the objective";
            return Err(Error::NonFiniteIterate { what, found: objective, updates: self.updates });
        }
        let idle = self.objective - objective <= 1e-15 * objective.abs();
        self.idle_rounds = if idle { self.idle_rounds + 1 } else { 0 };
        self.objective = objective;
        if self.newton.is_none() || self.checkpoints.status.is_some() || idle {
            self.checkpoint()?;
            // The objective may be flat to rounding while the gap still falls.
            let gap = self.checkpoints.certificate.as_ref().and_then(|certificate| certificate.duality_gap);
            if gap.is_some_and(|gap| gap < 0.9 * self.least_gap) {
                self.least_gap = gap.unwrap_or(f64::INFINITY);
                self.idle_rounds = 0;
            }
        }
        Ok(())
    }

    /// Second-order steps until the run is over or they find nothing; returns how many sweeps to make next.
    fn second_order(&mut self) -> Result<u32> {
        if self.newton.is_some() {
            self.newton_steps()?;
            if self.checkpoints.status.is_none() {
                // Where Newton steps drown in rounding the face is right, and solved more exactly by itself.
                self.steps_on_face = MOST_STEPS_ON_FACE;
                self.face_step()?;
                self.checkpoint()?;
            }
            return Ok(SWEEPS_BETWEEN);
        }
        let sweeps = self.face_step()?;
        self.selection.restart(self.selection.multiplier);
        Ok(sweeps)
    }

    /// Conjugate gradients on the face; the more they gain against the last sweeps, the sooner they come again.
    fn face_step(&mut self) -> Result<u32> {
        let budget = &self.checkpoints.budget;
        let Some(step) = &mut self.face else {
            let view = self.problem.view();
            let step = FreeStep { view, metric: self.pairs.metric(), control: budget.control() };
            let products = (self.visits as f64 / self.state.x.len() as f64).clamp(20.0, 400.0) as usize;
            let outcome = step.take(&mut self.state, products)?;
            self.unless_lost(outcome.map(|_| ()))?;
            self.updates += 1;
            return Ok(SWEEPS_BETWEEN);
        };
        let outcome = step.take(&mut self.state.x, self.steps_on_face, budget.control());
        // A face that holds is the right one, and worth being solved to the end.
        self.steps_on_face =
            if outcome.met_an_end { STEPS_ON_FACE } else { (2 * self.steps_on_face).min(MOST_STEPS_ON_FACE) };
        self.visits += outcome.columns as u64;
        self.updates += outcome.steps as u64;
        // Both rates count columns touched, not time: the same seed gives the same run.
        let rate = outcome.gain / (2 * outcome.columns).max(1) as f64;
        let rate_of_sweeps = self.gain_of_sweeps / self.visits_of_sweeps.max(1) as f64;
        self.repair()?;
        self.refresh()?;
        Ok(if rate > rate_of_sweeps {
            1
        } else if rate > 0.3 * rate_of_sweeps {
            3
        } else {
            8
        })
    }

    /// Looks, on a copy, whether the objective falls for ever.
    fn sound(&mut self) -> Result<()> {
        let (view, control) = (self.problem.view(), self.checkpoints.budget.control());
        let step = FreeStep { view, metric: self.pairs.metric(), control };
        let copy = State::new(view.smooth(), self.state.x.clone(), control);
        let outcome = match copy {
            Ok(mut copy) => step.take(&mut copy, 20)?,
            Err(halt) => Err(halt),
        };
        self.unless_lost(outcome.map(|_| ()))
    }

    /// Takes rounding drift out of A x = b.
    fn repair(&mut self) -> Result<()> {
        let outcome = repair(self.problem.view(), &mut self.state.x, self.checkpoints.budget.control());
        self.unless_lost(outcome.map(|_| ()))
    }

    /// Work that was ended early is no error: the next look at the limits says so, too.
    fn unless_lost(&self, outcome: Pass) -> Result<()> {
        match outcome {
            Err(fault @ Halt::Fault(_)) => Err(lost(fault, &self.state.x, self.updates)),
            _ => Ok(()),
        }
    }

    /// Computes the product afresh.
    fn refresh(&mut self) -> Result<()> {
        let outcome = self.state.refresh(self.problem.smooth(), &Control::unlimited());
        outcome.map_err(|halt| lost(halt, &self.state.x, self.updates))
    }

    /// Proximal Newton steps until the run is over or they find nothing.
    fn newton_steps(&mut self) -> Result<()> {
        let multiplier = self.selection.multiplier;
        let sweeps = self.visits as f64 / self.state.x.len() as f64;
        if let Some(newton) = &mut self.newton {
            let most_passes = self.settings.max_epochs.map_or(f64::INFINITY, |most| most - sweeps);
            newton.limit(self.most_updates.saturating_sub(self.updates), most_passes);
            newton.restart(&[multiplier]);
        }
        self.selection.rest();
        // Digits are cheap here: whoever asks for a tolerance gets some more than that.
        let share = if self.checkpoints.is_by_tolerance() { GENEROSITY } else { 1.0 };
        let mut without_bound = 0;
        loop {
            let Some(newton) = &mut self.newton else { return Ok(()) };
            let outcome = newton.step(&mut self.state.x, self.checkpoints.budget.control());
            let given_up = newton.has_given_up();
            let lambda = newton.lambda[0];
            match outcome {
                Outcome::Stopped => {
                    self.over();
                    self.checkpoint()?;
                }
                Outcome::Moved { gap, .. } => {
                    without_bound = if gap == f64::INFINITY { without_bound + 1 } else { 0 };
                    if without_bound == STEPS_PER_SOUNDING {
                        without_bound = 0;
                        self.sound()?;
                    }
                    let wanted = share * self.checkpoints.wanted_gap(self.objective);
                    if outcome.seems_within(wanted) || self.over() {
                        self.checkpoint()?;
                    } else {
                        self.checkpoints.show(&self.state.x, self.spent())?;
                    }
                }
                Outcome::Idle => {}
            }
            if self.checkpoints.status.is_some() || given_up {
                if self.checkpoints.status.is_none() {
                    self.selection.restart(lambda);
                    self.refresh()?;
                }
                return Ok(());
            }
        }
    }
}
