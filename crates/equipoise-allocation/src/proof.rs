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
    /// `|objective - bound| / (sum |f_i(x_i)| + |sum lambda_k b_k|)`, from above.
    pub(crate) relative_gap: f64,
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

/// Proves what there is to be proven of x at these prices; prices of the wrong sign count as 0.
pub(crate) fn prove(passes: &Passes<'_>, rows: &[Row], x: &[f64], prices: &[f64]) -> Pass<Proof> {
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
            Ok(Arch::new().dispatch(Judge { group, range, prices: &allowed, x }))
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
        Self { bound, relative_gap: relative_gap(self.objective, bound, self.scale), ..self }
    }
}

/// The gap relative to a scale, from above.
fn relative_gap(objective: f64, bound: f64, scale: f64) -> f64 {
    let gap = above((objective - bound).abs());
    match () {
        () if objective == bound && bound.is_finite() => 0.0,
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
    let (mut infeasibility, mut relative, mut worth) = (0.0_f64, 0.0_f64, Sum::default());
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
        relative = relative.max(if miss == 0.0 { 0.0 } else { above(miss / own) });
        worth.add_product(prices[k], row.value);
    }
    let (objective, bound) = (objective.upper(), low.lower());
    // Terms of rows that nearly depend on each other cancel: what counts is the size of their sum.
    let (values, worth) = ((size - raised(error)).max(0.0), worth.value().abs().lower().max(0.0));
    let scale = (values + worth) * (1.0 - 1e-9) + LEAST;
    let relative_gap = relative_gap(objective, bound, scale);
    Proof { objective, bound, relative_gap, scale, infeasibility, relative_infeasibility: relative }
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
    x: &'a [f64],
}

impl WithSimd for Judge<'_> {
    type Output = Share;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Share {
        let Self { group, range, prices, x } = self;
        let mut values = Twofold::default();
        let (mut errors, mut slacks) = (Plain::default(), Plain::default());
        let mut rows = vec![Twofold::default(); prices.len()];
        let (mut s, mut doubt) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut judged = Judged { value: [0.0; BLOCK], error: [0.0; BLOCK], slack: [0.0; BLOCK] };
        for first in (0..range.len()).step_by(BLOCK) {
            let n = BLOCK.min(range.len() - first);
            let block = range.start + first..range.start + first + n;
            let x = &x[first..first + n];
            group.marginal(&block, prices, &mut s);
            doubts(group, &block, prices, &s, &mut doubt);
            let seen = Seen {
                x,
                s: &s[..n],
                doubt: &doubt[..n],
                lower: &group.lower.block(block.clone())[..n],
                upper: &group.upper.block(block.clone())[..n],
            };
            judge(&group.costs, block.clone(), &seen, &mut judged);
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
                let log = ln(x[k] / reference[k]);
                let log_off = LN_ERROR * log.abs() + 2.0 * UNIT;
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
                    [value[k], error[k], slack[k]] = enclosed(&cost, seen, k);
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
                let log_off = LN_ERROR * log.abs() + 2.0 * UNIT;
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
                [value[k], error[k], slack[k]] = enclosed(&cost, seen, k);
            }
        }
        CostLanes::Own(costs) => {
            for (k, cost) in costs[range].iter().enumerate() {
                [value[k], error[k], slack[k]] = enclosed(Arc::as_ref(cost), seen, k);
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

/// The number, its error and its slack of a cost that is enclosed.
fn enclosed(cost: &(impl Cost + ?Sized), seen: &Seen<'_>, k: usize) -> [f64; 3] {
    let (x, lower, upper) = (seen.x[k], seen.lower[k], seen.upper[k]);
    let s = Enclosure::around(seen.s[k], seen.doubt[k]);
    let value = cost.enclose_value(x);
    if !value.is_known() {
        return [0.0, f64::INFINITY, f64::INFINITY];
    }
    let centre = value.centre();
    let error = above((value.upper() - centre).max(centre - value.lower()));
    let (left, right) = cost.enclose_slopes(x);
    let bend = cost.curvature(x);
    let mut slack = 0.0;
    let up = (s - right).upper();
    if upper > x && up > 0.0 {
        // A point from which on the cost rises faster than s ends the way there is to go.
        let is_far = |z: f64| cost.enclose_slopes(z).0.lower() >= s.upper();
        let end = |z: f64| is_far(z).then(|| Enclosure::difference(z, x).upper());
        slack += above(up * way(up, bend, x, upper - x, |way| end(x + way)));
    }
    let down = (left - s).upper();
    if x > lower && down > 0.0 {
        let is_far = |z: f64| cost.enclose_slopes(z).1.upper() <= s.lower();
        let end = |z: f64| is_far(z).then(|| Enclosure::difference(x, z).upper());
        slack += above(down * way(down, bend, x, x - lower, |way| end(x - way)));
    }
    [centre, error, slack]
}

/// The length of a way that ends where it is known to end, or at the limit; `end` says how long a step that is far enough
/// really is.
fn way(miss: f64, bend: f64, x: f64, most: f64, end: impl Fn(f64) -> Option<f64>) -> f64 {
    let first = if bend > 0.0 { 2.0 * miss / bend } else { 0.0 };
    let mut step = first.max(x.abs() * 4.0 * f64::EPSILON).max(f64::MIN_POSITIVE);
    while step < most && step.is_finite() {
        if let Some(length) = end(step) {
            return length;
        }
        step *= 4.0;
    }
    above(most)
}

/// `weight x ln(x / reference) + c1 x`, for x > 0.
#[derive(Debug)]
struct EntropyCost {
    weight: f64,
    reference: f64,
    c1: f64,
}

impl EntropyCost {
    /// `ln(x / reference)`, where the ratio need not be an f64.
    fn log(&self, x: f64) -> Enclosure {
        if x > 0.0 {
            Enclosure::from(x).ln() - Enclosure::from(self.reference).ln()
        } else {
            Enclosure::UNKNOWN
        }
    }
}

impl Cost for EntropyCost {
    fn value(&self, x: f64) -> f64 {
        self.enclose_value(x).centre()
    }

    fn slopes(&self, x: f64) -> (f64, f64) {
        let slope = self.enclose_slopes(x).0.centre();
        (slope, slope)
    }

    fn curvature(&self, x: f64) -> f64 {
        self.weight / x
    }

    fn enclose_value(&self, x: f64) -> Enclosure {
        Enclosure::product(self.weight, x) * self.log(x) + Enclosure::product(self.c1, x)
    }

    fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
        let log = self.log(x) + Enclosure::from(1.0);
        let slope = Enclosure::from(self.weight) * log + Enclosure::from(self.c1);
        (slope, slope)
    }
}

/// `weight x^exponent + c1 x`.
#[derive(Debug)]
struct PowerCost {
    weight: f64,
    exponent: f64,
    c1: f64,
}

impl PowerCost {
    /// `x^p` for x > 0.
    fn power(x: f64, p: Enclosure) -> Enclosure {
        (Enclosure::from(x).ln() * p).exp()
    }
}

impl Cost for PowerCost {
    fn value(&self, x: f64) -> f64 {
        self.weight * x.powf(self.exponent) + self.c1 * x
    }

    fn slopes(&self, x: f64) -> (f64, f64) {
        let slope = self.weight * self.exponent * x.powf(self.exponent - 1.0) + self.c1;
        (slope, slope)
    }

    fn curvature(&self, x: f64) -> f64 {
        let p = self.exponent;
        let bend = self.weight * p * (p - 1.0) * x.powf(p - 2.0);
        if bend.is_finite() { bend } else { 0.0 }
    }

    fn enclose_value(&self, x: f64) -> Enclosure {
        let bent = match () {
            () if x > 0.0 => Self::power(x, self.exponent.into()),
            () if x == 0.0 && self.exponent > 0.0 => Enclosure::from(0.0),
            () => Enclosure::UNKNOWN,
        };
        Enclosure::from(self.weight) * bent + Enclosure::product(self.c1, x)
    }

    fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
        let bent = match () {
            () if x > 0.0 => Self::power(x, Enclosure::difference(self.exponent, 1.0)),
            () if x == 0.0 && self.exponent > 1.0 => Enclosure::from(0.0),
            () => Enclosure::UNKNOWN,
        };
        let slope = Enclosure::product(self.weight, self.exponent) * bent + Enclosure::from(self.c1);
        (slope, slope)
    }
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
            scale: 3.0,
            infeasibility: 0.0,
            relative_infeasibility: 0.0,
        };
        let better = proof(f64::NEG_INFINITY).with_bound(2.9);
        assert_eq!(better.bound, 2.9);
        assert!(better.relative_gap >= (3.0 - 2.9) / 3.0 && better.relative_gap < 0.034);
        assert_eq!(proof(2.0).with_bound(f64::NEG_INFINITY).bound, 2.0);
        assert_eq!(proof(f64::NEG_INFINITY).with_bound(f64::NEG_INFINITY).relative_gap, f64::INFINITY);
    }
}
