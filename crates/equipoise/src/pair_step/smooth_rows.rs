//! h = 0 on two blocks coupled by m rows, by one factored solve.
//!
//! ```text
//! M = A_i diag(1/D_i) A_i' + A_j diag(1/D_j) A_j'
//! mu = M^+ (A_i (g_i/D_i) + A_j (g_j/D_j)),     z_c = x_c - (g_c - A_c'mu)/D_c     for c = i, j
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | `A_c` | rows on block c, m x `n_c`, column-major |
//! | `D_c` | metric of block c: one number, or one a coordinate |
//! | mu | minus the multiplier lambda of the other files |
//! | w | `g/D` |
//!
//! Given the blocks and a [`Factor`] of M; returns the new values and lambda = -mu. Four matrix-vector products
//! and one solve. When `w` dwarfs x and z, its rounding would show in A (z - x), and the step is projected once more.
//! Must not know: h, random numbers, threads, which pair.

use super::{Factor, kernels, wide};

/// How much larger than the values `g/D` may be before the step is projected a second time.
const CANCELLATION: f64 = 16.0;

/// The curvature of the model on one block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Metric<'a> {
    /// The same for every coordinate.
    Isotropic(f64),
    /// One for every coordinate.
    Diagonal(&'a [f64]),
}

/// One block of the pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The rows of A on this block, m x n, column-major.
    pub(crate) columns: &'a [f64],
    /// The values now.
    pub(crate) x: &'a [f64],
    /// The gradient of f at x.
    pub(crate) gradient: &'a [f64],
    /// The curvature D > 0.
    pub(crate) metric: Metric<'a>,
}

/// Memory that [`step`] uses again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    scaled: [Vec<f64>; 2],
    pulled: Vec<f64>,
    residual: Vec<f64>,
}

/// The new values of both blocks, into `z`, and the multipliers, into `lambda` (one a row).
pub(crate) fn step(
    blocks: [Block<'_>; 2],
    factor: &Factor,
    lambda: &mut [f64],
    workspace: &mut Workspace,
    z: [&mut [f64]; 2],
) {
    begin(&blocks[0], lambda, workspace);
    balance(&blocks[1], factor, lambda, workspace);
    finish(blocks, factor, lambda, workspace, z);
}

/// Brings the columns of a block near before they are needed.
pub(crate) fn warm(columns: &[f64]) {
    wide::warm(columns);
}

/// `gram += A A' / D` of a block with m rows, lower triangle, column-major.
pub(crate) fn add_gram(columns: &[f64], m: usize, curvature: f64, gram: &mut [f64]) {
    wide::add_gram(columns, m, 1.0 / curvature, gram);
}

/// The part of [`step`] that needs the first block only.
#[inline]
pub(crate) fn begin(first: &Block<'_>, lambda: &mut [f64], workspace: &mut Workspace) {
    lambda.fill(0.0);
    let scaled = &mut workspace.scaled[0];
    scale(first, scaled);
    wide::accumulate(first.columns, scaled, lambda);
}

/// The part after [`begin`] that needs the second block only: mu, in place of lambda.
#[inline]
pub(crate) fn balance(second: &Block<'_>, factor: &Factor, mu: &mut [f64], workspace: &mut Workspace) {
    let scaled = &mut workspace.scaled[1];
    scale(second, scaled);
    wide::accumulate(second.columns, scaled, mu);
    factor.solve(mu);
}

/// Whether `g/D`, after [`balance`], may dwarf x and z.
#[inline]
pub(crate) fn is_delicate(blocks: [&Block<'_>; 2], workspace: &Workspace) -> bool {
    let sent: f64 = workspace.scaled.iter().map(|scaled| kernels::dot(scaled, scaled)).sum();
    let kept: f64 = blocks.iter().map(|block| kernels::dot(block.x, block.x)).sum();
    sent > CANCELLATION * CANCELLATION * kept
}

/// The new values of one block, the first or the second, after [`balance`].
#[inline]
pub(crate) fn pull(block: &Block<'_>, which: usize, mu: &[f64], workspace: &mut Workspace, z: &mut [f64]) {
    workspace.pulled.resize(block.x.len(), 0.0);
    wide::dots(block.columns, mu, &mut workspace.pulled);
    move_block(block, &workspace.scaled[which], &workspace.pulled, z);
}

/// The part of [`step`] after [`balance`]: both blocks, with lambda in place of mu, and with a second projection where
/// the step needs one.
pub(crate) fn finish(
    blocks: [Block<'_>; 2],
    factor: &Factor,
    lambda: &mut [f64],
    workspace: &mut Workspace,
    z: [&mut [f64]; 2],
) {
    let (mut sent, mut kept) = (0.0, 0.0);
    let [first, second] = z;
    for (which, (block, z)) in blocks.iter().zip([&mut *first, &mut *second]).enumerate() {
        pull(block, which, lambda, workspace, z);
        let scaled = &workspace.scaled[which];
        sent += kernels::dot(scaled, scaled);
        kept += kernels::dot(z, z) + kernels::dot(block.x, block.x);
    }
    for mu in lambda.iter_mut() {
        *mu = -*mu;
    }
    if sent > CANCELLATION * CANCELLATION * kept {
        project_again(blocks, factor, lambda, workspace, [first, second]);
    }
}

/// w = g/D.
#[inline]
fn scale(block: &Block<'_>, w: &mut Vec<f64>) {
    w.clear();
    match block.metric {
        Metric::Isotropic(d) => {
            let inverse = 1.0 / d;
            w.extend(block.gradient.iter().map(|g| g * inverse));
        }
        Metric::Diagonal(d) => w.extend(block.gradient.iter().zip(d).map(|(g, d)| g / d)),
    }
}

/// z = x - w + A'mu / D, with `pulled` = A'mu.
#[inline]
fn move_block(block: &Block<'_>, w: &[f64], pulled: &[f64], z: &mut [f64]) {
    let values = z.iter_mut().zip(block.x).zip(w).zip(pulled);
    match block.metric {
        Metric::Isotropic(d) => {
            let inverse = 1.0 / d;
            values.for_each(|(((z, x), w), pulled)| *z = x - (w - pulled * inverse));
        }
        Metric::Diagonal(d) => {
            values.zip(d).for_each(|((((z, x), w), pulled), d)| *z = x - (w - pulled / d));
        }
    }
}

/// Takes what rounding left of A (z - x) out of z.
#[cold]
fn project_again(
    blocks: [Block<'_>; 2],
    factor: &Factor,
    lambda: &mut [f64],
    workspace: &mut Workspace,
    z: [&mut [f64]; 2],
) {
    let residual = &mut workspace.residual;
    residual.clear();
    residual.resize(lambda.len(), 0.0);
    for ((block, moved), z) in blocks.iter().zip(&mut workspace.scaled).zip(&z) {
        for ((d, z), x) in moved.iter_mut().zip(z.iter()).zip(block.x) {
            *d = z - x;
        }
        wide::accumulate(block.columns, moved, residual);
    }
    factor.solve(residual);
    kernels::axpy(1.0, residual, lambda);
    for (block, z) in blocks.iter().zip(z) {
        workspace.pulled.resize(block.x.len(), 0.0);
        wide::dots(block.columns, residual, &mut workspace.pulled);
        match block.metric {
            Metric::Isotropic(d) => kernels::axpy(-1.0 / d, &workspace.pulled, z),
            Metric::Diagonal(d) => {
                for ((z, pulled), d) in z.iter_mut().zip(&workspace.pulled).zip(d) {
                    *z -= pulled / d;
                }
            }
        }
    }
}
