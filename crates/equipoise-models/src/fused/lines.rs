//! An image: rows and columns in turn, each an exact chain, with momentum.
//!
//! ```text
//! maximise over z, w   1/2 ||y||^2 - 1/2 ||y - R'z - C'w||^2     |z|, |w| <= lambda     R rows, C columns of the image
//! ```
//!
//! For fixed w the best z solves a chain along every row of `y - C'w`, and `R'z` is what the chains take off; the same for columns. Taking
//! turns is a projected gradient method in the columns' part u = C'w alone, whose objective has a gradient with Lipschitz
//! constant 1: Nesterov's momentum goes with it (Chambolle and Pock 2015), begun anew whenever the step turns against it
//! (O'Donoghue and Candes 2015). A round costs two passes over the image; the image is held in both orders, and lines are shared out to
//! threads.
//!
//! - Given: a task on a grid with X = I, a relative gap. Returns: b, with regions fused where that lowers the objective, and the
//!   multipliers of the last lines.
//! - Must not know: certificates; gaps here are estimates in plain arithmetic.

use equipoise::{Control, Halt, Pass, Team};

use super::chain::{self, Chain};
use super::error::Result;
use super::interior::{Found, dual_value, objective, shrunk};
use super::proof::{Dual, Task};
use super::regions;

/// Rounds before the first look at the gap; to the next one as many as it seems to take.
const FIRST_LOOK: usize = 8;

/// Columns that are taken up together, so that memory is read in whole lines of the cache.
const BAND: usize = 8;
/// How far the gap may be from the allowed one when regions are fused: that takes longer than a round.
const NEAR: f64 = 300.0;

/// The image and what lines take off it, both by row and by column.
struct Lines<'a> {
    task: &'a Task<'a>,
    rows: usize,
    columns: usize,
    team: Team,
    /// What the columns take off, by row: `C'w`.
    by_columns: Vec<f64>,
    /// What the rows take off, by row: `R'z`.
    by_rows: Vec<f64>,
    /// `y - C'w - R'z` at the last columns, by column.
    across: Vec<f64>,
    /// Where fusing begins.
    threshold: usize,
}

/// Solves the image.
pub(super) fn solve(
    task: &Task<'_>,
    (rows, columns): (usize, usize),
    gap: f64,
    (threads, max_rounds): (usize, usize),
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Found> {
    let n = rows * columns;
    let team = Team::for_work(threads, 8 * n);
    let mut lines = Lines {
        task,
        rows,
        columns,
        team,
        by_columns: vec![0.0; n],
        by_rows: vec![0.0; n],
        across: vec![0.0; n],
        threshold: 0,
    };
    if let Some(b) = start {
        // Half of what an earlier fit took off is a fair share for the columns.
        lines.by_columns.iter_mut().enumerate().for_each(|(c, taken)| *taken = 0.5 * (task.y[c] - b[c]));
    }
    let (mut ahead, mut previous) = (lines.by_columns.clone(), lines.by_columns.clone());
    let (mut momentum, mut rounds, mut look, mut halt) = (1.0_f64, 0, FIRST_LOOK, None);
    let mut best: Option<(f64, Found)> = None;
    let mut without_gain = 0;
    // The rounds and the gap at the last look.
    let mut looked = (1, f64::INFINITY);
    loop {
        if let Err(why) = lines.round(&ahead, control) {
            halt = Some(why);
            break;
        }
        rounds += 1;
        // The step against the momentum: begin anew.
        let against: f64 = {
            let terms =
                (0..n).map(|c| (ahead[c] - lines.by_columns[c]) * (lines.by_columns[c] - previous[c]));
            terms.sum()
        };
        let next = if against > 0.0 { 1.0 } else { 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) };
        let weight = if against > 0.0 { 0.0 } else { (momentum - 1.0) / next };
        momentum = next;
        for c in 0..n {
            ahead[c] = lines.by_columns[c] + weight * (lines.by_columns[c] - previous[c]);
        }
        previous.copy_from_slice(&lines.by_columns);
        let is_last = rounds >= max_rounds;
        if rounds >= look || is_last {
            let Ok((estimate, found)) = lines.judge(gap, control) else {
                // Only a control ends it; what was found before stands.
                halt = control.halted();
                break;
            };
            let met = estimate <= gap;
            if best.as_ref().is_none_or(|(least, _)| estimate < *least) {
                without_gain = 0;
                best = Some((estimate, found));
            } else {
                without_gain += 1;
            }
            if met || is_last || without_gain >= 20 {
                break;
            }
            // The gap falls about as a power of the rounds, at least the square; the last two looks say which. A look costs
            // about two rounds.
            let (times, fall) = (rounds as f64 / looked.0 as f64, looked.1 / estimate);
            let power = if fall > 1.0 { (fall.ln() / times.ln()).max(2.0) } else { 2.0 };
            let times = (estimate / gap).powf(1.0 / power).clamp(1.1, 1.6);
            looked = (rounds, estimate);
            look = rounds + (((times - 1.0) * rounds as f64).ceil() as usize).max(3);
        }
    }
    let mut found = match best {
        Some((_, found)) => found,
        None => lines.judge(gap, &Control::unlimited())?.1,
    };
    (found.rounds, found.halt) = (rounds, halt);
    Ok(found)
}

impl Lines<'_> {
    /// Chains along all rows of `y - ahead`, then along all columns of what they leave of y.
    fn round(&mut self, ahead: &[f64], control: &Control) -> Pass {
        let (rows, columns, lambda) = (self.rows, self.columns, self.task.lambda);
        let y = self.task.y;
        // Rows, and what they leave of y goes into `across`, by row for now.
        let parts: Vec<(usize, &mut [f64])> = {
            let lines_a_part = rows.div_ceil(4 * self.team.threads()).max(1);
            self.by_rows
                .chunks_mut(lines_a_part * columns)
                .enumerate()
                .map(|(k, part)| (k * lines_a_part, part))
                .collect()
        };
        let results = self.team.map(parts.into_iter(), |(first, part)| {
            let (mut chain, mut line, mut b) = (Chain::default(), vec![0.0; columns], vec![0.0; columns]);
            for (k, out) in part.chunks_mut(columns).enumerate() {
                let at = (first + k) * columns;
                for c in 0..columns {
                    line[c] = y[at + c] - ahead[at + c];
                }
                chain.solve(&line, lambda, &mut b, control)?;
                for c in 0..columns {
                    out[c] = line[c] - b[c];
                }
            }
            control.check()
        });
        results.into_iter().collect::<Pass>()?;
        let by_rows = &self.by_rows;
        // Columns, in bands of a few so that memory is read in whole lines of the cache.
        let parts: Vec<(usize, &mut [f64])> = {
            let lines_a_part = columns.div_ceil(4 * self.team.threads()).next_multiple_of(8);
            self.across
                .chunks_mut(lines_a_part * rows)
                .enumerate()
                .map(|(k, part)| (k * lines_a_part, part))
                .collect()
        };
        let results = self.team.map(parts.into_iter(), |(first, part)| {
            let (mut chain, mut lines) = (Chain::default(), vec![0.0; BAND * rows]);
            for (k, out) in part.chunks_mut(BAND * rows).enumerate() {
                let (at, width) = (first + k * BAND, out.len() / rows);
                for r in 0..rows {
                    for c in 0..width {
                        let here = r * columns + at + c;
                        lines[c * rows + r] = y[here] - by_rows[here];
                    }
                }
                for (line, b) in lines.chunks(rows).zip(out.chunks_mut(rows)) {
                    chain.solve(line, lambda, b, control)?;
                }
            }
            control.check()
        });
        results.into_iter().collect::<Pass>()?;
        let across = &self.across;
        let parts: Vec<(usize, &mut [f64])> = {
            let lines_a_part = rows.div_ceil(4 * self.team.threads()).next_multiple_of(8);
            let parts = self.by_columns.chunks_mut(lines_a_part * columns).enumerate();
            parts.map(|(k, part)| (k * lines_a_part, part)).collect()
        };
        self.team.map(parts.into_iter(), |(first, part)| {
            for (k, out) in part.chunks_mut(BAND * columns).enumerate() {
                let at = first + k * BAND;
                for c in 0..columns {
                    for (r, row) in out.chunks_mut(columns).enumerate() {
                        let here = (at + r) * columns + c;
                        row[c] = y[here] - by_rows[here] - across[c * rows + at + r];
                    }
                }
            }
        });
        Ok(())
    }

    /// The multipliers of the last lines, b, and a relative gap.
    fn judge(&mut self, gap: f64, control: &Control) -> Result<(f64, Found)> {
        let (task, rows, columns, n) = (self.task, self.rows, self.columns, self.rows * self.columns);
        let lambda = task.lambda;
        // Along rows: the sums of what they take off. Along columns: those of the exact chains.
        let mut z = Vec::with_capacity(task.d.rows());
        for taken in self.by_rows.chunks(columns) {
            let mut sum = 0.0;
            z.extend(taken[..columns - 1].iter().map(|taken| {
                sum -= taken;
                sum.clamp(-lambda, lambda)
            }));
        }
        let start = z.len();
        z.resize(task.d.rows(), 0.0);
        let mut line = vec![0.0; rows];
        for c in 0..columns {
            (0..rows).for_each(|r| line[r] = task.y[r * columns + c] - self.by_rows[r * columns + c]);
            let of_line = chain::multipliers(&line, &self.across[c * rows..(c + 1) * rows], lambda);
            of_line.into_iter().enumerate().for_each(|(r, value)| z[start + r * columns + c] = value);
        }
        let mut theta = vec![0.0; n];
        task.d.add_transposed(1.0, &z, &mut theta);
        let mut b: Vec<f64> = task.y.iter().zip(&theta).map(|(y, theta)| y - theta).collect();
        control.check()?;
        let plain = Task { sparse: 0.0, ..*task };
        let half = 0.5e-12 * task.y.iter().map(|y| y * y).sum::<f64>();
        let relative = |above: f64, below: f64| match (above - below).max(0.0) {
            0.0 => 0.0,
            gap => gap / above.max(half),
        };
        let before = relative(objective(&plain, &b), dual_value(&theta, task.y));
        if before <= NEAR * gap {
            self.threshold = regions::fuse(&plain, &mut b, self.threshold, control)?;
        }
        b.iter_mut().for_each(|b| *b = shrunk(*b, task.sparse));
        for (theta, y) in theta.iter_mut().zip(task.y) {
            *theta += (y - *theta).clamp(-task.sparse, task.sparse);
        }
        let estimate = relative(objective(task, &b), dual_value(&theta, task.y));
        Ok((estimate, Found { b, dual: Dual { z, theta: Vec::new() }, rounds: 0, halt: None::<Halt> }))
    }
}
