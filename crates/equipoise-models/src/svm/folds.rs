//! Folds: rows dealt like cards, label by label, so that every fold has its share of each label.
//!
//! A regression and a one-class model have no labels and deal all rows at once. Rows of weight 0 are in no fold.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::error::Result;
use super::{Kind, Samples, TrainSettings};
use equipoise::Error::InvalidSetting;

/// The fold of every row; `None` for rows of weight 0.
pub(super) fn deal(
    samples: Samples<'_>,
    settings: &TrainSettings,
    folds: usize,
) -> Result<Vec<Option<usize>>> {
    let counts = |i: usize| samples.weights.is_none_or(|weights| weights[i] > 0.0);
    let mut rows: Vec<usize> = (0..samples.labels.len()).filter(|&i| counts(i)).collect();
    if folds < 2 || folds > rows.len() {
        let allowed = "at least 2, and at most the number of rows whose weight is not 0";
        return Err(InvalidSetting { name: "folds", found: folds as f64, allowed }.into());
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    for last in (1..rows.len()).rev() {
        let other = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        rows.swap(last, other as usize);
    }
    if matches!(settings.kind, Kind::Svc | Kind::NuSvc) {
        // The shuffled order stays within each label.
        rows.sort_by(|&i, &j| samples.labels[i].total_cmp(&samples.labels[j]));
    }
    let mut fold_of = vec![None; samples.labels.len()];
    rows.iter().enumerate().for_each(|(place, &i)| fold_of[i] = Some(place % folds));
    Ok(fold_of)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use equipoise::matrix::Rows;

    /// Ninety points on a line, one in nine with the wrong label.
    pub(in crate::svm) fn line() -> (Rows<'static>, Vec<f64>) {
        let values: Vec<f64> = (0..90).map(|i| f64::from(i * 7 % 90) / 20.0 - 2.225).collect();
        let labels =
            values.iter().enumerate().map(|(i, &x)| f64::from((x > 0.0) != i.is_multiple_of(9))).collect();
        (Rows::new(1, (0..=90).collect(), vec![0; 90], Some(values)).expect("valid"), labels)
    }

    #[test]
    fn folds_are_of_one_size_and_have_their_share_of_each_label() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings::default();
        let fold_of = deal(samples, &settings, 4).expect("dealt");
        let count = |wanted: &dyn Fn(usize) -> bool| {
            let sizes = (0..4).map(|fold| (0..90).filter(|&i| fold_of[i] == Some(fold) && wanted(i)).count());
            sizes.collect::<Vec<_>>()
        };
        for sizes in [count(&|_| true), count(&|i| labels[i] == 1.0), count(&|i| labels[i] == 0.0)] {
            let (most, least) = (sizes.iter().max(), sizes.iter().min());
            assert!(most.expect("four") - least.expect("four") <= 1, "{sizes:?}");
        }
        assert_eq!(fold_of, deal(samples, &settings, 4).expect("dealt"));
        let other = TrainSettings { seed: 1, ..settings };
        assert_ne!(fold_of, deal(samples, &other, 4).expect("dealt"));
    }

    #[test]
    fn rows_of_weight_0_are_in_no_fold() {
        let (rows, labels) = line();
        let weights: Vec<f64> = (0..90).map(|i| f64::from(i % 3)).collect();
        let samples = Samples { rows: &rows, labels: &labels, weights: Some(&weights) };
        let fold_of = deal(samples, &TrainSettings::default(), 5).expect("dealt");
        assert!((0..90).all(|i| fold_of[i].is_none() == (weights[i] == 0.0)));
        assert!(deal(samples, &TrainSettings::default(), 61).is_err());
    }
}
