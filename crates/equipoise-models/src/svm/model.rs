//! What training leaves behind: weights and a bias for every decision function.

use super::{Kind, Loss};
use equipoise::matrix::Rows;
use equipoise::{Control, Pass};

/// A linear model. For two labels there is one decision function, positive for the larger label; for several
/// there is one a label, positive for that label, and the largest wins.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// What was learnt.
    pub kind: Kind,
    /// The loss it was learnt with.
    pub loss: Loss,
    /// The labels in ascending order; empty for regression and one-class models.
    pub labels: Vec<f64>,
    /// C.
    pub cost: f64,
    /// nu.
    pub nu: f64,
    /// The half-width of the tube of a regression.
    pub epsilon: f64,
    /// Labels and the factors by which they multiplied C; labels not named had 1.
    pub class_weights: Vec<(f64, f64)>,
    /// The weights of every decision function, one number a column.
    pub weights: Vec<Vec<f64>>,
    /// The bias of every decision function.
    pub bias: Vec<f64>,
}

impl LinearModel {
    /// The value of decision function k at row i: `w_k . x_i + b_k`.
    pub fn decision(&self, k: usize, rows: &Rows<'_>, i: usize) -> f64 {
        rows.dot(i, &self.weights[k]) + self.bias[k]
    }

    /// The label of row i; for a regression its value; for a one-class model 1 inside and -1 outside.
    pub fn predict_row(&self, rows: &Rows<'_>, i: usize) -> f64 {
        match self.kind {
            Kind::Svr => self.decision(0, rows, i),
            Kind::OneClass => {
                if self.decision(0, rows, i) >= 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            Kind::Svc | Kind::NuSvc if self.weights.len() == 1 => {
                self.labels[usize::from(self.decision(0, rows, i) > 0.0)]
            }
            Kind::Svc | Kind::NuSvc => {
                let value = |k: usize| self.decision(k, rows, i);
                let best = (1..self.labels.len())
                    .fold((0, value(0)), |best, k| if value(k) > best.1 { (k, value(k)) } else { best });
                self.labels[best.0]
            }
        }
    }

    /// The values of all decision functions at every row, row after row, as a pass that may be ended.
    pub fn decisions_within(&self, rows: &Rows<'_>, control: &Control) -> Pass<Vec<f64>> {
        let functions = self.weights.len();
        let mut found = Vec::with_capacity(rows.len() * functions);
        control.in_parts(rows.len(), self.numbers_per_row(rows), |part| {
            for i in part {
                found.extend((0..functions).map(|k| self.decision(k, rows, i)));
            }
        })?;
        Ok(found)
    }

    /// The prediction of every row.
    pub fn predict(&self, rows: &Rows<'_>) -> Vec<f64> {
        self.predict_within(rows, &Control::unlimited()).expect("nothing ends it")
    }

    /// The same as a pass that may be ended.
    pub fn predict_within(&self, rows: &Rows<'_>, control: &Control) -> Pass<Vec<f64>> {
        let mut found = Vec::with_capacity(rows.len());
        control.in_parts(rows.len(), self.numbers_per_row(rows), |part| {
            found.extend(part.map(|i| self.predict_row(rows, i)));
        })?;
        Ok(found)
    }

    /// About how many numbers a prediction reads.
    fn numbers_per_row(&self, rows: &Rows<'_>) -> usize {
        (1 + rows.entries().div_ceil(rows.len().max(1))).saturating_mul(2 * self.weights.len())
    }

    /// The share of rows predicted right; for a regression the mean squared error.
    pub fn score(&self, rows: &Rows<'_>, labels: &[f64]) -> f64 {
        self.score_within(rows, labels, &Control::unlimited()).expect("nothing ends it")
    }

    /// The same as a pass that may be ended.
    pub fn score_within(&self, rows: &Rows<'_>, labels: &[f64], control: &Control) -> Pass<f64> {
        let one = |i: usize| {
            let found = self.predict_row(rows, i);
            if self.kind == Kind::Svr { (found - labels[i]).powi(2) } else { f64::from(found == labels[i]) }
        };
        let mut total = 0.0;
        control.in_parts(rows.len(), self.numbers_per_row(rows), |part| {
            for i in part {
                total += one(i);
            }
        })?;
        Ok(total / rows.len().max(1) as f64)
    }
}
