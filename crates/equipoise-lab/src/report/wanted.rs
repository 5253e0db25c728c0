//! What was wanted, beside what was reached.

use super::extras::cold_ratios;
use super::means::mean;
use super::tables::{PARTS, slower, speedups};
use super::times::{Cell, GAPS, Rival, Times};
use crate::table::{Row, figure};
use crate::verdict::{Verdict, table as verdicts};

/// A cell may be slower than the first peer by this much.
const LEVEL: f64 = 0.95;
/// The mean against the best peer, for each cost and gap.
const MEAN: f64 = 1.2;
/// The worst cell against the best peer.
const WORST: f64 = 0.7;
/// The mean against the best peer over all cells.
const OVERALL: f64 = 3.0;
/// Two threads against one.
const TWO_THREADS: f64 = 1.5;

pub(super) fn table(out: &mut String, times: &Times, cold: &[Row]) {
    let mut lines = Vec::new();
    for (part, title, first) in PARTS {
        if times.sets(part).is_empty() {
            continue;
        }
        of_part(&mut lines, times, part, &title.to_lowercase(), first);
    }
    let ratios = cold_ratios(cold);
    let least = ratios.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    lines.push(Verdict::new(
        "from cold: `train` over ours, every set".into(),
        "above 1".into(),
        least.map(|(set, ratio)| format!("{} at worst ({set})", figure(*ratio))),
        least.map(|(_, ratio)| *ratio > 1.0),
    ));
    verdicts(out, &lines);
}

fn of_part(lines: &mut Vec<Verdict>, times: &Times, part: &str, title: &str, first: &str) {
    let share = |rival, least| {
        let (all, slow) = slower(times, part, rival, least);
        let worst = slow
            .first()
            .map_or(String::new(), |(cell, ratio)| format!("; worst {} ({cell})", figure(*ratio)));
        (all, slow.len(), format!("{} of {all} cells{worst}", all - slow.len()))
    };
    let (all, slow, text) = share(Rival::Named(first), LEVEL);
    let what = format!("{title}: never slower than {first}");
    lines.push(Verdict::new(
        what,
        format!("at least {LEVEL} in every cell"),
        Some(text),
        (all > 0).then_some(slow == 0),
    ));
    let (all, slow, text) = share(Rival::Best, WORST);
    let what = format!("{title}: worst cell against the best peer");
    lines.push(Verdict::new(
        what,
        format!("at least {WORST} in every cell"),
        Some(text),
        (all > 0).then_some(slow == 0),
    ));

    let (mut rows, mut met, mut lowest) = (0, 0, None::<(f64, f64, f64)>);
    for cost in times.costs(part) {
        for gap in GAPS {
            let mut cells = times.cells(part, gap);
            cells.retain(|cell| cell.cost == cost);
            let Some(value) = mean(times, &cells, Rival::Best).value else { continue };
            rows += 1;
            met += usize::from(value >= MEAN);
            if lowest.is_none_or(|(least, _, _)| value < least) {
                lowest = Some((value, cost, gap));
            }
        }
    }
    let text = lowest.map(|(value, cost, gap)| {
        format!("{met} of {rows} rows; lowest {} (C = {cost}, {gap:e})", figure(value))
    });
    let what = format!("{title}: mean against the best peer, each C and gap");
    lines.push(Verdict::new(what, format!("at least {MEAN}"), text, (rows > 0).then_some(met == rows)));

    let cells: Vec<Cell<'_>> = GAPS.iter().flat_map(|&gap| times.cells(part, gap)).collect();
    let overall = mean(times, &cells, Rival::Best).value;
    lines.push(Verdict::times(format!("{title}: mean against the best peer, all cells"), OVERALL, overall));

    let found = speedups(times, part);
    if !found.is_empty() {
        let slow: Vec<_> = found.iter().filter(|(_, _, speedup)| *speedup < TWO_THREADS).collect();
        let least = found.iter().min_by(|a, b| a.2.total_cmp(&b.2));
        let text = least.map(|(cell, _, speedup)| {
            format!(
                "{} of {} cells; least {} ({cell})",
                found.len() - slow.len(),
                found.len(),
                figure(*speedup)
            )
        });
        let what = format!("{title}: two threads of ours, where one takes over 0.2 s");
        lines.push(Verdict::new(what, format!("at least {TWO_THREADS}x"), text, Some(slow.is_empty())));
    }
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn a_slow_cell_is_a_miss_with_its_name() {
        let times = times_of(
            "grid,a,1,equipoise,1,0.001,,1,5,,\ngrid,a,1,linearsvc,1,0.001,,9,5,,\n\
             grid,b,1,equipoise,1,0.001,,1,5,,\ngrid,b,1,linearsvc,1,0.001,,0.5,5,,\n",
        );
        let mut out = String::new();
        table(&mut out, &times, &[]);
        assert!(out.contains("| 1 of 2 cells; worst 0.50 (b, C = 1, 1e-3) | **no** |"), "{out}");
        assert!(out.contains("| at least 1.2 | 1 of 1 rows; lowest 2.12 (C = 1, 1e-3) | yes |"), "{out}");
        assert!(out.contains("`train` over ours, every set | above 1 | not measured | - |"), "{out}");
    }
}
