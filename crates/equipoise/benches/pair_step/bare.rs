//! The bare arithmetic of a pair update, written by hand for one problem each: what the library is measured against.

use std::collections::HashMap;

use equipoise::smooth::PairTerm;
use equipoise_models::Synthetic;

/// Four products and one factored solve an edge: `y = M^-1 (A_i w_i + A_j w_j)`, then `A_i'y` and `A_j'y`.
pub(crate) struct SmoothRows {
    m: usize,
    block: usize,
    columns: Vec<f64>,
    x: Vec<f64>,
    target: Vec<f64>,
    factors: Vec<Vec<f64>>,
    which: Vec<usize>,
}

impl SmoothRows {
    pub(crate) fn new(model: &Synthetic, edges: &[(usize, usize)]) -> Self {
        let (m, block) = (model.rows, model.block);
        let coupling = model.coupling().expect("valid");
        let n = model.nodes * block;
        let mut columns = vec![0.0; m * n];
        for (c, column) in columns.chunks_exact_mut(m).enumerate() {
            coupling.add_column(c, 1.0, column);
        }
        let f = model.smooth().expect("valid");
        let target = (0..n).map(|c| -f.partial(c, &vec![0.0; n][..], &[]) / f.curvature(c)).collect();
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        let (mut factors, mut which) = (Vec::new(), Vec::new());
        for &(i, j) in edges {
            let next = factors.len();
            let at = *known.entry((i, j)).or_insert_with(|| {
                factors.push(cholesky(&columns, m, block, i, j));
                next
            });
            which.push(at);
        }
        Self { m, block, columns, x: vec![0.0; n], target, factors, which }
    }

    pub(crate) fn sweep(&mut self, edges: &[(usize, usize)]) {
        let (m, size) = (self.m, self.block);
        let mut y = vec![0.0; m];
        let mut w = vec![0.0; 2 * size];
        for (&(i, j), &at) in edges.iter().zip(&self.which) {
            y.fill(0.0);
            for (side, b) in [i, j].into_iter().enumerate() {
                let columns = &self.columns[b * size * m..(b + 1) * size * m];
                let w = &mut w[side * size..(side + 1) * size];
                let (x, t) = (&self.x[b * size..(b + 1) * size], &self.target[b * size..(b + 1) * size]);
                w.iter_mut().zip(x.iter().zip(t)).for_each(|(w, (x, t))| *w = x - t);
                add_columns(columns, w, &mut y);
            }
            solve(&self.factors[at], &mut y);
            for (side, b) in [i, j].into_iter().enumerate() {
                let columns = &self.columns[b * size * m..(b + 1) * size * m];
                let w = &w[side * size..(side + 1) * size];
                move_columns(columns, &y, w, &mut self.x[b * size..(b + 1) * size]);
            }
        }
    }

    pub(crate) fn result(&self) -> f64 {
        self.x[0]
    }
}

/// `y += sum_k w_k a_k`, four columns at a time.
fn add_columns(columns: &[f64], w: &[f64], y: &mut [f64]) {
    let m = y.len();
    let (fours, rest) = columns.split_at(w.len() / 4 * 4 * m);
    for (four, w) in fours.chunks_exact(4 * m).zip(w.chunks_exact(4)) {
        let (a, others) = four.split_at(m);
        let (b, others) = others.split_at(m);
        let (c, d) = others.split_at(m);
        for k in 0..m {
            y[k] += (w[0] * a[k] + w[1] * b[k]) + (w[2] * c[k] + w[3] * d[k]);
        }
    }
    for (column, w) in rest.chunks_exact(m).zip(&w[w.len() / 4 * 4..]) {
        y.iter_mut().zip(column).for_each(|(y, a)| *y += w * a);
    }
}

/// `x_k -= w_k - a_k'y`, four columns at a time.
fn move_columns(columns: &[f64], y: &[f64], w: &[f64], x: &mut [f64]) {
    let m = y.len();
    let (fours, rest) = columns.split_at(w.len() / 4 * 4 * m);
    for ((four, w), x) in fours.chunks_exact(4 * m).zip(w.chunks_exact(4)).zip(x.chunks_exact_mut(4)) {
        let (a, others) = four.split_at(m);
        let (b, others) = others.split_at(m);
        let (c, d) = others.split_at(m);
        let mut pull = [0.0; 4];
        for k in 0..m {
            pull[0] += a[k] * y[k];
            pull[1] += b[k] * y[k];
            pull[2] += c[k] * y[k];
            pull[3] += d[k] * y[k];
        }
        (0..4).for_each(|k| x[k] -= w[k] - pull[k]);
    }
    let done = w.len() / 4 * 4;
    for ((x, w), column) in x[done..].iter_mut().zip(&w[done..]).zip(rest.chunks_exact(m)) {
        *x -= w - column.iter().zip(y).map(|(a, y)| a * y).sum::<f64>();
    }
}

/// The dense lower factor of `A_i A_i' + A_j A_j'`, row-major.
fn cholesky(columns: &[f64], m: usize, block: usize, i: usize, j: usize) -> Vec<f64> {
    let mut l = vec![0.0; m * m];
    for b in [i, j] {
        for column in columns[b * block * m..(b + 1) * block * m].chunks_exact(m) {
            for r in 0..m {
                for c in 0..=r {
                    l[r * m + c] += column[r] * column[c];
                }
            }
        }
    }
    for c in 0..m {
        for k in 0..c {
            for r in c..m {
                l[r * m + c] -= l[r * m + k] * l[c * m + k];
            }
        }
        let root = l[c * m + c].sqrt();
        (c..m).for_each(|r| l[r * m + c] /= root);
    }
    l
}

fn solve(l: &[f64], y: &mut [f64]) {
    let m = y.len();
    for r in 0..m {
        let row = &l[r * m..r * m + r];
        let known: f64 = row.iter().zip(&y[..r]).map(|(l, y)| l * y).sum();
        y[r] = (y[r] - known) / l[r * m + r];
    }
    for r in (0..m).rev() {
        y[r] /= l[r * m + r];
        let (head, value) = (&l[r * m..r * m + r], y[r]);
        y[..r].iter_mut().zip(head).for_each(|(y, l)| *y -= l * value);
    }
}

/// Two scalars with `1/2 (x - t)^2` each, a sum and bounds 0..1: load, compute, store.
pub(crate) struct ScalarPairs {
    x: Vec<f64>,
    target: Vec<f64>,
}

impl ScalarPairs {
    pub(crate) fn new(x: Vec<f64>, target: Vec<f64>) -> Self {
        Self { x, target }
    }

    pub(crate) fn sweep(&mut self, edges: &[(usize, usize)]) {
        for &(i, j) in edges {
            let (xi, xj) = (self.x[i], self.x[j]);
            let step = 0.5 * ((xj - self.target[j]) - (xi - self.target[i]));
            let step = step.max(-xi).max(xj - 1.0).min(1.0 - xi).min(xj);
            self.x[i] = xi + step;
            self.x[j] = xj - step;
        }
    }

    pub(crate) fn result(&self) -> f64 {
        self.x[0]
    }
}
