//! Fits along falling lambdas, each from the last.
//!
//! ```text
//! lambda_k = lambda_max * least^(k / (count - 1)),   k = 0 .. count - 1
//! ```
//!
//! - Given: a fitter, lambdas. Returns: a point for each, until a wish to stop.
//! - Must not know: folds, files.

use equipoise::{Control, Status};

use super::error::{Error, Result};
use super::fitter::Fitter;
use super::point::Point;

/// How lambda is chosen along a path.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Lambdas {
    /// These, in falling order.
    Given(Vec<f64>),
    /// So many, in equal ratios from `lambda_max` down to this share of it.
    Falling {
        /// How many.
        count: usize,
        /// The last, as a share of `lambda_max`.
        least: f64,
    },
}

impl Default for Lambdas {
    fn default() -> Self {
        Self::Falling { count: 100, least: 0.05 }
    }
}

impl Lambdas {
    /// The lambdas themselves, in falling order.
    pub fn resolve(&self, lambda_max: f64) -> Result<Vec<f64>> {
        let refuse = |name, found, allowed| Err(Error::Setting { name, found, allowed });
        match *self {
            Self::Given(ref list) => {
                if let Some(wrong) = list.iter().find(|lambda| !(**lambda > 0.0 && lambda.is_finite())) {
                    return refuse("lambda", *wrong, "it must be positive and finite");
                }
                let mut list = list.clone();
                list.sort_by(|a, b| b.total_cmp(a));
                Ok(list)
            }
            Self::Falling { count, least } => {
                if count == 0 {
                    return refuse("the number of lambdas", 0.0, "there must be at least one");
                }
                if !(least > 0.0 && least < 1.0) {
                    return refuse("the least ratio of lambda", least, "it must be above 0 and below 1");
                }
                if lambda_max == 0.0 {
                    return Err(Error::NothingToExplain);
                }
                let last = (count - 1).max(1) as f64;
                Ok((0..count).map(|k| lambda_max * least.powf(k as f64 / last)).collect())
            }
        }
    }
}

/// Fits at every lambda; `tell` hears of each. The last point says whether a wish to stop came.
pub fn path(
    fitter: &mut Fitter<'_>,
    lambdas: &[f64],
    control: &Control,
    mut tell: impl FnMut(&Point),
) -> Result<Vec<Point>> {
    let mut points = Vec::with_capacity(lambdas.len());
    for &lambda in lambdas {
        let point = fitter.fit(lambda, control)?;
        tell(&point);
        let is_ended = matches!(point.status, Status::Interrupted | Status::TimeLimit);
        points.push(point);
        if is_ended {
            break;
        }
    }
    Ok(points)
}
