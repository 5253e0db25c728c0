//! Fits at many lambdas, from the largest down, and which of them to take.
//!
//! ```text
//! BIC = N ln(RSS / N) + df ln N      AIC = N ln(RSS / N) + 2 df      Cp = RSS + 2 s^2 df
//! ```
//!
//! N observations, df degrees of freedom, s^2 the variance of the noise: for Cp it is taken from the median of the
//! penalised differences of y (X = I), or from the fit with the smallest lambda. Each fit begins where the one before ended.
//!
//! - Given: a signal, lambdas, settings. Returns: a point a lambda; limits leave those that were done.
//! - Must not know: files, words for people.

use equipoise::{Control, Status};

use super::design::Design;
use super::error::{Error, Result};
use super::fit::{Fit, Signal, differences, fit_from};
use super::settings::FitSettings;

/// What a fit is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Criterion {
    /// Schwarz's Bayesian criterion.
    #[default]
    Bic,
    /// Akaike's criterion.
    Aic,
    /// Mallows' Cp.
    Cp,
}

equipoise::named!(Criterion, "criterion": "bic" => Self::Bic, "aic" => Self::Aic, "cp" => Self::Cp);

/// One fit of a path.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The fit.
    pub fit: Fit,
    /// The sum of squared residuals.
    pub residual: f64,
    /// Schwarz's criterion; none where degrees of freedom are not known.
    pub bic: Option<f64>,
    /// Akaike's criterion.
    pub aic: Option<f64>,
    /// Mallows' criterion.
    pub cp: Option<f64>,
}

impl Point {
    /// The value of a criterion.
    pub fn value(&self, criterion: Criterion) -> Option<f64> {
        match criterion {
            Criterion::Bic => self.bic,
            Criterion::Aic => self.aic,
            Criterion::Cp => self.cp,
        }
    }
}

/// So many lambdas from the largest down to its part `ratio`, equal steps of the logarithm.
pub fn lambdas(largest: f64, ratio: f64, count: usize) -> Result<Vec<f64>> {
    if !(largest > 0.0 && largest.is_finite()) {
        return Err(Error::NotPositive { input: "lambda_max", found: largest });
    }
    if !(ratio > 0.0 && ratio < 1.0) {
        return Err(Error::NotPositive { input: "ratio (below 1)", found: ratio });
    }
    match count {
        0 => Err(Error::NotPositive { input: "count", found: 0.0 }),
        1 => Ok(vec![largest]),
        _ => Ok((0..count).map(|k| largest * ratio.powf(k as f64 / (count - 1) as f64)).collect()),
    }
}

/// Fits at every lambda; `seen` is called after each. A run that is ended gives what was done until then.
pub fn path(
    signal: Signal<'_>,
    settings: &FitSettings,
    lambdas: &[f64],
    control: &Control,
    mut seen: impl FnMut(&Fit),
) -> Result<Vec<Point>> {
    // Not left to the end: nobody waits there where the run was ended.
    let of_signal = noise_of_signal(signal, control)?;
    let (mut fits, mut residuals): (Vec<Fit>, Vec<f64>) = (Vec::new(), Vec::new());
    for lambda in lambdas {
        let settings = FitSettings { lambda: *lambda, ..settings.clone() };
        let start = fits.last().map(|fit| fit.x.as_slice());
        let found = match fit_from(signal, &settings, start, control) {
            Ok(found) => found,
            // What is done is done.
            Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. })) if !fits.is_empty() => break,
            Err(error) => return Err(error),
        };
        seen(&found);
        let is_ended = matches!(found.status, Status::Interrupted | Status::TimeLimit);
        residuals.push(residual(signal, &found.x));
        fits.push(found);
        if is_ended {
            break;
        }
    }
    let variance = of_signal.or_else(|| noise_of_fit(signal, fits.last()?, *residuals.last()?));
    let observations = signal.y.len() as f64;
    let point = |(fit, residual): (Fit, f64)| {
        let df = fit.degrees_of_freedom.map(|df| df as f64);
        let fitted = observations * (residual / observations).max(f64::MIN_POSITIVE).ln();
        Point {
            residual,
            bic: df.map(|df| fitted + df * observations.ln()),
            aic: df.map(|df| fitted + 2.0 * df),
            cp: df.zip(variance).map(|(df, variance)| residual + 2.0 * variance * df),
            fit,
        }
    };
    Ok(fits.into_iter().zip(residuals).map(point).collect())
}

/// The point with the least value of a criterion, by its number, of those that converged; none where no such point has one.
pub fn choose(points: &[Point], criterion: Criterion) -> Option<usize> {
    let done = points.iter().enumerate().filter(|(_, point)| point.fit.status == Status::Converged);
    let known = done.filter_map(|(k, point)| Some((k, point.value(criterion)?)));
    known.filter(|(_, value)| value.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}

fn residual(signal: Signal<'_>, x: &[f64]) -> f64 {
    let fitted = signal.design.apply(x, signal.y.len());
    fitted.iter().zip(signal.y).map(|(fitted, y)| (y - fitted) * (y - fitted)).sum()
}

/// The variance of the noise, as the differences of neighbours show it where X = I.
fn noise_of_signal(signal: Signal<'_>, control: &Control) -> Result<Option<f64>> {
    if signal.design != Design::Identity {
        return Ok(None);
    }
    let d = differences(signal, control)?;
    let mut sizes = Vec::with_capacity(d.rows());
    d.for_each_within(control, |_, columns, row| {
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        if length > 0.0 {
            let value: f64 = columns.iter().zip(row).map(|(c, value)| value * signal.y[*c]).sum();
            sizes.push(value.abs() / length);
        }
    })?;
    if sizes.is_empty() {
        return Ok(None);
    }
    let middle = sizes.len() / 2;
    let median = *sizes.select_nth_unstable_by(middle, f64::total_cmp).1;
    // The median of the size of a standard normal number.
    Ok(Some((median / 0.674_489_750_196_081_7).powi(2)))
}

/// The same, as the fit with the smallest lambda leaves it.
fn noise_of_fit(signal: Signal<'_>, fit: &Fit, residual: f64) -> Option<f64> {
    let free = signal.y.len().checked_sub(fit.degrees_of_freedom?).filter(|free| *free > 0)?;
    Some(residual / free as f64)
}
