//! Problems that people bring, in their own words: data in, a certified answer out.
//!
//! | module | what |
//! |---|---|
//! | [`constrained`] | least squares on a simplex, in a box, under equality rows; one target or many |
//! | [`fused`] | the generalised lasso: signals, images and graphs in pieces |
//! | [`lasso`] | the lasso and its kin under linear constraints on the coefficients |
//! | [`svm`] | linear support vector machines with a true, unpenalised bias |
//! | [`Synthetic`] | the paper's synthetic problem, as an [`equipoise::Problem`] |
//!
//! A model uses the public interface of [`equipoise`] and nothing else: it builds an [`equipoise::Problem`], may bring
//! its own judge and team of threads, and has errors of its own.

pub mod constrained;
pub mod fused;
pub mod lasso;
pub mod svm;
mod synthetic;

pub use synthetic::Synthetic;
