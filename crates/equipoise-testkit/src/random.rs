//! The fixed suite of random problems: bounded below, attained, and feasible by construction.
//!
//! A point in the domain of h is drawn first and b is set to A times it. [`suite`] holds every
//! combination of f, h and A that makes sense, the kind of blocks rotating, and named special
//! families; [`every_combination`] multiplies by the kinds of blocks as well. Seeds are fixed:
//! the same list at every call.
//!
//! What makes no sense and is left out: linear f with h = 0 (unbounded, or constant), and groups
//! over automatic blocks (the groups would be unknown). With several rows, explicit blocks hold at
//! least one coordinate more than there are rows, and their rows are independent, so that pairs
//! can move.

mod coupling;
mod draft;
pub(crate) mod draw;
mod recipe;
mod scale_families;
mod separable;
mod shape;
mod smooth;
mod special_families;

use crate::instance::Instance;
use recipe::{BlocksKind, CouplingKind, Recipe, SeparableKind, SmoothKind};

/// How many kinds of f and of h there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// Of f.
    pub smooth: usize,
    /// Of h.
    pub separable: usize,
}

/// The kinds that the suite combines.
pub fn kinds() -> Kinds {
    Kinds { smooth: SmoothKind::all().len(), separable: SeparableKind::ALL.len() }
}

/// The suite: each name occurs once.
pub fn suite() -> Vec<Instance> {
    let mut list = Vec::new();
    for (seed, (rotation, recipe)) in triples().into_iter().enumerate() {
        let kinds = blocks_kinds(recipe.separable);
        let recipe = Recipe { blocks: kinds[rotation % kinds.len()], ..recipe };
        list.push(recipe.draft(seed as u64 + 1).finish(""));
    }
    list.extend(special_families::all());
    list.extend(scale_families::all());
    list
}

/// One problem of any combination, with numbers of its own: as many as there are seeds.
pub fn drawn(seed: u64) -> Instance {
    let recipes = triples();
    let (rotation, recipe) = recipes[(seed % recipes.len() as u64) as usize];
    let kinds = blocks_kinds(recipe.separable);
    let turn = rotation + (seed / recipes.len() as u64) as usize;
    Recipe { blocks: kinds[turn % kinds.len()], ..recipe }.draft(seed).finish("")
}

/// Every combination of f, h, A and blocks that makes sense, once each: over a thousand problems.
pub fn every_combination() -> Vec<Instance> {
    let recipes = triples().into_iter().flat_map(|(_, recipe)| {
        blocks_kinds(recipe.separable).iter().map(move |blocks| Recipe { blocks: *blocks, ..recipe })
    });
    recipes.enumerate().map(|(seed, recipe)| recipe.draft(seed as u64 + 10_001).finish("")).collect()
}

/// Every f, h, A that makes sense, with a number that rotates evenly against each of the three.
fn triples() -> Vec<(usize, Recipe)> {
    let mut list = Vec::new();
    for (i, smooth) in SmoothKind::all().into_iter().enumerate() {
        for (j, separable) in SeparableKind::ALL.iter().copied().enumerate() {
            if smooth == SmoothKind::Linear && separable == SeparableKind::Zero {
                continue;
            }
            for (k, coupling) in CouplingKind::ALL.into_iter().enumerate() {
                list.push((i + j + k, Recipe::new(smooth, separable, coupling, BlocksKind::Auto)));
            }
        }
    }
    list
}

fn blocks_kinds(separable: SeparableKind) -> &'static [BlocksKind] {
    match separable {
        SeparableKind::GroupL2 => &BlocksKind::ALL[1..],
        _ => &BlocksKind::ALL,
    }
}
