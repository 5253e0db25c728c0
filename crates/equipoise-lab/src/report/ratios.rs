//! `ratios.md`: peers' seconds over ours, what was wanted beside what was reached.

use std::fmt::Write;

use super::means::{mean, ratio};
use super::targets;
use super::times::{OURS, Times};
use crate::table::{Row, figure};

/// The cost of the tables by set.
const COST: f64 = 1.0;

const HEAD: &str = "\
# SVM: time to an accuracy, against the peers

A number is the peer's seconds over ours, from data in memory to a model of that accuracy: above 1, ours is faster.
Ours is held to its relative duality gap; a peer to the relative suboptimality of its own primal against the best
primal seen in any run, which is less strict. One thread each. \"not reached\": not within the limit of a fit, or not
by any setting of the peer's ladder that was tried (`setup.txt` names ladders cut short); left out of the means.
";

/// The whole text.
pub(super) fn report(times: &Times, parse: &[Row], wanted: &[Row]) -> String {
    let mut out = HEAD.to_owned();
    let tables = Tables { times, wanted };
    tables.targets(&mut out);
    let same = "LIBSVM, `-t 0`: the same problem, bias not penalised";
    tables.by_set_and_cost(&mut out, same, "libsvm", 1e-3);
    out.push_str("\n## LIBLINEAR: the dual of the hinge loss, its own problem with the bias penalised\n\n");
    out.push_str("The quicker of liblinear-official (300 iterations at most) and LinearSVC in each cell; by set at C = 1.\n\n");
    tables.by_set(&mut out, &[("LIBLINEAR", 1e-3), ("LIBLINEAR", 1e-4), ("LIBLINEAR", 1e-6)]);
    for accuracy in [1e-3, 1e-4, 1e-6] {
        let title = format!("LIBLINEAR at {accuracy:e}, all costs");
        tables.by_set_and_cost(&mut out, &title, "LIBLINEAR", accuracy);
    }
    out.push_str("\n## Others, by set at C = 1\n\n");
    tables.by_set(&mut out, &[("rehline", 1e-3), ("snapml", 1e-3), ("sgd", 1e-3)]);
    out.push_str("\n## Ours against ourselves\n\n");
    tables.ourselves(&mut out);
    seconds(&mut out, times);
    reading(&mut out, parse);
    memory(&mut out, times);
    out
}

struct Tables<'a> {
    times: &'a Times,
    wanted: &'a [Row],
}

impl Tables<'_> {
    fn wanted(&self, comparison: &str, accuracy: f64, statistic: &str) -> &str {
        let found = self.wanted.iter().find(|row| {
            let cell = |name: &str| row.get(name).map_or("", String::as_str);
            let near = cell("accuracy").parse().is_ok_and(|given: f64| given == accuracy);
            cell("comparison") == comparison && near && cell("statistic") == statistic
        });
        found.and_then(|row| row.get("wanted")).map_or("", String::as_str)
    }

    /// What was wanted, line by line, with a verdict.
    fn targets(&self, out: &mut String) {
        if self.wanted.is_empty() {
            return;
        }
        out.push_str("\n## Wanted and reached\n\n");
        line(out, ["ratio", "reached", "wanted", "met"].map(str::to_owned));
        rule(out, 4);
        for row in targets::rows(self.times, self.wanted) {
            line(out, row);
        }
    }

    /// One row a set at C = 1, then the mean over all sets and costs.
    fn by_set(&self, out: &mut String, columns: &[(&str, f64)]) {
        let heads = columns.iter().map(|(solver, accuracy)| format!("{solver} {accuracy:e} | wanted"));
        line(out, std::iter::once("set".to_owned()).chain(heads));
        rule(out, 1 + 2 * columns.len());
        for set in self.times.sets() {
            let cells = columns.iter().flat_map(|&(solver, accuracy)| {
                let reached = ratio(self.times, set, COST, solver, accuracy).text();
                [reached, self.wanted(solver, accuracy, set).to_owned()]
            });
            line(out, std::iter::once(set.to_owned()).chain(cells));
        }
        let cells = columns.iter().flat_map(|&(solver, accuracy)| {
            let reached = mean(self.times, solver, accuracy).text();
            [reached, self.wanted(solver, accuracy, "mean").to_owned()]
        });
        line(out, std::iter::once("geometric mean, all C".to_owned()).chain(cells));
    }

    /// One row a set, one column a cost, and the mean.
    fn by_set_and_cost(&self, out: &mut String, title: &str, solver: &str, accuracy: f64) {
        let costs = self.times.costs();
        let _ = writeln!(out, "\n## {title}\n");
        line(
            out,
            std::iter::once(format!("set, at {accuracy:e}"))
                .chain(costs.iter().map(|cost| format!("C = {cost}")))
                .chain(std::iter::once("wanted at C = 1".to_owned())),
        );
        rule(out, 2 + costs.len());
        for set in self.times.sets() {
            let cells = costs.iter().map(|&cost| ratio(self.times, set, cost, solver, accuracy).text());
            let wanted = std::iter::once(or_dash(self.wanted(solver, accuracy, set)).to_owned());
            line(out, std::iter::once(set.to_owned()).chain(cells).chain(wanted));
        }
        let reached = mean(self.times, solver, accuracy).text();
        let _ = writeln!(
            out,
            "\nGeometric mean: {reached}; wanted: {}",
            or_dash(self.wanted(solver, accuracy, "mean"))
        );
    }

    fn ourselves(&self, out: &mut String) {
        line(out, ["comparison".into(), "reached".into(), "wanted".into()]);
        rule(out, 3);
        let pairs = ratio(self.times, "a7a", COST, "equipoise pairs", 1e-4).text();
        let wanted = self.wanted("equipoise pairs", 1e-4, "a7a").to_owned();
        line(out, ["uniform random pairs over the default, a7a, C = 1, to 1e-4".into(), pairs, wanted]);
        for set in ["a7a", "w8a"] {
            let reached = targets::tight_over_loose(self.times, set).text();
            let wanted = self.wanted("tight over loose", 1e-8, set).to_owned();
            line(out, [format!("our time to 1e-8 over our time to 1e-4, {set}, C = 1"), reached, wanted]);
        }
    }
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

fn line(out: &mut String, cells: impl IntoIterator<Item = String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
}

fn rule(out: &mut String, columns: usize) {
    line(out, std::iter::repeat_n("---".to_owned(), columns));
}

/// Solvers in the order of the record.
fn solvers(times: &Times) -> Vec<&str> {
    let mut names = Vec::new();
    for row in &times.rows {
        if !names.contains(&row.solver.as_str()) {
            names.push(row.solver.as_str());
        }
    }
    names
}

fn seconds(out: &mut String, times: &Times) {
    let accuracies = [1e-2, 1e-3, 1e-4, 1e-6, 1e-8];
    out.push_str("\n## Seconds at C = 1 (median; the number of runs where it is not five)\n\n");
    let heads = accuracies.iter().map(|accuracy| format!("{accuracy:e}"));
    line(out, ["set".to_owned(), "solver".to_owned()].into_iter().chain(heads));
    rule(out, 2 + accuracies.len());
    for set in times.sets() {
        for solver in solvers(times) {
            let found: Vec<_> =
                accuracies.iter().map(|&accuracy| times.find(set, COST, solver, accuracy)).collect();
            if found.iter().all(Option::is_none) {
                continue;
            }
            let cells = found.iter().map(|time| match time.map(|time| (time.seconds, time.runs)) {
                None => String::new(),
                Some((None, _)) => "not reached".into(),
                Some((Some(seconds), 5)) => format!("{seconds:.4}"),
                Some((Some(seconds), runs)) => format!("{seconds:.4} ({runs})"),
            });
            line(out, [set.to_owned(), solver.to_owned()].into_iter().chain(cells));
        }
    }
}

fn reading(out: &mut String, parse: &[Row]) {
    if parse.is_empty() {
        return;
    }
    out.push_str("\n## Reading LIBSVM text (median of five)\n\n");
    line(out, ["file", "reader", "threads", "seconds", "MB/s", "over ours on 1 thread"].map(str::to_owned));
    rule(out, 6);
    let cell = |row: &Row, name: &str| row.get(name).cloned().unwrap_or_default();
    let value = |row: &Row, name: &str| cell(row, name).parse::<f64>().unwrap_or(f64::NAN);
    for row in parse {
        let ours = parse.iter().find(|other| {
            cell(other, "file") == cell(row, "file")
                && cell(other, "reader") == OURS
                && cell(other, "threads") == "1"
        });
        let seconds = value(row, "seconds");
        let speed = format!("{:.0}", value(row, "bytes") / seconds / 1e6);
        let over = ours.map_or("not run".into(), |ours| figure(seconds / value(ours, "seconds")));
        let [file, reader, threads] = ["file", "reader", "threads"].map(|name| cell(row, name));
        line(out, [file, reader, threads, format!("{seconds:.4}"), speed, over]);
    }
}

fn memory(out: &mut String, times: &Times) {
    out.push_str(
        "\n## Peak memory and accuracy at C = 1, at 1e-3 (or the nearest looser accuracy reached)\n\n",
    );
    out.push_str("A peer's memory includes Python and the data in every form that it needs.\n\n");
    line(
        out,
        ["set", "solver", "peak memory, MB", "classified correctly", "of the rows for"].map(str::to_owned),
    );
    rule(out, 5);
    for set in times.sets() {
        for solver in solvers(times) {
            let reached = |&accuracy: &f64| {
                times.find(set, COST, solver, accuracy).filter(|time| time.seconds.is_some())
            };
            let Some(time) = [1e-3, 1e-2, 1e-4].iter().find_map(reached) else { continue };
            let memory = time.peak_memory.map_or("-".into(), |bytes| format!("{:.0}", bytes / 1e6));
            let right = time.share_right.map_or("-".into(), |share| format!("{:.2} %", 100.0 * share));
            line(out, [set.to_owned(), solver.to_owned(), memory, right, time.right_on.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn wanted_stands_beside_reached() {
        let times = times_of(
            "a7a,1,equipoise,free,0.001,,0.5,5,1e6,0.8,test\na7a,1,linearsvc,penalised,0.001,,1,5,2e6,0.8,test\n\
             a7a,1,equipoise,free,0.0001,,1,5,1e6,0.8,test\na7a,1,equipoise,free,0.00000001,,2.5,5,1e6,0.8,test\n",
        );
        let names = ["comparison", "accuracy", "statistic", "wanted"];
        let wanted = |cells: [&str; 4]| {
            names.iter().zip(cells).map(|(name, cell)| ((*name).into(), cell.into())).collect()
        };
        let wanted =
            [wanted(["LIBLINEAR", "1e-3", "a7a", "1.5"]), wanted(["tight over loose", "1e-8", "a7a", "3"])];
        let text = report(&times, &[], &wanted);
        assert!(text.contains("| a7a | 2.00 | 1.5 | not run |"), "{text}");
        assert!(text.contains("a7a, C = 1 | 2.50 | 3 |"), "{text}");
        assert!(text.contains("| a7a | linearsvc | 2 | 80.00 % | test |"), "{text}");
    }
}
