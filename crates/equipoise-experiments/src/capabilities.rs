//! The paper's Table 1: linear constraints, proximal terms, several threads and samples, each shown by runs of this folder.
//!
//! Given: records of all experiments. Returns: the claim, judged. Must not know: how the runs were made.

use equipoise_report::Verdict;

use crate::cell::Record;
use crate::claims::Claim;

/// Algorithm 2 does not get to targets as near as the others do: this much of the gap may be left.
const STOCHASTIC_LEFT: f64 = 0.1;

/// A column of the table: its name, and whether a run shows it; none where the run is about something else.
type Column = (&'static str, fn(&Record) -> Option<bool>);

const COLUMNS: [Column; 4] = [
    ("constraints", |record| (record.cell.experiment == "concurrency").then(|| reached(record))),
    ("proximal", |record| {
        let pairs_in_a_box = record.cell.experiment == "svm" && record.cell.get("locking") == "one-thread";
        let theorem = record.cell.get("kind") == "theorem-4";
        pairs_in_a_box.then(|| reached(record)).or(theorem.then(|| record.outcome.get("worst") <= 1.0))
    }),
    ("parallel", |record| {
        let threads = matches!(record.cell.experiment.as_str(), "concurrency" | "svm");
        (threads && record.cell.number("threads") > 1.0).then(|| reached(record))
    }),
    ("stochastic", |record| {
        let is_it = record.cell.experiment == "methods" && record.cell.get("method") == "stochastic";
        is_it.then(|| record.outcome.get("left") <= STOCHASTIC_LEFT)
    }),
];

fn reached(record: &Record) -> bool {
    record.outcome.get("reached") == 1.0
}

/// The last row of Table 1.
pub(crate) fn table_1(records: &[Record]) -> Claim {
    let claim = Claim::new(
        "table-1",
        "Table 1, last row: linear constraints, proximal terms, parallel and stochastic, all in one family of methods.",
        "Runs of this folder, judged by raw data: constrained (Figure 2), in a box (the dual of a support vector machine, Theorem 4), on several threads \
         (Figures 2 and 3), and Algorithm 2 with at most 0.1 of the gap left. Reproduced if most runs of each kind got there; not \
         tested where a kind was not run.",
    );
    let counts = COLUMNS.map(|(name, shows)| {
        let all: Vec<bool> = records.iter().filter_map(shows).collect();
        (name, all.iter().filter(|done| **done).count(), all.len())
    });
    if counts.iter().all(|(_, _, all)| *all == 0) {
        return claim;
    }
    let verdict = if counts.iter().any(|(_, done, all)| 2 * done <= *all && *all > 0) {
        Verdict::NotReproduced
    } else if counts.iter().any(|(_, _, all)| *all == 0) {
        Verdict::Untested
    } else {
        Verdict::Reproduced
    };
    let words: Vec<String> =
        counts.iter().map(|(name, done, all)| format!("{name} {done} of {all}")).collect();
    claim.with(verdict, words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Outcome};

    fn record(cell: Cell, value: &str, number: f64) -> Record {
        let outcome = Outcome::default().value(value, number);
        Record { cell, outcome, machine: String::new(), version: String::new(), seconds: 0.0 }
    }

    #[test]
    fn a_kind_without_runs_leaves_the_table_open() {
        assert_eq!(table_1(&[]).verdict, Verdict::Untested);
        let threads = |count: usize, reached: f64| {
            record(Cell::new("concurrency", 1, 1).with("threads", &count), "reached", reached)
        };
        let mut records = vec![threads(1, 1.0), threads(2, 1.0)];
        records.push(record(Cell::new("methods", 1, 1).with("method", "stochastic"), "left", 0.05));
        let claim = table_1(&records);
        assert_eq!(
            (claim.verdict, claim.found.as_str()),
            (Verdict::Untested, "constraints 2 of 2, proximal 0 of 0, parallel 1 of 1, stochastic 1 of 1")
        );
        records.push(record(Cell::new("theory", 1, 1).with("kind", "theorem-4"), "worst", 0.9));
        assert_eq!(table_1(&records).verdict, Verdict::Reproduced);
        records.push(record(Cell::new("theory", 2, 1).with("kind", "theorem-4"), "worst", 1.1));
        assert_eq!(table_1(&records).verdict, Verdict::NotReproduced, "one of two is not most");
    }
}
