//! Promises kept under many random seeds, for as long as there is time: what `cargo xtask soak` is made of.
//!
//! A test of this kind is ignored unless it is asked for. It is told its first seed and its seconds by the environment,
//! tries one seed after another, and prints what it found in lines that `xtask` counts:
//!
//! ```text
//! soak PROMISE kept 1234
//! soak PROMISE broken SEED what went wrong, in one line
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The first seed of a soak.
pub const SEED: &str = "EQUIPOISE_SOAK_SEED";
/// How long one promise is tried, in seconds.
pub const SECONDS: &str = "EQUIPOISE_SOAK_SECONDS";

/// Tries a promise under one seed after another until time is up; fails where it was broken. `keeps` panics where it is
/// not kept, and says how often it was put to the test.
pub fn soak(promise: &str, keeps: impl Fn(u64) -> u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, seconds) = (number(SEED).unwrap_or(1), number(SECONDS).unwrap_or(10));
    let (started, mut kept, mut broken) = (Instant::now(), 0, 0);
    for seed in (0..).map(|k| first.wrapping_add(k)) {
        match catch_unwind(AssertUnwindSafe(|| keeps(seed))) {
            Ok(times) => kept += times,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                println!("soak {promise} broken {seed} {}", text.replace('\n', " "));
                broken += 1;
            }
        }
        if started.elapsed().as_secs() >= seconds {
            break;
        }
    }
    println!("soak {promise} kept {kept}");
    assert_eq!(broken, 0, "{promise}: see the lines above");
}
