//! Means, spreads and medians.

/// Pairs of numbers: points, or low and high.
pub type Points = Vec<(f64, f64)>;

/// The mean; not a number of nothing.
pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The median; not a number of nothing.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Standard error of the mean; 0 of fewer than two.
pub fn standard_error(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let (count, mean) = (numbers.len() as f64, mean(numbers));
    (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (count - 1.0) / count).sqrt()
}

/// Curves over the same x: their mean, and from the least to the largest.
pub fn band(curves: &[Points]) -> (Points, Points) {
    let shortest = curves.iter().map(Vec::len).min().unwrap_or(0);
    let mut middle = Vec::with_capacity(shortest);
    let mut ends = Vec::with_capacity(shortest);
    for k in 0..shortest {
        let values: Vec<f64> = curves.iter().map(|curve| curve[k].1).collect();
        middle.push((curves[0][k].0, mean(&values)));
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ends.push((low, high));
    }
    (middle, ends)
}

/// The first x at which a falling curve is at or below a value.
pub fn first_below(curve: &[(f64, f64)], value: f64) -> Option<f64> {
    curve.iter().find(|point| point.1 <= value).map(|point| point.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!((mean(&[1.0, 2.0, 6.0]), median(&[6.0, 1.0, 2.0]), median(&[1.0, 3.0])), (3.0, 2.0, 2.0));
        assert!((standard_error(&[1.0, 3.0]) - 1.0).abs() < 1e-15);
        let (middle, ends) = band(&[vec![(0.0, 1.0), (1.0, 4.0)], vec![(0.0, 3.0), (1.0, 2.0)]]);
        assert_eq!(middle, [(0.0, 2.0), (1.0, 3.0)]);
        assert_eq!(ends, [(1.0, 3.0), (2.0, 4.0)]);
        assert_eq!(first_below(&[(0.0, 5.0), (1.0, 2.0)], 3.0), Some(1.0));
    }
}
