//! The points of a frontier as a CSV file: one row a portfolio.
//!
//! Given: portfolios. Returns: a file that appears whole or not at all. Must not know: how they were found.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use equipoise_formats::write_whole;
use equipoise_portfolio::Portfolio;

use crate::report::number;

/// The columns before the weights.
const COLUMNS: &str = "return,variance,risk,objective,bound,relative_gap,status,turnover";

pub(super) fn write(path: &Path, points: &[Portfolio], names: &[String]) -> Result<()> {
    write_whole(path, |out| {
        write!(out, "{COLUMNS}")?;
        names.iter().try_for_each(|name| write!(out, ",{}", quoted(name)))?;
        writeln!(out)?;
        for point in points {
            let Portfolio { expected_return, variance, objective, bound, relative_gap, turnover, .. } = point;
            let (risk, status) = (variance.max(0.0).sqrt(), point.status.name());
            let cells = [expected_return, variance, &risk, objective, bound, relative_gap];
            cells.iter().try_for_each(|cell| write!(out, "{},", number(**cell)))?;
            write!(out, "{status},{}", number(*turnover))?;
            point.weights.iter().try_for_each(|w| write!(out, ",{}", number(*w)))?;
            writeln!(out)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// A name as a field.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', ';', '\t']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}
