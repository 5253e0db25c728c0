//! Features brought to one scale: `x'_j = (x_j - shift_j) factor_j`.
//!
//! | kind | shift | factor |
//! |---|---|---|
//! | `standard` | the mean | 1 / standard deviation |
//! | `min-max` | the least value | 1 / (largest - least) |
//!
//! Sparse data stay sparse: a column that has an entry in fewer than half of the rows is not shifted. Its factor is the
//! same; for `min-max`, where it has negative values, 1 / largest absolute value. The bias is not penalised and takes up any
//! shift, so that a model with a bias is the same with and without it. Columns that are constant have the factor 1.
//!
//! - Given: rows, and weights of rows. Returns: the scaling, scaled rows, models in either units.
//! - Must not know: files, labels, how a model is found.

use equipoise::matrix::Rows;

use super::LinearModel;

/// How features are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScaleKind {
    /// Mean 0 and variance 1.
    Standard,
    /// From 0 to 1.
    MinMax,
}

equipoise::named!(ScaleKind, "scale": "standard" => Self::Standard, "min-max" => Self::MinMax);

/// A shift and a factor a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// What the numbers were made for.
    pub kind: ScaleKind,
    /// Subtracted first.
    pub shift: Vec<f64>,
    /// Multiplied with what is left.
    pub factor: Vec<f64>,
}

/// What is known of a column.
#[derive(Debug, Clone, Copy)]
struct Column {
    entries: usize,
    /// Weights of the rows that have an entry.
    weight: f64,
    sum: f64,
    least: f64,
    largest: f64,
    /// Squared distances of the entries from the mean.
    squares: f64,
}

const UNSEEN: Column = Column {
    entries: 0,
    weight: 0.0,
    sum: 0.0,
    least: f64::INFINITY,
    largest: f64::NEG_INFINITY,
    squares: 0.0,
};

impl Scaling {
    /// The scaling of these rows; a row of weight 2 counts as two, one of weight 0 not at all.
    pub fn fit(rows: &Rows<'_>, weights: Option<&[f64]>, kind: ScaleKind) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let counted: Vec<usize> = (0..rows.len()).filter(|&i| weight(i) > 0.0).collect();
        let total: f64 = counted.iter().map(|&i| weight(i)).sum();
        let mut columns = vec![UNSEEN; rows.columns()];
        for &i in &counted {
            rows.for_each(i, |j, value| {
                let column = &mut columns[j];
                column.entries += 1;
                column.weight += weight(i);
                column.sum += weight(i) * value;
                column.least = column.least.min(value);
                column.largest = column.largest.max(value);
            });
        }
        let means: Vec<f64> = columns.iter().map(|column| column.sum / total).collect();
        for &i in &counted {
            rows.for_each(i, |j, value| columns[j].squares += weight(i) * (value - means[j]).powi(2));
        }
        let scaled = columns.iter().zip(&means).map(|(column, &mean)| {
            let is_whole = column.entries == counted.len();
            let (mut least, mut largest) = (column.least, column.largest);
            if !is_whole {
                (least, largest) = (least.min(0.0), largest.max(0.0));
            }
            let shifted = 2 * column.entries >= counted.len();
            let (shift, size) = match kind {
                ScaleKind::Standard => {
                    let zeros = (total - column.weight).max(0.0) * mean * mean;
                    (mean, ((column.squares + zeros) / total).sqrt())
                }
                ScaleKind::MinMax if shifted => (least, largest - least),
                ScaleKind::MinMax => (0.0, largest.max(-least)),
            };
            // What is constant up to rounding is not blown up.
            let is_constant = least >= largest || size <= f64::EPSILON * largest.abs().max(least.abs());
            let factor = if is_constant { 1.0 } else { 1.0 / size };
            (if shifted { shift } else { 0.0 }, if factor.is_finite() { factor } else { 1.0 })
        });
        let (shift, factor) = scaled.unzip();
        Self { kind, shift, factor }
    }

    /// The rows, scaled; as many columns as there are shifts.
    pub fn apply(&self, rows: &Rows<'_>) -> equipoise::Result<Rows<'static>> {
        let zeros: Vec<(usize, f64)> = (0..self.shift.len())
            .filter(|&j| self.shift[j] != 0.0)
            .map(|j| (j, -self.shift[j] * self.factor[j]))
            .collect();
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..rows.len() {
            let mut push = |j: usize, value: f64| {
                if value != 0.0 {
                    indices.push(u32::try_from(j).unwrap_or(u32::MAX));
                    values.push(value);
                }
            };
            let mut absent = zeros.iter().copied().peekable();
            rows.for_each(i, |j, value| {
                while let Some((k, zero)) = absent.next_if(|(k, _)| *k < j) {
                    push(k, zero);
                }
                absent.next_if(|(k, _)| *k == j);
                push(j, (value - self.shift[j]) * self.factor[j]);
            });
            absent.for_each(|(k, zero)| push(k, zero));
            starts.push(indices.len());
        }
        Rows::new(self.shift.len(), starts, indices, Some(values))
    }

    /// The same decision functions, for rows that are not scaled.
    pub fn fold(&self, model: &mut LinearModel) {
        for (weights, bias) in model.weights.iter_mut().zip(&mut model.bias) {
            for ((weight, shift), factor) in weights.iter_mut().zip(&self.shift).zip(&self.factor) {
                *weight *= factor;
                *bias -= *weight * shift;
            }
        }
    }

    /// The same decision functions, for rows that are scaled.
    pub fn unfold(&self, model: &mut LinearModel) {
        for (weights, bias) in model.weights.iter_mut().zip(&mut model.bias) {
            for ((weight, shift), factor) in weights.iter_mut().zip(&self.shift).zip(&self.factor) {
                *bias += *weight * shift;
                *weight = if *factor == 0.0 { 0.0 } else { *weight / factor };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::{Kind, Loss};

    /// Full, with one zero, sparse, sparse with a negative value, constant.
    fn rows() -> Rows<'static> {
        let dense = [
            [1.0, 2.0, 0.0, 0.0, 7.0],
            [2.0, 0.0, 5.0, 0.0, 7.0],
            [3.0, 4.0, 0.0, -4.0, 7.0],
            [6.0, 8.0, 0.0, 0.0, 7.0],
            [8.0, 6.0, 0.0, 0.0, 7.0],
        ];
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in dense {
            for (j, value) in row.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                indices.push(j as u32);
                values.push(value);
            }
            starts.push(values.len());
        }
        Rows::new(5, starts, indices, Some(values)).expect("valid")
    }

    fn dense(rows: &Rows<'_>) -> Vec<Vec<f64>> {
        let row = |i| {
            let mut row = vec![0.0; rows.columns()];
            rows.for_each(i, |j, value| row[j] = value);
            row
        };
        (0..rows.len()).map(row).collect()
    }

    #[test]
    fn standard_columns_have_variance_one_and_dense_ones_mean_zero() {
        let rows = rows();
        let scaled = Scaling::fit(&rows, None, ScaleKind::Standard).apply(&rows).expect("finite");
        let scaled = dense(&scaled);
        for j in 0..4 {
            let column: Vec<f64> = scaled.iter().map(|row| row[j]).collect();
            let mean = column.iter().sum::<f64>() / 5.0;
            let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 5.0;
            assert!((variance - 1.0).abs() < 1e-12, "column {j}: {variance}");
            assert_eq!(mean.abs() < 1e-12, j < 2, "column {j}: {mean}");
        }
        assert!(scaled.iter().all(|row| row[4] == 0.0), "a constant says nothing");
    }

    #[test]
    fn min_max_columns_reach_from_zero_to_one() {
        let rows = rows();
        let scaled = dense(&Scaling::fit(&rows, None, ScaleKind::MinMax).apply(&rows).expect("finite"));
        let of = |j: usize| scaled.iter().map(|row| row[j]).collect::<Vec<_>>();
        assert_eq!(of(1), [0.25, 0.0, 0.5, 1.0, 0.75]);
        assert_eq!((of(2), of(3)), (vec![0.0, 1.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, -1.0, 0.0, 0.0]));
        assert_eq!((of(0)[0], of(0)[4]), (0.0, 1.0));
    }

    #[test]
    fn rows_of_weight_zero_do_not_count_and_others_as_often_as_they_weigh() {
        let rows = rows();
        let one = Scaling::fit(&rows, Some(&[2.0, 1.0, 0.0, 1.0, 1.0]), ScaleKind::Standard);
        let copied = dense(&rows);
        let mut expected = [0.0; 2];
        for j in 0..2 {
            let column = [copied[0][j], copied[0][j], copied[1][j], copied[3][j], copied[4][j]];
            expected[j] = column.iter().sum::<f64>() / 5.0;
        }
        assert!((one.shift[0] - expected[0]).abs() < 1e-12 && (one.shift[1] - expected[1]).abs() < 1e-12);
        assert_eq!(one.factor[3], 1.0, "its only entry does not count");
    }

    #[test]
    fn folded_models_decide_the_same_on_raw_rows() {
        let rows = rows();
        for kind in [ScaleKind::Standard, ScaleKind::MinMax] {
            let scaling = Scaling::fit(&rows, None, kind);
            let scaled = scaling.apply(&rows).expect("finite");
            let model = LinearModel {
                kind: Kind::Svc,
                loss: Loss::Hinge,
                labels: vec![0.0, 1.0],
                cost: 1.0,
                nu: 0.5,
                epsilon: 0.1,
                class_weights: Vec::new(),
                weights: vec![vec![0.5, -1.0, 2.0, 0.25, 0.0]],
                bias: vec![0.75],
            };
            let mut folded = model.clone();
            scaling.fold(&mut folded);
            for i in 0..rows.len() {
                let (one, other) = (model.decision(0, &scaled, i), folded.decision(0, &rows, i));
                assert!((one - other).abs() < 1e-12, "{one} and {other}");
            }
            scaling.unfold(&mut folded);
            assert!((folded.bias[0] - 0.75).abs() < 1e-12, "{}", folded.bias[0]);
            assert!((folded.weights[0][1] + 1.0).abs() < 1e-12);
        }
    }
}
