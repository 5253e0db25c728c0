//! An image: rows and columns in turn, each an exact chain.
//!
//! ```text
//! maximise over z, w   1/2 ||y||^2 - 1/2 ||y - R'z - C'w||^2     |z|, |w| <= lambda     R rows, C columns of the image
//! ```
//!
//! Two ways, one after the other. Loose gaps are met soonest by steps of a [`saddle`](super::saddle). Where they would take
//! long, momentum goes on: for fixed w the best z solves a chain along every row of `y - C'w`, and `R'z` is what the chains take off;
//! the same for columns. Taking turns is a projected gradient method in the columns' part u = C'w alone, whose objective has a
//! gradient with Lipschitz constant 1: Nesterov's momentum goes with it (Chambolle and Pock 2015), begun anew whenever the
//! step turns against it (O'Donoghue and Candes 2015). A round of either costs two passes over the image.
//!
//! - Given: a task on a grid with X = I, a relative gap. Returns: b, with regions fused where that lowers the objective, and the
//!   multipliers of the last lines.
//! - Must not know: certificates; gaps here are estimates in plain arithmetic.

use equipoise::{Control, Halt, Pass};

use super::chain;
use super::image::Image;
use super::interior::{Found, dual_value, objective, shrunk};
use super::proof::{Dual, Task};
use super::regions;
use super::saddle::Saddle;
use super::watch::Told;

/// Rounds before the first look at the gap; to the next one as many as it seems to take.
const FIRST_LOOK: usize = 8;
/// As which power of the rounds the gap falls at least, as seen from steps of the saddle and proven for momentum, and by which
/// factor the rounds may grow to the next look.
const SADDLE_PACE: (f64, f64) = (3.0, 3.0);
const MOMENTUM_PACE: (f64, f64) = (2.0, 1.6);
/// Where steps of the saddle would take more rounds than these, momentum, which begins anew, takes fewer.
const SADDLE_ROUNDS: f64 = 48.0;
/// How far the gap may be from the allowed one when regions are fused, which takes longer than a round: with momentum, and with the
/// saddle, whose image has the better objective before it is fused.
const NEAR: f64 = 300.0;
const CLOSE: f64 = 4.0;

/// The image and what lines take off it, both by row and by column.
struct Lines<'a> {
    task: &'a Task<'a>,
    image: Image,
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
    (told, control): (&mut Told<'_>, &Control),
) -> Found {
    let n = rows * columns;
    let mut lines = Lines {
        task,
        image: Image::new((rows, columns), threads),
        by_columns: vec![0.0; n],
        by_rows: vec![0.0; n],
        across: vec![0.0; n],
        threshold: 0,
    };
    if let Some(b) = start {
        // Half of what an earlier fit took off is a fair share for the rows.
        lines.by_rows.iter_mut().enumerate().for_each(|(at, taken)| *taken = 0.5 * (task.y[at] - b[at]));
    }
    let mut search = Search::new(gap, max_rounds, told);
    let mut halt = lines.by_saddle(start.unwrap_or(task.y), &mut search, control).err();
    if halt.is_none() && !search.is_over() {
        halt = lines.by_momentum(&mut search, control).err();
    }
    let (_, mut found) = search.best.expect("rounds of the saddle leave an image");
    (found.rounds, found.halt) = (search.rounds, halt);
    found
}

/// How the rounds go: when the next look at the gap is due, and the best that was seen.
struct Search<'a, 'w> {
    gap: f64,
    max_rounds: usize,
    rounds: usize,
    /// The round of the next look.
    look: usize,
    /// The round and the gap of the last one.
    looked: (usize, f64),
    best: Option<(f64, Found)>,
    without_gain: usize,
    told: &'a mut Told<'w>,
}

/// What a look at the gap saw.
struct Look {
    /// A relative gap.
    estimate: f64,
    /// The objective, and what it cannot fall below.
    values: (f64, f64),
    found: Found,
}

impl<'a, 'w> Search<'a, 'w> {
    fn new(gap: f64, max_rounds: usize, told: &'a mut Told<'w>) -> Self {
        let (look, looked) = (FIRST_LOOK, (1, f64::INFINITY));
        Self { gap, max_rounds, rounds: 0, look, looked, best: None, without_gain: 0, told }
    }

    /// One more round; whether a look is due.
    fn counts_a_round(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= self.look || self.rounds >= self.max_rounds
    }

    /// What a look saw. The gap falls about as a power of the rounds, at least this one; the last two looks say which. Returns the
    /// round in which it should be met.
    fn saw(&mut self, look: Look, (least_power, growth): (f64, f64)) -> f64 {
        let Look { estimate, values, found } = look;
        self.told.tell(self.rounds, values);
        if self.best.as_ref().is_none_or(|(least, _)| estimate < *least) {
            (self.without_gain, self.best) = (0, Some((estimate, found)));
        } else {
            self.without_gain += 1;
        }
        let rounds = self.rounds as f64;
        let (times, fall) = (rounds / self.looked.0 as f64, self.looked.1 / estimate);
        let power = if fall > 1.0 && fall.is_finite() {
            (fall.ln() / times.ln()).max(least_power)
        } else {
            least_power
        };
        self.looked = (self.rounds, estimate);
        let expected = rounds * (estimate / self.gap).powf(1.0 / power);
        // A look costs about two rounds.
        self.look =
            self.rounds + ((expected.clamp(1.1 * rounds, growth * rounds) - rounds).ceil() as usize).max(3);
        expected
    }

    fn is_over(&self) -> bool {
        self.best.as_ref().is_some_and(|(estimate, _)| *estimate <= self.gap)
            || self.rounds >= self.max_rounds
            || self.without_gain >= 20
    }
}

impl Lines<'_> {
    /// The first rounds, as long as they seem to suffice.
    fn by_saddle(&mut self, x: &[f64], search: &mut Search<'_, '_>, control: &Control) -> Pass {
        let mut saddle = Saddle::new(&self.image, x);
        let ended = self.rounds_of_saddle(&mut saddle, search, control);
        if search.best.is_none() {
            // Ended before the first look: an image, and nothing known of it.
            let mut b = saddle.image_by_row(&self.image);
            b.iter_mut().for_each(|b| *b = shrunk(*b, self.task.sparse));
            let found = Found { b, dual: Dual::default(), rounds: 0, halt: None };
            search.best = Some((f64::INFINITY, found));
        }
        ended
    }

    fn rounds_of_saddle(
        &mut self,
        saddle: &mut Saddle,
        search: &mut Search<'_, '_>,
        control: &Control,
    ) -> Pass {
        loop {
            saddle.round(&self.image, self.task, &mut self.by_rows, control)?;
            if !search.counts_a_round() {
                continue;
            }
            self.settle(control)?;
            // Where a look is ended what was found before stands.
            let look = self.judge(Some(&saddle.image_by_row(&self.image)), CLOSE * search.gap, control)?;
            let expected = search.saw(look, SADDLE_PACE);
            if search.is_over() || expected > SADDLE_ROUNDS {
                return Ok(());
            }
        }
    }

    /// Rounds with momentum, from what the columns take off now.
    fn by_momentum(&mut self, search: &mut Search<'_, '_>, control: &Control) -> Pass {
        let (mut ahead, mut previous) = (self.by_columns.clone(), self.by_columns.clone());
        let mut momentum = 1.0_f64;
        search.look = search.rounds + FIRST_LOOK;
        loop {
            self.round(&ahead, control)?;
            // The step against the momentum: begin anew.
            let against: f64 = {
                let taken = self.by_columns.iter().zip(&previous);
                taken.zip(&ahead).map(|((now, before), ahead)| (ahead - now) * (now - before)).sum()
            };
            let next =
                if against > 0.0 { 1.0 } else { 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) };
            let weight = if against > 0.0 { 0.0 } else { (momentum - 1.0) / next };
            momentum = next;
            for ((ahead, now), before) in ahead.iter_mut().zip(&self.by_columns).zip(&previous) {
                *ahead = now + weight * (now - before);
            }
            previous.copy_from_slice(&self.by_columns);
            if search.counts_a_round() {
                let look = self.judge(None, NEAR * search.gap, control)?;
                search.saw(look, MOMENTUM_PACE);
                if search.is_over() {
                    return Ok(());
                }
            }
        }
    }

    /// Chains along all rows of `y - ahead`, then along all columns of what they leave of y.
    fn round(&mut self, ahead: &[f64], control: &Control) -> Pass {
        let (y, lambda) = (self.task.y, self.task.lambda);
        let Self { image, by_rows, .. } = self;
        image.along_rows(lambda, |at, _| y[at] - ahead[at], by_rows, |line, b| line - b, control)?;
        self.settle(control)
    }

    /// Chains along all columns of what the rows leave of y.
    fn settle(&mut self, control: &Control) -> Pass {
        let (y, lambda) = (self.task.y, self.task.lambda);
        let Self { image, by_columns, by_rows, across, .. } = self;
        image.along_columns(lambda, |at, _| y[at] - by_rows[at], across, control)?;
        image.by_row(by_columns, |at, turned| y[at] - by_rows[at] - across[turned]);
        Ok(())
    }

    /// The multipliers of the last lines, b, and a relative gap; b is the image that goes with the multipliers or the one given,
    /// whichever has the lower objective, and its regions are fused where the gap is within `near` already.
    fn judge(&mut self, other: Option<&[f64]>, near: f64, control: &Control) -> Pass<Look> {
        let (task, (rows, columns)) = (self.task, self.image.shape());
        let n = rows * columns;
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
        let mut above = objective(&plain, &b);
        if let Some((other, value)) = other.map(|other| (other, objective(&plain, other)))
            && value < above
        {
            b.copy_from_slice(other);
            above = value;
        }
        if relative(above, dual_value(&theta, task.y)) <= near {
            self.threshold = regions::fuse(&plain, &mut b, self.threshold, control)?;
        }
        b.iter_mut().for_each(|b| *b = shrunk(*b, task.sparse));
        for (theta, y) in theta.iter_mut().zip(task.y) {
            *theta += (y - *theta).clamp(-task.sparse, task.sparse);
        }
        let values = (objective(task, &b), dual_value(&theta, task.y));
        let found = Found { b, dual: Dual { z, theta: Vec::new() }, rounds: 0, halt: None::<Halt> };
        Ok(Look { estimate: relative(values.0, values.1), values, found })
    }
}
