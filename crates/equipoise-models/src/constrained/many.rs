//! Many targets over one matrix and one region: spectral unmixing, stacking by fold, a control for every unit.
//!
//! ```text
//! G = X' Omega X and its factor once;   C = X' Omega Y at once;   then a small quadratic a target
//! ```
//!
//! - Given: the targets, column after column. Returns: one [`Fit`] each, the bits of which do not depend on the threads.
//! - Must not know: how a quadratic is solved.

use std::time::Instant;

use equipoise::{Control, DenseMatrix, Pass, Status, Team};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::active::{Quadratic, Scratch, Side};
use super::passes::{Gram, squared_norms};
use super::proof::Ground;
use super::region::{Region, Rows};
use super::working::missed;
use super::{Data, Error, Fit, Result, Round, Settings, Watch, dense, fit};

/// Targets that one thread takes at a time.
const TOGETHER: usize = 16;
/// Most rounds in which a guess is brought back to the sum.
const ROUNDS_OF_A_GUESS: usize = 10;
/// Columns from which on a working set a target is less work than the whole Gram matrix.
const WIDE: usize = 1500;

/// Fits weights to many targets, one a column. Where the control ends it, what was fitted until then is there, and of the
/// others the point in the middle of the region.
pub fn fit_many(
    data: &Data<'_>,
    targets: &DenseMatrix,
    region: &Region,
    settings: &Settings,
    starts: Option<&[Vec<f64>]>,
    control: &Control,
) -> Result<Vec<Fit>> {
    fit_many_watched(data, targets, region, settings, starts, &|_, _| {}, control)
}

/// The same, with somebody who is told of every round of every target, by the number of its column: from whichever thread, those of
/// one target in order. Targets that share the work have one round.
pub fn fit_many_watched(
    data: &Data<'_>,
    targets: &DenseMatrix,
    region: &Region,
    settings: &Settings,
    starts: Option<&[Vec<f64>]>,
    observer: &(dyn Fn(usize, &Round) + Sync),
    control: &Control,
) -> Result<Vec<Fit>> {
    settings.check()?;
    data.check_samples()?;
    region.check(data.matrix.columns())?;
    for k in 0..targets.columns() {
        data.check(targets.column(k))?;
    }
    if let Some(starts) = starts
        && starts.len() != targets.columns()
    {
        let (found, expected) = (starts.len(), targets.columns());
        return Err(Error::Length { what: "starts", found, expected, unit: "target" });
    }
    let short = starts.into_iter().flatten().find(|start| start.len() != data.matrix.columns());
    if let Some(start) = short {
        let (found, expected) = (start.len(), data.matrix.columns());
        return Err(Error::Length { what: "start", found, expected, unit: "column" });
    }
    let start = |k: usize| starts.map(|starts| starts[k].as_slice());
    let team = Team::of(settings.threads.min(targets.columns().div_ceil(TOGETHER)).max(1));
    let columns = data.matrix.columns();
    let is_plain = region.is_bounded_enough(settings.ridge) && !matches!(region.rows, Rows::Equations { .. });
    let is_bounded = settings.ridge > 0.0 || {
        let (lower, upper) = region.implied();
        lower.iter().chain(&upper).all(|bound| bound.is_finite())
    };
    let alone = Settings { threads: 1, ..settings.clone() };
    let one = |k: usize| {
        let mut tell = |round: &Round| observer(k, round);
        let watch = Watch { observer: Some(&mut tell), control: control.clone() };
        fit(data, targets.column(k), region, &alone, start(k), watch)
    };
    let parts = || {
        (0..targets.columns().div_ceil(TOGETHER))
            .map(|k| k * TOGETHER..((k + 1) * TOGETHER).min(targets.columns()))
    };
    // Where it was ended the long way says so.
    let shared = (is_plain && is_bounded && columns <= WIDE)
        .then(|| Shared::new(data, targets, region, settings, &team, control))
        .and_then(Pass::ok);
    let fits = match &shared {
        Some(shared) => team.map(parts(), |part| {
            let mut scratch = Scratch::default();
            let fit = |k: usize| match shared.fit(k, targets.column(k), start(k), &mut scratch, control) {
                Some(fit) => {
                    let Fit { rounds: round, seconds, objective, bound, relative_gap, .. } = fit;
                    observer(k, &Round { round, columns, seconds, objective, bound, relative_gap });
                    Ok(fit)
                }
                // Ended, or not as good as it should be: the long way says which.
                None => one(k),
            };
            part.map(fit).collect::<Result<Vec<Fit>>>()
        }),
        None => team.map(parts(), |part| part.map(one).collect()),
    };
    Ok(fits.into_iter().collect::<Result<Vec<Vec<Fit>>>>()?.into_iter().flatten().collect())
}

/// What all targets share.
struct Shared<'a> {
    ground: Ground<'a>,
    region: &'a Region,
    settings: &'a Settings,
    gram: Gram<'a>,
    /// Of G with the ridge; none where it is singular.
    factor: Option<Vec<f64>>,
    /// `X' Omega Y`, a column a target.
    linear: Vec<f64>,
    /// What it takes without any bound, a column a target, and what 1 in every row takes; empty without a factor.
    unbounded: Vec<f64>,
    of_ones: Vec<f64>,
}

impl<'a> Shared<'a> {
    fn new(
        data: &Data<'a>,
        targets: &DenseMatrix,
        region: &'a Region,
        settings: &'a Settings,
        team: &Team,
        control: &Control,
    ) -> Pass<Self> {
        let (rows, columns, count) = (data.matrix.rows(), data.matrix.columns(), targets.columns());
        let roots: Option<Vec<f64>> =
            data.weights.map(|weights| weights.iter().map(|weight| weight.sqrt()).collect());
        let squares = squared_norms(data.matrix, team, control)?;
        let mut gram = Gram::new(rows);
        let all: Vec<usize> = (0..columns).collect();
        gram.append(data.matrix, roots.as_deref(), &all, team, control)?;
        let mut factor: Vec<f64> = Vec::with_capacity(columns * columns);
        for j in 0..columns {
            factor.extend_from_slice(&gram.entries[j * gram.stride..j * gram.stride + columns]);
            factor[j * columns + j] += settings.ridge;
        }
        let factor = dense::factor(&mut factor, columns).then_some(factor);
        let x = MatRef::from_column_major_slice(data.matrix.values(), rows, columns);
        let tiles: Vec<usize> = (0..count).step_by(64).collect();
        let done = team.map(tiles.iter().copied(), |from| {
            control.check().map(|()| {
                let width = 64.min(count - from);
                let mut values = targets.values()[from * rows..(from + width) * rows].to_vec();
                if let Some(weights) = data.weights {
                    for column in values.chunks_mut(rows) {
                        column.iter_mut().zip(weights).for_each(|(y, weight)| *y *= weight);
                    }
                }
                let mut tile = vec![0.0; columns * width];
                let out = MatMut::from_column_major_slice_mut(&mut tile, columns, width);
                let y = MatRef::from_column_major_slice(&values, rows, width);
                matmul(out, Accum::Replace, x.transpose(), y, 1.0, Par::Seq);
                tile
            })
        });
        let mut linear = Vec::with_capacity(columns * count);
        for tile in done {
            linear.extend(tile?);
        }
        let (mut unbounded, mut of_ones) = (Vec::new(), Vec::new());
        if let Some(factor) = &factor {
            unbounded.clone_from(&linear);
            for columns_of_a_look in unbounded.chunks_mut(columns * 256) {
                control.check()?;
                dense::solve_many(factor, columns, columns_of_a_look);
            }
            of_ones = vec![1.0; columns];
            dense::solve(factor, columns, &mut of_ones);
        }
        let ground = Ground::new(*data, region, settings.ridge, &squares);
        Ok(Self { ground, region, settings, gram, factor, linear, unbounded, of_ones })
    }

    /// A guess at who is at a bound: where the point of the region is that is nearest to the best one without bounds.
    fn guess(&self, k: usize, w: &mut [f64], sides: &mut [Side]) {
        let Region { lower, upper, .. } = self.region;
        let columns = w.len();
        w.copy_from_slice(&self.unbounded[k * columns..(k + 1) * columns]);
        if let Some(sum) = self.region.sum() {
            let lambda = (w.iter().sum::<f64>() - sum) / self.of_ones.iter().sum::<f64>();
            w.iter_mut().zip(&self.of_ones).for_each(|(w, one)| *w -= lambda * one);
            // Everyone gives the same until the sum is right again; those at a bound no longer give.
            let mut given = 0.0;
            for _ in 0..ROUNDS_OF_A_GUESS {
                let (mut total, mut free) = (-sum, 0.0_f64);
                for j in 0..columns {
                    let value = w[j] - given;
                    total += value.max(lower[j]).min(upper[j]);
                    free += f64::from(u8::from(value > lower[j] && value < upper[j]));
                }
                if free == 0.0 || total.abs() <= 1e-9 * sum.abs() {
                    break;
                }
                given += total / free;
            }
            w.iter_mut().for_each(|w| *w -= given);
        }
        for j in 0..columns {
            sides[j] = match w[j] {
                value if value <= lower[j] => Side::Lower,
                value if value >= upper[j] => Side::Upper,
                _ => Side::Free,
            };
        }
    }

    /// Fits one target; `None` where the control ended it, or its gap is not met.
    fn fit(
        &self,
        k: usize,
        y: &[f64],
        start: Option<&[f64]>,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Option<Fit> {
        let begun = Instant::now();
        let matrix = self.ground.data.matrix;
        let columns = matrix.columns();
        let quadratic = Quadratic {
            gram: &self.gram.entries,
            stride: self.gram.stride,
            ridge: self.settings.ridge,
            shift: None,
            linear: &self.linear[k * columns..(k + 1) * columns],
            region: self.region,
            whole: self.factor.as_deref(),
        };
        let mut w = vec![0.0; columns];
        let side = |j: usize| match start {
            Some(start) if start[j] <= self.region.lower[j] => Side::Lower,
            Some(start) if start[j] >= self.region.upper[j] => Side::Upper,
            _ => Side::Free,
        };
        let mut sides: Vec<Side> = (0..columns).map(side).collect();
        if start.is_none() && self.factor.is_some() {
            self.guess(k, &mut w, &mut sides);
        }
        let lambda = quadratic.solve(&mut sides, &mut w, scratch, control).ok()?;
        let mut r: Vec<f64> = y.iter().map(|y| -y).collect();
        for j in (0..columns).filter(|&j| w[j] != 0.0) {
            equipoise::matrix::axpy(w[j], matrix.column(j), &mut r);
        }
        let objective = self.ground.objective(&w, y, &r);
        let theta = self.ground.theta(&r);
        let products: Vec<f64> =
            (0..columns).map(|j| equipoise::matrix::dot(matrix.column(j), &theta)).collect();
        let bound = self.ground.bound(&theta, &products, y).max(0.0);
        let relative_gap = (objective - bound).max(0.0) / self.ground.data.scale(y, objective);
        if relative_gap > self.settings.gap || relative_gap.is_nan() {
            return None;
        }
        Some(Fit {
            status: Status::Converged,
            infeasibility: self.region.sum().map_or(0.0, |sum| missed(&w, sum)),
            x: w,
            objective,
            bound,
            relative_gap,
            multipliers: self.region.sum().map(|_| lambda).into_iter().collect(),
            holds_within: None,
            method: "active set",
            rounds: 1,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}
