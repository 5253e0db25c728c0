//! One row and quadratic costs: one or two passes over all users, whatever their number.
//!
//! ```text
//! x_i(lambda) = clip((a_i lambda - c1_i) / (2 c2_i)),     phi(lambda) = sum_i a_i x_i(lambda) = b
//! ```
//!
//! A sample of the users says in which window of prices the answer lies. The first pass puts every user into one of three
//! classes: at a limit throughout the window (a constant), free throughout it (a straight line), or changing in it. phi is
//! then a straight line plus a few users, and its root is found among those.
//!
//! Where the sample has most users at their limits, that pass writes x of those who are, and keeps everybody else: once the
//! price is known, theirs is written, and no second pass is needed. Otherwise those who are free join the line, and a second
//! pass writes x. Where the window was wrong a wider one is tried.
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
/// Every so many users may be off their limits where one pass is to do.
const FEW: f64 = 4.0;
/// Users that are kept of a span that are few enough to go with others: what is copied is memory that is touched twice.
const SMALL: usize = 1 << 8;
/// Windows that are tried before the search goes on without.
const WINDOWS: usize = 12;

/// Whether this is a problem for it.
pub(crate) fn applies(problem: &Problem) -> bool {
    problem.rows.len() == 1
        && problem.users >= MANY
        && problem.groups.iter().all(|group| matches!(group.costs, Costs::Quadratic { .. }))
}

/// Users whose responses are not known yet: their numbers, side by side, and where they are in the order of groups.
#[derive(Debug, Default)]
struct Kept {
    a: Vec<f64>,
    c2: Vec<f64>,
    c1: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    places: Vec<u32>,
}

/// phi over a window: a straight line from its lower end, and the users that are kept.
struct Line {
    given: Twofold,
    slope: f64,
    size: f64,
    /// In parts, where spans left them: copies would be memory that is new.
    kept: Vec<Kept>,
}

/// What is believed before all users are asked.
struct Guess {
    /// Prices between which the answer lies.
    low: f64,
    high: f64,
    /// The share of users that are off their limits there, where that is small.
    moving: Option<f64>,
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
    let Guess { mut low, mut high, moving } = guess(problem, rows, passes, start)?;
    let mut x = vec![0.0; problem.users];
    for _ in 0..WINDOWS {
        memory.prices = vec![0.5 * low + 0.5 * high];
        let line = cut_out(passes, (low, high), moving.map(|share| (&mut x, share)))?;
        let first = line.at(low, low);
        memory.step(&[low], &[first.given], rows);
        let width = high - low;
        let wide = (8.0 * width).max(1e-9 * low.abs().max(high.abs())).max(1e-300);
        if !first.given.is_finite() {
            return Ok(None);
        }
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
        let at = |price| {
            passes.control.check()?;
            Ok::<Point, Error>(line.at(price, low))
        };
        let found = root::find(begin, within, asked, root::SHARP, at)?;
        return match found {
            Root::Met { price, slope } => {
                let has_slope = slope > 0.0;
                let (given, size) = if moving.is_some() {
                    line.write(price, &mut x)
                } else {
                    let supply = passes.respond(&[price], None, true, &mut x)?;
                    (supply.given[0], supply.sizes[0])
                };
                memory.step(&[price], &[given], rows);
                let missing = Some((asked - given, size));
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

/// Prices between which the answer probably lies, from a sample, itself asked from a sample of its own.
fn guess(problem: &Problem, rows: &[Row], passes: &Passes<'_>, start: Option<f64>) -> Result<Guess> {
    let around = |price: f64| {
        let room = 1e-3 * price.abs() + 1e-300;
        Guess { low: price - room, high: price + room, moving: None }
    };
    let Some(sample) = sample(problem, rows) else {
        return Ok(around(start.unwrap_or_else(|| first_price(problem))));
    };
    let team = Team::of(1);
    let few = Passes::new(&sample, &team, passes.control);
    let mut x = vec![0.0; sample.users];
    let asked = sample.rows[0].value;
    let first = match start {
        Some(price) => price,
        None if applies(&sample) => {
            let Guess { low, high, .. } = guess(&sample, &sample.rows, &few, None)?;
            0.5 * low + 0.5 * high
        }
        None => first_price(&sample),
    };
    let mut at = |price: f64| -> Result<Point> {
        let supply = few.respond(&[price], None, true, &mut x)?;
        Ok(Point { given: supply.given[0], slope: supply.jacobian[0], size: supply.sizes[0] })
    };
    let middle = match root::find(first, root::ANYWHERE, asked, root::ROUGH, &mut at)? {
        Root::Met { price, .. } | Root::Undefined { price } => price,
        Root::Jump { low, .. } => low,
    };
    let slope = at(middle)?.slope;
    // How far the sum over such a sample strays: by the spread of its terms.
    let terms = terms(&sample, &x);
    let mean = terms.iter().sum::<f64>() / terms.len() as f64;
    let spread = terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>().sqrt();
    let room = DEVIATIONS * spread / slope;
    let (low, high) = (middle - room, middle + room);
    let is_sound = room > 0.0 && low.abs() < 1e250 && high.abs() < 1e250 && low < high;
    if !is_sound {
        return Ok(around(middle));
    }
    let kept = cut_out(&few, (low, high), Some((&mut x, 0.0)))?.kept;
    let share = kept.iter().map(|kept| kept.a.len()).sum::<usize>() as f64 / sample.users as f64;
    Ok(Guess { low, high, moving: (share * FEW <= 1.0).then_some(share) })
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

/// The first pass; with a place for x everybody who is off its limits is kept, about that share of them, and x of the others is written.
fn cut_out(passes: &Passes<'_>, (low, high): (f64, f64), x: Option<(&mut Vec<f64>, f64)>) -> Result<Line> {
    let mut at = 0;
    let mut place = |range: &Range<usize>| {
        at += range.len();
        at - range.len()
    };
    let shares: Vec<Result<Share>> = match x {
        Some((x, share)) => passes.team.map(
            passes.spans_of(x).into_iter().map(|(group, range, x)| (place(&range), group, range, x)),
            |(start, group, range, x)| {
                passes.control.check()?;
                // A little more than are to be expected: lists that grow are copied, into memory that is new.
                let kept = Kept::with_room((1.2 * share * range.len() as f64) as usize + 64);
                Ok(Arch::new().dispatch(CutOff { group, range, start, low, high, x, kept }))
            },
        ),
        None => passes.team.map(passes.spans(), |(group, range)| {
            passes.control.check()?;
            Ok(Arch::new().dispatch(Cut { group, range, low, high }))
        }),
    };
    let mut line = Line { given: Twofold::default(), slope: 0.0, size: 0.0, kept: Vec::new() };
    for share in shares {
        let share = share?;
        line.given.add_numbers(&share.given.parts());
        line.size += share.given.size();
        line.slope += share.slope;
        match line.kept.last_mut() {
            Some(last) if share.kept.a.len() < SMALL && last.a.len() < SMALL => last.append(&share.kept),
            _ => line.kept.push(share.kept),
        }
    }
    Ok(line)
}

impl Kept {
    fn with_room(count: usize) -> Self {
        let list = || Vec::with_capacity(count);
        let (a, c2, c1, lower, upper) = (list(), list(), list(), list(), list());
        Self { a, c2, c1, lower, upper, places: Vec::with_capacity(count) }
    }

    fn append(&mut self, other: &Self) {
        self.a.extend_from_slice(&other.a);
        self.c2.extend_from_slice(&other.c2);
        self.c1.extend_from_slice(&other.c1);
        self.lower.extend_from_slice(&other.lower);
        self.upper.extend_from_slice(&other.upper);
        self.places.extend_from_slice(&other.places);
    }
}

impl Line {
    /// phi at a price of the window that begins at `low`.
    fn at(&self, price: f64, low: f64) -> Point {
        let (mut given, mut slope, mut size) = (Twofold::default(), self.slope, self.size);
        for kept in &self.kept {
            let (own, bend, terms) = Arch::new().dispatch(Changing { kept, price });
            given.add_numbers(&own.parts());
            slope += bend;
            size += terms;
        }
        given.add_numbers(&self.given.parts());
        given.add_numbers(&[self.slope * (price - low)]);
        Point { given: given.value(), slope, size }
    }

    /// Writes x of those who are kept; what all give at this price, and the size of the terms.
    fn write(&self, price: f64, x: &mut [f64]) -> (f64, f64) {
        let (mut given, mut size, mut own) = (Twofold::default(), self.size, Vec::new());
        for kept in &self.kept {
            own.resize(kept.a.len(), 0.0);
            let part = Arch::new().dispatch(Written { kept, price, own: &mut own });
            size += part.size();
            given.add_numbers(&part.parts());
            for (place, own) in kept.places.iter().zip(&own) {
                x[*place as usize] = *own;
            }
        }
        given.add_numbers(&self.given.parts());
        (given.value(), size)
    }
}

/// The responses of the users that are kept, the same bits as those of a pass over all, and what they give.
struct Written<'a> {
    kept: &'a Kept,
    price: f64,
    own: &'a mut [f64],
}

impl WithSimd for Written<'_> {
    type Output = Twofold;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Twofold {
        let Self { kept, price, own } = self;
        let n = own.len();
        let (a, c2, c1) = (&kept.a[..n], &kept.c2[..n], &kept.c1[..n]);
        let (l, u) = (&kept.lower[..n], &kept.upper[..n]);
        for k in 0..n {
            let free = (a[k] * price - c1[k]) * (1.0 / (2.0 * c2[k]));
            own[k] = cut(raise(free, l[k]), u[k]);
        }
        let mut given = Twofold::default();
        given.add_products(a, own);
        given
    }
}

/// What the users that are kept give at a price: the sum, its slope, the size of its terms.
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

/// Columns of a block of users: a, c2, c1, limits.
struct Columns<'a> {
    a: &'a [f64],
    c2: &'a [f64],
    c1: &'a [f64],
    lower: &'a [f64],
    upper: &'a [f64],
}

impl<'a> Columns<'a> {
    #[inline(always)]
    fn of(group: &'a GroupLanes<'a>, block: &Range<usize>) -> Self {
        let n = block.len();
        let CostLanes::Quadratic(c2, c1, _) = &group.costs else { unreachable!("all costs are quadratic") };
        Self {
            a: &group.rows[0].block(block.clone())[..n],
            c2: &c2.block(block.clone())[..n],
            c1: &c1.block(block.clone())[..n],
            lower: &group.lower.block(block.clone())[..n],
            upper: &group.upper.block(block.clone())[..n],
        }
    }
}

impl Kept {
    /// Keeps those of a block that are marked; the block begins at `start` in the order of groups.
    #[inline(always)]
    fn keep(&mut self, from: &Columns<'_>, marks: &[u64], start: usize) {
        let mut places = [0_u32; BLOCK];
        let mut count = 0;
        // Without branches: a place is written for everybody and stays for those who are marked.
        for (k, mark) in marks.iter().enumerate() {
            places[count % BLOCK] = k as u32;
            count += *mark as usize;
        }
        let places = &places[..count];
        let take = |list: &mut Vec<f64>, column: &[f64]| {
            list.extend(places.iter().map(|&k| column[k as usize]));
        };
        take(&mut self.a, from.a);
        take(&mut self.c2, from.c2);
        take(&mut self.c1, from.c1);
        take(&mut self.lower, from.lower);
        take(&mut self.upper, from.upper);
        self.places.extend(places.iter().map(|k| start as u32 + k));
    }
}

/// The first pass where few users are off their limits: writes x of those at a limit throughout, keeps the others.
struct CutOff<'a, 'x> {
    group: &'a GroupLanes<'a>,
    range: Range<usize>,
    /// Where the span begins in the order of groups.
    start: usize,
    low: f64,
    high: f64,
    x: &'x mut [f64],
    kept: Kept,
}

impl WithSimd for CutOff<'_, '_> {
    type Output = Share;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Share {
        let Self { group, range, start, low, high, x, mut kept } = self;
        let mut given = Twofold::default();
        let mut marks = [0_u64; BLOCK];
        for first in (0..range.len()).step_by(BLOCK) {
            let n = BLOCK.min(range.len() - first);
            let columns = Columns::of(group, &(range.start + first..range.start + first + n));
            let Columns { a, c2, c1, lower, upper } = columns;
            let (x, marks) = (&mut x[first..first + n], &mut marks[..n]);
            for k in 0..n {
                let (one, other) = (a[k] * low, a[k] * high);
                let (least, most) = (cut(one, other), raise(one, other));
                let bend = 2.0 * c2[k];
                // Slopes at the limits against the prices that are seen: no division.
                let is_low = most - c1[k] <= bend * lower[k];
                let is_high = least - c1[k] >= bend * upper[k];
                let is_known = is_low ^ is_high;
                let limit = if is_low { lower[k] } else { upper[k] };
                x[k] = if is_known { limit } else { 0.0 };
                marks[k] = u64::from(!is_known);
            }
            given.add_products(a, x);
            kept.keep(&Columns { a, c2, c1, lower, upper }, marks, start + first);
        }
        Share { given, slope: 0.0, kept }
    }
}

/// The first pass where many are: keeps those who change within the window.
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
        let (mut given, mut slope, mut kept) = (Twofold::default(), Plain::default(), Kept::default());
        let (mut terms, mut slopes, mut marks) = ([0.0; BLOCK], [0.0; BLOCK], [0_u64; BLOCK]);
        for first in (range.start..range.end).step_by(BLOCK) {
            let n = BLOCK.min(range.end - first);
            let Columns { a, c2, c1, lower: l, upper: u } = Columns::of(group, &(first..first + n));
            let (terms, slopes, marks) = (&mut terms[..n], &mut slopes[..n], &mut marks[..n]);
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
                marks[k] = u64::from(!is_known);
            }
            given.add_numbers(terms);
            slope.add_numbers(slopes);
            if marks.iter().any(|mark| *mark > 0) {
                kept.keep(&Columns { a, c2, c1, lower: l, upper: u }, marks, 0);
            }
        }
        Share { given, slope: slope.value(), kept }
    }
}
