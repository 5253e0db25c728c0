//! What `--version` says: the version, the commit where it is known, and what the processor can do that matters here.

use std::sync::LazyLock;

/// The text behind the name of the program.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(words);
    &LONG
}

/// The commit that the program was made of, where that is known.
pub(crate) fn commit() -> Option<&'static str> {
    option_env!("EQUIPOISE_COMMIT")
}

/// Name, version and commit, in a line.
pub(crate) fn program() -> String {
    let commit = commit().map_or_else(String::new, |commit| format!(" ({commit})"));
    format!("equipoise {}{commit}", env!("CARGO_PKG_VERSION"))
}

fn words() -> String {
    let commit = commit().unwrap_or("not known");
    let processor = std::env::consts::ARCH;
    format!("{}\ncommit     {commit}\nprocessor  {processor}, {}", env!("CARGO_PKG_VERSION"), features())
}

/// The vector instructions that are used; chosen at run time.
fn features() -> String {
    let words: Vec<&str> = found().into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
    if words.is_empty() {
        "no vector instructions beyond its own".into()
    } else {
        format!("with {}", words.join(", "))
    }
}

#[cfg(target_arch = "x86_64")]
fn found() -> Vec<(&'static str, bool)> {
    vec![
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("fma", std::is_x86_feature_detected!("fma")),
        ("avx512f (not used)", std::is_x86_feature_detected!("avx512f")),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn found() -> Vec<(&'static str, bool)> {
    Vec::new()
}
