//! The root of a nonincreasing piecewise linear function, in expected linear time.
//!
//! ```text
//! phi(lambda) = sum over ramps of clip(q - c lambda, bottom, top) - shift
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | ramp | what one coordinate adds to `a'(z - x)` as lambda grows: level, falling, level |
//! | c, q | rate of fall, and height of the falling line at lambda = 0 |
//! | start, end | the lambda at which it starts and ends to fall |
//!
//! A coordinate with bounds is one ramp; an l1 kink inside the bounds makes two, one for each sign of z.
//! Newton steps on phi, kept inside a bracket; a step that leaves the bracket, or a run of steps that do not
//! thin out the ramps, is replaced by the median of the corners left. Ramps without a corner inside the bracket
//! are added up once and leave the list, so the work halves and halves again.
//!
//! Reference: Cominetti, Mascarenhas, Silva, "A Newton's method for the continuous quadratic knapsack problem".

use crate::separable::Piece;

/// One falling stretch of phi.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramp {
    q: f64,
    c: f64,
    bottom: f64,
    top: f64,
    start: f64,
    end: f64,
}

impl Ramp {
    /// `a clip((pull - a lambda) w, lower, upper)` as a function of lambda, for a != 0.
    fn new(a: f64, w: f64, pull: f64, lower: f64, upper: f64) -> Self {
        let (c, q) = (a * a * w, a * w * pull);
        let (bottom, top) = if a > 0.0 { (a * lower, a * upper) } else { (a * upper, a * lower) };
        Self { q, c, bottom, top, start: (q - top) / c, end: (q - bottom) / c }
    }

    #[inline]
    fn at(&self, lambda: f64) -> f64 {
        (self.q - self.c * lambda).max(self.bottom).min(self.top)
    }
}

/// Appends the ramps of a coordinate with value x, gradient g, metric d and coefficient a on the row.
pub(super) fn push_ramps(ramps: &mut Vec<Ramp>, [x, g, d, a]: [f64; 4], h: Piece) {
    if a == 0.0 {
        return;
    }
    let w = 1.0 / (d + h.l2);
    let mut push = |pull: f64, lower: f64, upper: f64| ramps.push(Ramp::new(a, w, pull, lower, upper));
    // Measured from x where x lies on the stretch, so that D x cancels without rounding.
    let smooth = -(g + h.l2 * x);
    if h.l1 == 0.0 {
        push(smooth, h.lower - x, h.upper - x);
    } else if h.lower >= 0.0 {
        push(smooth - h.l1, h.lower - x, h.upper - x);
    } else if h.upper <= 0.0 {
        push(smooth + h.l1, h.lower - x, h.upper - x);
    } else if x >= 0.0 {
        push(smooth - h.l1, -x, h.upper - x);
        push(d * x - g + h.l1, h.lower, 0.0);
    } else {
        push(smooth + h.l1, h.lower - x, -x);
        push(d * x - g - h.l1, 0.0, h.upper);
    }
}

/// What ramps that left the list add: `level + q - c lambda`.
#[derive(Debug, Clone, Copy, Default)]
struct Straight {
    level: f64,
    q: f64,
    c: f64,
}

/// A lambda with phi(lambda) = 0, or the corner nearest to one where phi has no root. The list is used up.
pub(super) fn root(ramps: &mut Vec<Ramp>, corners: &mut Vec<f64>, shift: f64, guess: f64) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut straight = Straight { level: -shift, ..Straight::default() };
    let mut lambda = if guess.is_finite() { guess } else { 0.0 };
    let mut slow = 0;
    // Every third step at the latest halves the corners, so this ends long before the limit.
    for _ in 0..400 {
        let phi = height(ramps, straight, lambda);
        if phi == 0.0 {
            return lambda;
        }
        if phi > 0.0 {
            low = lambda;
        } else {
            high = lambda;
        }
        let before = ramps.len();
        let rate = retire(ramps, &mut straight, low, high, phi > 0.0);
        if ramps.is_empty() {
            return last_stretch(straight, low, high, lambda);
        }
        slow = if 2 * ramps.len() > before { slow + 1 } else { 0 };
        let newton = lambda + phi / rate;
        let inside = low < newton && newton < high;
        lambda = if inside && slow < 3 {
            newton
        } else {
            slow = 0;
            median_corner(ramps, corners, low, high)
        };
    }
    lambda
}

fn height(ramps: &[Ramp], straight: Straight, lambda: f64) -> f64 {
    let sum: f64 = ramps.iter().map(|ramp| ramp.at(lambda)).sum();
    let line = if straight.c == 0.0 { 0.0 } else { straight.q - straight.c * lambda };
    sum + straight.level + line
}

/// Takes ramps without a corner inside the bracket off the list; returns how fast phi falls next to `low`
/// (when the root is above) or `high`.
fn retire(ramps: &mut Vec<Ramp>, straight: &mut Straight, low: f64, high: f64, above: bool) -> f64 {
    let mut rate = 0.0;
    ramps.retain(|ramp| {
        if ramp.end <= low {
            straight.level += ramp.bottom;
        } else if ramp.start >= high {
            straight.level += ramp.top;
        } else if ramp.start <= low && ramp.end >= high {
            straight.q += ramp.q;
            straight.c += ramp.c;
        } else {
            let falling = if above { ramp.start <= low } else { ramp.end >= high };
            rate += if falling { ramp.c } else { 0.0 };
            return true;
        }
        false
    });
    rate + straight.c
}

/// The root of what is left when no corner is: a straight line over the bracket.
fn last_stretch(straight: Straight, low: f64, high: f64, lambda: f64) -> f64 {
    if straight.c > 0.0 {
        ((straight.level + straight.q) / straight.c).max(low).min(high)
    } else if low.is_finite() && high.is_finite() {
        0.5 * (low + high)
    } else {
        lambda
    }
}

fn median_corner(ramps: &[Ramp], corners: &mut Vec<f64>, low: f64, high: f64) -> f64 {
    corners.clear();
    let inside = |t: &f64| low < *t && *t < high;
    corners.extend(ramps.iter().flat_map(|ramp| [ramp.start, ramp.end]).filter(inside));
    if corners.is_empty() {
        return if low.is_finite() { low } else { high };
    }
    let middle = corners.len() / 2;
    *corners.select_nth_unstable_by(middle, f64::total_cmp).1
}
