//! Cross-validation: which lambda predicts rows best that it was not fitted to.
//!
//! ```text
//! error_k = mean over folds of the mean held-out loss at lambda_k,   se_k = standard deviation over folds / sqrt(folds)
//! best: the least error_k;   one_se: the largest lambda with error <= error_best + se_best
//! ```
//!
//! The held-out loss is the squared error, Huber's loss, or the deviance `2 log(1 + exp(-y z))`; means are weighted. A fold's
//! lambdas are those of all data times its share of the weights, because the objective sums.
//!
//! - Given: data, settings, lambdas, folds, a seed. Returns: errors by lambda, which are best.
//! - Must not know: files, plots.

use equipoise::{Control, Halt, Status, Team};

use super::data::Data;
use super::error::{Error, Result};
use super::fitter::Fitter;
use super::path::{Lambdas, path};
use super::point::Point;
use super::samples::{Part, check_labels, folds};
use super::settings::{Loss, Settings};

/// Held-out errors at one lambda.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CvPoint {
    /// The fit to all rows.
    pub point: Point,
    /// The mean held-out error.
    pub error: f64,
    /// Its standard error over folds.
    pub standard_error: f64,
}

/// Errors along the path, and the two choices.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cv {
    /// In falling order of lambda.
    pub points: Vec<CvPoint>,
    /// The point of least error.
    pub best: usize,
    /// The simplest within one standard error of it.
    pub one_se: usize,
    /// `lambda_max` of all rows.
    pub lambda_max: f64,
}

/// The loss that held-out rows are judged by.
fn held_out(loss: Loss, z: f64, y: f64) -> f64 {
    match loss {
        Loss::Squares => (z - y) * (z - y),
        Loss::Huber(delta) => {
            let size = (z - y).abs();
            if size <= delta { size * size / 2.0 } else { delta * (size - delta / 2.0) }
        }
        Loss::Logistic => 2.0 * ((-(y * z).abs()).exp().ln_1p() + (-(y * z)).max(0.0)),
    }
}

/// Mean held-out losses of one fold, by lambda.
fn errors_of_fold(
    data: Data<'_>,
    settings: &Settings,
    lambdas: &[f64],
    (fold, fold_of): (usize, &[usize]),
    control: &Control,
) -> Result<Vec<f64>> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (i, &f) in fold_of.iter().enumerate() {
        if f == fold { outside.push(i) } else { inside.push(i) }
    }
    let part = Part::of(data, &inside)?;
    if settings.loss == Loss::Logistic {
        check_labels(part.data(), || format!("the rows outside fold {}", fold + 1))?;
    }
    let alone = Settings { threads: 1, ..settings.clone() };
    let mut fitter = Fitter::of_checked(part.data(), &alone, control)?;
    let weight = |i: usize| data.weights.map_or(1.0, |weights| weights[i]);
    let total = |rows: &mut dyn Iterator<Item = usize>| rows.map(weight).sum::<f64>();
    let share = total(&mut inside.iter().copied()) / total(&mut (0..fold_of.len()));
    let scaled: Vec<f64> = lambdas.iter().map(|lambda| lambda * share).collect();
    let points = path(&mut fitter, &scaled, control, |_| ())?;
    if let Some(ended) = points.last().filter(|last| last.status != Status::Converged) {
        match ended.status {
            Status::Interrupted => return Err(Halt::Interrupted.into()),
            Status::TimeLimit => return Err(Halt::TimeLimit.into()),
            _ => {}
        }
    }
    let test = Part::of(data, &outside)?;
    let of_point = |point: &Point| {
        let mut z = vec![point.intercept.unwrap_or(0.0); outside.len()];
        for (j, value) in point.coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            test.data().x.add_column(j, *value, &mut z);
        }
        let losses = outside.iter().zip(&z).map(|(&i, z)| weight(i) * held_out(settings.loss, *z, data.y[i]));
        losses.sum::<f64>() / total(&mut outside.iter().copied())
    };
    Ok(points.iter().map(of_point).collect())
}

/// Errors along a path, by folds.
pub fn cross_validate(
    data: Data<'_>,
    settings: &Settings,
    lambdas: &Lambdas,
    folds_wanted: usize,
    seed: u64,
    control: &Control,
    tell: impl Fn(usize) + Sync,
) -> Result<Cv> {
    let mut fitter = Fitter::new(data, settings, control)?;
    let lambda_max = fitter.lambda_max();
    let lambdas = lambdas.resolve(lambda_max)?;
    let fold_of = folds(data, folds_wanted, settings.loss == Loss::Logistic, seed)?;
    let points = path(&mut fitter, &lambdas, control, |_| ())?;
    match points.last().map(|last| last.status) {
        Some(Status::Interrupted) => return Err(Halt::Interrupted.into()),
        Some(Status::TimeLimit) => return Err(Halt::TimeLimit.into()),
        _ => {}
    }
    let team = Team::of(settings.threads.min(folds_wanted));
    let by_fold: Result<Vec<Vec<f64>>> = team
        .map(0..folds_wanted, |fold| {
            let found = errors_of_fold(data, settings, &lambdas, (fold, &fold_of), control);
            tell(fold);
            found
        })
        .into_iter()
        .collect();
    let by_fold = by_fold?;
    let count = folds_wanted as f64;
    let of_lambda = |(k, point): (usize, Point)| {
        let error = by_fold.iter().map(|errors| errors[k]).sum::<f64>() / count;
        let square = by_fold.iter().map(|errors| (errors[k] - error) * (errors[k] - error)).sum::<f64>();
        CvPoint { point, error, standard_error: (square / (count - 1.0) / count).sqrt() }
    };
    let points: Vec<CvPoint> = points.into_iter().enumerate().map(of_lambda).collect();
    let best = (0..points.len()).min_by(|&a, &b| points[a].error.total_cmp(&points[b].error)).ok_or(
        Error::Setting { name: "the number of lambdas", found: 0.0, allowed: "there must be at least one" },
    )?;
    let most = points[best].error + points[best].standard_error;
    let one_se = (0..=best).find(|&k| points[k].error <= most).unwrap_or(best);
    Ok(Cv { points, best, one_se, lambda_max })
}
