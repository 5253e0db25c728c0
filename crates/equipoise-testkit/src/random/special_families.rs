//! Named families that aim at one difficulty each.

use super::draft::Draft;
use super::draw::Draw;
use super::recipe::{BlocksKind as B, CouplingKind as A, Recipe, SeparableKind as H, SmoothKind as F};
use crate::instance::{Instance, Separable, Smooth};

/// All families, seeds from 1001 on.
pub(super) fn all() -> Vec<Instance> {
    let families: [(&str, Vec<Draft>); 16] = [
        ("one-coordinate", one_coordinate()),
        ("two-coordinates", two_coordinates()),
        ("zero-columns-m", zero_columns_of_f()),
        ("zero-columns-a", zero_columns_of_a()),
        ("redundant-rows", redundant_rows()),
        ("singular", singular()),
        ("fixed", fixed_coordinates()),
        ("one-block", one_block()),
        ("scalar-blocks", scalar_blocks()),
        ("group-block-sum", group_block_sum()),
        ("terms", several_terms()),
        ("eighty", eighty()),
        ("simplex", simplex()),
        ("svm-dual", support_vectors()),
        ("many-active", many_active()),
        ("five-rows", five_rows()),
    ];
    let named =
        families.into_iter().flat_map(|(family, drafts)| drafts.into_iter().map(move |d| (family, d)));
    named.map(|(family, draft)| draft.finish(family)).collect()
}

/// Drafts of recipes of exactly or about n coordinates, seeds counting up from `seed`.
fn drafts(seed: u64, n: usize, kinds: &[(F, H, A, B)]) -> Vec<Draft> {
    let recipes = kinds.iter().map(|(f, h, a, blocks)| Recipe::new(*f, *h, *a, *blocks).dimension(n));
    recipes.zip(seed..).map(|(recipe, seed)| recipe.draft(seed)).collect()
}

fn one_coordinate() -> Vec<Draft> {
    drafts(
        1001,
        1,
        &[
            (F::Distance, H::Zero, A::None, B::Auto),
            (F::LEAST_SQUARES, H::L1, A::None, B::Auto),
            (F::Quadratic, H::Box, A::None, B::Auto),
            (F::LOGISTIC, H::ElasticNet, A::None, B::Auto),
            (F::HUBER, H::NonNegative, A::None, B::Auto),
            (F::SQUARED_HINGE, H::L1Box, A::None, B::Auto),
            (F::Linear, H::Box, A::None, B::Auto),
            (F::LEAST_SQUARES, H::Zero, A::Sum, B::Auto),
            (F::Distance, H::L1, A::Row, B::Auto),
        ],
    )
}

fn two_coordinates() -> Vec<Draft> {
    drafts(
        1101,
        2,
        &[
            (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
            (F::Quadratic, H::Box, A::Sum, B::Auto),
            (F::LOGISTIC, H::Zero, A::Row, B::Auto),
            (F::HUBER, H::ElasticNet, A::Row, B::Auto),
            (F::SQUARED_HINGE, H::NonNegative, A::Sum, B::Auto),
            (F::Factor, H::L1Box, A::Sum, B::Auto),
            (F::Distance, H::Zero, A::None, B::Auto),
            (F::Linear, H::L1Box, A::Sum, B::Auto),
            (F::Sum, H::L1, A::Row, B::Auto),
        ],
    )
}

fn zero_columns_of_f() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
        (F::LEAST_SQUARES, H::Zero, A::Sum, B::Auto),
        (F::LOGISTIC, H::ElasticNet, A::Row, B::Auto),
        (F::LOGISTIC, H::Zero, A::Rows, B::Auto),
        (F::HUBER, H::Box, A::Rows, B::Auto),
        (F::SQUARED_HINGE, H::GroupL2, A::Sum, B::Size),
        (F::Factor, H::L1Box, A::None, B::Auto),
        (F::Factor, H::Zero, A::None, B::Auto),
        (F::Quadratic, H::NonNegative, A::Row, B::Auto),
    ];
    let recipes = kinds.map(|(f, h, a, b)| Recipe::new(f, h, a, b).dimension(9).deficient(false));
    let drafts = recipes.into_iter().zip(1201..).map(|(recipe, seed)| recipe.draft(seed));
    drafts.map(|draft| draft.zero_columns_of_f(&[0, 4, 7])).collect()
}

fn zero_columns_of_a() -> Vec<Draft> {
    let list = drafts(
        1301,
        10,
        &[
            (F::LEAST_SQUARES, H::L1, A::Row, B::Auto),
            (F::Quadratic, H::Zero, A::Row, B::Auto),
            (F::Distance, H::Box, A::Rows, B::Auto),
            (F::HUBER, H::Zero, A::Rows, B::Auto),
            (F::LOGISTIC, H::L1, A::SparseRows, B::Auto),
            (F::SQUARED_HINGE, H::ElasticNet, A::SparseRows, B::Auto),
        ],
    );
    list.into_iter().map(|draft| draft.zero_columns_of_a(&[1, 8, 9])).collect()
}

fn redundant_rows() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::Zero, A::Rows, B::Auto),
        (F::LEAST_SQUARES, H::L1, A::Rows, B::Auto),
        (F::Quadratic, H::Box, A::Rows, B::Size),
        (F::LOGISTIC, H::ElasticNet, A::SparseRows, B::Auto),
        (F::HUBER, H::NonNegative, A::SparseRows, B::Size),
        (F::Distance, H::GroupL2, A::Rows, B::Boundaries),
        (F::SQUARED_HINGE, H::L1Box, A::Rows, B::Auto),
    ];
    let recipes = kinds.map(|(f, h, a, b)| Recipe::new(f, h, a, b).dimension(12).rows(2));
    recipes.into_iter().zip(1401..).map(|(recipe, seed)| recipe.draft(seed).redundant_rows()).collect()
}

/// Flat directions: fewer rows than columns, singular Q.
fn singular() -> Vec<Draft> {
    let kinds = [
        (F::Quadratic, H::Zero, A::None, B::Auto),
        (F::Quadratic, H::Zero, A::Sum, B::Auto),
        (F::Quadratic, H::Zero, A::Rows, B::Auto),
        (F::Quadratic, H::NonNegative, A::Sum, B::Auto),
        (F::Quadratic, H::L1, A::Row, B::Auto),
        (F::Quadratic, H::Box, A::Rows, B::Auto),
        (F::Factor, H::Zero, A::Row, B::Auto),
        (F::Factor, H::GroupL2, A::None, B::Size),
        (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
        (F::LEAST_SQUARES, H::NonNegative, A::Rows, B::Auto),
        (F::LEAST_SQUARES, H::Zero, A::BlockSum, B::Size),
        (F::HUBER, H::Zero, A::Sum, B::Auto),
        (F::SQUARED_HINGE, H::Zero, A::Row, B::Auto),
        (F::SQUARED_HINGE, H::L1, A::None, B::Auto),
    ];
    let recipes = kinds.map(|(f, h, a, b)| Recipe::new(f, h, a, b).dimension(12).deficient(true));
    recipes.into_iter().zip(1501..).map(|(recipe, seed)| recipe.draft(seed)).collect()
}

fn fixed_coordinates() -> Vec<Draft> {
    let list = drafts(
        1601,
        9,
        &[
            (F::LEAST_SQUARES, H::Box, A::Sum, B::Auto),
            (F::Quadratic, H::Box, A::Row, B::Auto),
            (F::Distance, H::Box, A::Rows, B::Auto),
            (F::LOGISTIC, H::L1Box, A::Sum, B::Auto),
            (F::Linear, H::Box, A::None, B::Auto),
            (F::HUBER, H::L1Box, A::BlockSum, B::Auto),
        ],
    );
    list.into_iter().map(|draft| draft.fix(&[0, 3, 5])).collect()
}

fn one_block() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::Zero, A::Rows),
        (F::LEAST_SQUARES, H::L1, A::Sum),
        (F::Quadratic, H::Box, A::Row),
        (F::LOGISTIC, H::NonNegative, A::None),
        (F::Distance, H::GroupL2, A::Sum),
        (F::HUBER, H::ElasticNet, A::Rows),
    ];
    let recipes = kinds.map(|(f, h, a)| Recipe::new(f, h, a, B::Size).dimension(8).block(8).rows(3));
    recipes.into_iter().zip(1701..).map(|(recipe, seed)| recipe.draft(seed)).collect()
}

fn scalar_blocks() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::L1, A::Row),
        (F::Quadratic, H::Zero, A::Row),
        (F::LOGISTIC, H::Box, A::Row),
        (F::Factor, H::NonNegative, A::Row),
        (F::Distance, H::L1Box, A::Sum),
        (F::Sum, H::ElasticNet, A::Row),
    ];
    let recipes = kinds.map(|(f, h, a)| Recipe::new(f, h, a, B::Size).dimension(15).block(1));
    recipes.into_iter().zip(1801..).map(|(recipe, seed)| recipe.draft(seed)).collect()
}

fn group_block_sum() -> Vec<Draft> {
    let kinds = [F::Distance, F::LEAST_SQUARES, F::LOGISTIC, F::Quadratic, F::HUBER, F::Sum];
    let recipes = kinds.map(|f| Recipe::new(f, H::GroupL2, A::BlockSum, B::Size).dimension(18).rows(3));
    recipes.into_iter().zip(1901..).map(|(recipe, seed)| recipe.draft(seed)).collect()
}

fn several_terms() -> Vec<Draft> {
    drafts(
        2001,
        14,
        &[
            (F::Sum, H::Zero, A::Sum, B::Auto),
            (F::Sum, H::Box, A::Rows, B::Auto),
            (F::Sum, H::L1, A::Row, B::Auto),
            (F::Sum, H::ElasticNet, A::SparseRows, B::Auto),
            (F::Sum, H::GroupL2, A::None, B::Boundaries),
            (F::Sum, H::NonNegative, A::Sum, B::Auto),
        ],
    )
}

fn eighty() -> Vec<Draft> {
    drafts(
        2101,
        80,
        &[
            (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
            (F::Factor, H::Box, A::Row, B::Auto),
            (F::Distance, H::NonNegative, A::Rows, B::Auto),
            (F::LOGISTIC, H::ElasticNet, A::Sum, B::Auto),
            (F::Quadratic, H::Zero, A::SparseRows, B::Auto),
        ],
    )
}

/// The projection onto a simplex, and other losses over it.
fn simplex() -> Vec<Draft> {
    let kinds = [F::Distance, F::LEAST_SQUARES, F::Quadratic, F::Linear, F::LOGISTIC];
    let recipes = kinds.map(|f| Recipe::new(f, H::NonNegative, A::Sum, B::Auto).dimension(20));
    let drafts = recipes.into_iter().zip(2201..).map(|(recipe, seed)| recipe.draft(seed));
    drafts.map(|draft| Draft { start: vec![1.0 / 20.0; 20], ..draft }).collect()
}

/// `1/2 ||M beta||^2 - y'beta`, `0 <= y beta <= C`, `sum beta = 0`.
fn support_vectors() -> Vec<Draft> {
    [(2301, 0.1), (2302, 1.0), (2303, 10.0)].map(|(seed, cost)| support_vector_dual(seed, cost)).into()
}

fn support_vector_dual(seed: u64, cost: f64) -> Draft {
    let n = 24;
    let mut draft = Recipe::new(F::Factor, H::Box, A::Sum, B::Size).dimension(n).block(1).draft(seed);
    let mut draw = Draw::new(seed + 50);
    let m = draw.matrix(3, n, false);
    let labels: Vec<f64> =
        (0..n).map(|i| if m.get(0, i) + draw.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
    draft.instance.smooth = Smooth::Factor { m, c: labels.iter().map(|y| -y).collect() };
    draft.instance.separable = Separable::Box {
        lower: labels.iter().map(|y| if *y > 0.0 { 0.0 } else { -cost }).collect(),
        upper: labels.iter().map(|y| if *y > 0.0 { cost } else { 0.0 }).collect(),
    };
    draft.start = vec![0.0; n];
    draft
}

/// Targets far outside the box: nearly every bound binds at the optimum.
fn many_active() -> Vec<Draft> {
    let list = drafts(
        2401,
        16,
        &[
            (F::Distance, H::Box, A::Sum, B::Auto),
            (F::Distance, H::L1Box, A::Row, B::Auto),
            (F::Distance, H::Box, A::Rows, B::Auto),
            (F::Distance, H::NonNegative, A::SparseRows, B::Auto),
        ],
    );
    let far = |term: &mut Smooth| {
        if let Smooth::Distance { target, .. } = term {
            for t in target {
                *t *= 10.0;
            }
        }
    };
    list.into_iter().map(|draft| draft.change_f(far)).collect()
}

/// Five rows, every h.
fn five_rows() -> Vec<Draft> {
    let blocks = |h: H| if h == H::GroupL2 { B::Size } else { B::Auto };
    let recipe = |h: &H| Recipe::new(F::LEAST_SQUARES, *h, A::Rows, blocks(*h)).dimension(24).rows(5);
    H::ALL.iter().map(recipe).zip(2501..).map(|(recipe, seed)| recipe.draft(seed)).collect()
}
