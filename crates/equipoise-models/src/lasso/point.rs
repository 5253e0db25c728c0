//! A fit at one lambda, with what is proven of it.

use equipoise::Status;

/// Coefficients, and bounds that hold in exact arithmetic for them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// Whether the gap is what was wanted.
    pub status: Status,
    /// The weight of the penalty.
    pub lambda: f64,
    /// At least the objective at the coefficients.
    pub objective: f64,
    /// At most the least objective there is.
    pub bound: f64,
    /// `(objective - bound) / objective`, rounded up.
    pub relative_gap: f64,
    /// At least the largest miss of a constraint, relative to its terms.
    pub relative_infeasibility: f64,
    /// The intercept, where there is one.
    pub intercept: Option<f64>,
    /// By column of X.
    pub coefficients: Vec<f64>,
    /// How many coefficients are not 0.
    pub nonzeros: usize,
    /// A multiplier for each constraint.
    pub multipliers: Vec<f64>,
    /// How many walks the active set has taken so far.
    pub walks: u64,
    /// How many products of a column with the residual were taken so far.
    pub products: u64,
}

impl Point {
    /// The prediction for a row of X.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.intercept.unwrap_or(0.0) + equipoise::matrix::dot(&self.coefficients, row)
    }
}
