//! Runs that differ only in their seed, and their medians.

use anyhow::{Context, Result};

use super::super::plan::ONE_THREAD;
use crate::table::{Row, median, number};

/// The parts in the order of the report.
const PARTS: [&str; 7] = ["bare", "full-tree", "full-star", "sweep", "svm-pairs", "violating", "protocols"];
/// Levels of locking in the order of the report.
const LOCKINGS: [&str; 4] = [ONE_THREAD, "none", "single", "double"];

/// Medians of one case; those of time and speed are over the runs that reached the target.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) part: String,
    pub(super) problem: String,
    pub(super) topology: String,
    pub(super) locking: String,
    pub(super) delay_us: u64,
    pub(super) threads: usize,
    pub(super) runs: usize,
    pub(super) reached: usize,
    /// Runs that reached the target and ended for that reason.
    pub(super) ended_well: usize,
    /// From the first update on; nothing where no run reached the target.
    pub(super) seconds: Option<f64>,
    pub(super) preparation: f64,
    pub(super) updates: Option<f64>,
    pub(super) rate: Option<f64>,
    /// The status of the last run.
    pub(super) status: String,
}

/// All cases of a record.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
}

impl Groups {
    /// Groups the rows of a table.
    pub(super) fn new(rows: &[Row]) -> Result<Self> {
        let mut cases: Vec<(Group, Vec<&Row>)> = Vec::new();
        for row in rows {
            let empty = empty(row).with_context(|| format!("{row:?}"))?;
            match cases.iter_mut().find(|(known, _)| *known == empty) {
                Some((_, members)) => members.push(row),
                None => cases.push((empty, vec![row])),
            }
        }
        let mut all: Vec<Group> = cases.into_iter().map(|(empty, members)| fill(empty, &members)).collect();
        let place = |list: &[&str], name: &str| list.iter().position(|known| *known == name);
        all.sort_by(|a, b| {
            let key = |group: &Group| {
                let names = (group.problem.clone(), group.topology.clone());
                (place(&PARTS, &group.part), names, group.delay_us, place(&LOCKINGS, &group.locking))
            };
            key(a).cmp(&key(b)).then(a.threads.cmp(&b.threads))
        });
        Ok(Self { all })
    }

    /// The cases of a part, in order.
    pub(super) fn of(&self, part: &str) -> impl Iterator<Item = &Group> {
        self.all.iter().filter(move |group| group.part == part)
    }

    /// The largest thread count at a level of locking and with a delay.
    pub(super) fn most(&self, part: &str, locking: &str, delay_us: u64) -> Option<&Group> {
        self.of(part)
            .filter(|group| group.locking == locking && group.delay_us == delay_us)
            .max_by_key(|group| group.threads)
    }

    /// The one-thread code on the same problem.
    pub(super) fn baseline(&self, group: &Group) -> Option<&Group> {
        let same = |other: &&Group| {
            (&other.problem, &other.topology, other.delay_us)
                == (&group.problem, &group.topology, group.delay_us)
        };
        // Training has one code, and runs it on one thread too.
        let one =
            |other: &&Group| other.locking == ONE_THREAD || (other.part == "violating" && other.threads == 1);
        self.of(&group.part).filter(same).find(one)
    }

    /// Seconds of the one-thread code over those of the case.
    pub(super) fn speedup(&self, group: &Group) -> Option<f64> {
        Some(self.baseline(group)?.seconds? / group.seconds?)
    }

    /// The problems of a part, each once.
    pub(super) fn problems(&self, part: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.of(part).map(|group| group.problem.as_str()).collect();
        names.dedup();
        names
    }
}

fn empty(row: &Row) -> Result<Group> {
    let text = |name: &str| row.get(name).cloned().with_context(|| format!("no column `{name}`"));
    let whole = |name: &str| text(name)?.parse::<u64>().with_context(|| name.to_owned());
    Ok(Group {
        part: text("part")?,
        problem: text("problem")?,
        topology: text("topology")?,
        locking: text("locking")?,
        delay_us: whole("delay_us")?,
        threads: whole("threads")? as usize,
        runs: 0,
        reached: 0,
        ended_well: 0,
        seconds: None,
        preparation: 0.0,
        updates: None,
        rate: None,
        status: String::new(),
    })
}

fn fill(empty: Group, rows: &[&Row]) -> Group {
    let is = |row: &Row, name: &str, value: &str| row.get(name).is_some_and(|cell| cell == value);
    let good: Vec<&Row> = rows.iter().copied().filter(|row| is(row, "reached", "true")).collect();
    let value = |row: &Row, name: &str| number(row, name).unwrap_or(f64::NAN);
    let of_good = |name: &str| median(good.iter().map(|row| value(row, name)).collect());
    let net = |row: &&Row| value(row, "seconds") - value(row, "preparation_seconds");
    // Behind a semicolon there may be remarks.
    let ended =
        |row: &Row| row.get("status").and_then(|cell| cell.split(';').next()).unwrap_or_default().to_owned();
    let expected = if empty.part == "violating" { "converged" } else { "target-reached" };
    Group {
        runs: rows.len(),
        reached: good.len(),
        ended_well: good.iter().filter(|row| ended(row) == expected).count(),
        seconds: median(good.iter().map(net).collect()),
        preparation: median(rows.iter().map(|row| value(row, "preparation_seconds")).collect())
            .unwrap_or(0.0),
        updates: of_good("updates"),
        rate: of_good("updates_per_second"),
        status: rows.last().and_then(|row| row.get("status")).cloned().unwrap_or_default(),
        ..empty
    }
}

#[cfg(test)]
pub(super) fn groups_of(lines: &str) -> Groups {
    let header = "part,problem,topology,locking,delay_us,threads,repeat,seconds,preparation_seconds,updates,\
                  updates_per_second,objective,target,reached,infeasibility,status\n";
    Groups::new(&crate::table::table(&format!("{header}{lines}"))).expect("a record")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_over_runs_that_reached_the_target() {
        let groups = groups_of(
            "sweep,p,tree+ring,none,20,15,1,3,1,100,50,0,0,true,0,target-reached\n\
             sweep,p,tree+ring,none,20,15,2,5,1,100,25,0,0,true,0,target-reached\n\
             sweep,p,tree+ring,none,20,15,3,99,1,100,25,0,0,false,0,time-limit\n\
             sweep,p,tree+ring,one-thread,20,1,1,31,1,100,25,0,0,true,0,target-reached\n",
        );
        assert_eq!(groups.all.len(), 2);
        let group = groups.most("sweep", "none", 20).expect("a case");
        assert_eq!((group.runs, group.reached, group.ended_well), (3, 2, 2));
        assert_eq!(group.seconds, Some(3.0));
        assert_eq!(groups.speedup(group), Some(10.0));
    }

    #[test]
    fn training_is_its_own_baseline() {
        let groups = groups_of(
            "violating,a7a C=1,clique,none,0,1,1,0.4,0,1,1,0,0,true,0,converged\n\
             violating,a7a C=1,clique,none,0,2,1,0.2,0,1,1,0,0,true,0,converged\n\
             violating,w8a C=1,clique,none,0,2,1,0.2,0,1,1,0,0,true,0,converged\n",
        );
        let speedups: Vec<_> = groups.all.iter().map(|group| groups.speedup(group)).collect();
        assert_eq!(speedups, [Some(1.0), Some(2.0), None]);
        assert_eq!(groups.problems("violating"), ["a7a C=1", "w8a C=1"]);
    }
}
