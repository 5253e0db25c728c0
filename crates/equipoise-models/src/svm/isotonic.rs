//! Probabilities that only rise with the value: `minimise sum_i w_i (p(f_i) - t_i)^2` over all p that never fall.
//!
//! Neighbours that are in the wrong order are pooled until none are, each pool at its weighted mean: the exact minimiser, in one pass
//! over the sorted values (Ayer, Brunk, Ewing, Reid and Silverman 1955; for classifiers Zadrozny and Elkan 2002). Targets are drawn
//! in as for sigmoids, so that no probability is 0 or 1. Between two pools p is a straight line, outside it stays.
//!
//! - Given: values, each with whether its row has the label, and a weight. Returns: knots.
//! - Must not know: files, models.

use super::calibration::targets;

/// Probabilities by knots.
#[derive(Debug, Clone, PartialEq)]
pub struct Isotonic {
    /// Pairs `(f, p)`, f ascending, p never falling, at least one.
    pub knots: Vec<(f64, f64)>,
}

/// Values that share a probability.
struct Pool {
    first: f64,
    last: f64,
    weight: f64,
    /// Of targets, weighted.
    sum: f64,
}

impl Pool {
    fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    fn take(&mut self, other: &Self) {
        self.last = other.last;
        self.weight += other.weight;
        self.sum += other.sum;
    }
}

impl Isotonic {
    /// The best of all that never fall.
    pub fn fit(points: &[(f64, bool, f64)]) -> Self {
        let (high, low) = targets(points);
        let mut sorted: Vec<&(f64, bool, f64)> = points.iter().filter(|point| point.2 > 0.0).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut pools: Vec<Pool> = Vec::new();
        for &&(value, has, weight) in &sorted {
            let own = Pool { first: value, last: value, weight, sum: weight * if has { high } else { low } };
            match pools.last_mut() {
                // One value has one probability.
                Some(last) if last.last == value => last.take(&own),
                _ => pools.push(own),
            }
        }
        let mut done: Vec<Pool> = Vec::new();
        for mut pool in pools {
            while let Some(mut before) = done.pop_if(|before| before.mean() >= pool.mean()) {
                before.take(&pool);
                pool = before;
            }
            done.push(pool);
        }
        let ends = |pool: &Pool| {
            let both = [(pool.first, pool.mean()), (pool.last, pool.mean())];
            both.into_iter().take(if pool.first < pool.last { 2 } else { 1 })
        };
        let mut knots: Vec<(f64, f64)> = done.iter().flat_map(ends).collect();
        if knots.is_empty() {
            // Nothing was seen, so nothing speaks for or against.
            knots.push((0.0, 0.5));
        }
        Self { knots }
    }

    /// The probability that goes with a value.
    pub fn probability(&self, value: f64) -> f64 {
        let above = self.knots.partition_point(|knot| knot.0 <= value);
        match (above.checked_sub(1).and_then(|k| self.knots.get(k)), self.knots.get(above)) {
            (Some(&(f, p)), Some(&(g, q))) => {
                // Halves, so that the distance of the largest numbers is one.
                let share = (value / 2.0 - f / 2.0) / (g / 2.0 - f / 2.0);
                (p + share * (q - p)).clamp(p, q)
            }
            (Some(&(_, p)), None) | (None, Some(&(_, p))) => p,
            (None, None) => 0.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(points: &[(f64, bool, f64)], of: impl Fn(f64) -> f64) -> f64 {
        let (high, low) = targets(points);
        points.iter().map(|&(f, has, w)| w * (of(f) - if has { high } else { low }).powi(2)).sum()
    }

    #[test]
    fn pools_by_hand() {
        // Labels 0 1 0 1 at 1, 2, 3, 4: the middle two are pooled. Targets 3/4 and 1/4.
        let points = [(3.0, false, 1.0), (1.0, false, 1.0), (2.0, true, 1.0), (4.0, true, 1.0)];
        let fitted = Isotonic::fit(&points);
        assert_eq!(fitted.knots, [(1.0, 0.25), (2.0, 0.5), (3.0, 0.5), (4.0, 0.75)]);
        for (value, p) in [(-9.0, 0.25), (1.5, 0.375), (2.5, 0.5), (3.0, 0.5), (3.5, 0.625), (9.0, 0.75)] {
            assert_eq!(fitted.probability(value), p, "{value}");
        }
    }

    #[test]
    fn equal_values_share_one_probability_and_weights_count() {
        let fitted = Isotonic::fit(&[(1.0, true, 3.0), (1.0, false, 1.0), (7.0, true, 0.0)]);
        assert_eq!(fitted.knots, [(1.0, (3.0 * 0.8 + 1.0 / 3.0) / 4.0)]);
        assert_eq!(Isotonic::fit(&[]).probability(3.0), 0.5);
        // The largest numbers there are.
        let wide = Isotonic::fit(&[(f64::MIN, false, 1.0), (f64::MAX, true, 1.0)]);
        assert_eq!(wide.probability(0.0), 0.5);
    }

    /// No curve that never falls has a smaller error: neither steps of another kind nor small changes that keep the order.
    #[test]
    fn the_fit_is_the_best_that_never_falls() {
        let points: Vec<(f64, bool, f64)> = (0..300)
            .map(|i| {
                let value = f64::from(i * 7 % 300) / 60.0 - 2.5;
                (value, value + f64::from(i * 37 % 101) / 20.0 - 2.5 > 0.0, 1.0 + f64::from(i % 3))
            })
            .collect();
        let fitted = Isotonic::fit(&points);
        assert!(fitted.knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        assert!(fitted.knots.iter().all(|knot| knot.1 > 0.0 && knot.1 < 1.0));
        let best = error(&points, |f| fitted.probability(f));
        let sigmoid = super::super::Sigmoid::fit(&points);
        assert!(best < error(&points, |f| sigmoid.probability(f)));
        for k in 0..fitted.knots.len() {
            for change in [-1e-3, 1e-3] {
                let mut other = fitted.clone();
                other.knots[k].1 += change;
                let rises = other.knots.windows(2).all(|pair| pair[0].1 <= pair[1].1);
                assert!(!rises || error(&points, |f| other.probability(f)) >= best, "knot {k}");
            }
        }
    }
}
