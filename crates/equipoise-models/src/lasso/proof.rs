//! Bounds of a fit that hold in exact arithmetic.
//!
//! ```text
//! P(b)  = sum_i w_i phi(z_i, y_i) + sum_j l1_j |b_j| + l2_j/2 b_j^2,      z = X b + b_0,  C b = 0
//! P*   >= -sum_i w_i phi*(u_i / w_i, y_i) - sum_j (|x_j'u + C_j'mu| - l1_j)_+^2 / (2 l2_j)
//! ```
//!
//! for every u and mu with `x_k'u + C_k'mu = 0` for the columns k that are not penalised, and `|x_j'u + C_j'mu| <= l1_j` where
//! `l2_j` = 0. The u at hand misses the equations by rounding, `delta`. With U the columns not penalised (each divided by its
//! norm) and V = U (U'U)^-1 in floating point, M = U'V is within rho of the identity, so `u* = u - V M^-1 delta`
//! satisfies them exactly and is no further from `u_i` than
//!
//! ```text
//! eta_i = sum_k |V_ik| (|delta_k| + rho/(1 - rho) max |delta|)
//! ```
//!
//! That u* exists is all that is needed: it is never computed. Where l2 = 0, (u*, mu) is scaled by the t that
//! brings every `|x_j'u* + C_j'mu|`, bounded from above, to `l1_j` or below.
//!
//! - Given: coefficients as they will be written, mu, bounds of all products. Returns: P from above, P* from below.
//! - Must not know: how the coefficients were found.

use equipoise::enclosure::{Enclosure, Sum, above};
use equipoise::smooth::loss::ScalarLoss;

use super::balance::Spectrum;
use super::constraints::Constraints;
use super::data::Data;
use super::design::{Design, norm_above};
use super::working::Limits;

/// What a dual value keeps away from the ends of its domain, as a share of the domain.
const INSIDE: f64 = 1e-13;

/// What was proven of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proof {
    /// At least P at the coefficients; infinite where nothing is known.
    pub(super) objective: f64,
    /// At most P*; minus infinity where nothing is known.
    pub(super) bound: f64,
}

/// `V = U (U'U)^-1` of the columns that are not penalised, and how far `U'V` is from the identity.
#[derive(Debug)]
pub(super) struct DualBasis {
    columns: Vec<usize>,
    v: Vec<Vec<f64>>,
    rho: f64,
}

impl DualBasis {
    /// Of these columns; those of zeros that no constraint touches ask for nothing.
    pub(super) fn new(mut columns: Vec<usize>, design: &Design<'_>, constraints: &Constraints) -> Self {
        let is_zero = |j: usize| design.norm(j) <= 2.0 * f64::MIN_POSITIVE;
        columns.retain(|&j| !is_zero(j) || constraints.column(j).iter().any(|c| *c != 0.0));
        let q = columns.len();
        let mut u = vec![vec![0.0; design.rows()]; q];
        for (u, &j) in u.iter_mut().zip(&columns) {
            design.add(j, 1.0 / design.norm(j).max(f64::MIN_POSITIVE), u);
        }
        let gram = |a: &[f64], b: &[f64]| equipoise::matrix::dot(a, b);
        let spectrum = Spectrum::of(u.iter().map(|a| u.iter().map(|b| gram(a, b)).collect()).collect());
        let mut v = Vec::with_capacity(q);
        for k in 0..q {
            let unit: Vec<f64> = (0..q).map(|i| f64::from(u8::from(i == k))).collect();
            let mut column = vec![0.0; design.rows()];
            for (t, u) in spectrum.solve(&unit).iter().zip(&u) {
                equipoise::matrix::axpy(*t, u, &mut column);
            }
            v.push(column);
        }
        let mut rho = 0.0_f64;
        for (i, &j) in columns.iter().enumerate() {
            let mut row = 0.0;
            for (k, v) in v.iter().enumerate() {
                let norm = design.norm(j).max(f64::MIN_POSITIVE);
                let entry = design.dot(j, v) / norm;
                let error = design.dot_error(j, norm_above(v)) / norm + 4.0 * f64::EPSILON * entry.abs();
                row += (entry - f64::from(u8::from(i == k))).abs() + error;
            }
            rho = rho.max(above(row));
        }
        Self { columns, v, rho }
    }

    /// The eta of the header, for misses at least these (of the columns divided by their norms); `None` where nothing is known.
    fn distances(&self, misses: &[f64], rows: usize) -> Option<Vec<f64>> {
        if self.columns.is_empty() {
            return Some(vec![0.0; rows]);
        }
        if self.rho.is_nan() || self.rho >= 0.5 {
            return None;
        }
        let largest = misses.iter().copied().fold(0.0, f64::max);
        let mut eta = vec![0.0; rows];
        for (v, miss) in self.v.iter().zip(misses) {
            let share = above(miss + self.rho / (1.0 - self.rho) * largest);
            eta.iter_mut().zip(v).for_each(|(eta, v)| *eta += v.abs() * share);
        }
        let many = 1.0 + self.v.len() as f64 * f64::EPSILON;
        eta.iter_mut().for_each(|eta| *eta = above(*eta * many));
        Some(eta)
    }
}

/// What a proof is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) data: Data<'a>,
    pub(super) design: &'a Design<'a>,
    pub(super) loss: &'a dyn ScalarLoss,
    pub(super) limits: &'a Limits,
    pub(super) constraints: &'a Constraints,
    pub(super) basis: &'a DualBasis,
}

/// Predictions with what they may be off by.
#[derive(Debug, Default)]
pub(super) struct Predictions {
    pub(super) z: Vec<f64>,
    error: Vec<f64>,
}

impl Claim<'_> {
    fn weight(&self, i: usize) -> f64 {
        self.data.weights.map_or(1.0, |weights| weights[i])
    }

    /// `z = X b + b_0` from raw data, with its error.
    pub(super) fn predict(&self, coefficients: &[(usize, f64)]) -> Predictions {
        let rows = self.design.rows();
        let (mut z, mut error) = (vec![0.0; rows], vec![0.0; rows]);
        for &(j, value) in coefficients {
            self.design.add(j, value, &mut z);
            self.design.add_magnitude(j, value.abs(), &mut error);
        }
        // A sum of k products: each passes through at most k + 1 roundings.
        let roundings = (coefficients.len() + 2) as f64 * f64::EPSILON;
        error.iter_mut().for_each(|error| *error = above(*error * roundings));
        Predictions { z, error }
    }

    /// The objective at the coefficients.
    pub(super) fn objective(&self, coefficients: &[(usize, f64)], at: &Predictions) -> Enclosure {
        let mut sum = Sum::default();
        for (i, (&z, &error)) in at.z.iter().zip(&at.error).enumerate() {
            let value = self.loss.enclose_value(Enclosure::around(z, error), self.data.y[i]);
            sum.add_enclosure(value * Enclosure::from(self.weight(i)));
        }
        for &(j, value) in coefficients {
            let (l1, l2) = (self.limits.l1[j], self.limits.l2[j]);
            sum.add_product(l1, value.abs());
            if l2 != 0.0 {
                sum.add_enclosure((Enclosure::product(value, value) * Enclosure::from(l2)).half());
            }
        }
        sum.value()
    }

    /// The slopes `u = w phi'(z)`, so far inside their domain that u* of the header is in it, too.
    pub(super) fn slopes(&self, z: &[f64], mu: &[f64]) -> Vec<f64> {
        let of = |(i, z): (usize, &f64)| self.weight(i) * self.loss.derivative(*z, self.data.y[i]);
        let mut u: Vec<f64> = z.iter().enumerate().map(of).collect();
        if self.data.y.first().is_none_or(|y| self.loss.dual_domain(*y).0.is_infinite()) {
            return u;
        }
        let Some(eta) = self.distances(&u, mu) else { return u };
        let most = eta.iter().copied().fold(0.0, f64::max);
        for (i, u) in u.iter_mut().enumerate() {
            let (low, high) = self.loss.dual_domain(self.data.y[i]);
            let weight = self.weight(i);
            let inside = (INSIDE * (high - low) * weight + 8.0 * most).min(0.25 * (high - low) * weight);
            *u = u.clamp(low * weight + inside, high * weight - inside);
        }
        u
    }

    /// How far u* of the header is from u, row by row; `None` where nothing is known.
    fn distances(&self, u: &[f64], mu: &[f64]) -> Option<Vec<f64>> {
        let norm_of_u = norm_above(u);
        let miss = |&j: &usize| {
            let (value, mut held, mut size) = (self.design.dot(j, u), 0.0, 0.0);
            for (c, mu) in self.constraints.column(j).iter().zip(mu) {
                held += c * mu;
                size += (c * mu).abs();
            }
            let rounding = (mu.len() + 3) as f64 * f64::EPSILON * (size + value.abs());
            let miss = (value + held).abs() + self.design.dot_error(j, norm_of_u) + rounding;
            above(miss / self.design.norm(j).max(f64::MIN_POSITIVE) * (1.0 + 1e-9))
        };
        let misses: Vec<f64> = self.basis.columns.iter().map(miss).collect();
        self.basis.distances(&misses, u.len())
    }

    /// A lower bound of P* from u, mu and bounds of `|x_j'u + C_j'mu|` of the penalised columns.
    pub(super) fn lower_bound(&self, u: &[f64], mu: &[f64], product_bound: impl Fn(usize) -> f64) -> f64 {
        let Some(eta) = self.distances(u, mu) else { return f64::NEG_INFINITY };
        let moved = norm_above(&eta);
        let (mut t, mut charge) = (1.0_f64, Enclosure::from(0.0));
        for (j, (&l1, &l2)) in self.limits.l1.iter().zip(&self.limits.l2).enumerate() {
            if l1 == 0.0 {
                continue;
            }
            let most = above(product_bound(j) + self.design.norm(j) * moved);
            if most <= l1 {
                continue;
            }
            if l2 > 0.0 {
                let beyond = Enclosure::difference(most, l1);
                charge += (beyond.square().over(Enclosure::from(l2))).half();
            } else {
                t = t.min(l1 / most * (1.0 - 4.0 * f64::EPSILON));
            }
        }
        if t.is_nan() || t <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let mut sum = Sum::default();
        for (i, (&u, &eta)) in u.iter().zip(&eta).enumerate() {
            let (y, weight) = (self.data.y[i], self.weight(i));
            let mut scaled = Enclosure::around(u, eta) * Enclosure::from(t);
            if weight != 1.0 {
                scaled = scaled.over(Enclosure::from(weight));
            }
            let (low, high) = self.loss.dual_domain(y);
            if !(scaled.lower() >= low && scaled.upper() <= high) {
                return f64::NEG_INFINITY;
            }
            sum.add_enclosure(-(self.loss.enclose_conjugate(scaled, y) * Enclosure::from(weight)));
        }
        let found = (sum.value() - charge).lower();
        if found.is_nan() { f64::NEG_INFINITY } else { found }
    }
}
