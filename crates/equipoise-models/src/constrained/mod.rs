//! Least squares under constraints,
//!
//! ```text
//! minimise  1/2 sum_i omega_i (x_i'w - y_i)^2 + rho/2 ||w||^2   subject to   l <= w <= u,  and   sum w = s   or   A w = b
//! ```
//!
//! - Given: a matrix of one column a weight, a target (or many), a [`Region`], [`Settings`].
//! - Returns: a [`Fit`]: w, its objective from above, a bound that no point of the region gets below, the multipliers.
//! - Must not know: files, names of columns, how results are shown.
//!
//! The simplex (`w >= 0, sum w = 1`: synthetic controls, stacking, unmixing), a scaled simplex, a box and `w >= 0` alone go
//! an exact way: a working set of columns, its Gram matrix, a primal-dual active set on it (`working.rs`, `active.rs`);
//! passes over all columns only choose the working set and prove the result (`proof.rs`). Equality rows go through
//! [`equipoise::Solver`], which moves pairs of blocks (`rows.rs`). Many targets share one Gram matrix (`many.rs`).
//!
//! ```
//! use equipoise::{Control, DenseMatrix, Status};
//! use equipoise_models::constrained::{Data, Region, Settings, Watch, fit};
//! // Which mixture of three donors is closest to the target?
//! let donors = DenseMatrix::from_columns(4, 3, vec![1., 2., 3., 4., 2., 1., 2., 1., 0., 1., 0., 3.])?;
//! let target = [1.5, 1.5, 2.5, 2.5];
//! let fit = fit(&Data::new(&donors), &target, &Region::simplex(3, 1.0), &Settings::default(), None, Watch::default())?;
//! assert_eq!(fit.status, Status::Converged);
//! assert!((fit.x[0] - 0.5).abs() < 1e-9 && (fit.x[1] - 0.5).abs() < 1e-9 && fit.x[2] == 0.0);
//! assert!(fit.bound <= fit.objective);
//! # Ok::<(), equipoise_models::constrained::Error>(())
//! ```

mod active;
mod dense;
mod error;
mod many;
mod passes;
mod proof;
mod region;
mod rows;
#[cfg(test)]
mod tests;
mod verify;
mod working;

use std::time::Instant;

use equipoise::{DenseMatrix, Status};

pub use error::Error;
pub use many::{fit_many, fit_many_watched};
pub use region::{Region, Rows};
pub use verify::verify;

/// What every fallible function here returns.
pub type Result<T> = std::result::Result<T, Error>;

/// The samples: a matrix of one column a weight, and how much each row counts.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// X, one row a sample.
    pub matrix: &'a DenseMatrix<'a>,
    /// omega, one a row, none negative; all 1 if not given.
    pub weights: Option<&'a [f64]>,
}

impl<'a> Data<'a> {
    /// Rows that count alike.
    pub fn new(matrix: &'a DenseMatrix<'a>) -> Self {
        Self { matrix, weights: None }
    }

    /// What gaps are measured against, of weights with this objective: it, or `sum_i omega_i y_i^2`, whichever is larger; the region
    /// may allow nothing that comes near the target. 1 where both are 0.
    fn scale(&self, target: &[f64], objective: f64) -> f64 {
        let squares = |(i, y): (usize, &f64)| self.weights.map_or(1.0, |weights| weights[i]) * y * y;
        let sum: f64 = target.iter().enumerate().map(squares).sum();
        let size = if objective.is_finite() { sum.max(objective) } else { sum };
        if size > 0.0 { size } else { 1.0 }
    }

    fn check(&self, target: &[f64]) -> Result<()> {
        let rows = self.matrix.rows();
        if target.len() != rows {
            return Err(Error::Length { what: "target", found: target.len(), expected: rows, unit: "row" });
        }
        if let Some(place) = target.iter().position(|y| !y.is_finite()) {
            let (what, expected) = ("target", "a finite number");
            return Err(Error::BadNumber { what, place: place + 1, found: target[place], expected });
        }
        Ok(())
    }

    fn check_samples(&self) -> Result<()> {
        let values = self.matrix.values();
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let (what, expected) = ("matrix, number in column order", "a finite number");
            return Err(Error::BadNumber { what, place: place + 1, found: values[place], expected });
        }
        let Some(weights) = self.weights else { return Ok(()) };
        let (rows, what) = (self.matrix.rows(), "sample weight");
        if weights.len() != rows {
            return Err(Error::Length { what, found: weights.len(), expected: rows, unit: "row" });
        }
        if let Some(place) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let expected = "a finite number of at least 0";
            return Err(Error::BadNumber { what, place: place + 1, found: weights[place], expected });
        }
        Ok(())
    }
}

/// The choices of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// rho of `rho/2 ||w||^2`.
    pub ridge: f64,
    /// The largest gap between objective and bound, relative to `sum_i omega_i y_i^2`, or the objective where that is larger.
    pub gap: f64,
    /// Threads that work on the fit; they change no bit of it.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { ridge: 0.0, gap: 1e-6, threads: 1 }
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            let expected = "a finite number of at least 0";
            return Err(Error::BadSetting { name: "ridge", found: self.ridge, expected });
        }
        if !(self.gap > 0.0 && self.gap < 1.0) {
            let expected = "a number above 0 and below 1";
            return Err(Error::BadSetting { name: "gap", found: self.gap, expected });
        }
        if self.threads == 0 {
            return Err(Error::BadSetting { name: "threads", found: 0.0, expected: "1 or more" });
        }
        Ok(())
    }
}

/// Weights, and what is known of them.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Fit {
    /// Why the fit ended; only `Converged` means that the gap is met.
    pub status: Status,
    /// w.
    pub x: Vec<f64>,
    /// A number that the objective at w does not exceed.
    pub objective: f64,
    /// A number that no point of the region gets below.
    pub bound: f64,
    /// `(objective - bound) / max(sum_i omega_i y_i^2, objective)`, at least 0.
    pub relative_gap: f64,
    /// Multipliers of the rows: of `L = f + sum_k lambda_k (a_k'w - b_k)`; none where there is no row.
    pub multipliers: Vec<f64>,
    /// By how much a row is missed, relative to its own terms.
    pub infeasibility: f64,
    /// R where the bound holds only for points with no coordinate beyond R in size.
    pub holds_within: Option<f64>,
    /// What did the work: `active set` or a method of the solver.
    pub method: &'static str,
    /// Rounds of the working set, or epochs of the solver.
    pub rounds: usize,
    /// Seconds that it took.
    pub seconds: f64,
}

/// One observation of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// Rounds so far.
    pub round: usize,
    /// Columns in the working set.
    pub columns: usize,
    /// Seconds since the start.
    pub seconds: f64,
    /// The objective, in plain arithmetic.
    pub objective: f64,
    /// The bound, in plain arithmetic; `-inf` where there is none yet.
    pub bound: f64,
    /// `(objective - bound) / max(sum_i omega_i y_i^2, objective)`, at least 0.
    pub relative_gap: f64,
}

/// Who is told about rounds, and who may end the fit. An ended fit has the best point so far.
pub type Watch<'a> = equipoise::Watch<'a, dyn FnMut(&Round) + 'a>;

/// Fits weights to one target, from a start where one is given (it need not be in the region).
pub fn fit(
    data: &Data<'_>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Fit> {
    let begun = Instant::now();
    settings.check()?;
    data.check_samples()?;
    data.check(target)?;
    region.check(data.matrix.columns())?;
    check_start(start, data)?;
    let mut fit = match (region.is_bounded_enough(settings.ridge), &region.rows) {
        (true, Rows::None | Rows::Sum(_)) => working::fit(data, target, region, settings, start, watch)?,
        _ => rows::fit(data, target, region, settings, start, watch)?,
    };
    fit.seconds = begun.elapsed().as_secs_f64();
    Ok(fit)
}

fn check_start(start: Option<&[f64]>, data: &Data<'_>) -> Result<()> {
    let Some(start) = start else { return Ok(()) };
    let columns = data.matrix.columns();
    if start.len() != columns {
        return Err(Error::Length { what: "start", found: start.len(), expected: columns, unit: "column" });
    }
    if let Some(place) = start.iter().position(|value| !value.is_finite()) {
        let (what, expected) = ("start", "a finite number");
        return Err(Error::BadNumber { what, place: place + 1, found: start[place], expected });
    }
    Ok(())
}
