//! `L D L'` of a symmetric band, in linear time.
//!
//! Rows are side by side, `S = width + 1` numbers each: the diagonal entry, then leftwards. The factor takes their place: one over d,
//! then the entries of L. The widths that occur are compiled, so that a row stays in registers.
//!
//! Must not know: what is factored.

/// Calls the function compiled for a width.
macro_rules! of_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            0 => $function::<1>($($argument),*),
            1 => $function::<2>($($argument),*),
            2 => $function::<3>($($argument),*),
            3 => $function::<4>($($argument),*),
            4 => $function::<5>($($argument),*),
            5 => $function::<6>($($argument),*),
            6 => $function::<7>($($argument),*),
            7 => $function::<8>($($argument),*),
            8 => $function::<9>($($argument),*),
            width => unreachable!("a band is at most {WIDEST} wide, not {width}"),
        }
    };
}

/// Entries beside the diagonal up to which a matrix counts as banded.
pub(super) const WIDEST: usize = 8;

/// Factorises in place; false where the matrix is not positive definite to rounding.
pub(super) fn factorise(band: &mut [f64], width: usize) -> bool {
    of_width!(width, factorise_rows(band))
}

/// Solves with the factor, in place.
pub(super) fn solve(band: &[f64], width: usize, r: &mut [f64]) {
    of_width!(width, solve_rows(band, r));
}

fn factorise_rows<const S: usize>(band: &mut [f64]) -> bool {
    // The k-th is the k-th row before; what lies left of the first column is 0 in all of them.
    let mut before = [[0.0; S]; S];
    for row in band.as_chunks_mut::<S>().0 {
        // `u_k = l_k d` of the column k to the left.
        let (mut u, mut l) = (*row, [0.0; S]);
        for k in (1..S).rev() {
            for t in k + 1..S {
                u[k] -= u[t] * before[k][t - k];
            }
            l[k] = u[k] * before[k][0];
        }
        let mut d = u[0];
        for k in (1..S).rev() {
            d -= u[k] * l[k];
        }
        if !(d > 0.0 && d.is_finite()) {
            return false;
        }
        l[0] = 1.0 / d;
        *row = l;
        for k in (2..S).rev() {
            before[k] = before[k - 1];
        }
        if let Some(last) = before.get_mut(1) {
            *last = l;
        }
    }
    true
}

fn solve_rows<const S: usize>(band: &[f64], r: &mut [f64]) {
    let rows = band.as_chunks::<S>().0;
    let mut before = [0.0; S];
    for (row, r) in rows.iter().zip(r.iter_mut()) {
        let mut value = *r;
        for k in (1..S).rev() {
            value -= row[k] * before[k];
        }
        for k in (2..S).rev() {
            before[k] = before[k - 1];
        }
        if let Some(last) = before.get_mut(1) {
            *last = value;
        }
        *r = value * row[0];
    }
    // The k-th is what the rows after take off the one k to the left.
    let mut taken = [0.0; S];
    for (row, r) in rows.iter().zip(r.iter_mut()).rev() {
        let value = *r - taken[0];
        *r = value;
        for k in 1..S {
            taken[k - 1] = taken[k] + row[k] * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every width, against the product written out; and what is not definite is refused.
    #[test]
    fn bands_of_every_width_are_solved() {
        for width in 0..=WIDEST {
            let (n, s) = (30, width + 1);
            let entry = |i: usize, k: usize| match k {
                0 => 2.0 * s as f64,
                k if k <= i => 1.0 / (1.0 + ((i * 3 + k) % 5) as f64),
                _ => 0.0,
            };
            let band: Vec<f64> = (0..n).flat_map(|i| (0..s).map(move |k| entry(i, k))).collect();
            let truth: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let mut right = vec![0.0; n];
            for i in 0..n {
                right[i] += entry(i, 0) * truth[i];
                for k in 1..=width.min(i) {
                    right[i] += entry(i, k) * truth[i - k];
                    right[i - k] += entry(i, k) * truth[i];
                }
            }
            let mut factor = band.clone();
            assert!(factorise(&mut factor, width));
            solve(&factor, width, &mut right);
            let off = right.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-13, "width {width}: {off}");
            let mut indefinite = band;
            indefinite[s * (n - 1)] = -1.0;
            assert!(!factorise(&mut indefinite, width));
        }
    }
}
