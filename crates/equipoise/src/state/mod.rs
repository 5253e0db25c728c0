//! The iterate x and the products that f keeps in step with it.
//!
//! A state knows how to move and how to rebuild itself; it does not know which pair comes next.

mod owned;

pub(crate) use owned::State;
