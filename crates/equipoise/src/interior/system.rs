//! The linear system of a step:
//!
//! ```text
//! [ H + D   A'   M' ] [dx]   [top   ]        D the barriers, diagonal;  H the parts of the Hessian that are matrices;
//! [ A       0    0  ] [dy] = [bottom] ,      M the rows of parts M'WM, scaled by the roots of W
//! [ M       0   -I  ] [dv]   [0     ]
//! ```
//!
//! The matrix is symmetric; with 1e-8 added to its diagonal (subtracted below) it is quasidefinite and has factors without
//! further ado (`factor.rs`). What that addition spoils a few steps of refinement take out again; where they do not, because rows are
//! nearly dependent, less is added from the next factor on; not to models of losses, which weights over many decades spoil.
//! Coordinates that are held have a row of the identity.
//!
//! - Given: a program with its scaling; barriers; right-hand sides.
//! - Returns: solutions of the system without the addition, as far as refinement gets.
//! - Must not know: what is being solved.
//!
//! The library's sparse factorisation looks at no clock: programs whose factor would cost more products than allowed are
//! refused beforehand.

use super::Program;
use super::factor::{Factor, Lower};
use super::scaling::Scaling;
use crate::control::{Control, Pass};
use crate::coupling::Coupling;
use crate::matrix::{Matrix, max_abs};
use crate::smooth::Bend;

/// Stored numbers of the matrix up to which it is assembled.
const MOST_STORED: usize = 6_000_000;
/// What is added to the diagonal at first, and at least.
const ADDED: f64 = 1e-8;
const LEAST_ADDED: f64 = 1e-12;
/// The share of a right-hand side above which what refinement leaves asks for less to be added from the next factor on, and by how
/// much less.
const POOR: f64 = 1e-11;
const LESS: f64 = 1e-2;
/// Products that forming `M'WM` may cost, in those of a factor: it is done once.
const FORMING: f64 = 8.0;
/// Steps of refinement at most, and the share of the right-hand side that may be left.
const MOST_REFINEMENTS: usize = 12;
const REFINED: f64 = 1e-14;

/// The matrix, its factor and their memory.
pub(super) struct System {
    dimension: usize,
    rows: usize,
    /// Lower triangle by columns, without barriers.
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
    /// The same with barriers, and without what is held.
    exact: Vec<f64>,
    /// What is factored.
    regular: Vec<f64>,
    /// What is added to its diagonal.
    added: f64,
    /// Whether H is that of a loss at some x, and another one next time.
    is_model: bool,
    factor: Factor,
}

/// Entries of a lower triangle on their way into columns.
struct Entries {
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl System {
    /// Assembles the matrix; `None` where it is too large, or its factor costs more products than given.
    pub(super) fn new(
        program: &Program<'_>,
        rows: &Coupling,
        scaling: &Scaling,
        products: f64,
        control: &Control,
    ) -> Pass<Option<Self>> {
        let (n, m) = (program.linear.len(), rows.rows());
        if stored(program) > MOST_STORED || forming(program) > FORMING * products {
            return Ok(None);
        }
        control.check()?;
        let Entries { starts, indices, values } = assemble(program, rows, scaling, control)?;
        control.check()?;
        let pattern = Lower { starts: &starts, indices: &indices, values: &values };
        let Some(factor) = Factor::new(pattern, n, products) else { return Ok(None) };
        control.check()?;
        Ok(Some(Self {
            dimension: n,
            rows: m,
            exact: values.clone(),
            regular: values.clone(),
            added: ADDED,
            is_model: program.bends.iter().any(|bend| matches!(bend, Bend::Product(..))),
            starts,
            indices,
            values,
            factor,
        }))
    }

    /// Puts in barriers, holds coordinates, and factors; false where that fails.
    pub(super) fn factor(&mut self, barrier: &[f64], held: &[bool], control: &Control) -> Pass<bool> {
        control.check()?;
        let n = self.dimension;
        let order = self.starts.len() - 1;
        let is_held = |k: usize| k < n && held[k];
        for c in 0..order {
            let range = self.starts[c]..self.starts[c + 1];
            // The diagonal comes first.
            let own = if is_held(c) {
                1.0
            } else {
                self.values[range.start] + if c < n { barrier[c] } else { 0.0 }
            };
            self.exact[range.start] = own;
            self.regular[range.start] = own + if c < n { self.added } else { -self.added };
            for k in range.skip(1) {
                let value = if is_held(c) || is_held(self.indices[k]) { 0.0 } else { self.values[k] };
                (self.exact[k], self.regular[k]) = (value, value);
            }
        }
        let matrix = Lower { starts: &self.starts, indices: &self.indices, values: &self.regular };
        self.factor.factor(matrix, control)
    }

    /// Whether the program is a model of a loss, whose last digits are worth nothing.
    pub(super) fn is_model(&self) -> bool {
        self.is_model
    }

    /// Multiplies rows and columns alike, by powers of two.
    pub(super) fn multiply_by(&mut self, factors: &[f64]) {
        for (c, of_column) in factors.iter().enumerate() {
            for k in self.starts[c]..self.starts[c + 1] {
                self.values[k] *= of_column * factors[self.indices[k]];
            }
        }
    }

    /// `dx` and `dy` for right-hand sides of n and m numbers.
    pub(super) fn solve(&mut self, top: &[f64], bottom: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, m) = (self.dimension, self.rows);
        let mut right = vec![0.0; self.starts.len() - 1];
        right[..n].copy_from_slice(top);
        right[n..n + m].copy_from_slice(bottom);
        let enough = REFINED * max_abs(&right);
        let (mut found, mut left) = (vec![0.0; right.len()], right.clone());
        let mut least = f64::INFINITY;
        let mut best = found.clone();
        let mut image = vec![0.0; right.len()];
        for _ in 0..MOST_REFINEMENTS {
            self.factor.solve(&mut left);
            found.iter_mut().zip(&left).for_each(|(found, step)| *found += step);
            self.multiply(&found, &mut image);
            left.iter_mut().zip(&right).zip(&image).for_each(|((left, b), image)| *left = b - image);
            let size = max_abs(&left);
            if size.is_nan() || size >= 0.9 * least {
                break;
            }
            least = size;
            best.copy_from_slice(&found);
            if size <= enough {
                break;
            }
        }
        if !self.is_model && least > POOR * max_abs(&right) {
            self.added = (LESS * self.added).max(LEAST_ADDED);
        }
        (best[..n].to_vec(), best[n..n + m].to_vec())
    }

    /// `out = K v`, with barriers.
    fn multiply(&self, v: &[f64], out: &mut [f64]) {
        multiply(&self.starts, &self.indices, &self.exact, v, out);
    }

    /// `H x + A'y` and `A x`, without barriers and whoever is held.
    pub(super) fn image(&self, x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, m, order) = (self.dimension, self.rows, self.starts.len() - 1);
        let (mut v, mut out) = (vec![0.0; order], vec![0.0; order]);
        v[..n].copy_from_slice(x);
        multiply(&self.starts, &self.indices, &self.values, &v, &mut out);
        // What the rows of M make of x goes back through them.
        let rows = out[n..n + m].to_vec();
        v[n..n + m].copy_from_slice(y);
        v[n + m..].copy_from_slice(&out[n + m..]);
        multiply(&self.starts, &self.indices, &self.values, &v, &mut out);
        out.truncate(n);
        (out, rows)
    }
}

fn multiply(starts: &[usize], indices: &[usize], values: &[f64], v: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for c in 0..starts.len() - 1 {
        let range = starts[c]..starts[c + 1];
        let mut sum = values[range.start] * v[c];
        for (&r, &value) in indices[range.clone()].iter().zip(&values[range]).skip(1) {
            sum += value * v[r];
            out[r] += value * v[c];
        }
        out[c] += sum;
    }
}

/// Numbers of the lower triangle, from above.
pub(super) fn stored(program: &Program<'_>) -> usize {
    let n = program.linear.len();
    let of_rows = n * program.coupling.numbers_per_column();
    let of_bends = program.bends.iter().map(|part| match part {
        Bend::Diagonal(_) => 0,
        Bend::Matrix(matrix) => n * matrix.numbers_per_column(),
        Bend::Product(matrix, _) if is_formed(matrix) => n * n,
        Bend::Product(matrix, _) => n * matrix.numbers_per_column() + matrix.rows(),
    });
    of_rows + 2 * n + of_bends.sum::<usize>()
}

/// Products that forming all `M'WM` costs.
fn forming(program: &Program<'_>) -> f64 {
    let of = |part: &Bend<'_>| match part {
        Bend::Product(matrix, _) if is_formed(matrix) => {
            0.5 * matrix.rows() as f64 * (matrix.columns() as f64).powi(2)
        }
        _ => 0.0,
    };
    program.bends.iter().map(of).sum()
}

/// Whether `M'WM` is formed: M is dense and has at least as many rows as columns.
fn is_formed(matrix: &Matrix) -> bool {
    matches!(matrix, Matrix::Dense(_)) && matrix.rows() >= matrix.columns()
}

/// The scaled lower triangle, every diagonal entry there and first in its column.
fn assemble(program: &Program<'_>, rows: &Coupling, scaling: &Scaling, control: &Control) -> Pass<Entries> {
    let (n, m) = (program.linear.len(), rows.rows());
    let lifted: Vec<(&Matrix, &Vec<f64>)> = program
        .bends
        .iter()
        .filter_map(|part| match part {
            Bend::Product(matrix, weights) if !is_formed(matrix) => Some((*matrix, weights)),
            _ => None,
        })
        .collect();
    let order = n + m + lifted.iter().map(|(matrix, _)| matrix.rows()).sum::<usize>();
    let formed: Vec<Vec<f64>> = program
        .bends
        .iter()
        .filter_map(|part| match part {
            Bend::Product(matrix, weights) if is_formed(matrix) => Some(gram(matrix, weights, control)),
            _ => None,
        })
        .collect::<Pass<_>>()?;
    let mut entries = Entries { starts: vec![0], indices: Vec::new(), values: Vec::new() };
    let mut column: Vec<f64> = vec![0.0; n];
    let mut touched: Vec<usize> = Vec::new();
    for c in 0..n {
        let d = scaling.cost * scaling.columns[c];
        column[c] += program.pieces[c].l2;
        for part in &program.bends {
            match part {
                Bend::Diagonal(diagonal) => column[c] += diagonal[c],
                Bend::Matrix(matrix) => matrix.for_each_in_column(c, |r, value| {
                    if r >= c && value != 0.0 {
                        touched.push(r);
                        column[r] += value;
                    }
                }),
                Bend::Product(..) => {}
            }
        }
        for gram in &formed {
            for r in c..n {
                touched.push(r);
                column[r] += gram[c * n + r];
            }
        }
        entries.push(c, d * scaling.columns[c] * column[c]);
        column[c] = 0.0;
        touched.sort_unstable();
        touched.dedup();
        for &r in touched.iter().filter(|r| **r != c) {
            entries.push(r, d * scaling.columns[r] * column[r]);
            column[r] = 0.0;
        }
        touched.clear();
        rows.for_each_in_column(c, |r, a| {
            if a != 0.0 {
                entries.push(n + r, scaling.rows[r] * a * scaling.columns[c]);
            }
        });
        let mut first = n + m;
        for (matrix, weights) in &lifted {
            matrix.for_each_in_column(c, |k, value| {
                if value != 0.0 {
                    let weight = (scaling.cost * weights[k].max(0.0)).sqrt();
                    entries.push(first + k, weight * value * scaling.columns[c]);
                }
            });
            first += matrix.rows();
        }
        entries.starts.push(entries.indices.len());
    }
    for k in n..order {
        entries.push(k, if k < n + m { 0.0 } else { -1.0 });
        entries.starts.push(entries.indices.len());
    }
    Ok(entries)
}

impl Entries {
    fn push(&mut self, row: usize, value: f64) {
        self.indices.push(row);
        self.values.push(value);
    }
}

/// `M' diag(w) M`, whole, column by column.
fn gram(matrix: &Matrix, weights: &[f64], control: &Control) -> Pass<Vec<f64>> {
    let n = matrix.columns();
    let mut out = vec![0.0; n * n];
    let Matrix::Dense(dense) = matrix else { return Ok(out) };
    let mut weighted = vec![0.0; dense.rows()];
    for c in 0..n {
        control.check()?;
        weighted.iter_mut().zip(dense.column(c)).zip(weights).for_each(|((out, v), w)| *out = w * v);
        for r in c..n {
            out[c * n + r] = crate::matrix::dot(&weighted, dense.column(r));
        }
    }
    Ok(out)
}
