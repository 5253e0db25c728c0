//! How many coordinates, which blocks, how many rows.

use super::draw::Draw;
use super::recipe::{BlocksKind, CouplingKind, Recipe, SeparableKind, SmoothKind};
use crate::instance::Blocks;

/// The sizes of a problem.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) dimension: usize,
    pub(super) blocks: Blocks,
    /// The number of equations.
    pub(super) rows: usize,
}

impl Shape {
    /// The blocks, or the whole as one where the solver chooses.
    pub(super) fn boundaries(&self) -> Vec<usize> {
        self.blocks.boundaries(self.dimension).unwrap_or_else(|| vec![0, self.dimension])
    }
}

/// Most dimensions are small; problems without curvature stay below fifteen or so.
pub(super) fn draw(recipe: &Recipe, draw: &mut Draw) -> Shape {
    let rows = row_count(recipe, draw);
    let target = recipe.dimension.unwrap_or_else(|| match draw.index(1, 10) {
        _ if recipe.smooth == SmoothKind::Linear => draw.index(2, 14),
        1..=6 => draw.index(2, 12),
        _ => draw.index(13, 40),
    });
    let size = block_size(recipe, rows, draw);
    let blocks = match recipe.blocks {
        BlocksKind::Auto => Blocks::Auto,
        BlocksKind::Size => Blocks::Size(size),
        BlocksKind::Boundaries => Blocks::Boundaries(boundaries(recipe, size, target, draw)),
    };
    let dimension = match &blocks {
        Blocks::Boundaries(list) => *list.last().expect("starts with 0"),
        Blocks::Size(_) => size * at_least_two(recipe, target / size),
        Blocks::Auto if recipe.coupling == CouplingKind::BlockSum => rows * (target / rows).max(2),
        Blocks::Auto if recipe.dimension.is_some() => target,
        Blocks::Auto => target.max(rows + 2),
    };
    Shape { dimension, blocks, rows }
}

fn row_count(recipe: &Recipe, draw: &mut Draw) -> usize {
    match recipe.coupling {
        CouplingKind::None => 0,
        CouplingKind::Sum | CouplingKind::Row => 1,
        CouplingKind::BlockSum => recipe.rows.unwrap_or_else(|| draw.index(1, 5)),
        CouplingKind::Rows | CouplingKind::SparseRows => recipe.rows.unwrap_or_else(|| draw.index(1, 5)),
    }
}

/// Several rows need blocks of at least one coordinate more; a block sum's blocks are its rows.
fn block_size(recipe: &Recipe, rows: usize, draw: &mut Draw) -> usize {
    let smallest = if recipe.separable == SeparableKind::GroupL2 { 2 } else { 1 };
    let drawn = match recipe.coupling {
        CouplingKind::BlockSum => return rows,
        CouplingKind::Rows | CouplingKind::SparseRows => rows + draw.index(1, 2),
        CouplingKind::None | CouplingKind::Sum | CouplingKind::Row => draw.index(smallest, 4),
    };
    recipe.block.unwrap_or(drawn)
}

/// At least two blocks, unless the recipe asks for exactly one.
fn at_least_two(recipe: &Recipe, count: usize) -> usize {
    if recipe.dimension.is_some() { count.max(1) } else { count.max(2) }
}

fn boundaries(recipe: &Recipe, size: usize, target: usize, draw: &mut Draw) -> Vec<usize> {
    let uniform = recipe.coupling == CouplingKind::BlockSum;
    let mut list = vec![0];
    let mut end = 0;
    while list.len() < 3 || end < target {
        end += if uniform { size } else { draw.index(size, size + 3) };
        list.push(end);
    }
    list
}
