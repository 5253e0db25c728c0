//! `equipoise man DIR`: a manual page for every command, made from the same words as `--help`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use equipoise_formats::write_whole;

use crate::args::Arguments;
use crate::exit::{self, Outcome};

pub(crate) fn run(folder: &Path) -> Result<Outcome> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut command = Arguments::command();
    command.build();
    let written = pages(&command, folder)?;
    let first = folder.join("equipoise.1");
    exit::print(&format!(
        "{written} pages in {}; man -l {} shows the first\n",
        folder.display(),
        first.display()
    ))?;
    Ok(Outcome::Met)
}

/// Writes the page of a command and those below it; returns how many.
fn pages(command: &clap::Command, folder: &Path) -> Result<usize> {
    let page = clap_mangen::Man::new(command.clone());
    write_whole(folder.join(page.get_filename()), |out| page.render(out))?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set());
    below.map(|below| pages(below, folder)).sum::<Result<usize>>().map(|count| count + 1)
}
