//! `A x = b` with proven errors: what certificates ask of a coupling.
//!
//! Feasible is a point whose every row holds up to a small share of that row's own terms,
//!
//! ```text
//! |a_i x - b_i|  <=  1e-9 (|b_i| + sum_j |a_ij x_j|) ,
//! ```
//!
//! with `max_j |a_ij|` in place of a sum that is 0: the rule has no unit, and a row of small numbers counts as much as one of
//! large ones.

use super::{Coupling, RowUnits, Shape};
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, Sum, above};
use crate::team::Team;

/// The share of a row's own terms that it may be off by.
pub const ALLOWED_SHARE: f64 = 1e-9;

/// What `A x` misses b by, from above.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Miss {
    /// The largest size of an entry of `A x - b`.
    pub absolute: f64,
    /// The largest share of its own terms that a row is off by.
    pub relative: f64,
}

impl Miss {
    /// Whether every row holds.
    pub fn is_feasible(self) -> bool {
        self.relative <= ALLOWED_SHARE
    }

    fn of_row(&mut self, miss: f64, terms: f64, largest: f64) {
        // Infinite terms of both signs add up to no number: what is not known does not hold.
        let miss = if miss.is_nan() { f64::INFINITY } else { miss };
        self.absolute = if miss > self.absolute { miss } else { self.absolute };
        let size = if terms > 0.0 { terms.min(f64::MAX) } else { largest };
        // A row of nothing but zeros holds or does not.
        let relative = match (miss > 0.0, size > 0.0) {
            (false, _) => 0.0,
            (true, true) => miss / size,
            (true, false) => f64::INFINITY,
        };
        self.relative = if relative > self.relative || relative.is_nan() { relative } else { self.relative };
    }
}

/// What a row adds up to.
#[derive(Debug, Clone, Copy)]
struct RowSum {
    /// `a x - b`.
    off: f64,
    /// `|b| + sum |a_j x_j|`.
    terms: f64,
    /// `max |a_j|`.
    largest: f64,
}

impl Coupling {
    /// Calls `visit(r, a)` for every stored coefficient of column c.
    #[inline]
    pub(crate) fn for_each_in_column(&self, c: usize, mut visit: impl FnMut(usize, f64)) {
        match &self.shape {
            Shape::None => {}
            Shape::Row(weights) => visit(0, weights.at(c)),
            Shape::BlockSum => visit(c % self.rhs.len(), 1.0),
            Shape::Rows(matrix) => matrix.for_each_in_column(c, visit),
        }
    }

    /// What `A x` misses b by, in plain arithmetic.
    pub fn miss(&self, x: &[f64]) -> Miss {
        // Without a control a pass cannot be ended.
        self.miss_within(x, &Control::unlimited()).unwrap_or_default()
    }

    /// The same as a pass that may be ended.
    pub(crate) fn miss_within(&self, x: &[f64], control: &Control) -> Pass<Miss> {
        let mut miss = Miss::default();
        for row in self.sums_of_rows(x, control)? {
            miss.of_row(row.off.abs(), row.terms, row.largest);
        }
        Ok(miss)
    }

    /// What the rows of all ranks miss: each has its columns of A, its x and its share of b.
    pub(crate) fn miss_across(&self, x: &[f64], team: &Team) -> Miss {
        if !team.is_spread() {
            return self.miss(x);
        }
        let rows = self.sums_of_rows(x, &Control::unlimited()).unwrap_or_default();
        let mut sums: Vec<f64> = rows.iter().flat_map(|row| [row.off, row.terms]).collect();
        team.total(&mut sums);
        let mut miss = Miss::default();
        for (row, sums) in rows.iter().zip(sums.chunks(2)) {
            miss.of_row(sums[0].abs(), sums[1], team.largest(row.largest));
        }
        miss
    }

    /// The first row that does not hold: which, what it is off by, and what it may be.
    pub(crate) fn first_row_missed(&self, x: &[f64], control: &Control) -> Pass<Option<(usize, f64, f64)>> {
        let rows = self.sums_of_rows(x, control)?;
        Ok(rows.iter().enumerate().find_map(|(r, row)| {
            let allowed = ALLOWED_SHARE * if row.terms > 0.0 { row.terms } else { row.largest };
            let holds = row.off.abs() <= allowed.min(f64::MAX);
            (!holds).then_some((r, row.off, allowed))
        }))
    }

    /// What every row adds up to, in plain arithmetic.
    fn sums_of_rows(&self, x: &[f64], control: &Control) -> Pass<Vec<RowSum>> {
        let own = |b: &f64| RowSum { off: -b, terms: b.abs(), largest: 0.0 };
        let mut rows: Vec<RowSum> = self.rhs.iter().map(own).collect();
        control.in_parts(x.len(), 2 * self.numbers_per_column(), |part| {
            for c in part {
                self.for_each_in_column(c, |r, a| {
                    rows[r].off += a * x[c];
                    rows[r].terms += (a * x[c]).abs();
                    rows[r].largest = rows[r].largest.max(a.abs());
                });
            }
        })?;
        Ok(rows)
    }

    /// What `A x` misses b by, from above: the exact numbers are no larger.
    pub(crate) fn enclose_miss(&self, x: &[f64], control: &Control) -> Pass<Miss> {
        let (miss, is_even) = self.enclose_miss_in(&RowUnits::default(), x, control)?;
        if is_even {
            return Ok(miss);
        }
        // What underflows is charged by a fixed number, which is more than a row of very small numbers may be off by.
        let units = RowUnits::of(self, x.len(), control)?;
        match units.applied_to(self) {
            Some(even) => Ok(even.enclose_miss_in(&units, x, control)?.0),
            None => Ok(miss),
        }
    }

    /// The same for rows in these units, and whether none is far out.
    fn enclose_miss_in(&self, units: &RowUnits, x: &[f64], control: &Control) -> Pass<(Miss, bool)> {
        let m = self.rows();
        let (mut sums, mut sizes, mut largest) = (vec![Sum::default(); m], vec![0.0; m], vec![0.0_f64; m]);
        control.in_parts(x.len(), 4 * self.numbers_per_column(), |part| {
            for c in part {
                self.for_each_in_column(c, |r, a| {
                    // Nothing is added, exactly.
                    if a != 0.0 && x[c] != 0.0 {
                        sums[r].add_product(a, x[c]);
                    }
                    sizes[r] += (a * x[c]).abs();
                    largest[r] = largest[r].max(a.abs());
                });
            }
        })?;
        let mut miss = Miss::default();
        for (r, b) in self.rhs.iter().enumerate() {
            sums[r].add(-b);
            // The sizes are sums of so many roundings; from below, they divide.
            let terms = (sizes[r] + b.abs()) * (1.0 - 2.0 * x.len() as f64 * f64::EPSILON);
            let residual = sums[r].value();
            let exact = residual.upper() == 0.0 && residual.lower() == 0.0;
            let mut own = Miss { absolute: 0.0, ..miss };
            own.of_row(if exact { 0.0 } else { residual.abs().upper() }, terms, largest[r]);
            let absolute = units.size_given(r, own.absolute);
            miss.absolute = if absolute > miss.absolute { absolute } else { miss.absolute };
            miss.relative = own.relative;
        }
        miss.relative = if miss.relative > 0.0 { above(miss.relative) } else { 0.0 };
        Ok((miss, largest.into_iter().all(RowUnits::is_even)))
    }

    /// The inner product of column c with lambda, with its error.
    pub(crate) fn enclose_column_dot(&self, c: usize, lambda: &[f64]) -> Enclosure {
        match &self.shape {
            Shape::None => Enclosure::from(0.0),
            Shape::Row(weights) => Enclosure::product(weights.at(c), lambda[0]),
            Shape::BlockSum => Enclosure::from(lambda[c % self.rhs.len()]),
            Shape::Rows(matrix) => matrix.enclose_column_dot(c, lambda),
        }
    }
}

impl Coupling {
    /// Narrows intervals that hold the coordinates of every point of interest, by what `A x = b` proves: where all terms of a
    /// row but one are bounded, so is that one.
    pub(crate) fn narrow(&self, within: &mut [(f64, f64)], control: &Control) -> Pass {
        let m = self.rows();
        if m == 0 {
            return Ok(());
        }
        // For every row the sums of the least and of the largest values of its terms, and how many of them are infinite.
        let (mut least, mut most) = (vec![Sum::default(); m], vec![Sum::default(); m]);
        let mut open = vec![[0_usize; 2]; m];
        let ends = |a: f64, (lo, hi): (f64, f64)| if a >= 0.0 { (lo, hi) } else { (hi, lo) };
        control.in_parts(within.len(), 8 * self.numbers_per_column(), |part| {
            for c in part {
                self.for_each_in_column(c, |r, a| {
                    if a != 0.0 {
                        let (low, high) = ends(a, within[c]);
                        if low.is_finite() {
                            least[r].add_product(a, low);
                        } else {
                            open[r][0] += 1;
                        }
                        if high.is_finite() { most[r].add_product(a, high) } else { open[r][1] += 1 }
                    }
                });
            }
        })?;
        control.in_parts(within.len(), 8 * self.numbers_per_column(), |part| {
            for c in part {
                let (mut lo, mut hi) = within[c];
                let own = within[c];
                self.for_each_in_column(c, |r, a| {
                    if a == 0.0 {
                        return;
                    }
                    let (low, high) = ends(a, own);
                    let others = |sum: &Sum, open: usize, end: f64| {
                        // The term itself is taken out again.
                        match (open, end.is_finite()) {
                            (0, true) => Some(sum.value() - Enclosure::product(a, end)),
                            (1, false) => Some(sum.value()),
                            _ => None,
                        }
                    };
                    let b = Enclosure::from(self.rhs[r]);
                    // a z <= b - (the least of the others), and likewise from the other side.
                    let above = others(&least[r], open[r][0], low).map(|rest| (b - rest).over(a.into()));
                    let below = others(&most[r], open[r][1], high).map(|rest| (b - rest).over(a.into()));
                    let (above, below) = if a > 0.0 { (above, below) } else { (below, above) };
                    hi = above.map_or(hi, |end| hi.min(end.upper()));
                    lo = below.map_or(lo, |end| lo.max(end.lower()));
                });
                // A point may miss its rows by rounding: intervals are narrowed only where nothing was known.
                if !own.0.is_finite() && lo <= hi {
                    within[c].0 = lo;
                }
                if !own.1.is_finite() && lo <= hi {
                    within[c].1 = hi;
                }
            }
        })
    }
}
