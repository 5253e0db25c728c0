//! Symmetric matrices of the order of x: `M = L L'`, products, packed triangles.
//!
//! Kept in full, row after row, only the lower triangle counts. Must not know: what they are curvatures of.

/// The lower triangle of a symmetric matrix of some order, row after row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Symmetric {
    order: usize,
    /// Row r holds r + 1 numbers.
    lower: Vec<f64>,
}

impl Symmetric {
    pub(crate) fn diagonal_of(diagonal: &[f64]) -> Self {
        let order = diagonal.len();
        let mut found = Self { order, lower: vec![0.0; order * (order + 1) / 2] };
        found.add_diagonal(diagonal);
        found
    }

    pub(crate) fn from_lower(order: usize, lower: Vec<f64>) -> Self {
        assert_eq!(lower.len(), order * (order + 1) / 2, "a triangle");
        Self { order, lower }
    }

    pub(crate) fn lower(&self) -> &[f64] {
        &self.lower
    }

    pub(crate) fn row(&self, r: usize) -> &[f64] {
        &self.lower[r * (r + 1) / 2..(r + 1) * (r + 2) / 2]
    }

    pub(crate) fn row_mut(&mut self, r: usize) -> &mut [f64] {
        &mut self.lower[r * (r + 1) / 2..(r + 1) * (r + 2) / 2]
    }

    pub(crate) fn add_diagonal(&mut self, diagonal: &[f64]) {
        diagonal.iter().enumerate().for_each(|(r, value)| self.row_mut(r)[r] += value);
    }

    pub(crate) fn diagonal(&self) -> Vec<f64> {
        (0..self.order).map(|r| self.row(r)[r]).collect()
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let lower = self.lower.iter().zip(&other.lower).map(|(a, b)| a + b).collect();
        Self { order: self.order, lower }
    }

    pub(crate) fn scaled(&self, by: f64) -> Self {
        Self { order: self.order, lower: self.lower.iter().map(|value| by * value).collect() }
    }

    /// `M v`.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.order];
        for r in 0..self.order {
            let row = self.row(r);
            let mut sum = row[r] * v[r];
            for c in 0..r {
                sum += row[c] * v[c];
                out[c] += row[c] * v[r];
            }
            out[r] += sum;
        }
        out
    }

    /// `L` of `M = L L'`; none where M is not positive definite in plain arithmetic.
    pub(crate) fn factored(&self) -> Option<Cholesky> {
        let n = self.order;
        let mut l = self.clone();
        for r in 0..n {
            for c in 0..=r {
                let (before, rest) = l.lower.split_at_mut(r * (r + 1) / 2);
                let row = &mut rest[..=r];
                let sum: f64 = if c == r {
                    row[..c].iter().map(|a| a * a).sum()
                } else {
                    let other = &before[c * (c + 1) / 2..c * (c + 1) / 2 + c];
                    row[..c].iter().zip(other).map(|(a, b)| a * b).sum()
                };
                let left = row[c] - sum;
                if c == r {
                    if !(left > 0.0 && left.is_finite()) {
                        return None;
                    }
                    row[c] = left.sqrt();
                } else {
                    row[c] = left / before[c * (c + 1) / 2 + c];
                }
            }
        }
        Some(Cholesky(l))
    }
}

/// The factor of a positive definite matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cholesky(Symmetric);

impl Cholesky {
    /// The v of `M v = rhs`.
    pub(crate) fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let (l, n) = (&self.0, self.0.order);
        let mut v = rhs.to_vec();
        for r in 0..n {
            let row = l.row(r);
            let sum: f64 = row[..r].iter().zip(&v).map(|(a, b)| a * b).sum();
            v[r] = (v[r] - sum) / row[r];
        }
        for r in (0..n).rev() {
            let row = l.row(r);
            v[r] /= row[r];
            let value = v[r];
            v[..r].iter_mut().zip(row).for_each(|(a, b)| *a -= value * b);
        }
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_and_what_is_not_definite_has_none() {
        let m = Symmetric::from_lower(3, vec![4.0, 2.0, 5.0, -1.0, 0.5, 3.0]);
        let v = [1.0, -2.0, 0.25];
        let found = m.factored().expect("definite").solve(&m.times(&v));
        assert!(found.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?}");
        assert_eq!(m.times(&[1.0, 0.0, 0.0]), [4.0, 2.0, -1.0]);
        assert_eq!(m.diagonal(), [4.0, 5.0, 3.0]);
        assert_eq!(Symmetric::diagonal_of(&[1.0, -1.0]).factored(), None);
        assert_eq!(m.plus(&m), m.scaled(2.0));
    }
}
