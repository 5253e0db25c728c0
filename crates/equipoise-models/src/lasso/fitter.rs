//! One regression at one lambda after the other: working columns outside, the exact minimiser inside, a proof at the end.
//!
//! ```text
//! until no column outside is beyond its limit:
//!     minimise over the working columns           squares: one quadratic; other losses: Newton's method with a line search
//!     u = w phi'(z), settle every |x_j'u + C_j'mu|  only columns that can matter are evaluated
//!     take in those beyond their limit
//! prove
//! ```
//!
//! - Given: data, settings, lambda; the last fit is where the next begins.
//! - Returns: coefficients, multipliers, bounds, a status.
//! - Must not know: paths, folds, files.

use equipoise::smooth::loss::ScalarLoss;
use equipoise::{Control, Halt, Pass, Status};

use super::constraints::Constraints;
use super::correlations::Correlations;
use super::data::Data;
use super::design::Design;
use super::error::{Error, Result};
use super::lambda_max::{Pull, lambda_max};
use super::point::Point;
use super::proof::{Claim, DualBasis, Proof};
use super::settings::Settings;
use super::working::{Limits, Model, Working};

/// A slope beyond its limit by this share is taken in.
const BEYOND: f64 = 1e-9;
/// The least curvature of a loss in Newton's model, as a share of the largest.
const LEAST_CURVATURE: f64 = 1e-5;
/// What a row of constraints may miss, relative to its terms.
const ALLOWED_MISS: f64 = 1e-9;
/// Seconds that the last proof of an ended fit may take.
const PATIENCE: f64 = 0.05;

/// What a proof bounds the columns' products by.
#[derive(Clone, Copy, PartialEq)]
enum Products {
    /// What is known of them, however loose.
    Known,
    /// Those that a known bound does not settle are taken anew.
    AsNeeded,
}

/// Data and settings, checked, and where the last fit ended.
#[derive(Debug)]
pub struct Fitter<'a> {
    data: Data<'a>,
    design: Design<'a>,
    loss: Box<dyn ScalarLoss>,
    constraints: Constraints,
    factors: Vec<f64>,
    l1_ratio: f64,
    gap: f64,
    basis: DualBasis,
    working: Working,
    /// By column: whether it is in the working set.
    is_working: Vec<bool>,
    correlations: Correlations,
    z: Vec<f64>,
    u: Vec<f64>,
    limits: Limits,
    lambda_max: f64,
    last_lambda: f64,
}

impl<'a> Fitter<'a> {
    /// Checks data and settings, fits what is not penalised, and finds `lambda_max`.
    pub fn new(data: Data<'a>, settings: &Settings, control: &Control) -> Result<Self> {
        data.check(settings, control)?;
        Self::of_checked(data, settings, control)
    }

    /// The same for parts of data that were checked as a whole.
    pub(super) fn of_checked(data: Data<'a>, settings: &Settings, control: &Control) -> Result<Self> {
        let columns = data.x.columns();
        settings.check(columns)?;
        let constraints = match &settings.constraints {
            Some(rows) => Constraints::new(rows, columns, settings.intercept)?,
            None => Constraints::none(),
        };
        let design = Design::new(data.x, settings.intercept, settings.threads, control)?;
        let mut factors = settings.penalties.clone().unwrap_or_else(|| vec![1.0; columns]);
        factors.extend(design.intercept().map(|_| 0.0));
        let free: Vec<usize> = (0..factors.len()).filter(|&j| factors[j] == 0.0).collect();
        let basis = DualBasis::new(free.clone(), &design, &constraints);
        let mut fitter = Self {
            data,
            loss: settings.loss.term()?,
            constraints,
            l1_ratio: settings.l1_ratio,
            gap: settings.gap,
            basis,
            working: Working::default(),
            is_working: vec![false; factors.len()],
            correlations: Correlations::new(factors.len()),
            z: vec![0.0; design.rows()],
            u: Vec::new(),
            limits: Limits::default(),
            lambda_max: 0.0,
            last_lambda: f64::INFINITY,
            design,
            factors,
        };
        fitter.fit_unpenalised(&free, control)?;
        Ok(fitter)
    }

    /// The smallest lambda at which every penalised coefficient is 0.
    pub fn lambda_max(&self) -> f64 {
        self.lambda_max
    }

    fn claim(&self) -> Claim<'_> {
        Claim {
            data: self.data,
            design: &self.design,
            loss: self.loss.as_ref(),
            limits: &self.limits,
            constraints: &self.constraints,
            basis: &self.basis,
        }
    }

    fn set_lambda(&mut self, lambda: f64) {
        let (l1, l2) = (lambda * self.l1_ratio, lambda * (1.0 - self.l1_ratio));
        self.limits.l1.clear();
        self.limits.l1.extend(self.factors.iter().map(|factor| factor * l1));
        self.limits.l2.clear();
        self.limits.l2.extend(self.factors.iter().map(|factor| factor * l2));
    }

    fn fit_unpenalised(&mut self, free: &[usize], control: &Control) -> Result<()> {
        self.set_lambda(1.0);
        self.take_in(free, control)?;
        self.minimise(control)?;
        self.refresh(control)?;
        let m = self.constraints.count();
        // The multipliers that the columns not penalised leave free.
        let mut square = vec![vec![0.0; m]; m];
        for &j in free {
            let c = self.constraints.column(j);
            for (row, t) in square.iter_mut().zip(c) {
                equipoise::matrix::axpy(*t, c, row);
            }
        }
        let spectrum = super::balance::Spectrum::of(square);
        let directions = if m == 0 { Vec::new() } else { spectrum.null_space() };
        let mu = &self.working.multipliers;
        let pulls: Vec<Pull> = (0..self.factors.len())
            .filter(|&j| self.factors[j] > 0.0)
            .map(|j| {
                let c = self.constraints.column(j);
                Pull {
                    slope: self.correlations.value(j) + self.constraints.dot(j, mu),
                    factor: self.factors[j] * self.l1_ratio,
                    along: directions.iter().map(|direction| equipoise::matrix::dot(c, direction)).collect(),
                }
            })
            .collect();
        let (largest, nu) = lambda_max(&pulls, directions.len());
        let mut mu = mu.clone();
        for (direction, nu) in directions.iter().zip(&nu) {
            equipoise::matrix::axpy(*nu, direction, &mut mu);
        }
        self.working.multipliers = mu;
        // Products within rounding of 0 are 0.
        let size = self.u.iter().map(|u| u.abs()).fold(0.0, f64::max) * self.design.rows() as f64;
        let noise = (0..self.factors.len()).map(|j| self.design.norm(j)).fold(0.0, f64::max) * size * 1e-15;
        self.lambda_max = if largest <= noise { 0.0 } else { largest };
        Ok(())
    }

    /// Takes columns in, with their slopes now.
    fn take_in(&mut self, columns: &[usize], control: &Control) -> Pass {
        if self.u.is_empty() {
            self.u = self.slopes();
        }
        let (design, u) = (&self.design, &self.u);
        let slopes = design.map_list(columns, |j| design.dot(j, u), control)?;
        self.working.take_in(columns, &slopes);
        columns.iter().for_each(|&j| self.is_working[j] = true);
        Ok(())
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weights.map_or(1.0, |weights| weights[i])
    }

    /// `u = w phi'(z)`.
    fn slopes(&self) -> Vec<f64> {
        let of = |(i, z): (usize, &f64)| self.weight(i) * self.loss.derivative(*z, self.data.y[i]);
        self.z.iter().enumerate().map(of).collect()
    }

    /// Begins at these coefficients, the intercept last where there is one.
    pub fn start_at(&mut self, coefficients: &[f64], control: &Control) -> Result<()> {
        if coefficients.len() != self.factors.len() {
            let (input, found) = ("the start", coefficients.len());
            return Err(Error::Length { input, found, rows: self.factors.len() });
        }
        let new: Vec<usize> =
            (0..coefficients.len()).filter(|&j| coefficients[j] != 0.0 && !self.is_working[j]).collect();
        self.take_in(&new, control)?;
        for slot in 0..self.working.columns().len() {
            self.working.start_at(slot, coefficients[self.working.columns()[slot]]);
        }
        self.refresh(control)?;
        let slots: Vec<usize> = self.working.columns().to_vec();
        let (design, u) = (&self.design, &self.u);
        self.working.slopes = design.map_list(&slots, |j| design.dot(j, u), control)?;
        Ok(())
    }

    /// The coefficients that are not 0, by column.
    fn coefficients(&self) -> Vec<(usize, f64)> {
        let pairs = self.working.columns().iter().zip(&self.working.beta);
        let mut list: Vec<(usize, f64)> =
            pairs.filter(|(_, beta)| **beta != 0.0).map(|(j, beta)| (*j, *beta)).collect();
        list.sort_unstable_by_key(|one| one.0);
        list
    }

    /// Predictions, slopes and products anew, from the coefficients.
    fn refresh(&mut self, control: &Control) -> Pass {
        let z = self.claim().predict(&self.coefficients()).z;
        self.z = z;
        self.u = self.slopes();
        self.correlations.move_to(&self.u, &self.design, control)
    }

    /// Minimises over the working columns.
    fn minimise(&mut self, control: &Control) -> Pass {
        if self.loss.is_square() {
            let model = Model {
                design: &self.design,
                curvature: self.data.weights,
                limits: &self.limits,
                constraints: &self.constraints,
            };
            return self.working.minimise(model, control);
        }
        self.newton(control)
    }

    fn penalty(&self, beta: &[f64]) -> f64 {
        let of = |(&j, beta): (&usize, &f64)| {
            self.limits.l1[j] * beta.abs() + self.limits.l2[j] / 2.0 * beta * beta
        };
        self.working.columns().iter().zip(beta).map(of).sum()
    }

    fn loss_at(&self, z: &[f64]) -> f64 {
        z.iter().enumerate().map(|(i, z)| self.weight(i) * self.loss.value(*z, self.data.y[i])).sum()
    }

    /// Newton's method on the working columns.
    fn newton(&mut self, control: &Control) -> Pass {
        let slots: Vec<usize> = self.working.columns().to_vec();
        let least = LEAST_CURVATURE * self.loss.largest_curvature();
        let mut objective = self.loss_at(&self.z) + self.penalty(&self.working.beta);
        let mut last_promised = f64::INFINITY;
        for _ in 0..200 {
            control.check()?;
            let curvature: Vec<f64> = (0..self.z.len())
                .map(|i| self.weight(i) * self.loss.second_derivative(self.z[i], self.data.y[i]).max(least))
                .collect();
            self.u = self.slopes();
            let (design, u) = (&self.design, &self.u);
            self.working.slopes = design.map_list(&slots, |j| design.dot(j, u), control)?;
            let (before, slopes) = (self.working.beta.clone(), self.working.slopes.clone());
            self.working.forget_products();
            let model = Model {
                design,
                curvature: Some(&curvature),
                limits: &self.limits,
                constraints: &self.constraints,
            };
            if let Err(halt) = self.working.minimise(model, control) {
                self.working.beta = before;
                return Err(halt);
            }
            let mut along = vec![0.0; self.z.len()];
            let mut promised = self.penalty(&self.working.beta) - self.penalty(&before);
            for (slot, &j) in slots.iter().enumerate() {
                let step = self.working.beta[slot] - before[slot];
                if step != 0.0 {
                    design.add(j, step, &mut along);
                    promised += slopes[slot] * step;
                }
            }
            let after = self.working.beta.clone();
            let mut length = 1.0;
            let (mut z, mut beta, mut found);
            loop {
                z = self.z.clone();
                equipoise::matrix::axpy(length, &along, &mut z);
                beta = if length == 1.0 {
                    after.clone()
                } else {
                    before.iter().zip(&after).map(|(b, a)| b + length * (a - b)).collect()
                };
                found = self.loss_at(&z) + self.penalty(&beta);
                // Where the promise is below rounding the full step is trusted.
                if found <= objective + 1e-4 * length * promised + 1e-14 * objective.abs() || length < 1e-10 {
                    break;
                }
                length /= 2.0;
            }
            if length < 1e-10 {
                self.working.beta = before;
                break;
            }
            let is_done = promised.abs() <= 1e-24 * objective.abs()
                || (promised.abs() <= 1e-14 * objective.abs() && promised.abs() >= 0.5 * last_promised);
            last_promised = promised.abs();
            (self.z, self.working.beta, objective) = (z, beta, found);
            if is_done {
                break;
            }
        }
        self.u = self.slopes();
        let (design, u) = (&self.design, &self.u);
        self.working.slopes = design.map_list(&slots, |j| design.dot(j, u), control)?;
        Ok(())
    }

    /// Fits at a lambda, from where the last fit ended. A wish to stop gives what there is by then.
    pub fn fit(&mut self, lambda: f64, control: &Control) -> Result<Point> {
        if !(lambda > 0.0 && lambda.is_finite()) {
            let allowed = "it must be positive and finite";
            return Err(Error::Setting { name: "lambda", found: lambda, allowed });
        }
        self.set_lambda(lambda);
        match self.run(lambda, control) {
            Ok(point) => Ok(point),
            Err(Halt::Fault(fault)) => Err(Halt::Fault(fault).into()),
            Err(halt) => {
                let status = if halt == Halt::Interrupted { Status::Interrupted } else { Status::TimeLimit };
                let nothing = Proof { objective: f64::INFINITY, bound: f64::NEG_INFINITY };
                let proof = self.prove(&control.afterwards(PATIENCE), Products::Known).unwrap_or(nothing);
                Ok(self.point(lambda, proof, status))
            }
        }
    }

    fn run(&mut self, lambda: f64, control: &Control) -> Pass<Point> {
        self.choose_columns(lambda, control)?;
        let mut last_gap = f64::INFINITY;
        for _ in 0..1000 {
            self.minimise(control)?;
            self.refresh(control)?;
            let Limits { l1, .. } = &self.limits;
            let mu = &self.working.multipliers;
            self.correlations.settle(l1, &self.design, &self.constraints, mu, control)?;
            let outside = self.outside();
            if !outside.is_empty() {
                self.take_in(&outside, control)?;
                continue;
            }
            let proof = self.prove(control, Products::AsNeeded)?;
            let point = self.point(lambda, proof, Status::Converged);
            if point.relative_gap <= self.gap && point.relative_infeasibility <= ALLOWED_MISS {
                self.last_lambda = lambda;
                return Ok(point);
            }
            let gap = proof.objective - proof.bound;
            if gap.is_nan() || gap >= 0.5 * last_gap {
                self.last_lambda = lambda;
                return Ok(Point { status: Status::Stalled, ..point });
            }
            last_gap = gap;
            // What rounding left: slopes from raw data, and once more.
            let slots: Vec<usize> = self.working.columns().to_vec();
            let (design, u) = (&self.design, &self.u);
            self.working.slopes = design.map_list(&slots, |j| design.dot(j, u), control)?;
        }
        let proof = self.prove(control, Products::AsNeeded)?;
        Ok(self.point(lambda, proof, Status::Stalled))
    }

    /// The columns that are likely to matter: those within reach of the limit, were slopes to change as lambda does.
    fn choose_columns(&mut self, lambda: f64, control: &Control) -> Pass {
        let before = self.last_lambda.min(self.lambda_max.max(lambda));
        let mu = &self.working.multipliers;
        let pull = |j: usize| {
            let slope = self.correlations.value(j) + self.constraints.dot(j, mu);
            slope.abs() / (self.factors[j] * self.l1_ratio)
        };
        let outside = (0..self.factors.len()).filter(|&j| self.factors[j] > 0.0 && !self.is_working[j]);
        let mut list: Vec<(f64, usize)> =
            outside.map(|j| (pull(j), j)).filter(|(pull, _)| *pull >= 2.0 * lambda - before).collect();
        let most = (self.working.columns().len() / 2).max(self.design.rows() / 4).clamp(16, 2000);
        if list.len() > most {
            list.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0));
            list.truncate(most);
        }
        let columns: Vec<usize> = list.into_iter().map(|one| one.1).collect();
        self.take_in(&columns, control)
    }

    /// The columns outside that are beyond their limit; the worst of them, where there are many.
    fn outside(&self) -> Vec<usize> {
        let mu = &self.working.multipliers;
        let mut list: Vec<(f64, usize)> = Vec::new();
        for j in 0..self.factors.len() {
            if self.is_working[j] || self.factors[j] == 0.0 {
                continue;
            }
            let slope = self.correlations.value(j) + self.constraints.dot(j, mu);
            let share = slope.abs() / self.limits.l1[j];
            if share > 1.0 + BEYOND {
                list.push((share, j));
            }
        }
        let most = self.working.columns().len().max(64);
        if list.len() > most {
            list.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0));
            list.truncate(most);
        }
        list.into_iter().map(|one| one.1).collect()
    }

    /// Bounds of the fit as it is.
    fn prove(&mut self, control: &Control, products: Products) -> Pass<Proof> {
        let coefficients = self.coefficients();
        let claim = self.claim();
        let predictions = claim.predict(&coefficients);
        let objective = claim.objective(&coefficients, &predictions).upper();
        let u = claim.slopes(&predictions.z, &self.working.multipliers);
        let is_known = u == self.u;
        if !is_known {
            self.correlations.move_to(&u, &self.design, control)?;
        }
        if !is_known && products == Products::AsNeeded {
            let mu = &self.working.multipliers;
            self.correlations.settle(&self.limits.l1, &self.design, &self.constraints, mu, control)?;
        }
        let claim = self.claim();
        let mu = &self.working.multipliers;
        let product = |j| self.correlations.bound(j, &self.design, &self.constraints, mu);
        let bound = claim.lower_bound(&u, mu, product);
        let objective = if objective.is_nan() { f64::INFINITY } else { objective };
        // No loss and no penalty here is negative.
        Ok(Proof { objective, bound: bound.max(0.0) })
    }

    /// What is proven of coefficients that somebody claims, the intercept last where there is one.
    pub(super) fn judge(&mut self, lambda: f64, claimed: &[f64], control: &Control) -> Result<Point> {
        let own = self.fit(lambda, control)?;
        let list: Vec<(usize, f64)> =
            claimed.iter().copied().enumerate().filter(|one| one.1 != 0.0).collect();
        let claim = self.claim();
        let objective = claim.objective(&list, &claim.predict(&list)).upper();
        let objective = if objective.is_nan() { f64::INFINITY } else { objective };
        let point = self.point_of(&list, lambda, Proof { objective, bound: own.bound }, own.status);
        let is_met = point.relative_gap <= self.gap && point.relative_infeasibility <= ALLOWED_MISS;
        let status = match own.status {
            Status::Converged | Status::Stalled if is_met => Status::Converged,
            Status::Converged => Status::Stalled,
            other => other,
        };
        Ok(Point { status, ..point })
    }

    fn point(&self, lambda: f64, proof: Proof, status: Status) -> Point {
        self.point_of(&self.coefficients(), lambda, proof, status)
    }

    fn point_of(&self, list: &[(usize, f64)], lambda: f64, proof: Proof, status: Status) -> Point {
        let columns = self.data.x.columns();
        let mut coefficients = vec![0.0; columns];
        let mut intercept = self.design.intercept().map(|_| 0.0);
        for &(j, value) in list {
            match coefficients.get_mut(j) {
                Some(coefficient) => *coefficient = value,
                None => intercept = Some(value),
            }
        }
        let nonzeros = coefficients.iter().filter(|value| **value != 0.0).count();
        let gap = (proof.objective - proof.bound).max(0.0);
        let relative_gap =
            if gap == 0.0 { 0.0 } else { equipoise::enclosure::above(gap / proof.objective.abs()) };
        Point {
            status,
            lambda,
            objective: proof.objective,
            bound: proof.bound,
            relative_gap: if relative_gap.is_nan() { f64::INFINITY } else { relative_gap },
            relative_infeasibility: self.constraints.relative_infeasibility(&coefficients),
            intercept,
            coefficients,
            nonzeros,
            multipliers: self.constraints.multipliers_as_given(&self.working.multipliers),
            walks: self.working.walks,
            products: self.correlations.evaluated,
        }
    }
}
