//! `times.csv`: median seconds of each solver to each accuracy, by set and cost.

use std::path::Path;

use anyhow::{Context, Result};

use crate::table::{Row, number, read_table};

/// The name of our own solver in the record.
pub(super) const OURS: &str = "equipoise";
/// The two ways to LIBLINEAR's method; the quicker one in each cell counts.
const LIBLINEAR: [&str; 2] = ["liblinear", "linearsvc"];

/// What is known of one solver at one accuracy in one cell.
#[derive(Debug, Clone)]
pub(super) struct Time {
    pub(super) set: String,
    pub(super) cost: f64,
    pub(super) solver: String,
    pub(super) accuracy: f64,
    /// Nothing where the accuracy was not reached.
    pub(super) seconds: Option<f64>,
    pub(super) runs: u32,
    pub(super) peak_memory: Option<f64>,
    pub(super) share_right: Option<f64>,
    pub(super) right_on: String,
}

/// The whole table.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) rows: Vec<Time>,
}

impl Times {
    /// Reads the table.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let rows = read_table(path)?;
        let rows = rows.iter().map(|row| time(row).with_context(|| format!("{}: {row:?}", path.display())));
        Ok(Self { rows: rows.collect::<Result<_>>()? })
    }

    /// Names of the sets, in the order of the table.
    pub(super) fn sets(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.set.as_str()) {
                names.push(row.set.as_str());
            }
        }
        names
    }

    /// The costs, ascending.
    pub(super) fn costs(&self) -> Vec<f64> {
        let mut costs: Vec<f64> = self.rows.iter().map(|row| row.cost).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        costs
    }

    /// One cell of the table; `LIBLINEAR` is the quicker of the two ways to it.
    pub(super) fn find(&self, set: &str, cost: f64, solver: &str, accuracy: f64) -> Option<&Time> {
        let mut rows = self.rows.iter().filter(|row| {
            let named =
                row.solver == solver || (solver == "LIBLINEAR" && LIBLINEAR.contains(&row.solver.as_str()));
            named && row.set == set && row.cost == cost && row.accuracy == accuracy
        });
        let first = rows.next()?;
        let seconds = |row: &Time| row.seconds.unwrap_or(f64::INFINITY);
        Some(rows.fold(first, |best, row| if seconds(row) < seconds(best) { row } else { best }))
    }
}

fn time(row: &Row) -> Result<Time> {
    let text = |name: &str| row.get(name).cloned().with_context(|| format!("no column `{name}`"));
    Ok(Time {
        set: text("set")?,
        cost: number(row, "cost").context("cost")?,
        solver: text("solver")?,
        accuracy: number(row, "accuracy").context("accuracy")?,
        seconds: number(row, "seconds"),
        runs: number(row, "runs").map_or(0, |runs| runs as u32),
        peak_memory: number(row, "peak_memory"),
        share_right: number(row, "share_right"),
        right_on: text("right_on")?,
    })
}

#[cfg(test)]
pub(super) fn times_of(text: &str) -> Times {
    let header = "set,cost,solver,problem,accuracy,setting,seconds,runs,peak_memory,share_right,right_on\n";
    let rows = crate::table::table(&format!("{header}{text}"));
    Times { rows: rows.iter().map(|row| time(row).expect("a row")).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quicker_liblinear_counts() {
        let times = times_of(
            "a7a,1,liblinear,penalised,0.001,e=1,,0,,,\n\
             a7a,1,linearsvc,penalised,0.001,tol=1,0.5,5,1000,0.8,test\n\
             a7a,1,equipoise,free,0.001,gap,0.25,5,1000,0.8,test\n",
        );
        let found = times.find("a7a", 1.0, "LIBLINEAR", 1e-3).expect("a row");
        assert_eq!((found.solver.as_str(), found.seconds), ("linearsvc", Some(0.5)));
        assert!(times.find("a7a", 1.0, "liblinear", 1e-3).expect("a row").seconds.is_none());
        assert!(times.find("w8a", 1.0, "LIBLINEAR", 1e-3).is_none());
        assert_eq!(times.sets(), ["a7a"]);
        assert_eq!(times.costs(), [1.0]);
    }
}
