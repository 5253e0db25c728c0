//! One pair of contiguous blocks under dense rows, h = 0: read where they lie, moved as soon as they can be.
//!
//! ```text
//! read the master      mu = A_i w_i
//! read the slave       mu = M^-1 (mu + A_j w_j)
//!                      z_j = x_j - w_j + A_j'mu / D_j      move the slave
//!                      z_i = x_i - w_i + A_i'mu / D_i      move the master
//! ```
//!
//! with `w = g/D` ([`smooth_rows`]). What others do to the slave between its read and its move is not seen, so nothing
//! is waited for in between: columns and factor, where they may lie beyond the caches, are brought near before.
//!
//! Must not know: which pair it is, whether the iterate is its own or shared, what is kept of the factors.

use std::ops::Range;

use crate::coupling::{Coupling, Shape};
use crate::matrix::Matrix;
use crate::pair_step::Factor;
use crate::pair_step::smooth_rows::{self, Block, Metric};
use crate::problem::Blocks;
use crate::smooth::PairTerm;
use crate::state::{Iterate, Role};

/// A block whose coordinates and whose columns in a dense A are contiguous.
#[derive(Debug, Clone)]
pub(crate) struct DenseBlock<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) columns: &'a [f64],
}

impl<'a> DenseBlock<'a> {
    #[inline]
    pub(crate) fn of(blocks: &Blocks, coupling: &'a Coupling, block: usize) -> Option<Self> {
        let Shape::Rows(Matrix::Dense(matrix)) = coupling.shape() else { return None };
        let range = blocks.contiguous(block)?;
        let columns = &matrix.values()[range.start * coupling.rows()..range.end * coupling.rows()];
        Some(Self { range, columns })
    }
}

/// Memory that updates use again and again.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    gradient: Vec<f64>,
    z: Vec<f64>,
    mu: Vec<f64>,
    smooth: smooth_rows::Workspace,
}

/// Master and slave, and what is known of them.
#[derive(Debug)]
pub(crate) struct DensePair<'a> {
    pub(crate) blocks: [DenseBlock<'a>; 2],
    /// D of each, for step size 1.
    pub(crate) curvatures: [f64; 2],
    pub(crate) factor: &'a Factor,
    /// Whether columns and factor may lie beyond the caches.
    pub(crate) is_far: bool,
}

impl DensePair<'_> {
    pub(crate) fn update<F: PairTerm, S: Iterate>(
        self,
        f: &F,
        state: &mut S,
        step: f64,
        workspace: &mut Workspace,
    ) {
        let Self { blocks: [first, second], curvatures, factor, is_far } = self;
        let Workspace { gradient, z, mu, smooth } = workspace;
        let (size, total) = (first.range.len(), first.range.len() + second.range.len());
        gradient.resize(total, 0.0);
        z.resize(total, 0.0);
        mu.resize(factor.rows(), 0.0);
        let (of_master, of_slave) = gradient.split_at_mut(size);
        let (z_master, z_slave) = z.split_at_mut(size);

        if is_far {
            for (block, gradient) in [(&first, &mut *of_master), (&second, &mut *of_slave)] {
                state.touch(block.range.clone());
                if f.is_decomposable() {
                    // For what it reads; the gradient itself is not wanted yet.
                    f.range_partials(block.range.clone(), state.x(), state.product(), gradient);
                }
            }
            [first.columns, second.columns, factor.numbers()].into_iter().for_each(smooth_rows::warm);
        }
        state.fetch(f, Role::Master, first.range.clone());
        f.range_partials(first.range.clone(), state.x(), state.product(), of_master);
        let master = block(&first, state, of_master, curvatures[0]);
        smooth_rows::begin(&master, mu, smooth);

        state.fetch(f, Role::Slave, second.range.clone());
        f.range_partials(second.range.clone(), state.x(), state.product(), of_slave);
        let slave = block(&second, state, of_slave, curvatures[1]);
        let master = block(&first, state, of_master, curvatures[0]);
        smooth_rows::balance(&slave, factor, mu, smooth);
        if smooth_rows::is_delicate([&master, &slave], smooth) {
            smooth_rows::finish([master, slave], factor, mu, smooth, [&mut *z_master, &mut *z_slave]);
            shorten(step, slave.x, z_slave);
            shorten(step, master.x, z_master);
            state.set_block(f, Role::Slave, second.range, z_slave);
        } else {
            smooth_rows::pull(&slave, 1, mu, smooth, z_slave);
            shorten(step, slave.x, z_slave);
            state.set_block(f, Role::Slave, second.range, z_slave);
            let master = block(&first, state, of_master, curvatures[0]);
            smooth_rows::pull(&master, 0, mu, smooth, z_master);
            shorten(step, master.x, z_master);
        }
        state.set_block(f, Role::Master, first.range, z_master);
    }
}

#[inline]
fn block<'b, S: Iterate>(
    dense: &DenseBlock<'b>,
    state: &'b S,
    gradient: &'b [f64],
    curvature: f64,
) -> Block<'b> {
    let x = &state.x()[dense.range.clone()];
    Block { columns: dense.columns, x, gradient, metric: Metric::Isotropic(curvature) }
}

/// Goes only a share of the way from x to z.
#[inline]
pub(crate) fn shorten(step: f64, x: &[f64], z: &mut [f64]) {
    if step != 1.0 {
        z.iter_mut().zip(x).for_each(|(z, x)| *z = x + step * (*z - x));
    }
}
