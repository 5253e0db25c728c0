//! The chain by a taut string: quick, where it need not go back far.
//!
//! ```text
//! u_0 = u_n = 0,   u_i = u_{i-1} + y_i - b_i,   |u_i| <= lambda,   u_i = lambda where b falls, -lambda where it rises
//! ```
//!
//! A segment begins at a sample with u known on its left. It grows by one sample at a time (Condat 2013), with the least and
//! the greatest value that it could have: with the least one, u just touches lambda somewhere; with the greatest one,
//! -lambda. When the least value takes u below -lambda, no value goes on from here: the segment ends where u last touched lambda, at
//! the least value, and the next one begins there. The other way round likewise. Whether a sample touches can seldom be foretold
//! while the segment is short, so that part is free of branches; the values only decide where segments end, and are computed
//! anew from their samples.
//!
//! Going back to where u last touched makes the worst case quadratic. Samples that are seen again are counted, and beyond a
//! few times their number it is given up: the recursion of [`chain`](super::chain) takes over, whose time is linear always.
//!
//! - Given: y and lambda. Returns: b, neighbours in one segment equal to the bit; or that it was given up.
//! - Must not know: other penalties, certificates.

use equipoise::{Control, Pass};

/// Samples between two looks at the control.
const SAMPLES_PER_LOOK: usize = 1 << 16;
/// How often samples may be seen again, on average, before it is given up.
const AGAIN: usize = 6;
/// `1 / k` for segments of k samples, as long as they are short; 0 for none.
static RECIPROCALS: [f64; 1024] = reciprocals();
/// Beyond this lambda its double could overflow in sums.
const LARGEST: f64 = 1e150;

const fn reciprocals() -> [f64; 1024] {
    let mut all = [0.0; 1024];
    let mut k = 1;
    while k < all.len() {
        all[k] = 1.0 / k as f64;
        k += 1;
    }
    all
}

/// A segment that grows: its value is from `least` to `greatest`, and u at its last sample from `u_greatest` to `u_least`.
#[derive(Debug, Clone, Copy)]
struct Segment {
    first: usize,
    /// u before its first sample.
    u_before: f64,
    least: f64,
    u_least: f64,
    /// Where u touched lambda last, with the least value.
    touched_above: usize,
    greatest: f64,
    u_greatest: f64,
    /// Where u touched -lambda last, with the greatest value.
    touched_below: usize,
}

impl Segment {
    fn at(first: usize, y: &[f64], u_before: f64, lambda: f64) -> Self {
        let middle = y[first] + u_before;
        Self {
            first,
            u_before,
            least: middle - lambda,
            u_least: lambda,
            touched_above: first,
            greatest: middle + lambda,
            u_greatest: -lambda,
            touched_below: first,
        }
    }
}

/// Why a segment stopped growing.
enum Event {
    Falls,
    Rises,
    /// All samples up to the one asked for are in it.
    Reached,
}

/// Solves one chain; false where it would go back too often.
pub(super) fn solve(y: &[f64], lambda: f64, b: &mut [f64], control: &Control) -> Pass<bool> {
    let n = y.len();
    if n == 0 || lambda > LARGEST {
        return Ok(n == 0);
    }
    let mut segment = Segment::at(0, y, 0.0, lambda);
    let (mut last, mut again) = (0, AGAIN * n + 64);
    // What no value may be beyond, by rounding: that of the segment before, which it falls or rises from.
    let (mut least, mut greatest) = (f64::NEG_INFINITY, f64::INFINITY);
    loop {
        let goal = (last + SAMPLES_PER_LOOK).min(n - 1);
        let mut event = grow(&mut segment, &mut last, &y[..=goal], lambda);
        control.check()?;
        if let Event::Reached = event {
            if goal < n - 1 {
                continue;
            }
            // The end: u must be 0 there.
            if segment.u_least < 0.0 {
                event = Event::Falls;
            } else if segment.u_greatest > 0.0 {
                event = Event::Rises;
            }
        }
        let (end, u_after) = match event {
            Event::Falls => (segment.touched_above, lambda),
            Event::Rises => (segment.touched_below, -lambda),
            Event::Reached => (n - 1, 0.0),
        };
        let own = segment.first..end + 1;
        let value = (sum(&y[own.clone()]) + (segment.u_before - u_after)) / own.len() as f64;
        let value = value.max(least).min(greatest);
        (least, greatest) = match event {
            Event::Falls => (f64::NEG_INFINITY, value),
            _ => (value, f64::INFINITY),
        };
        b[own].fill(value);
        if end == n - 1 {
            return Ok(true);
        }
        let seen_again = last - end;
        if seen_again > again {
            return Ok(false);
        }
        again -= seen_again;
        segment = Segment::at(end + 1, y, u_after, lambda);
        last = end + 1;
    }
}

/// Takes samples after `last` into the segment, up to the end of y or until it cannot grow.
#[inline]
fn grow(segment: &mut Segment, last: &mut usize, y: &[f64], lambda: f64) -> Event {
    // While it is short it touches often and nobody can foretell when: without branches, without a division.
    let short = y.len().min(segment.first + RECIPROCALS.len() - 1);
    if *last + 1 < short {
        let event = grow_short(segment, last, &y[..short], lambda);
        if short == y.len() || !matches!(event, Event::Reached) {
            return event;
        }
    }
    grow_long(segment, last, y, lambda)
}

/// As long as the sample k of the segment has a reciprocal.
fn grow_short(segment: &mut Segment, last: &mut usize, y: &[f64], lambda: f64) -> Event {
    let Segment { mut least, mut u_least, mut greatest, mut u_greatest, .. } = *segment;
    let (mut touched_above, mut touched_below) = (segment.touched_above, segment.touched_below);
    let begin = *last + 1;
    let mut event = Event::Reached;
    *last = y.len() - 1;
    let reciprocals = &RECIPROCALS[begin + 1 - segment.first..];
    for (k, (sample, reciprocal)) in y[begin..].iter().zip(reciprocals).enumerate() {
        u_least += sample - least;
        u_greatest += sample - greatest;
        if u_least < -lambda || u_greatest > lambda {
            event = if u_least < -lambda { Event::Falls } else { Event::Rises };
            *last = begin + k;
            break;
        }
        let (above, below) = (u_least - lambda, u_greatest + lambda);
        touched_above = if above >= 0.0 { begin + k } else { touched_above };
        touched_below = if below <= 0.0 { begin + k } else { touched_below };
        least += above.max(0.0) * reciprocal;
        greatest += below.min(0.0) * reciprocal;
        u_least = u_least.min(lambda);
        u_greatest = u_greatest.max(-lambda);
    }
    *segment = Segment { least, u_least, touched_above, greatest, u_greatest, touched_below, ..*segment };
    event
}

/// However long it is: touches are rare, and foretold.
fn grow_long(segment: &mut Segment, last: &mut usize, y: &[f64], lambda: f64) -> Event {
    let Segment { first, mut least, mut u_least, mut greatest, mut u_greatest, .. } = *segment;
    let (mut touched_above, mut touched_below) = (segment.touched_above, segment.touched_below);
    let begin = *last + 1;
    let mut event = Event::Reached;
    *last = y.len() - 1;
    for (k, sample) in y[begin..].iter().enumerate() {
        u_least += sample - least;
        u_greatest += sample - greatest;
        if u_least < -lambda {
            (event, *last) = (Event::Falls, begin + k);
            break;
        }
        if u_greatest > lambda {
            (event, *last) = (Event::Rises, begin + k);
            break;
        }
        if u_least >= lambda {
            least += (u_least - lambda) / (begin + k + 1 - first) as f64;
            (u_least, touched_above) = (lambda, begin + k);
        }
        if u_greatest <= -lambda {
            greatest += (u_greatest + lambda) / (begin + k + 1 - first) as f64;
            (u_greatest, touched_below) = (-lambda, begin + k);
        }
    }
    *segment = Segment { least, u_least, touched_above, greatest, u_greatest, touched_below, ..*segment };
    event
}

/// A sum by eight lanes.
fn sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        lanes.iter_mut().zip(eight).for_each(|(lane, value)| *lane += value);
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::chain::Chain;
    use super::*;

    fn by_string(y: &[f64], lambda: f64) -> Option<Vec<f64>> {
        let mut b = vec![0.0; y.len()];
        solve(y, lambda, &mut b, &Control::unlimited()).expect("nothing ends it").then_some(b)
    }

    #[test]
    fn the_known_chain() {
        assert_eq!(by_string(&[0.0, 2.0, 1.0, 5.0], 1.0), Some(vec![1.0, 1.5, 1.5, 4.0]));
        assert_eq!(by_string(&[3.0], 1.0), Some(vec![3.0]));
        assert_eq!(by_string(&[0.0, 4.0], 1.0), Some(vec![1.0, 3.0]));
        assert_eq!(by_string(&[0.0, 4.0], 9.0), Some(vec![2.0, 2.0]));
        assert_eq!(by_string(&[5.0; 7], 0.25), Some(vec![5.0; 7]));
    }

    /// Steps, ramps, noise, at weights from next to nothing to more than everything: what the recursion says.
    #[test]
    fn the_recursion_agrees() {
        let noise = |i: usize| ((i * 7919 + i * i * 31) % 1009) as f64 / 500.0 - 1.0;
        let mut given_up = 0;
        let shapes: [fn(usize) -> f64; 4] =
            [|_| 0.0, |i| (i / 97 % 5) as f64, |i| 0.01 * i as f64, |i| (0.02 * i as f64).sin()];
        for (shape, lambda) in shapes
            .iter()
            .flat_map(|shape| [1e-3, 0.1, 0.7, 3.0, 40.0, 1e6].into_iter().map(move |lambda| (shape, lambda)))
        {
            for n in [1, 2, 3, 50, 2000] {
                let y: Vec<f64> = (0..n).map(|i| shape(i) + noise(i)).collect();
                let mut expected = vec![0.0; n];
                Chain::default()
                    .recursion(&y, lambda, &mut expected, &Control::unlimited())
                    .expect("it ends");
                let Some(found) = by_string(&y, lambda) else {
                    given_up += 1;
                    continue;
                };
                let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-9, "n {n}, lambda {lambda}: off by {off}");
            }
        }
        assert!(given_up <= 6, "given up {given_up} times out of 120");
    }

    /// Down a slope without noise every sample is a segment, which is noticed only much later.
    #[test]
    fn what_is_seen_too_often_is_given_up_and_solved_all_the_same() {
        let y: Vec<f64> = (0..20_000).map(|i| -1e-4 * f64::from(i)).collect();
        assert_eq!(by_string(&y, 1.0), None);
        let (mut found, mut expected) = (vec![0.0; y.len()], vec![0.0; y.len()]);
        Chain::default().solve(&y, 1.0, &mut found, &Control::unlimited()).expect("it ends");
        Chain::default().recursion(&y, 1.0, &mut expected, &Control::unlimited()).expect("it ends");
        assert_eq!(found, expected);
    }
}
