//! What to draw: the kinds of f, h, A and blocks, and optional sizes.

use super::draft::Draft;
use super::draw::Draw;
use super::{coupling, separable, shape, smooth};
use crate::instance::Instance;
use crate::loss::LossKind;
pub(super) use crate::penalty::PenaltyKind as SeparableKind;

/// The kinds of f.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SmoothKind {
    Quadratic,
    Factor,
    Loss(LossKind),
    Distance,
    Linear,
    Sum,
}

/// The kinds of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CouplingKind {
    None,
    Sum,
    BlockSum,
    Row,
    Rows,
    SparseRows,
}

/// The kinds of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlocksKind {
    Auto,
    Size,
    Boundaries,
}

impl SmoothKind {
    pub(super) const LEAST_SQUARES: Self = Self::Loss(LossKind::LeastSquares);
    pub(super) const LOGISTIC: Self = Self::Loss(LossKind::Logistic);
    pub(super) const SQUARED_HINGE: Self = Self::Loss(LossKind::SquaredHinge);
    pub(super) const HUBER: Self = Self::Loss(LossKind::Huber);

    /// Every kind. Losses that came later come last, so that the others keep their seeds.
    pub(super) fn all() -> Vec<Self> {
        let (first, later) = LossKind::ALL.split_at(4);
        let losses = |list: &[LossKind]| list.iter().copied().map(Self::Loss).collect::<Vec<_>>();
        let lists = [
            vec![Self::Quadratic, Self::Factor],
            losses(first),
            vec![Self::Distance, Self::Linear, Self::Sum],
            losses(later),
        ];
        lists.concat()
    }
}

impl CouplingKind {
    pub(super) const ALL: [Self; 6] =
        [Self::None, Self::Sum, Self::BlockSum, Self::Row, Self::Rows, Self::SparseRows];
}

impl BlocksKind {
    pub(super) const ALL: [Self; 3] = [Self::Auto, Self::Size, Self::Boundaries];
}

/// Kinds, and the sizes that are not left to chance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    pub(super) smooth: SmoothKind,
    pub(super) separable: SeparableKind,
    pub(super) coupling: CouplingKind,
    pub(super) blocks: BlocksKind,
    /// About how many coordinates; exact for automatic blocks.
    pub(super) dimension: Option<usize>,
    /// How many rows, for those kinds of A that have several.
    pub(super) rows: Option<usize>,
    /// The block size, for uniform blocks.
    pub(super) block: Option<usize>,
    /// Whether f is flat along some directions (fewer rows than columns, singular Q).
    pub(super) deficient: Option<bool>,
}

impl Recipe {
    pub(super) fn new(
        smooth: SmoothKind,
        separable: SeparableKind,
        coupling: CouplingKind,
        blocks: BlocksKind,
    ) -> Self {
        let (dimension, rows, block, deficient) = (None, None, None, None);
        Self { smooth, separable, coupling, blocks, dimension, rows, block, deficient }
    }

    pub(super) fn dimension(self, dimension: usize) -> Self {
        Self { dimension: Some(dimension), ..self }
    }

    pub(super) fn rows(self, rows: usize) -> Self {
        Self { rows: Some(rows), ..self }
    }

    pub(super) fn block(self, block: usize) -> Self {
        Self { block: Some(block), ..self }
    }

    pub(super) fn deficient(self, deficient: bool) -> Self {
        Self { deficient: Some(deficient), ..self }
    }

    /// Draws everything but b and the name, which [`Draft::finish`] sets.
    pub(super) fn draft(self, seed: u64) -> Draft {
        let mut draw = Draw::new(seed);
        let shape = shape::draw(&self, &mut draw);
        let (separable, start) = separable::draw(&self, &shape, &mut draw);
        let smooth = smooth::draw(&self, &shape, &separable, &mut draw);
        let coupling = coupling::draw(&self, &shape, &mut draw);
        let (name, blocks, dimension) = (String::new(), shape.blocks, shape.dimension);
        Draft { instance: Instance { name, smooth, separable, coupling, blocks, dimension }, start, seed }
    }
}
