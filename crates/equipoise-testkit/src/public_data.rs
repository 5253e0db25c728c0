//! Where the public data sets lie: the folder that the variable `EQUIPOISE_DATA` names.
//!
//! Tests that read them are ignored (`#[ignore = "needs EQUIPOISE_DATA, the public data sets"]`) and live in modules
//! named `public_data`; `cargo xtask unit` runs them where the folder is at hand, and says so where it is not.

use std::path::{Path, PathBuf};

/// The path of a data set, such as `classification/heart_scale`; fails where it is not there.
pub fn path(file: &str) -> PathBuf {
    let folder = std::env::var_os("EQUIPOISE_DATA");
    let folder = folder.expect("EQUIPOISE_DATA is not set: it names the folder of the public data sets");
    let path = Path::new(&folder).join(file);
    assert!(path.is_file(), "EQUIPOISE_DATA has no {file}: there is no {}", path.display());
    path
}
