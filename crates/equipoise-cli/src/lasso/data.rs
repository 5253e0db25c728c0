//! The table of a regression: target and covariates taken out or read, logarithms taken, constraints by name.
//!
//! - Given: what was typed. Returns: X by column with its names, y, weights, settings of the library.
//! - Must not know: how a fit is made or shown.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::{Control, Matrix};
use equipoise_formats::table::{Header, RowNames, Table, TableOptions, read_table};
use equipoise_models::lasso::{Data, Loss, Settings};

use super::report::Recipe;
use crate::args::RegressionArguments;
use crate::interrupt::Interrupt;

/// A regression, read and checked as far as files go.
#[derive(Debug)]
pub(crate) struct Regression {
    pub(crate) names: Vec<String>,
    pub(crate) target: String,
    x: Matrix<'static>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    pub(crate) settings: Settings,
    pub(crate) control: Control,
    /// Which targets became -1 and +1, for the logistic loss.
    pub(crate) labels: Option<(f64, f64)>,
    /// What is to be done to other rows before they are predicted.
    pub(crate) model: Recipe,
    pub(crate) seconds_load: f64,
}

impl Regression {
    pub(crate) fn read(path: &Path, args: &RegressionArguments, interrupt: &Interrupt) -> Result<Self> {
        let started = Instant::now();
        if let Some(limit) = args.time_limit.filter(|limit| limit.is_nan() || *limit <= 0.0) {
            bail!("--time-limit is {limit}; it must be positive");
        }
        let control = interrupt.within(args.time_limit);
        let options = TableOptions {
            header: if args.no_header { Header::No } else { Header::Auto },
            row_names: if args.row_names { RowNames::Yes } else { RowNames::Auto },
            transpose: args.transpose,
            names: args.names.clone(),
            drop: args.drop.clone(),
            ..TableOptions::default()
        };
        let mut table = read_table(path, &options, &control)?;
        let target = table.take_or_read(&args.target, &control)?;
        let weights = args.weights.as_ref().map(|name| table.take_or_read(name, &control)).transpose()?;
        let mut covariates = Vec::new();
        for name in &args.covariates {
            covariates.push(table.take_or_read(name, &control)?);
        }
        if table.columns() == 0 {
            bail!("{}: no column is left beside the target and covariates", path.display());
        }
        if args.log {
            take_logarithms(&mut table, args.pseudo_count, path)?;
        }
        let (parts, rows) = (table.columns(), table.rows);
        let (mut names, mut values) = (table.names, table.values);
        for covariate in &covariates {
            if names.contains(&covariate.name) {
                bail!("two columns are called {}; rename one", covariate.name);
            }
            names.push(covariate.name.clone());
            values.extend_from_slice(&covariate.values);
        }
        let constraints = if args.zero_sum {
            let row: Vec<f64> = (0..names.len()).map(|j| f64::from(u8::from(j < parts))).collect();
            Some(Matrix::from_rows(&[row])?)
        } else {
            args.constraints.as_deref().map(|file| constraints(file, &names, &control)).transpose()?
        };
        let weights = weights.map(|weights| weights.values);
        let table = Table::new(names, rows, values);
        let mut settings = settings(args)?;
        settings.constraints = constraints;
        settings.penalties = penalties(&table, parts, args.standardise, weights.as_deref())?;
        let mut y = target.values;
        let labels = (settings.loss == Loss::Logistic).then(|| labels(&mut y, &target.name)).transpose()?;
        let names = table.names.clone();
        let x = table.into_matrix()?;
        let model = Recipe {
            target: target.name.clone(),
            loss: settings.loss.to_string(),
            log: args.log,
            pseudo_count: args.pseudo_count.filter(|_| args.log),
            covariates: covariates.into_iter().map(|covariate| covariate.name).collect(),
            labels,
        };
        let seconds_load = started.elapsed().as_secs_f64();
        Ok(Self { names, target: target.name, x, y, weights, settings, control, labels, model, seconds_load })
    }

    pub(crate) fn data(&self) -> Data<'_> {
        Data { x: &self.x, y: &self.y, weights: self.weights.as_deref() }
    }

    /// Names the column in an error of the library that has its number.
    pub(crate) fn explain(&self, error: equipoise_models::lasso::Error) -> anyhow::Error {
        use equipoise_models::lasso::Error;
        match &error {
            Error::ConstantColumn { column, .. } => {
                let name = self.names[*column].clone();
                anyhow::Error::new(error).context(format!("column {name}"))
            }
            _ => error.into(),
        }
    }
}

fn settings(args: &RegressionArguments) -> Result<Settings> {
    let plain = Settings::default();
    let loss = match (args.loss.unwrap_or(plain.loss), args.delta) {
        (Loss::Huber(own), delta) => Loss::Huber(delta.unwrap_or(own)),
        (loss, None) => loss,
        (loss, Some(_)) => bail!("--delta belongs to --loss huber, and the loss is {loss}"),
    };
    Ok(Settings {
        loss,
        intercept: !args.no_intercept,
        l1_ratio: args.l1_ratio.unwrap_or(plain.l1_ratio),
        gap: args.gap.unwrap_or(plain.gap),
        threads: args.threads.unwrap_or(plain.threads),
        ..plain
    })
}

fn take_logarithms(table: &mut Table, pseudo_count: Option<f64>, path: &Path) -> Result<()> {
    if let Some(count) = pseudo_count.filter(|count| !(*count > 0.0 && count.is_finite())) {
        bail!("--pseudo-count is {count}; it must be positive");
    }
    let rows = table.rows;
    for (place, value) in table.values.iter_mut().enumerate() {
        let (column, row) = (&table.names[place / rows], place % rows + 1);
        *value = logarithm(*value, pseudo_count)
            .with_context(|| format!("{}: row {row}, column {column}", path.display()))?;
    }
    Ok(())
}

/// The logarithm of a part, with the pseudo-count in the place of 0.
pub(super) fn logarithm(value: f64, pseudo_count: Option<f64>) -> Result<f64> {
    let positive = pseudo_count.filter(|_| value == 0.0).unwrap_or(value);
    if positive == 0.0 {
        bail!("0 has no logarithm; --pseudo-count 0.5 puts 0.5 in the place of zeros");
    }
    if positive < 0.0 {
        bail!("found {value}; only positive numbers have a logarithm");
    }
    Ok(positive.ln())
}

/// Rows of C: under names of columns, or one number a column.
fn constraints(file: &Path, names: &[String], control: &Control) -> Result<Matrix<'static>> {
    let table = read_table(file, &TableOptions::default(), control)?;
    let is_named = table.names.iter().any(|name| names.contains(name));
    let mut rows = vec![vec![0.0; names.len()]; table.rows];
    if !is_named && table.columns() != names.len() {
        bail!(
            "{}: found {} columns without names; {} are needed, one a column of the data (or give names)",
            file.display(),
            table.columns(),
            names.len()
        );
    }
    for (k, name) in table.names.iter().enumerate() {
        let place = if is_named {
            let known = || format!("{}: {name} is no column of the data", file.display());
            names.iter().position(|own| own == name).with_context(known)?
        } else {
            k
        };
        for (row, value) in rows.iter_mut().zip(table.column(k)) {
            row[place] = *value;
        }
    }
    Ok(Matrix::from_rows(&rows)?)
}

/// Factors on the penalty: 0 for covariates; standard deviations where asked for.
fn penalties(
    table: &Table,
    parts: usize,
    standardise: bool,
    weights: Option<&[f64]>,
) -> Result<Option<Vec<f64>>> {
    if !standardise && parts == table.columns() {
        return Ok(None);
    }
    let mut factors = Vec::with_capacity(table.columns());
    for j in 0..table.columns() {
        factors.push(if j >= parts {
            0.0
        } else if standardise {
            let size = deviation(table.column(j), weights);
            if size == 0.0 {
                bail!(
                    "column {} is the same in every row and cannot be standardised; --drop it",
                    table.names[j]
                );
            }
            size
        } else {
            1.0
        });
    }
    Ok(Some(factors))
}

fn deviation(column: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..column.len()).map(weight).sum();
    let mean = column.iter().enumerate().map(|(i, v)| weight(i) * v).sum::<f64>() / total;
    let square: f64 = column.iter().enumerate().map(|(i, v)| weight(i) * (v - mean) * (v - mean)).sum();
    (square / total).sqrt()
}

/// Makes two different targets -1, the smaller, and +1.
fn labels(y: &mut [f64], target: &str) -> Result<(f64, f64)> {
    let low = y.iter().copied().fold(f64::INFINITY, f64::min);
    let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if let Some((row, other)) = y.iter().enumerate().find(|(_, y)| **y != low && **y != high) {
        bail!(
            "{target}, row {}: found {other} beside {low} and {high}; the logistic loss wants two different values",
            row + 1
        );
    }
    if low == high {
        bail!("{target} is {low} in every row; the logistic loss wants two different values");
    }
    y.iter_mut().for_each(|y| *y = if *y == high { 1.0 } else { -1.0 });
    Ok((low, high))
}
