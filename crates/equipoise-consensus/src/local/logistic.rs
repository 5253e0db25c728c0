//! `sum_k ln(1 + exp(-y_k a_k.x)) + sum_j q_j/2 x_j^2 - t.x`, by Newton's method with conjugate gradients.
//!
//! Steps end when `||gradient|| <= error * min q`: x is then within `error` of the solution. Reference: Dembo, Eisenstat
//! and Steihaug, "Inexact Newton methods" (1982), for the precision of the conjugate gradients.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass};

use super::{Task, norm};

pub(super) fn value(z: f64, y: f64) -> f64 {
    let margin = y * z;
    (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
}

pub(super) fn derivative(z: f64, y: f64) -> f64 {
    -y / (1.0 + (y * z).exp())
}

/// The second derivative, the same for both labels.
pub(super) fn bend(z: f64) -> f64 {
    let tail = (-z.abs()).exp();
    tail / ((1.0 + tail) * (1.0 + tail))
}

/// Most Newton steps; a handful is usual.
const MOST_STEPS: usize = 100;

pub(super) fn solve(task: &Task<'_>, x: &mut [f64], control: &Control) -> Pass {
    let (rows, targets, q, t) = (&task.shard.rows, &task.shard.targets, task.squares, task.tilt);
    let n = rows.len();
    let mut z: Vec<f64> = (0..n).map(|k| rows.dot(k, x)).collect();
    let objective = |z: &[f64], x: &[f64]| -> f64 {
        let losses: f64 = (0..n).map(|k| value(z[k], targets[k])).sum();
        losses + (0..x.len()).map(|j| (0.5 * q[j] * x[j] - t[j]) * x[j]).sum::<f64>()
    };
    let lengths: Vec<f64> = (0..n).map(|k| rows.squared_norm(k).sqrt()).collect();
    let (mut first, mut f) = (0.0_f64, objective(&z, x));
    for step in 0..MOST_STEPS {
        control.check()?;
        let mut g: Vec<f64> = (0..x.len()).map(|j| q[j] * x[j] - t[j]).collect();
        // What rounding leaves of a gradient that is 0.
        let mut doubt = norm(t) + norm(&g);
        for k in 0..n {
            let slope = derivative(z[k], targets[k]);
            rows.add(k, slope, &mut g);
            doubt += slope.abs() * lengths[k];
        }
        let size = norm(&g);
        first = if step == 0 { size } else { first };
        if size <= task.error * task.strength || size <= f64::EPSILON * doubt {
            return Ok(());
        }
        let bends: Vec<f64> = z.iter().map(|&z| bend(z)).collect();
        let precision = (size / first).sqrt().min(0.1) * size;
        let p = direction(task, &bends, &g, precision, control)?;
        let slope = dot(&g, &p);
        if slope >= 0.0 {
            return Ok(());
        }
        let along: Vec<f64> = (0..n).map(|k| rows.dot(k, &p)).collect();
        let (mut length, slack) = (1.0, 1e-14 * (1.0 + f.abs()));
        loop {
            let new_z: Vec<f64> = z.iter().zip(&along).map(|(z, a)| z + length * a).collect();
            let new_x: Vec<f64> = x.iter().zip(&p).map(|(x, p)| x + length * p).collect();
            let new_f = objective(&new_z, &new_x);
            if new_f <= f + 1e-4 * length * slope + slack {
                (z, f) = (new_z, new_f);
                x.copy_from_slice(&new_x);
                break;
            }
            length *= 0.5;
            if length < 1e-9 {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// p with `|| (A'WA + Q) p + g || <= precision`, by conjugate gradients scaled by the diagonal.
fn direction(task: &Task<'_>, bends: &[f64], g: &[f64], precision: f64, control: &Control) -> Pass<Vec<f64>> {
    let (rows, q) = (&task.shard.rows, task.squares);
    let mut diagonal = q.to_vec();
    for (k, bend) in bends.iter().enumerate() {
        rows.for_each(k, |column, value| diagonal[column] += bend * value * value);
    }
    let mut p = vec![0.0; g.len()];
    let mut r: Vec<f64> = g.iter().map(|g| -g).collect();
    let scaled = |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
    let mut s = scaled(&r);
    let mut way = s.clone();
    let mut rs = dot(&r, &s);
    for _ in 0..2 * g.len() + 20 {
        if norm(&r) <= precision || rs <= 0.0 {
            break;
        }
        control.check()?;
        let mut bent: Vec<f64> = way.iter().zip(q).map(|(w, q)| w * q).collect();
        for (k, bend) in bends.iter().enumerate() {
            rows.add(k, bend * rows.dot(k, &way), &mut bent);
        }
        let length = rs / dot(&way, &bent);
        axpy(length, &way, &mut p);
        axpy(-length, &bent, &mut r);
        s = scaled(&r);
        let new = dot(&r, &s);
        let keep = new / rs;
        way.iter_mut().zip(&s).for_each(|(w, s)| *w = s + keep * *w);
        rs = new;
    }
    Ok(p)
}
