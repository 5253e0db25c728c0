//! A fit that somebody else made, checked from raw data.
//!
//! - Given: data, settings, lambda, coefficients, an intercept. Returns: bounds of these coefficients.
//! - Must not know: how they were found.

use equipoise::Control;

use super::data::Data;
use super::error::{Error, Result};
use super::fitter::Fitter;
use super::point::Point;
use super::settings::Settings;

/// What is proven of these coefficients: the objective at them, and a lower bound found afresh.
pub fn verify(
    data: Data<'_>,
    settings: &Settings,
    lambda: f64,
    (coefficients, intercept): (&[f64], Option<f64>),
    control: &Control,
) -> Result<Point> {
    if coefficients.len() != data.x.columns() {
        let (input, found) = ("the result", coefficients.len());
        return Err(Error::Length { input, found, rows: data.x.columns() });
    }
    let mut fitter = Fitter::new(data, settings, control)?;
    let claimed: Vec<f64> =
        coefficients.iter().copied().chain(settings.intercept.then(|| intercept.unwrap_or(0.0))).collect();
    fitter.judge(lambda, &claimed, control)
}
