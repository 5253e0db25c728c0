//! `summary.md`: what was wanted and reached, the bare loop, every case with its medians.

use std::fmt::Write;

use super::groups::{Group, Groups};
use super::wanted::{share_of_bare, verdicts};
use crate::table::figure;
use crate::verdict;

const HEAD: &str = "\
# Several threads

Seconds are medians over the runs that reached their target, from the first update on: factors made before are the
column \"preparation\" and do not count. A speed-up is the seconds of the best one-thread code (\"one-thread\"), in the
same part, on the same problem and with the same delay, over those of the case. `setup.txt` names the machine,
`threads.csv` has every run.
";

/// The parts with a table of cases.
const PARTS: [(&str, &str); 6] = [
    ("full-tree", "The paper's problem on tree+ring"),
    ("full-star", "The paper's problem on star+ring"),
    ("sweep", "A smaller problem at every thread count"),
    ("svm-pairs", "Random pairs of support vector machines"),
    ("violating", "Training by violating pairs"),
    ("protocols", "Protocols"),
];

/// The whole text.
pub(super) fn text(groups: &Groups, plots: &[&str]) -> String {
    let mut out = HEAD.to_owned();
    verdict::table(&mut out, &verdicts(groups));
    out.push_str("\n\"Never slower\" compares medians and allows 5 % of noise.\n");
    bare(&mut out, groups);
    for (part, title) in PARTS {
        let cases: Vec<&Group> = groups.of(part).collect();
        if !cases.is_empty() {
            let _ = writeln!(out, "\n## {title}\n");
            table(&mut out, groups, &cases);
        }
    }
    for plot in plots {
        let _ = writeln!(out, "\n![{}]({plot})", plot.trim_end_matches(".svg"));
    }
    out
}

fn bare(out: &mut String, groups: &Groups) {
    let cases: Vec<&Group> = groups.of("bare").collect();
    if cases.is_empty() {
        return;
    }
    out.push_str("\n## The bare loop: memory read as updates read it\n\n");
    out.push_str("| threads | updates/s | read |\n|---|---|---|\n");
    for group in cases {
        let _ = writeln!(out, "| {} | {} | {} |", group.threads, whole(group.rate), group.status);
    }
    let compared = groups.of("full-tree").filter(|group| group.delay_us == 0);
    for group in compared {
        if let Some(share) = share_of_bare(groups, group) {
            let words =
                if group.threads == 1 { "1 thread".into() } else { format!("{} threads", group.threads) };
            let _ = writeln!(out, "\ntree+ring, {}, {words}: {:.0} % of it.", group.locking, 100.0 * share);
        }
    }
}

fn table(out: &mut String, groups: &Groups, cases: &[&Group]) {
    out.push_str(
        "| problem | graph | locking | delay µs | threads | reached | preparation s | seconds | updates ",
    );
    out.push_str("| updates/s | speed-up |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for group in cases {
        let Group { problem, topology, locking, delay_us, threads, runs, reached, .. } = group;
        let _ = write!(out, "| {problem} | {topology} | {locking} | {delay_us} | {threads} ");
        let why = if reached < runs { format!(" ({})", group.status) } else { String::new() };
        let seconds = group.seconds.map_or("-".into(), |seconds| format!("{seconds:.4}"));
        let _ = write!(out, "| {reached} of {runs}{why} | {:.3} | {seconds} ", group.preparation);
        let speedup = groups.speedup(group).map_or("-".into(), figure);
        let _ = writeln!(out, "| {} | {} | {speedup} |", whole(group.updates), whole(group.rate));
    }
}

fn whole(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.0}"))
}
