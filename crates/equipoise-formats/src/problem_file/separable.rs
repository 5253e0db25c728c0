//! `[separable]`: h, kind by kind. Each number is one for all coordinates or a list.
//!
//! | `kind` | keys |
//! |---|---|
//! | `zero` (default) | |
//! | `box` | `lower`, `upper`; a missing side is infinite |
//! | `non-negative` | |
//! | `l1` | `weight` |
//! | `asymmetric-l1` | `rise`, `fall`: Σ rise max(x, 0) + fall max(−x, 0) |
//! | `elastic-net` | `l1`, `l2`: l1 ‖x‖₁ + 1/2 l2 ‖x‖² |
//! | `l1-box` | `weight`, `lower`, `upper` |
//! | `group-l2` | `weight`: one for all blocks, one a block, or one a coordinate |
//!
//! A new kind is an entry of `KINDS` and a row of this table.

use equipoise::separable::{
    AsymmetricL1, Bounds, ElasticNet, GroupL2, L1, L1Bounds, NonNegative, Nonsmooth, SeparableTerm, Values,
    Zero,
};

use super::keys::{Keys, Place};
use super::kinds::{self, Plain, Takes, kind, may, need};
use super::term::{Term, Words};
use crate::Result;

/// The kind of a table that says none.
pub(super) const DEFAULT: &str = "zero";

/// Every kind, in the order in which messages name them.
const KINDS: &[Plain<AnyNonsmooth>] = &[
    kind(DEFAULT, &[], |_| h(Zero)),
    kind("box", &[may("lower", Takes::Values), may("upper", Takes::Values)], |words| {
        h(Bounds::new(lower(words)?, upper(words)?)?)
    }),
    kind("non-negative", &[], |_| h(NonNegative)),
    kind("l1", &[need("weight", Takes::Values)], |words| h(L1::new(words.values("weight")?)?)),
    kind("asymmetric-l1", &[need("rise", Takes::Values), need("fall", Takes::Values)], |words| {
        h(AsymmetricL1::new(words.values("rise")?, words.values("fall")?)?)
    }),
    kind("elastic-net", &[need("l1", Takes::Values), need("l2", Takes::Values)], |words| {
        h(ElasticNet::new(words.values("l1")?, words.values("l2")?)?)
    }),
    kind(
        "l1-box",
        &[need("weight", Takes::Values), may("lower", Takes::Values), may("upper", Takes::Values)],
        |words| h(L1Bounds::new(words.values("weight")?, lower(words)?, upper(words)?)?),
    ),
    kind("group-l2", &[need("weight", Takes::Values)], |words| {
        Ok(Nonsmooth::Groups(GroupL2::new(words.values("weight")?)?))
    }),
];

/// h, chosen at run time.
pub(super) type AnyNonsmooth = Nonsmooth<Box<dyn SeparableTerm>>;

/// A sum over coordinates; a result, since that is what every kind makes.
#[expect(clippy::unnecessary_wraps, reason = "the entries of `KINDS` read the same")]
fn h(term: impl SeparableTerm + 'static) -> Result<AnyNonsmooth> {
    Ok(Nonsmooth::Coordinates(Box::new(term)))
}

fn lower(words: &mut Words<'_, 'static>) -> Result<Values> {
    words.values_or("lower", f64::NEG_INFINITY)
}

fn upper(words: &mut Words<'_, 'static>) -> Result<Values> {
    words.values_or("upper", f64::INFINITY)
}

/// Reads h from its table.
pub(super) fn read(keys: Keys<'_>) -> Result<Term<'static>> {
    kinds::read(keys, KINDS, Some(DEFAULT))
}

/// h.
pub(super) fn build(term: Term<'static>, place: &Place) -> Result<AnyNonsmooth> {
    kinds::build(term, place, KINDS)
}
