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
use crate::coupling::CouplingColumns;
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::pair_step::group::Group;
use crate::pair_step::scalar::{PairCurvature, balanced_curvature, balanced_scalars, two_scalars};
use crate::pair_step::{Model, one_row, smooth_rows};
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm, Values};
use crate::smooth::SmoothTerm;
use crate::state::State;

/// How pairs of this problem are solved.
#[derive(Debug)]
enum Kernel {
    Alone,
    /// Scalars with equal coefficients and bounds at most; one over the curvature of every pair where f is a sum
    /// of equally curved scalars.
    BalancedScalars(Option<f64>),
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
        let metric = Metric::new(problem, settings.step_size);
        let kernel = match (coupling.shape(), problem.separable()) {
            (Shape::None, Nonsmooth::Coordinates(_)) => Kernel::Alone,
            (Shape::Row(a), Nonsmooth::Coordinates(h)) if blocks.are_scalars() && blocks.len() > 1 => {
                let bounded = |c| h.piece(c).is_some_and(|piece| piece.l1 == 0.0 && piece.l2 == 0.0);
                let balanced = a.len().is_none() && (0..blocks.len()).all(bounded);
                let alike = metric.uniform().filter(|_| problem.smooth().is_decomposable());
                let inverse = alike.map(|d| 0.5 / d);
                if balanced { Kernel::BalancedScalars(inverse) } else { Kernel::ScalarRow }
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
            metric,
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
            Kernel::BalancedScalars(inverse) => self.balanced_pair(state, i, j, inverse),
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

    /// The hottest loop of all: what the one takes the other gives.
    #[inline]
    fn balanced_pair(&mut self, state: &mut State, i: usize, j: usize, inverse: Option<f64>) -> Result<()> {
        let f = self.problem.smooth();
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return Ok(()) };
        let slope = f.partial(j, &state.x, &state.product) - f.partial(i, &state.x, &state.product);
        let step = match inverse {
            Some(inverse) => slope * inverse,
            None => match balanced_curvature(self.pair_curvature([i, j])) {
                Some(eta) => slope / eta,
                None => return self.scalar_pair(state, i, j),
            },
        };
        let z = balanced_scalars([state.x[i], state.x[j]], step, [h.domain(i), h.domain(j)]);
        state.set(f, i, z[0]);
        state.set(f, j, z[1]);
        Ok(())
    }

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
        let g = [f.partial(c[0], &state.x, &state.product), f.partial(c[1], &state.x, &state.product)];
        self.pair_with_gradient(state, c, a, g).map(|_| ())
    }

    /// The same for whoever knows the partial derivatives g already; returns by how much each scalar moved.
    #[inline]
    pub(crate) fn pair_with_gradient(
        &mut self,
        state: &mut State,
        c: [usize; 2],
        a: [f64; 2],
        g: [f64; 2],
    ) -> Result<[f64; 2]> {
        let f = self.problem.smooth();
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return Ok([0.0; 2]) };
        let x = [state.x[c[0]], state.x[c[1]]];
        let mut curvature = self.pair_curvature(c);
        if a[0] == a[1] && balanced_curvature(curvature).is_none() {
            // What the two have in common cancels along the row, what is their own does not.
            let own = c.map(|c| self.metric.inverse_step() * f.own_curvature(c));
            if own[0] + own[1] > 0.0 {
                curvature = PairCurvature { d: own, cross: 0.0 };
            }
        }
        let z = if let (Some(first), Some(second)) = (h.piece(c[0]), h.piece(c[1])) {
            two_scalars(x, g, a, curvature, [first, second])
                .map_err(|_| Error::Unbounded { coordinates: c.to_vec() })?
        } else {
            let floor = self.metric.diagonal(f, c[0]).min(self.metric.diagonal(f, c[1]));
            let metric = curvature.d.map(|d| d.max(floor));
            let model = Model { coordinates: &c, x: &x, gradient: &g, metric: &metric };
            one_row::two_scalars_by_prox(&model, a, curvature.cross, h, &mut self.one_row)
        };
        state.set(f, c[0], z[0]);
        state.set(f, c[1], z[1]);
        Ok([z[0] - x[0], z[1] - x[1]])
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
    pub(crate) fn alone(&mut self, state: &mut State, i: usize) {
        let f = self.problem.smooth();
        let Nonsmooth::Coordinates(h) = self.problem.separable() else { return };
        for c in self.problem.blocks().coordinates(i) {
            let g = f.partial(c, &state.x, &state.product);
            let d = self.metric.inverse_step() * self.metric.diagonal(f, c);
            let z = h.prox(c, state.x[c] - g / d, d);
            state.set(f, c, z);
        }
    }

    /// h = 0: the blocks in place where they are contiguous, gathered otherwise.
    fn smooth_pair(&mut self, state: &mut State, i: usize, j: usize) {
        let (problem, coupling, metric) = (self.problem, self.coupling, &self.metric);
        let in_place = [dense_block(problem, coupling, i), dense_block(problem, coupling, j)];
        let Kernel::Smooth(cache) = &mut self.kernel else { return };
        let pair_factor = if i == j { 1.0 } else { metric.pair_factor() };
        let factor = cache.factor(i, j, |block, gram| {
            for c in problem.blocks().coordinates(block) {
                coupling.add_outer(c, 1.0 / (pair_factor * metric.at(problem.smooth(), c, block)), gram);
            }
        });
        self.subproblem.lambda.resize(coupling.rows(), 0.0);
        if let ([Some(first), Some(second)], Some(d), true) = (in_place, metric.uniform(), i != j) {
            let f = problem.smooth();
            let gathered = &mut self.gathered;
            let total = first.range.len() + second.range.len();
            gathered.gradient.resize(total, 0.0);
            gathered.z.resize(total, 0.0);
            let (g, h) = gathered.gradient.split_at_mut(first.range.len());
            f.range_partials(first.range.clone(), &state.x, &state.product, g);
            f.range_partials(second.range.clone(), &state.x, &state.product, h);
            let block = |part: &DenseBlock<'a>, gradient| smooth_rows::Block {
                columns: part.columns,
                x: &state.x[part.range.clone()],
                gradient,
                metric: smooth_rows::Metric::Isotropic(pair_factor * d),
            };
            let blocks = [block(&first, &*g), block(&second, &*h)];
            let (z, w) = gathered.z.split_at_mut(first.range.len());
            let lambda = &mut self.subproblem.lambda;
            smooth_rows::step(blocks, factor, lambda, &mut self.smooth, [&mut *z, &mut *w]);
            state.set_range(f, first.range, z);
            state.set_range(f, second.range, w);
            return;
        }
        gather(&mut self.gathered, problem, coupling, metric, state, [i, j]);
        let (gathered, m, size) = (&mut self.gathered, coupling.rows(), problem.blocks().size(i));
        let total = gathered.x.len();
        let (first_z, second_z) = gathered.z.split_at_mut(size);
        let block = |range: Range<usize>| smooth_rows::Block {
            columns: &gathered.columns[range.start * m..range.end * m],
            x: &gathered.x[range.clone()],
            gradient: &gathered.gradient[range.clone()],
            metric: smooth_rows::Metric::Diagonal(&gathered.metric[range]),
        };
        let blocks = [block(0..size), block(size..total)];
        smooth_rows::step(blocks, factor, &mut self.subproblem.lambda, &mut self.smooth, [first_z, second_z]);
        self.scatter(state);
    }

    fn general_pair(&mut self, state: &mut State, i: usize, j: usize) {
        gather(&mut self.gathered, self.problem, self.coupling, &self.metric, state, [i, j]);
        let gathered = &mut self.gathered;
        let model = Model {
            coordinates: &gathered.coordinates,
            x: &gathered.x,
            gradient: &gathered.gradient,
            metric: &gathered.metric,
        };
        let columns = CouplingColumns::new(self.coupling, &gathered.coordinates);
        let separable = self.problem.separable();
        if self.subproblem.solve(&model, &columns, separable, &gathered.groups, &mut gathered.z, &|| false) {
            self.scatter(state);
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

/// Copies what the pair's model needs into one place.
fn gather<F: SmoothTerm, H: SeparableTerm>(
    gathered: &mut Gathered,
    problem: &Problem<F, H>,
    coupling: &Coupling,
    metric: &Metric,
    state: &State,
    pair: [usize; 2],
) {
    let (f, blocks, m) = (problem.smooth(), problem.blocks(), coupling.rows());
    let (list, pair_factor) =
        if pair[0] == pair[1] { (&pair[..1], 1.0) } else { (&pair[..], metric.pair_factor()) };
    gathered.coordinates.clear();
    gathered.metric.clear();
    gathered.groups.clear();
    for &block in list {
        let from = gathered.coordinates.len();
        gathered.coordinates.extend(blocks.coordinates(block));
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
    gathered.columns.resize(size * m, 0.0);
    for (&c, column) in gathered.coordinates.iter().zip(gathered.columns.chunks_exact_mut(m.max(1))) {
        coupling.copy_column(c, column);
    }
}

/// A block whose coordinates and whose columns in a dense A are contiguous.
#[derive(Debug, Clone)]
struct DenseBlock<'a> {
    range: Range<usize>,
    columns: &'a [f64],
}

#[inline]
fn dense_block<'a, F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    coupling: &'a Coupling,
    block: usize,
) -> Option<DenseBlock<'a>> {
    let Shape::Rows(Matrix::Dense(matrix)) = coupling.shape() else { return None };
    let range = problem.blocks().contiguous(block)?;
    let columns = &matrix.values()[range.start * coupling.rows()..range.end * coupling.rows()];
    Some(DenseBlock { range, columns })
}
