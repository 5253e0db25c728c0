//! Who decides that a point is good enough: by default the independent certificate and the tolerance.
//!
//! A model that knows more about its problem (a support vector machine knows its primal) brings its own judge, which
//! is bound by the same rule: raw data only, nothing that the solver maintained.

use crate::certificate::Certificate;
use crate::error::Result;

/// Certifies points and says which are good enough.
pub trait Judge: Sync {
    /// The certificate of x.
    fn certify(&self, x: &[f64]) -> Result<Certificate>;
    /// Whether the run may end.
    fn accepts(&self, certificate: &Certificate) -> bool;
    /// The absolute gap that is wanted, for a point with this objective.
    fn wanted_gap(&self, objective: f64) -> f64;
}
