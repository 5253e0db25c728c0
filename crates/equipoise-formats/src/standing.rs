//! How far the run came that a file is of: what decides whether another may take its place.
//!
//! ```text
//! a converged run replaces anything;  another, only what did not converge and has no smaller measure
//! ```
//!
//! - Given: two standings. Returns: whether the second may replace the first.
//! - Must not know: files, what the measure is of.

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Whether it converged.
    pub converged: bool,
    /// What it ended with: a gap, or a residual where there is none; infinite where nothing is known.
    pub measure: f64,
}

impl Standing {
    /// Nothing is known of it, or nothing was reached.
    pub const UNKNOWN: Self = Self { converged: false, measure: f64::INFINITY };

    /// Whether a run with this standing may replace the file of one with the other.
    pub fn may_replace(self, other: Self) -> bool {
        self.converged || !(other.converged || other.measure < self.measure || self.measure.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_better_is_replaced() {
        let of = |converged, measure| Standing { converged, measure };
        for (new, old, allowed) in [
            (of(true, 1e-3), of(true, 1e-9), true),
            (of(false, 1e-9), of(true, 1e-3), false),
            (of(false, 1e-4), of(false, 1e-3), true),
            (of(false, 1e-3), of(false, 1e-3), true),
            (of(false, 1e-2), of(false, 1e-3), false),
            (of(false, 1e-2), Standing::UNKNOWN, true),
            (Standing::UNKNOWN, of(false, 1.0), false),
            (of(false, f64::NAN), of(false, 1.0), false),
        ] {
            assert_eq!(new.may_replace(old), allowed, "{new:?} for {old:?}");
        }
    }
}
