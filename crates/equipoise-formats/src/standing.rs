//! How far the run came that a file is of: what decides whether another may take its place.
//!
//! ```text
//! a converged run replaces anything;  another, only what did not converge and has no smaller measure
//! points of a problem:                the same, but a point that meets its rows stands above one that does not, and
//!                                     gaps are compared with gaps, residuals with residuals
//! ```
//!
//! - Given: two standings. Returns: whether the second may replace the first.
//! - Must not know: files, what the measure is of.

use equipoise::coupling::ALLOWED_SHARE;

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
        PointStanding::from(self).may_replace(other.into())
    }
}

/// How far a run came that ended at a point of a problem with rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointStanding {
    /// Whether it converged.
    pub converged: bool,
    /// The largest share of its own terms that a row is off by.
    pub relative_infeasibility: f64,
    /// The duality gap, where one is known.
    pub gap: Option<f64>,
    /// The KKT residual, where one is known.
    pub residual: Option<f64>,
}

impl From<Standing> for PointStanding {
    /// Without rows, and the measure as a gap.
    fn from(Standing { converged, measure }: Standing) -> Self {
        Self { converged, relative_infeasibility: 0.0, gap: Some(measure), residual: None }
    }
}

impl PointStanding {
    /// Whether a run with this standing may replace the file of one with the other.
    pub fn may_replace(self, other: Self) -> bool {
        if self.converged || other.converged {
            return self.converged;
        }
        // What is no number is as good as unknown.
        let known = |number: Option<f64>| number.filter(|number| !number.is_nan()).unwrap_or(f64::INFINITY);
        let missed = |of: Self| {
            let missed = known(Some(of.relative_infeasibility));
            if missed <= ALLOWED_SHARE { 0.0 } else { missed }
        };
        let rank = |of: Self| [missed(of), known(of.gap), known(of.residual)];
        // The first of these that differ decide: a point with a gap stands above one without.
        let (new, old) = (rank(self), rank(other));
        new.iter().zip(&old).find(|(new, old)| new != old).is_none_or(|(new, old)| new < old)
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

    #[test]
    fn points_are_compared_by_their_rows_then_like_with_like() {
        let of = |relative_infeasibility, gap, residual| PointStanding {
            converged: false,
            relative_infeasibility,
            gap,
            residual,
        };
        let unknown = PointStanding::from(Standing::UNKNOWN);
        for (new, old, allowed) in [
            // A small gap of a point off its rows says nothing.
            (of(0.1, Some(1e-9), None), of(0.0, Some(1.0), None), false),
            (of(1e-10, Some(1.0), None), of(0.1, Some(1e-9), None), true),
            (of(1e-3, Some(1.0), None), of(1e-2, Some(1e-9), None), true),
            (of(1e-10, Some(0.1), None), of(1e-12, Some(0.2), None), true),
            // A residual is no gap.
            (of(0.0, None, Some(1e-9)), of(0.0, Some(1e-3), Some(1e-3)), false),
            (of(0.0, Some(1e-3), Some(1e-3)), of(0.0, None, Some(1e-9)), true),
            (of(0.0, None, Some(1e-4)), of(0.0, None, Some(1e-3)), true),
            (of(0.0, None, Some(1e-3)), of(0.0, None, Some(1e-4)), false),
            (of(0.0, Some(1e-3), Some(1.0)), of(0.0, Some(1e-3), Some(1.0)), true),
            (unknown, of(0.0, None, Some(1.0)), false),
            (of(0.0, None, Some(1.0)), unknown, true),
            (of(f64::NAN, Some(0.0), None), of(0.5, Some(1.0), None), false),
            (of(f64::NAN, None, None), unknown, false),
        ] {
            assert_eq!(new.may_replace(old), allowed, "{new:?} for {old:?}");
            let converged = PointStanding { converged: true, ..new };
            assert!(converged.may_replace(old) && !old.may_replace(converged));
        }
    }
}
