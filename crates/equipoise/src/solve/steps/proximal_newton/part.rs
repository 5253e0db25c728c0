//! One part of the working set: consecutive coordinates, of which those that matter are kept side by side.
//!
//! For `h_c = l1 |z| + l2/2 z^2` on `[lower, upper]` the answer to g is
//!
//! ```text
//! z_c = clamp( soft(x_c / sigma - g, l1) r_c , lower, upper ) ,     r_c = 1 / (d_c + l2 + 1/sigma) .
//! ```
//!
//! A part is given its own stretch of x and z and a product to add to. It knows nothing of other parts or of threads.

use super::ProximalNewton;
use super::newton_system::Free;
use crate::separable::{Piece, SeparableTerm, Values};
use crate::smooth::Factored;

/// The answer to `pull = x / sigma - g`. Plain comparisons: a NaN would have been refused on the way in.
#[inline]
fn answer(pull: f64, l1: f64, r: f64, lower: f64, upper: f64) -> f64 {
    let pull = if l1 == 0.0 { pull } else { pull - pull.clamp(-l1, l1) };
    let z = pull * r;
    let z = if z > lower { z } else { lower };
    if z < upper { z } else { upper }
}

/// The answer of a whole piece.
#[inline]
fn answer_of(piece: &Piece, pull: f64, r: f64) -> f64 {
    answer(pull, piece.l1, r, piece.lower, piece.upper)
}

/// The coordinates from `first` on that are looked at, and what the others come to.
pub(super) struct Part {
    first: usize,
    pub(super) columns: Vec<u32>,
    /// `x_c / sigma - g_c`.
    pull: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    l1: Values,
    reciprocal: Values,
    /// What the coordinates answer now.
    z: Vec<f64>,
    /// How `g_c` changes along the Newton direction.
    along: Vec<f64>,
    /// `|z - x|^2` of the coordinates left out, and of all.
    outside_moved: f64,
    pub(super) moved_squared: f64,
    /// `A z` of the coordinates left out, and of all.
    outside_rows: Vec<f64>,
    pub(super) rows_now: Vec<f64>,
    /// The coordinates that answer, with their `S_c`.
    pub(super) free: Free,
    /// On ranks: whether each answers, and did when the system was factored.
    answers: Vec<bool>,
    answered_then: Vec<bool>,
    changes: Changes,
    /// What the part adds to the product, where it does not add to it directly.
    pub(super) to_product: Vec<f64>,
}

/// Which answers changed and by how much, brought into the product a few thousand at a time.
#[derive(Default)]
struct Changes {
    columns: Vec<u32>,
    amounts: Vec<f64>,
}

impl Changes {
    const MOST: usize = 4096;

    #[inline]
    fn push(&mut self, column: u32, amount: f64, factored: &dyn Factored, product: &mut [f64]) {
        self.columns.push(column);
        self.amounts.push(amount);
        if self.columns.len() == Self::MOST {
            self.flush(factored, product);
        }
    }

    fn flush(&mut self, factored: &dyn Factored, product: &mut [f64]) {
        factored.add_columns(&self.columns, &self.amounts, product);
        self.columns.clear();
        self.amounts.clear();
    }
}

/// Collects numbers that are mostly all the same.
struct Collector {
    first: Option<f64>,
    each: Vec<f64>,
}

impl Collector {
    fn push(&mut self, value: f64, before: usize) {
        let first = *self.first.get_or_insert(value);
        if self.each.is_empty() && value != first {
            self.each.resize(before, first);
        }
        if !self.each.is_empty() || value != first {
            self.each.push(value);
        }
    }

    fn finish(self) -> Values {
        if self.each.is_empty() {
            Values::Uniform(self.first.unwrap_or(0.0))
        } else {
            Values::Each(self.each)
        }
    }
}

impl Part {
    /// A part that begins at a coordinate, under so many rows.
    pub(super) fn new(first: usize, rows: usize) -> Self {
        Self {
            first,
            columns: Vec::new(),
            pull: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            l1: Values::Uniform(0.0),
            reciprocal: Values::Uniform(0.0),
            z: Vec::new(),
            along: Vec::new(),
            outside_moved: 0.0,
            moved_squared: 0.0,
            outside_rows: vec![0.0; rows],
            rows_now: vec![0.0; rows],
            free: Free::new(),
            answers: Vec::new(),
            answered_then: Vec::new(),
            changes: Changes::default(),
            to_product: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.columns.clear();
        for list in [&mut self.pull, &mut self.lower, &mut self.upper, &mut self.z] {
            list.clear();
        }
        for list in [&mut self.answers, &mut self.answered_then] {
            list.clear();
        }
        self.outside_moved = 0.0;
        self.outside_rows.fill(0.0);
    }

    fn reserve(&mut self, n: usize) {
        self.columns.reserve_exact(n);
        for list in [&mut self.pull, &mut self.lower, &mut self.upper, &mut self.z] {
            list.reserve_exact(n);
        }
    }

    /// Chooses who is looked at in the proximal point of x at the present dual point; sets z and product of the rest.
    pub(super) fn gather<H: SeparableTerm>(
        &mut self,
        method: &ProximalNewton<'_, H>,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
    ) {
        let inverse = 1.0 / method.sigma;
        self.clear();
        if method.band == f64::INFINITY {
            self.reserve(x.len());
        }
        let mut l1 = Collector { first: None, each: Vec::new() };
        let mut reciprocals = Collector { first: None, each: Vec::new() };
        let mut outside_sum = 0.0;
        let pull_of_row = method.coupling.uniform_row().map(|a| a * method.lambda[0]);
        for (k, (&x, z)) in x.iter().zip(z).enumerate() {
            let c = self.first + k;
            let of_row = pull_of_row.unwrap_or_else(|| method.coupling.column_dot(c, &method.lambda));
            let g = method.slopes[c] + of_row;
            let piece = method.h.piece(c);
            let reciprocal = 1.0 / (method.factored.own_curvature(c) + piece.l2 + inverse);
            let (center, band) = (x * inverse, method.band);
            // A coordinate is out where it stays put although g changes by the band either way.
            let near = band == f64::INFINITY
                || answer_of(&piece, center - g + band, reciprocal)
                    != answer_of(&piece, center - g - band, reciprocal);
            if near {
                l1.push(piece.l1, self.columns.len());
                reciprocals.push(reciprocal, self.columns.len());
                self.columns.push(c as u32);
                self.pull.push(center - g);
                self.lower.push(piece.lower);
                self.upper.push(piece.upper);
                self.z.push(*z);
            } else {
                let value = answer_of(&piece, center - g, reciprocal);
                if value != *z {
                    self.changes.push(c as u32, value - *z, &method.factored, product);
                    *z = value;
                }
                self.outside_moved += (value - x) * (value - x);
                if pull_of_row.is_some() {
                    outside_sum += value;
                } else if value != 0.0 {
                    method.coupling.add_column(c, value, &mut self.outside_rows);
                }
            }
        }
        if let Some(a) = method.coupling.uniform_row() {
            self.outside_rows[0] = a * outside_sum;
        }
        self.changes.flush(&method.factored, product);
        (self.l1, self.reciprocal) = (l1.finish(), reciprocals.finish());
        self.along.resize(self.columns.len(), 0.0);
    }

    /// The answers at the present g, into z and the product; who answers; what moved away from x.
    pub(super) fn answer<H: SeparableTerm>(
        &mut self,
        method: &ProximalNewton<'_, H>,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
    ) {
        let uniform = if let Values::Uniform(r) = self.reciprocal { Some(r) } else { None };
        self.free.clear(uniform);
        let factored = &method.factored;
        match (&self.l1, &self.reciprocal) {
            (&Values::Uniform(l1), &Values::Uniform(r)) => {
                self.answer_with(factored, x, z, product, |_| l1, |_| r);
            }
            (l1, r) => {
                let (l1, r) = (l1.clone(), r.clone());
                self.answer_with(factored, x, z, product, |k| l1.at(k), |k| r.at(k));
            }
        }
        self.rows_now.clone_from(&self.outside_rows);
        if let Some(a) = method.coupling.uniform_row() {
            self.rows_now[0] += a * self.z.iter().sum::<f64>();
        } else {
            for (&c, &z) in self.columns.iter().zip(&self.z) {
                if z != 0.0 {
                    method.coupling.add_column(c as usize, z, &mut self.rows_now);
                }
            }
        }
    }

    fn answer_with(
        &mut self,
        factored: &dyn Factored,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
        l1: impl Fn(usize) -> f64,
        r: impl Fn(usize) -> f64,
    ) {
        let mut moved_squared = self.outside_moved;
        for k in 0..self.columns.len() {
            let (l1, r) = (l1(k), r(k));
            let value = answer(self.pull[k], l1, r, self.lower[k], self.upper[k]);
            let answers = value > self.lower[k] && value < self.upper[k] && (l1 == 0.0 || value != 0.0);
            if answers {
                self.free.push(self.columns[k], r);
            }
            let c = self.columns[k] as usize - self.first;
            if value != self.z[k] {
                self.changes.push(self.columns[k], value - self.z[k], factored, product);
                self.z[k] = value;
                z[c] = value;
            }
            moved_squared += (value - x[c]) * (value - x[c]);
        }
        self.changes.flush(factored, product);
        self.moved_squared = moved_squared;
    }

    /// What the coordinates lack of the optimum at the present answers and dual point: `h + h* + g z`, each at least 0. Those left out
    /// rest at a bound that their g asks for.
    pub(super) fn lacking<H: SeparableTerm>(&self, method: &ProximalNewton<'_, H>, x: &[f64]) -> f64 {
        let inverse = 1.0 / method.sigma;
        let one = |((&c, z), pull): ((&u32, &f64), &f64)| {
            let c = c as usize;
            let g = x[c - self.first] * inverse - pull;
            let mut piece = method.h.piece(c);
            piece.l2 += method.factored.own_curvature(c);
            (piece.value(*z) + piece.conjugate(-g) + g * z).max(0.0)
        };
        self.columns.iter().zip(&self.z).zip(&self.pull).map(one).sum()
    }

    /// Takes note of who answers, and counts those that did not when [`Part::remember_answers`] was called, or no longer do.
    pub(super) fn changed_answers(&mut self) -> usize {
        self.answers.clear();
        self.answers.resize(self.columns.len(), false);
        let mut place = 0;
        for free in &self.free.columns {
            while self.columns[place] != *free {
                place += 1;
            }
            self.answers[place] = true;
        }
        self.answers.iter().zip(&self.answered_then).filter(|(now, then)| now != then).count()
    }

    pub(super) fn remember_answers(&mut self) {
        self.answered_then.clone_from(&self.answers);
    }

    /// How g changes along the direction that the system holds.
    pub(super) fn look_along<H: SeparableTerm>(&mut self, method: &ProximalNewton<'_, H>) {
        let (du, dlambda) = method.system.solution();
        method.factored.dots(&self.columns, du, &mut self.along);
        if let Some(a) = method.coupling.uniform_row() {
            let shift = a * dlambda[0];
            self.along.iter_mut().for_each(|along| *along += shift);
        } else {
            for (along, &c) in self.along.iter_mut().zip(&self.columns) {
                *along += method.coupling.column_dot(c as usize, dlambda);
            }
        }
    }

    /// What the answers contribute to the slope of the line at each t beyond what they do at 0.
    pub(super) fn contributions<const N: usize>(&self, at: [f64; N]) -> [f64; N] {
        match (&self.l1, &self.reciprocal) {
            (&Values::Uniform(0.0), &Values::Uniform(r)) => self.answered(at, |_| 0.0, |_| r),
            (l1, r) => self.answered(at, |k| l1.at(k), |k| r.at(k)),
        }
    }

    #[inline]
    fn answered<const N: usize>(
        &self,
        at: [f64; N],
        l1: impl Fn(usize) -> f64,
        r: impl Fn(usize) -> f64,
    ) -> [f64; N] {
        let n = self.columns.len();
        let (pull, along) = (&self.pull[..n], &self.along[..n]);
        let (lower, upper, z) = (&self.lower[..n], &self.upper[..n], &self.z[..n]);
        let mut sums = [[0.0; 4]; N];
        for k in 0..n {
            for (t, sums) in at.iter().zip(&mut sums) {
                let value = answer(pull[k] - t * along[k], l1(k), r(k), lower[k], upper[k]);
                sums[k & 3] += (value - z[k]) * along[k];
            }
        }
        sums.map(|sums| (sums[0] + sums[1]) + (sums[2] + sums[3]))
    }

    /// Goes t along the direction.
    pub(super) fn advance(&mut self, t: f64) {
        self.pull.iter_mut().zip(&self.along).for_each(|(pull, along)| *pull -= t * along);
    }

    /// The largest change of any g since it was gathered, with these multipliers.
    pub(super) fn travelled<H: SeparableTerm>(
        &self,
        method: &ProximalNewton<'_, H>,
        first_lambda: &[f64],
        x: &[f64],
    ) -> f64 {
        let mut largest: f64 = 0.0;
        let of_row = method.coupling.uniform_row().map(|a| a * first_lambda[0]);
        let inverse = 1.0 / method.sigma;
        for (&c, pull) in self.columns.iter().zip(&self.pull) {
            let c = c as usize;
            let of_row = of_row.unwrap_or_else(|| method.coupling.column_dot(c, first_lambda));
            let then = x[c - self.first] * inverse - method.slopes[c] - of_row;
            let change = (pull - then).abs();
            largest = if change > largest { change } else { largest };
        }
        largest
    }

    /// How many of the coordinates left out would answer otherwise by now.
    pub(super) fn missed<H: SeparableTerm>(
        &self,
        method: &ProximalNewton<'_, H>,
        x: &[f64],
        z: &[f64],
    ) -> usize {
        if self.columns.len() == x.len() {
            return 0;
        }
        let inverse = 1.0 / method.sigma;
        let mut inside = self.columns.iter().copied().peekable();
        let mut missed = 0;
        for (k, (x, z)) in x.iter().zip(z).enumerate() {
            let c = self.first + k;
            if inside.next_if_eq(&(c as u32)).is_some() {
                continue;
            }
            let g = method.slopes[c] + method.coupling.column_dot(c, &method.lambda);
            let piece = method.h.piece(c);
            let reciprocal = 1.0 / (method.factored.own_curvature(c) + piece.l2 + inverse);
            missed += usize::from(answer_of(&piece, x * inverse - g, reciprocal) != *z);
        }
        missed
    }
}
