//! One model for each of several costs, each found from the one before it.
//!
//! Neighbouring costs have neighbouring optima, so a walk through `C_1, C_2, ...` costs far less than as many fits
//! from nothing. The costs are walked in the order given; every model is certified on its own.

use std::time::Instant;

use super::error::Result;
use super::{Samples, TrainSettings, Trained, Watch, train};
use equipoise::solve::{Observer, Status};

/// Less than this is not worth another fit, in seconds.
const SHORTEST: f64 = 1e-9;

/// Trains a model for every cost, in the order given.
///
/// The limit on time is for the whole walk. When it is reached, or at an interrupt, the walk ends: there are then
/// fewer models than costs, and the last one's status says why.
///
/// ```
/// use equipoise::matrix::Rows;
/// use equipoise_models::svm::{Samples, TrainSettings, Watch, path};
/// let rows = Rows::new(1, vec![0, 1, 2, 3, 4], vec![0; 4], Some(vec![-2.0, 1.0, -1.0, 2.0]))?;
/// let samples = Samples { rows: &rows, labels: &[0.0, 0.0, 1.0, 1.0], weights: None };
/// let walk = path(samples, &TrainSettings::default(), &[0.1, 1.0, 10.0], Watch::default())?;
/// assert_eq!(walk.iter().map(|trained| trained.model.cost).collect::<Vec<_>>(), [0.1, 1.0, 10.0]);
/// # Ok::<(), equipoise_models::svm::Error>(())
/// ```
pub fn path(
    samples: Samples<'_>,
    settings: &TrainSettings,
    costs: &[f64],
    watch: Watch<'_>,
) -> Result<Vec<Trained>> {
    check_costs(settings, costs)?;
    let started = Instant::now();
    let Watch { mut observer, control, experiment, .. } = watch;
    let mut walk: Vec<Trained> = Vec::with_capacity(costs.len());
    for &cost in costs {
        let left = settings.time_limit.map(|most| most - started.elapsed().as_secs_f64());
        let settings =
            TrainSettings { cost, time_limit: left.map(|left| left.max(SHORTEST)), ..settings.clone() };
        let observer: Option<&mut (dyn Observer + Send)> = match &mut observer {
            Some(observer) => Some(&mut **observer),
            None => None,
        };
        let warm_start = walk.last().map(|trained| &trained.model);
        let watch = Watch { observer, control: control.clone(), experiment, ..Watch::default() };
        let trained = train(samples, &settings, warm_start, watch)?;
        let status = trained.report.status();
        walk.push(trained);
        if matches!(status, Status::TimeLimit | Status::Interrupted) {
            break;
        }
    }
    Ok(walk)
}

/// Refuses a walk without costs, or with one that is out of range, before any of it.
pub(super) fn check_costs(settings: &TrainSettings, costs: &[f64]) -> Result<()> {
    if costs.is_empty() {
        return Err(equipoise::Error::InvalidSetting {
            name: "costs",
            found: 0.0,
            allowed: "a list of at least one cost",
        }
        .into());
    }
    costs.iter().try_for_each(|&cost| TrainSettings { cost, ..settings.clone() }.validate())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::Error;
    use equipoise::matrix::Rows;

    /// Overlapping classes on a line.
    fn line() -> (Rows<'static>, Vec<f64>) {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 40) / 10.0 - 2.0).collect();
        let labels =
            values.iter().enumerate().map(|(i, &x)| f64::from(x > 0.0 || i.is_multiple_of(5))).collect();
        (Rows::new(1, (0..=40).collect(), vec![0; 40], Some(values)).expect("valid"), labels)
    }

    #[test]
    fn every_model_of_a_walk_is_that_of_a_fit_from_nothing() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings { gap: 1e-9, ..TrainSettings::default() };
        let costs = [10.0, 0.01, 1.0];
        let walk = path(samples, &settings, &costs, Watch::default()).expect("trained");
        assert_eq!(walk.len(), costs.len());
        for (trained, cost) in walk.iter().zip(costs) {
            let alone = TrainSettings { cost, ..settings.clone() };
            let alone = train(samples, &alone, None, Watch::default()).expect("trained");
            assert_eq!(trained.report.status(), Status::Converged);
            assert!((trained.report.primal() / alone.report.primal() - 1.0).abs() < 1e-8, "{cost}");
            assert_eq!(trained.model.cost, cost);
        }
    }

    #[test]
    fn a_walk_needs_costs_that_are_positive() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        for (costs, name) in [(&[][..], "costs"), (&[1.0, 0.0], "cost"), (&[f64::NAN], "cost")] {
            let error =
                path(samples, &TrainSettings::default(), costs, Watch::default()).expect_err("refused");
            assert!(
                matches!(&error, Error::Equipoise(equipoise::Error::InvalidSetting { name: found, .. }) if *found == name),
                "{error}"
            );
        }
    }

    /// Raises a flag at a checkpoint of a fit.
    struct Raise<'f> {
        flag: &'f std::sync::atomic::AtomicBool,
        at: u32,
    }

    impl Observer for Raise<'_> {
        fn checkpoint(&mut self, _progress: &equipoise::solve::Progress) {
            self.at = self.at.saturating_sub(1);
            self.flag.fetch_or(self.at == 0, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn an_interrupt_ends_the_walk() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings { gap: 1e-300, ..TrainSettings::default() };
        let walked = |at| {
            let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(at == 0));
            let control = equipoise::Control::on(std::sync::Arc::clone(&flag));
            let observer: Option<&mut (dyn Observer + Send)> = Some(&mut Raise { flag: &flag, at });
            path(samples, &settings, &[1.0, 2.0, 3.0], Watch { observer, control, ..Watch::default() })
        };
        let walk = walked(1).expect("a walk");
        assert_eq!(walk.len(), 1);
        assert_eq!(walk[0].report.status(), Status::Interrupted);
        // Before there was anything there is nothing to return.
        let nothing = equipoise::Error::StoppedEarly { by: "interrupted" };
        assert!(matches!(walked(0), Err(Error::Equipoise(error)) if error == nothing));
    }

    #[test]
    fn labels_that_were_not_begun_are_left_untrained() {
        let (rows, _) = line();
        let labels: Vec<f64> = (0..rows.len()).map(|i| (i % 3) as f64).collect();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings { gap: 1e-300, ..TrainSettings::default() };
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let control = equipoise::Control::on(std::sync::Arc::clone(&flag));
        let observer: Option<&mut (dyn Observer + Send)> = Some(&mut Raise { flag: &flag, at: 1 });
        let watch = Watch { observer, control, ..Watch::default() };
        let trained = train(samples, &settings, None, watch).expect("a model of the first label");
        let [first, others @ ..] = &trained.report.classes[..] else { panic!("three labels") };
        assert!(first.relative_gap.is_finite() && first.status == Status::Interrupted);
        for (other, weights) in others.iter().zip(&trained.model.weights[1..]) {
            assert_eq!((other.status, other.updates, other.bias), (Status::Interrupted, 0, -1.0));
            assert!(other.relative_gap.is_infinite() && weights.iter().all(|w| *w == 0.0));
        }
    }
}
