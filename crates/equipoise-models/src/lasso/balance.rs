//! Multipliers of the constraints where the coefficients in use do not determine them.
//!
//! ```text
//! minimise over nu   sum_j  dist^2( g_j + C_j'(mu + N nu), [-l_j, l_j] )          N: directions of mu that are free
//! ```
//!
//! At its minimum the violations `v_j` satisfy `sum_j (N'C_j) v_j = 0`: moving every coefficient by `-v_j` keeps
//! `C beta = 0` and lowers the objective. Under one sum this is the pair, one up and one down, that enters together.
//!
//! - Given: slopes, limits and columns of the coefficients that are 0. Returns: mu.
//! - Must not know: where slopes come from.

use equipoise::matrix::{axpy, dot};

/// Eigenvalues below this share of the largest count as 0.
const NEGLIGIBLE: f64 = 1e-12;

/// A symmetric matrix by its eigenvalues and vectors (Jacobi's rotations; for a few rows).
#[derive(Debug)]
pub(super) struct Spectrum {
    values: Vec<f64>,
    vectors: Vec<Vec<f64>>,
}

impl Spectrum {
    /// Of a matrix by rows.
    pub(super) fn of(mut a: Vec<Vec<f64>>) -> Self {
        let m = a.len();
        let mut vectors: Vec<Vec<f64>> =
            (0..m).map(|i| (0..m).map(|k| f64::from(u8::from(i == k))).collect()).collect();
        for _ in 0..60 {
            let mut off = 0.0_f64;
            for p in 0..m {
                for q in p + 1..m {
                    off = off.max(a[p][q].abs() / (a[p][p] * a[q][q]).abs().sqrt().max(f64::MIN_POSITIVE));
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
            if off <= 1e-15 {
                break;
            }
        }
        Self { values: (0..m).map(|k| a[k][k]).collect(), vectors }
    }

    fn is_negligible(&self, value: f64) -> bool {
        let largest = self.values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        value <= NEGLIGIBLE * largest
    }

    /// The shortest solution.
    pub(super) fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; rhs.len()];
        for (value, vector) in self.values.iter().zip(&self.vectors) {
            if !self.is_negligible(*value) {
                axpy(dot(vector, rhs) / value, vector, &mut x);
            }
        }
        x
    }

    /// The solution, with every eigenvalue that is positive taken for what it is.
    pub(super) fn solve_fully(&self, rhs: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; rhs.len()];
        for (value, vector) in self.values.iter().zip(&self.vectors) {
            if *value > 0.0 {
                axpy(dot(vector, rhs) / value, vector, &mut x);
            }
        }
        x
    }

    /// The directions that it does not.
    pub(super) fn range(&self) -> Vec<&[f64]> {
        let pairs = self.values.iter().zip(&self.vectors);
        pairs.filter(|(value, _)| !self.is_negligible(**value)).map(|(_, vector)| vector.as_slice()).collect()
    }

    /// The directions that the matrix takes to 0.
    pub(super) fn null_space(&self) -> Vec<&[f64]> {
        let pairs = self.values.iter().zip(&self.vectors);
        pairs.filter(|(value, _)| self.is_negligible(**value)).map(|(_, vector)| vector.as_slice()).collect()
    }
}

/// Makes `a[p][q]` zero; rows of `vectors` are the eigenvectors so far.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let t = if theta == 0.0 { 1.0 } else { t };
    let cosine = 1.0 / t.hypot(1.0);
    let sine = t * cosine;
    for k in 0..a.len() {
        let (x, y) = (a[k][p], a[k][q]);
        (a[k][p], a[k][q]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
    for k in 0..a.len() {
        let (x, y) = (a[p][k], a[q][k]);
        (a[p][k], a[q][k]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
    for k in 0..a.len() {
        let (x, y) = (vectors[p][k], vectors[q][k]);
        (vectors[p][k], vectors[q][k]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
}

/// A coefficient that is 0: its slope without multipliers of the free directions, its limit, its column `N'C_j`.
#[derive(Debug)]
pub(super) struct Resting {
    pub(super) slope: f64,
    pub(super) limit: f64,
    pub(super) along: Vec<f64>,
}

/// How far a slope is beyond its limit, with its sign.
fn violation(slope: f64, limit: f64) -> f64 {
    if slope > limit {
        slope - limit
    } else if slope < -limit {
        slope + limit
    } else {
        0.0
    }
}

/// The nu that minimises the sum of squared violations.
pub(super) fn least_violation(resting: &[Resting], directions: usize) -> Vec<f64> {
    let at = |nu: &[f64]| {
        let mut value = 0.0;
        let (mut slope, mut bend) = (vec![0.0; directions], vec![vec![0.0; directions]; directions]);
        for one in resting {
            let v = violation(one.slope + dot(&one.along, nu), one.limit);
            if v != 0.0 {
                value += v * v;
                axpy(v, &one.along, &mut slope);
                for (row, a) in bend.iter_mut().zip(&one.along) {
                    axpy(*a, &one.along, row);
                }
            }
        }
        (value, slope, bend)
    };
    let mut nu = vec![0.0; directions];
    for _ in 0..500 {
        let (value, slope, bend) = at(&nu);
        let size: f64 = resting.iter().map(|one| one.slope.abs()).fold(0.0, f64::max);
        if value == 0.0 || dot(&slope, &slope).sqrt() <= 1e-15 * size {
            break;
        }
        let step = Spectrum::of(bend).solve(&slope);
        // Along the step the slope is piecewise linear and rises: where it is 0.
        let rise = |length: f64| {
            let trial: Vec<f64> = nu.iter().zip(&step).map(|(nu, step)| nu - length * step).collect();
            -dot(&at(&trial).1, &step)
        };
        let (mut low, mut high) = (0.0, 1.0);
        while rise(high) < 0.0 && high < 1e6 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if rise(middle) <= 0.0 { low = middle } else { high = middle }
        }
        let next: Vec<f64> = nu.iter().zip(&step).map(|(nu, step)| nu - high * step).collect();
        if next == nu || at(&next).0 >= value {
            break;
        }
        nu = next;
    }
    nu
}

/// A small balanced set: which of these entering columns, the most eager first, may enter together.
///
/// ```text
/// sum_j along_j d_j = 0   for some d with the signs given, d_first not 0, and the other columns independent
/// ```
///
/// Then only multiples of one d balance, so whatever is minimised over the set moves with these signs. The others
/// are found as non-negative least squares: `-along_first` as a combination of theirs (Lawson and Hanson).
/// Each column is (along times its sign, eagerness); returned are places in the list.
pub(super) fn balanced_set(columns: &[(Vec<f64>, f64)]) -> Vec<usize> {
    let first = (0..columns.len()).max_by(|&i, &k| columns[i].1.total_cmp(&columns[k].1));
    let Some(first) = first else { return Vec::new() };
    let wanted: Vec<f64> = columns[first].0.iter().map(|a| -a).collect();
    let size = dot(&wanted, &wanted).sqrt();
    let (mut chosen, mut shares): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    for _ in 0..20 * (wanted.len() + 1) {
        let mut left = wanted.clone();
        for (&k, share) in chosen.iter().zip(&shares) {
            axpy(-share, &columns[k].0, &mut left);
        }
        if dot(&left, &left).sqrt() <= 1e-9 * size {
            break;
        }
        let pull = |k: usize| dot(&columns[k].0, &left) * columns[k].1;
        let next = (0..columns.len())
            .filter(|k| *k != first && !chosen.contains(k) && pull(*k) > 1e-12 * size * size * columns[*k].1)
            .max_by(|&i, &k| pull(i).total_cmp(&pull(k)));
        let Some(next) = next else { break };
        chosen.push(next);
        shares.push(0.0);
        while !chosen.is_empty() {
            let of = |i: usize, k: usize| dot(&columns[chosen[i]].0, &columns[chosen[k]].0);
            let count = chosen.len();
            let square = (0..count).map(|i| (0..count).map(|k| of(i, k)).collect()).collect();
            let rhs: Vec<f64> = chosen.iter().map(|&k| dot(&columns[k].0, &wanted)).collect();
            let aim = Spectrum::of(square).solve(&rhs);
            let ends = shares.iter().zip(&aim).filter(|(_, aim)| **aim <= 0.0);
            let t = ends.map(|(now, aim)| now / (now - aim)).fold(1.0, f64::min);
            let t = if t.is_nan() { 0.0 } else { t };
            shares.iter_mut().zip(&aim).for_each(|(now, aim)| *now += t * (aim - *now));
            if aim.iter().all(|aim| *aim > 0.0) {
                break;
            }
            let gone: Vec<bool> =
                shares.iter().zip(&aim).map(|(now, aim)| *aim <= 0.0 && *now <= 1e-14).collect();
            let mut kept = gone.iter().map(|gone| !gone);
            chosen.retain(|_| kept.next().unwrap_or(true));
            let mut kept = gone.iter().map(|gone| !gone);
            shares.retain(|_| kept.next().unwrap_or(true));
            if !gone.contains(&true) {
                break;
            }
        }
    }
    chosen.push(first);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_singular_matrix_is_solved_where_it_can_be() {
        let spectrum = Spectrum::of(vec![vec![2.0, 2.0, 0.0], vec![2.0, 2.0, 0.0], vec![0.0, 0.0, 5.0]]);
        let x = spectrum.solve(&[4.0, 4.0, 10.0]);
        assert!(x.iter().zip([1.0, 1.0, 2.0]).all(|(x, wanted)| (x - wanted).abs() < 1e-12), "{x:?}");
        let null = spectrum.null_space();
        assert_eq!(null.len(), 1);
        assert!((null[0][0] + null[0][1]).abs() < 1e-12 && null[0][2].abs() < 1e-12);
        assert_eq!(Spectrum::of(vec![vec![0.0]]).null_space().len(), 1);
    }

    #[test]
    fn under_a_sum_the_two_extremes_share_the_violation() {
        let of = |slope| Resting { slope, limit: 1.0, along: vec![1.0] };
        let resting = [of(3.0), of(-2.0), of(0.5)];
        let nu = least_violation(&resting, 1);
        assert!((nu[0] + 0.5).abs() < 1e-12, "{nu:?}");
        let together: f64 = resting.iter().map(|one| violation(one.slope + nu[0], 1.0)).sum();
        assert!(together.abs() < 1e-12);
    }

    #[test]
    fn a_balanced_set_is_small_and_balances() {
        let mut seed = 5_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
        };
        for directions in 1..4_usize {
            for _ in 0..50 {
                // Columns with a positive combination that is 0.
                let mut columns: Vec<(Vec<f64>, f64)> =
                    (0..9).map(|_| ((0..directions).map(|_| draw()).collect(), draw().abs() + 0.1)).collect();
                let last = (0..directions).map(|k| -columns.iter().map(|c| c.0[k]).sum::<f64>()).collect();
                columns.push((last, 0.3));
                let set = balanced_set(&columns);
                assert!(set.len() >= 2 && set.len() <= directions + 1, "{set:?}");
                let of = |i: usize, k: usize| dot(&columns[set[i]].0, &columns[set[k]].0);
                let square: Vec<Vec<f64>> =
                    (0..set.len()).map(|i| (0..set.len()).map(|k| of(i, k)).collect()).collect();
                let spectrum = Spectrum::of(square);
                let null = spectrum.null_space();
                assert_eq!(null.len(), 1, "{set:?}");
                assert!(null[0].iter().all(|d| d * null[0][0] > 0.0), "{null:?}");
            }
        }
    }
}
