//! Tiny and huge scales, 1e-6 to 1e6, of columns, rows, right-hand sides and weights.
//!
//! Most are a well-scaled problem in other units, so that the optimum stays well defined. Rows with
//! huge entries keep a right-hand side of their own size: `|A x - b| <= 1e-9 (1 + max|b|)` must be
//! reachable in double precision.

use super::draft::Draft;
use super::recipe::{BlocksKind as B, CouplingKind as A, Recipe, SeparableKind as H, SmoothKind as F};
use crate::instance::{Blocks, Instance, Separable, Smooth};

const TINY: f64 = 1e-6;
const HUGE: f64 = 1e6;
/// Spread over the coordinates in turn.
const MIXED: [f64; 5] = [1e-6, 1e3, 1.0, 1e6, 1e-3];

/// All families, seeds from 3001 on.
pub(super) fn all() -> Vec<Instance> {
    let families: [(&str, Vec<Draft>); 8] = [
        ("mixed-columns", mixed_columns()),
        ("tiny-columns", same_columns(3101, TINY)),
        ("huge-columns", same_columns(3201, HUGE)),
        ("scaled-rows", scaled_rows()),
        ("huge-rhs", scaled_start(3401, HUGE)),
        ("tiny-rhs", scaled_start(3501, TINY)),
        ("row-weights", row_weights()),
        ("penalty-weights", penalty_weights()),
    ];
    let named =
        families.into_iter().flat_map(|(family, drafts)| drafts.into_iter().map(move |d| (family, d)));
    named.map(|(family, draft)| draft.finish(family)).collect()
}

fn drafts(seed: u64, n: usize, kinds: &[(F, H, A, B)]) -> Vec<Draft> {
    let recipes = kinds.iter().map(|(f, h, a, b)| Recipe::new(*f, *h, *a, *b).dimension(n).deficient(false));
    recipes.zip(seed..).map(|(recipe, seed)| away_from_zero(recipe.draft(seed))).collect()
}

/// A remembered point of 0 would give b = 0: move it inside the domain.
fn away_from_zero(mut draft: Draft) -> Draft {
    if draft.start.iter().all(|v| *v == 0.0) {
        draft.start.iter_mut().zip([1.0, 0.5, -0.25].into_iter().cycle()).for_each(|(v, new)| *v = new);
    }
    draft
}

/// Columns of M and A, penalties and bounds in units from 1e-6 to 1e6, mixed.
fn mixed_columns() -> Vec<Draft> {
    let list = drafts(
        3001,
        10,
        &[
            (F::LEAST_SQUARES, H::Zero, A::None, B::Auto),
            (F::LEAST_SQUARES, H::L1, A::Row, B::Auto),
            (F::Quadratic, H::Box, A::Row, B::Auto),
            (F::LOGISTIC, H::ElasticNet, A::Row, B::Auto),
            (F::HUBER, H::NonNegative, A::None, B::Auto),
            (F::Distance, H::Zero, A::Rows, B::Auto),
            (F::SQUARED_HINGE, H::L1Box, A::Row, B::Auto),
            (F::Factor, H::GroupL2, A::None, B::Size),
        ],
    );
    let rescale = |draft: Draft| {
        let group = if let Blocks::Size(size) = draft.instance.blocks { size } else { 1 };
        let n = draft.instance.dimension;
        let scale: Vec<f64> = (0..n).map(|c| MIXED[(c / group) % MIXED.len()]).collect();
        draft.rescale(&scale)
    };
    list.into_iter().map(rescale).collect()
}

/// All columns of M in one unit; the optimum lies at 1e6 or 1e-6.
fn same_columns(seed: u64, unit: f64) -> Vec<Draft> {
    let list = drafts(
        seed,
        9,
        &[
            (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
            (F::LEAST_SQUARES, H::Zero, A::Rows, B::Auto),
            (F::LOGISTIC, H::Zero, A::Sum, B::Auto),
            (F::HUBER, H::Box, A::Sum, B::Auto),
            (F::Quadratic, H::NonNegative, A::Sum, B::Auto),
            (F::SQUARED_HINGE, H::GroupL2, A::BlockSum, B::Size),
        ],
    );
    list.into_iter().map(|draft| draft.rescale(&vec![unit; 80])).collect()
}

/// Rows of A times 1e-6 and 1e6, alone and together; f untouched.
fn scaled_rows() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::Zero, A::Row, B::Auto),
        (F::LEAST_SQUARES, H::L1, A::Rows, B::Auto),
        (F::Distance, H::Box, A::Rows, B::Auto),
        (F::Quadratic, H::NonNegative, A::Row, B::Auto),
    ];
    let factors: [&[f64]; 3] = [&[TINY], &[HUGE], &[HUGE, 1.0, TINY]];
    let mut list = Vec::new();
    for (i, factor) in factors.iter().enumerate() {
        let several = &kinds[if factor.len() > 1 { 1..3 } else { 0..4 }];
        let drafted = drafts(3301 + 10 * i as u64, 12, several);
        list.extend(drafted.into_iter().map(|draft| draft.scale_rows(factor)));
    }
    list
}

/// b times 1e6 or 1e-6, bounds along with it, targets untouched.
fn scaled_start(seed: u64, factor: f64) -> Vec<Draft> {
    let list = drafts(
        seed,
        10,
        &[
            (F::LEAST_SQUARES, H::Zero, A::Sum, B::Auto),
            (F::Distance, H::NonNegative, A::Sum, B::Auto),
            (F::Quadratic, H::Box, A::Row, B::Auto),
            (F::Distance, H::L1, A::Rows, B::Auto),
            (F::HUBER, H::ElasticNet, A::BlockSum, B::Auto),
        ],
    );
    let scale = |mut draft: Draft| {
        draft.start.iter_mut().for_each(|v| *v *= factor);
        if let Separable::Box { lower, upper } = &mut draft.instance.separable {
            lower.iter_mut().chain(upper).for_each(|bound| *bound *= factor);
        }
        draft
    };
    list.into_iter().map(scale).collect()
}

/// Weights of rows and coordinates in f: all tiny, all huge, mixed. Tiny ones get large targets.
fn row_weights() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
        (F::LEAST_SQUARES, H::Zero, A::Rows, B::Auto),
        (F::Distance, H::Box, A::Sum, B::Auto),
        (F::Distance, H::Zero, A::Row, B::Auto),
    ];
    // Two rows in three are heavy: they alone determine x, so that the mixture stays well conditioned.
    let choices: [&[f64]; 3] = [&[TINY], &[HUGE], &[HUGE, HUGE, HUGE, HUGE, 1.0, TINY]];
    let mut list = Vec::new();
    for (i, factors) in choices.iter().enumerate() {
        for draft in drafts(3601 + 10 * i as u64, 10, &kinds) {
            list.push(draft.change_f(|term| weigh(term, factors)));
        }
    }
    list
}

fn weigh(term: &mut Smooth, factors: &[f64]) {
    let large = if factors == [TINY] { 1e3 } else { 1.0 };
    match term {
        Smooth::Loss { y, weights, .. } => {
            let rows = y.len();
            *weights = Some((0..rows).map(|r| factors[r * factors.len() / rows]).collect());
            for target in y {
                *target *= large;
            }
        }
        Smooth::Distance { weights, target } => {
            weights.iter_mut().enumerate().for_each(|(c, w)| *w *= factors[c % factors.len()]);
            for t in target {
                *t *= large;
            }
        }
        _ => {}
    }
}

/// Penalties of 1e6 and 1e-6 against an ordinary f.
fn penalty_weights() -> Vec<Draft> {
    let kinds = [
        (F::LEAST_SQUARES, H::L1, A::None, B::Auto),
        (F::LEAST_SQUARES, H::L1, A::Sum, B::Auto),
        (F::LOGISTIC, H::ElasticNet, A::Row, B::Auto),
        (F::Distance, H::GroupL2, A::Sum, B::Size),
    ];
    let mut list = Vec::new();
    for (seed, factor) in [(3701, TINY), (3711, HUGE)] {
        for mut draft in drafts(seed, 8, &kinds) {
            match &mut draft.instance.separable {
                Separable::L1 { weights } | Separable::GroupL2 { weights } => {
                    for weight in weights {
                        *weight *= factor;
                    }
                }
                Separable::ElasticNet { l1, l2 } => {
                    l1.iter_mut().chain(l2).for_each(|weight| *weight *= factor);
                }
                _ => {}
            }
            list.push(draft);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::solve;

    /// Other units, same optimal value: this judges the oracle's accuracy at 1e-6 .. 1e6.
    #[test]
    fn units_do_not_change_the_value() {
        let kinds = [
            (F::LEAST_SQUARES, H::L1, A::Row, B::Auto),
            (F::Quadratic, H::Box, A::Rows, B::Auto),
            (F::LOGISTIC, H::ElasticNet, A::Row, B::Auto),
            (F::HUBER, H::L1Box, A::Row, B::Auto),
            (F::SQUARED_HINGE, H::NonNegative, A::Rows, B::Auto),
            (F::Distance, H::Zero, A::Rows, B::Auto),
            (F::Sum, H::L1, A::Row, B::Auto),
        ];
        let plain = drafts(1, 10, &kinds).into_iter().map(|draft| draft.finish("plain"));
        let scale: Vec<f64> = (0..10).map(|c| MIXED[c % MIXED.len()]).collect();
        let scaled = drafts(1, 10, &kinds).into_iter().map(|draft| draft.rescale(&scale).finish("scaled"));
        for (plain, scaled) in plain.zip(scaled) {
            let [first, second] = [&plain, &scaled]
                .map(|instance| solve(instance).unwrap_or_else(|failure| panic!("{failure}")));
            let difference = (first.objective - second.objective).abs() / (1.0 + first.objective.abs());
            assert!(difference <= 1e-8, "{}: values differ by {difference:e}", scaled.name);
        }
    }
}
