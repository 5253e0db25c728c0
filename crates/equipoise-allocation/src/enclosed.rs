//! Costs that are enclosed one by one: the value, its error, and what the limits leave of the slack.
//!
//! ```text
//! slack = max(s - f'(x+), 0) (way up) + max(f'(x-) - s, 0) (way down)
//! ```
//!
//! where a way ends at the limit, or where the cost is known to rise (fall) faster than s.
//!
//! - Given: a cost, x, an enclosure of the marginal price s. Returns: three numbers for the proof. Must not know: other users.

use equipoise::enclosure::{Enclosure, above};

use crate::cost::Cost;

/// The number, its error and its slack of a cost that is enclosed.
pub(crate) fn enclosed(
    cost: &(impl Cost + ?Sized),
    s: Enclosure,
    x: f64,
    (lower, upper): (f64, f64),
) -> [f64; 3] {
    let value = cost.enclose_value(x);
    if !value.is_known() {
        return [0.0, f64::INFINITY, f64::INFINITY];
    }
    let centre = value.centre();
    let error = above((value.upper() - centre).max(centre - value.lower()));
    let (left, right) = cost.enclose_slopes(x);
    let bend = cost.curvature(x);
    let mut slack = 0.0;
    let up = (s - right).upper();
    if upper > x && up > 0.0 {
        // A point from which on the cost rises faster than s ends the way there is to go.
        let is_far = |z: f64| cost.enclose_slopes(z).0.lower() >= s.upper();
        let end = |z: f64| is_far(z).then(|| Enclosure::difference(z, x).upper());
        slack += above(up * way(up, bend, x, upper - x, |way| end(x + way)));
    }
    let down = (left - s).upper();
    if x > lower && down > 0.0 {
        let is_far = |z: f64| cost.enclose_slopes(z).1.upper() <= s.lower();
        let end = |z: f64| is_far(z).then(|| Enclosure::difference(x, z).upper());
        slack += above(down * way(down, bend, x, x - lower, |way| end(x - way)));
    }
    [centre, error, slack]
}

/// The length of a way that ends where it is known to end, or at the limit; `end` says how long a step that is far enough
/// really is.
fn way(miss: f64, bend: f64, x: f64, most: f64, end: impl Fn(f64) -> Option<f64>) -> f64 {
    let first = if bend > 0.0 { 2.0 * miss / bend } else { 0.0 };
    let mut step = first.max(x.abs() * 4.0 * f64::EPSILON).max(f64::MIN_POSITIVE);
    while step < most && step.is_finite() {
        if let Some(length) = end(step) {
            return length;
        }
        step *= 4.0;
    }
    above(most)
}

/// `weight x ln(x / reference) + c1 x`, for x > 0.
#[derive(Debug)]
pub(crate) struct EntropyCost {
    pub(crate) weight: f64,
    pub(crate) reference: f64,
    pub(crate) c1: f64,
}

impl EntropyCost {
    /// `ln(x / reference)`, where the ratio need not be an f64.
    fn log(&self, x: f64) -> Enclosure {
        if x > 0.0 {
            Enclosure::from(x).ln() - Enclosure::from(self.reference).ln()
        } else {
            Enclosure::UNKNOWN
        }
    }
}

impl Cost for EntropyCost {
    fn value(&self, x: f64) -> f64 {
        self.enclose_value(x).centre()
    }

    fn slopes(&self, x: f64) -> (f64, f64) {
        let slope = self.enclose_slopes(x).0.centre();
        (slope, slope)
    }

    fn curvature(&self, x: f64) -> f64 {
        self.weight / x
    }

    fn enclose_value(&self, x: f64) -> Enclosure {
        Enclosure::product(self.weight, x) * self.log(x) + Enclosure::product(self.c1, x)
    }

    fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
        let log = self.log(x) + Enclosure::from(1.0);
        let slope = Enclosure::from(self.weight) * log + Enclosure::from(self.c1);
        (slope, slope)
    }
}

/// `weight x^exponent + c1 x`.
#[derive(Debug)]
pub(crate) struct PowerCost {
    pub(crate) weight: f64,
    pub(crate) exponent: f64,
    pub(crate) c1: f64,
}

impl PowerCost {
    /// `x^p` for x > 0.
    fn power(x: f64, p: Enclosure) -> Enclosure {
        (Enclosure::from(x).ln() * p).exp()
    }
}

impl Cost for PowerCost {
    fn value(&self, x: f64) -> f64 {
        self.weight * x.powf(self.exponent) + self.c1 * x
    }

    fn slopes(&self, x: f64) -> (f64, f64) {
        let slope = self.weight * self.exponent * x.powf(self.exponent - 1.0) + self.c1;
        (slope, slope)
    }

    fn curvature(&self, x: f64) -> f64 {
        let p = self.exponent;
        let bend = self.weight * p * (p - 1.0) * x.powf(p - 2.0);
        if bend.is_finite() { bend } else { 0.0 }
    }

    fn enclose_value(&self, x: f64) -> Enclosure {
        let bent = match () {
            () if x > 0.0 => Self::power(x, self.exponent.into()),
            () if x == 0.0 && self.exponent > 0.0 => Enclosure::from(0.0),
            () => Enclosure::UNKNOWN,
        };
        Enclosure::from(self.weight) * bent + Enclosure::product(self.c1, x)
    }

    fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
        let bent = match () {
            () if x > 0.0 => Self::power(x, Enclosure::difference(self.exponent, 1.0)),
            () if x == 0.0 && self.exponent > 1.0 => Enclosure::from(0.0),
            () => Enclosure::UNKNOWN,
        };
        let slope = Enclosure::product(self.weight, self.exponent) * bent + Enclosure::from(self.c1);
        (slope, slope)
    }
}
