//! The cost of one user, as a trait, for costs that have no columns of their own.
//!
//! ```text
//! f convex on the limits of its user;   x(s) = argmin f(x) + w/2 (x - c)^2 - s x   over   l <= x <= u
//! ```
//!
//! - Given: a number x, or a marginal price s. Returns: values, slopes, the response to s.
//! - Must not know: other users, rows.

use std::fmt::Debug;

use equipoise::enclosure::Enclosure;

/// A term near which a response should stay: `weight/2 (x - centre)^2`; none where the weight is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Near {
    /// w.
    pub weight: f64,
    /// c.
    pub centre: f64,
}

/// A convex cost of one number.
///
/// Values and slopes are asked for within the limits of the user. `enclose_value` and `enclose_slopes` are what the
/// certificate is made of: without them a result is found, but nothing can be proven of it, and it never counts as converged.
///
/// ```
/// use equipoise::enclosure::Enclosure;
/// use equipoise_allocation::Cost;
///
/// /// x^2 / 2 above 0, nothing below.
/// #[derive(Debug)]
/// struct OneSided;
///
/// impl Cost for OneSided {
///     fn value(&self, x: f64) -> f64 {
///         0.5 * x.max(0.0).powi(2)
///     }
///     fn slopes(&self, x: f64) -> (f64, f64) {
///         (x.max(0.0), x.max(0.0))
///     }
///     fn curvature(&self, x: f64) -> f64 {
///         if x > 0.0 { 1.0 } else { 0.0 }
///     }
///     fn enclose_value(&self, x: f64) -> Enclosure {
///         Enclosure::from(x.max(0.0)).square().half()
///     }
///     fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
///         (x.max(0.0).into(), x.max(0.0).into())
///     }
/// }
/// let x = OneSided.respond(3.0, -1.0, 10.0, Default::default());
/// assert!((x - 3.0).abs() < 1e-15);
/// ```
pub trait Cost: Debug + Send + Sync {
    /// f(x).
    fn value(&self, x: f64) -> f64;

    /// The derivatives of f from the left and from the right.
    fn slopes(&self, x: f64) -> (f64, f64);

    /// The second derivative where there is one; 0 at kinks and on straight pieces.
    fn curvature(&self, _x: f64) -> f64 {
        0.0
    }

    /// f(x) with a proven error.
    fn enclose_value(&self, _x: f64) -> Enclosure {
        Enclosure::UNKNOWN
    }

    /// The slopes with proven errors.
    fn enclose_slopes(&self, _x: f64) -> (Enclosure, Enclosure) {
        (Enclosure::UNKNOWN, Enclosure::UNKNOWN)
    }

    /// Whether x(s) is unique for every s.
    fn bends(&self) -> bool {
        false
    }

    /// x(s): the best x for a marginal price, infinite where there is none.
    fn respond(&self, s: f64, lower: f64, upper: f64, near: Near) -> f64 {
        search(|x| self.slopes(x), s, lower, upper, near)
    }
}

/// x(s) by bisection: the place where the slopes pass s.
fn search(slopes: impl Fn(f64) -> (f64, f64), s: f64, lower: f64, upper: f64, near: Near) -> f64 {
    // Whether the answer is not to the right of x, and not to its left.
    let pull = |x: f64| near.weight * (x - near.centre) - s;
    let is_high = |x: f64| slopes(x).1 + pull(x) >= 0.0;
    let is_low = |x: f64| slopes(x).0 + pull(x) <= 0.0;
    let (mut low, mut high) = (lower, upper);
    if low.is_finite() && is_high(low) {
        return low;
    }
    if high.is_finite() && is_low(high) {
        return high;
    }
    if low.is_infinite() || high.is_infinite() {
        let from = if low.is_finite() { low } else { high.min(0.0) };
        let mut step = 1.0;
        if low.is_infinite() {
            low = from;
            while !is_low(low) {
                low = from - step;
                step *= 4.0;
                if low < -1e300 {
                    return f64::NEG_INFINITY;
                }
            }
        }
        step = 1.0;
        if high.is_infinite() {
            high = low;
            while !is_high(high) {
                high = low + step;
                step *= 4.0;
                if high > 1e300 {
                    return f64::INFINITY;
                }
            }
        }
    }
    for _ in 0..1100 {
        let middle = 0.5 * low + 0.5 * high;
        if middle <= low || middle >= high {
            break;
        }
        match (is_low(middle), is_high(middle)) {
            (true, true) => return middle,
            (true, false) => low = middle,
            _ => high = middle,
        }
    }
    // The one of two neighbours whose slope is nearer.
    let miss = |x: f64| {
        let (left, right) = slopes(x);
        (left + pull(x)).max(-(right + pull(x))).max(0.0)
    };
    if miss(low) <= miss(high) { low } else { high }
}

/// Straight pieces between points; the first and the last go on beyond their ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Piecewise {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Of the pieces, in plain arithmetic.
    slopes: Vec<f64>,
    /// By how much points that were left out lie above what is kept, at most: proofs charge it.
    dropped: f64,
}

/// How far a point may lie above the convex hull of the others, relative to its value, and still be taken as rounded.
const ROUNDED: f64 = 1e-11;

impl Piecewise {
    /// Through these points, from left to right; an error says which piece is wrong. Points that are above the convex hull
    /// of the others by rounding alone are left out.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, String> {
        if points.len() < 2 {
            return Err(format!("found {} points, expected at least two", points.len()));
        }
        if let Some((k, point)) =
            points.iter().enumerate().find(|(_, point)| !(point.0.is_finite() && point.1.is_finite()))
        {
            return Err(format!("point {} is ({}, {}), expected finite numbers", k + 1, point.0, point.1));
        }
        if let Some(k) = (1..points.len()).find(|&k| points[k].0 <= points[k - 1].0) {
            return Err(format!(
                "point {} at {} does not lie beyond {}",
                k + 1,
                points[k].0,
                points[k - 1].0
            ));
        }
        // The lower hull; a point is above the line of its neighbours where the turn is to the right.
        let mut hull: Vec<usize> = Vec::new();
        for k in 0..points.len() {
            while let [.., a, b] = hull[..] {
                let rise = |p: usize, q: usize| {
                    let run = Enclosure::difference(points[q].0, points[p].0);
                    Enclosure::difference(points[q].1, points[p].1).over(run)
                };
                let (first, second) = (rise(a, b), rise(b, k));
                if first.upper() <= second.lower() {
                    break;
                }
                let (first, second) = (first.centre(), second.centre());
                let above = (first - second) * (points[b].0 - points[a].0).min(points[k].0 - points[b].0);
                let size = points[a].1.abs().max(points[b].1.abs()).max(points[k].1.abs());
                if above > ROUNDED * size {
                    return Err(format!(
                        "its slope falls from {first} to {second} where piece {} ({} to {}) begins",
                        k, points[b].0, points[k].0
                    ));
                }
                hull.pop();
            }
            hull.push(k);
        }
        let (x, y): (Vec<f64>, Vec<f64>) = hull.iter().map(|&k| points[k]).unzip();
        let slopes = (1..x.len()).map(|k| (y[k] - y[k - 1]) / (x[k] - x[k - 1])).collect();
        let mut own = Self { x, y, slopes, dropped: 0.0 };
        own.dropped = (0..points.len())
            .filter(|k| !hull.contains(k))
            .map(|k| (Enclosure::from(points[k].1) - own.enclose_value(points[k].0)).upper())
            .fold(0.0, f64::max);
        Ok(own)
    }

    /// The piece whose inside or left end x is in; the outer pieces reach beyond their ends.
    fn piece(&self, x: f64) -> usize {
        self.x.partition_point(|own| *own <= x).clamp(1, self.x.len() - 1) - 1
    }

    fn enclose_slope(&self, piece: usize) -> Enclosure {
        let run = Enclosure::difference(self.x[piece + 1], self.x[piece]);
        Enclosure::difference(self.y[piece + 1], self.y[piece]).over(run)
    }

    /// The piece that ends at x and the one that begins there; the same one inside.
    fn pieces(&self, x: f64) -> (usize, usize) {
        let right = self.piece(x);
        let left = if right > 0 && self.x[right] == x { right - 1 } else { right };
        (left, right)
    }
}

impl Cost for Piecewise {
    fn value(&self, x: f64) -> f64 {
        let piece = self.piece(x);
        self.y[piece] + (x - self.x[piece]) * self.slopes[piece]
    }

    fn slopes(&self, x: f64) -> (f64, f64) {
        let (left, right) = self.pieces(x);
        (self.slopes[left], self.slopes[right])
    }

    fn enclose_value(&self, x: f64) -> Enclosure {
        let piece = self.piece(x);
        let kept = Enclosure::difference(x, self.x[piece]) * self.enclose_slope(piece);
        (Enclosure::from(self.y[piece]) + kept).widened(self.dropped)
    }

    fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
        let (left, right) = self.pieces(x);
        (self.enclose_slope(left), self.enclose_slope(right))
    }

    fn respond(&self, s: f64, lower: f64, upper: f64, near: Near) -> f64 {
        let last = self.slopes.len() - 1;
        for (k, slope) in self.slopes.iter().enumerate() {
            let left = if k == 0 { lower } else { self.x[k].max(lower) };
            let right = if k == last { upper } else { self.x[k + 1].min(upper) };
            if right < left {
                continue;
            }
            // On this piece: slope + weight (x - centre) = s.
            let way = s - slope;
            let best = if near.weight > 0.0 {
                near.centre + way / near.weight
            } else if way > 0.0 {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
            if best <= right || right >= upper {
                return best.max(left).min(right);
            }
        }
        upper
    }
}

/// A polynomial, convex on an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    /// Of 1, x, x^2, ...
    coefficients: Vec<f64>,
}

/// Halvings of the interval before a polynomial counts as not proven convex.
const HALVINGS: usize = 40;

impl Polynomial {
    /// By its coefficients of 1, x, x^2, ...; an error says where on the interval it is not, or not provably, convex.
    pub fn new(coefficients: Vec<f64>, lower: f64, upper: f64) -> Result<Self, String> {
        if let Some(k) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(format!("coefficient {} is {}, expected a finite number", k + 1, coefficients[k]));
        }
        if !(lower.is_finite() && upper.is_finite()) {
            return Err("a polynomial of degree above 2 needs finite limits".into());
        }
        let second: Vec<Enclosure> = coefficients
            .iter()
            .enumerate()
            .skip(2)
            .map(|(k, c)| Enclosure::product(*c, (k * (k - 1)) as f64))
            .collect();
        // Where the coefficients of Bernstein's basis on a part are at least 0, so is the second derivative.
        let mut parts = vec![(lower, upper, 0)];
        while let Some((a, b, depth)) = parts.pop() {
            // From either end: at 0 nothing is rounded.
            let turned = |(k, c): (usize, &Enclosure)| if k % 2 == 1 { -*c } else { *c };
            let mirrored: Vec<Enclosure> = second.iter().enumerate().map(turned).collect();
            let is_convex = |c: &[Enclosure], a, b| bernstein(c, a, b).iter().all(|c| c.lower() >= 0.0);
            if is_convex(&second, a, b) || is_convex(&mirrored, -b, -a) {
                continue;
            }
            let middle = 0.5 * a + 0.5 * b;
            let witness = [a, middle, b].into_iter().find(|&x| horner(&second, x).upper() < 0.0);
            if let Some(x) = witness {
                let found = horner(&second, x).centre();
                return Err(format!("its second derivative is {found} at {x}"));
            }
            if depth >= HALVINGS || middle <= a || middle >= b {
                return Err(format!("its second derivative is not provably at least 0 between {a} and {b}"));
            }
            parts.extend([(a, middle, depth + 1), (middle, b, depth + 1)]);
        }
        Ok(Self { coefficients })
    }

    fn derivative(&self, x: f64) -> f64 {
        let terms = self.coefficients.iter().enumerate().skip(1).rev();
        terms.fold(0.0, |sum, (k, c)| sum * x + k as f64 * c)
    }
}

/// A polynomial with enclosed coefficients at a number.
fn horner(coefficients: &[Enclosure], x: f64) -> Enclosure {
    coefficients.iter().rev().fold(0.0.into(), |sum, c| sum * Enclosure::from(x) + *c)
}

/// A product that is exactly 0 where a factor is: bounds of 0 must not be blurred.
fn times(a: Enclosure, b: Enclosure) -> Enclosure {
    let zero = Enclosure::from(0.0);
    if a == zero || b == zero { zero } else { a * b }
}

/// Its coefficients in Bernstein's basis on an interval.
fn bernstein(coefficients: &[Enclosure], a: f64, b: f64) -> Vec<Enclosure> {
    let degree = coefficients.len().saturating_sub(1);
    // p(a + t (b - a)) = sum_k shifted_k t^k.
    let mut shifted = coefficients.to_vec();
    for start in 0..degree {
        for k in (start..degree).rev() {
            shifted[k] = shifted[k] + times(shifted[k + 1], a.into());
        }
    }
    let width = Enclosure::difference(b, a);
    let mut power = Enclosure::from(1.0);
    for c in &mut shifted {
        *c = times(*c, power);
        power = times(power, width);
    }
    (0..=degree)
        .map(|j| {
            // (j choose k) / (degree choose k), factor by factor: whole numbers of that size need not be f64.
            let mut weight = Enclosure::from(1.0);
            shifted.iter().take(j + 1).enumerate().fold(Enclosure::from(0.0), |sum, (k, c)| {
                let term = times(*c, weight);
                if j != degree && k < degree {
                    weight = weight * Enclosure::from((j - k) as f64).over(((degree - k) as f64).into());
                }
                sum + term
            })
        })
        .collect()
}

impl Cost for Polynomial {
    fn value(&self, x: f64) -> f64 {
        self.coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
    }

    fn slopes(&self, x: f64) -> (f64, f64) {
        let slope = self.derivative(x);
        (slope, slope)
    }

    fn curvature(&self, x: f64) -> f64 {
        let terms = self.coefficients.iter().enumerate().skip(2).rev();
        terms.fold(0.0, |sum, (k, c)| sum * x + (k * (k - 1)) as f64 * c).max(0.0)
    }

    fn enclose_value(&self, x: f64) -> Enclosure {
        self.coefficients
            .iter()
            .rev()
            .fold(0.0.into(), |sum, c| sum * Enclosure::from(x) + Enclosure::from(*c))
    }

    fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
        let terms = self.coefficients.iter().enumerate().skip(1).rev();
        let slope = terms.fold(Enclosure::from(0.0), |sum, (k, c)| {
            sum * Enclosure::from(x) + Enclosure::product(k as f64, *c)
        });
        (slope, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bernsteins_coefficients_hold_whatever_the_degree() {
        // (1 + t)^d on 0..1: the coefficients are 2^j.
        for degree in [3, 56, 57, 64, 120] {
            let mut coefficients = vec![Enclosure::from(1.0)];
            for _ in 0..degree {
                let mut next = vec![Enclosure::from(0.0); coefficients.len() + 1];
                for (k, c) in coefficients.iter().enumerate() {
                    next[k] += *c;
                    next[k + 1] += *c;
                }
                coefficients = next;
            }
            for (j, found) in bernstein(&coefficients, 0.0, 1.0).into_iter().enumerate() {
                let known = 2_f64.powi(i32::try_from(j).expect("small"));
                assert!(found.lower() <= known && found.upper() >= known, "{degree}, {j}: {found:?}");
                assert!(found.upper() - found.lower() <= 1e-12 * known, "{degree}, {j}: {found:?}");
            }
        }
        // x^60 - x^2 / 1e9 bends downwards at 0.
        let mut coefficients = vec![0.0; 61];
        (coefficients[60], coefficients[2]) = (1.0, -1e-9);
        let error = Polynomial::new(coefficients, -1.0, 1.0).expect_err("refused");
        assert!(error.contains("its second derivative is"), "{error}");
    }
}
