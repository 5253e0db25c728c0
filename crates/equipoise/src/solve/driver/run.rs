//! The outer loop, for every gear.
//!
//! ```text
//! look at x
//! until there is a status:
//!     a round of the gear:  select pairs, solve them, move them
//!     beyond pairs:         where they do too little, steps over all blocks; now and then one from the interior
//!     keep feasible:        take rounding drift out of A x = b
//!     look at x:            certify it when enough was done since the last time; or compare it with the target
//!     hand over:            to another gear, where this one says that it is slow
//! ```
//!
//! - Given: a problem, a feasible start, limits, whoever judges and whoever watches.
//! - Returns: the last iterate that could be judged, with what was found of it.
//! - Must not know: how a gear moves x.
//!
//! Every iterate is feasible and in the domain; `Converged` is said only when the judge says so. The clock decides when to
//! stop, and nothing else.

mod inside;
mod snapshots;

use std::sync::Arc;

use crate::control::Pass;
use crate::coupling::ALLOWED_SHARE;
use crate::error::{Error, Result};
use crate::matrix::max_abs;
use crate::problem::{Problem, View};
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::beyond::Beyond;
use crate::solve::driver::checkpoints::{Checkpoints, Finding, Spent};
use crate::solve::gain;
use crate::solve::gears::{Attempt, Due, Engaged, Gear, Order, Round, Stop, Task, engage};
use crate::solve::steps::repair::repair;
use crate::solve::{Candidate, Experiment, Keeper, Method, Settings, Snapshot, Status};
use crate::state::State;
use crate::team::Team;

/// Checkpoints come whenever the work has grown by this share since the last one.
const CHECKPOINT_GROWTH: f64 = 0.3;
/// How far out an iterate is, in sizes of the start, before anyone asks whether it goes to infinity; and how much farther it goes
/// before the next time.
const FAR_OUT: f64 = 1e3;
const FARTHER: f64 = 4.0;
/// Rounds without gain after which a target is given up.
const IDLE_ROUNDS_TO_TARGET: u32 = 8;
/// Rounds that left the feasible set after which a run stands still.
const MOST_TAKEN_BACK: u32 = 4;
/// A gap below this share of the least so far is progress, also where the objective is flat to rounding.
const SMALLER_GAP: f64 = 0.9;

/// What a run is given.
pub(crate) struct Plan<'r, F, H> {
    pub(crate) problem: &'r Problem<F, H>,
    /// With the method that was chosen.
    pub(crate) settings: &'r Settings,
    /// Those of the method that goes on where the chosen one is slow, if one may.
    pub(crate) next: Option<&'r Settings>,
    pub(crate) updates_per_epoch: f64,
    /// Whether the start may be good enough already.
    pub(crate) warm: bool,
    /// A dual point that goes with the start, and multipliers of the rows.
    pub(crate) dual: Option<&'r (Vec<f64>, Vec<f64>)>,
    /// Whether steps from the interior may be taken.
    pub(crate) may_go_inside: bool,
    pub(crate) team: Option<Arc<Team>>,
    pub(crate) experiment: Option<&'r dyn Experiment>,
    pub(crate) keeper: Option<&'r mut dyn Keeper>,
    /// A run that this one goes on with.
    pub(crate) resumed: Option<&'r Snapshot>,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Plan<'r, F, H> {
    fn engage(&self, start: &[f64], checkpoints: &Checkpoints<'r>) -> Attempt<Engaged<'r>> {
        let order = Order {
            settings: self.settings,
            limits: &checkpoints.limits,
            updates_per_epoch: self.updates_per_epoch,
            warm: self.warm,
            dual: self.dual.map(|(u, lambda)| (&u[..], &lambda[..])),
            by_tolerance: checkpoints.is_by_tolerance(),
            may_hand_over: self.next.is_some(),
            team: self.team.clone(),
            experiment: self.experiment,
        };
        engage(self.problem, &order, start)
    }

    /// Goes on with the gear that was at work.
    fn goes_on(&mut self, snapshot: &Snapshot) -> Result<()> {
        if snapshot.handed_over {
            let Some(next) = self.next.take() else {
                return Err(Error::BadSnapshot { what: "its second gear is none of this problem" });
            };
            self.settings = next;
        }
        Ok(())
    }
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) x: Vec<f64>,
    pub(crate) finding: Finding,
    pub(crate) spent: Spent,
    pub(crate) seconds: f64,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) handed_over: bool,
}

/// Runs from a feasible start.
pub(crate) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    mut plan: Plan<'r, F, H>,
    mut checkpoints: Checkpoints<'r>,
    start: Vec<f64>,
) -> Result<Ended> {
    if let Some(snapshot) = plan.resumed {
        plan.goes_on(snapshot)?;
        checkpoints.limits.goes_on_after(snapshot.seconds);
    }
    match plan.engage(&start, &checkpoints) {
        Ok(engaged) => {
            // The gear has a copy; a million variables are no small thing.
            drop(start);
            let mut run = Run::new(plan, checkpoints, engaged);
            run.take_up()?;
            run.until_the_end()?;
            run.finish()
        }
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Halt(halt)) => {
            // Before the first update: with the start, if it can be judged soon enough.
            let spent = Spent { threads: 1, ..Spent::default() };
            checkpoints.ended(halt, &start, 0)?;
            checkpoints.take(&start, spent, 0)?;
            let (status, x, finding, seconds) = checkpoints.finish(start, 0, f64::INFINITY)?;
            Ok(Ended { status, x, finding, spent, seconds, candidates: Vec::new(), handed_over: false })
        }
    }
}

struct Run<'r, F, H> {
    plan: Plan<'r, F, H>,
    view: View<'r>,
    checkpoints: Checkpoints<'r>,
    gear: Box<dyn Gear + 'r>,
    beyond: Beyond<'r, H>,
    state: State,
    objective: f64,
    /// By how much the last round lowered the objective.
    gain_of_pairs: f64,
    /// Updates of this gear, now and at the last look.
    updates: u64,
    looked_at: u64,
    /// Updates that gears before it made.
    others: u64,
    preparation: f64,
    idle_rounds: u32,
    /// Rounds so far, of all gears.
    rounds: u64,
    /// Rounds in a row that know of no bound from below.
    unbounded_rounds: u32,
    least_gap: f64,
    handed_over: bool,
    /// The size of x from which on it is looked whether it is on its way to infinity.
    far_out: f64,
    /// The last iterate that was seen to be feasible, and how often the run went back to one.
    feasible: Vec<f64>,
    taken_back: u32,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Run<'r, F, H> {
    fn new(plan: Plan<'r, F, H>, checkpoints: Checkpoints<'r>, engaged: Engaged<'r>) -> Self {
        let Engaged { gear, state, objective, metric, preparation } = engaged;
        Self {
            feasible: if plan.problem.coupling().rows() > 1 { state.x.clone() } else { Vec::new() },
            taken_back: 0,
            far_out: FAR_OUT * (1.0 + max_abs(&state.x)),
            view: plan.problem.view(),
            beyond: Beyond::new(
                plan.problem,
                metric,
                plan.settings.method == Method::Auto,
                plan.may_go_inside,
            ),
            plan,
            checkpoints,
            gear,
            state,
            objective,
            gain_of_pairs: 0.0,
            updates: 0,
            looked_at: 0,
            others: 0,
            preparation,
            idle_rounds: 0,
            rounds: 0,
            unbounded_rounds: 0,
            least_gap: f64::INFINITY,
            handed_over: false,
        }
    }

    fn until_the_end(&mut self) -> Result<()> {
        self.be_finite()?;
        if self.plan.resumed.is_none() {
            self.go_inside_if_due()?;
            self.look(self.gear.habits().begins_with)?;
        }
        while self.checkpoints.status.is_none() {
            let round = self.round()?;
            self.beyond_pairs(round)?;
            self.go_inside_if_due()?;
            self.look_out()?;
            self.keep_feasible()?;
            self.look(round.due)?;
            self.go_inside_at_the_end()?;
            self.hand_over(round)?;
            self.keep()?;
        }
        self.last_look()
    }

    /// A round of the gear, until the next checkpoint is due or a limit binds.
    fn round(&mut self) -> Result<Round> {
        let (spent, by_epoch) = (self.spent(), self.plan.updates_per_epoch);
        let most_updates = self.checkpoints.limits.most_updates.saturating_sub(spent.updates);
        let (updates, wanted_gap) = (self.updates_to_next_look(), self.wanted_gap());
        let (wanted, hint) = (self.checkpoints.wanted(), self.checkpoints.hint());
        let Checkpoints { limits, observer, .. } = &mut self.checkpoints;
        let mut task = Task {
            updates: updates.min(most_updates),
            objective: self.objective,
            target: self.plan.settings.target_objective,
            wanted_gap,
            wanted_gap_at: &wanted,
            limits,
            hint: &hint,
            heartbeat: &mut |made, epochs| {
                if let Some(observer) = observer {
                    let updates = spent.updates + made;
                    observer.heartbeat(updates, epochs.unwrap_or(updates as f64 / by_epoch));
                }
            },
        };
        let round = match self.gear.round(&mut self.state, &mut task) {
            Ok(round) => round,
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Halt(halt)) => {
                self.checkpoints.ended(halt, &self.state.x, spent.updates)?;
                Round { is_inconclusive: true, ..Round::new(0, self.objective) }
            }
        };
        self.updates += round.updates;
        self.rounds += 1;
        self.gain_of_pairs = self.objective - round.objective;
        self.objective = round.objective;
        self.checkpoints.status = round.status.or(self.checkpoints.status);
        // Who counts epochs of its own knows its limits, too.
        if round.updates >= most_updates && self.gear.epochs().is_none() {
            self.checkpoints.status.get_or_insert(Status::IterationLimit);
        }
        self.be_finite()?;
        Ok(round)
    }

    /// Where pairs do too little: steps over all blocks. Then whether the round gained anything at all.
    fn beyond_pairs(&mut self, round: Round) -> Result<()> {
        let before = self.objective + self.gain_of_pairs;
        if self.checkpoints.status.is_none() {
            match self.steps_beyond(round) {
                Ok(()) => self.be_finite()?,
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::Halt(halt)) => {
                    self.checkpoints.ended(halt, &self.state.x, self.spent().updates)?;
                }
            }
        }
        if !gain::is_none(before - self.objective, self.objective) {
            self.idle_rounds = 0;
            if let Some(interior) = &mut self.beyond.interior {
                interior.others_moved();
            }
        } else if !round.is_inconclusive {
            self.idle_rounds += 1;
        }
        Ok(())
    }

    fn steps_beyond(&mut self, round: Round) -> Attempt<()> {
        let (habits, control) = (self.gear.habits(), self.checkpoints.limits.control().clone());
        let target = self.plan.settings.target_objective;
        if self.beyond.has_second_order() {
            if target.is_none_or(|target| self.objective > target) {
                // A judge need not know multipliers.
                let known = self.checkpoints.verdict().map(|verdict| &verdict.multipliers[..]);
                let known = known.filter(|known| known.len() == self.view.coupling().rows());
                let lambda = self.plan.problem.reduce_multipliers(known);
                let products = self.updates as f64 / self.plan.updates_per_epoch;
                let (state, wanted) = (&mut self.state, self.checkpoints.wanted_gap(self.objective));
                self.beyond.second_order(state, &lambda, products, wanted, target, &control)?;
                self.objective = self.view.value(&self.state.x, &self.state.product);
            }
            return Ok(());
        }
        // Pairs on the way to a target are left alone: whoever sets one wants to know what they can do.
        if target.is_some() {
            return Ok(());
        }
        // Where the product is not kept a step over all blocks costs passes over the samples: only at the end.
        let left = if habits.has_product { self.distance_left() } else { self.wanted_gap() };
        let stalled = self.gain_of_pairs <= 1e-2 * left && !round.undone;
        if habits.takes_full_steps && stalled && (self.idle_rounds > 0 || !habits.minds_moves) {
            self.full_step(habits.has_product)?;
        }
        self.unbounded_rounds = if round.is_bounded { 0 } else { self.unbounded_rounds + 1 };
        if self.unbounded_rounds >= habits.rounds_per_sounding {
            // Pairs never see that an objective falls for ever; second-order directions do. Nothing is moved.
            self.unbounded_rounds = 0;
            let x = self.gear.candidate(&self.state).to_vec();
            self.beyond.sound(State::new(self.view.smooth(), x, &control)?, &control)?;
        }
        Ok(())
    }

    /// Looks whether x is on its way to infinity, now and then while it grows.
    fn look_out(&mut self) -> Result<()> {
        let size = max_abs(&self.state.x);
        if size < self.far_out || self.checkpoints.status.is_some() {
            return Ok(());
        }
        self.far_out = FARTHER * size;
        let control = self.checkpoints.control();
        let mut look = || {
            // Not every gear keeps the product.
            let there = State::new(self.view.smooth(), self.state.x.clone(), &control)?;
            self.beyond.look_along(self.plan.problem.start(), &there, &control)
        };
        match look() {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Halt(halt)) => self.checkpoints.ended(halt, &self.state.x, self.spent().updates),
        }
    }

    /// A proximal step over all blocks.
    fn full_step(&mut self, has_product: bool) -> Attempt<()> {
        let control = self.checkpoints.limits.control().clone();
        if has_product {
            let fell = self.beyond.full_step(&mut self.state, &control)?;
            self.objective = self.view.value(&self.state.x, &self.state.product);
            if fell > 0.0 {
                self.gear.moved(&self.state, &control)?;
            }
            return Ok(());
        }
        let mut whole = State::new(self.view.smooth(), self.state.x.clone(), &control)?;
        let fell = self.beyond.full_step(&mut whole, &control)?;
        if gain::is_none(fell, self.objective) {
            return Ok(());
        }
        repair(self.view, &mut whole.x, &control)?;
        let before = std::mem::replace(&mut self.state.x, whole.x);
        match self.gear.moved(&self.state, &control) {
            Ok(found) => self.objective = found.unwrap_or(self.objective - fell),
            Err(halt) => {
                self.state.x = before;
                return Err(halt.into());
            }
        }
        Ok(())
    }

    /// Takes rounding drift out of A x = b and of the maintained products.
    fn keep_feasible(&mut self) -> Result<()> {
        let habits = self.gear.habits();
        if habits.repairs {
            return Ok(());
        }
        // Whoever interrupts does not want to wait for the last digit, momentum is not lost for it, and on the way to a
        // target nobody looks at it.
        let content = self.checkpoints.status == Some(Status::Interrupted)
            || habits.minds_moves
            || self.plan.settings.target_objective.is_some();
        if content && !self.drifted() {
            return Ok(());
        }
        let control = self.checkpoints.control();
        let mut repaired = || {
            if repair(self.view, &mut self.state.x, &control)? {
                self.state.refresh(self.view.smooth(), &control)?;
                self.gear.moved(&self.state, &control)?;
            }
            Ok(())
        };
        let outcome = repaired().and_then(|()| self.stay_feasible());
        match outcome {
            Ok(()) => Ok(()),
            Err(halt) => self.checkpoints.ended(halt, &self.state.x, self.spent().updates),
        }
    }

    /// Goes back to the last feasible iterate where no repair brought x back: rows that are nearly parallel are beyond
    /// the closed forms of pair steps.
    fn stay_feasible(&mut self) -> Pass {
        // One row is never left: its closed forms are exact.
        let coupling = self.view.independent_coupling();
        if coupling.rows() <= 1 {
            return Ok(());
        }
        let control = self.checkpoints.control();
        let miss = coupling.miss_within(&self.state.x, &control)?;
        if miss.is_feasible() {
            self.feasible.clone_from(&self.state.x);
        } else if !self.feasible.is_empty() {
            self.state.x.clone_from(&self.feasible);
            self.state.refresh(self.view.smooth(), &control)?;
            self.gear.moved(&self.state, &control)?;
            self.objective = self.view.value(&self.state.x, &self.state.product);
            self.taken_back += 1;
            if self.taken_back >= MOST_TAKEN_BACK {
                self.checkpoints.status.get_or_insert(Status::Stalled);
            }
        }
        Ok(())
    }

    /// Whether a row is off by more than half of what is allowed.
    fn drifted(&self) -> bool {
        self.view.independent_coupling().miss(&self.state.x).relative > 0.5 * ALLOWED_SHARE
    }

    /// Judges x if that is due, or compares it with the target: then there is no certificate before the end.
    fn look(&mut self, due: Due) -> Result<()> {
        if let Some(target) = self.plan.settings.target_objective {
            self.looked_at = self.updates;
            return self.look_for(target);
        }
        let due = match due {
            _ if self.checkpoints.status.is_some() => Due::Now,
            Due::ByWork if self.updates >= self.next_look() => Due::Now,
            due => due,
        };
        match due {
            Due::Now => self.checkpoint(),
            Due::Show => {
                let spent = self.spent();
                self.checkpoints.show(self.gear.candidate(&self.state), spent)
            }
            Due::ByWork | Due::Later => Ok(()),
        }
    }

    /// Ends the run where the target is reached, or does not come nearer.
    fn look_for(&mut self, target: f64) -> Result<()> {
        if self.checkpoints.status.is_some() {
            return Ok(());
        }
        if self.objective <= target {
            // Where the product is not kept, sums of the gear and those of f differ in rounding: f has the last word.
            let x = self.gear.candidate(&self.state);
            let found = if self.gear.habits().has_product {
                Ok(self.objective)
            } else {
                self.view.objective(x, self.checkpoints.limits.control())
            };
            match found {
                Ok(found) if found <= target => self.checkpoints.reached_target(),
                Ok(_) => {}
                Err(halt) => return self.checkpoints.ended(halt, x, self.updates + self.others),
            }
        } else if self.idle_rounds >= IDLE_ROUNDS_TO_TARGET * self.gear.habits().rounds_per_idle {
            self.checkpoints.status = Some(Status::Stalled);
        }
        Ok(())
    }

    /// The one certificate of a run to a target.
    fn last_look(&mut self) -> Result<()> {
        if self.plan.settings.target_objective.is_some() {
            self.keep_feasible()?;
            self.checkpoint()?;
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.looked_at = self.updates;
        let idle_rounds = self.idle_rounds / self.gear.habits().rounds_per_idle;
        let spent = self.spent();
        self.checkpoints.take(self.gear.candidate(&self.state), spent, idle_rounds)?;
        // The objective may be flat to rounding while the gap still falls.
        let gap = self.checkpoints.verdict().and_then(|verdict| verdict.gap);
        if let Some(gap) = gap {
            self.gear.judged(gap / self.wanted_gap());
        }
        if let Some(gap) = gap.filter(|gap| *gap < SMALLER_GAP * self.least_gap) {
            self.least_gap = gap;
            self.idle_rounds = 0;
        }
        Ok(())
    }

    /// The updates after which enough was done since the last look.
    fn next_look(&self) -> u64 {
        let habits = self.gear.habits();
        // Who does not look for the target during a round must not make long ones.
        let blind = self.plan.settings.target_objective.is_some() && !habits.sees_target;
        let growth = if blind { 0 } else { (self.looked_at as f64 * CHECKPOINT_GROWTH) as u64 };
        // Rounds that gain less than what is allowed to be left are a sign that it is reached.
        let small = self.gain_of_pairs <= self.wanted_gap();
        let pass = if small && self.updates > 0 { 0 } else { habits.updates_per_pass };
        let epoch = self.plan.updates_per_epoch.ceil() as u64;
        self.looked_at.saturating_add(growth.max(epoch).max(habits.fewest_updates).max(pass))
    }

    fn updates_to_next_look(&self) -> u64 {
        self.next_look().saturating_sub(self.updates).max(self.gear.habits().fewest_updates)
    }

    /// Another gear goes on from here where this one is slow or at its end.
    fn hand_over(&mut self, round: Round) -> Result<()> {
        let Some(next) = self.plan.next else { return Ok(()) };
        match self.checkpoints.status {
            None if round.is_slow => {}
            Some(Status::Stalled) => self.checkpoints.status = None,
            _ => return Ok(()),
        }
        (self.plan.settings, self.plan.next, self.handed_over) = (next, None, true);
        match self.plan.engage(&self.state.x, &self.checkpoints) {
            Ok(Engaged { gear, state, objective, metric, preparation }) => {
                (self.gear, self.state, self.objective) = (gear, state, objective);
                let inside = self.plan.may_go_inside;
                self.beyond = Beyond::new(self.plan.problem, metric, next.method == Method::Auto, inside);
                self.preparation += preparation;
            }
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Halt(halt)) => {
                self.checkpoints.ended(halt, &self.state.x, self.spent().updates)?;
            }
        }
        self.others += self.updates;
        (self.updates, self.looked_at, self.idle_rounds) = (0, 0, 0);
        self.look(self.gear.habits().begins_with)
    }

    fn spent(&self) -> Spent {
        let updates = self.updates + self.others;
        let epochs = self.gear.epochs().unwrap_or(updates as f64 / self.plan.updates_per_epoch);
        Spent { updates, epochs, preparation: self.preparation, threads: self.gear.threads() }
    }

    fn wanted_gap(&self) -> f64 {
        self.checkpoints.wanted_gap(self.objective)
    }

    /// What the objective may still fall, as far as the last verdict knows.
    fn distance_left(&self) -> f64 {
        self.checkpoints.verdict().and_then(|verdict| verdict.gap).unwrap_or_else(|| self.wanted_gap())
    }

    fn be_finite(&mut self) -> Result<()> {
        if self.objective.is_finite() {
            return Ok(());
        }
        let updates = self.spent().updates;
        Err(self.checkpoints.not_finite(self.objective, &self.state.x, updates))
    }

    fn finish(self) -> Result<Ended> {
        let spent = self.spent();
        // Candidates that were not judged in time are none.
        let candidates = if self.checkpoints.is_uncertain() { Vec::new() } else { self.gear.candidates() };
        let x = self.gear.finish(self.state);
        let (status, x, finding, seconds) = self.checkpoints.finish(x, spent.updates, self.objective)?;
        Ok(Ended { status, x, finding, spent, seconds, candidates, handed_over: self.handed_over })
    }
}
