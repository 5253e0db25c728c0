//! Tables and options into what the model takes.
//!
//! Given: the arguments. Returns: matrix, targets, region and settings, with the names of the columns. Must not know: how
//! it is solved.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::{Control, DenseMatrix, Matrix};
use equipoise_formats::table::{Header, RowNames, Table, TableOptions, read_table};
use equipoise_formats::{read_vector, suggest};
use equipoise_models::constrained::{Data, Region, Rows, Settings};

use crate::args::{ProblemArguments, TableArguments};

/// A problem, read.
pub(super) struct Input {
    pub(super) names: Vec<String>,
    pub(super) matrix: DenseMatrix<'static>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) targets: DenseMatrix<'static>,
    pub(super) target_names: Vec<String>,
    /// Whether the result is a list, also where there is one target.
    pub(super) is_many: bool,
    pub(super) region: Region,
    pub(super) settings: Settings,
    pub(super) seconds: f64,
}

impl Input {
    pub(super) fn read(path: &Path, args: &ProblemArguments, control: &Control) -> Result<Self> {
        let begun = Instant::now();
        let options = options(&args.table);
        let mut table = read_table(path, &options, control)?;
        let weights = match &args.weights {
            Some(weights) => Some(table.take_or_read(weights, control)?.values),
            None => None,
        };
        let (target_names, targets, is_many) = match (&args.target, &args.targets) {
            (Some(target), _) => one_or_many(&mut table, target, control)?,
            (None, Some(file)) => {
                let read = read_table(file, &TableOptions::default(), control)?;
                check_rows(&read, file, &table, path)?;
                (read.names, read.values, true)
            }
            (None, None) => bail!("--target or --targets is missing: say what is to be explained"),
        };
        if table.columns() == 0 {
            bail!("{}: no column is left beside the target; expected at least one", path.display());
        }
        let region = region(args, &table.names, control)?;
        let defaults = Settings::default();
        let settings = Settings {
            ridge: args.ridge.unwrap_or(defaults.ridge),
            gap: args.gap.unwrap_or(defaults.gap),
            threads: args.threads.unwrap_or(defaults.threads),
        };
        let rows = table.rows;
        Ok(Self {
            matrix: DenseMatrix::from_columns(rows, table.names.len(), table.values)?,
            names: table.names,
            weights,
            targets: DenseMatrix::from_columns(rows, target_names.len(), targets)?,
            target_names,
            is_many,
            region,
            settings,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    pub(super) fn data(&self) -> Data<'_> {
        Data { matrix: &self.matrix, weights: self.weights.as_deref() }
    }
}

fn options(args: &TableArguments) -> TableOptions {
    TableOptions {
        header: if args.no_header { Header::No } else { Header::Auto },
        row_names: if args.row_names { RowNames::Yes } else { RowNames::Auto },
        transpose: args.transpose,
        names: args.names.clone(),
        drop: args.drop.clone(),
        ..TableOptions::default()
    }
}

/// A column by its name; or a file of one column or row, or of several.
fn one_or_many(table: &mut Table, target: &str, control: &Control) -> Result<(Vec<String>, Vec<f64>, bool)> {
    let path = Path::new(target);
    if !table.names.iter().any(|name| name == target) && path.exists() {
        let read = read_table(path, &TableOptions::default(), control)?;
        if read.columns() > 1 && read.rows > 1 {
            check_rows(&read, path, table, Path::new("the table"))?;
            return Ok((read.names, read.values, true));
        }
    }
    let target = table.take_or_read(target, control)?;
    Ok((vec![target.name], target.values, false))
}

fn check_rows(read: &Table, file: &Path, table: &Table, of: &Path) -> Result<()> {
    if read.rows != table.rows {
        let (found, expected) = (read.rows, table.rows);
        bail!("{}: found {found} rows, expected {expected} as in {}", file.display(), of.display());
    }
    Ok(())
}

fn region(args: &ProblemArguments, names: &[String], control: &Control) -> Result<Region> {
    let sum = if args.simplex { Some(1.0) } else { args.sum };
    let columns = names.len();
    let lower = if sum.is_some() { 0.0 } else { f64::NEG_INFINITY };
    let lower = bounds("--lower", args.lower.as_deref(), lower, columns, control)?;
    let upper = bounds("--upper", args.upper.as_deref(), f64::INFINITY, columns, control)?;
    let rows = match (&args.equality, sum) {
        (Some(file), _) => equations(file, names, control)?,
        (None, Some(sum)) => Rows::Sum(sum),
        (None, None) => Rows::None,
    };
    Ok(Region { lower, upper, rows })
}

/// One number for all, or a file of one a column.
fn bounds(
    option: &str,
    typed: Option<&str>,
    default: f64,
    columns: usize,
    control: &Control,
) -> Result<Vec<f64>> {
    let Some(typed) = typed else { return Ok(vec![default; columns]) };
    if let Ok(number) = typed.parse::<f64>() {
        return Ok(vec![number; columns]);
    }
    let list = read_vector(typed, control).with_context(|| format!("{option} {typed}"))?;
    if list.len() != columns {
        bail!("{option} {typed}: found {} numbers, expected {columns}, one a column", list.len());
    }
    Ok(list)
}

/// Coefficients by the names of the columns, or one a column in their order; the right-hand side under `rhs`, or last.
fn equations(file: &Path, names: &[String], control: &Control) -> Result<Rows> {
    let mut table = read_table(file, &TableOptions::default(), control)?;
    let last = table.names.last().cloned().unwrap_or_default();
    let right = if table.names.iter().any(|name| name == "rhs") { "rhs".to_owned() } else { last };
    let rhs = table.take(&right)?.values;
    let is_numbered = table.names.iter().enumerate().all(|(k, name)| *name == (k + 1).to_string());
    let mut values = vec![vec![0.0; names.len()]; table.rows];
    if is_numbered && table.columns() != names.len() {
        let (found, expected) = (table.columns() + 1, names.len() + 1);
        bail!(
            "{}: found {found} numbers a row, expected {expected}: one a column and the right-hand side last",
            file.display()
        );
    }
    for (k, name) in table.names.iter().enumerate() {
        let place = if is_numbered { Some(k) } else { names.iter().position(|own| own == name) };
        let Some(place) = place else {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = suggest::nearest(name, &known)
                .map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
            bail!("{}: no column `{name}` in the data{hint}", file.display());
        };
        table.column(k).iter().enumerate().for_each(|(row, value)| values[row][place] = *value);
    }
    Ok(Rows::Equations { matrix: Matrix::from_rows(&values)?, rhs })
}
