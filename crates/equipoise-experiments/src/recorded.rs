//! Runs on several threads that were recorded earlier (`threads.csv` of a benchmark's folder), as figures and claims.
//!
//! A speed-up is the median seconds of the best code for one thread over the median seconds of the runs at a count, within
//! one folder, part, graph and delay: records of different machines are never divided by one another.
//!
//! - Given: the text of such files. Returns: sections of a page. Must not know: where the files are.

use anyhow::{Context, Result};
use equipoise_report::{
    Axis, Cell as TableCell, Chart, Figure, Mark, Section, Series, Table, Verdict, colours,
};

use crate::claims::{self, Claim};
use crate::experiments::short;
use crate::stats::median;

/// One row that is used.
#[derive(Debug, Clone)]
struct Row {
    part: String,
    problem: String,
    graph: String,
    locking: String,
    delay: u64,
    threads: usize,
    seconds: f64,
    updates: f64,
    reached: bool,
}

/// One folder's rows.
#[derive(Debug, Clone)]
pub struct Recorded {
    folder: String,
    rows: Vec<Row>,
}

/// Which runs a figure shows.
struct Shown {
    name: &'static str,
    title: &'static str,
    part: &'static str,
    problem: &'static str,
    graph: &'static str,
    delay: u64,
}

const FIGURES: [Shown; 8] = [
    Shown {
        name: "speedup-tree-ring",
        title: "Tree+ring, N = 2000, delay of 2 x 20 µs",
        part: "sweep",
        problem: "",
        graph: "tree+ring",
        delay: 20,
    },
    Shown {
        name: "speedup-star-ring",
        title: "Star+ring, N = 2000, delay of 2 x 20 µs",
        part: "sweep",
        problem: "",
        graph: "star+ring",
        delay: 20,
    },
    Shown {
        name: "full-tree-ring-delay",
        title: "Tree+ring in full size, N = 10,000, delay of 2 x 20 µs",
        part: "full-tree",
        problem: "",
        graph: "tree+ring",
        delay: 20,
    },
    Shown {
        name: "full-star-ring-delay",
        title: "Star+ring in full size, N = 10,000, delay of 2 x 20 µs",
        part: "full-star",
        problem: "",
        graph: "star+ring",
        delay: 20,
    },
    Shown {
        name: "full-tree-ring",
        title: "Tree+ring in full size, no delay",
        part: "full-tree",
        problem: "",
        graph: "tree+ring",
        delay: 0,
    },
    Shown {
        name: "full-star-ring",
        title: "Star+ring in full size, no delay",
        part: "full-star",
        problem: "",
        graph: "star+ring",
        delay: 0,
    },
    Shown {
        name: "svm-a7a",
        title: "a7a by random pairs",
        part: "svm-pairs",
        problem: "a7a",
        graph: "clique",
        delay: 0,
    },
    Shown {
        name: "svm-w8a",
        title: "w8a by random pairs",
        part: "svm-pairs",
        problem: "w8a",
        graph: "clique",
        delay: 0,
    },
];

impl Recorded {
    /// Reads the text of a `threads.csv`.
    pub fn read(folder: &str, text: &str) -> Result<Self> {
        let header = text.lines().next().unwrap_or_default();
        let place = |name: &str| {
            header
                .split(',')
                .position(|column| column == name)
                .with_context(|| format!("{folder}: no column {name}"))
        };
        let [part, problem, graph, locking] =
            [place("part")?, place("problem")?, place("topology")?, place("locking")?];
        let [delay, threads, seconds, updates, reached] =
            [place("delay_us")?, place("threads")?, place("seconds")?, place("updates")?, place("reached")?];
        let row = |line: &str| -> Result<Row> {
            let cells: Vec<&str> = line.split(',').collect();
            let cell =
                |at: usize| cells.get(at).copied().with_context(|| format!("{folder}: a short row {line:?}"));
            Ok(Row {
                part: cell(part)?.into(),
                problem: cell(problem)?.into(),
                graph: cell(graph)?.into(),
                locking: cell(locking)?.into(),
                delay: cell(delay)?.parse()?,
                threads: cell(threads)?.parse()?,
                seconds: cell(seconds)?.parse()?,
                updates: cell(updates)?.parse()?,
                reached: cell(reached)? == "true",
            })
        };
        let rows = text.lines().skip(1).filter(|line| !line.contains('"')).map(row).collect::<Result<_>>()?;
        Ok(Self { folder: folder.to_owned(), rows })
    }

    fn middle(&self, shown: &Shown, locking: &str, threads: usize, value: fn(&Row) -> f64) -> f64 {
        let fits = |row: &&Row| {
            row.part == shown.part
                && (shown.problem.is_empty() || row.problem == shown.problem)
                && row.graph == shown.graph
                && row.delay == shown.delay
                && row.locking == locking
                && row.threads == threads
                && row.reached
        };
        median(&self.rows.iter().filter(fits).map(value).collect::<Vec<_>>())
    }

    /// Threads and speed-ups at a level of locking.
    fn speedups(&self, shown: &Shown, locking: &str) -> Vec<(f64, f64)> {
        let alone = self.middle(shown, "one-thread", 1, |row| row.seconds);
        let one = |threads: usize| {
            let seconds = self.middle(shown, locking, threads, |row| row.seconds);
            (alone / seconds > 0.0).then_some((threads as f64, alone / seconds))
        };
        (1..=64).filter_map(one).collect()
    }
}

/// The folder with the most of what a figure shows.
fn best<'a>(all: &'a [Recorded], shown: &Shown) -> Option<&'a Recorded> {
    let count = |one: &&Recorded| {
        ["none", "single", "double"].iter().map(|level| one.speedups(shown, level).len()).sum::<usize>()
    };
    all.iter().filter(|one| count(one) > 0).max_by_key(count)
}

/// Figures 2 and 3 and their claims, from records.
pub fn recorded(all: &[Recorded]) -> Vec<Section> {
    let mut figures = Section::new("Figures 2 and 3 on 16 cores").text(
        "Points are medians of the runs that reached their target, over the best code for one thread in the same record.",
    );
    let mut table = Table::new(
        "The largest thread counts",
        [
            "run",
            "record",
            "locking",
            "threads",
            "seconds",
            "one thread",
            "speed-up",
            "updates",
            "updates of one thread",
        ],
    );
    for shown in &FIGURES {
        let Some(one) = best(all, shown) else { continue };
        let levels =
            [("double", colours::ORANGE), ("single", colours::LIGHT_ORANGE), ("none", colours::BLUE)];
        let most = levels
            .iter()
            .flat_map(|(level, _)| one.speedups(shown, level))
            .map(|point| point.0)
            .fold(2.0, f64::max);
        let mut chart = Chart::new("", Axis::linear("threads"), Axis::linear("speed-up over one thread"))
            .with(Series::new(Mark::Dashes, colours::GREY, vec![(1.0, 1.0), (most, most)]).named("ideal"));
        for (level, colour) in levels {
            let points = one.speedups(shown, level);
            let Some(&(threads, times)) = points.last() else { continue };
            let name = if level == "none" { "no locks".to_owned() } else { format!("{level} locking") };
            chart = chart
                .with(Series::new(Mark::Line, colour, points.clone()).named(name.clone()))
                .with(Series::new(Mark::Points, colour, points));
            let value = |of: fn(&Row) -> f64| one.middle(shown, level, threads as usize, of);
            let alone = |of: fn(&Row) -> f64| one.middle(shown, "one-thread", 1, of);
            table = table.row([
                TableCell::from(shown.title),
                TableCell::from(format!("`{}`", one.folder)),
                TableCell::from(name),
                TableCell::Number(format!("{threads}")),
                TableCell::Number(short(value(|row| row.seconds))),
                TableCell::Number(short(alone(|row| row.seconds))),
                TableCell::Number(format!("{times:.1}")),
                TableCell::Number(format!("{:.0}", value(|row| row.updates))),
                TableCell::Number(format!("{:.0}", alone(|row| row.updates))),
            ]);
        }
        figures = figures.figure(
            Figure::new(shown.name, shown.title, chart)
                .alt(format!("Speed-up against threads: {}, up to {most} threads.", shown.title))
                .caption(format!("Record `{}`.", one.folder)),
        );
    }
    let claims = Section::new("The claims about threads").table(claims::table(&claims_of(all)));
    vec![claims, figures.table(table)]
}

/// The claims of the paper about threads, judged by these records.
pub fn claims_of(all: &[Recorded]) -> Vec<Claim> {
    let [tree, star, slow_tree, slow_star, _, full_star, a7a, w8a] = &FIGURES;
    let last = |shown: &Shown, level: &str| {
        best(all, shown).and_then(|one| one.speedups(shown, level).last().copied())
    };
    let mut claims = Vec::new();
    let mut contention = Claim::new(
        "contention",
        "On star+ring a fully synchronous method suffers from contention, an asynchronous one does not.",
        "Speed-up without locks over that with double locks at 15 threads, delay of 2 x 20 µs: star+ring against tree+ring. \
         Reproduced if the first is above 1.2 and above the second. Without locks our damped blocks stand in for the paper's full \
         steps, which diverge on star+ring (lock-free-star).",
    );
    if let [Some(free), Some(locked), Some(tree_free), Some(tree_locked)] =
        [last(star, "none"), last(star, "double"), last(tree, "none"), last(tree, "double")]
    {
        let (ratio, other) = (free.1 / locked.1, tree_free.1 / tree_locked.1);
        let found = format!(
            "star+ring {:.1} without locks, {:.1} with double locks (ratio {ratio:.1}); tree+ring {:.1} and {:.1} (ratio {other:.2})",
            free.1, locked.1, tree_free.1, tree_locked.1
        );
        contention = contention.judged(ratio > 1.2 && ratio > other, found);
    }
    claims.push(contention);
    let mut first = Claim::new(
        "star-first",
        "Tree+ring speeds up more, star+ring still finishes first (about 67 s against 91 s on 15 threads).",
        "N = 10,000 without locks at 15 threads, delay of 2 x 20 µs: speed-ups and seconds, from one record. Reproduced if tree+ring's \
         speed-up is larger and its seconds are more. Steps without locks are damped, as above.",
    );
    let both = all.iter().find_map(|one| {
        let ends = [
            one.speedups(slow_tree, "none").last().copied()?,
            one.speedups(slow_star, "none").last().copied()?,
        ];
        let seconds = [(slow_tree, ends[0]), (slow_star, ends[1])]
            .map(|(shown, end)| one.middle(shown, "none", end.0 as usize, |row| row.seconds));
        Some((ends, seconds, &one.folder))
    });
    if let Some(([tree, star], [tree_seconds, star_seconds], folder)) = both {
        let found = format!(
            "record `{folder}`: speed-ups {:.1} and {:.1}; seconds {} and {}",
            tree.1,
            star.1,
            short(tree_seconds),
            short(star_seconds)
        );
        first = first.judged(tree.1 > star.1 && tree_seconds > star_seconds, found);
    }
    claims.push(first);
    let mut free = Claim::new(
        "lock-free-star",
        "Lock-free updates do not suffer on star+ring.",
        "N = 10,000, no delay, 15 threads, with our damping and guard: updates over those of one thread. Naive full steps diverge \
         there (the experiment `theory` shows it on every machine), so the claim as printed is not reproduced; what we add is \
         judged by the price in updates.",
    );
    if let Some((one, end)) =
        best(all, full_star).and_then(|one| Some((one, one.speedups(full_star, "none").last().copied()?)))
    {
        let updates = |level: &str, threads: usize| one.middle(full_star, level, threads, |row| row.updates);
        let price = updates("none", end.0 as usize) / updates("one-thread", 1);
        let found = format!(
            "naive steps diverge; with damping {price:.2} times the updates of one thread, speed-up {:.1}",
            end.1
        );
        free = free.with(Verdict::NotReproduced, found);
    }
    claims.push(free);
    for (set, shown) in [("a7a", a7a), ("w8a", w8a)] {
        let mut svm = Claim::new(
            &format!("svm-parallel-{set}"),
            &format!("Parallelism increases the performance of randomised pairs for linear machines: {set}."),
            "Speed-up at 15 threads under double locks, as in the paper, over the best code for one thread. Reproduced if above 1. \
             Without locks, which the paper leaves open where there is a box, beside it.",
        );
        let (locked, free) = (last(shown, "double"), last(shown, "none"));
        let of = |end: Option<(f64, f64)>| {
            end.map_or("not recorded".into(), |end| format!("{:.1} on {} threads", end.1, end.0))
        };
        if locked.or(free).is_some() {
            let found = format!("double locks {}; without locks {}", of(locked), of(free));
            let verdict = match locked {
                Some((_, times)) if times > 1.0 => Verdict::Reproduced,
                Some(_) => Verdict::NotReproduced,
                None => Verdict::Untested,
            };
            svm = svm.with(verdict, found);
        }
        claims.push(svm);
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "part,problem,topology,locking,delay_us,threads,repeat,seconds,updates,reached\n\
                        svm-pairs,a7a,clique,one-thread,0,1,1,10,100,true\n\
                        svm-pairs,a7a,clique,none,0,4,1,3,110,true\n\
                        svm-pairs,a7a,clique,none,0,4,2,2,110,true\n\
                        svm-pairs,a7a,clique,none,0,4,3,0.1,5,false\n";

    #[test]
    fn medians_of_those_that_reached_their_target() {
        let one = Recorded::read("here", TEXT).expect("rows");
        assert_eq!(one.speedups(&FIGURES[6], "none"), [(4.0, 4.0)]);
        assert!(one.speedups(&FIGURES[7], "none").is_empty());
        assert!(Recorded::read("there", "a,b\n").is_err());
    }
}
