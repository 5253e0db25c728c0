//! An axis: numbers to pixels, linear or logarithmic, and where its ticks are.
//!
//! Given: a label, a scale, the numbers that must be on it. Returns: places and ticks. Must not know: what is drawn.

/// How numbers are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences, equal distances.
    #[default]
    Linear,
    /// Numbers that are not positive have no place and are left out.
    Log,
}

/// One axis of a chart.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// Words beside it.
    pub label: String,
    /// How its numbers are laid out.
    pub scale: Scale,
    /// From where to where; from the data if not given. The larger may come first: the axis is then turned over.
    pub range: Option<(f64, f64)>,
    /// Ticks with words; round numbers if not given.
    pub ticks: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, ..Self::default() }
    }

    /// With words at places: names of columns, say.
    #[must_use]
    pub fn with_ticks(self, ticks: Vec<(f64, String)>) -> Self {
        Self { ticks: Some(ticks), ..self }
    }

    /// From the first to the last number.
    #[must_use]
    pub fn with_range(self, first: f64, last: f64) -> Self {
        Self { range: Some((first, last)), ..self }
    }
}

/// An axis with its pixels.
#[derive(Debug)]
pub(crate) struct Ruler {
    pub(crate) scale: Scale,
    /// The number at the first pixel; on a logarithmic axis, its logarithm.
    pub(crate) first: f64,
    /// The number at the last pixel, likewise.
    pub(crate) last: f64,
    from: i32,
    to: i32,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Ruler {
    /// Lays an axis between two pixels, for these numbers.
    pub(crate) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>, from: i32, to: i32) -> Self {
        let place = |value: f64| match axis.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        };
        let (first, last) = match axis.range {
            Some((first, last)) => (place(first), place(last)),
            None => padded(numbers.map(place).filter(|value| value.is_finite())),
        };
        let mut ruler = Self { scale: axis.scale, first, last, from, to, ticks: Vec::new() };
        let (low, high) = (first.min(last), first.max(last));
        let ticks = match (&axis.ticks, axis.scale) {
            (Some(ticks), _) => ticks.clone(),
            (None, Scale::Linear) => round_numbers(low, high),
            (None, Scale::Log) => powers(low, high),
        };
        ruler.ticks = ticks
            .into_iter()
            .filter(|(value, _)| {
                let at = place(*value);
                let slack = 1e-9 * (high - low);
                at >= low - slack && at <= high + slack
            })
            .collect();
        ruler
    }

    /// The pixel of a number; `None` where it has no place.
    pub(crate) fn pixel(&self, value: f64) -> Option<i32> {
        let at = match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        };
        let share = (at - self.first) / (self.last - self.first);
        let length = f64::from(self.to - self.from);
        // A little beyond the frame is clipped by whoever draws; far beyond it, pixels would overflow.
        share.is_finite().then(|| self.from + (share.clamp(-2.0, 3.0) * length).round() as i32)
    }

    /// The same axis on so many times as many pixels.
    pub(crate) fn finer(self, unit: i32) -> Self {
        Self { from: unit * self.from, to: unit * self.to, ..self }
    }

    /// The pixel that bars begin at: that of 0, or of the end nearest to it.
    pub(crate) fn base(&self) -> i32 {
        match self.scale {
            Scale::Linear => {
                let zero = 0.0_f64.clamp(self.first.min(self.last), self.first.max(self.last));
                self.pixel(zero).unwrap_or(self.from)
            }
            Scale::Log => self.from,
        }
    }
}

/// The range of numbers, with a margin of a twentieth; that of a single number, around it.
fn padded(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let margin = if high > low { 0.05 * (high - low) } else { 0.5 * low.abs().max(1e-300).max(high.abs()) };
    let margin = if margin > 1e-290 { margin } else { 0.5 };
    (low - margin, high + margin)
}

/// Four to ten round numbers.
fn round_numbers(low: f64, high: f64) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return Vec::new();
    }
    let power = 10_f64.powf((span / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| span / step <= 7.0);
    let step = step.unwrap_or(10.0 * power);
    let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let (from, to) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (from..=to)
        .map(|count| {
            let value = count as f64 * step;
            let largest = low.abs().max(high.abs());
            (
                value,
                if (1e-4..1e6).contains(&largest) { format!("{value:.digits$}") } else { exponent(value) },
            )
        })
        .collect()
}

/// Large and small numbers, without idle digits.
fn exponent(value: f64) -> String {
    let text = format!("{value:.2e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            if digits == "0" { "0".into() } else { format!("{digits}e{power}") }
        }
        None => text,
    }
}

/// Powers of ten, not more than eight; below two decades also 2 and 5 times them.
fn powers(low: f64, high: f64) -> Vec<(f64, String)> {
    let (from, to) = ((low + 1e-9).floor() as i32, (high - 1e-9).ceil() as i32);
    let step = ((to - from) / 8 + 1) as usize;
    let factors: &[f64] = if high - low < 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    (from..=to)
        .step_by(step)
        .flat_map(|power| factors.iter().map(move |factor| (factor, power)))
        .map(|(factor, power)| {
            let value = factor * 10_f64.powi(power);
            let plain =
                if (-3..=4).contains(&power) { format!("{value}") } else { format!("{factor}e{power}") };
            (value, plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(ticks: &[(f64, String)]) -> Vec<&str> {
        ticks.iter().map(|(_, words)| words.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers_in_range() {
        assert_eq!(words(&round_numbers(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(&round_numbers(-3.0, 31.0)), ["0", "5", "10", "15", "20", "25", "30"]);
        assert_eq!(words(&round_numbers(0.0, 2e7)), ["0", "5e6", "1e7", "1.5e7", "2e7"]);
        assert_eq!(words(&powers(-2.0, 1.0)), ["0.01", "0.1", "1", "10"]);
        assert_eq!(words(&powers(-9.0, -7.5)).first(), Some(&"1e-9"));
    }

    #[test]
    fn numbers_have_pixels_and_what_is_not_positive_has_none_on_a_logarithmic_axis() {
        let ruler = Ruler::new(&Axis::log("").with_range(1.0, 100.0), std::iter::empty(), 0, 200);
        assert_eq!((ruler.pixel(10.0), ruler.pixel(100.0), ruler.pixel(0.0)), (Some(100), Some(200), None));
        assert_eq!(ruler.pixel(-1.0), None);
        let turned = Ruler::new(&Axis::linear("").with_range(4.0, 0.0), std::iter::empty(), 0, 100);
        assert_eq!((turned.pixel(4.0), turned.pixel(1.0), turned.base()), (Some(0), Some(75), 100));
        let single = Ruler::new(&Axis::linear(""), [3.0].into_iter(), 0, 100);
        assert_eq!(single.pixel(3.0), Some(50));
    }
}
