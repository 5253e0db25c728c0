//! The fast gear for one row and scalar coordinates, or several rows that share none: sweeps of violating pairs, then
//! second-order steps, in turns.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to a'x = b`, blocks of one coordinate, every pair allowed, h in closed form. With several rows none
//! may have a coordinate of another; a pair is then two coordinates of one row, whatever the blocks.
//! # Method
//! Select: `selection/violating.rs` sweeps over an active set and pairs coordinates that want to move in opposite
//! ways. Solve the pair exactly, move it. After a few sweeps the remaining work is done by `proximal_newton/` where
//! f is a factored quadratic with few products, else by conjugate gradients on the face of x, else by `free_step.rs` on the
//! free variables; sweeps come back when those find nothing.
//! # A round
//! A few sweeps, or one second-order step.
//! # Guarantees
//! Every iterate is feasible; the objective never rises; the same seed gives the same bits.

mod pace;
mod purse;
mod sweeps;

use std::sync::Arc;

use self::pace::Pace;
use self::purse::Purses;
use self::sweeps::{Row, Sweeper, Tally};
use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Coupling, Members, Shape};
use crate::error::{Error, Result};
use crate::problem::{Problem, View};
use crate::separable::{ClosedForm, Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::solve::gain;
use crate::solve::gears::{Attempt, Due, Gear, Habits, Order, Round, Task, renewed};
use crate::solve::steps::face_step::{FaceOutcome, FaceStep};
use crate::solve::steps::free_step::FreeStep;
use crate::solve::steps::proximal_newton::{Outcome, ProximalNewton};
use crate::solve::steps::repair::repair;
use crate::solve::{Settings, Status};
use crate::state::State;
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
/// Passes of single coordinates in a round, at most, and sweeps, which may be short.
const SINGLES_PER_ROUND: u32 = 20;
const MOST_SINGLES: u32 = 1000;
/// Conjugate gradient steps on one face, at first and at most.
const STEPS_ON_FACE: usize = 60;
const MOST_STEPS_ON_FACE: usize = 2000;
/// Share of the wanted gap that Newton steps go on to where only a tolerance is set: digits are cheap there.
const GENEROSITY: f64 = 1e-4;
/// Newton steps in a row that know of no bound, after which it is asked whether the objective falls for ever.
const STEPS_PER_SOUNDING: u32 = 6;
/// Drift that sweeps leave to Newton steps, which bring the rows back themselves, as a share of what is allowed.
const DRIFT_LEFT: f64 = 1e-3;

/// The least that f can be less its constant, which second-order steps leave out of their objective.
fn least_of_steps(view: View<'_>) -> f64 {
    let f = view.smooth();
    let least = f.least_value();
    if !least.is_finite() {
        return least;
    }
    let (nothing, mut product) = (vec![0.0; view.dimension()], vec![0.0; f.product_len()]);
    match f.fill_product(&nothing, &mut product, &Control::unlimited()) {
        Ok(()) => least - f.value(&nothing, &product),
        Err(_) => f64::NEG_INFINITY,
    }
}

/// What the gear needs of a problem.
pub(crate) struct Fit<'r, H> {
    row: Row<'r>,
    /// The coordinates of every row.
    rows: Vec<Members>,
    h: &'r H,
    pieces: ClosedForm<'r, H>,
}

impl<'r, H: SeparableTerm> Fit<'r, H> {
    /// The parts of a problem that fits, or why it does not.
    pub(crate) fn of<F: SmoothTerm>(problem: &'r Problem<F, H>) -> std::result::Result<Self, &'static str> {
        let (row, rows) = match (problem.independent_coupling().shape(), problem.apart()) {
            (Shape::Row(row), _) => (row, vec![Members::All(problem.dimension())]),
            (_, Some(apart)) => (&apart.weights, apart.members.clone()),
            _ => return Err("it needs one coupling row, or several that share no coordinate"),
        };
        if (rows.len() == 1 && !problem.blocks().are_scalars()) || problem.dimension() < 2 {
            return Err("it needs two or more blocks of one coordinate each");
        }
        let Nonsmooth::Coordinates(h) = problem.separable() else {
            return Err("it needs a separable term of single coordinates, not group norms");
        };
        // One block that is all of x may move as it likes.
        if !problem.graph().is_clique() && problem.blocks().len() > 1 {
            return Err("it needs every pair of blocks to be allowed (a clique)");
        }
        let Some(pieces) = ClosedForm::of(h, problem.dimension()) else {
            return Err("it needs a separable term in closed form (bounds, l1, elastic net or a mixture)");
        };
        Ok(Self { row: Row(row), rows, h, pieces })
    }
}

/// What does the work that sweeps leave.
enum Finish<'r, H> {
    /// Proximal Newton steps; where they drown in rounding the face is right, and solved more exactly by itself.
    Newton(Box<ProximalNewton<'r, H>>, Box<FaceStep<'r>>),
    /// Conjugate gradients on the face of x, which go on if it holds.
    Face(Box<FaceStep<'r>>, usize),
    /// Second-order steps on the free variables.
    Free,
}

/// What comes next.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Sweeps(u32),
    Singles(u32),
    SecondOrder,
}

/// Sweeps and second-order steps on one problem.
pub(crate) struct Violating<'r, F, H> {
    view: View<'r>,
    coupling: &'r Coupling,
    team: Arc<Team>,
    sweeper: Sweeper<'r, F, H>,
    /// Sweeps of single coordinates, where they can tell the gap.
    purses: Option<Purses<'r, F, H>>,
    pace: Pace,
    tally: Tally,
    finish: Finish<'r, H>,
    turn: Turn,
    /// The objective after the last sweeps, what they gained, and the coordinates they looked at.
    objective: f64,
    gain_of_sweeps: f64,
    visits_of_sweeps: u64,
    /// Share of the wanted gap to which Newton steps go on.
    share: f64,
    /// What f is never below, less its constant.
    least: f64,
    /// Whether x was judged since Newton steps found something.
    has_asked: bool,
    /// Whether someone else moved x since the product was computed.
    is_moved: bool,
    begins_with: Due,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Violating<'r, F, H> {
    /// At a start; an error where the problem does not fit.
    pub(crate) fn new(problem: &'r Problem<F, H>, order: &Order<'_>, state: &State) -> Result<Self> {
        let fit = Fit::of(problem).map_err(|why| Error::MethodNotApplicable { method: "violating", why })?;
        let (settings, view) = (order.settings, problem.view());
        let mut purses = Purses::new(problem, &fit, settings);
        let team = order.team.clone().unwrap_or_else(|| Arc::new(team(problem, settings)));
        let mut sweeper = Sweeper::new(problem, fit, settings);
        let newton = ProximalNewton::of_any_size(problem).map(|newton| newton.with_team(Arc::clone(&team)));
        let mut finish = match (newton, FaceStep::new(view)) {
            (Some(newton), Some(face)) => Finish::Newton(Box::new(newton), Box::new(face)),
            (_, Some(face)) => Finish::Face(Box::new(face), STEPS_ON_FACE),
            _ => Finish::Free,
        };
        // A running gap is of use to a judge who says which one is wanted; a tolerance is met by Newton steps.
        if order.by_tolerance || matches!(finish, Finish::Free) {
            purses = None;
        }
        let pace = Pace::new(problem, matches!(finish, Finish::Newton(..)).then(|| team.threads()));
        let tally = Tally::new(settings, problem.dimension());
        let known = order.dual.filter(|(_, lambda)| lambda.len() == problem.independent_coupling().rows());
        let turn = if let Some(purses) = &mut purses {
            purses.first_prices(state);
            sweeper.rest();
            match &mut finish {
                // Where all coordinates bend, few steps lead from a dual point near the optimum to it.
                Finish::Newton(newton, _) if known.is_some() && purses.bend() && pace.is_step_cheap() => {
                    let (u, lambda) = known.unwrap_or_default();
                    tally.limit(newton);
                    newton.restart_at(u.to_vec(), lambda);
                    purses.rest();
                    Turn::SecondOrder
                }
                _ => Turn::Singles(SINGLES_PER_ROUND),
            }
        } else {
            sweeper.first_multipliers(state);
            if let Finish::Newton(..) = finish {
                sweeper.thin_out(MOST_OPENING_COORDINATES);
                Turn::Sweeps(OPENING_SWEEPS)
            } else {
                Turn::Sweeps(SWEEPS_BEFORE_FACES)
            }
        };
        Ok(Self {
            view,
            coupling: problem.independent_coupling(),
            team,
            sweeper,
            purses,
            pace,
            tally,
            finish,
            turn,
            objective: f64::INFINITY,
            gain_of_sweeps: 0.0,
            visits_of_sweeps: 0,
            least: least_of_steps(view),
            has_asked: false,
            is_moved: false,
            share: if order.by_tolerance { GENEROSITY } else { 1.0 },
            // The first sweeps cost less than a certificate, and a cold start is never good enough.
            begins_with: if order.warm { Due::Now } else { Due::Show },
        })
    }

    /// Sweeps over the active set, then rounding is taken out.
    fn sweeps(&mut self, state: &mut State, task: &mut Task<'_>, count: u32) -> Attempt<Round> {
        let visits = self.tally.visits;
        let mut status = self.sweeper.sweep(state, &mut self.tally, task, count)?;
        self.visits_of_sweeps = self.tally.visits - visits;
        let by_newton = matches!(self.finish, Finish::Newton(..));
        let drift = self.coupling.miss(&state.x).relative;
        if !by_newton || drift > DRIFT_LEFT * ALLOWED_SHARE {
            repair(self.view, &mut state.x, &task.limits.control_after(status))?;
        }
        let objective = renewed(self.view, state, task, &mut status)?.unwrap_or(task.objective);
        self.gain_of_sweeps = task.objective - objective;
        let idle = gain::is_none(self.objective - objective, objective);
        self.objective = objective;
        self.turn = Turn::SecondOrder;
        if let Finish::Newton(newton, _) = &mut self.finish {
            self.tally.limit(newton);
            newton.restart(&self.sweeper.multipliers());
            self.sweeper.rest();
        }
        let due = if !by_newton || idle { Due::Now } else { Due::Later };
        Ok(Round { status, due, is_bounded: true, ..Round::new(0, objective) })
    }

    /// Sweeps of single coordinates until the gap seems small enough or something else would be quicker; then the row is
    /// restored.
    fn singles(&mut self, state: &mut State, task: &mut Task<'_>, most: u32) -> Attempt<Round> {
        let Some(purses) = &mut self.purses else { return self.sweeps(state, task, OPENING_SWEEPS) };
        let (visits, updates) = (self.tally.visits, self.tally.all_updates());
        let before = state.x.clone();
        purses.count(&state.x);
        let (mut status, mut seems_done, mut is_slow) = (None, false, false);
        let most_visits = u64::from(most) * state.x.len() as u64;
        let (mut wanted, mut since) = (0.0, 0);
        for _ in 0..MOST_SINGLES {
            if self.tally.visits - visits >= most_visits {
                break;
            }
            if purses.active() == 0 {
                purses.restart();
            }
            since += purses.active() as u64;
            let swept = purses.sweep(state, &mut self.tally, task)?;
            (task.heartbeat)(self.tally.all_updates() - updates, Some(self.tally.epochs()));
            status = swept.status;
            if status.is_some() {
                break;
            }
            // What is wanted changes little within half a pass, and an objective costs as much as some of it.
            if since * 2 > state.x.len() as u64 || wanted == 0.0 {
                since = 0;
                wanted = (task.wanted_gap_at)(purses.with_debt(self.view.value(&state.x, &state.product)));
            }
            let share = purses.active() as f64 / state.x.len() as f64;
            self.pace.note(swept.gap + purses.debt(), wanted, share, swept.free);
            if self.pace.seems_done() {
                seems_done = true;
                break;
            }
            if self.pace.is_slow() {
                is_slow = true;
                break;
            }
            // Whoever waits for a target looks after every sweep.
            if task.target.is_some() {
                break;
            }
        }
        if !purses.give_back(state) {
            repair(self.view, &mut state.x, &task.limits.control_after(status))?;
        }
        let mut objective = self.view.value(&state.x, &state.product);
        if self.tally.visits - visits >= most_visits {
            // Rounding of many moves ends here.
            objective = renewed(self.view, state, task, &mut status)?.unwrap_or(task.objective);
        }
        if gain::rose(task.objective, objective) {
            state.x = before;
            objective = renewed(self.view, state, task, &mut status)?.unwrap_or(task.objective);
            self.pace.undone();
            if !self.pace.is_good() {
                // Pairs go on where the prices are.
                self.sweeper.restart(&purses.prices());
            }
        }
        self.visits_of_sweeps = self.tally.visits - visits;
        self.gain_of_sweeps = task.objective - objective;
        let idle = gain::is_none(self.objective - objective, objective);
        self.objective = objective;
        if seems_done {
            self.pace.all_came_back();
            purses.restart();
        }
        if is_slow || idle || !self.pace.is_good() {
            self.turn = Turn::SecondOrder;
            if let Finish::Newton(newton, _) = &mut self.finish {
                self.tally.limit(newton);
                newton.restart(&purses.prices());
                purses.rest();
            }
        }
        let due = if seems_done || idle { Due::Now } else { Due::Show };
        Ok(Round { status, due, is_bounded: true, ..Round::new(0, objective) })
    }

    /// One Newton step; where they have found nothing several times, the face is solved, and sweeps come back.
    fn second_order(&mut self, state: &mut State, task: &Task<'_>) -> Attempt<Round> {
        let (newton, face) = match &mut self.finish {
            Finish::Newton(newton, face) => (newton, face),
            Finish::Face(face, steps) => {
                let (outcome, objective) = on_face(face, *steps, self.view, state, &mut self.tally, task)?;
                // A face that holds is the right one, and worth being solved to the end.
                *steps =
                    if outcome.met_an_end { STEPS_ON_FACE } else { (2 * *steps).min(MOST_STEPS_ON_FACE) };
                // Both rates count columns touched, not time: the same seed gives the same run.
                let rate = outcome.gain / (2 * outcome.columns).max(1) as f64;
                let rate_of_sweeps = self.gain_of_sweeps / self.visits_of_sweeps.max(1) as f64;
                if self.has_purse() {
                    self.pace.compared(rate > rate_of_sweeps);
                    return Ok(self.back_to_sweeps(SINGLES_PER_ROUND, objective));
                }
                let sweeps = if rate > rate_of_sweeps {
                    1
                } else if rate > 0.3 * rate_of_sweeps {
                    3
                } else {
                    8
                };
                return Ok(self.back_to_sweeps(sweeps, objective));
            }
            Finish::Free => {
                let metric = self.sweeper.pairs.metric();
                let step = FreeStep { view: self.view, metric, control: task.control() };
                let products = self.tally.sweeps().clamp(20.0, 400.0) as usize;
                step.take(state, products)??;
                self.tally.updates += 1;
                let objective = self.view.value(&state.x, &state.product);
                return Ok(self.back_to_sweeps(SWEEPS_BETWEEN, objective));
            }
        };
        let outcome = newton.step(&mut state.x, task.control());
        self.tally.count(newton);
        let mut round = Round { is_inconclusive: true, ..Round::new(0, task.objective) };
        if let Outcome::Moved { gain, gap } = outcome {
            self.has_asked = false;
            (task.hint)(newton.dual_point());
            round.objective -= gain;
            round.is_bounded = gap < f64::INFINITY;
            // Nothing is below the least that f can be, whatever a step knows of duals: h is never negative.
            // Sums of gains have lost what an objective near 0 is: the steps have added it up.
            let after = newton.objective();
            let is_least = after - self.least <= (task.wanted_gap_at)(after);
            let within = is_least || outcome.seems_within(self.share * task.wanted_gap);
            round.due = if within { Due::Now } else { Due::Show };
        } else {
            round.is_bounded = true;
            round.due = Due::Later;
        }
        round.status = self.tally.over(task.limits);
        if outcome == Outcome::Stopped {
            round.status = round.status.or(Some(Status::Interrupted));
        }
        if round.status.is_none() && newton.has_given_up() {
            // First whether what they proved is enough: the point on the face of x takes long where it is ill-conditioned.
            if !self.has_asked {
                self.has_asked = true;
                return Ok(Round { due: Due::Now, ..round });
            }
            let lambda = newton.lambda.clone();
            let (_, objective) = on_face(face, MOST_STEPS_ON_FACE, self.view, state, &mut self.tally, task)?;
            self.sweeper.restart(&lambda);
            self.turn = Turn::Sweeps(SWEEPS_BETWEEN);
            return Ok(Round { objective, due: Due::Now, ..round });
        }
        Ok(round)
    }

    /// Whether single coordinates can move, and did well so far.
    fn has_purse(&self) -> bool {
        self.purses.is_some() && self.pace.is_good()
    }

    /// Everyone comes back, as x was moved.
    fn back_to_sweeps(&mut self, sweeps: u32, objective: f64) -> Round {
        if let Some(purses) = self.purses.as_mut().filter(|_| self.pace.is_good()) {
            purses.restart();
            self.turn = Turn::Singles(sweeps);
        } else {
            let multipliers = self.sweeper.multipliers();
            self.sweeper.restart(&multipliers);
            self.turn = Turn::Sweeps(sweeps);
        }
        Round { due: Due::Later, is_inconclusive: true, is_bounded: true, ..Round::new(0, objective) }
    }
}

/// Conjugate gradients on the face of x; with the objective after them. They keep a residual of their own, which rounding
/// may have led astray: what raised the objective is taken back.
fn on_face(
    step: &mut FaceStep<'_>,
    most_steps: usize,
    view: View<'_>,
    state: &mut State,
    tally: &mut Tally,
    task: &Task<'_>,
) -> Attempt<(FaceOutcome, f64)> {
    let off = view.independent_coupling().miss(&state.x).relative;
    let most_steps = most_steps.min(tally.updates_left());
    let (mut outcome, before) = step.take(&mut state.x, most_steps, task.control());
    tally.visits += outcome.columns as u64;
    tally.updates += outcome.steps as u64;
    repair(view, &mut state.x, task.control())?;
    state.refresh(view.smooth(), task.control())?;
    let mut objective = view.value(&state.x, &state.product);
    let is_off = view.independent_coupling().miss(&state.x).relative > off.max(0.5 * ALLOWED_SHARE);
    if gain::rose(task.objective, objective) || is_off {
        before.restore(&mut state.x);
        state.refresh(view.smooth(), task.control())?;
        objective = view.value(&state.x, &state.product);
        outcome.gain = 0.0;
    }
    Ok((outcome, objective))
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Violating<'_, F, H> {
    fn habits(&self) -> Habits {
        Habits {
            // Newton steps move x alone.
            has_product: false,
            repairs: true,
            takes_full_steps: false,
            rounds_per_sounding: STEPS_PER_SOUNDING,
            begins_with: self.begins_with,
            ..Habits::default()
        }
    }

    fn judged(&mut self, found: f64) {
        self.pace.answered(found);
    }

    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let before = self.tally.all_updates();
        if std::mem::take(&mut self.is_moved) {
            state.refresh(self.view.smooth(), task.control())?;
        }
        // Where steps find nothing any more, the point that the last good one ended at is as good as ever.
        let known = if let Finish::Newton(newton, _) = &self.finish { newton.dual_point() } else { &[] };
        (task.hint)(known);
        let round = match self.turn {
            Turn::Sweeps(count) => self.sweeps(state, task, count),
            Turn::Singles(most) => self.singles(state, task, most),
            Turn::SecondOrder => self.second_order(state, task),
        }?;
        // Steps on a face count as updates, too, and may have been the last.
        let status = round.status.or_else(|| self.tally.over(task.limits));
        // Newton steps are counted twice; in a snapshot that was tampered with the counts may disagree.
        Ok(Round { updates: self.tally.all_updates().saturating_sub(before), status, ..round })
    }

    /// Newton steps know the product and the objective of the x that they left, sweeps the product.
    fn moved(&mut self, _state: &State, _control: &Control) -> Pass<Option<f64>> {
        self.is_moved = true;
        if let Finish::Newton(newton, _) = &mut self.finish {
            let lambda = newton.lambda.clone();
            newton.restart(&lambda);
        }
        Ok(None)
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.flag(&mut self.has_asked)?;
        archive.flag(&mut self.is_moved)?;
        self.sweeper.carry(archive)?;
        self.tally.carry(archive)?;
        match &mut self.finish {
            Finish::Newton(newton, _) => newton.carry(archive)?,
            Finish::Face(_, steps) => archive.count(steps, MOST_STEPS_ON_FACE)?,
            Finish::Free => {}
        }
        if let Some(purses) = &mut self.purses {
            purses.carry(archive)?;
            self.pace.carry(archive)?;
        }
        let (mut kind, mut count) = match self.turn {
            Turn::SecondOrder => (0, 0),
            Turn::Sweeps(count) => (1, count),
            Turn::Singles(most) => (2, most),
        };
        archive.count(&mut kind, 2)?;
        archive.small(&mut count)?;
        self.turn = match kind {
            0 => Turn::SecondOrder,
            1 => Turn::Sweeps(count),
            _ => Turn::Singles(count),
        };
        archive.number(&mut self.objective)?;
        archive.number(&mut self.gain_of_sweeps)?;
        archive.work(&mut self.visits_of_sweeps)
    }

    fn epochs(&self) -> Option<f64> {
        Some(self.tally.epochs())
    }

    fn threads(&self) -> usize {
        if let Finish::Newton(..) = self.finish { self.team.threads() } else { 1 }
    }
}

/// The threads that are worth while: Newton steps share their passes over the data.
fn team<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, settings: &Settings) -> Team {
    let numbers =
        || problem.smooth().factored().map_or(0, |factored| factored.stored() + problem.dimension());
    Team::for_work(settings.threads, if settings.threads > 1 { numbers() } else { 0 })
}
