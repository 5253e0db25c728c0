//! Any design and any penalty: Newton's method inside the box in which the multipliers lie.
//!
//! ```text
//! X'(X b - y) + K'z = 0        K b = p - q
//! p_r (w_r - z_r) = t          q_r (w_r + z_r) = t          p, q > 0 ,  |z_r| < w_r ,   t -> 0
//! ```
//!
//! K is D with w = lambda and, where the coefficients are penalised too, the identity with w = mu. A step solves
//! `(X'X + K'S K) db = rhs` with `1/S = p/(w - z) + q/(w + z)`, twice with the same factors (Mehrotra 1992: first t = 0, then a t
//! that this step suggests and its second-order terms). For X = I the start is feasible, and what is returned is the b that
//! goes with z: `y - D'z`, each entry moved towards 0 by mu.
//!
//! - Given: a task, a relative gap. Returns: b, z and `theta = y - X b`.
//! - Must not know: certificates; gaps here are estimates in plain arithmetic.

use equipoise::{Control, Halt, Pass};

use super::design::Design;
use super::error::Result;
use super::proof::{Dual, Task};
use super::reach;
use super::system::System;
use super::watch::Told;

/// Share of the way to the boundary that a step goes.
const SHARE: f64 = 0.995;
/// A step shorter than this has met the boundary too soon.
const BLOCKED: f64 = 0.01;
/// What a miss of the dual's equations is taken to cost, in sizes of the coefficients: a proof must allow for larger ones.
const CAUTION: f64 = 1e3;
/// Newton steps, at most.
const MOST_STEPS: usize = 200;

/// What a method found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) b: Vec<f64>,
    pub(super) dual: Dual,
    pub(super) rounds: usize,
    /// Why it was ended, where it was.
    pub(super) halt: Option<Halt>,
}

struct Interior<'a> {
    task: &'a Task<'a>,
    /// Whether the identity is below D in K.
    is_sparse: bool,
    /// About how large coefficients and differences are.
    scale: f64,
    /// The largest coefficients that matter, once they are known.
    reach: Option<Vec<f64>>,
    /// How long the last step was: after a short one comes one that only centres.
    last: f64,
    /// The largest S that the factorisation has been seen to bear.
    most: f64,
    w: Vec<f64>,
    b: Vec<f64>,
    z: Vec<f64>,
    /// `w - z` and `w + z`, kept by themselves: near the boundary they are smaller than the last digit of z.
    left: Vec<f64>,
    right: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    system: Residuals,
    direction: Direction,
    seen: Seen,
    /// Objective and bound of the last estimate, where X is not the identity.
    estimated: (f64, f64),
}

/// What the two directions of a step share: `1/(w - z)`, `1/(w + z)`, S, `K b - p + q`, `X'(X b - y) + K'z`.
#[derive(Default)]
struct Residuals {
    over_left: Vec<f64>,
    over_right: Vec<f64>,
    s: Vec<f64>,
    miss: Vec<f64>,
    pull: Vec<f64>,
}

/// One direction.
#[derive(Default)]
struct Direction {
    b: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    /// `-S g`, then `K db`.
    of_rows: Vec<f64>,
}

/// What an estimate is of.
#[derive(Debug, Clone, Default)]
struct Seen {
    b: Vec<f64>,
    /// Empty for X = I, where it is `D'z`.
    theta: Vec<f64>,
}

/// Solves; rounds are told of the same task with `||b||_1` weighted by `sparse`, where the task leaves that to its caller.
pub(super) fn solve(
    task: &Task<'_>,
    gap: f64,
    max_rounds: usize,
    (told, sparse): (&mut Told<'_>, f64),
    control: &Control,
) -> Result<Found> {
    let is_sparse = task.sparse > 0.0;
    let mut system = System::new(task.design, task.d, is_sparse, control)?;
    control.check()?;
    let mut interior = Interior::new(task, is_sparse);
    control.check()?;
    let (mut rounds, mut halt, mut least) = (0, None, f64::INFINITY);
    let (mut best, mut z) = (Seen::default(), Vec::new());
    let mut without_gain = 0;
    while rounds < max_rounds.min(MOST_STEPS) {
        if !best.b.is_empty()
            && let Some(why) = control.halted()
        {
            halt = Some(why);
            break;
        }
        let mut estimate = interior.estimate();
        if estimate <= gap && interior.reach.is_none() && task.design != Design::Identity {
            // A proof charges what is missed by the largest coefficients that matter: from now on so does the estimate.
            let level = objective(task, &interior.seen.b) * (1.0 + 1e-9);
            match reach::largest(task, level, control) {
                Ok(reach) => interior.reach = reach,
                Err(why) => halt = Some(why),
            }
            estimate = interior.estimate();
        }
        if told.is_heard() {
            told.tell(rounds, interior.values(sparse));
        }
        if estimate < least || z.is_empty() {
            (without_gain, least) = (0, estimate);
            std::mem::swap(&mut best, &mut interior.seen);
            z.clear();
            z.extend_from_slice(&interior.z[..task.d.rows()]);
        } else {
            without_gain += 1;
        }
        if halt.is_some() || least <= gap || without_gain >= 12 {
            break;
        }
        match interior.step(&mut system, control) {
            Ok(true) => rounds += 1,
            Ok(false) => break,
            Err(why) => {
                halt = Some(why);
                break;
            }
        }
    }
    if best.b.is_empty() {
        interior.estimate();
        (best, z) = (interior.seen, interior.z[..task.d.rows()].to_vec());
    }
    Ok(Found { b: best.b, dual: Dual { z, theta: best.theta }, rounds, halt })
}

impl<'a> Interior<'a> {
    fn new(task: &'a Task<'a>, is_sparse: bool) -> Self {
        let n = task.coefficients();
        let b = match task.design {
            Design::Identity => task.y.to_vec(),
            _ => vec![0.0; n],
        };
        let mut w = vec![task.lambda; task.d.rows()];
        w.resize(task.d.rows() + if is_sparse { n } else { 0 }, task.sparse);
        let kb = times(task, is_sparse, &b);
        let mean = kb.iter().map(|k| k.abs()).sum::<f64>() / (kb.len().max(1) as f64);
        let scale = match task.design {
            Design::Identity => 0.5 * mean,
            Design::Observed { .. } => mean_size(task.y),
            Design::Matrix(_) => {
                let lengths = task.design.column_lengths(task.y.len());
                let pulls = task.design.transposed(task.y);
                let ratio = |(pull, length): (&f64, &f64)| pull.abs() / (length * length).max(1e-300);
                pulls.iter().zip(&lengths).map(ratio).filter(|ratio| ratio.is_finite()).fold(0.0, f64::max)
            }
        };
        let scale =
            if scale > 0.0 && scale.is_finite() { scale } else { 1e-3 * mean_size(task.y).max(1e-300) };
        let p = kb.iter().map(|k| k.max(0.0) + scale).collect();
        let q = kb.iter().map(|k| (-k).max(0.0) + scale).collect();
        Self {
            task,
            is_sparse,
            scale,
            reach: None,
            last: 1.0,
            most: f64::MAX,
            z: vec![0.0; w.len()],
            left: w.clone(),
            right: w.clone(),
            w,
            b,
            p,
            q,
            system: Residuals::default(),
            direction: Direction::default(),
            seen: Seen::default(),
            estimated: (f64::INFINITY, f64::NEG_INFINITY),
        }
    }

    /// `sum p (w - z) + q (w + z)` over twice the rows.
    fn mean_product(&self) -> f64 {
        let terms = (0..self.w.len()).map(|r| self.p[r] * self.left[r] + self.q[r] * self.right[r]);
        terms.sum::<f64>() / (2.0 * self.w.len().max(1) as f64)
    }

    /// A relative gap in plain arithmetic; the b and theta that it is of are left in `seen`.
    fn estimate(&mut self) -> f64 {
        let task = self.task;
        let z = &self.z[..task.d.rows()];
        let half_y = 0.5 * task.y.iter().map(|y| y * y).sum::<f64>();
        let relative = |objective: f64, bound: f64| {
            let gap = (objective - bound).max(0.0);
            if gap == 0.0 { 0.0 } else { gap / objective.max(1e-12 * half_y) }
        };
        let Seen { b, theta } = &mut self.seen;
        if task.design == Design::Identity {
            // b holds theta at first.
            b.clear();
            b.resize(task.y.len(), 0.0);
            task.d.add_transposed(1.0, z, b);
            let mut bound = 0.0;
            for (b, y) in b.iter_mut().zip(task.y) {
                let theta = *b + (y - *b).clamp(-task.sparse, task.sparse);
                bound += theta * (y - 0.5 * theta);
                *b = y - theta;
            }
            return relative(objective(task, b), bound);
        }
        let fitted = task.design.apply(&self.b, task.y.len());
        *theta = task.y.iter().zip(&fitted).map(|(y, fitted)| y - fitted).collect();
        let bound = dual_value(theta, task.y);
        let mut missed = task.design.transposed(theta);
        task.d.add_transposed(-1.0, z, &mut missed);
        let misses = missed.iter().map(|missed| (missed.abs() - task.sparse).max(0.0));
        let size = self.b.iter().map(|b| b.abs() + self.scale).sum::<f64>();
        let charge = match &self.reach {
            Some(reach) => misses.zip(reach).map(|(miss, reach)| miss * reach).sum(),
            None => CAUTION * size * misses.fold(0.0, f64::max),
        };
        b.clone_from(&self.b);
        self.estimated = (objective(task, b), bound - charge);
        relative(self.estimated.0, self.estimated.1)
    }

    /// Objective and bound of what the last estimate saw, under this weight of `||b||_1`.
    fn values(&self, sparse: f64) -> (f64, f64) {
        if self.task.design != Design::Identity {
            return self.estimated;
        }
        let task = Task { sparse, ..*self.task };
        let mut theta = vec![0.0; task.y.len()];
        task.d.add_transposed(1.0, &self.z[..task.d.rows()], &mut theta);
        for (theta, y) in theta.iter_mut().zip(task.y) {
            *theta += (y - *theta).clamp(-sparse, sparse);
        }
        let b: Vec<f64> = task.y.iter().zip(&theta).map(|(y, theta)| y - theta).collect();
        (objective(&task, &b), dual_value(&theta, task.y))
    }

    /// One step; false where none can be made. Rows that are tied for good have an S without end, beside which the data drown in
    /// rounding: where that shows, the largest S are cut down, which shortens the steps of their z and nothing else.
    fn step(&mut self, system: &mut System, control: &Control) -> std::result::Result<bool, Halt> {
        while !self.try_step(system, control)? {
            let largest = (0..self.w.len()).map(|r| self.weight_of(r)).fold(0.0, f64::max);
            self.most = 1e-2 * largest;
            if self.most <= 1e-2 || self.most.is_nan() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// S of a row.
    fn weight_of(&self, r: usize) -> f64 {
        let inverse = self.p[r] / self.left[r] + self.q[r] / self.right[r];
        (1.0 / inverse).clamp(1e-300, self.most)
    }

    fn try_step(&mut self, system: &mut System, control: &Control) -> std::result::Result<bool, Halt> {
        control.check()?;
        self.residuals();
        control.check()?;
        if !system.factorise(self.task.d, &self.system.s, control)? {
            return Ok(false);
        }
        control.check()?;
        let (m, t) = (self.w.len(), self.mean_product());
        self.direct(system, (0.0, false), control)?;
        control.check()?;
        let length = self.longest();
        let ahead = {
            let first = &self.direction;
            let terms = (0..m).map(|r| {
                let dz = length * first.z[r];
                (self.p[r] + length * first.p[r]) * (self.left[r] - dz)
                    + (self.q[r] + length * first.q[r]) * (self.right[r] + dz)
            });
            terms.sum::<f64>() / (2.0 * m.max(1) as f64)
        };
        let is_blocked = self.last < BLOCKED;
        let centred = if is_blocked { t } else { t * (ahead / t).max(0.0).powi(3) };
        control.check()?;
        self.direct(system, (centred, !is_blocked), control)?;
        control.check()?;
        let length = (SHARE * self.longest()).min(1.0);
        let by = &self.direction;
        if !(length > 1e-9 && by.b.iter().all(|b| b.is_finite())) {
            return Ok(false);
        }
        self.last = length;
        self.b.iter_mut().zip(&by.b).for_each(|(b, by)| *b += length * by);
        for r in 0..m {
            let dz = length * by.z[r];
            (self.left[r], self.right[r]) =
                ((self.left[r] - dz).max(1e-300), (self.right[r] + dz).max(1e-300));
            self.z[r] = (self.z[r] + dz).clamp(-self.w[r], self.w[r]);
            self.p[r] = (self.p[r] + length * by.p[r]).max(1e-300);
            self.q[r] = (self.q[r] + length * by.q[r]).max(1e-300);
        }
        Ok(true)
    }

    /// What both directions of a step start from.
    fn residuals(&mut self) {
        let (task, m) = (self.task, self.w.len());
        let Residuals { over_left, over_right, s, miss, pull } = &mut self.system;
        task.d.apply_to(&self.b, miss);
        if self.is_sparse {
            miss.extend_from_slice(&self.b);
        }
        [&mut *over_left, over_right, s].into_iter().for_each(|numbers| numbers.resize(m, 0.0));
        for r in 0..m {
            let (p, q) = (self.p[r], self.q[r]);
            (over_left[r], over_right[r]) = (1.0 / self.left[r], 1.0 / self.right[r]);
            s[r] = (1.0 / (p * over_left[r] + q * over_right[r])).clamp(1e-300, self.most);
            miss[r] += q - p;
        }
        pull.clear();
        if task.design == Design::Identity {
            pull.extend(self.b.iter().zip(task.y).map(|(b, y)| b - y));
        } else {
            let mut off = task.design.apply(&self.b, task.y.len());
            off.iter_mut().zip(task.y).for_each(|(fitted, y)| *fitted -= y);
            pull.extend(task.design.transposed(&off));
        }
        add_pull(task, &self.z, pull);
    }

    /// The direction for a given t; for the second one the products of the first are taken off.
    fn direct(&mut self, system: &System, (t, is_second): (f64, bool), control: &Control) -> Pass {
        let (task, m) = (self.task, self.w.len());
        let Residuals { over_left, over_right, s, miss, pull } = &self.system;
        let Direction { b, z, p, q, of_rows } = &mut self.direction;
        [&mut *z, p, q, of_rows].into_iter().for_each(|numbers| numbers.resize(m, 0.0));
        for r in 0..m {
            let (of_p, of_q) = if is_second { (p[r] * z[r], -q[r] * z[r]) } else { (0.0, 0.0) };
            p[r] = (t + of_p) * over_left[r] - self.p[r];
            q[r] = (t + of_q) * over_right[r] - self.q[r];
            z[r] = miss[r] - p[r] + q[r];
            of_rows[r] = -s[r] * z[r];
        }
        b.clear();
        b.extend(pull.iter().map(|pull| -pull));
        add_pull(task, of_rows, b);
        control.check()?;
        system.solve(b);
        control.check()?;
        task.d.apply_to(b, of_rows);
        if self.is_sparse {
            of_rows.extend_from_slice(b);
        }
        for r in 0..m {
            z[r] = s[r] * (of_rows[r] + z[r]);
            p[r] += self.p[r] * z[r] * over_left[r];
            q[r] -= self.q[r] * z[r] * over_right[r];
        }
        Ok(())
    }

    /// The longest step of at most 1 that stays inside.
    fn longest(&self) -> f64 {
        let Residuals { over_left, over_right, .. } = &self.system;
        let Direction { z, p, q, .. } = &self.direction;
        // One over the length; no number counts as none.
        let mut shortest = 1.0_f64;
        for r in 0..self.w.len() {
            let ends = (z[r] * over_left[r]).max(-z[r] * over_right[r]);
            let slacks = (-p[r] / self.p[r]).max(-q[r] / self.q[r]);
            shortest = shortest.max(ends.max(slacks));
        }
        1.0 / shortest
    }
}

/// `out += K'z`.
fn add_pull(task: &Task<'_>, z: &[f64], out: &mut [f64]) {
    let rows = task.d.rows();
    task.d.add_transposed(1.0, &z[..rows], out);
    z[rows..].iter().zip(out).for_each(|(z, out)| *out += z);
}

/// `K b`.
fn times(task: &Task<'_>, is_sparse: bool, b: &[f64]) -> Vec<f64> {
    let mut out = task.d.apply(b);
    if is_sparse {
        out.extend_from_slice(b);
    }
    out
}

/// `theta'y - 1/2 ||theta||^2`.
pub(super) fn dual_value(theta: &[f64], y: &[f64]) -> f64 {
    theta.iter().zip(y).map(|(theta, y)| theta * (y - 0.5 * theta)).sum()
}

fn mean_size(y: &[f64]) -> f64 {
    y.iter().map(|y| y.abs()).sum::<f64>() / y.len() as f64
}

/// b moved towards 0 by mu, at most to 0.
pub(super) fn shrunk(b: f64, mu: f64) -> f64 {
    if b.abs() <= mu { 0.0 } else { b - mu.copysign(b) }
}

/// The objective in plain arithmetic.
pub(super) fn objective(task: &Task<'_>, b: &[f64]) -> f64 {
    let loss_of = |fitted: &[f64]| -> f64 {
        fitted.iter().zip(task.y).map(|(fitted, y)| 0.5 * (y - fitted) * (y - fitted)).sum()
    };
    let loss = match task.design {
        Design::Identity => loss_of(b),
        _ => loss_of(&task.design.apply(b, task.y.len())),
    };
    let mut variation = 0.0;
    task.d.for_each(|_, columns, values| {
        variation += columns.iter().zip(values).map(|(c, value)| value * b[*c]).sum::<f64>().abs();
    });
    loss + task.lambda * variation + task.sparse * b.iter().map(|b| b.abs()).sum::<f64>()
}
