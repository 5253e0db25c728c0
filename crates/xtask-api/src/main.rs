//! The public interface of a crate as text, one item a line: `xtask-api TARGET/doc/CRATE.json`.
//!
//! Given rustdoc's JSON; prints modules, types, functions, traits and implementations, sorted. Left out, because they
//! follow from what is printed: blanket and auto-trait implementations, and the methods of derived traits. Ends with
//! [`OTHER_FORMAT`] where the JSON is not of the version that is understood.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use public_api::Builder;

/// The version of rustdoc's JSON that is understood: that of rustc 1.94 and 1.95.
const JSON_FORMAT: u32 = 57;
/// Exit status: the JSON is of another version.
const OTHER_FORMAT: u8 = 3;

fn main() -> ExitCode {
    match run() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        bail!("usage: xtask-api FILE.json");
    };
    let json = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let found = format_version(&json);
    if found != Some(JSON_FORMAT) {
        let found = found.map_or_else(|| "unknown".to_owned(), |version| version.to_string());
        eprintln!("rustdoc wrote JSON of version {found}, understood is {JSON_FORMAT}");
        return Ok(ExitCode::from(OTHER_FORMAT));
    }
    let items = |derived: bool| -> Result<Vec<String>> {
        let builder = Builder::from_rustdoc_json(&path).omit_blanket_impls(true).omit_auto_trait_impls(true);
        let api = builder.omit_auto_derived_impls(!derived).build()?;
        Ok(api.items().map(ToString::to_string).collect())
    };
    let written: BTreeSet<String> = items(false)?.into_iter().collect();
    for line in items(true)? {
        if line.starts_with("impl") || written.contains(&line) {
            println!("{line}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The version that rustdoc states near the end of its file.
fn format_version(json: &str) -> Option<u32> {
    let (_, rest) = json.rsplit_once("\"format_version\":")?;
    let digits = rest.trim_start();
    digits[..digits.find(|c: char| !c.is_ascii_digit())?].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::format_version;

    #[test]
    fn the_version_is_read_from_the_end() {
        assert_eq!(format_version(r#"{"docs":"\"format_version\":1","format_version":57}"#), Some(57));
        assert_eq!(format_version(r#"{"format_version": 8, "target": {}}"#), Some(8));
        assert_eq!(format_version("{}"), None);
    }
}
