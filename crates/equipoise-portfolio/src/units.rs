//! What the numbers of a search are multiples of.
//!
//! - Given: a covariance and the returns it is of. Returns: [`Units`]. Must not know: constraints, how anything is found.

use crate::{Covariance, Returns};

/// The smallest diagonal entry that is added, as a share of the mean one, where there are fewer days than assets.
const PROXIMAL: f64 = 1e-9;
/// The same where the sample may tell all assets apart.
const LEAST_PROXIMAL: f64 = 1e-12;
/// What the numbers inside are multiples of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Units {
    /// The objective is twice this times the one inside.
    pub(crate) half: f64,
    /// Whether `C'C` takes part at all.
    pub(crate) has_gram: bool,
    /// `rho / s`.
    pub(crate) ridge: f64,
    /// What is added to it.
    pub(crate) proximal: f64,
    /// The mean diagonal entry.
    pub(crate) diagonal: f64,
    /// What mean returns are divided by.
    pub(crate) mean: f64,
}

impl Units {
    pub(crate) fn of(covariance: &Covariance, returns: &Returns) -> Self {
        let share = covariance.share();
        let has_gram = share > 0.0;
        let (half, ridge) =
            if has_gram { (share, covariance.ridge / share) } else { (1.0, covariance.ridge) };
        let mean_square = covariance.squares.iter().sum::<f64>() / returns.assets() as f64;
        let diagonal = ridge + if has_gram { mean_square } else { 0.0 };
        let diagonal = if diagonal > 0.0 { diagonal } else { 1.0 };
        let least = if returns.assets() < returns.days() { LEAST_PROXIMAL } else { PROXIMAL } * diagonal;
        let proximal = if ridge < least { least } else { 0.0 };
        let mean = returns.mean().iter().fold(0.0_f64, |most, m| most.max(m.abs()));
        Self { half, has_gram, ridge, proximal, diagonal, mean: if mean > 0.0 { mean } else { 1.0 } }
    }
}
