//! The shared memory of equipoise by itself, with its tests and its models.
//!
//! The module is the one of the library, included by its path; nothing here is a copy. Alone it compiles in a second
//! for the tools that need everything compiled their way: the model checker loom, Miri, `ThreadSanitizer`, and the
//! long stress tests (`cargo xtask loom`, `miri`, `tsan`, `stress`). The module may therefore name nothing of the
//! library outside itself: `super::` within it, never `crate::`. Its models run here only: the library has no loom.
//!
//! The lab measures the protocols through this crate. A plain `cargo test --workspace` runs the module's tests twice,
//! here and in the library; they take half a second.

#[path = "../../equipoise/src/state/shared/mod.rs"]
pub mod shared;
