//! What any gear may take beside pairs.

pub(crate) mod face_step;
pub(crate) mod free_step;
pub(crate) mod full_step;
pub(crate) mod interior_step;
mod projected;
pub(crate) mod proximal_newton;
pub(crate) mod ray;
pub(crate) mod repair;
mod watched;
