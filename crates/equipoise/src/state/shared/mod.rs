#![doc = include_str!("README.md")]

mod escrow;
mod locks;
#[cfg(all(test, loom))]
mod models;
mod numbers;
mod quota;
#[cfg(all(test, not(loom)))]
mod tests;
mod transfer;

pub use escrow::{Escrow, Move};
pub use locks::Locks;
pub use numbers::SharedNumbers;
pub use quota::{Gate, Quota};
pub use transfer::{Side, balance};

/// The one place where atomics and hints come from: the model checker brings its own.
mod primitive {
    #[cfg(all(test, loom))]
    pub(super) use loom::{
        hint::spin_loop,
        sync::atomic::{AtomicBool, AtomicU64, Ordering},
        thread::yield_now,
    };
    #[cfg(not(all(test, loom)))]
    pub(super) use std::{
        hint::spin_loop,
        sync::atomic::{AtomicBool, AtomicU64, Ordering},
        thread::yield_now,
    };
}
