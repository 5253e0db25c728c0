//! A problem still without right-hand side and name, and the changes that special families make.
//!
//! A draft remembers a point in the domain of h; finishing sets b to A times that point, so every
//! change to A keeps the problem feasible.

use crate::instance::{Coupling, Dense, Instance, Separable, Smooth};
use crate::penalty::{divide, multiply};

/// A problem in the making.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) instance: Instance,
    /// A point in the domain of h.
    pub(super) start: Vec<f64>,
    pub(super) seed: u64,
}

impl Draft {
    /// Sets b and the name.
    pub(super) fn finish(mut self, family: &str) -> Instance {
        let n = self.instance.dimension;
        let product = self.instance.coupling.equations(n).0.times(&self.start);
        match &mut self.instance.coupling {
            Coupling::None => {}
            Coupling::Sum(rhs) | Coupling::Row { rhs, .. } => *rhs = product[0],
            Coupling::BlockSum(rhs) | Coupling::Rows { rhs, .. } => rhs.copy_from_slice(&product),
        }
        let instance = &self.instance;
        let rows = match &instance.coupling {
            Coupling::BlockSum(rhs) | Coupling::Rows { rhs, .. } => rhs.len().to_string(),
            _ => String::new(),
        };
        let kinds = [
            family.to_owned(),
            instance.smooth.kind().to_owned(),
            instance.separable.kind().to_owned(),
            instance.coupling.kind().to_owned() + &rows,
            instance.blocks.kind().to_owned(),
            format!("n{n}"),
            format!("seed{}", self.seed),
        ];
        self.instance.name = kinds[usize::from(family.is_empty())..].join("/");
        self.instance
    }

    /// Makes some columns of every matrix in f zero (and their linear coefficients).
    pub(super) fn zero_columns_of_f(mut self, columns: &[usize]) -> Self {
        change_terms(&mut self.instance.smooth, &mut |term| match term {
            Smooth::Quadratic { q, c } => columns.iter().for_each(|column| {
                (0..q.rows).for_each(|r| q.row_mut(r)[*column] = 0.0);
                q.row_mut(*column).fill(0.0);
                c[*column] = 0.0;
            }),
            Smooth::Factor { m, c } => {
                zero_columns(m, columns);
                for column in columns {
                    c[*column] = 0.0;
                }
            }
            other => {
                if let Some(m) = matrix_of(other) {
                    zero_columns(m, columns);
                }
            }
        });
        self
    }

    /// Makes some columns of A zero.
    pub(super) fn zero_columns_of_a(mut self, columns: &[usize]) -> Self {
        match &mut self.instance.coupling {
            Coupling::Row { weights, .. } => columns.iter().for_each(|column| weights[*column] = 0.0),
            Coupling::Rows { matrix, .. } => zero_columns(matrix, columns),
            _ => {}
        }
        self
    }

    /// Repeats the first row, doubled, and the sum of the first and last row.
    pub(super) fn redundant_rows(mut self) -> Self {
        if let Coupling::Rows { matrix, rhs } = &mut self.instance.coupling {
            let (first, last) = (matrix.row(0).to_vec(), matrix.row(matrix.rows - 1).to_vec());
            let doubled: Vec<f64> = first.iter().map(|a| 2.0 * a).collect();
            let sum: Vec<f64> = first.iter().zip(&last).map(|(a, b)| a + b).collect();
            for row in [first, doubled, sum] {
                matrix.data.extend(row);
                matrix.rows += 1;
                rhs.push(0.0);
            }
        }
        self
    }

    /// Fixes some coordinates at the remembered point: lower = upper.
    pub(super) fn fix(mut self, columns: &[usize]) -> Self {
        if let Separable::Box { lower, upper } | Separable::L1Box { lower, upper, .. } =
            &mut self.instance.separable
        {
            for column in columns {
                lower[*column] = self.start[*column];
                upper[*column] = self.start[*column];
            }
        }
        self
    }

    /// The same problem in the variable `x_c / scale_c`: same optimal value. A sum or a block sum
    /// needs one scale for all, groups one per block.
    pub(super) fn rescale(mut self, scale: &[f64]) -> Self {
        change_terms(&mut self.instance.smooth, &mut |term| rescale_term(term, scale));
        match &mut self.instance.coupling {
            Coupling::Row { weights, .. } => multiply(weights, scale),
            Coupling::Rows { matrix, .. } => {
                (0..matrix.rows).for_each(|r| multiply(matrix.row_mut(r), scale));
            }
            Coupling::None | Coupling::Sum(_) | Coupling::BlockSum(_) => {}
        }
        let boundaries = self.instance.blocks.boundaries(self.instance.dimension).unwrap_or_default();
        self.instance.separable.rescale(scale, &boundaries);
        divide(&mut self.start, scale);
        self
    }

    /// Multiplies the rows of A, the factors taken in turn.
    pub(super) fn scale_rows(mut self, factors: &[f64]) -> Self {
        match &mut self.instance.coupling {
            Coupling::Row { weights, .. } => weights.iter_mut().for_each(|a| *a *= factors[0]),
            Coupling::Rows { matrix, .. } => (0..matrix.rows).for_each(|r| {
                matrix.row_mut(r).iter_mut().for_each(|a| *a *= factors[r % factors.len()]);
            }),
            _ => {}
        }
        self
    }

    /// Changes each term of f.
    pub(super) fn change_f(mut self, mut change: impl FnMut(&mut Smooth)) -> Self {
        change_terms(&mut self.instance.smooth, &mut change);
        self
    }
}

/// Calls `change` on f, or on each of its terms.
fn change_terms(smooth: &mut Smooth, change: &mut impl FnMut(&mut Smooth)) {
    match smooth {
        Smooth::Sum(terms) => terms.iter_mut().for_each(change),
        single => change(single),
    }
}

/// The matrix of a loss.
fn matrix_of(term: &mut Smooth) -> Option<&mut Dense> {
    match term {
        Smooth::Loss { m, .. } => Some(m),
        _ => None,
    }
}

fn rescale_term(term: &mut Smooth, scale: &[f64]) {
    match term {
        Smooth::Quadratic { q, c } => {
            for r in 0..q.rows {
                let row = q.row_mut(r);
                multiply(row, scale);
                for entry in row {
                    *entry *= scale[r];
                }
            }
            multiply(c, scale);
        }
        Smooth::Factor { m, c } => {
            (0..m.rows).for_each(|r| multiply(m.row_mut(r), scale));
            multiply(c, scale);
        }
        Smooth::Distance { target, weights } => {
            divide(target, scale);
            (0..2).for_each(|_| multiply(weights, scale));
        }
        Smooth::Linear { c } => multiply(c, scale),
        other => {
            if let Some(m) = matrix_of(other) {
                (0..m.rows).for_each(|r| multiply(m.row_mut(r), scale));
            }
        }
    }
}

fn zero_columns(matrix: &mut Dense, columns: &[usize]) {
    for r in 0..matrix.rows {
        for column in columns {
            matrix.row_mut(r)[*column] = 0.0;
        }
    }
}
