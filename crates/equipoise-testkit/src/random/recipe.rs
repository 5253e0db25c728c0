//! What to draw: the kinds of f, h, A and blocks, and optional sizes.

use super::draft::Draft;
use super::draw::Draw;
use super::{coupling, separable, shape, smooth};
use crate::instance::Instance;

/// The kinds of f.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SmoothKind {
    Quadratic,
    Factor,
    LeastSquares,
    Logistic,
    SquaredHinge,
    Huber,
    Distance,
    Linear,
    Sum,
}

/// The kinds of h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeparableKind {
    Zero,
    Box,
    NonNegative,
    L1,
    ElasticNet,
    L1Box,
    GroupL2,
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
    pub(super) const ALL: [Self; 9] = [
        Self::Quadratic,
        Self::Factor,
        Self::LeastSquares,
        Self::Logistic,
        Self::SquaredHinge,
        Self::Huber,
        Self::Distance,
        Self::Linear,
        Self::Sum,
    ];
}

impl SeparableKind {
    pub(super) const ALL: [Self; 7] =
        [Self::Zero, Self::Box, Self::NonNegative, Self::L1, Self::ElasticNet, Self::L1Box, Self::GroupL2];

    /// Whether h alone keeps every minimising sequence bounded (its boxes being finite).
    pub(super) fn coercive(self) -> bool {
        !matches!(self, Self::Zero | Self::NonNegative)
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
