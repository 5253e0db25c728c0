//! Multipliers that go with weights and a bias: where training begins at an earlier model.
//!
//! A row whose margin is away from the kink of its loss has its multiplier at a bound, and which one is known. The rows F
//! near their kinks are found by the dual over them alone, the others as they are:
//!
//! ```text
//! minimise over b   1/2 |X_F'b + v|^2 - y_F'b + h_F(b)    with  sum b = s - sum_B beta      v = X_B'beta_B
//! ```
//!
//! (of nu-svc the sums of both classes). F is a small share of the rows, and so is the work; at a model that is optimal the result is, too. At one that is not,
//! some of the others turn out to be at the wrong bound: they and more of those near are the F of the next round. What is
//! found is only a start: whether it is any good the judge of the run says.
//!
//! Must not know: files, limits on time (the control has them).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::charge::Charges;
use super::dual::Task;
use super::{Kind, TrainSettings};
use equipoise::coupling::Coupling;
use equipoise::enclosure::Sum;
use equipoise::matrix::{RowValues, Rows, SparseMatrix};
use equipoise::problem::Problem;
use equipoise::separable::Values;
use equipoise::smooth::Gram;
use equipoise::solve::{Method, Settings, Solver};
use equipoise::{Control, Judge, Team, Verdict};

/// Of every round, the share of the rows that are near their kinks, at least; and how many times the gap wanted the dual over them is
/// solved to, in the first round and later.
#[derive(Debug, Clone, Copy)]
struct Rounds {
    shares: [f64; 4],
    rough: f64,
    times: f64,
}

const AT_THE_COST: Rounds = Rounds { shares: [0.05, 0.1, 0.2, 0.4], rough: 0.2, times: 0.2 };
/// Where the model is of another cost more rows may have changed sides, and which ones a rough solution tells.
const AT_ANOTHER_COST: Rounds = Rounds { shares: [0.1, 0.2, 0.3, 0.6], rough: 30.0, times: 0.4 };
/// Distance from a kink, where a margin is 1, within which a row is near it.
const NEAR: f64 = 0.02;
/// Share of the rows beyond which the dual over those near is as dear as the whole one.
const MOST_NEAR: f64 = 0.7;
/// Rows below which nothing is saved.
const LEAST_ROWS: usize = 200;
/// Most epochs over the rows near.
const MOST_EPOCHS: f64 = 200.0;

/// A start and what it cost.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) x: Vec<f64>,
    pub(super) updates: u64,
    /// In passes over all rows.
    pub(super) epochs: f64,
    /// Weights and multipliers of the sums, where they are nearer to the optimum than x is.
    pub(super) dual: Option<(Vec<f64>, Vec<f64>)>,
}

/// How far row i is from the kinks of its loss, and its multiplier beside them; between two kinks, a guess.
struct Place {
    distance: f64,
    beta: f64,
}

impl Task<'_> {
    /// Multipliers that go with weights and a bias, feasible up to rounding; `None` where there are none to be had this way.
    pub(super) fn start_at(
        &self,
        w: &[f64],
        bias: f64,
        is_of_same_cost: bool,
        settings: &TrainSettings,
        control: &Control,
    ) -> Option<Start> {
        if self.rows.len() < LEAST_ROWS {
            return None;
        }
        let mut places = self.of_rows(control, |i| self.place(i, self.rows.dot(i, w) + bias)).ok()?;
        let x = places.iter().map(|place| place.beta).collect();
        let mut start = Start { x, updates: 0, epochs: 0.0, dual: None };
        let size = self.size_at(w, &places);
        let Rounds { shares, rough, times } = if is_of_same_cost { AT_THE_COST } else { AT_ANOTHER_COST };
        for (round, share) in shares.into_iter().enumerate() {
            let near = self.near(&places, &start.x, share);
            if near.len() < 2 || near.len() as f64 > MOST_NEAR * places.len() as f64 {
                return (round > 0).then_some(start);
            }
            let times = if round == 0 { rough } else { times };
            let wanted = times * settings.gap * size;
            self.settle(&near, wanted, settings, control, &mut start)?;
            let found = self.evaluate(&start.x, control).ok()?;
            if found.gap() <= settings.gap * found.dual.abs() || round + 1 == shares.len() {
                break;
            }
            // The kinks of nu-svc are those of the model divided by its margin.
            let margin = if self.kind == Kind::NuSvc { found.margin() } else { 1.0 };
            let score = |i: usize| (self.rows.dot(i, &found.w) + found.bias) / margin;
            places = self.of_rows(control, |i| self.place(i, score(i))).ok()?;
        }
        Some(start)
    }

    /// Solves the dual over the rows near their kinks, the others as they are.
    fn settle(
        &self,
        near: &[usize],
        wanted_gap: f64,
        settings: &TrainSettings,
        control: &Control,
        start: &mut Start,
    ) -> Option<()> {
        let mut fixed = start.x.clone();
        near.iter().for_each(|&i| fixed[i] = 0.0);
        let add = |i: usize, v: &mut Vec<f64>| {
            if fixed[i] != 0.0 {
                self.rows.add(i, fixed[i], v);
            }
        };
        let v = self.total_vector(self.rows.columns(), control, add).ok()?;
        let part = Part::new(self, near, &v, self.coupling_of(near, &fixed)?)?;
        let (found, updates, epochs) = part.solve(&start.x, wanted_gap, settings, control)?;
        near.iter().zip(found).for_each(|(&i, beta)| start.x[i] = beta);
        let share = part.rows.entries().max(1) as f64 / self.rows.entries().max(1) as f64;
        start.updates += updates;
        start.epochs += epochs * share;
        Some(())
    }

    /// The sums of the multipliers near, which are those of all less the ones that are fixed.
    fn coupling_of(&self, near: &[usize], fixed: &[f64]) -> Option<Coupling> {
        if self.kind != Kind::NuSvc {
            let mut sum = Sum::default();
            sum.add(if self.kind == Kind::OneClass { self.nu * self.total() } else { 0.0 });
            fixed.iter().for_each(|beta| sum.add(-beta));
            return Coupling::sum(sum.value().centre()).ok();
        }
        let sums = [1.0, -1.0].map(|sign| {
            let mut sum = Sum::default();
            sum.add(0.5 * sign * self.nu * self.total());
            let of_class = fixed.iter().zip(&self.targets).filter(|(_, target)| **target == sign);
            of_class.for_each(|(beta, _)| sum.add(-beta));
            sum.value().centre()
        });
        let row = |i: usize| usize::from(self.targets[i] < 0.0);
        let columns: Vec<_> = near.iter().enumerate().map(|(k, &i)| (row(i), k, 1.0)).collect();
        let matrix = SparseMatrix::from_triplets(2, near.len(), &columns).ok()?;
        Coupling::rows_of(matrix, sums.to_vec()).ok()
    }

    /// The rows nearest to their kinks, a share of all, and those whose multipliers are not what their places ask for.
    fn near(&self, places: &[Place], x: &[f64], share: f64) -> Vec<usize> {
        let mut distances: Vec<f64> = places.iter().map(|place| place.distance).collect();
        let rank = ((share * places.len() as f64).ceil() as usize).min(places.len() - 1);
        let (_, &mut at_rank, _) = distances.select_nth_unstable_by(rank, f64::total_cmp);
        let within = if self.kind == Kind::Svc { at_rank.max(NEAR) } else { at_rank };
        let is_near = |i: &usize| {
            let place = &places[*i];
            place.distance.is_finite() && (place.distance <= within || x[*i] != place.beta)
        };
        (0..places.len()).filter(is_near).collect()
    }

    fn place(&self, i: usize, score: f64) -> Place {
        let (y, cap) = (self.targets[i], self.caps.at(i));
        let side = |t: f64, far: f64| if t < 0.0 { far } else { 0.0 };
        match self.kind {
            _ if cap == 0.0 => Place { distance: f64::INFINITY, beta: 0.0 },
            Kind::Svc | Kind::NuSvc => {
                let beyond = y * score - 1.0;
                Place { distance: beyond.abs(), beta: side(beyond, y * cap) }
            }
            Kind::OneClass => Place { distance: score.abs(), beta: side(score, cap) },
            Kind::Svr => {
                let residual = y - score;
                let beyond = self.epsilon - residual.abs();
                Place { distance: beyond.abs(), beta: side(beyond, cap.copysign(residual)) }
            }
        }
    }

    /// About the size of the objective at weights.
    fn size_at(&self, w: &[f64], places: &[Place]) -> f64 {
        let square = equipoise::matrix::dot(w, w);
        let loss =
            |(i, place): (usize, &Place)| self.caps.at(i) * place.distance * f64::from(place.beta != 0.0);
        let places = places.iter().enumerate().filter(|(_, place)| place.distance.is_finite());
        let losses = places.map(loss).sum::<f64>();
        if self.kind == Kind::NuSvc {
            // Divided by its margin, a model is worth this at the margin that suits it best.
            let gain = (self.nu * self.total() - losses).max(0.0);
            return 0.5 * gain * gain / square.max(f64::MIN_POSITIVE);
        }
        0.5 * square + losses
    }
}

/// The dual over some of the rows.
struct Part<'t> {
    task: &'t Task<'t>,
    near: &'t [usize],
    rows: Rows<'static>,
    linear: Vec<f64>,
    coupling: Coupling,
}

impl<'t> Part<'t> {
    fn new(task: &'t Task<'t>, near: &'t [usize], v: &[f64], coupling: Coupling) -> Option<Self> {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in near {
            task.rows.for_each(i, |column, value| {
                indices.push(column as u32);
                values.push(value);
            });
            starts.push(indices.len());
        }
        let values = (!matches!(task.rows.row(0).1, RowValues::Ones)).then_some(values);
        let rows = Rows::new(task.rows.columns(), starts, indices, values).ok()?;
        let has_targets = matches!(task.kind, Kind::Svc | Kind::Svr);
        let target = |i: usize| if has_targets { task.targets[i] } else { 0.0 };
        let linear = near.iter().map(|&i| task.rows.dot(i, v) - target(i)).collect();
        Some(Self { task, near, rows, linear, coupling })
    }

    /// Multipliers of these rows, updates and epochs, from those of all rows.
    fn solve(
        &self,
        beta: &[f64],
        wanted_gap: f64,
        settings: &TrainSettings,
        control: &Control,
    ) -> Option<(Vec<f64>, u64, f64)> {
        let task = self.task;
        let chosen = |of: &dyn Fn(usize) -> f64| self.near.iter().map(|&i| of(i)).collect::<Vec<f64>>();
        let charges =
            Charges { cost: 1.0, class_weights: &[], labels: &[], weights: None, ceiling: f64::INFINITY };
        let norms: Vec<f64> = (0..self.rows.len()).map(|k| self.rows.squared_norm(k)).collect();
        let part = Task {
            rows: &self.rows,
            kind: task.kind,
            loss: task.loss,
            targets: chosen(&|i| task.targets[i]),
            charges,
            caps: Values::Each(chosen(&|i| task.caps.at(i))),
            epsilon: task.epsilon,
            nu: task.nu,
            has_bias: true,
            squared_norms: Arc::from(&norms[..]),
            largest_norm: task.largest_norm,
            samples: self.rows.len(),
            team: Arc::new(Team::of(1)),
        };
        let linear = Values::Each(self.linear.clone());
        let gram = Gram::with_squared_norms(&self.rows, part.diagonal(), linear, norms).ok()?;
        let coupling = self.coupling.clone();
        let problem = Problem::builder(gram).separable(part.pieces()).coupling(coupling).build().ok()?;
        let start = problem.nearest_feasible(&chosen(&|i| beta[i])).ok()?;
        let choices = Settings {
            method: Method::Violating,
            seed: settings.seed,
            max_epochs: Some(MOST_EPOCHS),
            ..Settings::default()
        };
        let judge = Content { wanted_gap, looks: AtomicUsize::new(0) };
        let run = Solver::new(&problem, &choices).warm_start(start).control(control.clone());
        let solution = run.run_judged(&judge).ok()?;
        Some((solution.x, solution.updates, solution.epochs))
    }
}

/// Is content with the first point at which a solver asks again: it then believes to be within the gap wanted.
struct Content {
    wanted_gap: f64,
    looks: AtomicUsize,
}

impl Judge for Content {
    fn judge(&self, _x: &[f64], _control: &Control) -> equipoise::Result<Verdict> {
        let is_start = self.looks.fetch_add(1, Ordering::Relaxed) == 0;
        Ok(Verdict::new(0.0, 1.0, !is_start))
    }

    fn wanted_gap(&self, _objective: f64) -> f64 {
        self.wanted_gap
    }
}
