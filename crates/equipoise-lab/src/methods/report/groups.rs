//! Runs of one method on one problem, seed by seed.

use anyhow::{Context, Result};

use super::ratio::{Cost, Ratios};
use crate::table::{Row, number};

/// One seed of a problem: medians over the repeats.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seed {
    pub(super) number: u64,
    pub(super) seconds: Cost,
    pub(super) updates: Cost,
}

/// A method on a problem and graph.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) part: String,
    pub(super) problem: String,
    pub(super) graph: String,
    pub(super) method: String,
    pub(super) seeds: Vec<Seed>,
    pub(super) runs: usize,
    pub(super) reached: usize,
    /// Whether the optimum is known well enough, for every seed.
    pub(super) trusted: bool,
    /// The method that ran, by the last row.
    pub(super) ran: String,
    /// The status of the last run that missed its target, or of the last.
    pub(super) status: String,
}

impl Group {
    /// The median over the seeds.
    pub(super) fn seconds(&self) -> Option<Cost> {
        Cost::median(&self.seeds.iter().map(|seed| seed.seconds).collect::<Vec<_>>())
    }

    pub(super) fn updates(&self) -> Option<Cost> {
        Cost::median(&self.seeds.iter().map(|seed| seed.updates).collect::<Vec<_>>())
    }

    /// What a cost of this is, in times of another's, seed by seed.
    pub(super) fn over(&self, other: &Self, cost: impl Fn(&Seed) -> Cost) -> Ratios {
        let same = |mine: &Seed| other.seeds.iter().find(|theirs| theirs.number == mine.number);
        let ratio = |mine: &Seed| Some(cost(mine).over(cost(same(mine)?)));
        Ratios(self.seeds.iter().filter_map(ratio).collect())
    }
}

/// All of a record.
#[derive(Debug)]
pub(super) struct Groups {
    /// In the order of the rows.
    pub(super) all: Vec<Group>,
}

impl Groups {
    /// Groups the rows of a table.
    pub(super) fn new(rows: &[Row]) -> Result<Self> {
        let mut keys: Vec<([String; 4], Vec<&Row>)> = Vec::new();
        for row in rows {
            let text = |name: &str| row.get(name).cloned().with_context(|| format!("no column `{name}`"));
            let key = [text("part")?, text("problem")?, text("graph")?, text("method")?];
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, members)) => members.push(row),
                None => keys.push((key, vec![row])),
            }
        }
        let groups = keys.into_iter().map(|(key, members)| group(key, &members));
        Ok(Self { all: groups.collect::<Result<_>>()? })
    }

    /// The problems of a part with their graphs, each once.
    pub(super) fn problems(&self, part: &str) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for group in self.all.iter().filter(|group| group.part == part) {
            let name = (group.problem.as_str(), group.graph.as_str());
            if !found.contains(&name) {
                found.push(name);
            }
        }
        found
    }

    /// The methods on a problem.
    pub(super) fn of(&self, part: &str, (problem, graph): (&str, &str)) -> Vec<&Group> {
        let mine = |group: &&Group| group.part == part && group.problem == problem && group.graph == graph;
        self.all.iter().filter(mine).collect()
    }
}

fn group([part, problem, graph, method]: [String; 4], rows: &[&Row]) -> Result<Group> {
    let is = |row: &Row, name: &str| row.get(name).is_some_and(|cell| cell == "true");
    let text = |row: &Row, name: &str| row.get(name).cloned().unwrap_or_default();
    let mut seeds: Vec<u64> = Vec::new();
    for row in rows {
        let seed = text(row, "seed").parse().context("seed")?;
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    }
    let cost = |seed: u64, name: &str| {
        let mine = rows.iter().filter(|row| text(row, "seed") == seed.to_string());
        let one = |row: &&Row| {
            let mut value = number(row, name).context(name.to_owned())?;
            let reached = is(row, "reached");
            if let (false, "seconds", Some(limit)) = (reached, name, number(row, "time_limit")) {
                // What comes after the limit, a certificate, is not part of the search; a run that stalled before it would
                // not have got there by going on.
                value = if text(row, "status").starts_with("stalled") { limit } else { value.min(limit) };
            }
            Ok(Cost { value, reached })
        };
        let costs: Vec<Cost> = mine.map(one).collect::<Result<_>>()?;
        Cost::median(&costs).context("no runs")
    };
    let each = |&seed: &u64| {
        Ok(Seed { number: seed, seconds: cost(seed, "seconds")?, updates: cost(seed, "updates")? })
    };
    let missed = rows.iter().rev().find(|row| !is(row, "reached"));
    let last = missed.or(rows.last()).context("no runs")?;
    Ok(Group {
        part,
        problem,
        graph,
        method,
        seeds: seeds.iter().map(each).collect::<Result<_>>()?,
        runs: rows.len(),
        reached: rows.iter().filter(|row| is(row, "reached")).count(),
        trusted: rows.iter().all(|row| is(row, "trusted")),
        ran: text(last, "ran"),
        status: text(last, "status"),
    })
}

/// Part, problem, graph, seed, method, seconds, updates, reached.
#[cfg(test)]
pub(super) type Run<'a> = (&'a str, &'a str, &'a str, u64, &'a str, f64, u64, bool);

/// A table of runs; what is left has usual values.
#[cfg(test)]
pub(super) fn groups_of(runs: &[Run<'_>]) -> Groups {
    use std::fmt::Write;

    let mut text = format!("{}\n", super::super::record::HEADER);
    for (part, problem, graph, seed, method, seconds, updates, reached) in runs {
        let status = if *reached { "target-reached" } else { "time-limit" };
        let problem = format!("{part},{problem},{graph},{seed},{method},1");
        let cost = format!("{seconds},0,{updates},1,0,0,true,0,0,{reached}");
        let _ = writeln!(text, "{problem},{cost},0,60,{method},{status}");
    }
    Groups::new(&crate::table::table(&text)).expect("a record")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_kept_apart_and_limits_are_bounds() {
        let groups = groups_of(&[
            ("accelerated", "p", "ring", 1, "pairs", 61.0, 900, false),
            ("accelerated", "p", "ring", 2, "pairs", 30.0, 500, true),
            ("accelerated", "p", "ring", 1, "accelerated", 2.0, 30, true),
            ("accelerated", "p", "ring", 1, "accelerated", 4.0, 50, true),
            ("accelerated", "p", "ring", 2, "accelerated", 5.0, 50, true),
        ]);
        let all = groups.of("accelerated", ("p", "ring"));
        assert_eq!((all.len(), all[0].runs, all[0].reached), (2, 2, 1));
        assert_eq!(all[0].status, "time-limit");
        let ratios = all[0].over(all[1], |seed| seed.seconds);
        let text: Vec<String> = ratios.0.iter().map(ToString::to_string).collect();
        assert_eq!(text, [">20.0x", "6.00x"]);
        assert_eq!(groups.problems("accelerated"), [("p", "ring")]);
    }
}
