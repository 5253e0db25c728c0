//! A chain seen through a matrix: its jumps are the coefficients of a lasso.
//!
//! ```text
//! b = c 1 + (sum of the jumps before) :   minimise 1/2 ||y - c X 1 - A g||^2 + lambda ||g||_1 ,    A_r = X_{r+1} + ... + X_n
//! ```
//!
//! c is not penalised: y and A are taken orthogonal to `X 1`. A is never formed. The products `A'theta` of all jumps are sums of
//! `X'theta` from the right; only the columns of a working set are added up, and their Gram matrix is kept. Neighbouring columns
//! differ by one column of X: coordinate descent alone would creep, so each round on the working set is a few sweeps, then Newton steps on the
//! jumps that are not 0 with their signs kept, each to the first jump that reaches 0. Jumps whose product exceeds lambda join: the
//! largest of every run of them.
//!
//! - Given: a task on a chain with X a matrix, a relative gap, perhaps coefficients to begin with. Returns: b, z and theta.
//! - Must not know: certificates; gaps here are estimates in plain arithmetic.

use equipoise::{Control, Halt, Matrix, Pass, matrix};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use super::design::for_each_in_column;
use super::interior::{Found, dual_value};
use super::proof::{Dual, Task};
use super::watch::Told;

/// Sweeps before Newton steps.
const SWEEPS: usize = 10;
/// Rounds on one working set, at most.
const ROUNDS: usize = 200;
/// How many jumps join at most in a round, and at least if so many are too large.
const MOST_NEW: usize = 300;

struct Jumps<'a> {
    task: &'a Task<'a>,
    x: &'a Matrix<'a>,
    /// `X 1` and its squared length.
    ones: Vec<f64>,
    of_ones: f64,
    /// y without its part along `X 1`.
    y: Vec<f64>,
    /// The working set: which jumps, their columns without their parts along `X 1`, their products with each other and with y,
    /// their values.
    places: Vec<usize>,
    columns: Vec<Vec<f64>>,
    gram: Vec<Vec<f64>>,
    of_y: Vec<f64>,
    g: Vec<f64>,
}

/// Where a working set stands.
struct Judged {
    /// A relative gap.
    estimate: f64,
    /// The objective, and what it cannot fall below.
    values: (f64, f64),
    found: Found,
    /// The jumps that should join.
    too_large: Vec<usize>,
}

/// Solves the lasso of the jumps.
pub(super) fn solve(
    task: &Task<'_>,
    x: &Matrix,
    gap: f64,
    max_rounds: usize,
    start: Option<&[f64]>,
    (told, control): (&mut Told<'_>, &Control),
) -> Found {
    let mut jumps = Jumps::new(task, x);
    let (mut rounds, mut best, mut halt) = (0, None::<(f64, Found)>, None);
    let mut without_gain = 0;
    if let Some(b) = start {
        let changes: Vec<usize> = (1..b.len()).filter(|c| b[*c] != b[c - 1]).map(|c| c - 1).collect();
        let values: Vec<f64> = changes.iter().map(|r| b[r + 1] - b[*r]).collect();
        halt = jumps.join(&changes, control).err();
        if halt.is_none() {
            jumps.g = values;
        }
    }
    while halt.is_none() {
        let Judged { estimate, values, found, too_large } = jumps.judge(rounds);
        told.tell(rounds, values);
        if best.as_ref().is_none_or(|(least, _)| estimate < *least) {
            without_gain = 0;
            best = Some((estimate, found));
        } else {
            without_gain += 1;
        }
        if estimate <= gap || rounds >= max_rounds || without_gain >= 10 {
            break;
        }
        rounds += 1;
        let done = jumps.join(&too_large, control).and_then(|()| jumps.settle(0.1 * gap, control));
        halt = done.err();
    }
    let mut found = match best {
        Some((_, found)) => found,
        None => jumps.judge(rounds).found,
    };
    (found.rounds, found.halt) = (rounds, halt);
    found
}

impl<'a> Jumps<'a> {
    fn new(task: &'a Task<'a>, x: &'a Matrix<'a>) -> Self {
        let mut ones = vec![0.0; x.rows()];
        x.multiply(&vec![1.0; x.columns()], &mut ones);
        let of_ones = matrix::dot(&ones, &ones);
        let mut jumps = Self {
            task,
            x,
            ones,
            of_ones,
            y: task.y.to_vec(),
            places: Vec::new(),
            columns: Vec::new(),
            gram: Vec::new(),
            of_y: Vec::new(),
            g: Vec::new(),
        };
        jumps.y = jumps.projected(jumps.y.clone());
        jumps
    }

    /// Without the part along `X 1`; twice, because once leaves rounding.
    fn projected(&self, mut v: Vec<f64>) -> Vec<f64> {
        if self.of_ones > 0.0 {
            for _ in 0..2 {
                let share = matrix::dot(&self.ones, &v) / self.of_ones;
                matrix::axpy(-share, &self.ones, &mut v);
            }
        }
        v
    }

    /// Takes jumps into the working set, with value 0; those in it already are left alone. Jumps come in increasing order.
    fn join(&mut self, new: &[usize], control: &Control) -> Pass {
        let new: Vec<usize> = new.iter().copied().filter(|r| !self.places.contains(r)).collect();
        let Some(first) = new.first() else { return Ok(()) };
        // One walk from the last column of X: the sum so far is the column of the jump before it.
        let (mut sum, mut left) = (vec![0.0; self.x.rows()], new.len());
        let mut found = Vec::with_capacity(new.len());
        for c in (first + 1..self.x.columns()).rev() {
            match self.x {
                Matrix::Dense(x) => matrix::axpy(1.0, x.column(c), &mut sum),
                Matrix::Sparse(_) => for_each_in_column(self.x, c, |r, value| sum[r] += value),
            }
            if left > 0 && new[left - 1] + 1 == c {
                left -= 1;
                found.push(self.projected(sum.clone()));
            }
            if c.is_multiple_of(256) {
                control.check()?;
            }
        }
        for (r, column) in new.iter().zip(found.into_iter().rev()) {
            let mut products: Vec<f64> =
                self.columns.iter().map(|other| matrix::dot(other, &column)).collect();
            self.gram.iter_mut().zip(&products).for_each(|(row, product)| row.push(*product));
            products.push(matrix::dot(&column, &column));
            self.gram.push(products);
            self.of_y.push(matrix::dot(&column, &self.y));
            self.columns.push(column);
            self.places.push(*r);
            self.g.push(0.0);
            if self.places.len().is_multiple_of(16) {
                control.check()?;
            }
        }
        Ok(())
    }

    /// `A'(y - A g)` of the working set.
    fn products(&self) -> Vec<f64> {
        let mut out = self.of_y.clone();
        for (j, g) in self.g.iter().enumerate().filter(|(_, g)| **g != 0.0) {
            matrix::axpy(-g, &self.gram[j], &mut out);
        }
        out
    }

    /// Solves the lasso of the working set, to products that exceed lambda by no more than so much of it.
    fn settle(&mut self, tolerance: f64, control: &Control) -> Pass {
        let lambda = self.task.lambda;
        for _ in 0..ROUNDS {
            control.check()?;
            let mut products = self.products();
            for _ in 0..SWEEPS {
                for j in 0..self.g.len() {
                    let curvature = self.gram[j][j];
                    if curvature <= 0.0 {
                        continue;
                    }
                    let pull = products[j] + curvature * self.g[j];
                    let value = super::interior::shrunk(pull, lambda) / curvature;
                    let change = value - self.g[j];
                    if change != 0.0 {
                        self.g[j] = value;
                        matrix::axpy(-change, &self.gram[j], &mut products);
                    }
                }
            }
            self.newton(control)?;
            let products = self.products();
            let miss = |j: usize| match self.g[j] {
                0.0 => (products[j].abs() - lambda).max(0.0),
                g => (products[j] - lambda.copysign(g)).abs(),
            };
            let largest = (0..self.g.len()).map(miss).fold(0.0, f64::max);
            if largest <= tolerance.min(1e-6) * lambda {
                break;
            }
        }
        Ok(())
    }

    /// Newton steps on the jumps that are not 0: each to the optimum for these signs, or to the first jump that reaches 0.
    fn newton(&mut self, control: &Control) -> Pass {
        let lambda = self.task.lambda;
        loop {
            control.check()?;
            let moving: Vec<usize> = (0..self.g.len()).filter(|j| self.g[*j] != 0.0).collect();
            if moving.is_empty() {
                return Ok(());
            }
            let products = self.products();
            let pull = |j: usize| products[j] - lambda.copysign(self.g[j]);
            let mut system = Mat::from_fn(moving.len(), moving.len(), |i, k| self.gram[moving[i]][moving[k]]);
            let mut step = Mat::from_fn(moving.len(), 1, |i, _| pull(moving[i]));
            let trace: f64 = moving.iter().map(|j| self.gram[*j][*j]).sum();
            let factor = loop_until_definite(&mut system, trace / moving.len() as f64);
            let Some(factor) = factor else { return Ok(()) };
            factor.solve_in_place(step.as_mut());
            let step: Vec<f64> = (0..moving.len()).map(|i| step[(i, 0)]).collect();
            if self.try_all(&moving, &step, &products) {
                continue;
            }
            let (mut length, mut first) = (1.0, None);
            for (j, change) in moving.iter().zip(&step) {
                let g = self.g[*j];
                if g * (g + length * change) < 0.0 {
                    (length, first) = (-g / change, Some(*j));
                }
            }
            for (j, change) in moving.iter().zip(&step) {
                self.g[*j] += length * change;
            }
            match first {
                Some(j) => self.g[j] = 0.0,
                None => return Ok(()),
            }
        }
    }

    /// The whole step with every jump that would change its sign left at 0, if several would and it lowers the objective; whether
    /// it was taken.
    fn try_all(&mut self, moving: &[usize], step: &[f64], products: &[f64]) -> bool {
        let crossing = |j: usize, change: f64| self.g[j] * (self.g[j] + change) < 0.0;
        if moving.iter().zip(step).filter(|(j, change)| crossing(**j, **change)).count() < 2 {
            return false;
        }
        let moves: Vec<(usize, f64)> = moving
            .iter()
            .zip(step)
            .map(|(j, change)| (*j, if crossing(*j, *change) { -self.g[*j] } else { *change }))
            .collect();
        let mut bent = vec![0.0; self.g.len()];
        let mut change = 0.0;
        for (j, by) in &moves {
            matrix::axpy(*by, &self.gram[*j], &mut bent);
            change += self.task.lambda * ((self.g[*j] + by).abs() - self.g[*j].abs()) - products[*j] * by;
        }
        change += moves.iter().map(|(j, by)| 0.5 * by * bent[*j]).sum::<f64>();
        if change < 0.0 {
            moves.iter().for_each(|(j, by)| self.g[*j] += by);
        }
        change < 0.0
    }

    /// Where the working set stands.
    fn judge(&self, rounds: usize) -> Judged {
        let (task, lambda) = (self.task, self.task.lambda);
        let mut left = self.y.clone();
        for (j, g) in self.g.iter().enumerate().filter(|(_, g)| **g != 0.0) {
            matrix::axpy(-g, &self.columns[j], &mut left);
        }
        left = self.projected(left);
        let mut seen = vec![0.0; self.x.columns()];
        self.x.add_transposed(&left, &mut seen);
        let mut z = multipliers(&seen);
        let largest = z.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
        let objective =
            0.5 * matrix::dot(&left, &left) + lambda * self.g.iter().map(|g| g.abs()).sum::<f64>();
        // A little inside the box, so that rounding does not put it outside.
        let scale = if largest > lambda * (1.0 - 1e-13) { lambda / largest * (1.0 - 1e-13) } else { 1.0 };
        let theta: Vec<f64> = left.iter().map(|left| scale * left).collect();
        // y has a part along X 1, which theta does not see.
        let bound = dual_value(&theta, &self.y);
        let gap = (objective - bound).max(0.0);
        let floor = 0.5e-12 * matrix::dot(task.y, task.y);
        let estimate = if gap == 0.0 { 0.0 } else { gap / objective.max(floor) };
        let too_large = violators(&z, lambda, MOST_NEW.min(40 + 2 * self.places.len()));
        z.iter_mut().for_each(|z| *z *= scale);
        let found = Found { b: self.coefficients(), dual: Dual { z, theta }, rounds, halt: None::<Halt> };
        Judged { estimate, values: (objective, bound), found, too_large }
    }

    /// b, with the best c.
    fn coefficients(&self) -> Vec<f64> {
        let mut changes = vec![0.0; self.x.columns()];
        self.places.iter().zip(&self.g).for_each(|(r, g)| changes[r + 1] = *g);
        let mut sum = 0.0;
        let mut b: Vec<f64> = changes
            .iter()
            .map(|change| {
                sum += change;
                sum
            })
            .collect();
        if self.of_ones > 0.0 {
            let mut left = self.task.y.to_vec();
            for (c, b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                self.x.add_column(c, -b, &mut left);
            }
            let c = matrix::dot(&self.ones, &left) / self.of_ones;
            b.iter_mut().for_each(|b| *b += c);
        }
        b
    }
}

/// `X'theta = D'z` solved for z from the end that is nearer: `z_r = -(sum of the first r + 1)`, and that is the sum of the
/// others where all of them add up to 0.
pub(super) fn multipliers(seen: &[f64]) -> Vec<f64> {
    let n = seen.len();
    let mut z = vec![0.0; n - 1];
    let (mut sum, half) = (0.0, n / 2);
    for r in 0..half.min(n - 1) {
        sum -= seen[r];
        z[r] = sum;
    }
    sum = 0.0;
    for r in (half..n - 1).rev() {
        sum += seen[r + 1];
        z[r] = sum;
    }
    z
}

/// The largest of every run of multipliers beyond lambda with one sign; of these the largest ones, in order.
fn violators(z: &[f64], lambda: f64, most: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut run: Option<usize> = None;
    for (r, value) in z.iter().enumerate() {
        if value.abs() <= lambda {
            found.extend(run.take());
        } else {
            run = match run {
                Some(best) if z[best].signum() != value.signum() => {
                    found.push(best);
                    Some(r)
                }
                Some(best) if z[best].abs() >= value.abs() => Some(best),
                _ => Some(r),
            };
        }
    }
    found.extend(run);
    if found.len() > most {
        found.sort_by(|a, b| z[*b].abs().total_cmp(&z[*a].abs()));
        found.truncate(most);
        found.sort_unstable();
    }
    found
}

/// Cholesky's factor, with as much added to the diagonal as it takes.
fn loop_until_definite(system: &mut Mat<f64>, scale: f64) -> Option<faer::linalg::solvers::Llt<f64>> {
    let mut ridge = 1e-14 * scale;
    for _ in 0..8 {
        if let Ok(factor) = system.llt(Side::Lower) {
            return Some(factor);
        }
        (0..system.nrows()).for_each(|k| system[(k, k)] += ridge);
        ridge *= 30.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_every_run_joins() {
        let z = [0.0, 2.0, 3.0, 2.5, 0.5, -4.0, 2.0, 5.0];
        assert_eq!(violators(&z, 1.0, 9), [2, 5, 7]);
        assert_eq!(violators(&z, 1.0, 2), [5, 7]);
        assert_eq!(violators(&z, 9.0, 2), Vec::<usize>::new());
    }

    #[test]
    fn multipliers_pull_back_to_what_they_came_from() {
        let seen = [1.0, -3.0, 0.5, 2.5, -1.0];
        let z = multipliers(&seen);
        let back: Vec<f64> =
            (0..5).map(|c| if c > 0 { z[c - 1] } else { 0.0 } - if c < 4 { z[c] } else { 0.0 }).collect();
        assert_eq!(back, seen);
    }
}
