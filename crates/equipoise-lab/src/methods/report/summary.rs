//! `summary.md`: what was wanted and reached, medians of every method, errors by updates.

use std::fmt::Write;

use super::curves::{Curve, Curves};
use super::groups::{Group, Groups};
use super::ratio::Cost;
use super::wanted::verdicts;
use crate::verdict;

const HEAD: &str = "\
# Methods

Seconds and updates to an objective of at most `f* + 1e-6 (f0 - f*)`, f0 that of the start: medians over repeats, then
over seeds. \">\" stands before a bound: a run was given up there. A ratio is taken seed by seed; \"at least\" is judged by
the worst seed, \"at most\" by the median. `setup.txt` names the machine, `methods.csv` and `slopes.csv` have every run.
";

/// The parts with a table of methods.
const PARTS: [(&str, &str); 3] = [
    ("accelerated", "Quadratics over a sum row"),
    ("samples", "Many samples of few dense features"),
    ("columns", "Columns much denser than rows"),
];

/// The whole text.
pub(super) fn text(groups: &Groups, curves: &Curves, plots: &[&str]) -> String {
    let mut out = HEAD.to_owned();
    verdict::table(&mut out, &verdicts(groups, curves));
    for (part, title) in PARTS {
        let problems = groups.problems(part);
        if !problems.is_empty() {
            let _ = writeln!(out, "\n## {title}\n");
            out.push_str(
                "| problem | graph | method | reached | seconds | updates |\n|---|---|---|---|---|---|\n",
            );
            for name in problems {
                groups.of(part, name).iter().for_each(|group| line(&mut out, group));
            }
        }
    }
    for problem in curves.problems() {
        let _ = writeln!(out, "\n## Errors by updates: {problem}\n");
        curves.of(problem).for_each(|curve| errors(&mut out, curve));
    }
    for plot in plots {
        let _ = writeln!(out, "\n![{}]({plot})", plot.trim_end_matches(".svg"));
    }
    out
}

fn line(out: &mut String, group: &Group) {
    let Group { problem, graph, method, runs, reached, .. } = group;
    let ran = if group.ran == *method || !method.starts_with("auto") || group.ran == "auto" {
        String::new()
    } else {
        format!(" ({})", group.ran)
    };
    let mut why = if reached < runs { format!(" ({})", group.status) } else { String::new() };
    if !group.trusted && reached == runs {
        why.push_str(" (f* is not trusted)");
    }
    let _ = write!(out, "| {problem} | {graph} | {method}{ran} | {reached} of {runs}{why} ");
    let _ = writeln!(out, "| {} | {} |", cost(group.seconds(), 4), cost(group.updates(), 0));
}

fn cost(cost: Option<Cost>, decimals: usize) -> String {
    let text = |cost: Cost| format!("{}{:.decimals$}", if cost.reached { "" } else { ">" }, cost.value);
    cost.map_or("-".into(), text)
}

fn errors(out: &mut String, curve: &Curve) {
    let runs = curve.points.iter().map(|point| point.runs).max().unwrap_or(0);
    let slope = curve.slope().map_or("not known".into(), |slope| format!("{slope:.2}"));
    let _ = writeln!(out, "{}, means of {runs} runs; fitted slope {slope}:\n", curve.method);
    out.push_str("| updates | error | standard error | bound |\n|---|---|---|---|\n");
    for point in &curve.points {
        let bound = point.bound.map_or("-".into(), |bound| format!("{bound:.2e}"));
        let _ = writeln!(
            out,
            "| {:.0} | {:.2e}{} | {:.1e} | {bound} |",
            point.updates,
            point.mean,
            if point.significant { "" } else { " (not significant)" },
            point.deviation
        );
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::curves::curves_of;
    use super::super::groups::groups_of;
    use super::*;

    #[test]
    fn a_small_record_is_told_in_full() {
        let groups = groups_of(&[
            ("accelerated", "diagonal", "ring", 1, "pairs", 60.0, 9000, false),
            ("accelerated", "diagonal", "ring", 1, "accelerated", 3.0, 300, true),
            ("columns", "squared", "clique", 1, "svrg", 0.5, 70, true),
        ]);
        let curves = curves_of(&[
            ("flat", "accelerated", 1, 10, 1e-2, Some(1.0)),
            ("flat", "accelerated", 1, 100, 1e-4, Some(0.5)),
        ]);
        let text = text(&groups, &curves, &["times-accelerated.svg"]);
        for expected in [
            "| diagonal, ring: time of pairs over accelerated | at least 5x | worst >20.0x, median >20.0x | yes |",
            "| diagonal | ring | pairs | 0 of 1 (time-limit) | >60.0000 | >9000 |",
            "| squared | clique | svrg | 1 of 1 | 0.5000 | 70 |",
            "accelerated, means of 1 runs; fitted slope -2.00:",
            "| 100 | 1.00e-4 | 0.0e0 | 5.00e-1 |",
            "![times-accelerated](times-accelerated.svg)",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("Many samples"));
    }
}
