//! Linear systems of a few rows: symmetric, at least semidefinite, perhaps of very different units.
//!
//! Given: a matrix, row after row. Returns: its factor after scaling every diagonal to 1, or what a solution is; the shortest
//! solution of a few equations. Must not know: what the rows mean.

/// Pivots below this share of a scaled diagonal count as 0.
const SINGULAR: f64 = 1e-13;

/// `S = D^-1/2 L L' D^-1/2` of a symmetric matrix.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    size: usize,
    scale: Vec<f64>,
    lower: Vec<f64>,
    /// Whether no pivot was 0.
    pub(crate) is_regular: bool,
}

impl Factor {
    /// Factors the matrix with `share` of every diagonal (of `least` where that is larger) added to it.
    pub(crate) fn of(matrix: &[f64], least: &[f64], share: f64) -> Self {
        let size = least.len();
        let mut is_regular = true;
        let diagonal: Vec<f64> = (0..size).map(|k| matrix[k * size + k].max(share * least[k])).collect();
        let scale: Vec<f64> =
            diagonal.iter().map(|d| if *d > 0.0 && d.is_finite() { 1.0 / d.sqrt() } else { 0.0 }).collect();
        let mut lower = vec![0.0; size * size];
        for k in 0..size {
            for l in 0..=k {
                let mut sum = matrix[k * size + l] * scale[k] * scale[l];
                if k == l {
                    sum += share * (least[k] * scale[k] * scale[k]).max(1.0);
                }
                for j in 0..l {
                    sum -= lower[k * size + j] * lower[l * size + j];
                }
                if k == l {
                    let is_good = sum > SINGULAR && scale[k] > 0.0;
                    is_regular &= is_good;
                    lower[k * size + k] = if is_good { sum.sqrt() } else { f64::INFINITY };
                } else {
                    lower[k * size + l] = sum / lower[l * size + l];
                }
            }
        }
        Self { size, scale, lower, is_regular }
    }

    /// The solution; 0 along pivots that are 0.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (n, lower) = (self.size, &self.lower);
        let mut y: Vec<f64> = right.iter().zip(&self.scale).map(|(r, scale)| r * scale).collect();
        for k in 0..n {
            for l in 0..k {
                y[k] -= lower[k * n + l] * y[l];
            }
            y[k] /= lower[k * n + k];
        }
        for k in (0..n).rev() {
            for l in k + 1..n {
                y[k] -= lower[l * n + k] * y[l];
            }
            y[k] /= lower[k * n + k];
        }
        y.iter().zip(&self.scale).map(|(y, scale)| y * scale).collect()
    }
}

/// The shortest d with `v_k'd = r_k` for all k, by orthogonal vectors: vectors that differ by little are still told apart. Those
/// that depend on the ones before them count for nothing.
pub(crate) fn shortest(mut vectors: Vec<Vec<f64>>, right: &[f64]) -> Vec<f64> {
    /// What is left of a vector, relative to its length, that depends on those before it.
    const DEPENDENT: f64 = 1e-14;
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut moved = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for k in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(k);
        let vector = &mut rest[0];
        let first = dot(vector, vector).sqrt();
        let original = vector.clone();
        // Twice is enough.
        for _ in 0..2 {
            for unit in &*done {
                let share = dot(unit, vector);
                vector.iter_mut().zip(unit).for_each(|(own, unit)| *own -= share * unit);
            }
        }
        let length = dot(vector, vector).sqrt();
        let is_sound = length > DEPENDENT * first && length.is_finite();
        let scale = if is_sound { 1.0 / length } else { 0.0 };
        vector.iter_mut().for_each(|own| *own *= scale);
        if is_sound {
            // What is still missing once the vectors before have their share.
            let step = (right[k] - dot(&original, &moved)) / length;
            moved.iter_mut().zip(&*vector).for_each(|(moved, unit)| *moved += step * unit);
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_of_very_different_units_are_solved() {
        let (big, small) = (1e12, 1e-9);
        let matrix = [2.0 * big * big, big * small, big * small, 3.0 * small * small];
        let factor = Factor::of(&matrix, &[0.0, 0.0], 0.0);
        let x = factor.solve(&[3.0 * big, 4.0 * small]);
        assert!(factor.is_regular);
        assert!((x[0] * big - 1.0).abs() < 1e-12 && (x[1] * small - 1.0).abs() < 1e-12, "{x:?}");
        let flat = Factor::of(&[1.0, 1.0, 1.0, 1.0], &[0.0, 0.0], 0.0);
        assert!(!flat.is_regular);
        assert_eq!(flat.solve(&[2.0, 2.0]), vec![2.0, 0.0]);
        assert_eq!(Factor::of(&[0.0], &[0.0], 0.0).solve(&[1.0]), vec![0.0]);
    }

    #[test]
    fn vectors_that_differ_by_little_are_told_apart() {
        let off = 1e-10;
        let d = shortest(vec![vec![1.0, 1.0], vec![1.0, 1.0 + off]], &[0.0, 0.5 * off]);
        assert!((d[0] + 0.5).abs() < 1e-5 && (d[1] - 0.5).abs() < 1e-5, "{d:?}");
        let same = shortest(vec![vec![3.0, 4.0], vec![3.0, 4.0], vec![0.0, 0.0]], &[5.0, 5.0, 1.0]);
        assert!((same[0] - 0.6).abs() < 1e-15 && (same[1] - 0.8).abs() < 1e-15, "{same:?}");
    }
}
