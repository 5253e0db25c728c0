//! With which charges a fit is made: those of the user, or smaller ones, as a guess.
//!
//! | charges that are too large for multipliers | first | then, where the gap is not met |
//! |---|---|---|
//! | none | as they are | |
//! | some | as they are | cut off |
//! | all | as they are, where rounding leaves hope | smaller in proportion; the same, less so; cut off, where they differ |
//!
//! What several ways find is put together: the better model and the better bound. Whatever a fit is made
//! with, every bound is for the charges as they are (see `steep`).
//!
//! Must not know: how a fit is made.

use super::TrainSettings;
use super::dual::Task;
use super::ended::patience;
use super::error::{Error, Result};
use super::proof::{Bounds, LEAST_SCALE};
use super::report::{ClassReport, Doubt};
use super::train::{Company, Fit, Plan, Smaller};
use equipoise::solve::{Observer, Status};

/// Most epochs of a fit with charges that double precision cannot carry.
const MOST_STEEP_EPOCHS: f64 = 1000.0;
/// Share of the gap wanted to which a fit with smaller charges is made.
const SHARE_OF_GUESS: f64 = 0.2;

impl Plan<'_> {
    /// The fit, by the way or the ways that its charges call for.
    pub(super) fn trained(
        &self,
        k: usize,
        mut observer: Option<&mut dyn Observer>,
        company: &Company<'_>,
    ) -> Result<Fit> {
        let task = self.task_of_fit(k)?;
        // Ranks know only how steep their own rows are, and have one way in common: the charges as they are.
        let Some(steepness) = task.steepness().filter(|_| self.world.is_none()) else {
            return self.solved(k, &task, observer, company, self.settings.max_epochs);
        };
        let is_over = |fit: &Fit| {
            let report = &fit.report;
            self.is_spent(report.epochs)
                || matches!(report.status, Status::Converged | Status::Interrupted | Status::TimeLimit)
        };
        let usual = self.settings.max_epochs;
        let few = [Some(MOST_STEEP_EPOCHS), usual].into_iter().flatten().reduce(f64::min);
        let most = if steepness.is_hopeless { few } else { usual };
        // What comes second cannot go on where a snapshot was taken, and begins anew.
        let anew = Company { resumed: None, kept: None, ..*company };
        let [low, high] = steepness.ceilings;
        let cut_at = |ceiling: f64| Smaller { share: 1.0, ceiling };
        let share_of = |ceiling: f64| {
            let share = ceiling / steepness.largest;
            // A share that is no normal number has lost the digits that would keep charges in proportion.
            if share.is_normal() { Smaller { share, ceiling: f64::INFINITY } } else { cut_at(ceiling) }
        };
        let cut_off = cut_at(high);
        if !steepness.is_everywhere {
            let found = self.solved(k, &task, again(&mut observer), company, most)?;
            if is_over(&found) {
                return Ok(found);
            }
            let second = self.guessed(k, &task, cut_off, again(&mut observer), &anew, few);
            return self.better(found, second, company);
        }
        let (mut found, first) = if steepness.is_hopeless {
            (self.guessed(k, &task, share_of(low), again(&mut observer), company, few)?, false)
        } else {
            (self.solved(k, &task, again(&mut observer), company, most)?, true)
        };
        for (smaller, makes_sense) in
            [(share_of(low), first), (share_of(high), true), (cut_off, !steepness.is_uniform)]
        {
            if makes_sense && !is_over(&found) {
                let next = self.guessed(k, &task, smaller, again(&mut observer), &anew, few);
                found = self.better(found, next, company)?;
            }
        }
        Ok(found)
    }

    /// A fit with smaller charges, and what it proves for the charges as they are.
    fn guessed(
        &self,
        k: usize,
        task: &Task<'_>,
        smaller: Smaller,
        observer: Option<&mut dyn Observer>,
        company: &Company<'_>,
        max_epochs: Option<f64>,
    ) -> Result<Fit> {
        let settings = TrainSettings { gap: SHARE_OF_GUESS * self.settings.gap, ..self.settings.clone() };
        let plan = Plan {
            samples: self.samples,
            settings: &settings,
            warm_start: self.warm_start,
            labels: self.labels.clone(),
            positive: self.positive.clone(),
            world: None,
            rows_of_all: self.rows_of_all,
            squared_norms: self.squared_norms.clone(),
            smaller,
        };
        let mut fit = plan.solved(k, &plan.task_of_fit(k)?, observer, company, max_epochs)?;
        let control = patience(fit.report.status, company);
        let guess = (&fit.weights[..], fit.report.bias);
        let proven = task.lifted(guess, fit.multipliers.as_deref(), &control);
        let report = &mut fit.report;
        let is_cut = proven.is_none();
        let bounds = proven.as_ref().map_or(Bounds { dual: 0.0, ..Bounds::NONE }, |proven| proven.bounds);
        (report.primal, report.dual, report.relative_gap) =
            (bounds.primal, bounds.dual, bounds.relative_gap(LEAST_SCALE));
        report.status = match report.status {
            _ if report.relative_gap <= self.settings.gap => Status::Converged,
            Status::Converged => Status::Stalled,
            // A limit that the attempt had is none of the user's.
            Status::IterationLimit if !self.is_spent(report.epochs) => Status::Stalled,
            status => status,
        };
        report.doubt = match report.status {
            Status::Converged => None,
            _ if is_cut => Some(Doubt::Stopped),
            _ if !bounds.gap().is_finite() => Some(Doubt::Overflow),
            Status::Stalled => Some(Doubt::Rounding),
            _ => None,
        };
        if let Some(proven) = proven {
            (fit.weights, report.bias) = (proven.weights, proven.bias);
        }
        Ok(fit)
    }

    /// Whether the user allows no more epochs.
    fn is_spent(&self, epochs: f64) -> bool {
        self.settings.max_epochs.is_some_and(|most| epochs >= most)
    }

    /// The better model of two fits of one function, with the better bound: each holds whoever found it. Where there was
    /// no time for the second, the first.
    fn better(&self, mut first: Fit, second: Result<Fit>, company: &Company<'_>) -> Result<Fit> {
        let second = match second {
            Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. })) => {
                let halted = company.control.halted();
                first.report.status = halted.as_ref().and_then(Status::after).unwrap_or(first.report.status);
                return Ok(first);
            }
            second => second?,
        };
        let (earlier, later) = (&first.report, &second.report);
        let (updates, epochs) = (earlier.updates + later.updates, earlier.epochs + later.epochs);
        let (dual, mut status) = (earlier.dual.max(later.dual), later.status);
        let mut fit = if later.primal < earlier.primal { second } else { first };
        let bounds = Bounds { primal: fit.report.primal, dual };
        let relative_gap = bounds.relative_gap(LEAST_SCALE);
        if relative_gap <= self.settings.gap {
            status = Status::Converged;
        } else if status == Status::IterationLimit && !self.is_spent(epochs) {
            status = Status::Stalled;
        }
        let doubt = match status {
            Status::Converged => None,
            Status::Stalled => fit.report.doubt.or(Some(Doubt::Rounding)),
            _ => fit.report.doubt,
        };
        fit.report = ClassReport { status, dual, relative_gap, doubt, updates, epochs, ..fit.report };
        Ok(fit)
    }
}

/// The same observer, for one attempt.
fn again<'o>(observer: &'o mut Option<&mut dyn Observer>) -> Option<&'o mut dyn Observer> {
    match observer {
        Some(observer) => Some(&mut **observer),
        None => None,
    }
}
