//! Cells one after another, each recorded before the next begins; then the page.

use std::path::PathBuf;

use anyhow::Result;
use equipoise::{Control, Halt};
use equipoise_report::png;

use crate::cell::{Cell, Record};
use crate::claims::Claim;
use crate::page::page;
use crate::plan::Plan;
use crate::store::Store;

/// Is told how a run goes.
pub trait Watcher {
    /// So much is to be done, of which so much was found in records.
    fn begin(&mut self, cells: usize, found: usize, weight: u64);
    /// This cell is about to be run.
    fn cell(&mut self, cell: &Cell);
    /// It is done.
    fn done(&mut self, cell: &Cell);
}

/// A run was ended before all cells were run.
#[derive(Debug)]
pub struct Ended {
    /// Cells that are recorded.
    pub recorded: usize,
    /// All cells.
    pub cells: usize,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "interrupted with {} of {} cells recorded; the same command goes on from there",
            self.recorded, self.cells
        )
    }
}

impl std::error::Error for Ended {}

/// What a run left.
#[derive(Debug)]
pub struct Summary {
    /// The page.
    pub page: PathBuf,
    /// How many figures it has.
    pub figures: usize,
    /// Cells that were run now, and those found in records.
    pub ran: usize,
    /// Cells that were recorded before.
    pub found: usize,
    /// The claims with their verdicts.
    pub claims: Vec<Claim>,
}

/// Runs what is not recorded yet, then makes the page, a file for every figure and `claims.json`.
pub fn run(plan: &Plan, store: &Store, watcher: &mut dyn Watcher, control: &Control) -> Result<Summary> {
    let mut cells = Vec::new();
    for experiment in &plan.experiments {
        cells.extend(experiment.cells(plan)?.into_iter().map(|cell| (*experiment, cell)));
    }
    let mut records: Vec<Option<Record>> = cells.iter().map(|(_, cell)| store.find(cell)).collect();
    let found = records.iter().flatten().count();
    let to_do = cells.iter().zip(&records).filter(|(_, record)| record.is_none());
    watcher.begin(cells.len(), found, to_do.map(|((_, cell), _)| cell.weight).sum());
    for (k, (experiment, cell)) in cells.iter().enumerate() {
        if records[k].is_some() {
            continue;
        }
        watcher.cell(cell);
        let recorded = records.iter().flatten().count();
        let record = store.found_or(cell, || {
            let outcome = experiment.run(plan, cell, control);
            // What a wish to stop cut short is no record.
            if control.check() == Err(Halt::Interrupted) {
                return Err(Ended { recorded, cells: cells.len() }.into());
            }
            outcome
        });
        records[k] =
            Some(record.map_err(|error| error.downcast::<Ended>().map_or_else(|error| error, Into::into))?);
        watcher.done(cell);
    }
    let records: Vec<Record> = records.into_iter().flatten().collect();
    let (page, claims) = page(plan, &records, store);
    let html = page.html()?;
    let figures = page.figures().filter(|figure| figure.has_data());
    let mut count = 0;
    for figure in figures {
        let svg = figure.svg()?;
        store.write(&format!("figures/{}.svg", figure.name()), svg.as_bytes())?;
        store.write(&format!("figures/{}.png", figure.name()), &png(&svg)?)?;
        count += 1;
    }
    store.write("claims.json", (serde_json::to_string_pretty(&claims)? + "\n").as_bytes())?;
    let path = store.write("index.html", html.as_bytes())?;
    Ok(Summary { page: path, figures: count, ran: cells.len() - found, found, claims })
}
