//! The smallest value at which the weights of all values up to it reach a given sum.

/// Sums that ought to be equal differ by rounding: a share of the total counts as reached.
const SLACK: f64 = 1e-12;

/// The smallest v among the values with `sum of weights of values <= v` at least `wanted`; the largest value where the
/// sum is never reached. Expected time linear in the number of points.
pub(super) fn weighted_quantile(points: impl Iterator<Item = (f64, f64)>, wanted: f64) -> f64 {
    let mut points: Vec<(f64, f64)> = points.filter(|(_, weight)| *weight > 0.0).collect();
    if points.is_empty() {
        return 0.0;
    }
    let total: f64 = points.iter().map(|(_, weight)| weight).sum();
    let mut left = wanted - SLACK * total;
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
    use super::weighted_quantile;

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
                let found = weighted_quantile(points.iter().copied(), share * total);
                assert_eq!(found, expected.map_or(0.0, |p| p.0));
            }
        }
    }
}
