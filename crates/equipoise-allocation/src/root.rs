//! The price at which what is given passes what is asked.
//!
//! ```text
//! phi non-decreasing, perhaps with jumps and flat stretches:   phi(price) = b,  or   phi(low) < b < phi(high), low and high neighbours
//! ```
//!
//! - Given: phi with its slope as a function, b, a first price. Returns: a [`Root`].
//! - Must not know: users, costs.
//!
//! Newton's method inside a bracket; where it leaves the bracket, or the bracket has not halved in two steps, bisection.
//! A bracket without an end grows faster with every step.

/// What is given at a price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// phi.
    pub(crate) given: f64,
    /// Its slope; 0 on flat stretches and at jumps.
    pub(crate) slope: f64,
    /// The size of the terms of phi.
    pub(crate) size: f64,
}

/// Where phi meets or passes b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Root {
    /// phi(price) is b up to rounding.
    Met {
        price: f64,
        /// The slope of phi there.
        slope: f64,
    },
    /// phi passes b between two neighbours.
    Jump { low: f64, high: f64 },
    /// phi is no number at this price: the sum of opposite infinities.
    Undefined { price: f64 },
}

/// What counts as met, relative to the terms: on flat stretches, and where the slope can take up the rest.
pub(crate) const FLAT: f64 = 20.0 * f64::EPSILON;
/// The latter where the price is the answer, and where it is only to begin with.
pub(crate) const SHARP: f64 = 1e-14;
pub(crate) const ROUGH: f64 = 1e-7;
/// Steps after which the last price is as good as it gets.
const MOST_STEPS: usize = 600;
/// Where a root may lie of which nothing is known.
pub(crate) const ANYWHERE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Finds it between two prices of which one gives at most and the other at least what is asked; `phi` is asked last at the
/// price of a `Met` root.
pub(crate) fn find<E>(
    start: f64,
    (mut low, mut high): (f64, f64),
    asked: f64,
    sloped: f64,
    mut phi: impl FnMut(f64) -> Result<Point, E>,
) -> Result<Root, E> {
    let mut price = if start.is_finite() { start } else { 0.0 };
    let mut growth = 0;
    let mut step = if price == 0.0 { 1e-3 } else { 0.1 * price.abs() };
    let (mut width, mut slow) = (f64::INFINITY, 0);
    for _ in 0..MOST_STEPS {
        let Point { given, slope, size } = phi(price)?;
        if given.is_nan() {
            return Ok(Root::Undefined { price });
        }
        let rest = asked - given;
        let allowed = if slope > 0.0 { sloped } else { FLAT };
        if given.is_finite() && rest.abs() <= allowed * (size + asked.abs()) {
            return Ok(Root::Met { price, slope });
        }
        if rest > 0.0 {
            low = price;
        } else {
            high = price;
        }
        let newton = if slope > 0.0 && slope.is_finite() { price + rest / slope } else { f64::NAN };
        let is_bracketed = low.is_finite() && high.is_finite();
        if is_bracketed {
            if low.next_up() >= high {
                return Ok(Root::Jump { low, high });
            }
            let now = high - low;
            slow = if now <= 0.5 * width { 0 } else { slow + 1 };
            width = if now <= 0.5 * width { now } else { width };
            let is_inside = newton > low && newton < high;
            price = if is_inside && slow < 2 { newton } else { middle(low, high) };
            if slow >= 2 {
                (slow, width) = (0, now);
            }
        } else {
            let away = if rest > 0.0 { price + step } else { price - step };
            // As far as Newton says, but not without end: a flat start would send it anywhere.
            let most = 1e6 * (step + price.abs());
            // Newton's steps that do not arrive grow: down an exponential each of them is as short as the first.
            let longer = price + (newton - price) * 2_f64.powi((growth - 3).max(0));
            price = if longer.is_finite() && (newton - price).abs() <= most && newton != price {
                longer
            } else {
                away
            };
            growth += 1;
            step *= 4.0 * f64::from(growth);
            if !price.is_finite() || price.abs() > 1e300 {
                let price = price.clamp(-1e300, 1e300);
                phi(price)?;
                return Ok(Root::Met { price, slope: 0.0 });
            }
        }
    }
    phi(price)?;
    Ok(Root::Met { price, slope: 0.0 })
}

/// A number between two others that are no neighbours: the mean, or half-way in the order of all f64 where they differ much.
pub(crate) fn middle(low: f64, high: f64) -> f64 {
    let mean = 0.5 * low + 0.5 * high;
    let is_wide = low.signum() != high.signum() && low != 0.0 && high != 0.0
        || low.abs().min(high.abs()) < 1e-3 * low.abs().max(high.abs());
    if !is_wide && mean > low && mean < high {
        return mean;
    }
    let order = |x: f64| {
        let bits = x.to_bits().cast_signed();
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    let back = |k: i64| f64::from_bits((if k < 0 { i64::MIN.wrapping_sub(k) } else { k }).cast_unsigned());
    let (a, b) = (i128::from(order(low)), i128::from(order(high)));
    let found = back(i64::try_from(i128::midpoint(a, b)).expect("between two i64"));
    if found > low && found < high { found } else { mean }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn root(start: f64, asked: f64, phi: impl Fn(f64) -> (f64, f64)) -> Root {
        let found: Result<Root, Infallible> = find(start, ANYWHERE, asked, SHARP, |price| {
            let (given, slope) = phi(price);
            Ok(Point { given, slope, size: given.abs() })
        });
        let Ok(found) = found;
        found
    }

    #[test]
    fn curves_jumps_and_flat_stretches() {
        let cubic = |p: f64| (p * p * p, 3.0 * p * p);
        for (start, asked) in [(0.0, 27.0), (1e6, -8.0), (-1e-9, 1e-12), (3.0, 1e30)] {
            let Root::Met { price, .. } = root(start, asked, cubic) else { panic!("a curve") };
            assert!((price / asked.cbrt() - 1.0).abs() < 1e-12, "{price}");
        }
        let exponential = |p: f64| (p.exp(), p.exp());
        let Root::Met { price, .. } = root(-40.0, 2.0, exponential) else { panic!("a curve") };
        assert!((price - 2_f64.ln()).abs() < 1e-13);
        // From far above every step of Newton's is 1 long.
        let steps = std::cell::Cell::new(0);
        let counted = |p: f64| {
            steps.set(steps.get() + 1);
            exponential(p)
        };
        let Root::Met { price, .. } = root(650.0, 2.0, counted) else { panic!("a curve") };
        assert!((price - 2_f64.ln()).abs() < 1e-13 && steps.get() < 60, "{price} after {}", steps.get());
        let step = |p: f64| (if p > 0.1 { 5.0 } else { 1.0 }, 0.0);
        for start in [-1e9, 0.0, 0.1, 7.0] {
            assert_eq!(root(start, 3.0, step), Root::Jump { low: 0.1, high: 0.1_f64.next_up() });
        }
        let Root::Met { price, slope } = root(9.0, 1.0, step) else { panic!("a flat stretch") };
        assert!(price <= 0.1 && slope == 0.0);
        let endless = |p: f64| (if p > 0.0 { f64::INFINITY } else { 0.0 }, 0.0);
        assert_eq!(root(1.0, 3.0, endless), Root::Jump { low: 0.0, high: 0.0_f64.next_up() });
        assert!(matches!(root(1.0, 3.0, |_| (f64::NAN, 0.0)), Root::Undefined { .. }));
    }
}
