//! Data of a fit: the signal or image, what is not observed, the penalty, the design.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use equipoise::{Control, DenseMatrix, Matrix, SparseMatrix};
use equipoise_formats::read_matrix;
use equipoise_formats::table::{Missing, Table, TableOptions, read_table};
use equipoise_models::fused::{Design, Edge, FitSettings, Penalty, Signal};

use super::PenaltyName;
use crate::args::Fitting;

/// Everything that a fit is made of, as read.
#[derive(Debug)]
pub(crate) struct Data {
    /// The observations that have a number.
    pub(crate) y: Vec<f64>,
    /// The observations in their places, NaN for those without a number.
    pub(crate) raw: Vec<f64>,
    /// Which coefficients are observed, where some are not.
    observed: Option<Vec<usize>>,
    pub(crate) penalty: Penalty,
    design: Option<Matrix<'static>>,
    /// Rows and columns of an image.
    pub(crate) shape: Option<(usize, usize)>,
    /// The name of the column that was taken.
    pub(crate) column: Option<String>,
    /// Seconds that reading took.
    pub(crate) seconds: f64,
}

impl Data {
    /// Reads everything; `penalty` is that of a result, where one is checked.
    pub(crate) fn read(
        path: &Path,
        typed: &Fitting,
        penalty: PenaltyName,
        control: &Control,
    ) -> Result<Self> {
        let started = Instant::now();
        let is_grid = penalty == PenaltyName::Grid;
        check_files(typed, penalty)?;
        ensure!(
            !(is_grid && typed.design.is_some()),
            "penalty grid with --design: name the neighbours as a graph, with --edges"
        );
        // Columns that are not taken may lack numbers.
        let missing = Missing::Keep;
        let table = read_table(path, &TableOptions { missing, ..TableOptions::default() }, control)?;
        let (mut raw, mut shape, mut column) = (Vec::new(), None, None);
        if is_grid {
            ensure!(typed.column.is_none(), "--column: penalty grid takes all columns, as an image");
            let (rows, columns) = (table.rows, table.columns());
            raw = (0..rows * columns).map(|k| table.column(k % columns)[k / columns]).collect();
            shape = Some((rows, columns));
        } else {
            let taken = chosen(&table, typed.column.as_deref(), path)?;
            match taken {
                Some(k) => {
                    raw.extend_from_slice(table.column(k));
                    column = Some(table.names[k].clone());
                }
                // One row is a signal too.
                None => raw.extend_from_slice(&table.values),
            }
        }
        if let Some(k) = raw.iter().position(|y| !(y.is_finite() || y.is_nan() && typed.skip_missing)) {
            let (row, name) = match (shape, &column) {
                (Some((_, columns)), _) => (k / columns, table.names[k % columns].as_str()),
                (None, Some(name)) => (k, name.as_str()),
                (None, None) => (0, table.names[k].as_str()),
            };
            let (what, advice) = if raw[k].is_nan() {
                ("has no number".into(), "; --skip-missing leaves such observations out")
            } else {
                (format!("is {}", raw[k]), "")
            };
            bail!(
                "{}: row {}, column {name} {what}; every observation must be a finite number{advice}",
                path.display(),
                row + 1
            );
        }
        let mut design = typed.design.as_deref().map(|file| matrix(file, control)).transpose()?;
        let known: Vec<usize> = (0..raw.len()).filter(|k| !raw[*k].is_nan()).collect();
        ensure!(!known.is_empty(), "{}: no observation has a number", path.display());
        let y: Vec<f64> = known.iter().map(|k| raw[*k]).collect();
        let mut observed = None;
        if known.len() < raw.len() {
            match &mut design {
                Some(x) => {
                    let (found, expected) = (x.rows(), raw.len());
                    ensure!(
                        found == expected,
                        "--design has {found} rows, but there are {expected} observations"
                    );
                    *x = kept_rows(x, &known)?;
                }
                None => observed = Some(known),
            }
        }
        let penalty = match penalty {
            PenaltyName::Chain => Penalty::Chain,
            PenaltyName::Trend1 => Penalty::Trend1,
            PenaltyName::Trend2 => Penalty::Trend2,
            PenaltyName::Grid => {
                let (rows, columns) = shape.unwrap_or_default();
                Penalty::Grid { rows, columns }
            }
            PenaltyName::Graph => Penalty::Graph(edges(typed.edges.as_deref().unwrap_or(path), control)?),
            PenaltyName::Matrix => {
                let file = typed.d.as_deref().unwrap_or(path);
                Penalty::Matrix(sparse(&matrix(file, control)?).with_context(|| file.display().to_string())?)
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        Ok(Self { y, raw, observed, penalty, design, shape, column, seconds })
    }

    /// As the model takes it.
    pub(crate) fn signal(&self) -> Signal<'_> {
        let design = match (&self.design, &self.observed) {
            (Some(x), _) => Design::Matrix(x),
            (None, Some(indices)) => Design::Observed { indices, coefficients: self.raw.len() },
            (None, None) => Design::Identity,
        };
        Signal { y: &self.y, design, penalty: &self.penalty }
    }

    /// Whether the coefficients are in the place of the observations.
    pub(crate) fn is_plain(&self) -> bool {
        self.design.is_none()
    }

    /// Observations that were left out.
    pub(crate) fn skipped(&self) -> usize {
        self.raw.len() - self.y.len()
    }
}

/// Refuses a penalty without its file, and a file without its penalty.
fn check_files(typed: &Fitting, penalty: PenaltyName) -> Result<()> {
    for (name, file, of) in
        [("--edges", &typed.edges, PenaltyName::Graph), ("--d", &typed.d, PenaltyName::Matrix)]
    {
        match (file.is_some(), penalty == of) {
            (false, true) => bail!("penalty {penalty} needs {name} FILE"),
            (true, false) => bail!("{name} goes with penalty {of}, not with {penalty}"),
            _ => {}
        }
    }
    Ok(())
}

/// The settings as typed; lambda and the like follow.
pub(crate) fn settings(typed: &Fitting) -> FitSettings {
    let plain = FitSettings::default();
    FitSettings {
        sparse: typed.sparse.unwrap_or(plain.sparse),
        gap: typed.gap.unwrap_or(plain.gap),
        method: typed.method.unwrap_or(plain.method),
        threads: typed.threads.unwrap_or(plain.threads),
        max_rounds: typed.max_rounds.unwrap_or(plain.max_rounds),
        ..plain
    }
}

/// Which column is the signal; none where one row is.
fn chosen(table: &Table, name: Option<&str>, path: &Path) -> Result<Option<usize>> {
    match name {
        Some(name) => Ok(Some(table.find(name)?)),
        None if table.columns() == 1 => Ok(Some(0)),
        None if table.rows == 1 => Ok(None),
        None => {
            let few: Vec<&str> = table.names.iter().take(6).map(String::as_str).collect();
            let more = if table.columns() > few.len() { ", ..." } else { "" };
            bail!(
                "{} has {} columns: {}{more}; say which one is the signal with --column NAME (or --penalty grid for an image)",
                path.display(),
                table.columns(),
                few.join(", ")
            )
        }
    }
}

/// A matrix, from a file of numbers or a table with a header.
fn matrix(path: &Path, control: &Control) -> Result<Matrix<'static>> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match ending.to_ascii_lowercase().as_str() {
        "npy" | "mtx" => Ok(read_matrix(path, control)?),
        _ => Ok(read_table(path, &TableOptions::default(), control)?.into_matrix()?),
    }
}

fn sparse(matrix: &Matrix) -> Result<SparseMatrix<'static>> {
    match matrix {
        Matrix::Sparse(matrix) => Ok(matrix.clone().into_owned()),
        Matrix::Dense(_) => {
            let mut triplets = Vec::new();
            matrix.for_each(|r, c, value| {
                if value != 0.0 {
                    triplets.push((r, c, value));
                }
            });
            Ok(SparseMatrix::from_triplets(matrix.rows(), matrix.columns(), &triplets)?)
        }
    }
}

/// The rows with these numbers.
fn kept_rows(x: &Matrix, kept: &[usize]) -> Result<Matrix<'static>> {
    match x {
        Matrix::Dense(dense) => {
            let columns = (0..dense.columns()).flat_map(|c| kept.iter().map(move |r| dense.column(c)[*r]));
            Ok(DenseMatrix::from_columns(kept.len(), dense.columns(), columns.collect())?.into())
        }
        Matrix::Sparse(_) => {
            let mut place = vec![None; x.rows()];
            kept.iter().enumerate().for_each(|(k, r)| place[*r] = Some(k));
            let mut triplets = Vec::new();
            x.for_each(|r, c, value| triplets.extend(place[r].map(|k| (k, c, value))));
            Ok(SparseMatrix::from_triplets(kept.len(), x.columns(), &triplets)?.into())
        }
    }
}

/// A table of edges.
fn edges(path: &Path, control: &Control) -> Result<Vec<Edge>> {
    let table = read_table(path, &TableOptions::default(), control)?;
    let columns = table.columns();
    ensure!(
        columns == 2 || columns == 3,
        "{}: found {columns} columns, expected 2 (the nodes of an edge) or 3 (with its weight)",
        path.display()
    );
    let node = |column: usize, row: usize| {
        let found = table.column(column)[row];
        ensure!(
            found >= 0.0 && found.fract() == 0.0 && found < 1e15,
            "{}: edge {}: node {found}; nodes are numbered from 0, in the order of the observations",
            path.display(),
            row + 1
        );
        Ok(found as usize)
    };
    (0..table.rows)
        .map(|row| {
            let weight = if columns == 3 { table.column(2)[row] } else { 1.0 };
            Ok(Edge { from: node(0, row)?, to: node(1, row)?, weight })
        })
        .collect()
}
