//! Terms that are sums over coordinates: prox, subdifferential, conjugate, domains.

use super::{N, separable_terms};
use equipoise::separable::SeparableTerm;

const ROUNDING: f64 = 1e-12;

/// A grid that meets every kink and bound of the list.
fn grid() -> impl Iterator<Item = f64> + Clone {
    (-32..=32).map(|k| f64::from(k) * 0.125)
}

/// Calls the check for every coordinate of every term.
fn every_coordinate(mut check: impl FnMut(&str, &dyn SeparableTerm, usize)) {
    for (name, h) in separable_terms() {
        assert!(h.dimension().is_none_or(|n| n == N), "{name}");
        (0..N).for_each(|c| check(name, &*h, c));
    }
}

/// The points of the grid on which `h_c` is finite.
fn domain(h: &dyn SeparableTerm, c: usize) -> impl Iterator<Item = f64> {
    let (lower, upper) = h.domain(c);
    grid().filter(move |z| lower <= *z && *z <= upper)
}

#[test]
fn the_value_is_finite_on_the_domain_only() {
    every_coordinate(|name, h, c| {
        let (lower, upper) = h.domain(c);
        for z in grid() {
            let value = h.value(c, z);
            assert_eq!(value.is_finite(), lower <= z && z <= upper, "{name}: {value} at {z}");
            assert!(value == f64::INFINITY || value.is_finite(), "{name}: {value} at {z}");
            assert!(!h.is_zero() || value == 0.0, "{name}");
            if let Some(piece) = h.piece(c) {
                assert_eq!(piece.value(z), value, "{name}: the piece is another function");
            }
        }
    });
}

#[test]
fn subgradients_lie_below_and_never_decrease() {
    every_coordinate(|name, h, c| {
        let mut last = f64::NEG_INFINITY;
        for z in domain(h, c) {
            let (lo, hi) = h.subdifferential(c, z);
            assert!(lo <= hi, "{name}: empty at {z}");
            assert!(last <= lo + ROUNDING || lo == f64::NEG_INFINITY, "{name}: not monotone at {z}");
            last = hi;
            for s in [lo, hi].into_iter().filter(|s| s.is_finite()) {
                for w in domain(h, c) {
                    let tangent = h.value(c, z) + s * (w - z);
                    assert!(h.value(c, w) >= tangent - ROUNDING, "{name}: {s} at {z} fails at {w}");
                }
            }
        }
    });
}

#[test]
fn the_prox_satisfies_its_optimality_condition() {
    every_coordinate(|name, h, c| {
        let (lower, upper) = h.domain(c);
        for (v, d) in grid().flat_map(|v| [0.25, 1.0, 8.0].map(|d| (1.01 * v, d))) {
            let z = h.prox(c, v, d);
            assert!(lower <= z && z <= upper, "{name}: {z} is outside the domain");
            let ((lo, hi), s) = (h.subdifferential(c, z), d * (v - z));
            assert!(lo - 1e-11 <= s && s <= hi + 1e-11, "{name}: prox of {v} with {d} is not {z}");
        }
    });
}

#[test]
fn the_slope_of_the_prox_lies_between_its_differences() {
    every_coordinate(|name, h, c| {
        for (v, d) in grid().flat_map(|v| [0.25, 1.0, 8.0].map(|d| (v, d))) {
            let step = 1e-6;
            let (below, at, above) = (h.prox(c, v - step, d), h.prox(c, v, d), h.prox(c, v + step, d));
            let (left, right) = ((at - below) / step, (above - at) / step);
            let slope = h.prox_slope(c, v, d);
            let (least, most) = (left.min(right) - 1e-7, left.max(right) + 1e-7);
            assert!((0.0..=1.0).contains(&slope), "{name}: {slope}");
            assert!(
                least <= slope && slope <= most,
                "{name}: {slope} at {v} with {d}, not {left} or {right}"
            );
        }
    });
}

#[test]
fn the_conjugate_touches_on_subgradients_and_is_finite_on_its_domain_only() {
    every_coordinate(|name, h, c| {
        let (from, to) = h.dual_domain(c);
        for s in grid() {
            let conjugate = h.conjugate(c, s).expect("every term here has a conjugate");
            assert_eq!(conjugate.is_finite(), from <= s && s <= to, "{name}: {conjugate} at {s}");
            for z in domain(h, c) {
                let gap = h.value(c, z) + conjugate - s * z;
                assert!(gap >= -ROUNDING, "{name}: Fenchel-Young fails at {s}, {z}: {gap}");
                let (lo, hi) = h.subdifferential(c, z);
                assert!(s < lo || s > hi || gap <= ROUNDING, "{name}: {s} is a subgradient at {z}: {gap}");
            }
        }
    });
}
