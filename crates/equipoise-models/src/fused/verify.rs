//! Checking coefficients, whoever found them: their own objective from above, the optimum from below.
//!
//! The bound is sought by a fit to a tenth of the gap, so that nearly all of it is left to the coefficients. Nothing that a file
//! claims is believed.

use equipoise::Control;

use super::error::Result;
use super::fit::{Signal, differences, fit_from, task};
use super::proof::Bounds;
use super::settings::FitSettings;

/// Share of the allowed gap to which the optimum is sought.
const SHARE_OF_THE_BOUND: f64 = 0.1;

/// Coefficients, checked.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// The objective of the coefficients, from above; infinite where nothing is proven.
    pub objective: f64,
    /// What no coefficients get below; 0, which no objective is below, where nothing better is proven.
    pub bound: f64,
    /// `(objective - bound) / max(objective, 1e-12 ||y||^2 / 2)`, from above.
    pub relative_gap: f64,
}

/// Checks coefficients against the problem that signal and settings make.
///
/// ```
/// use equipoise::Control;
/// use equipoise_models::fused::{Design, FitSettings, Penalty, Signal, verify};
/// let signal = Signal { y: &[0.0, 2.0, 1.0, 5.0], design: Design::Identity, penalty: &Penalty::Chain };
/// let (settings, control) = (FitSettings::default(), Control::unlimited());
/// assert!(verify(signal, &settings, &[1.0, 1.5, 1.5, 4.0], &control)?.relative_gap <= 1e-6);
/// assert!(verify(signal, &settings, &[1.0, 1.5, 1.6, 4.0], &control)?.relative_gap > 1e-3);
/// # Ok::<(), equipoise_models::fused::Error>(())
/// ```
pub fn verify(signal: Signal<'_>, settings: &FitSettings, x: &[f64], control: &Control) -> Result<Check> {
    settings.validate()?;
    let d = differences(signal, control)?;
    if x.len() != d.columns() {
        let (input, unit) = ("coefficients".into(), "entries");
        let (found, expected) = (x.len(), d.columns());
        return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into());
    }
    let objective = task(signal, &d, settings.lambda, settings.sparse).objective_above(x, control)?;
    let sharper = FitSettings { gap: SHARE_OF_THE_BOUND * settings.gap, ..settings.clone() };
    let bound = fit_from(signal, &sharper, None, control)?.bound;
    let relative_gap = Bounds { objective, bound }.relative_gap(signal.y);
    Ok(Check { objective, bound, relative_gap })
}
