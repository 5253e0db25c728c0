//! Two bounded numbers on a row, moved one after the other without locks.
//!
//! Each is moved by [`SharedNumbers::shift_within`], the slave first. Where both moved as planned that is all.
//! Otherwise the row has too much or too little by `a_0 d_0 + a_1 d_1`, and [`balance`] takes that back at the slave, then
//! at the master, each within its bounds; what fits nowhere goes into the caller's purse, together with which the row
//! holds.

use super::SharedNumbers;

/// What a row may lack, relative to what moved, that is rounding.
const ROUNDING: f64 = 1e-13;

/// One of the two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Which number.
    pub index: usize,
    /// Its coefficient in the row, not 0.
    pub a: f64,
    /// Its bounds.
    pub bounds: (f64, f64),
}

/// Brings the row of `[master, slave]`, which moved by `moved`, back into balance; `purse` is what the row has too much
/// from before, and what it then still has too much.
#[cold]
pub fn balance(x: &SharedNumbers, sides: [Side; 2], moved: &mut [f64; 2], purse: &mut f64) {
    let rounding =
        |moved: &[f64; 2]| ROUNDING * ((sides[0].a * moved[0]).abs() + (sides[1].a * moved[1]).abs());
    let mut excess = sides[0].a * moved[0] + sides[1].a * moved[1] + *purse;
    *purse = 0.0;
    for k in [1, 0] {
        if excess.abs() <= rounding(moved) {
            return;
        }
        let Side { index, a, bounds } = sides[k];
        let placed = x.add_within(index, -excess / a, bounds);
        moved[k] += placed;
        excess += a * placed;
    }
    if excess.abs() > rounding(moved) {
        *purse = excess;
    }
}
