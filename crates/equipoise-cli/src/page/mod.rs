//! `equipoise report`: histories, paths, frontiers and records of the lab on one page.
//!
//! Given files; returns one HTML file. What a file is follows from its first line or its keys. Histories share their
//! figures, a line a file, so that runs stand side by side; everything else has a section of its own.

mod histories;
mod lists;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use equipoise_formats::write_whole;
use equipoise_report::{Page, Section};
use serde_json::Value;

use crate::args::ReportArguments;
use crate::exit::{self, Outcome};
use crate::outputs;

/// Bytes beyond which a file is no history and no path.
const MOST_BYTES: u64 = 1 << 30;

pub(crate) fn run(args: &ReportArguments) -> Result<Outcome> {
    let inputs: Vec<Option<&Path>> = args.files.iter().map(|file| Some(file.as_path())).collect();
    outputs::check(&[Some(&args.out)], &inputs)?;
    let mut histories = Vec::new();
    let mut sections = Vec::new();
    for file in &args.files {
        match read(file)? {
            Source::History(history) => histories.push(history),
            Source::Section(section) => sections.push(section),
        }
    }
    let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let title = args.title.clone().unwrap_or_else(|| format!("Report on {}", names.join(", ")));
    let mut page =
        Page::new(title).fact("version", crate::version::program()).fact("files", names.join(", "));
    if !histories.is_empty() {
        page = histories::sections(&histories).into_iter().fold(page, Page::section);
    }
    let page = sections.into_iter().fold(page, Page::section);
    write_page(&args.out, &page)?;
    if !args.quiet {
        exit::print(&format!("page  {}\n", args.out.display()))?;
    }
    Ok(Outcome::Met)
}

/// Writes a page whole.
pub(crate) fn write_page(path: &Path, page: &Page) -> Result<()> {
    let html = page.html().with_context(|| format!("cannot make {}", path.display()))?;
    write_whole(path, |out| out.write_all(html.as_bytes()))?;
    Ok(())
}

/// What a file turned out to be.
enum Source {
    History(histories::History),
    Section(Section),
}

fn read(path: &Path) -> Result<Source> {
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    ensure!(
        size <= MOST_BYTES,
        "{} has {size} bytes: no history or path of equipoise is that large",
        path.display()
    );
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path
        .file_stem()
        .map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    if let Some(history) =
        histories::History::read(&name, &text).with_context(|| path.display().to_string())?
    {
        return Ok(Source::History(history));
    }
    if let Ok(value) = serde_json::from_str::<Value>(&text)
        && let Some(section) = lists::section(&name, path, &value)?
    {
        return Ok(Source::Section(section));
    }
    bail!(
        "{} is neither a history (CSV of --history) nor JSON of svm path, svm cv, lasso path, lasso cv, portfolio --frontier or lab",
        path.display()
    )
}
