//! Checkpoints: what a judge finds of the iterate, the observer, the decision whether to stop.

use crate::archive::Archive;
use crate::certificate::{Certificate, Effort, Proposal, certify, check_point};
use crate::control::{Control, Halt, Pass};
use crate::error::{Error, Result, SampleFault};
use crate::problem::View;
use crate::solve::driver::limits::Limits;
use crate::solve::judge::{Judge, Verdict};
use crate::solve::observer::{Observer, Progress};
use crate::solve::{Settings, Status};

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

/// What was found of a point.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    /// `None` where a judge stood in for it.
    pub(crate) certificate: Option<Certificate>,
}

impl From<Verdict> for Finding {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, certificate: None }
    }
}

/// Watches a run and ends it.
pub(crate) struct Checkpoints<'r> {
    view: View<'r>,
    settings: &'r Settings,
    pub(crate) limits: Limits,
    pub(crate) observer: Option<&'r mut dyn Observer>,
    judge: Option<&'r dyn Judge>,
    /// The last finding, and the x it is of.
    finding: Option<Finding>,
    judged: Vec<f64>,
    /// Multipliers of the independent rows that a step proposed: certificates look at them, and trust none.
    pub(crate) proposed: Vec<Vec<f64>>,
    /// Whether there was no time for one of a later x.
    uncertain: bool,
    /// Updates and KKT residual at the last full certificate.
    last_full: (u64, f64),
    pub(crate) status: Option<Status>,
    /// Seconds after which a target was reached.
    reached_after: Option<f64>,
}

impl<'r> Checkpoints<'r> {
    pub(crate) fn new(
        view: View<'r>,
        settings: &'r Settings,
        limits: Limits,
        observer: Option<&'r mut dyn Observer>,
        judge: Option<&'r dyn Judge>,
    ) -> Self {
        Self {
            view,
            settings,
            limits,
            observer,
            judge,
            finding: None,
            judged: Vec::new(),
            proposed: Vec::new(),
            uncertain: false,
            last_full: (0, f64::INFINITY),
            status: None,
            reached_after: None,
        }
    }

    /// Shows an archive what later looks depend on. A certificate that was seen is not kept: the next look makes another.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let n = self.view.dimension();
        archive.work(&mut self.last_full.0)?;
        archive.number(&mut self.last_full.1)?;
        let mut is_judged = self.finding.is_some();
        archive.flag(&mut is_judged)?;
        if is_judged {
            let blank = || Finding::from(Verdict::new(0.0, 0.0, false));
            self.finding.get_or_insert_with(blank).verdict.carry(archive)?;
        }
        archive.list(&mut self.judged, |length| length == 0 || length == n)?;
        let rows = self.view.independent_coupling().rows().max(1);
        let mut proposed = self.proposed.concat();
        archive.list(&mut proposed, |length| length % rows == 0)?;
        self.proposed = proposed.chunks(rows).map(<[f64]>::to_vec).collect();
        let mut memory = self.judge.map_or_else(Vec::new, Judge::memory);
        archive.words(&mut memory)?;
        if let Some(judge) = self.judge.filter(|_| archive.is_read()) {
            judge.remember(&memory);
        }
        Ok(())
    }

    /// Ends the run because its target was reached.
    pub(crate) fn reached_target(&mut self) {
        self.status = Some(Status::TargetReached);
        self.reached_after = Some(self.limits.seconds());
    }

    /// The absolute gap that ends the run, for a point with this objective.
    pub(crate) fn wanted_gap(&self, objective: f64) -> f64 {
        self.wanted()(objective)
    }

    /// The absolute gap that ends the run, by the objective.
    pub(crate) fn wanted(&self) -> impl Fn(f64) -> f64 + use<'r> {
        let (judge, tolerance) = (self.judge, self.settings.tolerance);
        move |objective| match judge {
            Some(judge) => judge.wanted_gap(objective),
            None => tolerance * (1.0 + objective.abs()),
        }
    }

    /// Shows the judge, if there is one, a point of the dual.
    pub(crate) fn hint(&self) -> impl Fn(&[f64]) + use<'r> {
        let judge = self.judge;
        move |dual| {
            if let Some(judge) = judge {
                judge.hint(dual);
            }
        }
    }

    /// Whether the certificate alone decides, with a tolerance and no judge.
    pub(crate) fn is_by_tolerance(&self) -> bool {
        self.judge.is_none()
    }

    /// The last verdict.
    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.finding.as_ref().map(|finding| &finding.verdict)
    }

    /// Lets the observer, if there is one, see x; what it sees ends nothing.
    pub(crate) fn show(&mut self, x: &[f64], spent: Spent) -> Result<()> {
        if self.observer.is_none() {
            return Ok(());
        }
        let found = match self.judge {
            Some(judge) => by_judge(judge, x, self.limits.control())?,
            None => certify(self.view, x, Effort::Quick, &self.proposal(), self.limits.control())
                .map(|certificate| certified(certificate, false)),
        };
        match found {
            Ok(finding) => {
                self.tell(x, spent, &finding);
                Ok(())
            }
            Err(halt) => self.ended(halt, x, spent.updates),
        }
    }

    fn tell(&mut self, x: &[f64], spent: Spent, finding: &Finding) {
        if let Some(observer) = &mut self.observer {
            let Finding { verdict, certificate } = finding.clone();
            observer.iterate(x);
            observer.checkpoint(&Progress {
                update: spent.updates,
                epoch: spent.epochs,
                seconds: self.limits.seconds(),
                verdict,
                certificate,
            });
        }
    }

    /// Judges x, tells the observer, and sets the status when the run is over. Where there is no time for that, the
    /// finding is still that of an earlier x.
    pub(crate) fn take(&mut self, x: &[f64], spent: Spent, idle_rounds: u32) -> Result<()> {
        let mut found = self.find(x, spent, idle_rounds)?;
        if let Err(halt) = &found
            && self.status.is_none()
        {
            // The run is over now, and some patience is left for its last certificate.
            self.ended(halt.clone(), x, spent.updates)?;
            found = self.find(x, spent, idle_rounds)?;
        }
        let finding = match found {
            Ok(finding) => finding,
            Err(halt) => {
                self.uncertain = true;
                return self.ended(halt, x, spent.updates);
            }
        };
        let objective = finding.verdict.objective;
        if !objective.is_finite() {
            return Err(self.not_finite(objective, x, spent.updates));
        }
        if finding.certificate.as_ref().is_some_and(|certificate| certificate.is_partial)
            && let Some(status) = self.limits.stop()
        {
            self.status.get_or_insert(status);
        }
        let reached = self.settings.target_objective.is_some_and(|target| objective <= target);
        if reached && self.reached_after.is_none() {
            self.reached_target();
        }
        if finding.verdict.accepted && self.reached_after.is_none() {
            self.status = Some(Status::Converged);
        } else if idle_rounds >= PATIENCE || finding.verdict.exhausted {
            self.status.get_or_insert(Status::Stalled);
        }
        self.tell(x, spent, &finding);
        self.finding = Some(finding);
        if !self.limits.control().is_unlimited() {
            self.judged.clear();
            self.judged.extend_from_slice(x);
        }
        self.uncertain = false;
        Ok(())
    }

    /// Whether there was no time to judge the last iterate.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.uncertain
    }

    /// Why f is no number at a feasible point. Terms whose data cannot be read again, or whose ranks cannot go on together, answer pair
    /// steps with no number, and a pass with what is wrong.
    pub(crate) fn not_finite(&mut self, found: f64, x: &[f64], updates: u64) -> Error {
        let f = self.view.smooth();
        let asked = f.fill_product(x, &mut vec![0.0; f.product_len()], &Control::unlimited());
        let told = asked.err().and_then(|halt| self.ended(halt, x, updates).err());
        told.unwrap_or(Error::NonFiniteIterate { what: "the objective", found, updates })
    }

    /// Work was ended early: so is the run, and by an error where data cannot be read again or ranks cannot go on together.
    pub(crate) fn ended(&mut self, halt: Halt, x: &[f64], updates: u64) -> Result<()> {
        match halt {
            Halt::Fault(SampleFault { row, reason }) => {
                Err(Error::BadSample { row, reason, iterate: x.to_vec(), updates })
            }
            halt @ Halt::Apart { .. } => Err(halt.into()),
            halt => {
                if !matches!(self.status, Some(Status::Converged | Status::TargetReached)) {
                    self.status = self.limits.stop().or(Status::after(&halt));
                }
                Ok(())
            }
        }
    }

    /// The control of passes over data: while the run goes on they end at its limits, afterwards when patience does.
    pub(crate) fn control(&self) -> Control {
        self.limits.control_after(self.status)
    }

    fn find(&mut self, x: &[f64], spent: Spent, idle_rounds: u32) -> Result<Pass<Finding>> {
        if let Some(judge) = self.judge {
            return by_judge(judge, x, &self.control());
        }
        check_point(self.view, x)?;
        Ok(self.by_tolerance(x, spent, idle_rounds >= PATIENCE))
    }

    /// The certificate, which is good enough where it meets the tolerance.
    fn by_tolerance(&mut self, x: &[f64], spent: Spent, last: bool) -> Pass<Finding> {
        let (tolerance, control, view) = (self.settings.tolerance, self.control(), self.view);
        let mut certificate = certify(view, x, Effort::Quick, &self.proposal(), &control)?;
        // The quick look is in plain arithmetic and proves nothing: only a full certificate ends the run.
        let kkt = certificate.kkt_residual;
        let mut conclusive = false;
        let promising = kkt <= tolerance.max(1e-3) && self.worth_a_full_certificate(kkt, spent.updates);
        // Whoever interrupts does not want to wait for a sharper gap.
        let hurried = matches!(self.status, Some(Status::Interrupted | Status::TargetReached));
        let wanted = promising || last || self.status.is_some() || certificate.meets(tolerance);
        if wanted && !certificate.is_partial {
            if hurried {
                certificate.is_partial = true;
            } else {
                match certify(view, x, Effort::Full, &self.proposal(), &control) {
                    Err(fault) if fault.is_fault() => return Err(fault),
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
        Ok(certified(certificate, accepted))
    }

    /// What certificates may look at beside x.
    fn proposal(&self) -> Proposal<'_> {
        Proposal { lambdas: &self.proposed, enough: self.settings.tolerance }
    }

    /// A full certificate costs many passes: only after enough work or progress since the last one.
    fn worth_a_full_certificate(&self, kkt: f64, updates: u64) -> bool {
        let (last_updates, last) = self.last_full;
        kkt <= self.settings.tolerance || kkt <= 0.3 * last || 2 * updates >= 3 * last_updates
    }

    /// The status, the last iterate with what was found of it (or the one before it that was judged), and the seconds.
    /// Whoever had no time to judge it then is not asked again: of an x with this objective nothing else is claimed.
    pub(crate) fn finish(
        self,
        x: Vec<f64>,
        updates: u64,
        objective: f64,
    ) -> Result<(Status, Vec<f64>, Finding, f64)> {
        let status = self.status.unwrap_or(Status::Stalled);
        let seconds = self.reached_after.unwrap_or_else(|| self.limits.seconds());
        let (x, finding) = match self.finding {
            Some(finding) => (if self.uncertain { self.judged } else { x }, finding),
            // Where nothing was done nothing is lost.
            None if updates == 0 => return Err(Error::StoppedEarly { by: status.name() }),
            None => {
                let (unlimited, proposal) = (Control::unlimited(), self.proposal());
                let finding = match self.judge {
                    Some(_) => Verdict::new(objective, f64::INFINITY, false).into(),
                    None => certified(certify(self.view, &x, Effort::Quick, &proposal, &unlimited)?, false),
                };
                (x, finding)
            }
        };
        Ok((status, x, finding, seconds))
    }
}

/// What a judge finds; `Halt` where there was no time for it.
fn by_judge(judge: &dyn Judge, x: &[f64], control: &Control) -> Result<Pass<Finding>> {
    match judge.judge(x, control) {
        Ok(verdict) => Ok(Ok(verdict.into())),
        // Whoever stops without having been told to has failed.
        Err(error) => match (error, control.halted()) {
            (Error::StoppedEarly { .. }, Some(halt)) => Ok(Err(halt)),
            (error, _) => Err(error),
        },
    }
}

fn certified(certificate: Certificate, accepted: bool) -> Finding {
    Finding { verdict: Verdict::of(&certificate, accepted), certificate: Some(certificate) }
}
