//! Figure 2: several threads, three levels of locking, two graphs.
//!
//! The paper's problem with N = 10,000, blocks of 100, 100 rows (`--scale quick`: 200, 20, 10); a run ends when
//! `f_0 - f_t > 0.99 (f_0 - f*)`. Speed-ups are those over the best code for one thread, which locks nothing. Updates are
//! counted besides: what a machine with few cores cannot show in seconds, it can show in updates.

use anyhow::Result;
use equipoise::graph::Topology;
use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;
use equipoise::{Control, Locking, Problem};
use equipoise_models::Synthetic;
use equipoise_report::{
    Axis, Cell as TableCell, Chart, Figure, Mark, Section, Series, Table, Verdict, colours,
};

use super::{short, those};
use crate::cell::{Cell, Outcome, Record};
use crate::claims::Claim;
use crate::optimum::synthetic_optimum;
use crate::pairs::{PairRun, ROUNDING};
use crate::plan::{Plan, Scale};
use crate::stats::median;
use crate::store::cores;

const GRAPHS: [&str; 2] = ["tree+ring", "star+ring"];
const LEVELS: [(&str, colours::RGBColor); 3] =
    [("double", colours::ORANGE), ("single", colours::LIGHT_ORANGE), ("none", colours::BLUE)];
/// Microseconds, twice an update.
const DELAYS: [u64; 2] = [0, 20];
const SHARE: f64 = 0.99;
/// Seconds after which a run is given up.
const PATIENCE: f64 = 600.0;

fn size(scale: Scale) -> Synthetic {
    match scale {
        Scale::Paper => Synthetic { nodes: 10_000, block: 100, rows: 100, seed: 1 },
        Scale::Quick => Synthetic { nodes: 200, block: 20, rows: 10, seed: 1 },
    }
}

pub(super) fn cells(plan: &Plan) -> Vec<Cell> {
    let repeats = if plan.is_paper() { plan.seeds.min(3) } else { plan.seeds.min(2) };
    let mut cells = Vec::new();
    for seed in 1..=repeats {
        for graph in GRAPHS {
            for delay in DELAYS {
                let weight = if delay > 0 { 14 } else { 3 } * if plan.is_paper() { 200 } else { 1 };
                let cell = |code: &str, threads: usize| {
                    let cell = Cell::new("concurrency", seed, weight / threads as u64 + 1);
                    let cell = cell.with("graph", &graph).with("delay", &delay).with("locking", &code);
                    cell.with("threads", &threads).with("scale", plan.scale.name())
                };
                cells.push(cell("one-thread", 1));
                // One thread locks nothing and waits for nobody: it is what the others are compared with.
                for (level, _) in LEVELS {
                    let several = plan.threads.iter().filter(|&&threads| threads > 1);
                    cells.extend(several.map(|&threads| cell(level, threads)));
                }
            }
        }
    }
    cells
}

pub(super) fn run(plan: &Plan, cell: &Cell, control: &Control) -> Result<Outcome> {
    let synthetic = size(plan.scale);
    let graph = Topology::parse(cell.get("graph"), synthetic.nodes, 0)?;
    let start = vec![0.0; synthetic.nodes * synthetic.block];
    let problem = synthetic.problem()?.graph(graph).start(start).build()?;
    let highest = problem.objective(problem.start())?;
    let lowest = problem.objective(&synthetic_optimum(&synthetic, problem.coupling())?)?;
    let target = highest - SHARE * (highest - lowest);
    timed(&problem, target, cell, control).map(|outcome| outcome.value("optimum", lowest))
}

/// The run of a cell to a target, judged by raw data.
pub(super) fn timed<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    target: f64,
    cell: &Cell,
    control: &Control,
) -> Result<Outcome> {
    let code = cell.get("locking");
    let run = PairRun {
        locking: (code != "one-thread").then(|| code.parse::<Locking>()).transpose()?,
        threads: cell.number("threads") as usize,
        delay_us: cell.number("delay") as u64,
        seed: cell.seed,
        target,
        time_limit: PATIENCE,
    };
    run.measure(problem, control)
}

/// The median of a value over seeds, of runs that reached the target.
pub(super) fn middle(records: &[&Record], wanted: &[(&str, &str)], value: &str) -> f64 {
    let reached = those(records, wanted).into_iter().filter(|record| record.outcome.get("reached") == 1.0);
    median(&reached.map(|record| record.outcome.get(value)).collect::<Vec<_>>())
}

/// One-thread seconds over seconds, for every thread count; 1 for one thread, which every level begins with.
fn speedups(plan: &Plan, records: &[&Record], graph: &str, delay: u64, level: &str) -> Vec<(f64, f64)> {
    let delay = delay.to_string();
    let base = middle(records, &[("graph", graph), ("delay", &delay), ("locking", "one-thread")], "seconds");
    let one = |&threads: &usize| {
        if threads == 1 {
            return base.is_finite().then_some((1.0, 1.0));
        }
        let count = threads.to_string();
        let wanted =
            [("graph", graph), ("delay", delay.as_str()), ("locking", level), ("threads", count.as_str())];
        let seconds = middle(records, &wanted, "seconds");
        (seconds > 0.0).then(|| (threads as f64, base / seconds))
    };
    plan.threads.iter().filter_map(one).collect()
}

pub(super) fn section(plan: &Plan, records: &[&Record], command: &str) -> Section {
    let size = size(plan.scale);
    let mut section = Section::new("Figure 2: threads and locks").text(format!(
        "N = {}, blocks of {}, {} rows; a run ends when 0.99 of the way from f(0) to f* is made. Locks are held as in the \
         paper: both blocks through the whole update (double), master and slave in turn (single), none. The delay is spent \
         twice in every update. Speed-ups are over the best code for one thread; points are medians of the runs that \
         reached the target. This machine has {} cores: more threads than cores cannot be faster.",
        size.nodes, size.block, size.rows, cores()
    ));
    for delay in DELAYS {
        for graph in GRAPHS {
            let most = plan.most_threads() as f64;
            let ticks: Vec<(f64, String)> = plan.threads.iter().map(|&t| (t as f64, t.to_string())).collect();
            let across = Axis::linear("threads").with_ticks(ticks).with_range(0.8, most + 0.2);
            let mut chart = Chart::new("", across, Axis::linear("speed-up over one thread"));
            if most > 1.0 {
                let line = vec![(1.0, 1.0), (most, most)];
                chart = chart.with(Series::new(Mark::Dashes, colours::GREY, line).named("ideal"));
            }
            for (level, colour) in LEVELS {
                let points = speedups(plan, records, graph, delay, level);
                let name = format!("{level}{}", if level == "none" { " (lock-free)" } else { " locking" });
                chart = chart
                    .with(Series::new(Mark::Line, colour, points.clone()).named(name))
                    .with(Series::new(Mark::Points, colour, points));
            }
            let words = if delay > 0 { format!("delay of 2 x {delay} µs") } else { "no delay".to_owned() };
            let figure =
                Figure::new(&format!("figure-2-{graph}-{delay}"), format!("{graph}, {words}"), chart)
                    .alt(format!(
                        "Speed-up against threads on {graph} with {words}, for three levels of locking."
                    ))
                    .command(command);
            section = section.figure(figure);
        }
    }
    let mut table = Table::new(
        "Seconds and updates at the largest thread count",
        [
            "graph",
            "delay",
            "locking",
            "threads",
            "seconds",
            "speed-up",
            "updates",
            "updates of one thread",
            "reached",
        ],
    );
    for graph in GRAPHS {
        for delay in DELAYS {
            for level in ["one-thread", "double", "single", "none"] {
                let (delay, threads) =
                    (delay.to_string(), if level == "one-thread" { 1 } else { plan.most_threads() });
                let count = threads.to_string();
                let wanted = [
                    ("graph", graph),
                    ("delay", delay.as_str()),
                    ("locking", level),
                    ("threads", count.as_str()),
                ];
                let base = [("graph", graph), ("delay", delay.as_str()), ("locking", "one-thread")];
                let (seconds, alone) =
                    (middle(records, &wanted, "seconds"), middle(records, &base, "seconds"));
                let all = those(records, &wanted);
                let reached = all.iter().filter(|record| record.outcome.get("reached") == 1.0).count();
                table = table.row([
                    TableCell::from(graph),
                    TableCell::Number(format!("{delay} µs")),
                    TableCell::from(level),
                    TableCell::Number(count.clone()),
                    TableCell::Number(short(seconds)),
                    TableCell::Number(short(alone / seconds)),
                    TableCell::Number(format!("{:.0}", middle(records, &wanted, "updates"))),
                    TableCell::Number(format!("{:.0}", middle(records, &base, "updates"))),
                    TableCell::Number(format!("{reached} of {}", all.len())),
                ]);
            }
        }
    }
    section.table(table)
}

/// Whether claims about many threads can be decided: four of them work at once.
pub(super) fn enough(threads: usize) -> bool {
    threads.min(cores()) >= 4
}

/// Two or three threads, on cores that may have other work, neither show a claim about many nor refute it.
pub(super) fn decided(claim: Claim, few: bool, holds: bool, found: String) -> Claim {
    if few { claim.with(Verdict::Untested, found) } else { claim.judged(holds, found) }
}

pub(super) fn claims(plan: &Plan, records: &[&Record]) -> Vec<Claim> {
    let most = plan.most_threads();
    let best = |graph: &str, level: &str| {
        speedups(plan, records, graph, 20, level).last().map_or(f64::NAN, |point| point.1)
    };
    let (free, locked) = (best("star+ring", "none"), best("star+ring", "double"));
    let few = !enough(most);
    let mut contention = Claim::new(
        "contention",
        "On star+ring a fully synchronous method suffers from contention, an asynchronous one does not (Figure 2).",
        "Speed-up at the largest thread count with the delay: lock-free over double locking on star+ring, against the same \
         ratio on tree+ring. Reproduced if the first is above 1.2 and above the second. Without locks our damped blocks stand in for the \
         paper's full steps, which diverge on star+ring (lock-free-star).",
    );
    let tree_ratio = best("tree+ring", "none") / best("tree+ring", "double");
    if free.is_finite() && locked.is_finite() && most > 1 {
        let found = format!(
            "{most} threads: star+ring {} without locks and {} with double locks (ratio {}); tree+ring ratio {}{}",
            short(free),
            short(locked),
            short(free / locked),
            short(tree_ratio),
            if few { "; few cores: see docs/reproduction.md for 16" } else { "" }
        );
        let holds = free / locked > 1.2 && free / locked > tree_ratio;
        contention = decided(contention, few, holds, found);
    }
    let mut first = Claim::new(
        "star-first",
        "Tree+ring speeds up more, star+ring still finishes first (about 67 s against 91 s on 15 threads).",
        "Without locks and with the delay, at the largest thread count: speed-up of tree+ring over that of star+ring, and \
         seconds of tree+ring over those of star+ring. Reproduced if both are above 1. Steps without locks are damped, as above.",
    );
    let seconds = |graph: &str| {
        let count = most.to_string();
        middle(
            records,
            &[("graph", graph), ("delay", "20"), ("locking", "none"), ("threads", count.as_str())],
            "seconds",
        )
    };
    let (tree, star) = (seconds("tree+ring"), seconds("star+ring"));
    if tree.is_finite() && star.is_finite() && most > 1 {
        let steeper = best("tree+ring", "none") / free;
        let found = format!(
            "{most} threads: speed-ups {} and {}; seconds {} and {}",
            short(best("tree+ring", "none")),
            short(free),
            short(tree),
            short(star)
        );
        let holds = steeper > 1.0 && tree > star;
        first = decided(first, few, holds, found);
    }
    let mut feasible = Claim::new(
        "feasible",
        "Atomic increments keep A x = 0 whatever the staleness (section 3.2).",
        "Largest max |A x| over all runs on several threads. Reproduced if it is at most 1e-6, rounding.",
    );
    let residuals = records.iter().filter(|record| record.cell.number("threads") > 1.0);
    let worst = residuals.map(|record| record.outcome.get("infeasibility")).fold(0.0, f64::max);
    if most > 1 && !records.is_empty() {
        let reached = records.iter().filter(|record| record.outcome.get("reached") == 1.0).count();
        let found = format!("{worst:.1e}; {reached} of {} runs reached the target", records.len());
        feasible = feasible.judged(worst <= ROUNDING, found);
    }
    vec![contention, first, feasible]
}
