//! Tables by cost and gap, and cell by cell.

use std::fmt::Write;

use super::means::mean;
use super::times::{Cell, GAPS, Ratio, Rival, Times};
use crate::table::figure;

/// A part of the record: its name there, its title, and the peer that none of our cells may be slower than.
pub(super) const PARTS: [(&str, &str, &str); 3] = [
    ("grid", "Two classes", "linearsvc"),
    ("classes", "Several classes, one against the rest", "linearsvc"),
    ("svr", "Regression", "linearsvr"),
];

/// Every part that the record has.
pub(super) fn all(out: &mut String, times: &Times) {
    for (part, title, first) in PARTS {
        if times.sets(part).is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n## {title}\n");
        by_cost_and_gap(out, times, part, first);
        for gap in GAPS {
            by_set_and_cost(out, times, part, first, gap);
        }
        two_threads(out, times, part);
    }
}

/// Geometric means over the sets, with the worst cell of each.
fn by_cost_and_gap(out: &mut String, times: &Times, part: &str, first: &str) {
    let heads = ["C", "gap", "mean against ", "worst", "mean against the best peer", "worst", "cells"];
    let heads =
        heads.map(|head| if head.ends_with("against ") { format!("{head}{first}") } else { head.into() });
    line(out, heads);
    rule(out, 7);
    let row = |out: &mut String, cost: String, gap: String, cells: &[Cell<'_>]| {
        let (named, best) = (mean(times, cells, Rival::Named(first)), mean(times, cells, Rival::Best));
        let count = best.cells.to_string();
        line(out, [cost, gap, named.text(), named.worst_text(), best.text(), best.worst_text(), count]);
    };
    for cost in times.costs(part) {
        for gap in GAPS {
            let mut cells = times.cells(part, gap);
            cells.retain(|cell| cell.cost == cost);
            row(out, cost.to_string(), format!("{gap:e}"), &cells);
        }
    }
    let cells: Vec<Cell<'_>> = GAPS.iter().flat_map(|&gap| times.cells(part, gap)).collect();
    row(out, "all".into(), "all".into(), &cells);
}

/// One row a set, one column a cost: the ratio against the first peer, then against the best, which is named.
fn by_set_and_cost(out: &mut String, times: &Times, part: &str, first: &str, gap: f64) {
    let costs = times.costs(part);
    let _ = writeln!(out, "\n### To {gap:e}: against {first} / against the best peer\n");
    let heads = costs.iter().map(|cost| format!("C = {cost}"));
    line(out, std::iter::once("set".to_owned()).chain(heads));
    rule(out, 1 + costs.len());
    for set in times.sets(part) {
        let cells = costs.iter().map(|&cost| {
            let cell = Cell { part, set, cost, gap };
            let (named, best) = (times.ratio(cell, Rival::Named(first)), times.ratio(cell, Rival::Best));
            match times.peer(cell, Rival::Best) {
                Some(peer) if peer.solver != first && peer.seconds.is_some() => {
                    format!("{} / {} {}", named.text(), best.text(), peer.solver)
                }
                _ if best == named => named.text(),
                _ => format!("{} / {}", named.text(), best.text()),
            }
        });
        line(out, std::iter::once(set.to_owned()).chain(cells));
    }
}

/// Our seconds on one thread over ours on two, where both were timed.
pub(super) fn speedups<'a>(times: &'a Times, part: &'a str) -> Vec<(Cell<'a>, f64, f64)> {
    let cells = GAPS.iter().flat_map(|&gap| times.cells(part, gap));
    let speedup = |cell: Cell<'a>| {
        let one = times.ours(cell, 1)?.seconds?;
        let two = times.ours(cell, 2)?.seconds?;
        Some((cell, one, one / two))
    };
    cells.filter_map(speedup).collect()
}

fn two_threads(out: &mut String, times: &Times, part: &str) {
    let found = speedups(times, part);
    if found.is_empty() {
        return;
    }
    out.push_str("\n### Two threads of ours, where one takes over 0.2 s\n\n");
    line(out, ["cell", "seconds on one thread", "speed-up"].map(str::to_owned));
    rule(out, 3);
    for (cell, seconds, speedup) in found {
        line(out, [cell.to_string(), format!("{seconds:.3}"), figure(speedup)]);
    }
}

/// Cells of a part that are slower than a peer by more than this, with their ratio.
pub(super) fn slower<'a>(
    times: &'a Times,
    part: &'a str,
    rival: Rival<'_>,
    least: f64,
) -> (usize, Vec<(Cell<'a>, f64)>) {
    let mut all = 0;
    let mut found = Vec::new();
    for cell in GAPS.iter().flat_map(|&gap| times.cells(part, gap)) {
        let ratio = match times.ratio(cell, rival) {
            Ratio::OursNotReached => 0.0,
            ratio => match ratio.value() {
                Some(value) => value,
                None => continue,
            },
        };
        all += 1;
        if ratio < least {
            found.push((cell, ratio));
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    (all, found)
}

pub(super) fn line(out: &mut String, cells: impl IntoIterator<Item = String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
}

pub(super) fn rule(out: &mut String, columns: usize) {
    out.push('|');
    (0..columns).for_each(|_| out.push_str("---|"));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn the_best_peer_is_named_where_it_is_another() {
        let times = times_of(
            "grid,a,1,equipoise,1,0.001,,1,5,,\ngrid,a,1,linearsvc,1,0.001,,3,5,,\ngrid,a,1,snapml,1,0.001,,0.5,5,,\n\
             grid,a,1,equipoise,2,0.001,,0.5,5,,\n",
        );
        let mut out = String::new();
        all(&mut out, &times);
        assert!(out.contains("| a | 3.00 / 0.50 snapml |"), "{out}");
        assert!(out.contains("| 1 | 1e-3 | 3.00 | 3.00 (a, C = 1, 1e-3) | 0.50 |"), "{out}");
        assert!(out.contains("| a, C = 1, 1e-3 | 1.000 | 2.00 |"), "{out}");
        let (cells, slow) = slower(&times, "grid", Rival::Best, 0.7);
        assert_eq!((cells, slow.len()), (1, 1));
    }
}
