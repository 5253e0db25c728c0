//! `times.csv`: median seconds of each solver to each gap, by part, set and cost; and the ratios of a cell.

use std::path::Path;

use anyhow::{Context, Result};

use crate::table::{Row, figure, number, read_table};

/// The name of our own solver in the record.
pub(super) const OURS: &str = "equipoise";
/// The gaps, loose to tight.
pub(super) const GAPS: [f64; 3] = [1e-3, 1e-4, 1e-6];

/// What is known of one solver at one gap in one cell.
#[derive(Debug, Clone)]
pub(super) struct Time {
    pub(super) part: String,
    pub(super) set: String,
    pub(super) cost: f64,
    pub(super) solver: String,
    pub(super) threads: u32,
    pub(super) accuracy: f64,
    /// Nothing where the accuracy was not reached.
    pub(super) seconds: Option<f64>,
    /// 0 where the seconds are those of the climb: such a peer is not the best of its cell.
    pub(super) runs: u32,
    /// The limit, where that is why it was not reached.
    pub(super) over: Option<f64>,
    pub(super) peak_memory: Option<f64>,
}

/// One set at one cost and gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    pub(super) part: &'a str,
    pub(super) set: &'a str,
    pub(super) cost: f64,
    pub(super) gap: f64,
}

impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}, C = {}, {:e}", self.set, self.cost, self.gap)
    }
}

/// A peer's seconds over ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ratio {
    /// Both reached the accuracy.
    Known(f64),
    /// The peer was stopped at its limit; ours reached it.
    Above(f64),
    /// No rung of the peer's ladder reached it; ours did.
    NotReached,
    /// Ours did not, whatever the peer did.
    OursNotReached,
    /// There is no such cell in the record.
    NotRun,
}

impl Ratio {
    /// As it stands in a table.
    pub(super) fn text(self) -> String {
        match self {
            Self::Known(ratio) => figure(ratio),
            Self::Above(ratio) => format!("> {}", figure(ratio)),
            Self::NotReached => "not reached".into(),
            Self::OursNotReached => "**ours not reached**".into(),
            Self::NotRun => "not run".into(),
        }
    }

    /// The number that enters means: for a peer that was stopped, the bound.
    pub(super) fn value(self) -> Option<f64> {
        match self {
            Self::Known(ratio) | Self::Above(ratio) => Some(ratio),
            _ => None,
        }
    }
}

/// Whom a cell is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rival<'a> {
    /// One peer.
    Named(&'a str),
    /// The quickest peer of the cell.
    Best,
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

    /// Names of the sets of a part, in the order of the table.
    pub(super) fn sets(&self, part: &str) -> Vec<&str> {
        let mut names = Vec::new();
        for row in self.rows.iter().filter(|row| row.part == part) {
            if !names.contains(&row.set.as_str()) {
                names.push(row.set.as_str());
            }
        }
        names
    }

    /// The costs of a part, ascending.
    pub(super) fn costs(&self, part: &str) -> Vec<f64> {
        let rows = self.rows.iter().filter(|row| row.part == part);
        let mut costs: Vec<f64> = rows.map(|row| row.cost).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        costs
    }

    /// Every cell of a part at one gap.
    pub(super) fn cells<'a>(&'a self, part: &'a str, gap: f64) -> Vec<Cell<'a>> {
        let cell = |set, cost| Cell { part, set, cost, gap };
        let costs = self.costs(part);
        self.sets(part).into_iter().flat_map(|set| costs.iter().map(move |&cost| cell(set, cost))).collect()
    }

    fn of(&self, cell: Cell<'_>) -> impl Iterator<Item = &Time> {
        self.rows.iter().filter(move |row| {
            row.part == cell.part && row.set == cell.set && row.cost == cell.cost && row.accuracy == cell.gap
        })
    }

    /// Our time in a cell.
    pub(super) fn ours(&self, cell: Cell<'_>, threads: u32) -> Option<&Time> {
        self.of(cell).find(|row| row.solver == OURS && row.threads == threads)
    }

    /// The peer that a rival is in a cell: the quickest one, or the one that was stopped last.
    pub(super) fn peer(&self, cell: Cell<'_>, rival: Rival<'_>) -> Option<&Time> {
        let matches = |row: &&Time| match rival {
            Rival::Named(name) => row.solver == name,
            Rival::Best => row.solver != OURS && (row.runs > 0 || row.seconds.is_none()),
        };
        let rank = |row: &Time| match (row.seconds, row.over) {
            (Some(seconds), _) => (0, seconds),
            (None, Some(limit)) => (1, limit),
            (None, None) => (2, 0.0),
        };
        self.of(cell).filter(matches).min_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    /// The ratio of one cell.
    pub(super) fn ratio(&self, cell: Cell<'_>, rival: Rival<'_>) -> Ratio {
        let (Some(ours), Some(theirs)) = (self.ours(cell, 1), self.peer(cell, rival)) else {
            return Ratio::NotRun;
        };
        match (ours.seconds, theirs.seconds, theirs.over) {
            (None, _, _) => Ratio::OursNotReached,
            (Some(ours), Some(theirs), _) => Ratio::Known(theirs / ours),
            (Some(ours), None, Some(limit)) => Ratio::Above(limit / ours),
            _ => Ratio::NotReached,
        }
    }
}

fn time(row: &Row) -> Result<Time> {
    let text = |name: &str| row.get(name).cloned().with_context(|| format!("no column `{name}`"));
    Ok(Time {
        part: text("part")?,
        set: text("set")?,
        cost: number(row, "cost").context("cost")?,
        solver: text("solver")?,
        threads: number(row, "threads").map_or(1, |threads| threads as u32),
        accuracy: number(row, "accuracy").context("accuracy")?,
        seconds: number(row, "seconds"),
        runs: number(row, "runs").map_or(0, |runs| runs as u32),
        over: number(row, "over"),
        peak_memory: number(row, "peak_memory"),
    })
}

#[cfg(test)]
pub(super) fn times_of(text: &str) -> Times {
    let header = "part,set,cost,solver,threads,accuracy,setting,seconds,runs,over,peak_memory\n";
    let rows = crate::table::table(&format!("{header}{text}"));
    Times { rows: rows.iter().map(|row| time(row).expect("a row")).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_peer_is_one_that_was_timed() {
        let times = times_of(
            "grid,a,1,equipoise,1,0.001,gap,0.5,3,,\n\
             grid,a,1,linearsvc,1,0.001,tol,1,3,,\n\
             grid,a,1,liblinear,1,0.001,e,0.8,3,,\n\
             grid,a,1,rehline,1,0.001,tol,0.7,0,,\n\
             grid,a,1,snapml,1,0.001,,,0,0.6,\n\
             grid,a,10,equipoise,1,0.001,gap,0.5,3,,\n\
             grid,a,10,linearsvc,1,0.001,,,0,10,\n\
             grid,b,1,equipoise,1,0.001,gap,,0,,\n\
             grid,b,1,linearsvc,1,0.001,tol,1,3,,\n",
        );
        let cell = |set, cost| Cell { part: "grid", set, cost, gap: 1e-3 };
        assert_eq!(times.ratio(cell("a", 1.0), Rival::Named("linearsvc")), Ratio::Known(2.0));
        assert_eq!(times.ratio(cell("a", 1.0), Rival::Best), Ratio::Known(1.6));
        assert_eq!(times.ratio(cell("a", 10.0), Rival::Best), Ratio::Above(20.0));
        assert_eq!(times.ratio(cell("b", 1.0), Rival::Best), Ratio::OursNotReached);
        assert_eq!(times.ratio(cell("b", 10.0), Rival::Best), Ratio::NotRun);
        assert_eq!(times.sets("grid"), ["a", "b"]);
    }
}
