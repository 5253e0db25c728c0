//! Plots of results, as files: what `equipoise-report` draws, written whole.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use equipoise_formats::write_whole;

pub(crate) use equipoise_report::{Axis, Chart, Image, Mark, Panel, Series, colours};

/// Draws panels side by side into a file: PNG where its name ends in `.png`, else SVG.
pub(crate) fn write_picture(path: &Path, panels: &[Panel]) -> Result<()> {
    let make = || {
        let svg = equipoise_report::svg(panels)?;
        let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        if is_png { equipoise_report::png(&svg) } else { Ok(svg.into_bytes()) }
    };
    let picture = make().with_context(|| format!("cannot make {}", path.display()))?;
    write_whole(path, |out| out.write_all(&picture))?;
    Ok(())
}
