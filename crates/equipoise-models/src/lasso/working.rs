//! The working columns, and the exact minimiser of a quadratic model over them.
//!
//! ```text
//! minimise   g'd + 1/2 d'H d + sum_j  l1_j |beta_j + d_j| + l2_j/2 (beta_j + d_j)^2      subject to  C (beta + d) = 0
//!            H = X_W' diag(h) X_W
//! ```
//!
//! An active set in the manner of quadratic programming: with the signs s of the coefficients in use (A) held, solve
//!
//! ```text
//! H_AA d + C_A' mu = -(g + l1 s + l2 beta)_A,      C_A d = -C_A beta_A
//! ```
//!
//! by a factor that is kept up to date; walk there, stop where a coefficient reaches 0 and drop it; at the end let those
//! enter whose slope `g_j + C_j'mu` is beyond l1. Where A does not determine mu (at `beta = 0` under a sum, say) they enter in
//! balanced sets ([`super::balance`]). The objective falls with every walk, so no set of signs comes twice.
//!
//! - Given: slopes g at beta, curvatures h, limits. Returns: beta, mu, and g at the new beta.
//! - Must not know: losses, lambda, columns outside the working set.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass};

use super::balance::{Resting, Spectrum, balanced_set, least_violation};
use super::constraints::Constraints;
use super::design::Design;
use super::factor::Factor;

/// What a slope may be beyond its limit, as a share of it.
const ALLOWED: f64 = 1e-10;
/// How far from stationary the coefficients in use may be, as a share of what their slopes are made of.
const RESTFUL: f64 = 1e-13;
/// Changes of the factor after which it is made anew.
const RENEWED_AFTER: usize = 200;

/// l1 and l2 by column.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) l1: Vec<f64>,
    pub(super) l2: Vec<f64>,
}

/// What the model is of, beside the working columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model<'a> {
    pub(super) design: &'a Design<'a>,
    /// h, all ones if missing.
    pub(super) curvature: Option<&'a [f64]>,
    pub(super) limits: &'a Limits,
    pub(super) constraints: &'a Constraints,
}

/// The columns that are looked at, their coefficients and slopes.
#[derive(Debug, Default)]
pub(super) struct Working {
    /// The column of each slot.
    columns: Vec<usize>,
    /// By slot.
    pub(super) beta: Vec<f64>,
    /// By slot: `x_j'u`.
    pub(super) slopes: Vec<f64>,
    /// By slot: its products with all slots, once it was in use; empty before.
    products: Vec<Vec<f64>>,
    /// The sign held, by slot; 0 for those that are not penalised.
    signs: Vec<f64>,
    /// The slots in use, in the order of the factor.
    active: Vec<usize>,
    /// By slot: whether it is one of them.
    is_active: Vec<bool>,
    factor: Factor,
    changes: usize,
    largest_diagonal: f64,
    pub(super) multipliers: Vec<f64>,
    room: Vec<f64>,
    pub(super) walks: u64,
}

impl Working {
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Takes in columns that are not there yet, with their slopes.
    pub(super) fn take_in(&mut self, columns: &[usize], slopes: &[f64]) {
        self.columns.extend_from_slice(columns);
        self.slopes.extend_from_slice(slopes);
        self.beta.resize(self.columns.len(), 0.0);
        self.signs.resize(self.columns.len(), 0.0);
        self.is_active.resize(self.columns.len(), false);
        self.products.resize(self.columns.len(), Vec::new());
    }

    /// Sets a coefficient before the first walk.
    pub(super) fn start_at(&mut self, slot: usize, value: f64) {
        self.beta[slot] = value;
    }

    /// Forgets the products: the curvatures are others.
    pub(super) fn forget_products(&mut self) {
        self.products.iter_mut().for_each(Vec::clear);
    }

    /// Puts those in use that must be: what is not penalised, and what is not 0.
    fn begin(&mut self, model: Model<'_>, control: &Control) -> Pass {
        let limits = model.limits;
        let mut wanted: Vec<usize> = Vec::new();
        for (slot, &column) in self.columns.iter().enumerate() {
            let is_free = limits.l1[column] == 0.0;
            if is_free || self.beta[slot] != 0.0 {
                wanted.push(slot);
            }
            self.signs[slot] = if is_free { 0.0 } else { self.beta[slot].signum() };
        }
        // What is not penalised comes first and stays.
        wanted.sort_by_key(|&slot| limits.l1[self.columns[slot]] > 0.0);
        self.active.clear();
        self.is_active.fill(false);
        self.factor.clear();
        self.changes = 0;
        for slot in wanted {
            self.enter(slot, model, control)?;
        }
        Ok(())
    }

    /// Whether the factor belongs to these limits and to the coefficients in use.
    fn is_begun(&self, model: Model<'_>) -> bool {
        let is_free = |slot: usize| model.limits.l1[self.columns[slot]] == 0.0;
        self.factor.len() == self.active.len()
            && !self.active.is_empty()
            && self.changes < RENEWED_AFTER
            && self
                .active
                .iter()
                .all(|&slot| !self.products[slot].is_empty() && model.limits.l2[self.columns[slot]] == 0.0)
            && (0..self.columns.len())
                .all(|slot| (self.beta[slot] == 0.0 && !is_free(slot)) || self.is_active[slot])
            && self.active.iter().all(|&slot| is_free(slot) || self.beta[slot] != 0.0)
    }

    /// Makes the products of a slot with all slots, as far as they are missing.
    fn make_products(&mut self, slot: usize, model: Model<'_>, control: &Control) -> Pass {
        let (from, to) = (self.products[slot].len(), self.columns.len());
        if from == to {
            return Ok(());
        }
        let missing: Vec<usize> = (from..to).filter(|&s| self.products[s].len() <= slot).collect();
        let list: Vec<usize> = missing.iter().map(|&s| self.columns[s]).collect();
        self.room.resize(model.design.rows(), 0.0);
        model.design.weighted_column(self.columns[slot], model.curvature, &mut self.room);
        let column = &self.room;
        let found = model.design.map_list(&list, |j| model.design.dot(j, column), control)?;
        let mut row = std::mem::take(&mut self.products[slot]);
        row.resize(to, 0.0);
        for (s, value) in row.iter_mut().enumerate().skip(from) {
            if let Some(known) = self.products[s].get(slot) {
                *value = *known;
            }
        }
        missing.iter().zip(found).for_each(|(&s, value)| row[s] = value);
        self.products[slot] = row;
        Ok(())
    }

    fn enter(&mut self, slot: usize, model: Model<'_>, control: &Control) -> Pass {
        self.make_products(slot, model, control)?;
        let row = &self.products[slot];
        let beside: Vec<f64> = self.active.iter().map(|&s| row[s]).collect();
        let column = self.columns[slot];
        let diagonal = row[slot] + model.limits.l2[column];
        self.factor.append(&beside, diagonal, self.largest_diagonal, model.constraints.column(column));
        self.active.push(slot);
        self.is_active[slot] = true;
        self.changes += 1;
        Ok(())
    }

    fn drop_at(&mut self, place: usize) {
        let slot = self.active.remove(place);
        self.factor.remove(place);
        self.is_active[slot] = false;
        self.beta[slot] = 0.0;
        self.signs[slot] = 0.0;
        self.changes += 1;
    }

    /// The slope of the whole objective without multipliers, at a slot in use.
    fn pull(&self, slot: usize, limits: &Limits) -> f64 {
        let column = self.columns[slot];
        self.slopes[slot] + limits.l1[column] * self.signs[slot] + limits.l2[column] * self.beta[slot]
    }

    /// Which directions of mu the slots in use determine: the sum of `c c'` over their columns, each of length 1.
    fn determined(&self, model: Model<'_>) -> Spectrum {
        let m = model.constraints.count();
        let mut square = vec![vec![0.0; m]; m];
        for &slot in &self.active {
            let c = model.constraints.column(self.columns[slot]);
            let size = dot(c, c);
            if size > 0.0 {
                square.iter_mut().zip(c).for_each(|(row, t)| axpy(t / size, c, row));
            }
        }
        Spectrum::of(square)
    }

    /// The step to the minimiser over the slots in use, their signs held; and the spectrum of what determines mu.
    fn direction(&mut self, model: Model<'_>) -> (Vec<f64>, Spectrum) {
        let m = model.constraints.count();
        self.multipliers.resize(m, 0.0);
        // From the multipliers so far: what is solved for is small in the end, and so are its errors.
        let rest = |&slot: &usize| {
            -self.pull(slot, model.limits) - model.constraints.dot(self.columns[slot], &self.multipliers)
        };
        let mut d: Vec<f64> = self.active.iter().map(rest).collect();
        self.factor.forward(&mut d);
        let carried = self.factor.carried();
        let mut square = vec![vec![0.0; m]; m];
        let mut rhs = vec![0.0; m];
        for (y, d) in carried.iter().zip(&d) {
            axpy(*d, y, &mut rhs);
            square.iter_mut().zip(y).for_each(|(row, t)| axpy(*t, y, row));
        }
        for &slot in &self.active {
            axpy(self.beta[slot], model.constraints.column(self.columns[slot]), &mut rhs);
        }
        let spectrum = self.determined(model);
        // Within the directions that A determines nothing is negligible, however badly scaled.
        let range = spectrum.range();
        let within = |v: &[f64]| -> Vec<f64> { range.iter().map(|direction| dot(direction, v)).collect() };
        let image: Vec<Vec<f64>> = range
            .iter()
            .map(|direction| within(&square.iter().map(|row| dot(row, direction)).collect::<Vec<_>>()))
            .collect();
        let inner = Spectrum::of(image).solve_fully(&within(&rhs));
        let mut change = vec![0.0; m];
        for (direction, t) in range.iter().zip(inner) {
            axpy(t, direction, &mut change);
        }
        for (y, d) in carried.iter().zip(&mut d) {
            *d -= dot(y, &change);
        }
        axpy(1.0, &change, &mut self.multipliers);
        self.factor.backward(&mut d);
        (d, spectrum)
    }

    /// Walks along d until a coefficient reaches 0; the place in A of the one that did, and how far the walk went.
    fn walk(&mut self, d: &[f64], model: Model<'_>, control: &Control) -> Pass<(Option<usize>, f64)> {
        let (mut length, mut blocking) = (1.0, None);
        for (place, (&slot, &step)) in self.active.iter().zip(d).enumerate() {
            let sign = self.signs[slot];
            if sign != 0.0 && (self.beta[slot] + step) * sign < 0.0 {
                let reach = (self.beta[slot] / -step).max(0.0);
                if reach < length {
                    (length, blocking) = (reach, Some(place));
                }
            }
        }
        for place in 0..self.active.len() {
            let (slot, step) = (self.active[place], length * d[place]);
            if step != 0.0 {
                self.make_products(slot, model, control)?;
                self.beta[slot] += step;
                axpy(step, &self.products[slot], &mut self.slopes);
            }
        }
        if let Some(place) = blocking {
            // What rounding left of the one that reached 0.
            let slot = self.active[place];
            let rest = self.beta[slot];
            if rest != 0.0 {
                axpy(-rest, &self.products[slot], &mut self.slopes);
            }
            self.beta[slot] = 0.0;
        }
        self.walks += 1;
        Ok((blocking, length))
    }

    /// How far the slots in use are from stationary, as a share of what they are made of.
    fn unrest(&self, model: Model<'_>) -> f64 {
        let of = |&slot: &usize| {
            let column = self.columns[slot];
            let pull = self.pull(slot, model.limits);
            let held = model.constraints.dot(column, &self.multipliers);
            let size = self.slopes[slot].abs() + model.limits.l1[column] + held.abs();
            (pull + held).abs() / size.max(f64::MIN_POSITIVE)
        };
        self.active.iter().map(of).fold(self.miss(model), f64::max)
    }

    /// How far the constraints are missed, as a share of their terms.
    fn miss(&self, model: Model<'_>) -> f64 {
        let mut sums = vec![(0.0_f64, 0.0_f64); model.constraints.count()];
        for &slot in &self.active {
            for (sum, c) in sums.iter_mut().zip(model.constraints.column(self.columns[slot])) {
                let term = c * self.beta[slot];
                *sum = (sum.0 + term, sum.1 + term.abs());
            }
        }
        let share = |(sum, size): &(f64, f64)| if *size > 0.0 { sum.abs() / size } else { 0.0 };
        sums.iter().map(share).fold(0.0, f64::max)
    }

    /// Takes what rounding left of `C beta` off the coefficients in use, by the smallest change.
    fn restore(&mut self, model: Model<'_>, control: &Control) -> Pass {
        let m = model.constraints.count();
        for _ in 0..3 {
            if m == 0 || self.miss(model) <= 1e-15 {
                break;
            }
            let (mut square, mut miss) = (vec![vec![0.0; m]; m], vec![0.0; m]);
            // Large coefficients take more of it.
            for &slot in &self.active {
                let (c, beta) = (model.constraints.column(self.columns[slot]), self.beta[slot]);
                axpy(beta, c, &mut miss);
                for (row, t) in square.iter_mut().zip(c) {
                    axpy(t * beta * beta, c, row);
                }
            }
            let shares = Spectrum::of(square).solve(&miss);
            for place in 0..self.active.len() {
                let slot = self.active[place];
                let beta = self.beta[slot];
                let step = -beta * beta * model.constraints.dot(self.columns[slot], &shares);
                if step != 0.0 && step.abs() < 0.5 * beta.abs() {
                    self.make_products(slot, model, control)?;
                    self.beta[slot] += step;
                    axpy(step, &self.products[slot], &mut self.slopes);
                }
            }
        }
        Ok(())
    }

    /// Minimises the model.
    pub(super) fn minimise(&mut self, model: Model<'_>, control: &Control) -> Pass {
        let square = |&j: &usize| model.design.norm(j) * model.design.norm(j);
        let bend = model.curvature.map_or(1.0, |h| h.iter().copied().fold(0.0, f64::max));
        self.largest_diagonal = self.columns.iter().map(square).fold(0.0, f64::max) * bend;
        if !self.is_begun(model) {
            self.begin(model, control)?;
        }
        let mut shunned: Vec<usize> = Vec::new();
        let (mut refined, mut last_unrest) = (0, f64::INFINITY);
        let mut is_cautious = false;
        for _ in 0..50 * (self.columns.len() + 20) {
            control.check()?;
            if self.changes >= RENEWED_AFTER {
                self.renew(model, control)?;
            }
            let (d, spectrum) = self.direction(model);
            if d.iter().any(|step| !step.is_finite()) {
                return Ok(());
            }
            let (blocking, length) = self.walk(&d, model, control)?;
            let size = |v: f64, of: f64| v.max(of.abs());
            let farthest = d.iter().copied().fold(0.0, size) * length;
            if farthest > 1e-12 * self.beta.iter().copied().fold(0.0, size) {
                shunned.clear();
                is_cautious = false;
            }
            if let Some(place) = blocking {
                if length == 0.0 {
                    shunned.push(self.active[place]);
                    is_cautious = true;
                }
                self.drop_at(place);
                (refined, last_unrest) = (0, f64::INFINITY);
                continue;
            }
            let unrest = self.unrest(model);
            if unrest > RESTFUL && refined < 30 && unrest < 0.7 * last_unrest {
                (refined, last_unrest) = (refined + 1, unrest);
                continue;
            }
            (refined, last_unrest) = (0, f64::INFINITY);
            let entering = self.entering(model, &spectrum, &shunned, is_cautious);
            if entering.is_empty() {
                return self.restore(model, control);
            }
            for (slot, sign) in entering {
                self.signs[slot] = sign;
                self.enter(slot, model, control)?;
            }
        }
        Ok(())
    }

    /// Makes the factor anew.
    fn renew(&mut self, model: Model<'_>, control: &Control) -> Pass {
        let active = std::mem::take(&mut self.active);
        self.factor.clear();
        for slot in active {
            self.enter(slot, model, control)?;
        }
        self.changes = 0;
        Ok(())
    }

    /// Which slots enter, with their signs; sets the multipliers where they are free.
    fn entering(
        &mut self,
        model: Model<'_>,
        spectrum: &Spectrum,
        shunned: &[usize],
        is_cautious: bool,
    ) -> Vec<(usize, f64)> {
        let free = spectrum.null_space();
        let resting: Vec<usize> = (0..self.columns.len())
            .filter(|&slot| !self.is_active[slot])
            .filter(|slot| !shunned.contains(slot))
            .collect();
        if !free.is_empty() {
            let of = |&slot: &usize| {
                let column = self.columns[slot];
                let c = model.constraints.column(column);
                Resting {
                    slope: self.slopes[slot] + dot(c, &self.multipliers),
                    limit: model.limits.l1[column],
                    along: free.iter().map(|direction| dot(c, direction)).collect(),
                }
            };
            let all: Vec<Resting> = resting.iter().map(of).collect();
            let nu = least_violation(&all, free.len());
            for (direction, nu) in free.iter().zip(&nu) {
                axpy(*nu, direction, &mut self.multipliers);
            }
        }
        let mut beyond: Vec<(usize, f64, f64)> = Vec::new();
        for slot in resting {
            let column = self.columns[slot];
            let slope = self.slopes[slot] + model.constraints.dot(column, &self.multipliers);
            let limit = model.limits.l1[column];
            let share = (slope.abs() - limit) / limit;
            if share > ALLOWED {
                beyond.push((slot, share, -slope.signum()));
            }
        }
        if !free.is_empty() && !beyond.is_empty() {
            let of = |&(slot, share, sign): &(usize, f64, f64)| {
                let c = model.constraints.column(self.columns[slot]);
                (free.iter().map(|direction| sign * dot(c, direction)).collect(), share)
            };
            let all: Vec<(Vec<f64>, f64)> = beyond.iter().map(of).collect();
            return balanced_set(&all).into_iter().map(|k| (beyond[k].0, beyond[k].2)).collect();
        }
        let most = beyond.iter().map(|one| one.1).fold(0.0, f64::max);
        let least = if is_cautious { most } else { 0.5 * most };
        beyond.into_iter().filter(|one| one.1 >= least).map(|(slot, _, sign)| (slot, sign)).collect()
    }
}
