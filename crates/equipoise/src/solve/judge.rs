//! Who decides that a point is good enough: by default the independent certificate and the tolerance.
//!
//! A model that knows more about its problem (a support vector machine knows its primal) brings its own judge, which
//! is bound by the same rule: raw data only, nothing that the solver maintained.

use crate::archive::Archive;
use crate::certificate::Certificate;
use crate::control::Control;
use crate::error::Result;

/// Judges points, and says how good they have to be.
///
/// ```
/// use equipoise::{Control, Coupling, Judge, Problem, Result, Settings, Solver, Status, Verdict, smooth::Distance};
///
/// /// Knows the optimum.
/// struct Known(f64);
///
/// impl Judge for Known {
///     fn judge(&self, x: &[f64], _control: &Control) -> Result<Verdict> {
///         let objective = 0.5 * x.iter().map(|x| x * x).sum::<f64>();
///         let gap = objective - self.0;
///         Ok(Verdict::new(objective, gap, gap <= self.wanted_gap(objective)).with_gap(gap))
///     }
///     fn wanted_gap(&self, _objective: f64) -> f64 {
///         1e-9
///     }
/// }
///
/// let f = Distance::new(vec![0.0; 4], 0.5)?;
/// let problem = Problem::builder(f).coupling(Coupling::sum(2.0)?).build()?;
/// let settings = Settings::default();
/// let solution = Solver::new(&problem, &settings).run_judged(&Known(0.5))?;
/// assert_eq!(solution.status, Status::Converged);
/// assert!(solution.certificate.accepted && solution.certificate.objective <= 0.5 + 1e-9);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub trait Judge: Sync {
    /// What is found at x, from raw data. A judge that is ended by the control before it is done says so by
    /// [`Error::StoppedEarly`](crate::Error::StoppedEarly).
    fn judge(&self, x: &[f64], control: &Control) -> Result<Verdict>;

    /// The absolute gap that is wanted, for a point with this objective; steps that know how far they are from the optimum
    /// ask for a verdict when they seem to be within it.
    fn wanted_gap(&self, objective: f64) -> f64;

    /// Is shown, before the x is judged that goes with it, the point of the dual at which a second-order step ended: for
    /// `f(x) = 1/2 |Z x|_W^2 + ...` the vector that is `W Z x` at the optimum. It may be more exact than what x gives, where x is
    /// large and `Z x` is small; an empty one takes the last back. A judge need not look at it.
    fn hint(&self, _dual: &[f64]) {}

    /// What later verdicts depend on beside x, for a [`Snapshot`](crate::Snapshot); nothing, for most.
    fn memory(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Takes up such a memory.
    fn remember(&self, _memory: &[u64]) {}
}

/// What a judge found at a point.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// f(x) + h(x).
    pub objective: f64,
    /// Objective minus a proven lower bound, where there is one.
    pub gap: Option<f64>,
    /// What is compared with the tolerance: smaller is better, and what it means the judge knows.
    pub measure: f64,
    /// max |A x - b|.
    pub infeasibility: f64,
    /// Multipliers of the rows, as the judge sees them.
    pub multipliers: Vec<f64>,
    /// Whether the point is good enough.
    pub accepted: bool,
    /// Whether no point is to be had in this arithmetic that is better by what matters: the run ends, `Stalled`.
    pub exhausted: bool,
}

impl Verdict {
    /// A point with this objective and this measure, good enough or not; feasible, without gap and multipliers.
    pub fn new(objective: f64, measure: f64, accepted: bool) -> Self {
        Self {
            objective,
            gap: None,
            measure,
            infeasibility: 0.0,
            multipliers: Vec::new(),
            accepted,
            exhausted: false,
        }
    }

    /// With a proven gap.
    #[must_use]
    pub fn with_gap(self, gap: f64) -> Self {
        Self { gap: Some(gap), ..self }
    }

    /// With what `A x` misses b by.
    #[must_use]
    pub fn with_infeasibility(self, infeasibility: f64) -> Self {
        Self { infeasibility, ..self }
    }

    /// With multipliers of the rows.
    #[must_use]
    pub fn with_multipliers(self, multipliers: Vec<f64>) -> Self {
        Self { multipliers, ..self }
    }

    /// Of a point beyond which rounding leaves nothing to gain.
    #[must_use]
    pub fn with_exhausted(self, exhausted: bool) -> Self {
        Self { exhausted, ..self }
    }

    /// Shows an archive what was found.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        [&mut self.objective, &mut self.measure, &mut self.infeasibility]
            .into_iter()
            .try_for_each(|number| archive.number(number))?;
        archive.maybe(&mut self.gap)?;
        archive.list(&mut self.multipliers, |_| true)?;
        archive.flag(&mut self.accepted)?;
        archive.flag(&mut self.exhausted)
    }

    /// The verdict that goes with a certificate: its measure is the gap, relative to `1 + |objective|`, or what stands in for
    /// it where there is none.
    pub(crate) fn of(certificate: &Certificate, accepted: bool) -> Self {
        let scale = 1.0 + certificate.objective.abs();
        Self {
            objective: certificate.objective,
            gap: certificate.duality_gap,
            measure: certificate.duality_gap.unwrap_or(certificate.kkt_estimate) / scale,
            infeasibility: certificate.infeasibility,
            multipliers: certificate.multipliers.clone(),
            accepted,
            exhausted: false,
        }
    }
}
