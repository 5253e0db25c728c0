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

use equipoise::{Control, Halt};

use super::design::Design;
use super::error::Result;
use super::proof::{Dual, Task};
use super::reach;
use super::system::System;

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
}

/// One direction.
struct Direction {
    b: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

pub(super) fn solve(task: &Task<'_>, gap: f64, max_rounds: usize, control: &Control) -> Result<Found> {
    let is_sparse = task.sparse > 0.0;
    let mut system = System::new(task.design, task.d, is_sparse, control)?;
    let mut interior = Interior::new(task, is_sparse);
    let (mut rounds, mut halt, mut best) = (0, None, None::<(f64, Vec<f64>, Dual)>);
    let mut without_gain = 0;
    while rounds < max_rounds.min(MOST_STEPS) {
        let (mut estimate, mut b, mut dual) = interior.estimate();
        if estimate <= gap && interior.reach.is_none() && task.design != Design::Identity {
            // A proof charges what is missed by the largest coefficients that matter: from now on so does the estimate.
            let level = objective(task, &b) * (1.0 + 1e-9);
            match reach::largest(task, level, control) {
                Ok(reach) => interior.reach = reach,
                Err(why) => halt = Some(why),
            }
            (estimate, b, dual) = interior.estimate();
        }
        if best.as_ref().is_none_or(|(least, ..)| estimate < *least) {
            without_gain = 0;
            best = Some((estimate, b, dual));
        } else {
            without_gain += 1;
        }
        if halt.is_some() || best.as_ref().is_some_and(|(least, ..)| *least <= gap) || without_gain >= 12 {
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
    let (_, b, dual) = best.unwrap_or_else(|| interior.estimate());
    Ok(Found { b, dual, rounds, halt })
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
        }
    }

    /// `sum p (w - z) + q (w + z)` over twice the rows.
    fn mean_product(&self) -> f64 {
        let terms = (0..self.w.len()).map(|r| self.p[r] * self.left[r] + self.q[r] * self.right[r]);
        terms.sum::<f64>() / (2.0 * self.w.len().max(1) as f64)
    }

    /// A relative gap in plain arithmetic, with the b and the dual point that it is of.
    fn estimate(&self) -> (f64, Vec<f64>, Dual) {
        let task = self.task;
        let rows = task.d.rows();
        let z = self.z[..rows].to_vec();
        let half_y = 0.5 * task.y.iter().map(|y| y * y).sum::<f64>();
        let relative = |objective: f64, bound: f64| {
            let gap = (objective - bound).max(0.0);
            if gap == 0.0 { 0.0 } else { gap / objective.max(1e-12 * half_y) }
        };
        if task.design == Design::Identity {
            let mut theta = vec![0.0; task.y.len()];
            task.d.add_transposed(1.0, &z, &mut theta);
            for (theta, y) in theta.iter_mut().zip(task.y) {
                *theta += (y - *theta).clamp(-task.sparse, task.sparse);
            }
            let from_z: Vec<f64> = task.y.iter().zip(&theta).map(|(y, theta)| y - theta).collect();
            let bound = dual_value(&theta, task.y);
            let above = objective(task, &from_z);
            return (relative(above, bound), from_z, Dual { z, theta: Vec::new() });
        }
        let fitted = task.design.apply(&self.b, task.y.len());
        let theta: Vec<f64> = task.y.iter().zip(&fitted).map(|(y, fitted)| y - fitted).collect();
        let bound = dual_value(&theta, task.y);
        let mut missed = task.design.transposed(&theta);
        task.d.add_transposed(-1.0, &z, &mut missed);
        let misses = missed.iter().map(|missed| (missed.abs() - task.sparse).max(0.0));
        let size = self.b.iter().map(|b| b.abs() + self.scale).sum::<f64>();
        let charge = match &self.reach {
            Some(reach) => misses.zip(reach).map(|(miss, reach)| miss * reach).sum(),
            None => CAUTION * size * misses.fold(0.0, f64::max),
        };
        let estimate = relative(objective(task, &self.b), bound - charge);
        (estimate, self.b.clone(), Dual { z, theta })
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
        let (task, m) = (self.task, self.w.len());
        let s: Vec<f64> = (0..m).map(|r| self.weight_of(r)).collect();
        if !system.factorise(task.d, &s, control)? {
            return Ok(false);
        }
        control.check()?;
        let mut pull = vec![0.0; task.coefficients()];
        self.add_pull(&self.z, &mut pull);
        let fitted = task.design.apply(&self.b, task.y.len());
        let off: Vec<f64> = fitted.iter().zip(task.y).map(|(fitted, y)| fitted - y).collect();
        pull.iter_mut().zip(task.design.transposed(&off)).for_each(|(pull, of_data)| *pull += of_data);
        let kb = times(task, self.is_sparse, &self.b);
        let miss: Vec<f64> = (0..m).map(|r| kb[r] - self.p[r] + self.q[r]).collect();
        let t = self.mean_product();
        let (none, zero) = (vec![0.0; m], 0.0);
        let first = self.direction(system, &s, &pull, &miss, zero, &none, &none);
        let length = self.longest(&first);
        let ahead = {
            let terms = (0..m).map(|r| {
                let dz = length * first.z[r];
                (self.p[r] + length * first.p[r]) * (self.left[r] - dz)
                    + (self.q[r] + length * first.q[r]) * (self.right[r] + dz)
            });
            terms.sum::<f64>() / (2.0 * m.max(1) as f64)
        };
        let is_blocked = self.last < BLOCKED;
        let centred = if is_blocked { t } else { t * (ahead / t).max(0.0).powi(3) };
        let second_order = if is_blocked { 0.0 } else { 1.0 };
        let of_p: Vec<f64> = (0..m).map(|r| second_order * first.p[r] * first.z[r]).collect();
        let of_q: Vec<f64> = (0..m).map(|r| -second_order * first.q[r] * first.z[r]).collect();
        control.check()?;
        let second = self.direction(system, &s, &pull, &miss, centred, &of_p, &of_q);
        let length = (SHARE * self.longest(&second)).min(1.0);
        if !(length > 1e-9 && second.b.iter().all(|b| b.is_finite())) {
            return Ok(false);
        }
        self.last = length;
        let moved =
            |at: &mut [f64], by: &[f64]| at.iter_mut().zip(by).for_each(|(at, by)| *at += length * by);
        moved(&mut self.b, &second.b);
        moved(&mut self.z, &second.z);
        moved(&mut self.p, &second.p);
        moved(&mut self.q, &second.q);
        for r in 0..m {
            let dz = length * second.z[r];
            (self.left[r], self.right[r]) =
                ((self.left[r] - dz).max(1e-300), (self.right[r] + dz).max(1e-300));
            self.z[r] = self.z[r].clamp(-self.w[r], self.w[r]);
            (self.p[r], self.q[r]) = (self.p[r].max(1e-300), self.q[r].max(1e-300));
        }
        Ok(true)
    }

    /// `out += K'z`.
    fn add_pull(&self, z: &[f64], out: &mut [f64]) {
        let rows = self.task.d.rows();
        self.task.d.add_transposed(1.0, &z[..rows], out);
        z[rows..].iter().zip(out).for_each(|(z, out)| *out += z);
    }

    /// The step for a given t: `of_p` and `of_q` are products of an earlier step, which are taken off.
    #[expect(clippy::too_many_arguments, reason = "the residuals of one system")]
    fn direction(
        &self,
        system: &System,
        s: &[f64],
        pull: &[f64],
        miss: &[f64],
        t: f64,
        of_p: &[f64],
        of_q: &[f64],
    ) -> Direction {
        let m = self.w.len();
        let (mut c_p, mut c_q, mut g) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
        for r in 0..m {
            let (left, right) = (self.left[r], self.right[r]);
            c_p[r] = (t + of_p[r]) / left - self.p[r];
            c_q[r] = (t + of_q[r]) / right - self.q[r];
            g[r] = miss[r] - c_p[r] + c_q[r];
        }
        let weighed: Vec<f64> = g.iter().zip(s).map(|(g, s)| -g * s).collect();
        let mut b: Vec<f64> = pull.iter().map(|pull| -pull).collect();
        self.add_pull(&weighed, &mut b);
        system.solve(&mut b);
        let kb = times(self.task, self.is_sparse, &b);
        let (mut z, mut p, mut q) = (g, c_p, c_q);
        for r in 0..m {
            z[r] = s[r] * (kb[r] + z[r]);
            p[r] += self.p[r] * z[r] / self.left[r];
            q[r] -= self.q[r] * z[r] / self.right[r];
        }
        Direction { b, z, p, q }
    }

    /// The longest step of at most 1 that stays inside.
    fn longest(&self, direction: &Direction) -> f64 {
        let mut length = 1.0_f64;
        for r in 0..self.w.len() {
            let dz = direction.z[r];
            if dz > 0.0 {
                length = length.min(self.left[r] / dz);
            } else if dz < 0.0 {
                length = length.min(self.right[r] / -dz);
            }
            if direction.p[r] < 0.0 {
                length = length.min(self.p[r] / -direction.p[r]);
            }
            if direction.q[r] < 0.0 {
                length = length.min(self.q[r] / -direction.q[r]);
            }
        }
        length
    }
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
    let fitted = task.design.apply(b, task.y.len());
    let loss: f64 = fitted.iter().zip(task.y).map(|(fitted, y)| 0.5 * (y - fitted) * (y - fitted)).sum();
    let mut variation = 0.0;
    task.d.for_each(|_, columns, values| {
        variation += columns.iter().zip(values).map(|(c, value)| value * b[*c]).sum::<f64>().abs();
    });
    loss + task.lambda * variation + task.sparse * b.iter().map(|b| b.abs()).sum::<f64>()
}
