//! Inner loops over contiguous columns, written so that they compile to vector code without bounds checks.
//!
//! | symbol | meaning |
//! |---|---|
//! | m | rows, the length of a column |
//! | data | columns `a_1, a_2, ...` one after the other |

const LANES: usize = 8;

/// A sum that carries its own rounding error (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(super) fn add(&mut self, t: f64) {
        // Knuth's error-free sum: no branch on which of the two is larger.
        let sum = self.sum + t;
        let part = sum - self.sum;
        self.lost += (self.sum - (sum - part)) + (t - part);
        self.sum = sum;
    }

    #[inline]
    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// Numbers on a cache line.
const LINE: usize = 8;

/// Reads one number of every cache line, and so brings all of them near: with nothing to compute in between, many
/// lines are under way at once.
#[inline]
pub(super) fn warm(data: &[f64]) {
    let mut sums = [0.0; 4];
    let (fours, rest) = data.as_chunks::<{ 4 * LINE }>();
    for four in fours {
        for l in 0..4 {
            sums[l] += four[l * LINE];
        }
    }
    let last = rest.iter().step_by(LINE).sum::<f64>();
    std::hint::black_box((sums[0] + sums[1]) + (sums[2] + sums[3]) + last);
}

/// `a'b`.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] += a[l] * b[l];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

/// `out += t a`.
#[inline]
pub(super) fn axpy(t: f64, a: &[f64], out: &mut [f64]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out += t * a;
    }
}

/// `gram += t a a'`, lower triangle, column-major.
#[inline]
pub(super) fn add_outer(t: f64, a: &[f64], gram: &mut [f64]) {
    let m = a.len();
    if m == 0 {
        return;
    }
    for (j, column) in gram.chunks_exact_mut(m).enumerate() {
        axpy(t * a[j], &a[j..], &mut column[j..]);
    }
}

/// `out += sum_k w_k a_k`, four columns at a time.
#[inline]
pub(super) fn accumulate(data: &[f64], w: &[f64], out: &mut [f64]) {
    let m = out.len();
    if m == 0 {
        return;
    }
    let (fours, singles) = w.as_chunks::<4>();
    let (blocks, rest) = data.split_at(fours.len() * 4 * m);
    for (block, w) in blocks.chunks_exact(4 * m).zip(fours) {
        let [a, b, c, d] = four_columns(block, m);
        for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *out += (w[0] * a + w[1] * b) + (w[2] * c + w[3] * d);
        }
    }
    for (column, &w) in rest.chunks_exact(m).zip(singles) {
        axpy(w, column, out);
    }
}

/// `out_k = a_k'y`, four columns at a time.
#[inline]
pub(super) fn dots(data: &[f64], y: &[f64], out: &mut [f64]) {
    let m = y.len();
    if m == 0 {
        out.fill(0.0);
        return;
    }
    let (fours, singles) = out.as_chunks_mut::<4>();
    let (blocks, rest) = data.split_at(fours.len() * 4 * m);
    for (block, out) in blocks.chunks_exact(4 * m).zip(fours) {
        *out = dot_four(four_columns(block, m), y);
    }
    for (column, out) in rest.chunks_exact(m).zip(singles) {
        *out = dot(column, y);
    }
}

#[inline]
fn four_columns(block: &[f64], m: usize) -> [&[f64]; 4] {
    let (a, rest) = block.split_at(m);
    let (b, rest) = rest.split_at(m);
    let (c, d) = rest.split_at(m);
    [a, b, c, &d[..m]]
}

/// `out -= sum_k t_k a_k` of four columns.
#[inline]
pub(super) fn subtract_four(t: [f64; 4], columns: [&[f64]; 4], out: &mut [f64]) {
    let [a, b, c, d] = columns;
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *out -= (t[0] * a + t[1] * b) + (t[2] * c + t[3] * d);
    }
}

/// `a_k'y` of four columns, two vectors of each at a time: a sum never waits for itself.
#[inline]
pub(super) fn dot_four(columns: [&[f64]; 4], y: &[f64]) -> [f64; 4] {
    const W: usize = 8;
    let (y, y_rest) = y.as_chunks::<W>();
    let [(a, ar), (b, br), (c, cr), (d, dr)] = columns.map(|column| column.as_chunks::<W>());
    let mut sums = [[0.0; W]; 4];
    for ((((y, a), b), c), d) in y.iter().zip(a).zip(b).zip(c).zip(d) {
        for l in 0..W {
            sums[0][l] += y[l] * a[l];
            sums[1][l] += y[l] * b[l];
            sums[2][l] += y[l] * c[l];
            sums[3][l] += y[l] * d[l];
        }
    }
    let mut totals = sums.map(|[a, b, c, d, e, f, g, h]| ((a + e) + (b + f)) + ((c + g) + (d + h)));
    for ((((y, a), b), c), d) in y_rest.iter().zip(ar).zip(br).zip(cr).zip(dr) {
        totals[0] += y * a;
        totals[1] += y * b;
        totals[2] += y * c;
        totals[3] += y * d;
    }
    totals
}
