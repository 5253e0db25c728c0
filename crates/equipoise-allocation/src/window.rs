//! One row and quadratic costs: two passes over all users, whatever their number.
//!
//! ```text
//! x_i(lambda) = clip((a_i lambda - c1_i) / (2 c2_i)),     phi(lambda) = sum_i a_i x_i(lambda) = b
//! ```
//!
//! A sample of the users says in which window of prices the answer lies. The first pass puts every user into one of three
//! classes: at a limit throughout the window (a constant), free throughout it (a straight line), or changing in it (kept). phi is
//! then a straight line plus a few users, and its root is found among those. The second pass writes x. Where the
//! window was wrong a wider one is tried.
//!
//! - Given: a problem of one row whose costs are all quadratic. Returns: the same as [`one_row::solve`](crate::one_row).

#![expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
#![expect(clippy::needless_bitwise_bool, reason = "comparisons of vectors have no short cuts")]

use std::ops::Range;

use equipoise::Team;
use pulp::{Arch, Simd, WithSimd};

use crate::column::BLOCK;
use crate::costs::{CostLanes, Costs, cut, raise};
use crate::error::{Error, Result};
use crate::lanes::{Plain, Twofold};
use crate::one_row::{Found, fill, first_price, sample, unbounded};
use crate::pass::{GroupLanes, Passes};
use crate::problem::{Problem, Row};
use crate::root::{self, Point, Root};
use crate::solve::Memory;

/// Users from which on a window pays.
const MANY: usize = 1 << 13;
/// Standard deviations of the sample that the window is wide.
const DEVIATIONS: f64 = 4.0;
/// Windows that are tried before the search goes on without.
const WINDOWS: usize = 12;

/// Whether this is a problem for it.
pub(crate) fn applies(problem: &Problem) -> bool {
    problem.rows.len() == 1
        && problem.users >= MANY
        && problem.groups.iter().all(|group| matches!(group.costs, Costs::Quadratic { .. }))
}

/// Users that change within the window: their numbers, side by side.
#[derive(Debug, Default)]
struct Kept {
    a: Vec<f64>,
    c2: Vec<f64>,
    c1: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// phi over a window: a straight line from its lower end, and the users that change.
struct Line {
    given: f64,
    slope: f64,
    size: f64,
    kept: Kept,
}

/// Finds x, or gives up where no window holds the answer.
pub(crate) fn solve(
    problem: &Problem,
    row: &Row,
    passes: &Passes<'_>,
    start: Option<f64>,
    memory: &mut Memory<'_>,
) -> Result<Option<Found>> {
    let (asked, rows) = (row.value, std::slice::from_ref(row));
    let (mut low, mut high) = window(problem, rows, passes, start)?;
    for _ in 0..WINDOWS {
        memory.prices = vec![0.5 * low + 0.5 * high];
        let line = cut_out(passes, low, high)?;
        memory.step(&[low], &[line.given], rows);
        let width = high - low;
        let wide = (8.0 * width).max(1e-9 * low.abs().max(high.abs())).max(1e-300);
        if !line.given.is_finite() {
            return Ok(None);
        }
        let first = line.at(low, low);
        if first.given > asked {
            (low, high) = (low - wide, low);
            continue;
        }
        if line.at(high, low).given < asked {
            (low, high) = (high, high + wide);
            continue;
        }
        let begin = low + (asked - first.given) / first.slope.max(f64::MIN_POSITIVE);
        let begin = if begin > low && begin < high { begin } else { 0.5 * low + 0.5 * high };
        // Outside the window the line is not phi.
        let within = (low, high);
        let at = |price| Ok::<Point, Error>(line.at(price, low));
        let found = root::find(begin, within, asked, root::SHARP, at)?;
        let mut x = vec![0.0; problem.users];
        return match found {
            Root::Met { price, slope } => {
                let has_slope = slope > 0.0;
                let supply = passes.respond(&[price], None, true, &mut x)?;
                memory.step(&[price], &supply.given, rows);
                let missing = Some((asked - supply.given[0], supply.sizes[0]));
                Ok(Some(Found { x, price, other: price, has_slope, missing }))
            }
            Root::Jump { low, high } => {
                let mut above = vec![0.0; problem.users];
                passes.respond(&[low], None, true, &mut x)?;
                passes.respond(&[high], None, true, &mut above)?;
                memory.prices = vec![low];
                fill(problem, asked, &mut x, &above);
                Ok(Some(Found { x, price: low, other: high, has_slope: false, missing: None }))
            }
            Root::Undefined { price } => Err(unbounded(problem, price)),
        };
    }
    Ok(None)
}

/// Prices between which the answer probably lies.
fn window(problem: &Problem, rows: &[Row], passes: &Passes<'_>, start: Option<f64>) -> Result<(f64, f64)> {
    let first = start.unwrap_or_else(|| first_price(problem));
    let around = |price: f64| (price - 1e-3 * price.abs() - 1e-300, price + 1e-3 * price.abs() + 1e-300);
    let Some(sample) = sample(problem, rows) else { return Ok(around(first)) };
    let team = Team::of(1);
    let few = Passes::new(&sample, &team, passes.control);
    let mut x = vec![0.0; sample.users];
    let at = |asked: f64, first: f64, x: &mut [f64]| -> Result<(f64, f64)> {
        let found = root::find(first, root::ANYWHERE, asked, root::ROUGH, |price| {
            let supply = few.respond(&[price], None, true, x)?;
            Ok::<Point, Error>(Point {
                given: supply.given[0],
                slope: supply.jacobian[0],
                size: supply.sizes[0],
            })
        })?;
        Ok(match found {
            Root::Met { price, .. } | Root::Undefined { price } => (price, price),
            Root::Jump { low, high } => (low, high),
        })
    };
    let asked = sample.rows[0].value;
    let (middle, _) = at(asked, first, &mut x)?;
    // How far the sum over such a sample strays: by the spread of its terms.
    let terms = terms(&sample, &x);
    let mean = terms.iter().sum::<f64>() / terms.len() as f64;
    let spread = terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>().sqrt();
    let stray = DEVIATIONS * spread;
    if !stray.is_finite() {
        return Ok(around(middle));
    }
    let (low, _) = at(asked - stray, middle, &mut x)?;
    let (_, high) = at(asked + stray, middle, &mut x)?;
    let is_sound = low.abs() < 1e250 && high.abs() < 1e250 && low < high;
    Ok(if is_sound { (low, high) } else { around(middle) })
}

/// `a_i x_i`.
fn terms(problem: &Problem, x: &[f64]) -> Vec<f64> {
    let mut at = 0;
    let mut terms = Vec::with_capacity(x.len());
    for group in &problem.groups {
        terms.extend((0..group.count).map(|place| group.coefficients[0].get(place) * x[at + place]));
        at += group.count;
    }
    terms
}

/// The first pass.
fn cut_out(passes: &Passes<'_>, low: f64, high: f64) -> Result<Line> {
    let shares = passes.team.map(passes.spans().collect::<Vec<_>>().into_iter(), |(group, range)| {
        passes.control.check()?;
        Ok::<Share, Error>(Arch::new().dispatch(Cut { group, range, low, high }))
    });
    let mut given = Twofold::default();
    let mut line = Line { given: 0.0, slope: 0.0, size: 0.0, kept: Kept::default() };
    for share in shares {
        let share = share?;
        given.add_numbers(&share.given.parts());
        line.size += share.given.size();
        line.slope += share.slope;
        line.kept.a.extend_from_slice(&share.kept.a);
        line.kept.c2.extend_from_slice(&share.kept.c2);
        line.kept.c1.extend_from_slice(&share.kept.c1);
        line.kept.lower.extend_from_slice(&share.kept.lower);
        line.kept.upper.extend_from_slice(&share.kept.upper);
    }
    line.given = given.value();
    Ok(line)
}

impl Line {
    /// phi at a price of the window that begins at `low`.
    fn at(&self, price: f64, low: f64) -> Point {
        let (mut given, slope, size) = Arch::new().dispatch(Changing { kept: &self.kept, price });
        given.add_numbers(&[self.given, self.slope * (price - low)]);
        Point { given: given.value(), slope: self.slope + slope, size: self.size + size }
    }
}

/// What the users that change give at a price: the sum, its slope, the size of its terms.
struct Changing<'a> {
    kept: &'a Kept,
    price: f64,
}

impl WithSimd for Changing<'_> {
    type Output = (Twofold, f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Self::Output {
        let Self { kept, price } = self;
        let (mut given, mut slope) = (Twofold::default(), Plain::default());
        let (mut terms, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK]);
        for first in (0..kept.a.len()).step_by(BLOCK) {
            let n = BLOCK.min(kept.a.len() - first);
            let block = first..first + n;
            let (a, c2, c1) = (&kept.a[block.clone()], &kept.c2[block.clone()], &kept.c1[block.clone()]);
            let (l, u) = (&kept.lower[block.clone()], &kept.upper[block]);
            let (terms, slopes) = (&mut terms[..n], &mut slopes[..n]);
            for k in 0..n {
                let inverse = 1.0 / (2.0 * c2[k]);
                let free = (a[k] * price - c1[k]) * inverse;
                terms[k] = a[k] * cut(raise(free, l[k]), u[k]);
                slopes[k] = if (free > l[k]) & (free < u[k]) { a[k] * a[k] * inverse } else { 0.0 };
            }
            given.add_numbers(terms);
            slope.add_numbers(slopes);
        }
        (given, slope.value(), given.size())
    }
}

/// What a span adds.
struct Share {
    given: Twofold,
    slope: f64,
    kept: Kept,
}

struct Cut<'a> {
    group: &'a GroupLanes<'a>,
    range: Range<usize>,
    low: f64,
    high: f64,
}

impl WithSimd for Cut<'_> {
    type Output = Share;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Share {
        let Self { group, range, low, high } = self;
        let CostLanes::Quadratic(c2, c1, _) = &group.costs else { unreachable!("all costs are quadratic") };
        let (mut given, mut slope, mut kept) = (Twofold::default(), Plain::default(), Kept::default());
        let (mut terms, mut slopes, mut changes) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for first in (range.start..range.end).step_by(BLOCK) {
            let n = BLOCK.min(range.end - first);
            let block = first..first + n;
            let a = &group.rows[0].block(block.clone())[..n];
            let (c2, c1) = (&c2.block(block.clone())[..n], &c1.block(block.clone())[..n]);
            let (l, u) = (&group.lower.block(block.clone())[..n], &group.upper.block(block.clone())[..n]);
            let (terms, slopes, changes) = (&mut terms[..n], &mut slopes[..n], &mut changes[..n]);
            for k in 0..n {
                let inverse = 1.0 / (2.0 * c2[k]);
                let (at_low, at_high) = ((a[k] * low - c1[k]) * inverse, (a[k] * high - c1[k]) * inverse);
                let x = cut(raise(at_low, l[k]), u[k]);
                let other = cut(raise(at_high, l[k]), u[k]);
                // No short cuts: every comparison is made in every lane.
                let is_free = (at_low > l[k]) & (at_low < u[k]) & (at_high > l[k]) & (at_high < u[k]);
                let is_known = (x == other) | is_free;
                terms[k] = if is_known { a[k] * x } else { 0.0 };
                slopes[k] = if is_free { a[k] * a[k] * inverse } else { 0.0 };
                changes[k] = if is_known { 0.0 } else { 1.0 };
            }
            given.add_numbers(terms);
            slope.add_numbers(slopes);
            let mut any = Plain::default();
            any.add_numbers(changes);
            if any.value() > 0.0 {
                for k in (0..n).filter(|&k| changes[k] > 0.0) {
                    kept.a.push(a[k]);
                    kept.c2.push(c2[k]);
                    kept.c1.push(c1[k]);
                    kept.lower.push(l[k]);
                    kept.upper.push(u[k]);
                }
            }
        }
        Share { given, slope: slope.value(), kept }
    }
}
