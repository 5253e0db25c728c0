//! The smallest value at which the weights of all values up to it reach a given sum.

use equipoise::Team;

/// Sums that ought to be equal differ by rounding: a share of the total counts as reached.
const SLACK: f64 = 1e-12;
/// Points from which a team guesses where the quantile lies, and how many of them either way the guess may be off.
const SAMPLE: usize = 1000;
const MARGIN: usize = 50;

/// The smallest v among the values with `sum of weights of values <= v` at least `wanted`; the largest value where the
/// sum is never reached; 0 without points. Every row has some points, each a value and its weight. Expected time linear in the number of points.
pub(super) fn weighted_quantile<P: IntoIterator<Item = (f64, f64)>>(
    team: &Team,
    rows: usize,
    points_of_row: impl Fn(usize) -> P + Sync,
    wanted: f64,
) -> f64 {
    let parts = team.map(team.parts(rows), |rows| {
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(rows.len());
        points.extend(rows.flat_map(&points_of_row).filter(|(_, weight)| *weight > 0.0));
        points
    });
    let weights = team.map(parts.iter(), |points| points.iter().map(|(_, weight)| weight).sum::<f64>());
    let total: f64 = weights.iter().sum();
    let left = wanted - SLACK * total;
    let mut points = match narrowed(team, &parts, left / total) {
        Some((below, inside)) if below < left && below + weight_of(&inside) > left => {
            return select(inside, left - below);
        }
        _ => parts,
    };
    select(if points.len() == 1 { points.swap_remove(0) } else { points.concat() }, left)
}

fn weight_of(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|(_, weight)| weight).sum()
}

/// The points between two values that seem to enclose the quantile at a share of the weight, by a sample, and the
/// weight of those below; `None` where there are few points.
fn narrowed(team: &Team, parts: &[Vec<(f64, f64)>], share: f64) -> Option<(f64, Vec<(f64, f64)>)> {
    let count: usize = parts.iter().map(Vec::len).sum();
    if parts.len() == 1 || count < 16 * SAMPLE {
        return None;
    }
    let mut sample: Vec<(f64, f64)> =
        parts.iter().flat_map(|points| points.iter().step_by(count / SAMPLE)).copied().collect();
    sample.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let of_sample = share * weight_of(&sample);
    let mut sum = 0.0;
    let place = sample.iter().position(|(_, weight)| {
        sum += weight;
        sum >= of_sample
    });
    let place = place.unwrap_or(sample.len() - 1);
    let (low, high) =
        (sample[place.saturating_sub(MARGIN)].0, sample[(place + MARGIN).min(sample.len() - 1)].0);
    let shares = team.map(parts.iter(), |points| {
        let below = points.iter().filter(|(value, _)| *value < low).map(|(_, weight)| weight).sum::<f64>();
        let inside: Vec<_> =
            points.iter().filter(|(value, _)| (low..=high).contains(value)).copied().collect();
        (below, inside)
    });
    let below = shares.iter().map(|(below, _)| below).sum();
    Some((below, shares.into_iter().flat_map(|(_, inside)| inside).collect()))
}

/// The smallest value at which the weights of the points up to it reach what is wanted.
fn select(mut points: Vec<(f64, f64)>, wanted: f64) -> f64 {
    if points.is_empty() {
        return 0.0;
    }
    let mut left = wanted;
    let mut range = &mut points[..];
    loop {
        if range.len() == 1 {
            return range[0].0;
        }
        let (middle, last) = (range.len() / 2, range.len() - 1);
        let (below, pivot, _) = range.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        let weight_below: f64 = below.iter().map(|(_, weight)| weight).sum();
        if weight_below >= left {
            range = &mut range[..middle];
        } else if weight_below + pivot.1 >= left || middle == last {
            return range[middle].0;
        } else {
            left -= weight_below + pivot.1;
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
                let found = weighted_quantile(&Team::of(1), points.len(), |i| [points[i]], share * total);
                assert_eq!(found, expected.map_or(0.0, |p| p.0));
            }
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
            let total = weight_of(points);
            for share in [0.0, 1e-4, 0.01, 0.3, 0.5, 0.77, 0.9999, 1.0] {
                let find = |team| weighted_quantile(team, points.len(), |i| [points[i]], share * total);
                assert_eq!(find(&alone), find(&team));
            }
        }
    }
}
