//! The values at which the weights of all values up to them reach a given sum: the minimisers of a convex function
//! whose slope rises by these weights.
//!
//! ```text
//! low   the smallest v with  sum of weights of values <= v  at least the sum wanted
//! high  the largest v with   sum of weights of values <  v  at most the sum wanted
//! ```
//!
//! They differ only where a partial sum is the one wanted; every number between them is then as good. Weights are added up
//! in twice the precision, because one of them may be 1e15 times as large as the others and these still count.

use super::radix::quantile_across;
use equipoise::Team;
use equipoise::enclosure::{Enclosure, Sum};

/// Points from which a team guesses where the quantile lies, and how many of them either way the guess may be off.
const SAMPLE: usize = 1000;
const MARGIN: usize = 50;

/// A value and its weight.
pub(super) type Point = (f64, f64);

/// What is sought: a sum of weights, which counts as reached where no more than `slack` is missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) sum: Enclosure,
    pub(super) slack: f64,
}

/// `(low, high)`; the largest value twice where the sum is never reached, 0 without points. Every row has some points.
/// Expected time linear in the number of points.
pub(super) fn weighted_quantile<P: IntoIterator<Item = Point>>(
    team: &Team,
    rows: usize,
    points_of_row: impl Fn(usize) -> P + Sync,
    wanted: Wanted,
) -> (f64, f64) {
    let parts = team.map(team.parts(rows), |rows| {
        let mut points: Vec<Point> = Vec::with_capacity(rows.len());
        points.extend(rows.flat_map(&points_of_row).filter(|(_, weight)| *weight > 0.0));
        points
    });
    if team.is_spread() {
        return quantile_across(team, &parts.concat(), wanted);
    }
    let Wanted { sum, slack } = wanted;
    let narrowed = narrowed(team, &parts, sum).and_then(|(below, mut inside)| {
        let left = sum - below;
        let is_inside = left.centre() > slack && left.centre() - slack < weight_of(&inside).centre();
        is_inside.then(|| select(&mut inside, left, slack))
    });
    let (low, seems_exact) = narrowed.unwrap_or_else(|| select(&mut parts.concat(), sum, slack));
    if !seems_exact {
        return (low, low);
    }
    let up_to = team.map(parts.iter(), |points| {
        let mut sum = Sum::default();
        points.iter().filter(|(value, _)| *value <= low).for_each(|(_, weight)| sum.add(*weight));
        sum
    });
    let mut reached = Sum::default();
    up_to.iter().for_each(|share| reached.merge(share));
    if (reached.value() - sum).centre().abs() > slack {
        return (low, low);
    }
    let above = |points: &Vec<Point>| {
        points.iter().map(|(value, _)| *value).filter(|value| *value > low).fold(f64::INFINITY, f64::min)
    };
    let high = team.map(parts.iter(), above).into_iter().fold(f64::INFINITY, f64::min);
    (low, if high.is_finite() { high } else { low })
}

/// The middle of the quantile of values that weigh the same, so many of them below: no weights need to be added up.
pub(super) fn middle_by_rank(mut values: Vec<f64>, below: usize) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let rank = below.clamp(1, values.len()) - 1;
    let (_, &mut low, above) = values.select_nth_unstable_by(rank, f64::total_cmp);
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    if below == 0 || !high.is_finite() || low == high {
        low
    } else {
        (0.5 * low + 0.5 * high).max(low).min(high)
    }
}

fn weight_of(points: &[Point]) -> Enclosure {
    let mut sum = Sum::default();
    points.iter().for_each(|(_, weight)| sum.add(*weight));
    sum.value()
}

/// The points between two values that seem to enclose the quantile, by a sample, and the weight of those below; `None`
/// where there are few points.
fn narrowed(team: &Team, parts: &[Vec<Point>], wanted: Enclosure) -> Option<(Enclosure, Vec<Point>)> {
    let count: usize = parts.iter().map(Vec::len).sum();
    if parts.len() == 1 || count < 16 * SAMPLE {
        return None;
    }
    let plain = |points: &[Point]| points.iter().map(|(_, weight)| weight).sum::<f64>();
    let total: f64 = team.map(parts.iter(), |points| plain(points)).into_iter().sum();
    let mut sample: Vec<Point> =
        parts.iter().flat_map(|points| points.iter().step_by(count / SAMPLE)).copied().collect();
    sample.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let of_sample = wanted.centre() / total * plain(&sample);
    let mut sum = 0.0;
    let place = sample.iter().position(|(_, weight)| {
        sum += weight;
        sum >= of_sample
    });
    let place = place.unwrap_or(sample.len() - 1);
    let (low, high) =
        (sample[place.saturating_sub(MARGIN)].0, sample[(place + MARGIN).min(sample.len() - 1)].0);
    let shares = team.map(parts.iter(), |points| {
        let mut below = Sum::default();
        points.iter().filter(|(value, _)| *value < low).for_each(|(_, weight)| below.add(*weight));
        let inside: Vec<_> =
            points.iter().filter(|(value, _)| (low..=high).contains(value)).copied().collect();
        (below, inside)
    });
    let mut below = Sum::default();
    shares.iter().for_each(|(share, _)| below.merge(share));
    Some((below.value(), shares.into_iter().flat_map(|(_, inside)| inside).collect()))
}

/// The smallest value at which the weights of the points up to it reach what is wanted, and whether they seem to do so
/// exactly: points of the same value may follow.
fn select(points: &mut [Point], wanted: Enclosure, slack: f64) -> (f64, bool) {
    if points.is_empty() {
        return (0.0, false);
    }
    let mut left = wanted;
    let mut range = points;
    loop {
        let (middle, last) = (range.len() / 2, range.len() - 1);
        let (below, pivot, _) = range.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        let (value, weight) = *pivot;
        let before = left - weight_of(below);
        let after = before - weight.into();
        if before.centre() <= slack && middle > 0 {
            range = &mut range[..middle];
        } else if after.centre() <= slack || middle == last {
            return (value, after.centre().abs() <= slack);
        } else {
            left = after;
            range = &mut range[middle + 1..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_sorted_scan() {
        let mut seed = 7_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f64 / (1_u64 << 24) as f64
        };
        for size in 1..60 {
            let points: Vec<(f64, f64)> =
                (0..size).map(|_| ((draw() * 20.0).round(), (draw() * 4.0).round())).collect();
            let total: f64 = points.iter().map(|p| p.1).sum();
            for share in [0.01, 0.3, 0.5, 0.77, 1.0] {
                let mut sorted: Vec<_> = points.iter().copied().filter(|p| p.1 > 0.0).collect();
                sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
                let mut sum = 0.0;
                let expected = sorted.iter().find(|p| {
                    sum += p.1;
                    sum >= share * total - 1e-9
                });
                let wanted = Wanted { sum: (share * total).into(), slack: 1e-9 };
                let found = weighted_quantile(&Team::of(1), points.len(), |i| [points[i]], wanted);
                let low = expected.map_or(0.0, |p| p.0);
                let up_to: f64 = sorted.iter().filter(|p| p.0 <= low).map(|p| p.1).sum();
                let is_met = (up_to - share * total).abs() < 1e-9;
                let high = sorted.iter().find(|p| is_met && p.0 > low).map_or(low, |p| p.0);
                assert_eq!(found, (low, high));
            }
        }
    }

    #[test]
    fn equal_weights_are_found_by_rank() {
        let values = [3.0, -1.0, 2.0, 2.0, 7.0, 0.5];
        for below in 0..=values.len() {
            let wanted = Wanted { sum: (below as f64 * 0.3).into(), slack: 1e-9 };
            let (low, high) = weighted_quantile(&Team::of(1), values.len(), |i| [(values[i], 0.3)], wanted);
            assert_eq!(middle_by_rank(values.to_vec(), below), 0.5 * low + 0.5 * high, "{below}");
        }
    }

    #[test]
    fn a_team_finds_the_same() {
        let mut seed = 3_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f64 / (1_u64 << 24) as f64
        };
        // Whole weights add up exactly in any order.
        let points: Vec<(f64, f64)> = (0..40 * SAMPLE).map(|_| (draw(), (draw() * 4.0).round())).collect();
        let coarse: Vec<(f64, f64)> = points.iter().map(|p| ((3.0 * p.0).round(), p.1)).collect();
        let (alone, team) = (Team::of(1), Team::of(3));
        for points in [&points, &coarse] {
            let total = weight_of(points).centre();
            for share in [0.0, 1e-4, 0.01, 0.3, 0.5, 0.77, 0.9999, 1.0] {
                let wanted = Wanted { sum: (share * total).into(), slack: 0.0 };
                let find = |team| weighted_quantile(team, points.len(), |i| [points[i]], wanted);
                assert_eq!(find(&alone), find(&team));
            }
        }
    }

    /// Small weights count beside one that is larger than all of them by more than f64 holds.
    #[test]
    fn small_weights_are_not_lost_beside_large_ones() {
        let points = [(1.0, 1e17), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0)];
        let sum = Enclosure::from(1e17) + 2.0.into();
        let wanted = Wanted { sum, slack: 1e-9 };
        assert_eq!(weighted_quantile(&Team::of(1), 4, |i| [points[i]], wanted), (3.0, 4.0));
    }
}
