//! Plots of results, as files: what `equipoise-report` draws, written whole.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use equipoise_formats::write_whole;

pub(crate) use equipoise_report::{Axis, Chart, Image, Mark, Panel, Series, colours};

/// Draws panels side by side into an SVG file.
pub(crate) fn write_svg(path: &Path, panels: &[Panel]) -> Result<()> {
    let text = equipoise_report::svg(panels).with_context(|| format!("cannot make {}", path.display()))?;
    write_whole(path, |out| out.write_all(text.as_bytes()))?;
    Ok(())
}
