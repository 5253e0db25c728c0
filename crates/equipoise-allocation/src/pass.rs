//! Passes over all users: what they give at given prices.
//!
//! ```text
//! s_i = sum_k lambda_k a_ki,   x_i(s_i),   phi_k = sum_i a_ki x_i,   J_kl = sum_i a_ki a_li dx_i/ds_i
//! ```
//!
//! - Given: a problem, prices lambda, perhaps weights and centres that keep users near a point. Returns: x, phi, J.
//! - Must not know: which prices are right.
//!
//! Users are taken in spans, spans in blocks that stay in the nearest cache. Sums are added up in the order of spans, so
//! that they do not depend on the threads.

#![expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]

use std::ops::Range;

use equipoise::{Control, Pass, Team};
use pulp::{Arch, Simd, WithSimd};

use crate::column::{BLOCK, Lane};
use crate::costs::{CostLanes, Limits};
use crate::lanes::{Plain, Twofold};
use crate::problem::{Problem, Users};

/// Users of a span: what one thread takes at a time, and what is done between two looks at the wish to stop.
const SPAN: usize = 1 << 14;

/// A group, ready for blocks.
#[derive(Debug, Clone)]
pub(crate) struct GroupLanes<'a> {
    pub(crate) costs: CostLanes<'a>,
    pub(crate) lower: Lane<'a>,
    pub(crate) upper: Lane<'a>,
    pub(crate) rows: Vec<Lane<'a>>,
    /// Where the group begins in the order of groups.
    start: usize,
    count: usize,
}

impl<'a> GroupLanes<'a> {
    fn of(group: &'a Users, start: usize) -> Self {
        Self {
            costs: group.costs.lanes(),
            lower: group.lower.lane(),
            upper: group.upper.lane(),
            rows: group.coefficients.iter().map(crate::Column::lane).collect(),
            start,
            count: group.count,
        }
    }

    /// The marginal prices that a block of users sees.
    #[inline(always)]
    pub(crate) fn marginal(&self, range: &Range<usize>, prices: &[f64], s: &mut [f64; BLOCK]) {
        let n = range.len();
        let s = &mut s[..n];
        let a = &self.rows[0].block(range.clone())[..n];
        for k in 0..n {
            s[k] = prices[0] * a[k];
        }
        for (row, price) in self.rows.iter().zip(prices).skip(1) {
            let a = &row.block(range.clone())[..n];
            for k in 0..n {
                s[k] += price * a[k];
            }
        }
    }
}

/// What keeps every user near a point: weights and centres, in the order of groups.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchor {
    pub(crate) weights: Vec<f64>,
    pub(crate) centres: Vec<f64>,
}

/// What users give at given prices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Supply {
    /// phi, one a row.
    pub(crate) given: Vec<f64>,
    /// `sum_i |a_ki x_i|`, one a row.
    pub(crate) sizes: Vec<f64>,
    /// J, row after row.
    pub(crate) jacobian: Vec<f64>,
}

impl Supply {
    /// Whether no row is given without an end.
    pub(crate) fn is_finite(&self) -> bool {
        self.given.iter().all(|given| given.is_finite())
    }
}

/// A problem, cut into spans, and who works on them.
#[derive(Debug)]
pub(crate) struct Passes<'a> {
    pub(crate) groups: Vec<GroupLanes<'a>>,
    pub(crate) rows: usize,
    pub(crate) team: &'a Team,
    pub(crate) control: &'a Control,
}

impl<'a> Passes<'a> {
    pub(crate) fn new(problem: &'a Problem, team: &'a Team, control: &'a Control) -> Self {
        let groups = problem.groups.iter().zip(&problem.starts);
        let groups = groups.map(|(group, start)| GroupLanes::of(group, *start)).collect();
        Self { groups, rows: problem.rows.len(), team, control }
    }

    /// The same under another control.
    pub(crate) fn patient(&self, control: &'a Control) -> Self {
        Self { groups: self.groups.clone(), control, ..*self }
    }

    /// How many users there are.
    pub(crate) fn users(&self) -> usize {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// The spans: a group, and users of it.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (&GroupLanes<'a>, Range<usize>)> {
        self.groups.iter().flat_map(|group| {
            let starts = (0..group.count).step_by(SPAN);
            starts.map(move |first| (group, first..(first + SPAN).min(group.count)))
        })
    }

    /// Spans with the part of a list in the order of groups that is theirs.
    pub(crate) fn spans_of<'x>(
        &self,
        mut x: &'x mut [f64],
    ) -> Vec<(&GroupLanes<'a>, Range<usize>, &'x mut [f64])> {
        let mut list = Vec::new();
        for (group, range) in self.spans() {
            let (part, rest) = x.split_at_mut(range.len());
            list.push((group, range, part));
            x = rest;
        }
        list
    }

    /// The response of all users; `exactly` where the sums should be as good as they get.
    pub(crate) fn respond(
        &self,
        prices: &[f64],
        anchor: Option<&Anchor>,
        exactly: bool,
        x: &mut [f64],
    ) -> Pass<Supply> {
        let spans = self.spans_of(x).into_iter().map(|(group, range, x)| (group, range, Some(x)));
        self.pass(prices, anchor, exactly, spans)
    }

    /// What users give in all, without a word about each.
    pub(crate) fn probe(&self, prices: &[f64], anchor: Option<&Anchor>) -> Pass<Supply> {
        self.pass(prices, anchor, false, self.spans().map(|(group, range)| (group, range, None)))
    }

    fn pass<'x>(
        &self,
        prices: &[f64],
        anchor: Option<&Anchor>,
        exactly: bool,
        spans: impl Iterator<Item = (&'x GroupLanes<'x>, Range<usize>, Option<&'x mut [f64]>)>,
    ) -> Pass<Supply> {
        let m = self.rows;
        let shares: Vec<Pass<Share>> = self.team.map(spans, |(group, range, x)| {
            self.control.check()?;
            let whole = group.start + range.start..group.start + range.end;
            let near = anchor.map(|anchor| (&anchor.weights[whole.clone()], &anchor.centres[whole.clone()]));
            Ok(Arch::new().dispatch(Respond { group, range, prices, near, exactly, x }))
        });
        let mut total = Supply { given: vec![0.0; m], sizes: vec![0.0; m], jacobian: vec![0.0; m * m] };
        let mut lows = vec![0.0; m];
        for share in shares {
            let share = share?;
            for k in 0..m {
                let (value, size) = share.given[k];
                let sum = total.given[k] + value;
                let of_value = sum - total.given[k];
                lows[k] += (total.given[k] - (sum - of_value)) + (value - of_value);
                total.given[k] = sum;
                total.sizes[k] += size;
            }
            for k in 0..m {
                for l in 0..=k {
                    total.jacobian[k * m + l] += share.jacobian[k * (k + 1) / 2 + l];
                }
            }
        }
        for k in 0..m {
            // Infinite responses leave errors that are no numbers.
            if lows[k].is_finite() {
                total.given[k] += lows[k];
            }
            for l in 0..k {
                total.jacobian[l * m + k] = total.jacobian[k * m + l];
            }
        }
        Ok(total)
    }
}

impl Passes<'_> {
    /// What x gives in every row, and the sizes of the terms, as good as they get.
    pub(crate) fn given(&self, x: &[f64]) -> Pass<Vec<(f64, f64)>> {
        let mut at = 0;
        let spans = self.spans().map(|(group, range)| {
            let part = &x[at..at + range.len()];
            at += range.len();
            (group, range, part)
        });
        let shares: Vec<Pass<Vec<Twofold>>> =
            self.team.map(spans.collect::<Vec<_>>().into_iter(), |(group, range, x)| {
                self.control.check()?;
                Ok(Arch::new().dispatch(Given { group, range, x }))
            });
        let mut totals = vec![(Twofold::default(), 0.0); self.rows];
        for share in shares {
            let share = share?;
            for ((total, size), sum) in totals.iter_mut().zip(&share) {
                total.add_numbers(&sum.parts());
                *size += sum.size();
            }
        }
        Ok(totals.into_iter().map(|(total, size)| (total.value(), size)).collect())
    }
}

struct Given<'a> {
    group: &'a GroupLanes<'a>,
    range: Range<usize>,
    x: &'a [f64],
}

impl WithSimd for Given<'_> {
    type Output = Vec<Twofold>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Vec<Twofold> {
        let Self { group, range, x } = self;
        let mut sums = vec![Twofold::default(); group.rows.len()];
        for first in (0..range.len()).step_by(BLOCK) {
            let n = BLOCK.min(range.len() - first);
            let block = range.start + first..range.start + first + n;
            for (sum, row) in sums.iter_mut().zip(&group.rows) {
                sum.add_products(&row.block(block.clone())[..n], &x[first..first + n]);
            }
        }
        sums
    }
}

/// What a span adds.
struct Share {
    given: Vec<(f64, f64)>,
    jacobian: Vec<f64>,
}

struct Respond<'a, 'x> {
    group: &'a GroupLanes<'a>,
    range: Range<usize>,
    prices: &'a [f64],
    near: Option<(&'a [f64], &'a [f64])>,
    exactly: bool,
    /// Where x is written, where it is wanted.
    x: Option<&'x mut [f64]>,
}

impl WithSimd for Respond<'_, '_> {
    type Output = Share;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Share {
        let Self { group, range, prices, near, exactly, mut x } = self;
        let m = prices.len();
        let mut exact = vec![Twofold::default(); m];
        let (mut plain, mut sizes) = (vec![Plain::default(); m], vec![Plain::default(); m]);
        let mut outers = vec![Plain::default(); m * (m + 1) / 2];
        let (mut s, mut dx, mut scaled) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let mut unwritten = [0.0; BLOCK];
        for first in (0..range.len()).step_by(BLOCK) {
            let n = BLOCK.min(range.len() - first);
            let block = range.start + first..range.start + first + n;
            group.marginal(&block, prices, &mut s);
            let near =
                near.map(|(weights, centres)| (&weights[first..first + n], &centres[first..first + n]));
            let limits = Limits {
                lower: group.lower.block(block.clone()),
                upper: group.upper.block(block.clone()),
                near,
            };
            let x = match &mut x {
                Some(x) => &mut x[first..first + n],
                None => &mut unwritten[..n],
            };
            group.costs.respond(block.clone(), &s, &limits, x, &mut dx);
            for k in 0..m {
                let a = &group.rows[k].block(block.clone())[..n];
                if exactly {
                    exact[k].add_products(a, x);
                } else {
                    plain[k].add_products(a, x);
                    sizes[k].add_sizes(a, x);
                }
                let scaled = &mut scaled[..n];
                for j in 0..n {
                    scaled[j] = a[j] * dx[j];
                }
                for l in 0..=k {
                    let other = &group.rows[l].block(block.clone())[..n];
                    outers[k * (k + 1) / 2 + l].add_products(scaled, other);
                }
            }
        }
        let given = (0..m).map(|k| {
            if exactly { (exact[k].value(), exact[k].size()) } else { (plain[k].value(), sizes[k].value()) }
        });
        Share { given: given.collect(), jacobian: outers.iter().map(Plain::value).collect() }
    }
}
