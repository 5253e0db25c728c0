//! docs/reproduction.md: what was found of the paper's claims, with figures, from the records under benchmarks/runs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use equipoise_experiments::{Recorded, recorded};
use equipoise_report::Section;

/// Records on 16 cores, in the order of the story.
const FOLDERS: [&str; 4] = ["threads", "wide-delay", "wide-no-delay", "random-pairs-w8a"];
const BEFORE: &str = include_str!("reproduction.md");

/// Where the records are, and where the page goes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder with the records of 16 cores.
    #[arg(long, default_value = "benchmarks/runs/2026-11-15-xeon-16-core")]
    runs: PathBuf,
    /// The folder of the documents.
    #[arg(long, default_value = "docs")]
    out: PathBuf,
}

/// Writes the page and its figures.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (text, figures) = made(&arguments.runs)?;
    let images = arguments.out.join("images/reproduction");
    std::fs::create_dir_all(&images).with_context(|| format!("cannot make {}", images.display()))?;
    for (name, svg) in figures {
        let path = images.join(name);
        std::fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let path = arguments.out.join("reproduction.md");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The text of the page, and its figures by the names of their files.
fn made(runs: &Path) -> Result<(String, Vec<(String, String)>)> {
    let read = |folder: &&str| {
        let path = runs.join(folder).join("threads.csv");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Recorded::read(folder, &text)
    };
    let sections = recorded(&FOLDERS.iter().map(read).collect::<Result<Vec<_>>>()?);
    let mut text = String::from(BEFORE);
    for section in &sections {
        let _ = write!(text, "\n{}", section.markdown("images/reproduction").trim_end());
        text.push('\n');
    }
    let figures = sections.iter().flat_map(Section::figures);
    let figures = figures.map(|figure| Ok((format!("{}.svg", figure.name()), figure.svg()?)));
    Ok((text, figures.collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_records_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (text, figures) = made(&root.join("benchmarks/runs/2026-11-15-xeon-16-core")).expect("records");
        let found = std::fs::read_to_string(root.join("docs/reproduction.md")).expect("a page");
        assert!(found == text, "renew it: cargo run -p equipoise-lab -- reproduction");
        assert!(figures.len() >= 5);
        for (name, svg) in figures {
            let found =
                std::fs::read_to_string(root.join("docs/images/reproduction").join(&name)).expect("a figure");
            assert!(found == svg, "renew {name}: cargo run -p equipoise-lab -- reproduction");
        }
    }
}
