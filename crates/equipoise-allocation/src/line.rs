//! How far to go along a line on which a concave function rises.
//!
//! ```text
//! slope(0) > 0, slope never rises:   where does it come near to 0?
//! ```
//!
//! - Given: slopes at lengths that were tried, how fast they fall there. Returns: the next length to try.
//! - Must not know: what the function is.
//!
//! Lengths grow, faster and faster, until a slope is negative; then they lie between the last two, by Newton's method, and
//! where the bracket does not halve by halving it: its order of magnitude while the ends differ by more than that.

/// A length that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tried {
    length: f64,
    slope: f64,
    /// By how much the slope falls with the length.
    fall: f64,
}

/// A line under way.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    low: Tried,
    high: Option<Tried>,
    growth: f64,
    shrink: f64,
    width: f64,
}

/// The share of a bracket that stays clear at either end.
const MARGIN: f64 = 1e-3;
/// Ends that differ by more than this factor are halved by their order of magnitude.
const WIDE: f64 = 16.0;

impl Line {
    /// A line that begins with this slope, which falls so fast.
    pub(crate) fn new(slope: f64, fall: f64) -> Self {
        let low = Tried { length: 0.0, slope, fall };
        Self { low, high: None, growth: 4.0, shrink: 0.1, width: f64::INFINITY }
    }

    /// Whether the end of the rise has been passed.
    pub(crate) fn is_bracketed(&self) -> bool {
        self.high.is_some()
    }

    /// The length to try after this one; `None` where there is none in between. A slope that is no number counts as one
    /// beyond the end.
    pub(crate) fn next(&mut self, length: f64, slope: f64, fall: f64) -> Option<f64> {
        if slope > 0.0 && slope.is_finite() {
            self.low = Tried { length, slope, fall };
        } else {
            let slope = if slope.is_finite() { slope } else { f64::NEG_INFINITY };
            self.high = Some(Tried { length, slope, fall });
        }
        let Some(high) = self.high else {
            let next = length * self.growth;
            self.growth *= 2.0;
            return next.is_finite().then_some(next);
        };
        let low = self.low;
        let width = high.length - low.length;
        let has_halved = width <= 0.5 * self.width;
        self.width = width;
        let next = if has_halved && high.slope.is_finite() {
            Self::newton(low, high)
        } else if low.length == 0.0 {
            let next = high.length * self.shrink;
            self.shrink = (self.shrink * self.shrink).max(1e-16);
            next
        } else if high.length > WIDE * low.length {
            low.length.sqrt() * high.length.sqrt()
        } else {
            0.5 * low.length + 0.5 * high.length
        };
        (next > low.length && next < high.length && width > 1e-14 * high.length).then_some(next)
    }

    /// Where the slope is 0 by its fall at one of the ends, or by the line through both.
    fn newton(low: Tried, high: Tried) -> f64 {
        let width = high.length - low.length;
        let (first, last) = (low.length + MARGIN * width, high.length - MARGIN * width);
        let of = |end: Tried| end.length + end.slope / end.fall;
        let found = [high, low].into_iter().map(of).find(|next| *next > first && *next < last);
        let share = low.slope / (low.slope - high.slope);
        found.unwrap_or(low.length + share.clamp(0.1, 0.9) * width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length at which the slope has come near to 0, and how many were tried.
    fn follow(first: f64, slope: impl Fn(f64) -> (f64, f64)) -> (f64, usize) {
        let (start, fall) = slope(0.0);
        let mut line = Line::new(start, fall);
        let mut length = first;
        for tried in 1..400 {
            let (now, fall) = slope(length);
            if now.abs() <= 0.1 * start {
                return (length, tried);
            }
            length = line.next(length, now, fall).expect("there is a length between");
        }
        panic!("no end of the line");
    }

    #[test]
    fn ends_near_and_far_are_found_in_a_few_steps() {
        // Steep, then all but flat beyond a kink at 10^k: the line through both ends is of no use.
        for k in [-200, -30, -9, -3, 0, 2, 8, 40] {
            let kink = 10_f64.powi(k);
            let slope = |t: f64| if t < kink { (1.0 - 0.5 * t / kink, 0.5 / kink) } else { (-0.12, 0.0) };
            let jump = |t: f64| {
                let (now, fall) = slope(t);
                if t < kink && t > 0.9 * kink { (0.05, 5.0 / kink) } else { (now, fall) }
            };
            let (length, tried) = follow(1.0, jump);
            assert!(length > 0.9 * kink && length < kink && tried < 60, "10^{k}: {length} after {tried}");
        }
        // Slopes without an end count as beyond it.
        let (length, tried) = follow(1.0, |t| if t > 1e-6 { (f64::NAN, 0.0) } else { (1.0 - 1e6 * t, 1e6) });
        assert!(length <= 1e-6 && tried < 40, "{length} after {tried}");
    }

    #[test]
    fn a_line_without_a_length_between_ends() {
        let mut line = Line::new(1.0, 0.0);
        assert!(line.next(1.0, 1.0, 0.0) == Some(4.0) && !line.is_bracketed());
        assert!(line.next(1.0 + 1e-15, -1.0, 0.0).is_none() && line.is_bracketed());
    }
}
