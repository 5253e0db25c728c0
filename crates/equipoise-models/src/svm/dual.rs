//! The dual of each kind, as a problem for the solver.
//!
//! | kind | variables | f | h | rows |
//! |---|---|---|---|---|
//! | `svc`, hinge | `beta_i = y_i alpha_i` | `1/2 |X'beta|^2 - y'beta` | `0 <= y_i beta_i <= C_i` | `sum beta = 0` |
//! | `svc`, squared | the same | `+ sum beta_i^2 / (4 C_i)` | `0 <= y_i beta_i` | the same |
//! | `svr` | beta | `1/2 |X'beta|^2 - y'beta` | `epsilon |beta|_1`, `|beta_i| <= C_i` | `sum beta = 0` |
//! | `one-class` | alpha | `1/2 |X'alpha|^2` | `0 <= alpha_i <= c_i` | `sum alpha = nu N` |
//! | `nu-svc` | `beta_i = y_i alpha_i` | `1/2 |X'beta|^2` | `0 <= y_i beta_i <= c_i` | each class: `sum = +-nu N / 2` |
//!
//! Without a bias there is no sum. So that pairs move as ever, there is one more row then: a purse without features, whose
//! multiplier is free and takes what the others give.
//!
//! `C_i` is C times the weights of class and sample, `c_i` the weight of the sample, N the sum of those.

use std::sync::Arc;

use super::charge::Charges;
use super::error::{Error, Result};
use super::{Kind, Loss, TrainSettings};
use equipoise::Team;
use equipoise::coupling::Coupling;
use equipoise::matrix::{Rows, SparseMatrix};
use equipoise::problem::Problem;
use equipoise::separable::{Piece, PieceTerm, Values};
use equipoise::smooth::Gram;

/// Width of the ramp across the margin in a guess of multipliers.
const RAMP: f64 = 0.02;

/// One fit: rows, targets (labels +-1 for classifiers), caps `C_i` or `c_i`.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) kind: Kind,
    pub(super) loss: Loss,
    /// +-1 for classifiers, real numbers for a regression, unused for one class.
    pub(super) targets: Vec<f64>,
    /// `C_i` as real numbers.
    pub(super) charges: Charges<'a>,
    /// The same as f64 from below.
    pub(super) caps: Values,
    pub(super) epsilon: f64,
    pub(super) nu: f64,
    pub(super) has_bias: bool,
    /// The squared norms of the rows, and the largest norm.
    pub(super) squared_norms: Arc<[f64]>,
    pub(super) largest_norm: f64,
    /// The samples of all ranks; `rows` are those of this one.
    pub(super) samples: usize,
    /// Who works on passes over the rows.
    pub(super) team: Arc<Team>,
}

/// h of every kind.
#[derive(Debug)]
pub(super) struct Pieces<'t> {
    task: &'t Task<'t>,
    /// The far bound of all multipliers of a classifier, where it is the same for all: sweeps ask for bounds all the time.
    far: Option<f64>,
}

impl PieceTerm for Pieces<'_> {
    fn dimension(&self) -> Option<usize> {
        Some(self.task.variables())
    }
    #[inline]
    fn piece(&self, c: usize) -> Piece {
        if let (Some(far), Some(&target)) = (self.far, self.task.targets.get(c)) {
            let (lower, upper) = if target > 0.0 { (0.0, far) } else { (-far, 0.0) };
            return Piece { l1: 0.0, l2: 0.0, lower, upper };
        }
        let (lower, upper) = self.task.bounds(c);
        let is_charged = self.task.kind == Kind::Svr && c < self.task.targets.len();
        let l1 = if is_charged { self.task.epsilon } else { 0.0 };
        Piece { l1, l2: 0.0, lower, upper }
    }
}

impl Task<'_> {
    /// Whether misses are squared.
    #[inline]
    pub(super) fn is_squared(&self) -> bool {
        self.kind == Kind::Svc && self.loss == Loss::SquaredHinge
    }

    /// The number of multipliers, the purse among them.
    pub(super) fn variables(&self) -> usize {
        self.rows.len() + usize::from(!self.has_bias)
    }

    /// The rows of all multipliers, where they are more than the samples.
    pub(super) fn with_purse(&self) -> Option<Rows<'_>> {
        (!self.has_bias).then(|| self.rows.with_empty_row())
    }

    /// The bounds of multiplier i, within the exact ones.
    #[inline]
    pub(super) fn bounds(&self, i: usize) -> (f64, f64) {
        let Some(&target) = self.targets.get(i) else { return (f64::NEG_INFINITY, f64::INFINITY) };
        let cap = self.caps.at(i);
        let far = self.far(cap);
        match self.kind {
            Kind::Svr => (-cap, cap),
            Kind::OneClass => (0.0, cap),
            Kind::Svc | Kind::NuSvc if target > 0.0 => (0.0, far),
            Kind::Svc | Kind::NuSvc => (-far, 0.0),
        }
    }

    /// h.
    pub(super) fn pieces(&self) -> Pieces<'_> {
        let far = match (self.kind, &self.caps) {
            (Kind::Svc | Kind::NuSvc, Values::Uniform(cap)) => Some(self.far(*cap)),
            _ => None,
        };
        Pieces { task: self, far }
    }

    /// The bound away from 0 of a multiplier with this cap.
    #[inline]
    fn far(&self, cap: f64) -> f64 {
        if self.is_squared() && cap > 0.0 { f64::INFINITY } else { cap }
    }

    /// Twice the weights of the squares of the multipliers.
    pub(super) fn diagonal(&self) -> Values {
        let of = |cap: f64| if cap > 0.0 { 0.5 / cap } else { 0.0 };
        match &self.caps {
            _ if !self.is_squared() => Values::Uniform(0.0),
            Values::Uniform(cap) if self.has_bias => Values::Uniform(0.5 / cap),
            caps => Values::Each(self.padded((0..self.rows.len()).map(|i| of(caps.at(i))))),
        }
    }

    /// Numbers of the samples, and 0 for the purse.
    fn padded(&self, numbers: impl Iterator<Item = f64>) -> Vec<f64> {
        numbers.chain((!self.has_bias).then_some(0.0)).collect()
    }

    /// The dual as a problem over these rows: the samples, or those of [`Task::with_purse`].
    pub(super) fn problem<'t>(
        &'t self,
        rows: &'t Rows<'t>,
    ) -> equipoise::Result<Problem<Gram<'t>, Pieces<'t>>> {
        let linear = match self.kind {
            Kind::Svc | Kind::Svr => Values::Each(self.padded(self.targets.iter().map(|y| -y))),
            Kind::NuSvc | Kind::OneClass => Values::Uniform(0.0),
        };
        let squared_norms = self.padded(self.squared_norms.iter().copied());
        let builder =
            Problem::builder(Gram::with_squared_norms(rows, self.diagonal(), linear, squared_norms)?);
        let builder = builder.separable(self.pieces()).coupling(self.coupling()?);
        builder.start(self.start()).build()
    }

    /// Multipliers that satisfy the rows: nothing, or of every cap the same share.
    fn start(&self) -> Vec<f64> {
        let n = self.rows.len();
        match self.kind {
            Kind::Svc | Kind::Svr => vec![0.0; self.variables()],
            Kind::OneClass => (0..n).map(|c| self.nu * self.caps.at(c)).collect(),
            Kind::NuSvc => {
                let half = 0.5 * self.nu * self.total();
                let share = |sign: f64| (half / self.total_of(sign)).min(1.0);
                let (positive, negative) = (share(1.0), -share(-1.0));
                let one =
                    |c: usize| self.caps.at(c) * if self.targets[c] > 0.0 { positive } else { negative };
                (0..n).map(one).collect()
            }
        }
    }

    fn coupling(&self) -> equipoise::Result<Coupling> {
        let n = self.rows.len();
        match self.kind {
            Kind::Svc | Kind::Svr => Coupling::sum(0.0),
            // Of the sum every rank has the share that its start has.
            Kind::OneClass if self.team.is_spread() => {
                let own: f64 = (0..n).map(|c| self.caps.at(c)).sum();
                Coupling::sum(self.nu * own)
            }
            Kind::OneClass => Coupling::sum(self.nu * self.total()),
            Kind::NuSvc => {
                let half = 0.5 * self.nu * self.total();
                let row = |c: usize| usize::from(self.targets[c] < 0.0);
                let columns: Vec<_> = (0..n).map(|c| (row(c), c, 1.0)).collect();
                Coupling::rows_of(SparseMatrix::from_triplets(2, n, &columns)?, vec![half, -half])
            }
        }
    }

    /// N, the sum of the caps.
    pub(super) fn total(&self) -> f64 {
        self.team.sum(self.rows.len(), |rows| rows.map(|c| self.caps.at(c)).sum())
    }

    /// The caps of the class with this sign, added up.
    pub(super) fn total_of(&self, sign: f64) -> f64 {
        let of_class = |c: &usize| self.targets[*c] == sign;
        self.team.sum(self.rows.len(), |rows| rows.filter(of_class).map(|c| self.caps.at(c)).sum())
    }

    /// The largest nu that multipliers can satisfy: twice the share of the smaller class.
    pub(super) fn largest_nu(&self) -> f64 {
        2.0 * self.total_of(1.0).min(self.total_of(-1.0)) / self.total()
    }

    /// Refuses costs and weights whose product overflows.
    pub(super) fn check_caps(&self) -> Result<()> {
        let caps = self.caps.as_slice();
        match caps.iter().position(|cap| !cap.is_finite()) {
            None => Ok(()),
            Some(index) => Err(Error::Equipoise(equipoise::Error::OutOfRange {
                input: "cost times weights".into(),
                index,
                found: caps[index],
                allowed: "a finite number; use a smaller cost or smaller weights",
            })),
        }
    }

    /// Refuses a nu that no multipliers can satisfy.
    pub(super) fn check_nu(&self, settings: &TrainSettings) -> Result<()> {
        if self.kind != Kind::NuSvc {
            return Ok(());
        }
        let most = self.largest_nu();
        if settings.nu <= most {
            return Ok(());
        }
        Err(Error::NuTooLarge { found: settings.nu, most })
    }

    /// Rows with their multiplier at its upper bound.
    pub(super) fn bounded(&self, beta: &[f64]) -> usize {
        let at_cap = |i: usize, t: f64| t != 0.0 && t.abs() >= self.caps.at(i);
        match (self.kind, self.loss) {
            (Kind::Svc, Loss::SquaredHinge) => 0,
            _ => beta.iter().enumerate().filter(|(i, t)| at_cap(*i, **t)).count(),
        }
    }

    /// Multipliers that may belong to these weights and this bias: at their bounds away from the margin, on a ramp
    /// across it.
    pub(super) fn guess(&self, w: &[f64], bias: f64) -> Vec<f64> {
        let ramp = |t: f64| (0.5 - t / RAMP).clamp(0.0, 1.0);
        let one = |i: usize| {
            let (y, cap) = (self.targets.get(i).copied().unwrap_or(0.0), self.caps.at(i));
            let score = self.rows.dot(i, w) + bias;
            match (self.kind, self.loss) {
                (Kind::Svc, Loss::SquaredHinge) => y * 2.0 * cap * (1.0 - y * score).max(0.0),
                (Kind::Svr, _) => cap * (ramp(score - y + self.epsilon) - ramp(y + self.epsilon - score)),
                (Kind::Svc | Kind::NuSvc, _) => y * cap * ramp(y * score - 1.0),
                (Kind::OneClass, _) => cap * ramp(score),
            }
        };
        self.with_rest((0..self.rows.len()).map(one).collect())
    }

    /// Multipliers of the samples within their bounds, and what the purse then has.
    pub(super) fn within_bounds(&self, beta: &[f64]) -> Vec<f64> {
        let one = |(i, beta): (usize, &f64)| {
            let (lower, upper) = self.bounds(i);
            beta.clamp(lower, upper)
        };
        self.with_rest(beta.iter().enumerate().map(one).collect())
    }

    /// Multipliers of the samples, and what the purse then has.
    fn with_rest(&self, mut beta: Vec<f64>) -> Vec<f64> {
        if !self.has_bias {
            beta.push(-beta.iter().sum::<f64>());
        }
        beta
    }
}
