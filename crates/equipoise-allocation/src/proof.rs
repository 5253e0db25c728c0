//! What is proven of a point and of prices, in exact arithmetic.
//!
//! For every z within the limits and every convex `f_i`, with a slope `g_i` of `f_i` at `x_i` and `s_i = sum_k lambda_k a_ki`,
//!
//! ```text
//! f_i(z) - s_i z  >=  f_i(x_i) - s_i x_i + (g_i - s_i)(z - x_i)  >=  f_i(x_i) - s_i x_i - slack_i ,
//! slack_i = max(s_i - g_i, 0) (upper_i - x_i) + max(g_i - s_i, 0) (x_i - lower_i) ,
//! ```
//!
//! so that, `lambda_k` of the sign that its row allows, every z that meets the rows has
//!
//! ```text
//! sum f_i(z_i)  >=  sum f_i(x_i) - sum slack_i - sum_k lambda_k (a_k'x - b_k)  =  bound .
//! ```
//!
//! x misses rows by rounding, at least: its objective may be below the least cost by what that is worth, so that the gap is
//! `|objective - bound| + sum_k |lambda_k| (miss of row k)`. Limits may be those that rows imply ([`crate::implied`]).
//!
//! Where a cost bends, `slack_i` is no more than the distance from `f_i(x_i)` - `s_i` `x_i` to its least value over all numbers:
//! `d^2 / (4 c2)`; `weight x d^2 / weight^2` (entropy, |d| <= weight/2, because e^t - 1 - t <= t^2 there); the like for a
//! logarithm, because t - ln(1 + t) <= t^2 for |t| <= 1/2; with `d = |s_i - g_i|`.
//!
//! Values, slopes and s come with bounds on their rounding errors, a few u of their terms; sums are twofold
//! ([`crate::lanes`]). Sums of errors and slacks, none negative, are raised by 1e-9 of themselves, which is far more than
//! they can be off. Powers and costs of one's own are enclosed one by one.
//!
//! - Given: a problem, x, prices. Returns: a [`Proof`]. Must not know: how they were found.

#![expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
#![expect(clippy::needless_bitwise_bool, reason = "comparisons of vectors have no short cuts")]

use std::ops::Range;
use std::sync::Arc;

use equipoise::Pass;
use equipoise::enclosure::{Enclosure, Sum, above};
use pulp::{Arch, Simd, WithSimd};

use crate::column::BLOCK;
use crate::cost::Cost;
use crate::costs::{CostLanes, cut, raise};
use crate::elementary::{EXP_ERROR, LN_ERROR, UNIT, exp, ln};
use crate::enclosed::{EntropyCost, PowerCost, enclosed};
use crate::implied::Rooms;
use crate::lanes::{Plain, Twofold};
use crate::pass::{GroupLanes, Passes};
use crate::problem::{Row, Sense};

/// Added to what gaps and misses are measured against: what underflows is not taken for a gap where everything is 0.
const LEAST: f64 = 1e-290;

/// What is proven.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proof {
    /// `sum f_i(x_i)`, from above.
    pub(crate) objective: f64,
    /// What no point that meets the rows gets below; minus infinity where nothing is known.
    pub(crate) bound: f64,
    /// `(|objective - bound| + charge) / scale`, from above.
    pub(crate) relative_gap: f64,
    /// `sum_k |lambda_k| (miss of row k)`, from above: by so much the objective may be low because rows are missed.
    charge: f64,
    /// What the gap is measured against, from below.
    scale: f64,
    /// The largest miss of a row, from above.
    pub(crate) infeasibility: f64,
    /// The largest miss of a row relative to its own terms.
    pub(crate) relative_infeasibility: f64,
}

/// What a judged block writes: values, their errors, slacks.
struct Judged {
    value: [f64; BLOCK],
    error: [f64; BLOCK],
    slack: [f64; BLOCK],
}

/// A block of users to be judged: responses, the marginal prices they see and how far these may be off, limits.
struct Seen<'a> {
    x: &'a [f64],
    s: &'a [f64],
    doubt: &'a [f64],
    lower: &'a [f64],
    upper: &'a [f64],
}

impl Seen<'_> {
    /// The number, its error and its slack of a cost that is enclosed.
    fn enclosed(&self, cost: &(impl Cost + ?Sized), k: usize) -> [f64; 3] {
        let s = Enclosure::around(self.s[k], self.doubt[k]);
        enclosed(cost, s, self.x[k], (self.lower[k], self.upper[k]))
    }
}

/// Proves what there is to be proven of x at these prices; prices of the wrong sign count as 0. What rows leave of the limits
/// counts as limits: no z beyond them meets the rows.
pub(crate) fn prove(
    passes: &Passes<'_>,
    rows: &[Row],
    x: &[f64],
    prices: &[f64],
    rooms: &Rooms,
) -> Pass<Proof> {
    let rooms = rooms.is_known().then_some(rooms);
    let allowed: Vec<f64> = prices.iter().zip(rows).map(|(price, row)| row.sense.allowed(*price)).collect();
    let mut at = 0;
    let spans = passes.spans().map(|(group, range)| {
        let part = &x[at..at + range.len()];
        at += range.len();
        (group, range, part)
    });
    let shares: Vec<Pass<Share>> =
        passes.team.map(spans.collect::<Vec<_>>().into_iter(), |(group, range, x)| {
            passes.control.check()?;
            Ok(Arch::new().dispatch(Judge { group, range, prices: &allowed, rooms, x }))
        });
    let mut values = Sum::default();
    let (mut error, mut slack, mut size) = (0.0, 0.0, 0.0);
    let mut given = vec![Sum::default(); rows.len()];
    let mut sizes = vec![0.0; rows.len()];
    for share in shares {
        let share = share?;
        share.values.add_to(&mut values);
        size += share.values.size();
        error += share.error;
        slack += share.slack;
        for (k, sum) in share.rows.iter().enumerate() {
            sum.add_to(&mut given[k]);
            sizes[k] += sum.size();
        }
    }
    Ok(conclude(rows, &allowed, values.value(), (error, slack, size), &given, &sizes))
}

impl Proof {
    /// The same with another bound that is known to hold, where that is better.
    pub(crate) fn with_bound(self, bound: f64) -> Self {
        let bound = self.bound.max(bound);
        Self { bound, relative_gap: relative_gap(self.objective, bound, self.charge, self.scale), ..self }
    }
}

/// The gap relative to a scale, from above.
fn relative_gap(objective: f64, bound: f64, charge: f64, scale: f64) -> f64 {
    let gap = above((objective - bound).abs() + charge);
    match () {
        () if objective == bound && bound.is_finite() && charge == 0.0 => 0.0,
        () if !gap.is_finite() => f64::INFINITY,
        () => above(gap / scale),
    }
}

impl Sense {
    /// A price as far as its row allows it: at least 0 for `>=`, at most 0 for `<=`.
    pub(crate) fn allowed(self, price: f64) -> f64 {
        match self {
            Self::Equal => price,
            Self::AtLeast => price.max(0.0),
            Self::AtMost => price.min(0.0),
        }
    }
}

/// Where costs and utilities cancel, the gap is relative to this share of their sizes: constants must not hide it.
const FLOOR: f64 = 1e-8;

fn conclude(
    rows: &[Row],
    prices: &[f64],
    value: Enclosure,
    (error, slack, size): (f64, f64, f64),
    given: &[Sum],
    sizes: &[f64],
) -> Proof {
    let raised = |sum: f64| above(sum * (1.0 + 1e-9));
    let objective = value.widened(raised(error));
    let mut low = objective - Enclosure::from(raised(slack));
    if !slack.is_finite() {
        low = Enclosure::UNKNOWN;
    }
    let (mut infeasibility, mut relative, mut charge, mut worth) = (0.0_f64, 0.0_f64, 0.0, Sum::default());
    for (k, row) in rows.iter().enumerate() {
        let beyond = given[k].value() - Enclosure::from(row.value);
        low = low - Enclosure::from(prices[k]) * beyond;
        let miss = match row.sense {
            Sense::Equal => beyond.upper().max(-beyond.lower()),
            Sense::AtLeast => -beyond.lower(),
            Sense::AtMost => beyond.upper(),
        }
        .max(0.0);
        let own = row.value.abs() + sizes[k] + LEAST;
        infeasibility = infeasibility.max(miss);
        if miss > 0.0 && prices[k] != 0.0 {
            charge = above(charge + above(prices[k].abs() * miss));
        }
        relative = relative.max(if miss == 0.0 { 0.0 } else { above(miss / own) });
        worth.add_product(prices[k], row.value);
    }
    let (objective, bound) = (objective.upper(), low.lower());
    // Terms of rows that nearly depend on each other cancel: what counts is the size of their sum.
    let (values, worth) = ((size - raised(error)).max(0.0), worth.value().abs().lower().max(0.0));
    let own = value.abs().lower().max(0.0) - raised(error);
    let scale = own.max(FLOOR * (values + worth)) * (1.0 - 1e-9) + LEAST;
    let relative_gap = relative_gap(objective, bound, charge, scale);
    Proof { objective, bound, relative_gap, charge, scale, infeasibility, relative_infeasibility: relative }
}

/// What a span adds.
struct Share {
    values: Twofold,
    error: f64,
    slack: f64,
    rows: Vec<Twofold>,
}

struct Judge<'a> {
    group: &'a GroupLanes<'a>,
    range: Range<usize>,
    prices: &'a [f64],
    rooms: Option<&'a Rooms>,
    x: &'a [f64],
}

impl WithSimd for Judge<'_> {
    type Output = Share;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Share {
        let Self { group, range, prices, rooms, x } = self;
        let mut values = Twofold::default();
        let (mut errors, mut slacks) = (Plain::default(), Plain::default());
        let mut rows = vec![Twofold::default(); prices.len()];
        let (mut s, mut doubt) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut narrow = [[0.0; BLOCK]; 2];
        let mut judged = Judged { value: [0.0; BLOCK], error: [0.0; BLOCK], slack: [0.0; BLOCK] };
        for first in (0..range.len()).step_by(BLOCK) {
            let n = BLOCK.min(range.len() - first);
            let block = range.start + first..range.start + first + n;
            let x = &x[first..first + n];
            group.marginal(&block, prices, &mut s);
            doubts(group, &block, prices, &s, &mut doubt);
            let (mut lower, mut upper) =
                (&group.lower.block(block.clone())[..n], &group.upper.block(block.clone())[..n]);
            if let Some(rooms) = rooms {
                let [least, most] = &mut narrow;
                narrow_limits(group, &block, rooms, least, most);
                (lower, upper) = (&least[..n], &most[..n]);
            }
            let seen = Seen { x, s: &s[..n], doubt: &doubt[..n], lower, upper };
            judge(&group.costs, block.clone(), &seen, &mut judged);
            if rooms.is_some() {
                // Whoever has no room costs what it costs, also where its cost has no slope.
                for k in (0..n).filter(|&k| lower[k] >= x[k] && upper[k] <= x[k]) {
                    judged.slack[k] = 0.0;
                }
            }
            values.add_numbers(&judged.value[..n]);
            errors.add_numbers(&judged.error[..n]);
            slacks.add_numbers(&judged.slack[..n]);
            for (sum, row) in rows.iter_mut().zip(&group.rows) {
                sum.add_products(&row.block(block.clone())[..n], x);
            }
        }
        // What underflows, in values and in slacks.
        let lost = 16.0 * range.len() as f64 * f64::MIN_POSITIVE;
        Share { values, error: errors.value() + lost, slack: slacks.value() + lost, rows }
    }
}

/// The limits of a block as rows narrow them.
fn narrow_limits(
    group: &GroupLanes<'_>,
    block: &Range<usize>,
    rooms: &Rooms,
    lower: &mut [f64; BLOCK],
    upper: &mut [f64; BLOCK],
) {
    let (own_lower, own_upper) = (group.lower.block(block.clone()), group.upper.block(block.clone()));
    for k in 0..block.len() {
        let a = group.rows.iter().map(|row| row.block(block.clone())[k]);
        (lower[k], upper[k]) = rooms.narrow(a, own_lower[k], own_upper[k]);
    }
}

/// How far the computed marginal prices may be off.
#[inline(always)]
fn doubts(
    group: &GroupLanes<'_>,
    block: &Range<usize>,
    prices: &[f64],
    s: &[f64; BLOCK],
    doubt: &mut [f64; BLOCK],
) {
    let n = block.len();
    let (s, doubt) = (&s[..n], &mut doubt[..n]);
    if let [price] = prices {
        let a = &group.rows[0].block(block.clone())[..n];
        for k in 0..n {
            // The error of one product is an f64; 0 where the product is exact.
            let lost = price.mul_add(a[k], -s[k]).abs();
            // That of a product which underflows is below the least number.
            let is_whole = (s[k].abs() > 1e-270) | (a[k] == 0.0) | (*price == 0.0);
            doubt[k] = if is_whole { lost } else { f64::MIN_POSITIVE };
        }
        return;
    }
    doubt.fill(0.0);
    let share = (prices.len() + 1) as f64 * UNIT;
    for (row, price) in group.rows.iter().zip(prices) {
        let a = &row.block(block.clone())[..n];
        for k in 0..n {
            let is_zero = (a[k] == 0.0) | (*price == 0.0);
            doubt[k] += share * (price * a[k]).abs() + if is_zero { 0.0 } else { f64::MIN_POSITIVE };
        }
    }
}

/// The slack that the limits leave: slopes may be off by `doubt`, d is what s is above the slope.
#[inline(always)]
fn within_limits(d: f64, doubt: f64, x: f64, lower: f64, upper: f64) -> f64 {
    let (up, down) = (d + doubt, doubt - d);
    let above = if up > 0.0 && upper > x { up * (upper - x) } else { 0.0 };
    let below = if down > 0.0 && x > lower { down * (x - lower) } else { 0.0 };
    above + below
}

#[inline(always)]
fn judge(costs: &CostLanes<'_>, range: Range<usize>, seen: &Seen<'_>, out: &mut Judged) {
    let n = range.len();
    let (x, s, doubt) = (&seen.x[..n], &seen.s[..n], &seen.doubt[..n]);
    let (lower, upper) = (&seen.lower[..n], &seen.upper[..n]);
    let (value, error, slack) = (&mut out.value[..n], &mut out.error[..n], &mut out.slack[..n]);
    match costs {
        CostLanes::Quadratic(c2, c1, c0) => {
            let (c2, c1) = (&c2.block(range.clone())[..n], &c1.block(range.clone())[..n]);
            let c0 = &c0.block(range)[..n];
            for k in 0..n {
                let (bent, straight) = (c2[k] * x[k] * x[k], c1[k] * x[k]);
                value[k] = bent + straight + c0[k];
                error[k] =
                    5.0 * UNIT * (bent + straight.abs() + c0[k].abs()) + f64::MIN_POSITIVE * x[k].abs();
                let bend = 2.0 * c2[k];
                let pull = bend * x[k];
                let slope = pull + c1[k];
                let d = s[k] - slope;
                let own = if bend > 0.0 { 2.0 * (pull.abs() + slope.abs()) } else { 0.0 };
                let least = if bend > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
                let off = doubt[k] + UNIT * (own + d.abs()) + least;
                let most = d.abs() + off;
                let free = if bend > 0.0 {
                    raise(most * most, f64::MIN_POSITIVE) / (2.0 * bend)
                } else {
                    f64::INFINITY
                };
                slack[k] = cut(within_limits(d, off, x[k], lower[k], upper[k]), free);
            }
        }
        CostLanes::Entropy(weight, reference, c1) => {
            let (weight, reference) =
                (&weight.block(range.clone())[..n], &reference.block(range.clone())[..n]);
            let c1 = &c1.block(range)[..n];
            for k in 0..n {
                let w = weight[k];
                let ratio = x[k] / reference[k];
                let log = ln(ratio);
                let is_exact = ((-ratio).mul_add(reference[k], x[k]) == 0.0) & (x[k] > 1e-290);
                let log_off = LN_ERROR * log.abs() + if is_exact { 0.0 } else { 2.0 * UNIT };
                let (bent, straight) = (w * x[k] * log, c1[k] * x[k]);
                value[k] = bent + straight;
                error[k] = w * x[k] * log_off + 4.0 * UNIT * (bent.abs() + straight.abs());
                let slope = w * (log + 1.0) + c1[k];
                let d = s[k] - slope;
                let own = w * (log_off + 4.0 * UNIT * (log.abs() + 1.0)) + UNIT * (slope.abs() + d.abs());
                let off = doubt[k] + own + f64::MIN_POSITIVE;
                let most = (d.abs() + off) / w;
                let free = if most <= 0.5 { w * x[k] * most * most } else { f64::INFINITY };
                slack[k] = cut(within_limits(d, off, x[k], lower[k], upper[k]), free);
            }
            for k in 0..n {
                let ratio = x[k] / reference[k];
                if ratio < f64::MIN_POSITIVE {
                    [value[k], error[k], slack[k]] =
                        tiny_entropy([weight[k], reference[k], c1[k]], x[k], s[k], doubt[k]);
                } else if !ratio.is_finite() {
                    let cost = EntropyCost { weight: weight[k], reference: reference[k], c1: c1[k] };
                    [value[k], error[k], slack[k]] = seen.enclosed(&cost, k);
                }
            }
        }
        CostLanes::Log(weight, offset, c1) => {
            let (weight, offset) = (&weight.block(range.clone())[..n], &offset.block(range.clone())[..n]);
            let c1 = &c1.block(range)[..n];
            for k in 0..n {
                let (w, y) = (weight[k], x[k] + offset[k]);
                let log = ln(y);
                let (bent, straight) = (-w * log, c1[k] * x[k]);
                value[k] = bent + straight;
                // What the sum lost, exactly.
                let of_offset = y - x[k];
                let lost = (x[k] - (y - of_offset)) + (offset[k] - of_offset);
                let log_off = LN_ERROR * log.abs() + if lost == 0.0 { 0.0 } else { 2.0 * UNIT };
                error[k] = w * log_off + 3.0 * UNIT * (bent.abs() + straight.abs());
                let pull = w / y;
                let slope = c1[k] - pull;
                let d = s[k] - slope;
                let off = doubt[k] + UNIT * (4.0 * pull + slope.abs() + d.abs()) + f64::MIN_POSITIVE;
                let most = (d.abs() + off) * y / w * (1.0 + 8.0 * UNIT);
                let free = if most <= 0.5 { w * most * most } else { f64::INFINITY };
                slack[k] = cut(within_limits(d, off, x[k], lower[k], upper[k]), free);
                // Where there is no logarithm nothing is known.
                let is_inside = y > 0.0;
                value[k] = if is_inside { value[k] } else { 0.0 };
                error[k] = if is_inside { error[k] } else { f64::INFINITY };
                slack[k] = if is_inside { slack[k] } else { f64::INFINITY };
            }
        }
        CostLanes::Power(weight, exponent, c1) => {
            let (weight, exponent) = (&weight.block(range.clone())[..n], &exponent.block(range.clone())[..n]);
            let c1 = &c1.block(range)[..n];
            for k in 0..n {
                let cost = PowerCost { weight: weight[k], exponent: exponent[k], c1: c1[k] };
                [value[k], error[k], slack[k]] = seen.enclosed(&cost, k);
            }
        }
        CostLanes::Own(costs) => {
            for (k, cost) in costs[range].iter().enumerate() {
                [value[k], error[k], slack[k]] = seen.enclosed(Arc::as_ref(cost), k);
            }
        }
    }
}

/// Entropy so near to 0 that `x / reference` is no normal number: between `least` and 0 beside its straight part.
fn tiny_entropy([w, r, c1]: [f64; 3], x: f64, s: f64, doubt: f64) -> [f64; 3] {
    let straight = c1 * x;
    // The least value of w z ln(z/r) + (c1 - s) z over all z >= 0 is -w z at z = r exp((s - c1)/w - 1).
    let power = (s - c1) / w - 1.0;
    let off = (doubt + 8.0 * UNIT * (s.abs() + c1.abs())) / w + 8.0 * UNIT * (power.abs() + 1.0);
    let free = if power > 700.0 || off > 0.1 {
        f64::INFINITY
    } else {
        w * r * exp(power) * (1.0 + 2.0 * off + EXP_ERROR)
    };
    // |ln(x/r)| < 1600: both are f64, so that the ratio is above 2^-2200.
    let bent = if x > 0.0 { 1600.0 * w * x } else { 0.0 };
    [straight, bent + 2.0 * UNIT * straight.abs(), free + bent + ((c1 - s) * x).abs() * 2.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_never_lost_and_gaps_are_rounded_up() {
        let proof = |bound: f64| Proof {
            objective: 3.0,
            bound,
            relative_gap: f64::INFINITY,
            charge: 0.0,
            scale: 3.0,
            infeasibility: 0.0,
            relative_infeasibility: 0.0,
        };
        let better = proof(f64::NEG_INFINITY).with_bound(2.9);
        assert_eq!(better.bound, 2.9);
        assert!(better.relative_gap >= (3.0 - 2.9) / 3.0 && better.relative_gap < 0.034);
        // What missed rows are worth is part of the gap.
        let missed = Proof { charge: 0.6, ..proof(2.7) }.with_bound(2.7);
        assert!(missed.relative_gap >= 0.3 && missed.relative_gap < 0.301);
        assert!(Proof { charge: 0.3, ..proof(3.0) }.with_bound(3.0).relative_gap >= 0.1);
        assert_eq!(proof(2.0).with_bound(f64::NEG_INFINITY).bound, 2.0);
        assert_eq!(proof(f64::NEG_INFINITY).with_bound(f64::NEG_INFINITY).relative_gap, f64::INFINITY);
    }
}
