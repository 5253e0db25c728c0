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
//! The first block of a pair is the master, the second the slave: the master is read first and moved last
//! ([`Iterate`]). Knows nothing of which pair comes next, nor whether the iterate is its own or shared. Allocates
//! nothing once its buffers have grown.

pub(crate) mod dense_pair;
pub(crate) mod factor_cache;
pub(crate) mod metric;
pub(crate) mod stepper;
pub(crate) mod subproblem;

use std::ops::Range;

use crate::archive::Archive;
use crate::coupling::CouplingColumns;
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::pair_step::group::Group;
use crate::pair_step::scalar::{PairCurvature, Unbounded, balanced_curvature, balanced_scalars, two_scalars};
use crate::pair_step::{Model, one_row, smooth_rows};
use crate::problem::{Blocks, Problem};
use crate::separable::{GroupL2, Nonsmooth, SeparableTerm, Values};
use crate::smooth::{PairTerm, SmoothTerm};
use crate::solve::Settings;
use crate::solve::pairs::dense_pair::{DenseBlock, DensePair, shorten};
use crate::solve::pairs::factor_cache::FactorCache;
use crate::solve::pairs::metric::Metric;
use crate::solve::pairs::subproblem::Subproblem;
use crate::state::{Iterate, Role};

/// Numbers in A from which on they are taken to lie beyond the caches.
const FAR: usize = 1 << 20;

/// How pairs of this problem are solved, each kind with the h it was made for.
#[derive(Debug)]
enum Kernel<'a, H> {
    Alone(&'a H),
    /// Scalars with equal coefficients and bounds at most; one over the curvature of every pair where f is a sum
    /// of equally curved scalars, for step size 1.
    BalancedScalars(&'a H, Option<f64>),
    ScalarRow(&'a H),
    BlockSum(&'a H, usize),
    Smooth(Box<FactorCache>),
    General(Nonsmooth<&'a H, &'a GroupL2>),
}

impl<H> Kernel<'_, H> {
    /// The same kernel for another thread.
    fn fork(&self) -> Self {
        match self {
            Self::Alone(h) => Self::Alone(h),
            Self::BalancedScalars(h, inverse) => Self::BalancedScalars(h, *inverse),
            Self::ScalarRow(h) => Self::ScalarRow(h),
            Self::BlockSum(h, size) => Self::BlockSum(h, *size),
            Self::Smooth(cache) => Self::Smooth(Box::new(cache.fork())),
            Self::General(Nonsmooth::Coordinates(h)) => Self::General(Nonsmooth::Coordinates(h)),
            Self::General(Nonsmooth::Groups(h)) => Self::General(Nonsmooth::Groups(h)),
        }
    }
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

/// Two coordinates on one row, in two blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnRow {
    pub(crate) row: usize,
    /// The blocks.
    pub(crate) pair: [usize; 2],
    /// The coordinates.
    pub(crate) c: [usize; 2],
    /// Their coefficients.
    pub(crate) a: [f64; 2],
}

/// Solves pairs of one problem, for any f whose curvature its metric was made for: the f of the problem, or one that
/// stands in for it (with a proximal term, or an estimate of its gradient).
#[derive(Debug)]
pub(crate) struct PairUpdater<'a, H> {
    kernel: Kernel<'a, H>,
    bench: Bench<'a>,
}

/// What every kernel works with: what a pair is made of, and memory.
#[derive(Debug)]
struct Bench<'a> {
    blocks: &'a Blocks,
    coupling: &'a Coupling,
    metric: Metric,
    gathered: Gathered,
    smooth: smooth_rows::Workspace,
    dense: dense_pair::Workspace,
    one_row: one_row::Workspace,
    subproblem: Subproblem,
    /// Whether dense columns of A may lie beyond the caches.
    is_far: bool,
    /// Whether the objective is known never to fall for ever.
    has_floor: bool,
}

impl<'a, H: SeparableTerm> PairUpdater<'a, H> {
    pub(crate) fn new<F: SmoothTerm>(problem: &'a Problem<F, H>, settings: &Settings) -> Self {
        Self::with_metric(problem, settings, Metric::new(problem.view(), settings.step_size))
    }

    /// With a metric that was made for the problem.
    pub(crate) fn with_metric<F: SmoothTerm>(
        problem: &'a Problem<F, H>,
        settings: &Settings,
        metric: Metric,
    ) -> Self {
        Self::standing_in(problem, problem.smooth(), settings, metric)
    }

    /// For an f that stands in for that of the problem, with a metric made for it.
    pub(crate) fn standing_in<F: SmoothTerm, G: PairTerm>(
        problem: &'a Problem<F, H>,
        f: &G,
        settings: &Settings,
        metric: Metric,
    ) -> Self {
        let (coupling, blocks) = (problem.independent_coupling(), problem.blocks());
        let kernel = match (coupling.shape(), problem.separable()) {
            (Shape::None, Nonsmooth::Coordinates(h)) => Kernel::Alone(h),
            (Shape::Row(a), Nonsmooth::Coordinates(h)) if blocks.are_scalars() && blocks.len() > 1 => {
                let bounded = |c| h.piece(c).is_some_and(|piece| piece.l1 == 0.0 && piece.l2 == 0.0);
                let balanced = a.len().is_none() && (0..blocks.len()).all(bounded);
                let alike = metric.uniform_at_full_step().filter(|_| f.is_decomposable());
                let inverse = alike.map(|d| 0.5 / d);
                if balanced { Kernel::BalancedScalars(h, inverse) } else { Kernel::ScalarRow(h) }
            }
            (Shape::BlockSum, Nonsmooth::Coordinates(h))
                if blocks.are_uniform(coupling.rows()) && blocks.len() > 1 =>
            {
                Kernel::BlockSum(h, coupling.rows())
            }
            (_, Nonsmooth::Coordinates(h)) if h.is_zero() => {
                let cache = FactorCache::new(problem.graph(), coupling.rows(), settings.memory_budget);
                Kernel::Smooth(Box::new(cache))
            }
            (_, separable) => Kernel::General(separable.as_ref()),
        };
        let has_floor = problem.view().has_floor();
        Self { kernel, bench: Bench { has_floor, ..Bench::new(blocks, coupling, metric) } }
    }

    /// The same for another thread; what is kept for the edges is shared.
    pub(crate) fn fork(&self) -> Self {
        let Bench { blocks, coupling, metric, has_floor, .. } = &self.bench;
        let bench = Bench { has_floor: *has_floor, ..Bench::new(blocks, coupling, metric.clone()) };
        Self { kernel: self.kernel.fork(), bench }
    }

    pub(crate) fn metric(&self) -> &Metric {
        &self.bench.metric
    }

    /// Changes the step size.
    pub(crate) fn set_step(&mut self, step_size: f64) {
        self.bench.metric.set_step(step_size);
    }

    /// Shows an archive what later pairs depend on: the step size, and the multipliers that the next pair begins at.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let rows = self.bench.coupling.rows();
        self.bench.metric.carry(archive)?;
        archive.list(&mut self.bench.subproblem.lambda, |length| length == 0 || length == rows)
    }

    /// Whether a pair is more than two scalars on a row, with h or without.
    pub(crate) fn moves_gathered(&self) -> bool {
        matches!(self.kernel, Kernel::General(_))
    }

    /// Makes the kept factors of the `part`-th of `parts` shares of the edges, until told to stop.
    pub(crate) fn prepare<F: PairTerm>(&mut self, f: &F, part: usize, parts: usize, stop: &dyn Fn() -> bool) {
        let Bench { blocks, coupling, metric, .. } = &self.bench;
        if let Kernel::Smooth(cache) = &mut self.kernel {
            for (i, j) in cache.kept_pairs(part, parts) {
                if stop() {
                    return;
                }
                cache.factor(i, j, |block, gram| add_gram(f, blocks, coupling, metric, i == j, block, gram));
            }
        }
    }

    /// Moves blocks i and j (one block when they are equal) to the minimiser of their model.
    #[inline]
    pub(crate) fn update<F: PairTerm, S: Iterate>(
        &mut self,
        f: &F,
        state: &mut S,
        i: usize,
        j: usize,
    ) -> Result<()> {
        if !state.begin(i, j) {
            return Ok(());
        }
        let bench = &mut self.bench;
        let outcome = match &mut self.kernel {
            Kernel::BalancedScalars(h, inverse) => bench.balanced_pair(*h, f, state, [i, j], *inverse),
            Kernel::ScalarRow(h) => bench.scalar_pair(*h, f, state, [i, j]),
            Kernel::BlockSum(h, size) => bench.block_sum(*h, f, state, [i, j], *size),
            Kernel::Alone(h) => {
                bench.alone(*h, f, state, Role::Master, i);
                if i != j {
                    bench.alone(*h, f, state, Role::Slave, j);
                }
                Ok(())
            }
            Kernel::Smooth(cache) => {
                bench.smooth_pair(cache, f, state, i, j);
                Ok(())
            }
            Kernel::General(separable) => {
                bench.general_pair(*separable, f, state, i, j);
                Ok(())
            }
        };
        state.end();
        outcome
    }

    /// Two scalars on one row with partial derivatives g, under the h of the problem; returns by how much each moved.
    #[inline]
    pub(crate) fn pair_with_gradient<F: PairTerm, S: Iterate>(
        &mut self,
        h: &H,
        f: &F,
        state: &mut S,
        place: OnRow,
        g: [f64; 2],
    ) -> Result<[f64; 2]> {
        self.bench.pair_with_gradient(h, f, state, place, g)
    }
}

impl<'a> Bench<'a> {
    fn new(blocks: &'a Blocks, coupling: &'a Coupling, metric: Metric) -> Self {
        let is_far =
            matches!(coupling.shape(), Shape::Rows(Matrix::Dense(matrix)) if matrix.values().len() >= FAR);
        Self {
            blocks,
            coupling,
            metric,
            gathered: Gathered::default(),
            smooth: smooth_rows::Workspace::default(),
            dense: dense_pair::Workspace::default(),
            one_row: one_row::Workspace::default(),
            subproblem: Subproblem::default(),
            is_far,
            has_floor: false,
        }
    }

    /// The hottest loop of all: what the one takes the other gives.
    #[inline]
    fn balanced_pair<H: SeparableTerm, F: PairTerm, S: Iterate>(
        &mut self,
        h: &H,
        f: &F,
        state: &mut S,
        [i, j]: [usize; 2],
        inverse: Option<f64>,
    ) -> Result<()> {
        state.fetch(f, Role::Master, std::iter::once(i));
        let of_master = f.partial(i, state.x(), state.product());
        state.fetch(f, Role::Slave, std::iter::once(j));
        let of_slave = f.partial(j, state.x(), state.product());
        let slope = of_slave - of_master;
        let a = self.coupling.uniform_row().unwrap_or(1.0);
        let step = if let Some(inverse) = inverse {
            slope * inverse * self.metric.step()
        } else {
            let Some(eta) = balanced_curvature(self.pair_curvature(f, [i, j], [i, j])) else {
                let place = OnRow { row: 0, pair: [i, j], c: [i, j], a: [a, a] };
                return self.pair_with_gradient(h, f, state, place, [of_master, of_slave]).map(|_| ());
            };
            slope / eta
        };
        let x = state.x();
        let z = balanced_scalars([x[i], x[j]], step, [h.domain(i), h.domain(j)]);
        state.exchange(f, 0, [i, j], [a, a], z);
        Ok(())
    }

    fn scalar_pair<H: SeparableTerm, F: PairTerm, S: Iterate>(
        &mut self,
        h: &H,
        f: &F,
        state: &mut S,
        [i, j]: [usize; 2],
    ) -> Result<()> {
        let a = match self.coupling.shape() {
            Shape::Row(Values::Uniform(a)) => [*a, *a],
            _ => [self.coupling.column_dot(i, &[1.0]), self.coupling.column_dot(j, &[1.0])],
        };
        state.fetch(f, Role::Master, std::iter::once(i));
        let of_master = f.partial(i, state.x(), state.product());
        state.fetch(f, Role::Slave, std::iter::once(j));
        let of_slave = f.partial(j, state.x(), state.product());
        let place = OnRow { row: 0, pair: [i, j], c: [i, j], a };
        self.pair_with_gradient(h, f, state, place, [of_master, of_slave]).map(|_| ())
    }

    /// Entry after entry of two blocks, each on its own row.
    fn block_sum<H: SeparableTerm, F: PairTerm, S: Iterate>(
        &mut self,
        h: &H,
        f: &F,
        state: &mut S,
        [i, j]: [usize; 2],
        size: usize,
    ) -> Result<()> {
        state.fetch(f, Role::Master, i * size..(i + 1) * size);
        state.fetch(f, Role::Slave, j * size..(j + 1) * size);
        for row in 0..size {
            let c = [i * size + row, j * size + row];
            let g = c.map(|c| f.partial(c, state.x(), state.product()));
            self.pair_with_gradient(h, f, state, OnRow { row, pair: [i, j], c, a: [1.0; 2] }, g)?;
        }
        Ok(())
    }

    /// Two scalars on one row with partial derivatives g, with the exact curvature of the majorant along the row;
    /// returns by how much each scalar moved.
    #[inline]
    fn pair_with_gradient<H: SeparableTerm, F: PairTerm, S: Iterate>(
        &mut self,
        h: &H,
        f: &F,
        state: &mut S,
        place: OnRow,
        g: [f64; 2],
    ) -> Result<[f64; 2]> {
        let OnRow { row, pair, c, a } = place;
        let x = [state.x()[c[0]], state.x()[c[1]]];
        let mut curvature = self.pair_curvature(f, c, pair);
        if a[0] == a[1] && balanced_curvature(curvature).is_none() {
            // What the two have in common cancels along the row, what is their own does not.
            let own = c.map(|c| self.metric.inverse_step() * f.own_curvature(c));
            if own[0] + own[1] > 0.0 {
                curvature = PairCurvature { d: own, cross: 0.0 };
            }
        }
        let z = if let (Some(first), Some(second)) = (h.piece(c[0]), h.piece(c[1])) {
            match two_scalars(x, g, a, curvature, [first, second]) {
                Ok(z) => z,
                // Curvature that underflowed: nothing moves.
                Err(Unbounded) if self.has_floor => return Ok([0.0; 2]),
                Err(Unbounded) => return Err(Error::Unbounded { coordinates: c.to_vec() }),
            }
        } else {
            let floor = self.metric.diagonal(f, c[0]).min(self.metric.diagonal(f, c[1]));
            let metric = curvature.d.map(|d| d.max(floor));
            let model = Model { coordinates: &c, x: &x, gradient: &g, metric: &metric };
            one_row::two_scalars_by_prox(&model, a, curvature.cross, h, &mut self.one_row)
        };
        Ok(state.exchange(f, row, c, a, z))
    }

    #[inline]
    fn pair_curvature<F: PairTerm>(&self, f: &F, c: [usize; 2], pair: [usize; 2]) -> PairCurvature {
        let t = self.metric.inverse_step();
        let d = [
            t * self.metric.factor(pair[0]) * f.curvature(c[0]),
            t * self.metric.factor(pair[1]) * f.curvature(c[1]),
        ];
        match f.interaction(c[0], c[1]) {
            Some(cross) => PairCurvature { d, cross: t * cross },
            None => PairCurvature { d: d.map(|d| self.metric.pair_factor() * d), cross: 0.0 },
        }
    }

    /// The coordinates of one block that no row binds, one after the other.
    fn alone<H: SeparableTerm, F: PairTerm, S: Iterate>(
        &mut self,
        h: &H,
        f: &F,
        state: &mut S,
        role: Role,
        i: usize,
    ) {
        state.fetch(f, role, self.blocks.coordinates(i));
        for c in self.blocks.coordinates(i) {
            let g = f.partial(c, state.x(), state.product());
            let d = self.metric.inverse_step() * self.metric.factor(i) * self.metric.diagonal(f, c);
            let z = h.prox(c, state.x()[c] - g / d, d);
            state.set(f, c, z);
        }
    }

    /// h = 0: the blocks in place where they are contiguous, gathered otherwise.
    fn smooth_pair<F: PairTerm, S: Iterate>(
        &mut self,
        cache: &mut FactorCache,
        f: &F,
        state: &mut S,
        i: usize,
        j: usize,
    ) {
        let (blocks, coupling, metric) = (self.blocks, self.coupling, &self.metric);
        let pair_factor = if i == j { 1.0 } else { metric.pair_factor() };
        // The factor is that of step size 1: the move scales with the step, the factor need not.
        let add_gram =
            |block: usize, gram: &mut [f64]| add_gram(f, blocks, coupling, metric, i == j, block, gram);
        let factor = cache.factor(i, j, add_gram);
        let in_place = |i| Some((DenseBlock::of(blocks, coupling, i)?, metric.of_block_at_full_step(i)?));
        if i != j
            && let (Some((first, d_first)), Some((second, d_second))) = (in_place(i), in_place(j))
        {
            let pair = DensePair {
                blocks: [first, second],
                curvatures: [d_first, d_second].map(|d| pair_factor * d),
                factor,
                is_far: self.is_far,
            };
            return pair.update(f, state, metric.step(), &mut self.dense);
        }
        self.subproblem.lambda.resize(coupling.rows(), 0.0);
        gather(&mut self.gathered, f, blocks, coupling, metric, state, [i, j], true);
        let (gathered, m, size) = (&mut self.gathered, coupling.rows(), blocks.size(i));
        let total = gathered.x.len();
        let (first_z, second_z) = gathered.z.split_at_mut(size);
        let block = |range: Range<usize>| smooth_rows::Block {
            columns: &gathered.columns[range.start * m..range.end * m],
            x: &gathered.x[range.clone()],
            gradient: &gathered.gradient[range.clone()],
            metric: smooth_rows::Metric::Diagonal(&gathered.metric[range]),
        };
        let pair = [block(0..size), block(size..total)];
        smooth_rows::step(pair, factor, &mut self.subproblem.lambda, &mut self.smooth, [first_z, second_z]);
        shorten(metric.step(), &gathered.x, &mut gathered.z);
        self.scatter(f, state, i);
    }

    fn general_pair<H: SeparableTerm, F: PairTerm, S: Iterate>(
        &mut self,
        separable: Nonsmooth<&H, &GroupL2>,
        f: &F,
        state: &mut S,
        i: usize,
        j: usize,
    ) {
        gather(&mut self.gathered, f, self.blocks, self.coupling, &self.metric, state, [i, j], false);
        let gathered = &mut self.gathered;
        let model = Model {
            coordinates: &gathered.coordinates,
            x: &gathered.x,
            gradient: &gathered.gradient,
            metric: &gathered.metric,
        };
        let columns = CouplingColumns::new(self.coupling, &gathered.coordinates);
        if self.subproblem.solve(&model, &columns, separable, &gathered.groups, &mut gathered.z, &|| false) {
            self.scatter(f, state, i);
        }
    }

    /// Moves the pair to its new values.
    #[inline]
    fn scatter<F: PairTerm, S: Iterate>(&mut self, f: &F, state: &mut S, i: usize) {
        let (gathered, masters) = (&mut self.gathered, self.blocks.size(i));
        state.set_gathered(f, &gathered.coordinates, masters, &mut gathered.z);
    }
}

/// `gram += A_i A_i'/D_i` of one block of a pair, for step size 1.
fn add_gram<F: PairTerm>(
    f: &F,
    blocks: &Blocks,
    coupling: &Coupling,
    metric: &Metric,
    alone: bool,
    block: usize,
    gram: &mut [f64],
) {
    let pair_factor = if alone { 1.0 } else { metric.pair_factor() };
    if let (Some(dense), Some(d)) =
        (DenseBlock::of(blocks, coupling, block), metric.of_block_at_full_step(block))
    {
        return smooth_rows::add_gram(dense.columns, coupling.rows(), pair_factor * d, gram);
    }
    for c in blocks.coordinates(block) {
        let d = pair_factor * metric.at_full_step(f, c, block);
        coupling.add_outer(c, 1.0 / d, gram);
    }
}

/// Copies what the pair's model needs into one place.
#[expect(
    clippy::too_many_arguments,
    reason = "the parts of a pair updater that it may read while the rest moves"
)]
fn gather<F: PairTerm, S: Iterate>(
    gathered: &mut Gathered,
    f: &F,
    blocks: &Blocks,
    coupling: &Coupling,
    metric: &Metric,
    state: &mut S,
    pair: [usize; 2],
    at_full_step: bool,
) {
    let m = coupling.rows();
    let (list, pair_factor) =
        if pair[0] == pair[1] { (&pair[..1], 1.0) } else { (&pair[..], metric.pair_factor()) };
    gathered.coordinates.clear();
    gathered.metric.clear();
    gathered.groups.clear();
    for (&block, role) in list.iter().zip([Role::Master, Role::Slave]) {
        state.fetch(f, role, blocks.coordinates(block));
        let from = gathered.coordinates.len();
        gathered.coordinates.extend(blocks.coordinates(block));
        let of = |&c: &usize| {
            pair_factor * if at_full_step { metric.at_full_step(f, c, block) } else { metric.at(f, c, block) }
        };
        gathered.metric.extend(gathered.coordinates[from..].iter().map(of));
        gathered.groups.push(Group { block, range: from..gathered.coordinates.len() });
    }
    let size = gathered.coordinates.len();
    gathered.x.clear();
    gathered.x.extend(gathered.coordinates.iter().map(|&c| state.x()[c]));
    gathered.gradient.resize(size, 0.0);
    f.partials(&gathered.coordinates, state.x(), state.product(), &mut gathered.gradient);
    gathered.z.resize(size, 0.0);
    gathered.columns.resize(size * m, 0.0);
    for (&c, column) in gathered.coordinates.iter().zip(gathered.columns.chunks_exact_mut(m.max(1))) {
        coupling.copy_column(c, column);
    }
}
