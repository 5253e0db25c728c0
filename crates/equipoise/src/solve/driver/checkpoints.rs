//! Checkpoints: the certificate of the iterate, the observer, the decision whether to stop.

use std::time::{Duration, Instant};

use crate::certificate::{Certificate, Effort, check_with};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{SampleFault, SmoothTerm};
use crate::solve::driver::budget::Budget;
use crate::solve::judge::Judge;
use crate::solve::observer::{Observer, Progress};
use crate::solve::{Settings, Solution, Status};
use crate::stop_scope::StopScope;

/// Rounds without any progress after which a run is `Stalled`.
const PATIENCE: u32 = 4;

/// What a run has spent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) updates: u64,
    pub(crate) epochs: f64,
    /// Seconds before the first update.
    pub(crate) preparation: f64,
    /// Threads that worked on the run.
    pub(crate) threads: usize,
}

/// Watches a run and ends it.
pub(crate) struct Checkpoints<'r, F, H> {
    problem: &'r Problem<F, H>,
    settings: &'r Settings,
    pub(crate) budget: Budget<'r>,
    pub(crate) observer: Option<&'r mut dyn Observer>,
    judge: Option<&'r dyn Judge>,
    pub(crate) certificate: Option<Certificate>,
    /// Updates and KKT residual at the last full certificate.
    last_full: (u64, f64),
    pub(crate) status: Option<Status>,
    /// Seconds after which a target was reached.
    reached_after: Option<f64>,
    /// Whether whoever runs can do with passes over data that were ended early.
    pub(crate) may_cut: bool,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Checkpoints<'r, F, H> {
    pub(crate) fn new(
        problem: &'r Problem<F, H>,
        settings: &'r Settings,
        budget: Budget<'r>,
        observer: Option<&'r mut dyn Observer>,
        judge: Option<&'r dyn Judge>,
    ) -> Self {
        let last_full = (0, f64::INFINITY);
        Self {
            problem,
            settings,
            budget,
            observer,
            judge,
            certificate: None,
            last_full,
            status: None,
            reached_after: None,
            may_cut: false,
        }
    }

    /// Ends the run because its target was reached.
    pub(crate) fn reached_target(&mut self) {
        self.status = Some(Status::TargetReached);
        self.reached_after = Some(self.budget.seconds());
    }

    pub(crate) fn heartbeat(&mut self, spent: Spent) {
        if let Some(observer) = &mut self.observer {
            observer.heartbeat(spent.updates, spent.epochs);
        }
    }

    /// The absolute gap that ends the run, for a point with this objective.
    pub(crate) fn wanted_gap(&self, objective: f64) -> f64 {
        match self.judge {
            Some(judge) => judge.wanted_gap(objective),
            None => self.settings.tolerance * (1.0 + objective.abs()),
        }
    }

    /// Whether the certificate alone decides, with a tolerance and no judge.
    pub(crate) fn is_by_tolerance(&self) -> bool {
        self.judge.is_none()
    }

    /// Lets the observer, if there is one, see x; what it sees ends nothing.
    pub(crate) fn show(&mut self, x: &[f64], spent: Spent) -> Result<()> {
        if self.observer.is_none() {
            return Ok(());
        }
        let certificate = match self.judge {
            Some(judge) => judge.certify(x)?,
            None => check_with(self.problem, x, Effort::Quick(&|| self.budget.stop().is_some()))?,
        };
        self.tell(spent, certificate);
        Ok(())
    }

    fn tell(&mut self, spent: Spent, certificate: Certificate) {
        if let Some(observer) = &mut self.observer {
            observer.checkpoint(&Progress {
                update: spent.updates,
                epoch: spent.epochs,
                seconds: self.budget.seconds(),
                certificate,
            });
        }
    }

    /// Certifies x, tells the observer, and sets the status when the run is over.
    pub(crate) fn take(&mut self, x: &[f64], spent: Spent, idle_rounds: u32) -> Result<()> {
        self.take_if_whole(x, spent, idle_rounds).map(|_| ())
    }

    /// The same; false where passes over data were ended early and the certificate is still that of an earlier x.
    pub(crate) fn take_if_whole(&mut self, x: &[f64], spent: Spent, idle_rounds: u32) -> Result<bool> {
        let found = match self.judge {
            Some(judge) => {
                let certificate = judge.certify(x)?;
                let accepted = judge.accepts(&certificate);
                Some((certificate, accepted))
            }
            None => self.by_tolerance(x, spent, idle_rounds >= PATIENCE)?,
        };
        let Some((certificate, accepted)) = found else {
            self.was_stopped();
            return Ok(false);
        };
        if !certificate.objective.is_finite() {
            return Err(self.not_finite(certificate.objective, x, spent.updates));
        }
        let reached = self.settings.target_objective.is_some_and(|target| certificate.objective <= target);
        if reached && self.reached_after.is_none() {
            self.reached_target();
        }
        if accepted && self.reached_after.is_none() {
            self.status = Some(Status::Converged);
        } else if idle_rounds >= PATIENCE {
            self.status.get_or_insert(Status::Stalled);
        }
        self.tell(spent, certificate.clone());
        self.certificate = Some(certificate);
        Ok(true)
    }

    /// Work was ended early: so is the run.
    pub(crate) fn was_stopped(&mut self) {
        if !matches!(self.status, Some(Status::Converged | Status::TargetReached)) {
            self.status = Some(self.budget.stop().unwrap_or(Status::Interrupted));
        }
    }

    /// The scope of passes over data: while the run goes on they end at its limits, afterwards when patience does. With a
    /// target there is one certificate only, and it is worth waiting for.
    pub(crate) fn pass_scope(&self) -> StopScope {
        if !self.may_cut || self.settings.target_objective.is_some() {
            return StopScope::open(None, None);
        }
        match self.patience() {
            Some(patience) => StopScope::open(None, Instant::now().checked_add(patience)),
            None => self.budget.scope(),
        }
    }

    /// The same for work that can be asked to stop, with the status that this gives the run.
    pub(crate) fn stopper(&self) -> impl Fn() -> Option<Status> + '_ {
        let (begun, patience) = (Instant::now(), self.patience());
        move || match patience {
            Some(patience) => self.status.filter(|_| begun.elapsed() >= patience),
            None => self.budget.stop(),
        }
    }

    /// What is wrong where the objective at x is no number: a sample that can no longer be read, or f itself.
    pub(crate) fn not_finite(&self, found: f64, x: &[f64], updates: u64) -> Error {
        match self.problem.smooth().fault() {
            Some(SampleFault { row, reason }) => {
                Error::BadSample { row, reason, iterate: x.to_vec(), updates }
            }
            None => Error::NonFiniteIterate { what: "the objective", found, updates },
        }
    }

    /// The certificate, if it is whole, and whether it is good enough.
    fn by_tolerance(&mut self, x: &[f64], spent: Spent, last: bool) -> Result<Option<(Certificate, bool)>> {
        let tolerance = self.settings.tolerance;
        let (scope, stopper) = (self.pass_scope(), self.stopper());
        let stop = || stopper().is_some();
        let mut certificate = check_with(self.problem, x, Effort::Quick(&stop))?;
        if scope.was_cut() {
            return Ok(None);
        }
        // Without a gap the quick look says nothing of optimality: one may be found that is not small.
        let kkt = certificate.kkt_residual;
        let mut conclusive = certificate.duality_gap.is_some();
        let promising = kkt <= tolerance.max(1e-3) && self.worth_a_full_certificate(kkt, spent.updates);
        // Whoever interrupts does not want to wait for a sharper gap.
        let hurried = matches!(self.status, Some(Status::Interrupted | Status::TargetReached));
        let wanted = !hurried && (promising || last || self.status.is_some());
        if wanted && !(conclusive && certificate.meets(tolerance)) {
            let full = check_with(self.problem, x, Effort::Full(&stop))?;
            // A search that was cut short has not shown that there is no gap; its numbers may be of half a pass.
            let whole = !scope.was_cut();
            if whole {
                conclusive = full.duality_gap.is_some() || !stop();
                certificate = full;
            }
            drop(stopper);
            self.last_full = (spent.updates, kkt);
        }
        let accepted = conclusive && certificate.meets(tolerance);
        Ok(Some((certificate, accepted)))
    }

    /// A full certificate costs many passes: only after enough work or progress since the last one.
    fn worth_a_full_certificate(&self, kkt: f64, updates: u64) -> bool {
        let (last_updates, last) = self.last_full;
        kkt <= self.settings.tolerance || kkt <= 0.3 * last || 2 * updates >= 3 * last_updates
    }

    /// How long the last certificate may take once a limit was reached; `None` while the run goes on.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.status? {
            Status::Interrupted | Status::TargetReached => Some(Duration::from_millis(20)),
            Status::TimeLimit => {
                Some(Duration::from_secs_f64((0.1 * self.budget.seconds()).clamp(0.02, 1.0)))
            }
            _ => None,
        }
    }

    /// The solution: the last iterate with its certificate.
    pub(crate) fn finish(self, x: Vec<f64>, spent: Spent) -> Result<Solution> {
        let certificate = match self.certificate {
            Some(certificate) => certificate,
            None => check_with(self.problem, &x, Effort::Quick(&|| false))?,
        };
        Ok(Solution {
            status: self.status.unwrap_or(Status::Stalled),
            x,
            certificate,
            updates: spent.updates,
            epochs: spent.epochs,
            seconds: self.reached_after.unwrap_or_else(|| self.budget.seconds()),
            preparation_seconds: spent.preparation,
            threads: spent.threads.max(1),
            seed: self.settings.seed,
            method: self.settings.method,
            reason: String::new(),
            candidates: Vec::new(),
        })
    }
}
