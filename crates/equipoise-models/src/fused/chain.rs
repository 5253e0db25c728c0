//! The chain, exactly and in linear time.
//!
//! ```text
//! minimise 1/2 sum_i (y_i - b_i)^2 + lambda sum_i |b_{i+1} - b_i|
//! ```
//!
//! Dynamic programming from left to right (Johnson 2013). Let `f_i(v)` be the least cost of everything up to sample i given
//! that `b_i = v`. Then `f_{i+1}(v) = 1/2 (v - y_{i+1})^2 + min_w f_i(w) + lambda |v - w|`, and the derivative of that
//! minimum is the derivative of `f_i`, cut off at -lambda and lambda. It is piecewise linear and increasing: a list of knots,
//! each with what slope and offset grow by there. A sample adds `v - y` to every piece; cutting removes knots at both ends and
//! sets one new knot at each. Every knot is set once and removed once at most. The places where the cuts lie are kept: they are
//! the interval in which `b_i` is its right neighbour's value, so that a pass from right to left finds every b.
//!
//! With `c = offset + lambda` on the left and `c = offset - lambda` on the right, both walks begin with slope 1 and `c = -y`:
//! lambda enters with the first sample alone.
//!
//! Most signals do not come here: the [`string`](super::string) is quicker, and gives up where it is not.
//!
//! - Given: y and lambda > 0. Returns: b; neighbours in one segment are equal to the bit.
//! - Must not know: other penalties, certificates.

use equipoise::{Control, Pass, Team};

use super::string;

/// Samples between two looks at the control, a power of two.
const SAMPLES_PER_LOOK: usize = 1 << 16;
/// Samples from which two threads are worth waking.
const LONG: usize = 200_000;

/// Where the derivative of a message bends: position, and what slope and offset grow by.
#[derive(Debug, Clone, Copy, Default)]
struct Knot {
    at: f64,
    slope: f64,
    offset: f64,
}

/// Memory for chains, used again from one to the next.
#[derive(Debug, Default)]
pub(super) struct Chain {
    knots: Vec<Knot>,
    /// The knots that count: from here, and to here, excluded.
    first: usize,
    last: usize,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Chain {
    /// Solves one chain.
    pub(super) fn solve(&mut self, y: &[f64], lambda: f64, b: &mut [f64], control: &Control) -> Pass {
        if string::solve(y, lambda, b, control)? { Ok(()) } else { self.recursion(y, lambda, b, control) }
    }

    /// Solves one chain in linear time, whatever its samples.
    pub(super) fn recursion(&mut self, y: &[f64], lambda: f64, b: &mut [f64], control: &Control) -> Pass {
        let n = y.len();
        if n < 2 {
            b.copy_from_slice(y);
            return Ok(());
        }
        self.forward(y[..n - 1].iter(), lambda, control)?;
        let value = root(y[n - 1], lambda, self.message(), None);
        b[n - 1] = value;
        self.backward(value, b[..n - 1].iter_mut().rev());
        Ok(())
    }

    /// The same, the recursion by up to two threads: each begins at an end of the chain, and the messages meet in the middle.
    pub(super) fn solve_by(threads: usize, y: &[f64], lambda: f64, b: &mut [f64], control: &Control) -> Pass {
        if string::solve(y, lambda, b, control)? {
            Ok(())
        } else {
            Self::recursion_by(threads, y, lambda, b, control)
        }
    }

    fn recursion_by(threads: usize, y: &[f64], lambda: f64, b: &mut [f64], control: &Control) -> Pass {
        let n = y.len();
        if threads < 2 || n < LONG {
            return Self::default().recursion(y, lambda, b, control);
        }
        let (team, middle) = (Team::of(2), n / 2);
        let mut halves = team.map([true, false].into_iter(), |is_left| {
            let mut chain = Self::default();
            if is_left {
                chain.forward(y[..middle - 1].iter(), lambda, control)?;
            } else {
                chain.forward(y[middle..].iter().rev(), lambda, control)?;
            }
            Pass::Ok(chain)
        });
        let (Some(right), Some(left)) = (halves.pop(), halves.pop()) else { return Ok(()) };
        let (left, right): (Self, Self) = (left?, right?);
        let value = root(y[middle - 1], lambda, left.message(), Some(right.message()));
        let (before, after) = b.split_at_mut(middle);
        before[middle - 1] = value;
        team.map([(left, &mut before[..middle - 1], true), (right, after, false)].into_iter(), |half| {
            match half {
                (chain, part, true) => chain.backward(value, part.iter_mut().rev()),
                (chain, part, false) => chain.backward(value, part.iter_mut()),
            }
        });
        Ok(())
    }

    /// The message after these samples.
    fn message(&self) -> &[Knot] {
        &self.knots[self.first..self.last]
    }

    /// The message of these samples to whoever comes next, and the intervals of each.
    fn forward<'a>(
        &mut self,
        mut samples: impl ExactSizeIterator<Item = &'a f64>,
        lambda: f64,
        control: &Control,
    ) -> Pass {
        let n = samples.len();
        if self.low.len() < n {
            (self.low, self.high) = (vec![0.0; n], vec![0.0; n]);
        }
        if self.knots.len() < 64 {
            self.knots = vec![Knot::default(); 64];
        }
        let middle = self.knots.len() / 2;
        let (mut first, mut last) = (middle, middle);
        if let Some(y) = samples.next() {
            let (low, high) = (y - lambda, y + lambda);
            (first, last) = (middle - 1, middle + 1);
            self.knots[first] = Knot { at: low, slope: 1.0, offset: -low };
            self.knots[middle] = Knot { at: high, slope: -1.0, offset: high };
            (self.low[0], self.high[0]) = (low, high);
        }
        let cuts = self.low.iter_mut().zip(self.high.iter_mut()).skip(1);
        for (k, (y, (low, high))) in samples.zip(cuts).enumerate() {
            if first == 0 || last == self.knots.len() {
                (first, last) = recentre(&mut self.knots, first, last);
            }
            let knots = self.knots.as_mut_slice();
            let (mut slope, mut c) = (1.0, -y);
            while first < last {
                let knot = knots[first];
                if slope * knot.at + c > 0.0 {
                    break;
                }
                slope += knot.slope;
                c += knot.offset;
                first += 1;
            }
            let at = -c / slope;
            let left = Knot { at, slope, offset: c };
            *low = at;
            (slope, c) = (1.0, -y);
            while first < last {
                let knot = knots[last - 1];
                if slope * knot.at + c < 0.0 {
                    break;
                }
                slope -= knot.slope;
                c -= knot.offset;
                last -= 1;
            }
            let at = -c / slope;
            *high = at;
            first -= 1;
            knots[first] = left;
            knots[last] = Knot { at, slope: -slope, offset: -c };
            last += 1;
            if k & (SAMPLES_PER_LOOK - 1) == 0 {
                control.check()?;
            }
        }
        (self.first, self.last) = (first, last);
        Ok(())
    }

    /// The values of all samples of the message, from the one that was last, given that of its neighbour.
    fn backward<'a>(&self, mut value: f64, values: impl ExactSizeIterator<Item = &'a mut f64>) {
        let n = values.len();
        let cuts = self.low[..n].iter().zip(&self.high[..n]).rev();
        for (b, (low, high)) in values.zip(cuts) {
            value = value.max(*low).min(*high);
            *b = value;
        }
    }
}

/// Where `v - y` and the messages of both neighbours add up to 0; there may be no right one.
fn root(y: f64, lambda: f64, left: &[Knot], right: Option<&[Knot]>) -> f64 {
    let ends = if right.is_some() { 2.0 } else { 1.0 };
    let (mut slope, mut offset) = (1.0, -y - ends * lambda);
    let (mut left, mut right) = (left.iter().peekable(), right.unwrap_or(&[]).iter().peekable());
    loop {
        let knot = match (left.peek(), right.peek()) {
            (Some(one), Some(other)) if one.at <= other.at => left.next(),
            (Some(_), None) => left.next(),
            _ => right.next(),
        };
        match knot {
            Some(knot) if slope * knot.at + offset <= 0.0 => {
                slope += knot.slope;
                offset += knot.offset;
            }
            _ => return -offset / slope,
        }
    }
}

/// Moves the knots that count to the middle, of twice the memory where they fill more than half of it.
#[cold]
fn recentre(knots: &mut Vec<Knot>, first: usize, last: usize) -> (usize, usize) {
    let count = last - first;
    let size = if 2 * count > knots.len() { 2 * knots.len() } else { knots.len() };
    let start = (size - count) / 2;
    knots.resize(size, Knot::default());
    knots.copy_within(first..last, start);
    (start, start + count)
}

/// The z that goes with b: `y - b = D'z`, so `z_r = -sum_{i <= r} (y_i - b_i)`; at a jump it is lambda or -lambda, and the
/// sum begins anew there, so that rounding does not add up from one segment to the next.
pub(super) fn multipliers(y: &[f64], b: &[f64], lambda: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let pairs = b.windows(2).zip(y);
    pairs
        .map(|(pair, y)| {
            sum -= y - pair[0];
            if pair[1] != pair[0] {
                sum = lambda.copysign(pair[1] - pair[0]);
            }
            sum.max(-lambda).min(lambda)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(y: &[f64], lambda: f64) -> Vec<f64> {
        let mut b = vec![0.0; y.len()];
        Chain::default().recursion(y, lambda, &mut b, &Control::unlimited()).expect("it works");
        b
    }

    #[test]
    fn the_known_chain() {
        let y = [0.0, 2.0, 1.0, 5.0];
        let b = solved(&y, 1.0);
        assert_eq!(b, [1.0, 1.5, 1.5, 4.0]);
        assert_eq!(multipliers(&y, &b, 1.0), [1.0, 0.5, 1.0]);
    }

    #[test]
    fn one_two_and_equal_samples() {
        assert_eq!(solved(&[3.0], 1.0), [3.0]);
        assert_eq!(solved(&[0.0, 4.0], 1.0), [1.0, 3.0]);
        assert_eq!(solved(&[0.0, 4.0], 9.0), [2.0, 2.0]);
        assert_eq!(solved(&[5.0; 7], 0.25), [5.0; 7]);
        assert_eq!(solved(&[1.0, 1.0, 1.0], 1.5), [1.0; 3]);
    }

    #[test]
    fn memory_is_used_again_for_chains_of_other_lengths() {
        let mut chain = Chain::default();
        let y: Vec<f64> = (0..3000).map(|i| f64::from((i * 7919) % 101) / 10.0).collect();
        for (n, lambda) in [(3000, 3.0), (5, 0.1), (1000, 20.0), (2999, 0.01)] {
            let mut b = vec![0.0; n];
            chain.recursion(&y[..n], lambda, &mut b, &Control::unlimited()).expect("it works");
            assert_eq!(b, solved(&y[..n], lambda), "{n} samples, lambda {lambda}");
        }
    }

    /// Two messages that meet give what one gives, to rounding.
    #[test]
    fn two_threads_meet_in_the_middle() {
        let y: Vec<f64> = (0..=LONG as u32)
            .map(|i| f64::from((i * 7919) % 1009) / 100.0 + f64::from(i / 5000 % 7))
            .collect();
        for lambda in [0.1, 5.0, 300.0, 1e9] {
            let (one, mut two) = (solved(&y, lambda), vec![0.0; y.len()]);
            Chain::recursion_by(2, &y, lambda, &mut two, &Control::unlimited()).expect("it works");
            let off = one.iter().zip(&two).map(|(one, two)| (one - two).abs()).fold(0.0, f64::max);
            assert!(off < 1e-8, "lambda {lambda}: {off}");
        }
    }

    /// A staircase sets two knots a sample and removes none: the list must grow.
    #[test]
    fn a_staircase_keeps_every_knot() {
        let n = 500;
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { f64::from(i) } else { -f64::from(i) }).collect();
        let b = solved(&y, 1e-3);
        let z = multipliers(&y, &b, 1e-3);
        let objective: f64 = y.iter().zip(&b).map(|(y, b)| 0.5 * (y - b) * (y - b)).sum::<f64>()
            + 1e-3 * b.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>();
        let mut w = y.clone();
        for (r, z) in z.iter().enumerate() {
            w[r] += z;
            w[r + 1] -= z;
        }
        let bound: f64 = y.iter().zip(&w).map(|(y, w)| 0.5 * (y * y - w * w)).sum();
        assert!((objective - bound).abs() < 1e-6 * objective, "{objective} {bound}");
    }
}
