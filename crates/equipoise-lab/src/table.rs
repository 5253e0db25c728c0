//! Tables as text: comma-separated values in, figures out.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

/// One row of a table, by the names of its columns.
pub(crate) type Row = BTreeMap<String, String>;

/// Reads a CSV file without quotes: the benchmarks write no others.
pub(crate) fn read_table(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(table(&text))
}

pub(crate) fn table(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let row = |line: &str| {
        names.iter().zip(line.split(',')).map(|(name, cell)| ((*name).into(), cell.into())).collect()
    };
    lines.filter(|line| !line.is_empty()).map(row).collect()
}

/// A cell that is a number.
pub(crate) fn number(row: &Row, name: &str) -> Option<f64> {
    row.get(name)?.parse().ok()
}

/// Two significant digits, or three from 10 on.
pub(crate) fn figure(value: f64) -> String {
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

/// The middle number, or the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    let high = values.get(half)?;
    Some(if odd { *high } else { f64::midpoint(values[half - 1], *high) })
}
