//! How well labels or targets are predicted.
//!
//! | score | formula |
//! |---|---|
//! | precision, recall of a label | right among those predicted so; among those that are so |
//! | F1 | their harmonic mean |
//! | AUC | the share of pairs of a row of each label that the decision function puts in order; ties count half |
//! | log loss | the mean of -log P(label) |
//! | R2 | 1 - sum (y - p)^2 / sum (y - mean y)^2 |
//!
//! Must not know: where predictions come from.

/// Scores of a classifier.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClassScores {
    /// Every label that occurs or is predicted, ascending.
    pub labels: Vec<f64>,
    /// Rows by true label, then by predicted label.
    pub confusion: Vec<Vec<usize>>,
}

/// Scores of a regression.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RegressionScores {
    /// The mean squared error.
    pub mse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The share of the variance that is explained; NaN where the targets have none.
    pub r2: f64,
}

impl ClassScores {
    /// Counts rows; `known` are the labels of the model.
    pub fn of(known: &[f64], predictions: &[f64], labels: &[f64]) -> Self {
        let mut all: Vec<f64> = known.iter().chain(labels).chain(predictions).copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        let place = |label: f64| all.partition_point(|other| *other < label);
        let mut confusion = vec![vec![0; all.len()]; all.len()];
        for (found, label) in predictions.iter().zip(labels) {
            confusion[place(*label)][place(*found)] += 1;
        }
        Self { labels: all, confusion }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.confusion.iter().flatten().sum()
    }

    /// Rows predicted right.
    pub fn correct(&self) -> usize {
        (0..self.labels.len()).map(|k| self.confusion[k][k]).sum()
    }

    /// Of the rows predicted to have label k the share that has it; NaN where there are none.
    pub fn precision(&self, k: usize) -> f64 {
        let predicted: usize = self.confusion.iter().map(|row| row[k]).sum();
        self.confusion[k][k] as f64 / predicted as f64
    }

    /// Of the rows that have label k the share predicted so; NaN where there are none.
    pub fn recall(&self, k: usize) -> f64 {
        self.confusion[k][k] as f64 / self.support(k) as f64
    }

    /// The harmonic mean of both; 0 where nothing is right.
    pub fn f1(&self, k: usize) -> f64 {
        let predicted: usize = self.confusion.iter().map(|row| row[k]).sum();
        2.0 * self.confusion[k][k] as f64 / (self.support(k) + predicted).max(1) as f64
    }

    /// The mean of F1 over the labels that occur.
    pub fn macro_f1(&self) -> f64 {
        let occurring: Vec<usize> = (0..self.labels.len()).filter(|&k| self.support(k) > 0).collect();
        occurring.iter().map(|&k| self.f1(k)).sum::<f64>() / occurring.len() as f64
    }

    /// Rows that have label k.
    pub fn support(&self, k: usize) -> usize {
        self.confusion[k].iter().sum()
    }
}

impl RegressionScores {
    /// Compares predictions with targets.
    pub fn of(predictions: &[f64], targets: &[f64]) -> Self {
        let rows = targets.len().max(1) as f64;
        let mean = targets.iter().sum::<f64>() / rows;
        let errors = || predictions.iter().zip(targets).map(|(found, target)| found - target);
        let squares: f64 = errors().map(|error| error.powi(2)).sum();
        let spread: f64 = targets.iter().map(|target| (target - mean).powi(2)).sum();
        let r2 = if spread > 0.0 { 1.0 - squares / spread } else { f64::NAN };
        Self { mse: squares / rows, mae: errors().map(f64::abs).sum::<f64>() / rows, r2 }
    }
}

/// The area under the ROC curve of values that are larger for rows with the label; NaN where all rows have it, or none.
pub fn auc(values: &[f64], has_label: &[bool]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]));
    let with = has_label.iter().filter(|has| **has).count();
    let without = values.len() - with;
    // Ranks from 1; equal values share the mean of theirs.
    let (mut ranks, mut before) = (0.0, 0);
    for equal in order.chunk_by(|&i, &j| values[i] == values[j]) {
        let rank = before as f64 + (equal.len() + 1) as f64 / 2.0;
        ranks += rank * equal.iter().filter(|&&i| has_label[i]).count() as f64;
        before += equal.len();
    }
    let (with, without) = (with as f64, without as f64);
    (ranks - with * (with + 1.0) / 2.0) / (with * without)
}

/// The mean of -log P of what is true; a probability of 0 counts as the least positive one.
pub fn log_loss(of_truth: &[f64]) -> f64 {
    let loss = |p: &f64| -p.max(f64::MIN_POSITIVE).ln();
    of_truth.iter().map(loss).sum::<f64>() / of_truth.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        let found = ClassScores::of(&[0.0, 1.0], &[1.0, 1.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 1.0]);
        assert_eq!(found.confusion, [[1, 1], [0, 2]]);
        assert_eq!((found.rows(), found.correct()), (4, 3));
        assert_eq!((found.precision(1), found.recall(1), found.recall(0)), (2.0 / 3.0, 1.0, 0.5));
        assert_eq!((found.f1(1), found.f1(0)), (0.8, 2.0 / 3.0));
        assert!((found.macro_f1() - f64::midpoint(0.8, 2.0 / 3.0)).abs() < 1e-15);
        let stranger = ClassScores::of(&[0.0, 1.0], &[1.0], &[7.0]);
        assert_eq!((stranger.labels.as_slice(), stranger.correct()), (&[0.0, 1.0, 7.0][..], 0));
        assert_eq!(stranger.macro_f1(), 0.0);
    }

    #[test]
    fn regressions_by_hand() {
        let found = RegressionScores::of(&[1.0, 2.0, 4.0], &[1.0, 3.0, 5.0]);
        assert_eq!((found.mse, found.mae, found.r2), (2.0 / 3.0, 2.0 / 3.0, 0.75));
        assert!(RegressionScores::of(&[1.0], &[1.0]).r2.is_nan());
    }

    #[test]
    fn areas_agree_with_counting_pairs() {
        let values = [0.1, 0.4, 0.4, 0.9, 0.3, 0.9, -1.0];
        let has = [false, true, false, true, true, false, false];
        let (mut sum, mut pairs) = (0.0, 0.0);
        for i in (0..7).filter(|&i| has[i]) {
            for j in (0..7).filter(|&j| !has[j]) {
                pairs += 1.0;
                sum += if values[i] > values[j] {
                    1.0
                } else if values[i] == values[j] {
                    0.5
                } else {
                    0.0
                };
            }
        }
        assert!((auc(&values, &has) - sum / pairs).abs() < 1e-15);
        assert!(auc(&[1.0], &[true]).is_nan());
    }

    #[test]
    fn log_losses_are_finite() {
        assert!((log_loss(&[0.5, 0.25]) - f64::midpoint(2.0_f64.ln(), 4.0_f64.ln())).abs() < 1e-15);
        assert!(log_loss(&[0.0]).is_finite());
    }
}
