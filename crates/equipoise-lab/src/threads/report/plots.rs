//! Which plots there are: the paper's figures 2 and 3.

use std::path::Path;

use anyhow::Result;

use super::chart::{Chart, Line};
use super::groups::{Group, Groups};
use crate::drawing::colours::{BLUE, GREEN, LIGHT_BLUE, LIGHT_ORANGE, ORANGE};

/// Draws what there are rows for; returns the names of the files.
pub(super) fn draw(groups: &Groups, folder: &Path) -> Result<Vec<&'static str>> {
    let charts = [
        ("speedup-tree-ring.svg", sweep(groups, "tree+ring")),
        ("speedup-star-ring.svg", sweep(groups, "star+ring")),
        ("speedup-svm.svg", svm(groups)),
    ];
    let mut drawn = Vec::new();
    for (name, chart) in charts {
        if !chart.lines.is_empty() {
            chart.draw(&folder.join(name))?;
            drawn.push(name);
        }
    }
    Ok(drawn)
}

fn sweep(groups: &Groups, topology: &str) -> Chart {
    let line = |locking: &str, name: &str, colour| {
        let mine = |group: &&Group| group.topology == topology && group.locking == locking;
        Line { name: name.into(), colour, width: 2, points: points(groups, "sweep", mine) }
    };
    let lines =
        [line("double", "double", BLUE), line("single", "single", GREEN), line("none", "none", ORANGE)];
    let problem = groups.problems("sweep").first().copied().unwrap_or_default();
    let delay = groups.of("sweep").map(|group| group.delay_us).max().unwrap_or(0);
    Chart {
        title: format!("{topology}: speed-up over the one-thread code, by locking"),
        notes: [
            format!("the paper's synthetic problem, {problem}, delay twice {delay} µs an update;"),
            "seconds to 99 % of the fall of the objective from x = 0".into(),
        ],
        lines: lines.into_iter().filter(|line| !line.points.is_empty()).collect(),
    }
}

fn svm(groups: &Groups) -> Chart {
    let colours = [(ORANGE, LIGHT_ORANGE), (BLUE, LIGHT_BLUE)];
    let mut lines = Vec::new();
    for (problem, (strong, light)) in groups.problems("svm-pairs").into_iter().zip(colours) {
        for (locking, words, colour, width) in
            [("double", "double locking", light, 1), ("none", "no locks", strong, 2)]
        {
            let mine = |group: &&Group| group.problem == problem && group.locking == locking;
            let points = points(groups, "svm-pairs", mine);
            lines.push(Line { name: format!("{problem}, {words}"), colour, width, points });
        }
    }
    lines.retain(|line| !line.points.is_empty());
    Chart {
        title: "Support vector machines: speed-up over the one-thread code".into(),
        notes: [
            "random pairs of the dual, hinge loss, C = 1, no delay;".into(),
            "seconds to 99.99 % of the dual optimum".into(),
        ],
        lines,
    }
}

/// Thread counts and speed-ups, ascending.
fn points(groups: &Groups, part: &str, mine: impl Fn(&&Group) -> bool) -> Vec<(usize, f64)> {
    groups.of(part).filter(mine).filter_map(|group| Some((group.threads, groups.speedup(group)?))).collect()
}
