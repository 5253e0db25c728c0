//! `equipoise report`: histories, paths, frontiers and records of the lab on one page.
//!
//! Given files; returns one HTML file. What a file is follows from its first line or its keys. Histories share their
//! figures, a line a file, so that runs stand side by side; everything else has a section of its own.

mod histories;
mod lists;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use equipoise::Control;
use equipoise_formats::{read_unpacked, write_whole};
use equipoise_report::{Page, Section};
use serde_json::Value;

use crate::args::ReportArguments;
use crate::ending::without_packing;
use crate::exit::{self, Outcome};
use crate::outputs;

/// Bytes beyond which a file is no history and no path.
const MOST_BYTES: u64 = 1 << 30;

pub(crate) fn run(args: &ReportArguments, control: &Control) -> Result<Outcome> {
    let inputs: Vec<Option<&Path>> = args.files.iter().map(|file| Some(file.as_path())).collect();
    outputs::check(&[Some(&args.out)], &inputs)?;
    let mut histories = Vec::new();
    let mut sections = Vec::new();
    let mut left_out = 0;
    for file in &args.files {
        match read(file, control)? {
            Source::History((runs, more)) => {
                histories.extend(runs);
                left_out += more;
            }
            Source::Section(section) => sections.push(section),
        }
    }
    let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    // Folders are among the facts; a title is read on a telephone, too.
    let short = |file: &PathBuf| {
        file.file_name()
            .map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let titled = || format!("Report on {}", args.files.iter().map(short).collect::<Vec<_>>().join(", "));
    let title = args.title.clone().unwrap_or_else(titled);
    let mut page =
        Page::new(title).fact("version", crate::version::program()).fact("files", names.join(", "));
    if !histories.is_empty() {
        page = page.section(histories::section(&histories, left_out));
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
    History(histories::Runs),
    Section(Section),
}

fn read(path: &Path, control: &Control) -> Result<Source> {
    let is_piped = path.as_os_str() == "-";
    let shown = if is_piped { "standard input".to_owned() } else { path.display().to_string() };
    let text = read_unpacked(path, MOST_BYTES + 1, control)?;
    ensure!(
        text.len() as u64 <= MOST_BYTES,
        "{shown} has more than {MOST_BYTES} bytes: no history or path of equipoise is that large"
    );
    let name = Path::new(&without_packing(path)).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.filter(|_| !is_piped).unwrap_or_else(|| shown.clone());
    if let Some(runs) = histories::read(&name, &text).with_context(|| shown.clone())? {
        return Ok(Source::History(runs));
    }
    if let Some(section) = lists::walk(&name, &text).with_context(|| shown.clone())? {
        return Ok(Source::Section(section));
    }
    if let Ok(value) = serde_json::from_str::<Value>(&text)
        && let Some(section) = lists::section(&name, Some(path).filter(|_| !is_piped), &value)?
    {
        return Ok(Source::Section(section));
    }
    bail!(
        "{shown} is neither a history (CSV of --history) nor JSON of svm path, svm cv, lasso path, lasso cv, fused path, portfolio --frontier or lab"
    )
}
