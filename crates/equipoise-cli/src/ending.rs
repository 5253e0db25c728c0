//! What the name of a file says of it, whatever the file is packed by.
//!
//! Given: a path. Returns: its name without the ending of a packer. Must not know: what is in the file; that it is packed is seen by its
//! first bytes.

use std::path::Path;

/// Endings of packers.
const PACKED: [&str; 4] = [".gz", ".bz2", ".xz", ".zst"];

/// The name of a file without the ending of a packer, as it is written.
pub(crate) fn without_packing(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let lower = name.to_lowercase();
    match PACKED
        .iter()
        .find(|ending| lower.ends_with(*ending) && lower.is_char_boundary(lower.len() - ending.len()))
    {
        // Lower case may have another length, the ending has not.
        Some(ending) => name[..name.len() - ending.len()].to_owned(),
        None => name,
    }
}

/// Whether a name has one of these endings, given without their point, packed or not.
pub(crate) fn has(path: &Path, endings: &[&str]) -> bool {
    let name = without_packing(path);
    let found = Path::new(&name).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    found.is_some_and(|found| endings.contains(&found.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packers_leave_no_trace() {
        for (name, without) in [
            ("a/b.csv", "b.csv"),
            ("b.TSV.Gz", "b.TSV"),
            ("b.m.zst", "b.m"),
            ("b.gz", "b"),
            ("-", "-"),
            ("..", ""),
        ] {
            assert_eq!(without_packing(Path::new(name)), without);
        }
        assert!(has(Path::new("a.CSV.xz"), &["csv", "tsv"]) && has(Path::new("case.m"), &["m"]));
        assert!(!has(Path::new("csv.gz"), &["csv"]) && !has(Path::new("a9a"), &["csv"]));
    }
}
