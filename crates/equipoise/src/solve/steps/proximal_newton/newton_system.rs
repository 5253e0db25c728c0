//! The linear system of a Newton step,
//!
//! ```text
//! ( [W^-1 0; 0 epsilon] + [Z_F; A_F] S [Z_F; A_F]' ) (du, dlambda) = (r_u, r_lambda) ,
//! ```
//!
//! by Cholesky in rank + m dimensions. Where far more coordinates are free than that, an evenly spaced sample of them gives the matrix: the direction
//! needs no more, and the line search along it is exact. Where steps do not gain what exact ones would, the sample becomes finer.
//!
//! A system that is larger is not formed (`conjugate.rs`).
//!
//! On ranks each makes the matrix of its own columns; the lower triangles are added up, the first rank factors and all have its
//! direction. A factor is the dearest thing that they send and wait for, and may serve several directions (`again`).

use std::ops::Range;

use faer::linalg::solvers::Solve;
use faer::{Col, MatRef, Side};

use super::border::Border;
use super::conjugate::Conjugate;
use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::coupling::Coupling;
use crate::error::Result;
use crate::matrix::{Cholesky, dot};
use crate::separable::Values;
use crate::smooth::Factored;
use crate::team::{SHORT, Team};

/// Largest dimension of the system.
pub(crate) const LARGEST: usize = 3000;

/// Dimension from which on a factor takes longer than somebody who wants to stop should wait.
const LONG: usize = 1000;
/// Free coordinates a dimension beyond which a sample is taken, at first, and at most where samples turn out to be too coarse.
const PLENTY: u32 = 24;
const MOST_PLENTY: u32 = 1 << 24;
/// Stripes of the matrix a thread.
const STRIPES_PER_THREAD: usize = 2;
/// Attempts with a raised diagonal.
const ATTEMPTS: i32 = 4;

/// Coordinates that answer, with their `S_c`, one for all or one each.
#[derive(Debug)]
pub(super) struct Free {
    pub(super) columns: Vec<u32>,
    scales: Values,
}

impl Free {
    pub(super) fn new() -> Self {
        Self { columns: Vec::new(), scales: Values::Uniform(1.0) }
    }

    /// Forgets all; from now on every scale is the same, or each is given.
    pub(super) fn clear(&mut self, uniform: Option<f64>) {
        self.columns.clear();
        self.scales = uniform.map_or(Values::Each(Vec::new()), Values::Uniform);
    }

    #[inline]
    pub(super) fn push(&mut self, column: u32, scale: f64) {
        self.columns.push(column);
        if let Values::Each(scales) = &mut self.scales {
            scales.push(scale);
        }
    }

    /// By how much a row of `A z` gives way to its multiplier.
    pub(super) fn give(&self, coupling: &Coupling, row: usize) -> f64 {
        if let (Some(a), Values::Uniform(scale)) = (coupling.uniform_row(), &self.scales) {
            return a * a * scale * self.columns.len() as f64;
        }
        let one = |(k, &c): (usize, &u32)| self.scales.at(k) * coupling.entry(row, c as usize).powi(2);
        self.columns.iter().enumerate().map(one).sum()
    }
}

/// Every so many of all free coordinates, with scales that make up for the others.
pub(super) fn sample(free: &[&Free], stride: usize) -> (Vec<u32>, Vec<f64>) {
    let (mut columns, mut scales) = (Vec::new(), Vec::new());
    // Where the next one is, counted from the beginning of the part.
    let mut next = 0;
    for part in free {
        while next < part.columns.len() {
            columns.push(part.columns[next]);
            scales.push(part.scales.at(next) * stride as f64);
            next += stride;
        }
        next -= part.columns.len();
    }
    (columns, scales)
}

/// Stretches of columns that cut a triangle, higher on the left, into equal areas.
fn stripes(columns: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let end = move |k: usize| {
        let share = 1.0 - (1.0 - k as f64 / count as f64).sqrt();
        if k == count { columns } else { (columns as f64 * share) as usize }
    };
    (0..count).map(move |k| end(k)..end(k + 1)).filter(|stripe| !stripe.is_empty())
}

/// Parts in pieces of so many columns that somebody who wants to stop does not wait for the copy of one.
fn pieces(parts: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = Range<usize>> {
    const COLUMNS: usize = 2048;
    parts.flat_map(|part| {
        let end = part.end;
        part.step_by(COLUMNS).map(move |from| from..end.min(from + COLUMNS))
    })
}

/// The right-hand side.
#[derive(Debug)]
pub(super) struct Right {
    pub(super) of_product: Vec<f64>,
    pub(super) of_rows: Vec<f64>,
}

#[derive(Debug)]
pub(super) struct NewtonSystem {
    /// Columns a dimension that a sample has.
    plenty: u32,
    pub(super) rank: usize,
    pub(super) dimension: usize,
    /// Lower triangle, column by column.
    pub(super) matrix: Vec<f64>,
    /// Its factor, where a team makes it, and what was taken out before.
    cholesky: Cholesky,
    border: Option<Border>,
    /// Whether there is a factor, on the rank that leads.
    is_factored: bool,
    /// What ranks add up, in one piece, and the mean of the diagonal that comes of it: by about how much u is held at a product.
    triangle: Vec<f64>,
    pub(super) stiffness: f64,
    /// du and dlambda.
    solution: Vec<f64>,
    /// Passes over the free columns that the last direction took beyond one.
    passes: usize,
}

impl NewtonSystem {
    /// `None` where the system would be too large, or empty.
    pub(super) fn new(rank: usize, rows: usize) -> Option<Self> {
        let dimension = rank + rows;
        (1..=LARGEST).contains(&dimension).then(|| Self {
            plenty: PLENTY,
            rank,
            dimension,
            matrix: vec![0.0; dimension * dimension],
            cholesky: Cholesky::default(),
            border: None,
            is_factored: false,
            triangle: Vec::new(),
            stiffness: 1.0,
            solution: vec![0.0; dimension],
            passes: 0,
        })
    }

    /// One of any size; where it is too large to be factored it has no matrix.
    pub(super) fn of_any_size(rank: usize, rows: usize) -> Option<Self> {
        let dimension = rank + rows;
        let unformed = || Self {
            plenty: PLENTY,
            rank,
            dimension,
            matrix: Vec::new(),
            cholesky: Cholesky::default(),
            border: None,
            is_factored: false,
            triangle: Vec::new(),
            stiffness: 1.0,
            solution: vec![0.0; dimension],
            passes: 0,
        };
        Self::new(rank, rows).or_else(|| (dimension > 0).then(unformed))
    }

    /// Passes over the free columns that the last direction took, one aside.
    pub(super) fn passes(&self) -> usize {
        self.passes
    }

    /// du and dlambda.
    pub(super) fn solution(&self) -> (&[f64], &[f64]) {
        self.solution.split_at(self.rank)
    }

    /// One of so many free coordinates is in the matrix.
    fn stride(&self, free: usize) -> usize {
        (free / (self.plenty as usize * self.dimension)).max(1)
    }

    /// Takes twice as many columns from now on, where so many free coordinates are sampled at all.
    pub(super) fn sample_finer(&mut self, free: usize) {
        if !self.matrix.is_empty() && self.stride(free) > 1 {
            self.plenty = (2 * self.plenty).min(MOST_PLENTY);
        }
    }

    /// Samples are as coarse as at first.
    pub(super) fn sample_coarsely(&mut self) {
        self.plenty = PLENTY;
    }

    /// Shows an archive what directions to come depend on.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.small(&mut self.plenty)?;
        self.plenty = self.plenty.clamp(PLENTY, MOST_PLENTY);
        Ok(())
    }

    /// What the step promises the dual function to rise by, twice.
    pub(super) fn promise(&self, right: &Right) -> f64 {
        let (du, dlambda) = self.solution();
        dot(du, &right.of_product) + dot(dlambda, &right.of_rows)
    }

    /// Finds the direction on the free coordinates, of which all ranks have so many; false when the matrix cannot be factored.
    #[expect(clippy::too_many_arguments, reason = "a system, and who solves it")]
    pub(super) fn direction(
        &mut self,
        team: &Team,
        factored: &dyn Factored,
        coupling: &Coupling,
        free: &[&Free],
        count: usize,
        right: &Right,
        control: &Control,
    ) -> Pass<bool> {
        let (rank, dimension) = (self.rank, self.dimension);
        if self.matrix.is_empty() {
            let system = Conjugate::new(team, factored, coupling, free);
            self.stiffness = system.stiffness();
            self.passes = 2 * system.solve(right, &mut self.solution, control)?;
            return Ok(self.solution.iter().all(|v| v.is_finite()));
        }
        let control = &team.patient(control);
        let stride = self.stride(count);
        let (columns, scales) = sample(free, stride);
        self.add_products(team, factored, &columns, &scales, control)?;
        self.add_border(team, factored, coupling, &columns, &scales);
        let largest = if team.is_spread() {
            self.add_up(team, &scales)
        } else {
            scales.iter().copied().fold(0.0, f64::max)
        };
        self.raise_border(largest);
        for k in 0..rank {
            self.matrix[k * (dimension + 1)] += 1.0 / factored.weight(k);
        }
        self.stiffness =
            (0..rank).map(|k| self.matrix[k * (dimension + 1)]).sum::<f64>() / rank.max(1) as f64;
        let solved = team.leads() && self.attempts(team, right, control)?;
        if !team.is_spread() {
            return Ok(solved);
        }
        self.is_factored = self.led(team, solved);
        Ok(self.is_factored)
    }

    /// On ranks, finds a direction by the factor of the last; false where there is none, or it is of no use.
    pub(super) fn again(&mut self, team: &Team, right: &Right) -> bool {
        if !self.is_factored || self.matrix.is_empty() || !team.is_spread() {
            return false;
        }
        if team.leads() {
            if let Some(border) = &mut self.border {
                border.put(right);
            }
            let rest = self.border.as_ref().map_or(right, Border::right);
            self.solution[..self.rank].copy_from_slice(&rest.of_product);
            self.solution[self.rank..].copy_from_slice(&rest.of_rows);
            self.cholesky.solve(&mut self.solution);
            if let Some(border) = &self.border {
                border.put_back(self.rank, &mut self.solution);
            }
        }
        let is_finite = self.solution.iter().all(|v| v.is_finite());
        self.led(team, is_finite)
    }

    /// The direction of the first rank becomes that of all; whether that found one.
    fn led(&mut self, team: &Team, solved: bool) -> bool {
        let dimension = self.dimension;
        let mut led = self.solution.clone();
        led.push(f64::from(u8::from(solved)));
        team.lead(&mut led);
        self.solution.copy_from_slice(&led[..dimension]);
        led[dimension] > 0.0
    }

    /// Solves the system, with a raised diagonal if need be.
    fn attempts(&mut self, team: &Team, right: &Right, control: &Control) -> Pass<bool> {
        let border = self.take_border_out(right);
        let rest = border.as_ref().map_or(right, Border::right);
        for attempt in 0..ATTEMPTS {
            if self.solve(team, rest, attempt, control)? {
                if let Some(border) = &border {
                    border.put_back(self.rank, &mut self.solution);
                }
                self.border = border;
                return Ok(self.solution.iter().all(|v| v.is_finite()));
            }
        }
        Ok(false)
    }

    /// The lower triangle becomes the sum of those of all ranks; about the largest scale: their mean, each weighing what it is.
    fn add_up(&mut self, team: &Team, scales: &[f64]) -> f64 {
        let dimension = self.dimension;
        let columns = || (0..dimension).map(|k| k * dimension + k..(k + 1) * dimension);
        let mut triangle = std::mem::take(&mut self.triangle);
        triangle.clear();
        columns().for_each(|column| triangle.extend_from_slice(&self.matrix[column]));
        triangle.extend([scales.iter().sum(), scales.iter().map(|scale| scale * scale).sum::<f64>()]);
        team.total(&mut triangle);
        let mut rest = &triangle[..];
        for column in columns() {
            let (own, after) = rest.split_at(column.len());
            self.matrix[column].copy_from_slice(own);
            rest = after;
        }
        let mean = if rest[0] > 0.0 { rest[1] / rest[0] } else { 0.0 };
        self.triangle = triangle;
        mean
    }

    /// `Z_F S Z_F'` and zeros elsewhere. Every thread has columns of the matrix for its own, and looks at all of F.
    fn add_products(
        &mut self,
        team: &Team,
        factored: &dyn Factored,
        columns: &[u32],
        scales: &[f64],
        control: &Control,
    ) -> Pass {
        let dimension = self.dimension;
        let count = if team.is_alone() || columns.len() < SHORT / 10 {
            1
        } else {
            STRIPES_PER_THREAD * team.threads()
        };
        let mut rest = &mut self.matrix[..];
        let stripes = stripes(dimension, count).map(|stripe| {
            let (out, after) = std::mem::take(&mut rest).split_at_mut(stripe.len() * dimension);
            rest = after;
            (stripe.start, out)
        });
        let worth_while = columns.len() >= SHORT / 10;
        let parts: Vec<_> = if team.is_alone() {
            team.parts(columns.len()).collect()
        } else {
            pieces(team.parts(columns.len())).collect()
        };
        let copies = team.map_if(worth_while, parts.iter().cloned(), |part| {
            control.check()?;
            Ok(if team.is_alone() || !worth_while { None } else { factored.copy_columns(&columns[part]) })
        });
        let copies = copies.into_iter().collect::<Pass<Vec<_>>>()?;
        let made = team.map_if(worth_while, stripes, |(first, out)| {
            out.fill(0.0);
            for (part, copy) in parts.iter().zip(&copies) {
                control.check()?;
                // A column may be dense.
                control.in_parts(part.len(), 1 + out.len() / 2, |some| {
                    let (from, to) = (part.start + some.start, part.start + some.end);
                    match copy {
                        Some(rows) => {
                            let chosen = some.zip(scales[from..to].iter().copied());
                            rows.add_outers(chosen, first, out, dimension);
                        }
                        None => {
                            factored.add_outer(&columns[from..to], &scales[from..to], first, out, dimension);
                        }
                    }
                })?;
            }
            Ok(())
        });
        made.into_iter().collect()
    }

    /// The rows below those of the product: `A_F S Z_F'` and `A_F S A_F'`.
    fn add_border(
        &mut self,
        team: &Team,
        factored: &dyn Factored,
        coupling: &Coupling,
        columns: &[u32],
        scales: &[f64],
    ) {
        let (rank, dimension) = (self.rank, self.dimension);
        let m = dimension - rank;
        let mut image = vec![0.0; rank];
        let mut gram = vec![0.0; m * m];
        if let Some(a) = coupling.uniform_row() {
            gram[0] = a * a * scales.iter().sum::<f64>();
        } else {
            for (&c, &scale) in columns.iter().zip(scales) {
                coupling.add_outer(c as usize, scale, &mut gram);
            }
        }
        for row in 0..m {
            let amounts: Vec<f64> =
                columns.iter().zip(scales).map(|(&c, s)| s * coupling.entry(row, c as usize)).collect();
            image.fill(0.0);
            team.add_here(columns.len(), &mut image, |range, image| {
                factored.add_columns(&columns[range.clone()], &amounts[range], image);
            });
            for k in 0..rank {
                self.matrix[k * dimension + rank + row] = image[k];
            }
            for other in row..m {
                self.matrix[(rank + row) * dimension + rank + other] = gram[row * m + other];
            }
        }
    }

    /// A little on the diagonal of the rows below those of the product, by the largest `S_c`.
    fn raise_border(&mut self, largest: f64) {
        for row in self.rank..self.dimension {
            let own = &mut self.matrix[row * (self.dimension + 1)];
            *own += 1e-10 * *own + 1e-7 * if largest > 0.0 { largest } else { 1.0 };
        }
    }

    /// Cholesky, with the diagonal raised a little more at every attempt.
    fn solve(&mut self, team: &Team, right: &Right, attempt: i32, control: &Control) -> Pass<bool> {
        let (rank, dimension) = (self.rank, self.dimension);
        if attempt > 0 {
            for k in 0..dimension {
                self.matrix[k * (dimension + 1)] *= 1.0 + 1e-12 * 1e3_f64.powi(attempt);
            }
        }
        if !team.is_alone() || team.is_spread() || dimension > LONG {
            if !self.cholesky.factor(team, &self.matrix, dimension, control)? {
                return Ok(false);
            }
            self.solution[..rank].copy_from_slice(&right.of_product);
            self.solution[rank..].copy_from_slice(&right.of_rows);
            self.cholesky.solve(&mut self.solution);
            return Ok(true);
        }
        let matrix = MatRef::from_column_major_slice(&self.matrix, dimension, dimension);
        let Ok(factor) = matrix.llt(Side::Lower) else { return Ok(false) };
        let (right_u, right_rows) = (&right.of_product, &right.of_rows);
        let rhs = Col::from_fn(dimension, |k| if k < rank { right_u[k] } else { right_rows[k - rank] });
        let solution = factor.solve(&rhs);
        self.solution.iter_mut().enumerate().for_each(|(k, out)| *out = solution[k]);
        Ok(true)
    }
}
