//! Checkpoints: the certificate of the iterate, the observer, the decision whether to stop.

use std::time::Duration;

use crate::certificate::{Certificate, Effort, certify, check_point};
use crate::control::{Control, Halt, Pass};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{SampleFault, SmoothTerm};
use crate::solve::driver::budget::Budget;
use crate::solve::judge::Judge;
use crate::solve::observer::{Observer, Progress};
use crate::solve::{Settings, Solution, Status};

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
    pub(crate) budget: Budget,
    pub(crate) observer: Option<&'r mut dyn Observer>,
    judge: Option<&'r dyn Judge>,
    pub(crate) certificate: Option<Certificate>,
    /// Updates and KKT residual at the last full certificate.
    last_full: (u64, f64),
    pub(crate) status: Option<Status>,
    /// Seconds after which a target was reached.
    reached_after: Option<f64>,
    /// The x of the last certificate, and whether there was no time for one of a later x.
    certified: Vec<f64>,
    uncertain: bool,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Checkpoints<'r, F, H> {
    pub(crate) fn new(
        problem: &'r Problem<F, H>,
        settings: &'r Settings,
        budget: Budget,
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
            certified: Vec::new(),
            uncertain: false,
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
            None => match certify(self.problem.view(), x, Effort::Quick, self.budget.control()) {
                Ok(certificate) => certificate,
                Err(halt) => return self.ended(halt, x, spent.updates),
            },
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

    /// Certifies x, tells the observer, and sets the status when the run is over. Where there is no time for that, the
    /// certificate is still that of an earlier x.
    pub(crate) fn take(&mut self, x: &[f64], spent: Spent, idle_rounds: u32) -> Result<()> {
        let mut found = self.verdict(x, spent, idle_rounds)?;
        if let Err(halt) = &found
            && self.status.is_none()
        {
            // The run is over now, and some patience is left for its last certificate.
            self.ended(halt.clone(), x, spent.updates)?;
            found = self.verdict(x, spent, idle_rounds)?;
        }
        let (certificate, accepted) = match found {
            Ok(found) => found,
            Err(halt) => {
                self.uncertain = true;
                return self.ended(halt, x, spent.updates);
            }
        };
        if !certificate.objective.is_finite() {
            return Err(not_finite(certificate.objective, spent.updates));
        }
        if certificate.is_partial
            && let Some(status) = self.budget.stop()
        {
            self.status.get_or_insert(status);
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
        self.certified.clear();
        self.certified.extend_from_slice(x);
        self.uncertain = false;
        Ok(())
    }

    /// Whether there was no time to certify the last iterate.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.uncertain
    }

    /// Work was ended early: so is the run, and by an error where data cannot be read again.
    pub(crate) fn ended(&mut self, halt: Halt, x: &[f64], updates: u64) -> Result<()> {
        let Some(status) = Status::after(&halt) else { return Err(lost(halt, x, updates)) };
        if !matches!(self.status, Some(Status::Converged | Status::TargetReached)) {
            self.status = self.budget.stop().or(Some(status));
        }
        Ok(())
    }

    /// The control of passes over data: while the run goes on they end at its limits, afterwards when patience does. A
    /// target that was reached has one certificate only, and it is worth waiting for.
    pub(crate) fn control(&self) -> Control {
        match self.patience() {
            Some(_) if self.status == Some(Status::TargetReached) => Control::unlimited(),
            Some(patience) => Control::unlimited().within(patience.as_secs_f64()),
            None => self.budget.control().clone(),
        }
    }

    /// The certificate and whether it is good enough.
    fn verdict(&mut self, x: &[f64], spent: Spent, idle_rounds: u32) -> Result<Pass<(Certificate, bool)>> {
        match self.judge {
            Some(judge) => {
                let certificate = judge.certify(x)?;
                let accepted = judge.accepts(&certificate);
                Ok(Ok((certificate, accepted)))
            }
            None => {
                check_point(self.problem.view(), x)?;
                Ok(self.by_tolerance(x, spent, idle_rounds >= PATIENCE))
            }
        }
    }

    fn by_tolerance(&mut self, x: &[f64], spent: Spent, last: bool) -> Pass<(Certificate, bool)> {
        let (tolerance, control, view) = (self.settings.tolerance, self.control(), self.problem.view());
        let mut certificate = certify(view, x, Effort::Quick, &control)?;
        // Without a gap the quick look says nothing of optimality: one may be found that is not small.
        let kkt = certificate.kkt_residual;
        let mut conclusive = certificate.duality_gap.is_some();
        let promising = kkt <= tolerance.max(1e-3) && self.worth_a_full_certificate(kkt, spent.updates);
        // Whoever interrupts does not want to wait for a sharper gap.
        let hurried = matches!(self.status, Some(Status::Interrupted | Status::TargetReached));
        let wanted = !certificate.is_partial && (promising || last || self.status.is_some());
        if wanted && !(conclusive && certificate.meets(tolerance)) {
            if hurried {
                certificate.is_partial = self.status == Some(Status::Interrupted);
            } else {
                match certify(view, x, Effort::Full, &control) {
                    Err(fault @ Halt::Fault(_)) => return Err(fault),
                    // A search that was cut short has not shown that there is no gap.
                    Ok(full) if !full.is_partial || full.duality_gap.is_some() => {
                        conclusive = true;
                        certificate = full;
                    }
                    _ => certificate.is_partial = true,
                }
                self.last_full = (spent.updates, kkt);
            }
        }
        let accepted = conclusive && certificate.meets(tolerance);
        Ok((certificate, accepted))
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

    /// The solution: the last iterate with its certificate, or the one before it that has one.
    pub(crate) fn finish(self, mut x: Vec<f64>, spent: Spent) -> Result<Solution> {
        let certificate = match self.certificate {
            Some(certificate) => {
                if self.uncertain {
                    x = self.certified;
                }
                certificate
            }
            // Where nothing was done nothing is lost.
            None if spent.updates == 0 && self.uncertain => {
                return Err(Error::StoppedEarly { by: self.status.map_or("", Status::name) });
            }
            None => certify(self.problem.view(), &x, Effort::Quick, &Control::unlimited())?,
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

/// Data that x needs could not be read again.
pub(crate) fn lost(halt: Halt, x: &[f64], updates: u64) -> Error {
    match halt {
        Halt::Fault(SampleFault { row, reason }) => {
            Error::BadSample { row, reason, iterate: x.to_vec(), updates }
        }
        halt => halt.into(),
    }
}

/// f is no number at a feasible point.
pub(crate) fn not_finite(found: f64, updates: u64) -> Error {
    Error::NonFiniteIterate { what: "the objective", found, updates }
}
