//! No coupling rows: every coordinate takes its own prox step, `z_k = prox_{h/D}(x_k - g_k/D_k)`.

use super::Model;
use crate::separable::SeparableTerm;

/// The new values of coordinates that no row couples, into `z`.
///
/// ```
/// use equipoise::pair_step::{Model, free};
/// use equipoise::separable::NonNegative;
/// let model = Model { coordinates: &[0, 1], x: &[1.0, 1.0], gradient: &[4.0, -1.0], metric: &[2.0, 2.0] };
/// let mut z = [0.0; 2];
/// free::solve(&model, &NonNegative, &mut z);
/// assert_eq!(z, [0.0, 1.5]);
/// ```
pub fn solve<H: SeparableTerm + ?Sized>(model: &Model<'_>, h: &H, z: &mut [f64]) {
    for (k, z) in z.iter_mut().enumerate() {
        *z = h.prox(model.coordinates[k], model.target(k, 0.0), model.metric[k]);
    }
}
