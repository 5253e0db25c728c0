//! `[coupling]`: A x = b, kind by kind.
//!
//! | `kind` | keys |
//! |---|---|
//! | `none` (default) | |
//! | `sum` | `rhs`: a number, or a list of p for blocks of size p |
//! | `row` | `weights`, `rhs` |
//! | `rows` | `matrix`, `rhs` |
//!
//! A new kind is an entry of `KINDS` and a row of this table.

use equipoise::Coupling;
use equipoise::separable::Values;

use super::keys::{Keys, Place};
use super::kinds::{self, Plain, Takes, kind, need};
use super::term::Term;
use crate::Result;

/// The kind of a table that says none.
pub(super) const DEFAULT: &str = "none";

/// Every kind, in the order in which messages name them.
const KINDS: &[Plain<Coupling>] = &[
    kind(DEFAULT, &[], |_| Ok(Coupling::none())),
    kind("sum", &[need("rhs", Takes::Values)], |words| {
        Ok(match words.values("rhs")? {
            Values::Uniform(rhs) => Coupling::sum(rhs)?,
            Values::Each(rhs) => Coupling::block_sum(rhs)?,
        })
    }),
    kind("row", &[need("weights", Takes::List), need("rhs", Takes::One)], |words| {
        Ok(Coupling::row(words.list("weights")?, words.number("rhs")?)?)
    }),
    // A number serves where there is one row.
    kind("rows", &[need("matrix", Takes::Matrix), need("rhs", Takes::Each)], |words| {
        Ok(Coupling::rows_of(words.matrix("matrix")?, words.list("rhs")?)?)
    }),
];

/// Reads A and b from their table.
pub(super) fn read(keys: Keys<'_>) -> Result<Term<'static>> {
    kinds::read(keys, KINDS, Some(DEFAULT))
}

/// A x = b.
pub(super) fn build(term: Term<'static>, place: &Place) -> Result<Coupling> {
    kinds::build(term, place, KINDS)
}
