//! The response of a smooth cost that is kept near a point.
//!
//! ```text
//! x:   f'(x) + w (x - c) = s   within   l <= x <= u,      dx/ds = 1 / (f''(x) + w)
//! ```
//!
//! - Given: f' and f'' as one function, s, finite lower limits. Returns: x and dx/ds.
//! - Must not know: which cost it is, rows, prices.
//!
//! Newton's method inside a bracket; where that does not halve, it is halved in the order of all f64, so that a response near 0 is
//! as good, relative to its size, as any other.

use crate::cost::Near;
use crate::root::middle;

/// Steps at most: halving alone needs 64.
const MOST_STEPS: usize = 200;

/// x and dx/ds; w > 0.
pub(crate) fn respond(
    slope_and_bend: impl Fn(f64) -> (f64, f64),
    s: f64,
    (lower, upper): (f64, f64),
    near: Near,
) -> (f64, f64) {
    let excess = |x: f64| {
        let (slope, bend) = slope_and_bend(x);
        (slope + near.weight * (x - near.centre) - s, bend + near.weight)
    };
    if excess(lower).0 >= 0.0 {
        return (lower, 0.0);
    }
    let mut high = upper;
    if high.is_finite() {
        if excess(high).0 <= 0.0 {
            return (high, 0.0);
        }
    } else {
        let from = near.centre.max(lower);
        let mut step = 1.0_f64.max(from.abs());
        high = from + step;
        while excess(high).0 < 0.0 {
            step *= 4.0;
            high = from + step;
            if high > 1e300 {
                return (f64::INFINITY, 0.0);
            }
        }
    }
    let mut low = lower;
    let mut x = if near.centre > low && near.centre < high { near.centre } else { middle(low, high) };
    let mut width = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let (now, bend) = excess(x);
        if now < 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x - now / bend;
        if now == 0.0 || low.next_up() >= high || (newton - x).abs() <= f64::EPSILON * x.abs() {
            break;
        }
        let has_halved = high - low <= 0.5 * width;
        width = high - low;
        x = if has_halved && newton > low && newton < high { newton } else { middle(low, high) };
    }
    (x, 1.0 / excess(x).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_solve_their_equation_also_near_0() {
        // x ln x - x, so that f' = ln x.
        let entropy = |x: f64| (x.ln(), 1.0 / x);
        for (s, weight, centre) in
            [(0.0, 1.0, 0.0), (-600.0, 1e-9, 3.0), (-20.0, 2.0, 1e-3), (50.0, 1.0, 0.0), (5.0, 1e3, 7.0)]
        {
            let near = Near { weight, centre };
            let (x, dx) = respond(entropy, s, (0.0, f64::INFINITY), near);
            let miss = x.ln() + weight * (x - centre) - s;
            assert!(
                miss.abs() <= 1e-11 * (1.0 + s.abs() + weight * (x + centre)),
                "{s} {weight}: {x}, {miss}"
            );
            assert!((dx * (1.0 / x + weight) - 1.0).abs() < 1e-12);
        }
        let near = Near { weight: 1.0, centre: 0.0 };
        assert_eq!(respond(entropy, 0.0, (2.0, 3.0), near), (2.0, 0.0));
        assert_eq!(respond(entropy, 90.0, (2.0, 3.0), near), (3.0, 0.0));
    }
}
