//! Cross-validation: which lambda predicts rows best that it was not fitted to.
//!
//! ```text
//! error_k = mean over folds of the mean held-out loss at lambda_k,   se_k = standard deviation over folds / sqrt(folds)
//! best: the least error_k;   one_se: the largest lambda with error <= error_best + se_best
//! ```
//!
//! A lambda at which any of these fits did not converge is marked and never chosen. A run that is ended gives the folds that were done
//! by then, and chooses nothing.
//!
//! The held-out loss is the squared error, Huber's loss, or the deviance `2 log(1 + exp(-y z))`; means are weighted. A fold's
//! lambdas are those of all data times its share of the weights, because the objective sums.
//!
//! - Given: data, settings, lambdas, folds, a seed. Returns: errors by lambda, which are best.
//! - Must not know: files, plots.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use equipoise::{Control, Halt, Status, Team};

use super::data::Data;
use super::error::Result;
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
    /// The mean held-out error, over the folds that were fitted.
    pub error: f64,
    /// Its standard error over folds; NaN below two.
    pub standard_error: f64,
    /// Whether the fit to all rows and those of every fold converged; others are not chosen.
    pub is_converged: bool,
}

/// Errors along the path, and the two choices.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cv {
    /// In falling order of lambda.
    pub points: Vec<CvPoint>,
    /// The point of least error; none where no point converged.
    pub best: Option<usize>,
    /// The simplest within one standard error of it.
    pub one_se: Option<usize>,
    /// `lambda_max` of all rows.
    pub lambda_max: f64,
    /// How many folds were fitted; fewer than asked for if the run was ended.
    pub folds: usize,
    /// `Interrupted` or `TimeLimit` if the run was ended before the last fold was fitted, otherwise the first other status than
    /// `Converged` of the fits to all rows.
    pub status: Status,
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

/// Mean held-out losses of one fold, by lambda, and whether the fit converged.
fn errors_of_fold(
    data: Data<'_>,
    settings: &Settings,
    lambdas: &[f64],
    (fold, fold_of): (usize, &[usize]),
    control: &Control,
) -> Result<Errors> {
    control.check()?;
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (i, &f) in fold_of.iter().enumerate() {
        if f == fold { outside.push(i) } else { inside.push(i) }
    }
    let part = Part::of(data, &inside, control)?;
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
    let test = Part::of(data, &outside, control)?;
    let of_point = |point: &Point| {
        let mut z = vec![point.intercept.unwrap_or(0.0); outside.len()];
        for (j, value) in point.coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            test.data().x.add_column(j, *value, &mut z);
        }
        let losses = outside.iter().zip(&z).map(|(&i, z)| weight(i) * held_out(settings.loss, *z, data.y[i]));
        let mean = losses.sum::<f64>() / total(&mut outside.iter().copied());
        (mean, point.status == Status::Converged)
    };
    Ok(points.iter().map(of_point).collect())
}

/// The point of least error, and the simplest within one standard error of it, of those that converged.
fn choose(points: &[CvPoint]) -> (Option<usize>, Option<usize>) {
    let done = || (0..points.len()).filter(|&k| points[k].is_converged);
    let best = done().min_by(|&a, &b| points[a].error.total_cmp(&points[b].error));
    let most = best.map_or(f64::NAN, |best| points[best].error + points[best].standard_error);
    (best, done().find(|&k| points[k].error <= most))
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
    // Nobody sees the bounds of a fold.
    let of_fold = control.clone().forsaken_by(Arc::new(AtomicBool::new(true)));
    let by_fold = team.map(0..folds_wanted, |fold| {
        let found = errors_of_fold(data, settings, &lambdas, (fold, &fold_of), &of_fold);
        if found.is_ok() {
            tell(fold);
        }
        found
    });
    let (by_fold, ended) = finished(by_fold)?;
    let count = by_fold.len() as f64;
    let of_lambda = |(k, point): (usize, Point)| {
        let errors = || by_fold.iter().map(|fold| fold[k].0);
        let error = errors().sum::<f64>() / count;
        let square = errors().map(|one| (one - error) * (one - error)).sum::<f64>();
        let is_converged =
            ended.is_none() && point.status == Status::Converged && by_fold.iter().all(|fold| fold[k].1);
        CvPoint { point, error, standard_error: (square / (count - 1.0) / count).sqrt(), is_converged }
    };
    let points: Vec<CvPoint> = points.into_iter().enumerate().map(of_lambda).collect();
    let (best, one_se) = choose(&points);
    let mut statuses = ended.into_iter().chain(points.iter().map(|one| one.point.status));
    let status = statuses.find(|status| *status != Status::Converged).unwrap_or(Status::Converged);
    Ok(Cv { points, best, one_se, lambda_max, folds: by_fold.len(), status })
}

/// Errors by lambda of one fold.
type Errors = Vec<(f64, bool)>;

/// The folds that were done, and what ended the others. Where none was done there is nothing to tell.
fn finished(by_fold: Vec<Result<Errors>>) -> Result<(Vec<Errors>, Option<Status>)> {
    let (mut done, mut early) = (Vec::new(), None);
    for fold in by_fold {
        match fold {
            Ok(fold) => done.push(fold),
            Err(error) if error.ended().is_some() => early = early.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match early {
        Some(error) if done.is_empty() => Err(error),
        early => Ok((done, early.and_then(|error| error.ended()))),
    }
}

#[cfg(test)]
mod tests {
    use equipoise::DenseMatrix;

    use super::*;

    #[test]
    fn what_did_not_converge_is_not_chosen() {
        let x = DenseMatrix::from_columns(
            6,
            2,
            vec![1.0, -1.0, 2.0, 0.0, 1.5, -2.0, 0.5, 1.0, -1.0, 2.0, 0.0, 1.0],
        )
        .expect("a matrix")
        .into();
        let y = [1.0, -1.5, 2.5, 0.2, 1.0, -2.0];
        let control = Control::unlimited();
        let settings = Settings::default();
        let lambdas = Lambdas::Given(vec![4.0, 1.0, 0.25]);
        let mut cv =
            cross_validate(Data { x: &x, y: &y, weights: None }, &settings, &lambdas, 3, 1, &control, |_| ())
                .expect("folds");
        assert!(cv.points.iter().all(|one| one.is_converged));
        for (point, (error, standard_error)) in cv.points.iter_mut().zip([(1.2, 0.1), (1.1, 0.1), (1.0, 0.3)])
        {
            (point.error, point.standard_error) = (error, standard_error);
        }
        assert_eq!(choose(&cv.points), (Some(2), Some(0)));
        cv.points[2].is_converged = false;
        assert_eq!(choose(&cv.points), (Some(1), Some(0)));
        cv.points[0].is_converged = false;
        assert_eq!(choose(&cv.points), (Some(1), Some(1)));
        cv.points[1].is_converged = false;
        assert_eq!(choose(&cv.points), (None, None));
    }
}
