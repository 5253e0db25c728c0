//! What was wanted of the methods, beside what was reached.
//!
//! "At least" is judged by the worst seed; "at most", where times of milliseconds are compared, by the median.

use super::super::contenders::VARIANCE_REDUCED;
use super::curves::{Curve, Curves};
use super::groups::{Group, Groups, Seed};
use super::ratio::{Cost, Ratios};
use crate::verdict::Verdict;

/// Every line.
pub(super) fn verdicts(groups: &Groups, curves: &Curves) -> Vec<Verdict> {
    let mut lines = Vec::new();
    for name in groups.problems("accelerated") {
        momentum(&groups.of("accelerated", name), name, &mut lines);
    }
    for name in groups.problems("samples") {
        lines.push(against_stochastic(&groups.of("samples", name), name));
    }
    for name in groups.problems("columns") {
        let all = groups.of("columns", name);
        let ratios = find(&all, "pairs").zip(reduced(&all)).map(|(pairs, best)| pairs.over(best, seconds));
        let what = format!("{}: best of svrg and saga over pairs", title(name));
        lines.push(at_least(what, 1.0, ratios.as_ref(), &all));
    }
    for part in ["accelerated", "samples", "columns"] {
        for name in groups.problems(part) {
            lines.push(automatic(&groups.of(part, name), name));
        }
    }
    for curve in &curves.all {
        slope(curve, &mut lines);
    }
    lines
}

fn title((problem, graph): (&str, &str)) -> String {
    format!("{problem}, {graph}")
}

fn seconds(seed: &Seed) -> Cost {
    seed.seconds
}

fn find<'a>(all: &[&'a Group], method: &str) -> Option<&'a Group> {
    all.iter().copied().find(|group| group.method == method)
}

/// The method with the lowest median.
fn best<'a>(all: impl Iterator<Item = &'a Group>) -> Option<&'a Group> {
    let keyed = all.filter_map(|group| Some((group.seconds()?, group)));
    // A bound is no time: any method that reached its target comes first.
    let key = |cost: Cost| (!cost.reached, cost.value);
    keyed
        .min_by(|a, b| key(a.0).partial_cmp(&key(b.0)).unwrap_or(std::cmp::Ordering::Equal))
        .map(|(_, group)| group)
}

fn reduced<'a>(all: &[&'a Group]) -> Option<&'a Group> {
    best(all.iter().copied().filter(|group| VARIANCE_REDUCED.contains(&group.method.as_str())))
}

/// By the worst seed.
fn at_least(what: String, least: f64, ratios: Option<&Ratios>, all: &[&Group]) -> Verdict {
    let worst = ratios.and_then(Ratios::least);
    let middle = ratios.and_then(Ratios::middle);
    let text = worst.zip(middle).map(|(worst, middle)| format!("worst {worst}, median {middle}"));
    let met = worst.map(|worst| worst.is_at_least(least));
    trusting(Verdict::new(what, format!("at least {least}x"), text, met), all)
}

/// By the median.
fn at_most(what: String, most: f64, ratios: Option<&Ratios>, note: &str, all: &[&Group]) -> Verdict {
    let worst = ratios.and_then(Ratios::most);
    let middle = ratios.and_then(Ratios::middle);
    let text = worst.zip(middle).map(|(worst, middle)| format!("median {middle}, worst {worst}{note}"));
    let met = middle.map(|middle| middle.is_at_most(most));
    trusting(Verdict::new(what, format!("at most {most}x"), text, met), all)
}

/// Nothing is met by an accuracy that is not known.
fn trusting(mut verdict: Verdict, all: &[&Group]) -> Verdict {
    if verdict.met.is_some() && all.iter().any(|group| !group.trusted) {
        verdict.reached.push_str(" (f* is not trusted)");
        verdict.met = Some(false);
    }
    verdict
}

fn momentum(all: &[&Group], name: (&str, &str), lines: &mut Vec<Verdict>) {
    let pairs = find(all, "pairs");
    for method in ["accelerated", "accelerated-equalised"] {
        let Some(mine) = find(all, method) else { continue };
        let what = |cost: &str| format!("{}: {cost} of pairs over {method}", title(name));
        if name.1 == "clique" {
            let ratios = pairs.map(|pairs| mine.over(pairs, seconds));
            let what = format!("{}: time of {method} over pairs", title(name));
            lines.push(at_most(what, 1.2, ratios.as_ref(), "", all));
        } else {
            let updates = pairs.map(|pairs| pairs.over(mine, |seed| seed.updates));
            lines.push(at_least(what("updates"), 10.0, updates.as_ref(), all));
            let times = pairs.map(|pairs| pairs.over(mine, seconds));
            lines.push(at_least(what("time"), 5.0, times.as_ref(), all));
        }
    }
}

/// The best schedule of each seed against the best variance-reduced method.
fn against_stochastic(all: &[&Group], name: (&str, &str)) -> Verdict {
    let what = format!("{}: best stochastic schedule over best of svrg and saga", title(name));
    let stochastic: Vec<&Group> =
        all.iter().copied().filter(|group| group.method.starts_with("stochastic")).collect();
    let ratios = reduced(all).filter(|_| !stochastic.is_empty()).map(|best| {
        let ratio = |mine: &Seed| {
            let theirs = stochastic
                .iter()
                .filter_map(|group| group.seeds.iter().find(|seed| seed.number == mine.number));
            Some(Cost::least(theirs.map(seconds))?.over(mine.seconds))
        };
        Ratios(best.seeds.iter().filter_map(ratio).collect())
    });
    at_least(what, 20.0, ratios.as_ref(), all)
}

fn automatic(all: &[&Group], name: (&str, &str)) -> Verdict {
    let manual = best(all.iter().copied().filter(|group| group.method != "auto"));
    let ratios = find(all, "auto").zip(manual).map(|(auto, manual)| auto.over(manual, seconds));
    let note = manual.map_or(String::new(), |manual| format!(" ({} is best)", manual.method));
    at_most(format!("{}: auto over the best method by hand", title(name)), 1.3, ratios.as_ref(), &note, all)
}

fn slope(curve: &Curve, lines: &mut Vec<Verdict>) {
    let Curve { problem, method, .. } = curve;
    let most = match method.as_str() {
        "accelerated" => -2.0,
        name if name.starts_with("stochastic") => -0.5,
        _ => return,
    };
    let distrust = if curve.trusted { "" } else { " (f* is not trusted)" };
    let (found, fitted) = (curve.slope(), curve.fitted().count());
    lines.push(Verdict::new(
        format!("{problem}: slope of {method}"),
        format!("at most {most}"),
        found.map(|slope| format!("{slope:.2} over {fitted} of {} points{distrust}", curve.points.len())),
        found.map(|slope| slope <= most && curve.trusted),
    ));
    let (held, all) = curve.held();
    lines.push(Verdict::new(
        format!("{problem}: {method} within its bound"),
        "at every point".into(),
        (all > 0).then(|| format!("{held} of {all} points{distrust}")),
        (all > 0).then_some(held == all && curve.trusted),
    ));
}

#[cfg(test)]
mod tests {
    use super::super::curves::curves_of;
    use super::super::groups::groups_of;
    use super::*;

    fn judged(verdicts: &[Verdict], what: &str) -> (String, Option<bool>) {
        let found = verdicts.iter().find(|line| line.what.contains(what)).expect(what);
        (found.reached.clone(), found.met)
    }

    #[test]
    fn momentum_is_judged_by_its_worst_seed() {
        let groups = groups_of(&[
            ("accelerated", "d", "ring", 1, "pairs", 60.0, 9000, false),
            ("accelerated", "d", "ring", 1, "accelerated", 3.0, 300, true),
            ("accelerated", "d", "ring", 2, "pairs", 40.0, 8000, true),
            ("accelerated", "d", "ring", 2, "accelerated", 10.0, 400, true),
            ("accelerated", "d", "clique", 1, "pairs", 1.0, 10, true),
            ("accelerated", "d", "clique", 1, "accelerated", 1.1, 10, true),
        ]);
        let lines = verdicts(&groups, &curves_of(&[]));
        let pair = |reached: &str, met| (reached.to_owned(), Some(met));
        assert_eq!(judged(&lines, "updates of pairs"), pair("worst 20.0x, median 20.0x", true));
        assert_eq!(judged(&lines, "d, ring: time of pairs"), pair("worst 4.00x, median 4.00x", false));
        assert_eq!(judged(&lines, "accelerated over pairs"), pair("median 1.10x, worst 1.10x", true));
        assert_eq!(judged(&lines, "d, ring: auto"), ("not measured".into(), None));
    }

    #[test]
    fn variance_reduction_is_judged_by_the_best_schedule() {
        let row = |method, seconds, reached| ("samples", "l", "clique", 1, method, seconds, 10, reached);
        let groups = groups_of(&[
            row("svrg", 1.0, true),
            row("saga", 2.0, true),
            row("pairs", 4.0, true),
            row("auto", 1.2, true),
            row("stochastic-paper", 25.0, false),
            row("stochastic-constant", 18.0, true),
        ]);
        let lines = verdicts(&groups, &curves_of(&[]));
        assert_eq!(judged(&lines, "stochastic"), ("worst 18.0x, median 18.0x".into(), Some(false)));
        assert_eq!(judged(&lines, "auto"), ("median 1.20x, worst 1.20x (svrg is best)".into(), Some(true)));
    }

    #[test]
    fn slopes_and_bounds_are_judged() {
        let curves = curves_of(&[
            ("q", "accelerated", 1, 10, 1e-2, Some(1.0)),
            ("q", "accelerated", 1, 100, 1e-3, Some(1e-4)),
            ("q", "pairs", 1, 100, 1e-3, None),
        ]);
        let lines = verdicts(&groups_of(&[]), &curves);
        assert_eq!(lines.len(), 2);
        assert_eq!(judged(&lines, "slope of accelerated"), ("-1.00 over 2 of 2 points".into(), Some(false)));
        assert_eq!(judged(&lines, "within its bound"), ("1 of 2 points".into(), Some(false)));
    }
}
