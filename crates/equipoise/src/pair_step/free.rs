//! No coupling rows: every coordinate takes its own prox step, `z_k = prox_{h/D}(x_k - g_k/D_k)`.

use super::Model;
use crate::separable::SeparableTerm;

/// The new values of coordinates that no row couples, into `z`.
pub(crate) fn solve<H: SeparableTerm + ?Sized>(model: &Model<'_>, h: &H, z: &mut [f64]) {
    for (k, z) in z.iter_mut().enumerate() {
        *z = h.prox(model.coordinates[k], model.target(k, 0.0), model.metric[k]);
    }
}
