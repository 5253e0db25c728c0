//! The weighted quantile of values that are spread over ranks, by eight histograms of 256.
//!
//! Values are taken as keys of 64 bits with the same order. The first histogram adds up weights by the first eight bits of the keys; the
//! bin in which the weights reach what is wanted is looked into by the next eight, and so on: after eight, one value is left. Every
//! rank sends its histograms and nothing else, whatever the number of its values.
//!
//! Must not know: what the values mean.

use super::passes::merge_across;
use super::quantile::{Point, Wanted};
use equipoise::Team;
use equipoise::enclosure::Sum;

/// Bits of a key that one histogram looks at.
const BITS: u32 = 8;
const BINS: usize = 1 << BITS;

/// A key with the order of [`f64::total_cmp`].
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn value_of(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// What `weighted_quantile` returns, of the points of all ranks, each of a weight above 0.
pub(super) fn quantile_across(team: &Team, points: &[Point], wanted: Wanted) -> (f64, f64) {
    let mut candidates: Vec<Point> = points.to_vec();
    let (mut left, mut prefix) = (wanted.sum, 0_u64);
    for shift in (0..u64::BITS).step_by(BITS as usize).rev() {
        let bin_of = |value: f64| (key(value) >> shift) as usize % BINS;
        let mut bins = vec![Sum::default(); BINS];
        candidates.iter().for_each(|(value, weight)| bins[bin_of(*value)].add(*weight));
        merge_across(team, &mut bins);
        // The first bin in which enough is reached, else the last that has anything; every point weighs something.
        let mut chosen = None;
        for (bin, sum) in bins.iter().enumerate().filter(|(_, sum)| sum.value().centre() > 0.0) {
            let after = left - sum.value();
            chosen = Some((bin, left));
            if after.centre() <= wanted.slack {
                break;
            }
            left = after;
        }
        let Some((bin, before)) = chosen else { return (0.0, 0.0) };
        left = before;
        prefix |= (bin as u64) << shift;
        candidates.retain(|(value, _)| bin_of(*value) == bin);
    }
    let low = value_of(prefix);
    let mut reached = Sum::default();
    points.iter().filter(|(value, _)| *value <= low).for_each(|(_, weight)| reached.add(*weight));
    merge_across(team, std::slice::from_mut(&mut reached));
    if (reached.value() - wanted.sum).centre().abs() > wanted.slack {
        return (low, low);
    }
    let above = points.iter().map(|(value, _)| *value).filter(|value| *value > low);
    let high = -team.largest(-above.fold(f64::INFINITY, f64::min));
    (low, if high.is_finite() { high } else { low })
}

#[cfg(test)]
mod tests {
    use super::super::quantile::weighted_quantile;
    use super::*;
    use equipoise::collective::Threads;

    #[test]
    fn keys_have_the_order_of_the_values() {
        let values = [f64::NEG_INFINITY, -1e300, -2.0, -1e-310, -0.0, 0.0, 5e-324, 0.1, 3.0, f64::INFINITY];
        assert!(values.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert!(values.iter().all(|value| value_of(key(*value)).to_bits() == value.to_bits()));
    }

    #[test]
    fn ranks_find_what_one_finds() {
        let mut seed = 5_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f64 / (1_u64 << 24) as f64
        };
        // Whole weights add up exactly in any order; coarse values are often equal.
        let fine: Vec<Point> = (0..500).map(|_| (draw() - 0.5, (draw() * 4.0).round())).collect();
        let coarse: Vec<Point> = fine.iter().map(|p| ((6.0 * p.0).round() + 0.0, p.1)).collect();
        for points in [&fine, &coarse, &fine[..1].to_vec(), &Vec::new()] {
            let total: f64 = points.iter().map(|p| p.1).sum();
            for share in [0.0, 0.01, 0.3, 0.5, 0.77, 1.0, 1.1] {
                let wanted = Wanted { sum: (share * total).round().into(), slack: 0.0 };
                let alone = weighted_quantile(&Team::of(1), points.len(), |i| [points[i]], wanted);
                for ranks in [2, 3, 4] {
                    let found = Threads::run(ranks, |world| {
                        let own: Vec<Point> =
                            points.iter().skip(world.rank()).step_by(ranks).copied().collect();
                        let team = Team::of(1).across(Some(world));
                        weighted_quantile(&team, own.len(), |i| [own[i]], wanted)
                    });
                    assert!(found.iter().all(|found| *found == alone), "{share}: {found:?}, {alone:?}");
                }
            }
        }
    }
}
