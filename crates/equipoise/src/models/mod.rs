//! Problems that people bring, in their own words: data in, a [`Problem`](crate::Problem) out.

pub mod svm;
mod synthetic;

pub use synthetic::Synthetic;
