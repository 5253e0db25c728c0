//! The first table of `ratios.md`: each ratio that was wanted, what was reached, and whether that is enough.

use super::means::{Ratio, mean, ratio};
use super::times::{OURS, Times};
use crate::table::Row;

/// The cost of every target that is not a mean.
const COST: f64 = 1.0;

/// One row of the table: what is compared, what was reached, what was wanted, and the verdict.
pub(super) fn rows(times: &Times, wanted: &[Row]) -> Vec<[String; 4]> {
    wanted.iter().map(|row| target(times, row)).collect()
}

fn target(times: &Times, row: &Row) -> [String; 4] {
    let cell = |name: &str| row.get(name).map_or("", String::as_str);
    let (comparison, statistic, wanted) = (cell("comparison"), cell("statistic"), cell("wanted"));
    let accuracy: f64 = cell("accuracy").parse().unwrap_or(f64::NAN);
    let (place, reached) = match (comparison, statistic) {
        (_, "mean") => ("geometric mean, all C".into(), of_mean(times, comparison, accuracy)),
        ("tight over loose", set) => (format!("{set}, C = 1"), tight_over_loose(times, set)),
        (solver, set) => (format!("{set}, C = 1"), ratio(times, set, COST, solver, accuracy)),
    };
    let what = match comparison {
        "tight over loose" => format!("our time to 1e-8 over that to 1e-4, {place}"),
        solver => format!("{solver} at {accuracy:e}, {place}"),
    };
    let verdict = match reached {
        Ratio::Known(value) => met(value, wanted).map_or("-", |met| if met { "yes" } else { "**no**" }),
        Ratio::OursNotReached => "**no**",
        // A peer that does not get there, or was not run, sets no target.
        Ratio::NotReached | Ratio::NotRun => "-",
    };
    [what, reached.text(), wanted.into(), verdict.into()]
}

fn of_mean(times: &Times, solver: &str, accuracy: f64) -> Ratio {
    mean(times, solver, accuracy).value.map_or(Ratio::NotRun, Ratio::Known)
}

/// Our seconds to 1e-8 over our seconds to 1e-4.
pub(super) fn tight_over_loose(times: &Times, set: &str) -> Ratio {
    let find = |accuracy| times.find(set, COST, OURS, accuracy);
    let (Some(tight), Some(loose)) = (find(1e-8), find(1e-4)) else { return Ratio::NotRun };
    let known = tight.seconds.zip(loose.seconds);
    known.map_or(Ratio::OursNotReached, |(tight, loose)| Ratio::Known(tight / loose))
}

/// Whether a value is what a text like "at least 1.5" or "at most 3" asks for; nothing for other texts.
fn met(value: f64, wanted: &str) -> Option<bool> {
    let bound = |words: &str| wanted.strip_prefix(words)?.trim().parse::<f64>().ok();
    bound("at least").map(|least| value >= least).or_else(|| bound("at most").map(|most| value <= most))
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn bounds_are_read_from_words() {
        assert_eq!(met(1.5, "at least 1.5"), Some(true));
        assert_eq!(met(1.49, "at least 1.5"), Some(false));
        assert_eq!(met(3.1, "at most 3"), Some(false));
        assert_eq!(met(3.0, "3"), None);
    }

    #[test]
    fn a_target_is_met_missed_or_not_set() {
        let times = times_of(
            "a7a,1,equipoise,free,0.001,,1,5,,,\na7a,1,libsvm,free,0.001,,160,5,,,\n\
             a7a,1,sgd,free,0.001,,,0,,,\na7a,1,rehline,penalised,0.001,,0.5,5,,,\n\
             a7a,1,equipoise,free,0.0001,,2,5,,,\na7a,1,equipoise,free,0.00000001,,,0,,,\n",
        );
        let verdict = |comparison: &str, accuracy: &str, statistic: &str, wanted: &str| {
            let names = ["comparison", "accuracy", "statistic", "wanted"];
            let cells = [comparison, accuracy, statistic, wanted];
            let row = names.iter().zip(cells).map(|(name, cell)| ((*name).into(), cell.into())).collect();
            let [_, reached, _, verdict] = target(&times, &row);
            (reached, verdict)
        };
        let pair = |reached: &str, verdict: &str| (reached.to_owned(), verdict.to_owned());
        assert_eq!(verdict("libsvm", "1e-3", "a7a", "at least 150"), pair("160", "yes"));
        assert_eq!(verdict("rehline", "1e-3", "a7a", "at least 1"), pair("0.50", "**no**"));
        assert_eq!(verdict("rehline", "1e-3", "mean", "at least 1"), pair("0.50", "**no**"));
        assert_eq!(verdict("sgd", "1e-3", "a7a", "at least 1"), pair("not reached", "-"));
        assert_eq!(verdict("snapml", "1e-3", "a7a", "at least 1"), pair("not run", "-"));
        let ours = verdict("tight over loose", "1e-8", "a7a", "at most 3");
        assert_eq!(ours, pair("**ours not reached**", "**no**"));
    }
}
