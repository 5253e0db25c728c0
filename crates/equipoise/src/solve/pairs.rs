//! One update of Algorithm 1: read the gradients of a pair of blocks, solve the pair exactly, move it.
//!
//! | coupling, blocks, h | how the pair is solved |
//! |---|---|
//! | no rows | each coordinate in turn, with its own curvature |
//! | one row, scalars | closed form, with the exact curvature along the row |
//! | sum over blocks | closed form for every entry of the block |
//! | h = 0, any rows | one solve with a factor kept for the edge |
//! | everything else | one row: piecewise linear root; several rows or group norms: semismooth Newton |
//!
//! Knows nothing of which pair comes next. Allocates nothing once its buffers have grown.

use std::ops::Range;

use super::Settings;
use super::factor_cache::FactorCache;
use super::metric::Metric;
use super::subproblem::Subproblem;
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::pair_step::group::Group;
use crate::pair_step::scalar::{PairCurvature, two_scalars};
use crate::coupling::CouplingColumns;
use crate::pair_step::{Model, one_row, smooth_rows};
use crate::problem::Problem;
use crate::separable::{Nonsmooth, Piece, SeparableTerm, Values};
use crate::smooth::SmoothTerm;
use crate::state::State;

/// How pairs of this problem are solved.
#[derive(Debug)]
enum Kernel {
    Alone,
    ScalarRow,
    BlockSum(usize),
    Smooth(Box<FactorCache>),
    General,
}

/// Both blocks of a pair, one after the other.
#[derive(Debug, Default)]
struct Gathered {
    coordinates: Vec<usize>,
    x: Vec<f64>,
    gradient: Vec<f64>,
    metric: Vec<f64>,
    columns: Vec<f64>,
    z: Vec<f64>,
    groups: Vec<Group>,
}

/// Solves pairs of one problem.
#[derive(Debug)]
pub(crate) struct PairUpdater<'a, F, H> {
    problem: &'a Problem<F, H>,
    coupling: &'a Coupling,
    metric: Metric,
    kernel: Kernel,
    gathered: Gathered,
    smooth: smooth_rows::Workspace,
    one_row: one_row::Workspace,
    subproblem: Subproblem,
}

impl<'a, F: SmoothTerm, H: SeparableTerm> PairUpdater<'a, F, H> {
    pub(crate) fn new(problem: &'a Problem<F, H>, settings: &Settings) -> Self {
        let (coupling, blocks) = (problem.independent_coupling(), problem.blocks());
        let kernel = match (coupling.shape(), problem.separable()) {
            (Shape::None, Nonsmooth::Coordinates(_)) => Kernel::Alone,
            (Shape::Row(_), Nonsmooth::Coordinates(_)) if blocks.are_scalars() && blocks.len() > 1 => {
                Kernel::ScalarRow
            }
            (Shape::BlockSum, Nonsmooth::Coordinates(_))
                if blocks.are_uniform(coupling.rows()) && blocks.len() > 1 =>
            {
                Kernel::BlockSum(coupling.rows())
            }
            (_, Nonsmooth::Coordinates(h)) if h.is_zero() => {
                let cache = FactorCache::new(problem.graph(), coupling.rows(), settings.memory_budget);
                Kernel::Smooth(Box::new(cache))
            }
            _ => Kernel::General,
        };
        Self {
            problem,
            coupling,
            metric: Metric::new(problem, settings.step_size),
            kernel,
            gathered: Gathered::default(),
            smooth: smooth_rows::Workspace::default(),
            one_row: one_row::Workspace::default(),
            subproblem: Subproblem::default(),
        }
    }

    pub(crate) fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Moves blocks i and j (one block when they are equal) to the minimiser of their model.
    #[inline]
    pub(crate) fn update(&mut self, state: &mut State, i: usize, j: usize) -> Result<()> {
        match self.kernel {
            Kernel::ScalarRow => self.scalar_pair(state, i, j),
            Kernel::BlockSum(size) => {
                (0..size).try_for_each(|k| self.pair_on_row(state, [i * size + k, j * size + k], [1.0, 1.0]))
            }
            Kernel::Alone => {
                self.alone(state, i);
                if i != j {
                    self.alone(state, j);
                }
                Ok(())
            }
            Kernel::Smooth(_) => {
                self.smooth_pair(state, i, j);
                Ok(())
            }
            Kernel::General => {
                self.general_pair(state, i, j);
                Ok(())
            }
        }
    }

    #[inline]
    fn scalar_pair(&mut self, state: &mut State, i: usize, j: usize) -> Result<()> {
        let a = match self.coupling.shape() {
            Shape::Row(Values::Uniform(a)) => [*a, *a],
            _ => [self.coupling.column_dot(i, &[1.0]), self.coupling.column_dot(j, &[1.0])],
        };
        self.pair_on_row(state, [i, j], a)
    }

    /// Two scalars on one row, with the exact curvature of the majorant along it.
    #[inline]
    fn pair_on_row(&mut self, state: &mut State, c: [usize; 2], a: [f64; 2]) -> Result<()> {
        let f = self.problem.smooth();
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return Ok(()) };
        let x = [state.x[c[0]], state.x[c[1]]];
        let g = [f.partial(c[0], &state.x, &state.product), f.partial(c[1], &state.x, &state.product)];
        let curvature = self.pair_curvature(c);
        let z = match (h.piece(c[0]), h.piece(c[1])) {
            (Some(first), Some(second)) => two_scalars(x, g, a, curvature, [first, second])
                .map_err(|_| Error::Unbounded { coordinates: c.to_vec() })?,
            _ => {
                let floor = self.metric.diagonal(f, c[0]).min(self.metric.diagonal(f, c[1]));
                let metric = curvature.d.map(|d| d.max(floor));
                let model = Model { coordinates: &c, x: &x, gradient: &g, metric: &metric };
                one_row::two_scalars_by_prox(&model, a, curvature.cross, h, &mut self.one_row)
            }
        };
        state.set(f, c[0], z[0]);
        state.set(f, c[1], z[1]);
        Ok(())
    }

    #[inline]
    fn pair_curvature(&self, c: [usize; 2]) -> PairCurvature {
        let f = self.problem.smooth();
        let t = self.metric.inverse_step();
        let d = [t * f.curvature(c[0]), t * f.curvature(c[1])];
        match f.interaction(c[0], c[1]) {
            Some(cross) => PairCurvature { d, cross: t * cross },
            None => PairCurvature { d: d.map(|d| self.metric.pair_factor() * d), cross: 0.0 },
        }
    }

    /// The coordinates of one block that no row binds, one after the other.
    fn alone(&mut self, state: &mut State, i: usize) {
        let f = self.problem.smooth();
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return };
        for c in self.problem.blocks().coordinates(i) {
            let g = f.partial(c, &state.x, &state.product);
            let d = self.metric.inverse_step() * self.metric.diagonal(f, c);
            let z = h.piece(c).unwrap_or(Piece::FREE);
            let target = state.x[c] - g / d;
            let z = if h.piece(c).is_some() { z.prox(target, d) } else { h.prox(c, target, d) };
            state.set(f, c, z);
        }
    }

    fn smooth_pair(&mut self, state: &mut State, i: usize, j: usize) {
        self.gather(state, i, j);
        let (problem, coupling, metric) = (self.problem, self.coupling, &self.metric);
        let Kernel::Smooth(cache) = &mut self.kernel else { return };
        let factor_of_pair = if i == j { 1.0 } else { metric.pair_factor() };
        let factor = cache.factor(i, j, |block, gram| {
            for c in problem.blocks().coordinates(block) {
                coupling.add_outer(c, 1.0 / (factor_of_pair * metric.at(problem.smooth(), c, block)), gram);
            }
        });
        let gathered = &mut self.gathered;
        let (m, size) = (coupling.rows(), problem.blocks().size(i));
        self.subproblem.lambda.resize(m, 0.0);
        let total = gathered.x.len();
        let (first_z, second_z) = gathered.z.split_at_mut(size);
        let columns = |range: Range<usize>, block: usize| match dense_block(problem, coupling, block) {
            _ if range.is_empty() => &[], // a single block has no partner
            Some(columns) => columns,
            None => &gathered.columns[range.start * m..range.end * m],
        };
        let block = |range: Range<usize>, index: usize| smooth_rows::Block {
            columns: columns(range.clone(), index),
            x: &gathered.x[range.clone()],
            gradient: &gathered.gradient[range.clone()],
            metric: smooth_rows::Metric::Diagonal(&gathered.metric[range]),
        };
        let blocks = [block(0..size, i), block(size..total, j)];
        smooth_rows::step(blocks, factor, &mut self.subproblem.lambda, &mut self.smooth, [first_z, second_z]);
        self.scatter(state);
    }

    fn general_pair(&mut self, state: &mut State, i: usize, j: usize) {
        self.gather(state, i, j);
        let gathered = &mut self.gathered;
        let model = Model {
            coordinates: &gathered.coordinates,
            x: &gathered.x,
            gradient: &gathered.gradient,
            metric: &gathered.metric,
        };
        let columns = CouplingColumns::new(self.coupling, &gathered.coordinates);
        let separable = self.problem.separable();
        if self.subproblem.solve(&model, &columns, separable, &gathered.groups, &mut gathered.z) {
            self.scatter(state);
        }
    }

    /// Copies what the pair's model needs into one place.
    #[inline]
    fn gather(&mut self, state: &State, i: usize, j: usize) {
        let (f, blocks, m) = (self.problem.smooth(), self.problem.blocks(), self.coupling.rows());
        let gathered = &mut self.gathered;
        gathered.coordinates.clear();
        gathered.metric.clear();
        gathered.groups.clear();
        let pair_factor = if i == j { 1.0 } else { self.metric.pair_factor() };
        let pair = [i, j];
        for &block in if i == j { &pair[..1] } else { &pair[..] } {
            let from = gathered.coordinates.len();
            gathered.coordinates.extend(blocks.coordinates(block));
            let metric = &self.metric;
            let of = |&c: &usize| pair_factor * metric.at(f, c, block);
            gathered.metric.extend(gathered.coordinates[from..].iter().map(of));
            gathered.groups.push(Group { block, range: from..gathered.coordinates.len() });
        }
        let size = gathered.coordinates.len();
        gathered.x.clear();
        gathered.x.extend(gathered.coordinates.iter().map(|&c| state.x[c]));
        gathered.gradient.resize(size, 0.0);
        f.partials(&gathered.coordinates, &state.x, &state.product, &mut gathered.gradient);
        gathered.z.resize(size, 0.0);
        let in_place = dense_block(self.problem, self.coupling, i).is_some();
        if matches!(self.kernel, Kernel::Smooth(_)) && !in_place {
            gathered.columns.resize(size * m, 0.0);
            for (&c, column) in gathered.coordinates.iter().zip(gathered.columns.chunks_exact_mut(m)) {
                self.coupling.copy_column(c, column);
            }
        }
    }

    /// Moves the pair to its new values.
    #[inline]
    fn scatter(&mut self, state: &mut State) {
        let gathered = &mut self.gathered;
        for ((&c, z), x) in gathered.coordinates.iter().zip(&mut gathered.z).zip(&gathered.x) {
            state.x[c] = *z;
            *z -= x;
        }
        self.problem.smooth().add_all_to_product(&gathered.coordinates, &gathered.z, &mut state.product);
    }
}

/// The columns of a block where they lie contiguously in a dense A.
#[inline]
fn dense_block<'a, F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    coupling: &'a Coupling,
    block: usize,
) -> Option<&'a [f64]> {
    let Shape::Rows(Matrix::Dense(matrix)) = coupling.shape() else { return None };
    let span = problem.blocks().contiguous(block)?;
    Some(&matrix.values()[span.start * coupling.rows()..span.end * coupling.rows()])
}
