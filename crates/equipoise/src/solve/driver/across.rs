//! The outer loop where x is spread over ranks.
//!
//! ```text
//! until there is a status:
//!     a proximal Newton step on all ranks, as far as half the wanted gap asks for it, or less where the judge found more
//!     the judge's verdict, where the step seems to have come near enough, or to the target
//! ```
//!
//! - Given: the coordinates of this rank as a problem of its own, `A_r x_r = b_r`, with a feasible start; the whole problem has the sum
//!   of the objectives, one product, and `sum_r A_r x_r = sum_r b_r`. A team that is spread, and a judge who knows it.
//! - Returns: this rank's part of the last iterate, with a verdict on the whole; status and counts are the same on all ranks.
//! - Must not know: who else there is, how numbers travel.
//!
//! Every rank makes every decision from the same numbers. Wishes to stop and limits on time are agreed upon between Newton steps; no
//! pass is ended by one rank alone. A run that is put aside is so on every rank, after the same proximal point, and goes on with the same
//! bits.

use std::sync::Arc;
use std::time::Instant;

use crate::archive::Archive;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::judge::{Judge, Verdict};
use crate::solve::observer::{Observer, Progress};
use crate::solve::steps::proximal_newton::{Outcome, ProximalNewton};
use crate::solve::{Keeper, Method, Settings, Snapshot, Solution, Status};
use crate::team::Team;

/// Why a problem cannot be spread.
const UNFIT: &str = "on ranks it needs a factored quadratic and a separable term in closed form";
const OTHER_METHOD: &str = "on ranks proximal Newton steps are all there is: choose `auto` or `violating`";
/// The share of the wanted gap at which a proximal point is good enough, and what becomes of it where the judge finds more.
const AIM: f64 = 0.5;
const STRICTER: f64 = 0.25;
/// How often Newton steps that find nothing begin anew.
const MOST_RESTARTS: u32 = 3;

/// What steps to come depend on beside x and the method.
struct Memory {
    /// How often Newton steps found nothing and began anew.
    restarts: u32,
    /// The share of the wanted gap at which a proximal point is good enough.
    aim: f64,
}

/// What a run on ranks is given.
pub(crate) struct Across<'r> {
    pub(crate) settings: &'r Settings,
    pub(crate) team: Arc<Team>,
    pub(crate) control: Control,
    pub(crate) observer: Option<&'r mut dyn Observer>,
    pub(crate) judge: &'r dyn Judge,
    /// Both on every rank, or on none.
    pub(crate) keeper: Option<&'r mut dyn Keeper>,
    pub(crate) resumed: Option<&'r Snapshot>,
}

impl Across<'_> {
    /// Runs from a feasible start.
    pub(crate) fn run<F: SmoothTerm, H: SeparableTerm>(
        mut self,
        problem: &Problem<F, H>,
        mut x: Vec<f64>,
    ) -> Result<Solution<Verdict>> {
        let started = Instant::now();
        let settings = self.settings;
        if !matches!(settings.method, Method::Auto | Method::Violating) {
            return Err(Error::MethodNotApplicable { method: settings.method.name(), why: OTHER_METHOD });
        }
        let method = Method::Violating;
        let Some(mut newton) = ProximalNewton::across(problem, Arc::clone(&self.team)) else {
            return Err(Error::MethodNotApplicable { method: method.name(), why: UNFIT });
        };
        let most_passes = settings.max_epochs.unwrap_or(f64::INFINITY);
        newton.limit(settings.max_updates.unwrap_or(u64::MAX), most_passes);
        let control = settings.time_limit.into_iter().fold(self.control.clone(), Control::within);
        let mut memory = Memory { restarts: 0, aim: AIM };
        let (mut earlier, mut verdict) = (0.0, None);
        if let Some(snapshot) = self.resumed {
            let taken_up = self.take_up(snapshot, &mut x, &mut newton, &mut memory);
            let is_fit = !self.team.any(taken_up.is_err());
            self.team.check()?;
            taken_up?;
            if !is_fit {
                return Err(Error::BadSnapshot { what: "that of another rank is none" });
            }
            earlier = snapshot.seconds;
        }
        // The objective is a sum over all ranks, and with the same bits on each.
        let reached = |objective: f64| settings.target_objective.is_some_and(|target| objective <= target);
        let status = loop {
            newton.aim(memory.aim * self.judge.wanted_gap(newton.objective()));
            let outcome = newton.step(&mut x, &control);
            self.team.check()?;
            if let Some(observer) = &mut self.observer {
                observer.heartbeat(newton.newton_steps(), newton.passes());
            }
            let mut seems_done = outcome.seems_within(self.judge.wanted_gap(newton.objective()));
            match outcome {
                Outcome::Moved { .. } => verdict = None,
                Outcome::Stopped => {
                    let halted = self.team.halted(&control).and_then(|halt| Status::after(&halt));
                    self.team.check()?;
                    break halted.unwrap_or(Status::IterationLimit);
                }
                Outcome::Idle if newton.has_given_up() => {
                    memory.restarts += 1;
                    let lambda = newton.lambda.clone();
                    newton.restart(&lambda);
                    seems_done = true;
                }
                Outcome::Idle => {}
            }
            if seems_done || reached(newton.objective()) {
                let found = self.look(&x, started, &newton)?;
                let (accepted, exhausted, objective) = (found.accepted, found.exhausted, found.objective);
                verdict = Some(found);
                if reached(objective) {
                    break Status::TargetReached;
                }
                if accepted {
                    break Status::Converged;
                }
                if exhausted || memory.restarts >= MOST_RESTARTS {
                    break Status::Stalled;
                }
                memory.aim *= STRICTER;
            }
            self.keep(&x, &mut newton, &mut memory, earlier + started.elapsed().as_secs_f64())?;
        };
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => self.look(&x, started, &newton)?,
        };
        let (_, ranks) = self.team.place();
        Ok(Solution {
            status: match status {
                _ if reached(verdict.objective) => Status::TargetReached,
                _ if verdict.accepted => Status::Converged,
                status => status,
            },
            x,
            certificate: verdict,
            updates: newton.newton_steps(),
            epochs: newton.passes(),
            seconds: earlier + started.elapsed().as_secs_f64(),
            preparation_seconds: 0.0,
            threads: self.team.threads(),
            seed: settings.seed,
            method,
            reason: format!("on {ranks} ranks: proximal Newton steps alone"),
            candidates: Vec::new(),
        })
    }

    /// Hands out a snapshot on every rank, where one is due on any.
    fn keep<H: SeparableTerm>(
        &mut self,
        x: &[f64],
        newton: &mut ProximalNewton<'_, H>,
        memory: &mut Memory,
        seconds: f64,
    ) -> Result<()> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        let is_due = self.team.any(keeper.is_due());
        self.team.check()?;
        if !is_due {
            return Ok(());
        }
        let mut archive = Archive::to_write();
        carry(newton, memory, self.judge, &mut archive)?;
        keeper.keep(Snapshot {
            exact: true,
            updates: newton.newton_steps(),
            epochs: newton.passes(),
            seconds,
            handed_over: false,
            x: x.to_vec(),
            rest: archive.into_words(),
        });
        Ok(())
    }

    /// Goes on where this rank's part of a run was put aside; a step that all have made.
    fn take_up<H: SeparableTerm>(
        &self,
        snapshot: &Snapshot,
        x: &mut [f64],
        newton: &mut ProximalNewton<'_, H>,
        memory: &mut Memory,
    ) -> Result<()> {
        if snapshot.x.len() != x.len() {
            return Err(Error::BadSnapshot { what: "it has another number of variables" });
        }
        if !snapshot.exact {
            return Err(Error::BadSnapshot { what: "it is of a run on one process" });
        }
        x.copy_from_slice(&snapshot.x);
        let mut archive = Archive::to_read(&snapshot.rest);
        carry(newton, memory, self.judge, &mut archive)?;
        archive.end()
    }

    /// The judge's verdict, of which the observer is told.
    fn look<H: SeparableTerm>(
        &mut self,
        x: &[f64],
        started: Instant,
        newton: &ProximalNewton<'_, H>,
    ) -> Result<Verdict> {
        let verdict = self.judge.judge(x, &Control::unlimited());
        self.team.check()?;
        let verdict = verdict?;
        if let Some(observer) = &mut self.observer {
            observer.checkpoint(&Progress {
                update: newton.newton_steps(),
                epoch: newton.passes(),
                seconds: started.elapsed().as_secs_f64(),
                verdict: verdict.clone(),
                certificate: None,
            });
        }
        Ok(verdict)
    }
}

/// Shows an archive what steps to come depend on, beside x.
fn carry<H: SeparableTerm>(
    newton: &mut ProximalNewton<'_, H>,
    memory: &mut Memory,
    judge: &dyn Judge,
    archive: &mut Archive<'_>,
) -> Result<()> {
    newton.carry(archive)?;
    archive.small(&mut memory.restarts)?;
    archive.number(&mut memory.aim)?;
    let mut remembered = judge.memory();
    archive.words(&mut remembered)?;
    if archive.is_read() {
        judge.remember(&remembered);
    }
    Ok(())
}
