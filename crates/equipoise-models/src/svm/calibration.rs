//! Probabilities of labels from values f of decision functions: a sigmoid, `P = 1 / (1 + exp(a f + b))`, or steps that only rise.
//!
//! a and b minimise the cross entropy of targets that are drawn in a little, `(n+ + 1)/(n+ + 2)` and `1/(n- + 2)`, by Newton's
//! method with backtracking (Platt 1999; Lin, Lin and Weng 2007). The steps are in `isotonic.rs`. The values f are those of rows
//! held out: models trained on the other folds give them, since values of rows that a model has seen are too far from 0. With
//! several labels the probabilities of one against the rest are divided by their sum.
//!
//! - Given: rows, labels and settings. Returns: a curve a decision function.
//! - Must not know: files, which model the curves go with.

use super::error::{Error, Result};
use super::folds::deal;
use super::isotonic::Isotonic;
use super::{Samples, TrainSettings, Watch, train};
use equipoise::solve::Status;

/// How values become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CalibrationKind {
    /// By a sigmoid: two numbers, few rows do.
    #[default]
    Platt,
    /// By steps that only rise: any shape, a thousand rows or more.
    Isotonic,
}

equipoise::named!(CalibrationKind, "calibration": "platt" => Self::Platt, "isotonic" => Self::Isotonic);

/// `P = 1 / (1 + exp(a f + b))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    /// a, negative where larger values speak for the label.
    pub a: f64,
    /// b.
    pub b: f64,
}

/// A curve a decision function.
#[derive(Debug, Clone, PartialEq)]
pub enum Curves {
    /// By Platt's method.
    Sigmoids(Vec<Sigmoid>),
    /// By isotonic regression.
    Isotonic(Vec<Isotonic>),
}

/// Curves, and how the fits behind them ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// One a decision function.
    pub curves: Curves,
    /// `Converged` when every fit is, else the first other status.
    pub status: Status,
}

impl Sigmoid {
    /// The probability that goes with a value; no overflow on either side.
    pub fn probability(self, value: f64) -> f64 {
        let z = self.a * value + self.b;
        if z >= 0.0 { (-z).exp() / (1.0 + (-z).exp()) } else { 1.0 / (1.0 + z.exp()) }
    }

    /// The sigmoid of best cross entropy for values, each with whether its row has the label, and its weight.
    pub fn fit(points: &[(f64, bool, f64)]) -> Self {
        /// Steps of Newton's method; a handful does.
        const STEPS: usize = 100;
        /// Keeps the matrix of second derivatives regular.
        const RIDGE: f64 = 1e-12;
        let total = |of: bool| -> f64 { points.iter().filter(|p| p.1 == of).map(|p| p.2).sum() };
        let (with, without) = (total(true), total(false));
        let (high, low) = targets(points);
        let entropy = |a: f64, b: f64| -> f64 {
            let one = |&(value, has, weight): &(f64, bool, f64)| {
                let (t, z) = (if has { high } else { low }, a * value + b);
                weight * if z >= 0.0 { t * z + (-z).exp().ln_1p() } else { (t - 1.0) * z + z.exp().ln_1p() }
            };
            points.iter().map(one).sum()
        };
        let (mut a, mut b) = (0.0, ((without + 1.0) / (with + 1.0)).ln());
        let mut now = entropy(a, b);
        for _ in 0..STEPS {
            let (mut aa, mut ab, mut bb, mut ga, mut gb) = (RIDGE, 0.0, RIDGE, 0.0, 0.0);
            for &(value, has, weight) in points {
                let p = Self { a, b }.probability(value);
                let (curve, slope) = (weight * p * (1.0 - p), weight * (if has { high } else { low } - p));
                aa += curve * value * value;
                ab += curve * value;
                bb += curve;
                ga += slope * value;
                gb += slope;
            }
            if ga.abs() < 1e-9 * (1.0 + now.abs()) && gb.abs() < 1e-9 * (1.0 + now.abs()) {
                break;
            }
            let determinant = aa * bb - ab * ab;
            let (da, db) = (-(bb * ga - ab * gb) / determinant, -(aa * gb - ab * ga) / determinant);
            let slope = ga * da + gb * db;
            let mut step = 1.0;
            let taken = loop {
                let tried = entropy(a + step * da, b + step * db);
                if tried < now + 1e-4 * step * slope {
                    break Some(tried);
                }
                step /= 2.0;
                if step < 1e-10 {
                    break None;
                }
            };
            let Some(lower) = taken else { break };
            (a, b, now) = (a + step * da, b + step * db, lower);
        }
        Self { a, b }
    }
}

/// What probabilities are drawn to for rows with and without the label, so that none is 0 or 1.
pub(super) fn targets(points: &[(f64, bool, f64)]) -> (f64, f64) {
    let total = |of: bool| -> f64 { points.iter().filter(|p| p.1 == of).map(|p| p.2).sum() };
    let (with, without) = (total(true), total(false));
    ((with + 1.0) / (with + 2.0), 1.0 / (without + 2.0))
}

impl Curves {
    /// Curves of a kind, each for the values of one decision function, with whether the row has the label, and its weight.
    pub fn fit(kind: CalibrationKind, points: &[Vec<(f64, bool, f64)>]) -> Self {
        match kind {
            CalibrationKind::Platt => {
                Self::Sigmoids(points.iter().map(|points| Sigmoid::fit(points)).collect())
            }
            CalibrationKind::Isotonic => {
                Self::Isotonic(points.iter().map(|points| Isotonic::fit(points)).collect())
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Sigmoids(list) => list.len(),
            Self::Isotonic(list) => list.len(),
        }
    }

    /// The probability of every label of a row, from the values of its decision functions.
    ///
    /// One curve is for two labels, and its decision function speaks for the second.
    pub fn probabilities(&self, decisions: &[f64]) -> Vec<f64> {
        let mut single: Vec<f64> = match self {
            Self::Sigmoids(list) => list.iter().zip(decisions).map(|(one, &f)| one.probability(f)).collect(),
            Self::Isotonic(list) => list.iter().zip(decisions).map(|(one, &f)| one.probability(f)).collect(),
        };
        if let [second] = single[..] {
            return vec![1.0 - second, second];
        }
        let (sum, all) = (single.iter().sum::<f64>(), single.len() as f64);
        single.iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { 1.0 / all });
        single
    }
}

/// Trains a classifier without each of the folds in turn, and fits curves to the values of the rows held out.
pub fn calibrate(
    samples: Samples<'_>,
    settings: &TrainSettings,
    kind: CalibrationKind,
    folds: usize,
    watch: Watch<'_>,
) -> Result<Calibration> {
    samples.check_lengths()?;
    let fold_of = deal(samples, settings, folds)?;
    let weight = |i: usize| samples.weights.map_or(1.0, |weights| weights[i]);
    let mut labels: Vec<f64> =
        (0..fold_of.len()).filter(|&i| weight(i) > 0.0).map(|i| samples.labels[i]).collect();
    labels.sort_unstable_by(f64::total_cmp);
    labels.dedup();
    let mut points: Vec<Vec<(f64, bool, f64)>> = Vec::new();
    let mut status = Status::Converged;
    let Watch { control, experiment, .. } = watch;
    for fold in 0..folds {
        let fitted = |(i, of): (usize, &Option<usize>)| if *of == Some(fold) { 0.0 } else { weight(i) };
        let weights: Vec<f64> = fold_of.iter().enumerate().map(fitted).collect();
        let part = Samples { weights: Some(&weights), ..samples };
        let company = Watch { control: control.clone(), experiment, ..Watch::default() };
        let trained = train(part, settings, None, company)?;
        if status == Status::Converged {
            status = trained.report.status();
        }
        let model = trained.model;
        if model.labels != labels {
            // A label with fewer rows than there are folds: the fit without them does not know it.
            return Err(Error::OtherLabels { model: model.labels, data: labels });
        }
        points.resize_with(model.weights.len(), Vec::new);
        for i in (0..fold_of.len()).filter(|&i| fold_of[i] == Some(fold)) {
            for (k, points) in points.iter_mut().enumerate() {
                // One decision function speaks for the second of two labels.
                let label = if model.weights.len() == 1 { model.labels[1] } else { model.labels[k] };
                points.push((model.decision(k, samples.rows, i), samples.labels[i] == label, weight(i)));
            }
        }
    }
    Ok(Calibration { curves: Curves::fit(kind, &points), status })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::folds::tests::line;

    #[test]
    fn probabilities_do_not_overflow_and_sum_to_one() {
        let sigmoid = Sigmoid { a: -2.0, b: 0.5 };
        assert_eq!((sigmoid.probability(1e300), sigmoid.probability(-1e300)), (1.0, 0.0));
        let of = |count: usize, values: &[f64]| Curves::Sigmoids(vec![sigmoid; count]).probabilities(values);
        assert_eq!(of(1, &[0.25]), [0.5, 0.5]);
        let three = of(3, &[1.0, -3.0, 0.0]);
        assert!(
            (three.iter().sum::<f64>() - 1.0).abs() < 1e-15 && three[0] > three[2] && three[2] > three[1]
        );
        assert_eq!(of(2, &[-1e300, -1e300]), [0.5, 0.5]);
    }

    #[test]
    fn a_fit_has_no_slope_left() {
        let points: Vec<(f64, bool, f64)> = (0..200)
            .map(|i| {
                let value = f64::from(i) / 50.0 - 2.0;
                (value, value + f64::from(i * 37 % 100) / 50.0 - 1.0 > 0.0, 1.0 + f64::from(i % 3))
            })
            .collect();
        let fitted = Sigmoid::fit(&points);
        let weights = |of: bool| points.iter().filter(|p| p.1 == of).map(|p| p.2).sum::<f64>();
        let (high, low) = ((weights(true) + 1.0) / (weights(true) + 2.0), 1.0 / (weights(false) + 2.0));
        let slopes = points.iter().fold((0.0, 0.0), |sum, &(value, has, weight)| {
            let rest = weight * (if has { high } else { low } - fitted.probability(value));
            (sum.0 + rest * value, sum.1 + rest)
        });
        assert!(slopes.0.abs() < 1e-5 && slopes.1.abs() < 1e-5, "{slopes:?}");
        assert!(fitted.a < 0.0);
    }

    #[test]
    fn held_out_rows_calibrate_a_classifier() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let by = |kind, samples| calibrate(samples, &TrainSettings::default(), kind, 5, Watch::default());
        for (name, kind) in <CalibrationKind as equipoise::Named>::ALL {
            let found = by(*kind, samples).expect("calibrated");
            assert_eq!((found.curves.count(), found.status), (1, Status::Converged), "{name}");
            // Larger values speak for the second label, and nothing is certain.
            let of = |value: f64| found.curves.probabilities(&[value])[1];
            assert!(0.0 < of(-2.0) && of(-2.0) < of(2.0) && of(2.0) < 1.0, "{name}: {found:?}");
            assert!(of(-1e300) >= 0.0 && of(1e300) <= 1.0, "{name}: {found:?}");
        }
        // A label of one row is not known to the fit that does not see it.
        let mut rare = labels.clone();
        rare[0] = 9.0;
        let samples = Samples { labels: &rare, ..samples };
        let error = by(CalibrationKind::Platt, samples).expect_err("refused");
        assert!(matches!(error, Error::OtherLabels { .. }), "{error}");
    }
}
