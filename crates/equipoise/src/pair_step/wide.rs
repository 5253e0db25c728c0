//! Products with many columns, by vector instructions where the machine has them (AVX2 with FMA on x86).
//!
//! That is found out at run time, so that a program built for any machine is as fast here as one built for this one. On one machine sums are always the same; between machines they may differ by rounding.
//!
//! | symbol | meaning |
//! |---|---|
//! | m | rows, the length of a column |
//! | data | columns `a_1, a_2, ...` one after the other |
//!
//! Written with vectors, not left to the compiler: it would take four sums side by side for one vector, and shuffle.

#![expect(
    clippy::inline_always,
    reason = "vector code must end up in the function for which the instructions are enabled"
)]

use pulp::{Arch, Scalar, Simd, WithSimd};

use super::kernels;

/// Numbers below which asking for the instructions takes longer than they save.
const FEW: usize = 512;
/// Numbers on a cache line.
const LINE: usize = 8;
/// Places that are read side by side.
const STREAMS: usize = 8;

/// Does `work`, which reads so many numbers, by the widest instructions that are worth while.
#[inline]
pub(super) fn widest<W: WithSimd>(numbers: usize, work: W) -> W::Output {
    if numbers < FEW { work.with_simd(Scalar::new()) } else { Arch::new().dispatch(work) }
}

/// Reads one number of every cache line, and so brings all of them near, faster than arithmetic on them would: nothing
/// else is under way, and each of several streams has pages of its own.
#[inline]
pub(super) fn warm(data: &[f64]) {
    let (streams, rest) = data.split_at(data.len() / STREAMS * STREAMS);
    let length = streams.len() / STREAMS;
    let streams: [&[f64]; STREAMS] = std::array::from_fn(|k| &streams[k * length..(k + 1) * length]);
    let mut sums = [0.0; STREAMS];
    for at in (0..length).step_by(LINE) {
        for (sum, stream) in sums.iter_mut().zip(streams) {
            *sum += stream[at];
        }
    }
    std::hint::black_box((sums, rest.first()));
}

/// `out += sum_k w_k a_k`.
#[inline]
pub(super) fn accumulate(data: &[f64], w: &[f64], out: &mut [f64]) {
    widest(data.len(), Accumulate { data, w, out });
}

/// `out_k = a_k'y`.
#[inline]
pub(super) fn dots(data: &[f64], y: &[f64], out: &mut [f64]) {
    widest(data.len(), Dots { data, y, out });
}

/// `gram += t sum_k a_k a_k'`, lower triangle, column-major.
pub(super) fn add_gram(data: &[f64], m: usize, t: f64, gram: &mut [f64]) {
    widest(data.len(), AddGram { data, m, t, gram });
}

struct AddGram<'a> {
    data: &'a [f64],
    m: usize,
    t: f64,
    gram: &'a mut [f64],
}

impl WithSimd for AddGram<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { data, m, t, gram } = self;
        if m == 0 {
            return;
        }
        let fours = data.chunks_exact(4 * m);
        for column in fours.remainder().chunks_exact(m) {
            kernels::add_outer(t, column, gram);
        }
        for block in fours {
            let [a, b, c, d] = four_columns(block, m);
            for (j, out) in gram.chunks_exact_mut(m).enumerate() {
                let heads = [t * a[j], t * b[j], t * c[j], t * d[j]];
                add_four(simd, heads, [&a[j..], &b[j..], &c[j..], &d[j..]], &mut out[j..]);
            }
        }
    }
}

struct Accumulate<'a> {
    data: &'a [f64],
    w: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { data, w, out } = self;
        let m = out.len();
        if m == 0 {
            return;
        }
        let (fours, singles) = w.as_chunks::<4>();
        let (blocks, rest) = data.split_at(fours.len() * 4 * m);
        for (block, w) in blocks.chunks_exact(4 * m).zip(fours) {
            add_four(simd, *w, four_columns(block, m), out);
        }
        for (column, &w) in rest.chunks_exact(m).zip(singles) {
            kernels::axpy(w, column, out);
        }
    }
}

struct Dots<'a> {
    data: &'a [f64],
    y: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { data, y, out } = self;
        let m = y.len();
        if m == 0 {
            out.fill(0.0);
            return;
        }
        let (fours, singles) = out.as_chunks_mut::<4>();
        let (blocks, rest) = data.split_at(fours.len() * 4 * m);
        for (block, out) in blocks.chunks_exact(4 * m).zip(fours) {
            *out = dot_four(simd, four_columns(block, m), y);
        }
        for (column, out) in rest.chunks_exact(m).zip(singles) {
            *out = kernels::dot(column, y);
        }
    }
}

#[inline(always)]
fn four_columns(block: &[f64], m: usize) -> [&[f64]; 4] {
    let (a, rest) = block.split_at(m);
    let (b, rest) = rest.split_at(m);
    let (c, d) = rest.split_at(m);
    [a, b, c, &d[..m]]
}

/// `out += sum_k t_k a_k` of four columns.
#[inline(always)]
pub(super) fn add_four<S: Simd>(simd: S, t: [f64; 4], columns: [&[f64]; 4], out: &mut [f64]) {
    let (out, out_rest) = S::as_mut_simd_f64s(out);
    let [(a, ar), (b, br), (c, cr), (d, dr)] = columns.map(S::as_simd_f64s);
    let wide = t.map(|t| simd.splat_f64s(t));
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        let first = simd.mul_add_e_f64s(wide[1], *b, simd.mul_add_e_f64s(wide[0], *a, *out));
        let second = simd.mul_add_e_f64s(wide[3], *d, simd.mul_f64s(wide[2], *c));
        *out = simd.add_f64s(first, second);
    }
    for ((((out, a), b), c), d) in out_rest.iter_mut().zip(ar).zip(br).zip(cr).zip(dr) {
        *out += (t[0] * a + t[1] * b) + (t[2] * c + t[3] * d);
    }
}

/// `a_k'y` of four columns.
#[inline(always)]
pub(super) fn dot_four<S: Simd>(simd: S, columns: [&[f64]; 4], y: &[f64]) -> [f64; 4] {
    let (y, y_rest) = S::as_simd_f64s(y);
    let [(a, ar), (b, br), (c, cr), (d, dr)] = columns.map(S::as_simd_f64s);
    let mut sums = [simd.splat_f64s(0.0); 4];
    for ((((y, a), b), c), d) in y.iter().zip(a).zip(b).zip(c).zip(d) {
        sums[0] = simd.mul_add_e_f64s(*y, *a, sums[0]);
        sums[1] = simd.mul_add_e_f64s(*y, *b, sums[1]);
        sums[2] = simd.mul_add_e_f64s(*y, *c, sums[2]);
        sums[3] = simd.mul_add_e_f64s(*y, *d, sums[3]);
    }
    let mut totals = sums.map(|sum| simd.reduce_sum_f64s(sum));
    for ((((y, a), b), c), d) in y_rest.iter().zip(ar).zip(br).zip(cr).zip(dr) {
        totals[0] += y * a;
        totals[1] += y * b;
        totals[2] += y * c;
        totals[3] += y * d;
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 7919 + seed * 104_729) % 1009) as f64 / 1009.0 - 0.5).collect()
    }

    #[test]
    fn products_of_every_shape_are_those_of_a_double_loop() {
        for m in [0, 1, 2, 3, 5, 8, 31, 100] {
            for n in [0, 1, 3, 4, 7, 33] {
                let (data, w, y) = (numbers(m * n, 1), numbers(n, 2), numbers(m, 3));
                let entry = |r: usize, k: usize| data[k * m + r];
                let mut out = y.clone();
                accumulate(&data, &w, &mut out);
                for r in 0..m {
                    let sum: f64 = y[r] + (0..n).map(|k| w[k] * entry(r, k)).sum::<f64>();
                    assert!((out[r] - sum).abs() < 1e-12, "{m} x {n}");
                }
                let mut out = vec![7.0; n];
                dots(&data, &y, &mut out);
                for k in 0..n {
                    let sum: f64 = (0..m).map(|r| y[r] * entry(r, k)).sum();
                    assert!((out[k] - sum).abs() < 1e-12, "{m} x {n}");
                }
            }
        }
    }

    #[test]
    fn gram_matrices_of_every_shape_are_those_of_a_double_loop() {
        for m in [0, 1, 3, 8, 31] {
            for n in [0, 1, 4, 7, 33] {
                let data = numbers(m * n, 1);
                let mut gram = numbers(m * m, 2);
                let before = gram.clone();
                add_gram(&data, m, 0.5, &mut gram);
                for (c, r) in (0..m).flat_map(|c| (c..m).map(move |r| (c, r))) {
                    let sum: f64 = (0..n).map(|k| 0.5 * data[k * m + r] * data[k * m + c]).sum();
                    assert!((gram[c * m + r] - before[c * m + r] - sum).abs() < 1e-12, "{m} x {n}");
                }
            }
        }
    }

    #[test]
    fn any_length_can_be_warmed() {
        for n in [0, 1, 7, 8, 33, 1000] {
            warm(&numbers(n, 1));
        }
    }
}
