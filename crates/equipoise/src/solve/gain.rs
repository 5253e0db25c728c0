//! What counts as a gain of the objective, and what as a rise.
//!
//! ```text
//! no gain:  before - after <= 1e-15 (1 + |objective|)       rose:  after > before + 1e-13 (1 + |before|)
//! ```
//!
//! A gain below the last digit of the objective is none: rounds of such gains add up to nothing that could be told from
//! rounding, and several of them in a row mean that a run stands still. A rise is another matter. Both values are sums of
//! many terms, taken afresh at two points; rounding alone sets them apart by a few hundred units of the last digit, and
//! whoever undoes a round for that will undo the good ones near the optimum.
//!
//! Whether a model of f lies above f is a third question, for [`rounding_of_model`]: the model adds a slope and a bend to a value
//! of f, and f is taken once more beside it. What rounding sets these apart by grows with f and with the objective, whichever is larger
//! (h may cancel most of f), and must stay below a rise: what passes here is still compared with the objective before the step.
//!
//! ```text
//! above:  f(z) <= model + 1e-14 (1 + |objective| + |f|)
//! ```
//!
//! Must not know: whose gain it is.

/// Gains up to this, relative, are none.
const NO_GAIN: f64 = 1e-15;
/// Rises up to this, relative, are rounding.
const ROUNDING: f64 = 1e-13;

/// The same between f and a model of it: smaller, since nothing of h is in it.
const OF_A_MODEL: f64 = 1e-14;

/// What rounding may set f and a model of it apart by, at a point with this objective and this f.
#[inline]
pub(crate) fn rounding_of_model(objective: f64, smooth: f64) -> f64 {
    OF_A_MODEL * (1.0 + objective.abs() + smooth.abs())
}

/// Whether a gain is none, at a point with this objective.
#[inline]
pub(crate) fn is_none(gain: f64, objective: f64) -> bool {
    gain.is_nan() || gain <= NO_GAIN * (1.0 + objective.abs())
}

/// Whether the objective rose, or is no number any more.
#[inline]
pub(crate) fn rose(before: f64, after: f64) -> bool {
    after.is_nan() || after > before + ROUNDING * (1.0 + before.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_neither_gain_nor_rise_and_no_number_is_bad() {
        assert!(is_none(0.0, 3.0) && is_none(-1.0, 3.0) && is_none(3e-15, 3.0) && is_none(f64::NAN, 3.0));
        assert!(!is_none(5e-15, 3.0) && !is_none(2e-15, 0.0));
        assert_eq!(rounding_of_model(-1.0, 2.0), 4e-14);
        assert!(!rose(3.0, 3.0 + rounding_of_model(3.0, 3.0)));
        assert!(!rose(3.0, 3.0 + 3e-13) && rose(3.0, 3.0 + 5e-13) && rose(3.0, f64::NAN) && !rose(3.0, 2.0));
    }
}
