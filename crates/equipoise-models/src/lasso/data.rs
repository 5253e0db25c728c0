//! The rows to learn from, checked.

use equipoise::{Control, Matrix};

use super::error::{Error, Result};
use super::settings::{Loss, Settings};

/// X, y, and a weight for each row if they are not all 1.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// A row for each sample.
    pub x: &'a Matrix<'a>,
    /// The target; labels -1 and +1 for the logistic loss.
    pub y: &'a [f64],
    /// Weights above 0.
    pub weights: Option<&'a [f64]>,
}

impl Data<'_> {
    /// Refuses what no fit can use, and columns that say nothing.
    pub(super) fn check(&self, settings: &Settings, control: &Control) -> Result<()> {
        let rows = self.x.rows();
        if rows == 0 || self.x.columns() == 0 {
            return Err(equipoise::Error::EmptyProblem.into());
        }
        self.check_vector("the target", self.y, f64::is_finite, "a finite number is needed")?;
        if let Some(weights) = self.weights {
            let is_weight = |w: f64| w > 0.0 && w.is_finite();
            self.check_vector(
                "the weights",
                weights,
                is_weight,
                "a weight must be above 0; leave such rows out",
            )?;
        }
        if settings.loss == Loss::Logistic {
            let is_label = |y: f64| y.abs() == 1.0;
            self.check_vector("the target", self.y, is_label, "the logistic loss wants labels -1 and +1")?;
            if let Some(first) = self.y.first().filter(|first| self.y.iter().all(|y| y == *first)) {
                let allowed = "both labels must occur";
                return Err(Error::Entry { input: "the target", row: 0, column: 0, found: *first, allowed });
            }
        }
        let mut fault = None;
        control.in_parts(self.x.columns(), rows, |part| {
            part.for_each(|j| {
                if fault.is_none() {
                    fault = self.fault_of_column(j, settings);
                }
            });
        })?;
        fault.map_or(Ok(()), Err)
    }

    fn check_vector(
        &self,
        input: &'static str,
        v: &[f64],
        is_good: impl Fn(f64) -> bool,
        allowed: &'static str,
    ) -> Result<()> {
        if v.len() != self.x.rows() {
            return Err(Error::Length { input, found: v.len(), rows: self.x.rows() });
        }
        match v.iter().position(|v| !is_good(*v)) {
            Some(row) => Err(Error::Entry { input, row, column: 0, found: v[row], allowed }),
            None => Ok(()),
        }
    }

    fn fault_of_column(&self, j: usize, settings: &Settings) -> Option<Error> {
        let allowed = "a finite number is needed";
        let wrong = |(row, found): (usize, f64)| Error::Entry { input: "X", row, column: j, found, allowed };
        let is_wrong = |found: f64| !found.is_finite();
        let (first, is_constant) = match self.x {
            Matrix::Dense(dense) => {
                let column = dense.column(j);
                if let Some(row) = column.iter().position(|v| is_wrong(*v)) {
                    return Some(wrong((row, column[row])));
                }
                (column[0], column.iter().all(|v| *v == column[0]))
            }
            Matrix::Sparse(sparse) => {
                if let Some(found) = sparse.column(j).find(|(_, v)| is_wrong(*v)) {
                    return Some(wrong(found));
                }
                let (mut count, mut value) = (0, 0.0);
                let is_one = sparse.column(j).all(|(_, v)| {
                    count += 1;
                    let is_same = count == 1 || v == value;
                    value = v;
                    is_same
                });
                (value, is_one && (count == self.x.rows() || value == 0.0))
            }
        };
        // A column of zeros is a coefficient of 0, and a reference in a constraint.
        let matters = settings.intercept && first != 0.0 && self.x.rows() > 1;
        (is_constant && matters).then_some(Error::ConstantColumn { column: j, value: first })
    }
}
