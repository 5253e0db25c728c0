//! Figure 1: the graph decides how fast pairs converge.
//!
//! The paper's problem with N = 1000, blocks of 50, 10 rows, C such that f(0) = 1000; 10,000 updates of Algorithm 1 on
//! every graph. Ours: a random regular graph, a grid, draws that equalise resistances, momentum. f* is exact, and every
//! graph has the bound `(1 - sigma)^k (f_0 - f*)` of `rate.rs`.

use std::sync::Arc;

use anyhow::Result;
use equipoise::graph::{EdgeSampler, Topology};
use equipoise::separable::Zero;
use equipoise::smooth::Distance;
use equipoise::{Control, Method, PairStepper, ProbabilityChoice, Problem, Settings, Solver};
use equipoise_models::Synthetic;
use equipoise_report::{
    Axis, Cell as TableCell, Chart, Figure, Mark, Section, Series, Table, Verdict, colours,
};
use equipoise_theory::{Equalised, curves};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{short, those};
use crate::cell::{Cell, Outcome, Record};
use crate::claims::Claim;
use crate::optimum::synthetic_optimum;
use crate::plan::Plan;
use crate::rate::linear_rate;
use crate::stats::{band, mean, standard_error};

const UPDATES: u64 = 10_000;
/// Updates between two points of a curve.
const EVERY: u64 = 100;
const PROBLEM: Synthetic = Synthetic { nodes: 1000, block: 50, rows: 10, seed: 1 };
/// Steps of Lanczos' method on a graph, and on the clique, whose eigenvalues lie close together.
const LANCZOS: usize = 120;
const LANCZOS_CLIQUE: usize = 8;

/// A curve of the figure: its name, its graph, whether it is of the paper, how it is drawn.
struct Line {
    name: &'static str,
    graph: &'static str,
    ours: bool,
    colour: colours::RGBColor,
}

const LINES: [Line; 8] = [
    Line { name: "ring", graph: "ring", ours: false, colour: colours::ORANGE },
    Line { name: "tree+ring", graph: "tree+ring", ours: false, colour: colours::GREEN },
    Line { name: "star+ring", graph: "star+ring", ours: false, colour: colours::LIGHT_ORANGE },
    Line { name: "clique", graph: "clique", ours: false, colour: colours::BLUE },
    Line { name: "grid", graph: "grid", ours: true, colour: colours::PURPLE },
    Line { name: "random regular", graph: "random-regular:6", ours: true, colour: colours::LIGHT_BLUE },
    Line {
        name: "star+ring, equalised draws",
        graph: "star+ring",
        ours: true,
        colour: colours::LIGHT_ORANGE,
    },
    Line { name: "tree+ring, momentum", graph: "tree+ring", ours: true, colour: colours::GREEN },
];

pub(super) fn cells(plan: &Plan) -> Vec<Cell> {
    let mut cells = Vec::new();
    for seed in 1..=plan.seeds {
        for line in &LINES {
            let weight = if line.name.ends_with("momentum") { 20 } else { 2 };
            cells.push(Cell::new("topologies", seed, weight).with("kind", "curve").with("line", &line.name));
        }
    }
    for line in LINES.iter().filter(|line| !line.name.ends_with("momentum")) {
        let weight = if line.graph == "clique" { 60 } else { 12 };
        cells.push(Cell::new("topologies", 1, weight).with("kind", "bound").with("line", &line.name));
    }
    cells
}

pub(super) fn run(_: &Plan, cell: &Cell, control: &Control) -> Result<Outcome> {
    let line = LINES.iter().find(|line| line.name == cell.get("line")).unwrap_or(&LINES[0]);
    let problem = problem(line)?;
    let optimum = problem.objective(&synthetic_optimum(&PROBLEM, problem.coupling())?)?;
    let start = problem.objective(problem.start())?;
    let outcome = Outcome::under(&["update", "objective"]).value("optimum", optimum).value("start", start);
    if cell.get("kind") == "bound" {
        let steps = if line.graph == "clique" { LANCZOS_CLIQUE } else { LANCZOS };
        let sigma =
            linear_rate(problem.coupling(), PROBLEM.block, problem.graph(), problem.probabilities(), steps)?;
        return Ok(outcome.value("sigma", sigma));
    }
    let rows = if line.name.ends_with("momentum") {
        with_momentum(&problem, cell.seed, control)?
    } else {
        pairs(&problem, cell.seed, control)?
    };
    let last = rows.last().map_or(f64::NAN, |row| row[1]);
    Ok(Outcome { rows, ..outcome.value("left", (last - optimum) / (start - optimum)) })
}

fn problem(line: &Line) -> Result<Problem<Distance, Zero>> {
    let graph = Topology::parse(line.graph, PROBLEM.nodes, 1)?;
    let start = vec![0.0; PROBLEM.nodes * PROBLEM.block];
    let builder = PROBLEM.problem()?.graph(graph).start(start);
    let equalised = line.name.ends_with("equalised draws");
    let law =
        if equalised { ProbabilityChoice::Law(Arc::new(Equalised)) } else { ProbabilityChoice::Uniform };
    Ok(builder.probabilities(law).build()?)
}

/// Algorithm 1.
fn pairs(problem: &Problem<Distance, Zero>, seed: u64, control: &Control) -> Result<Vec<Vec<f64>>> {
    let mut stepper = PairStepper::new(problem, &Settings { seed, ..Settings::default() })?;
    let sampler = EdgeSampler::new(problem.graph(), problem.probabilities())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rows = vec![vec![0.0, problem.objective(stepper.x())?]];
    for k in 1..=UPDATES {
        let (i, j) = sampler.draw(&mut random);
        stepper.update(i, j)?;
        if k % EVERY == 0 {
            rows.push(vec![k as f64, problem.objective(stepper.x())?]);
            if control.check().is_err() {
                break;
            }
        }
    }
    Ok(rows)
}

/// The same with momentum; every point is a run of its own.
fn with_momentum(problem: &Problem<Distance, Zero>, seed: u64, control: &Control) -> Result<Vec<Vec<f64>>> {
    let mut rows = vec![vec![0.0, problem.objective(problem.start())?]];
    for updates in [2000, 5000, UPDATES] {
        let settings = Settings {
            method: Method::Accelerated,
            tolerance: 1e-300,
            target_objective: Some(f64::NEG_INFINITY),
            max_updates: Some(updates),
            seed,
            ..Settings::default()
        };
        let solution = Solver::new(problem, &settings).control(control.clone()).run()?;
        rows.push(vec![updates as f64, problem.objective(&solution.x)?]);
        if control.check().is_err() {
            break;
        }
    }
    Ok(rows)
}

/// What is left of the fall to the optimum, over the updates; one curve a seed.
fn left(records: &[&Record], line: &str) -> Vec<Vec<(f64, f64)>> {
    let one = |record: &&Record| {
        let (start, optimum) = (record.outcome.get("start"), record.outcome.get("optimum"));
        let share = |(k, f): (f64, f64)| (k, (f - optimum) / (start - optimum));
        record.outcome.points("update", "objective").into_iter().map(share).collect()
    };
    those(records, &[("kind", "curve"), ("line", line)]).iter().map(one).collect()
}

fn sigma(records: &[&Record], line: &str) -> Option<f64> {
    let found = those(records, &[("kind", "bound"), ("line", line)]);
    found.first().map(|record| record.outcome.get("sigma")).filter(|sigma| sigma.is_finite())
}

pub(super) fn section(records: &[&Record], command: &str) -> Section {
    let optimum = records.first().map_or(f64::NAN, |record| record.outcome.get("optimum"));
    let mut objective = Chart::new("", Axis::linear("update"), Axis::linear("objective"));
    let mut gaps = Chart::new("", Axis::linear("update"), Axis::log("share of f(0) - f* that is left"));
    let mut table = Table::new(
        "After 10,000 updates",
        ["graph", "share left, mean", "from", "to", "bound", "updates to 0.99 of the way"],
    );
    for line in &LINES {
        let curves = left(records, line.name);
        if curves.is_empty() {
            continue;
        }
        let (middle, ends) = band(&curves);
        let mark = if line.ours { Mark::Dashes } else { Mark::Line };
        let fall = 1000.0 - optimum;
        let raised = |(k, share): (f64, f64)| (k, optimum + share * fall);
        objective = objective
            .with(Series::new(
                Mark::Veil(ends.iter().map(|&(a, b)| (raised((0.0, a)).1, raised((0.0, b)).1)).collect()),
                line.colour,
                middle.iter().map(|&p| raised(p)).collect(),
            ))
            .with(
                Series::new(mark.clone(), line.colour, middle.iter().map(|&p| raised(p)).collect())
                    .named(line.name),
            );
        gaps = gaps
            .with(Series::new(Mark::Veil(ends.clone()), line.colour, middle.clone()))
            .with(Series::new(mark, line.colour, middle.clone()).named(line.name));
        let sigma = sigma(records, line.name);
        if let Some(sigma) = sigma.filter(|_| !line.ours) {
            let bound = (0..=100u32)
                .map(|k| (f64::from(k) * 100.0, curves::linear(sigma, 1.0, u64::from(k) * 100)))
                .collect();
            gaps =
                gaps.with(Series::new(Mark::Dots, line.colour, bound).named(format!("{}, bound", line.name)));
        }
        let last = ends.last().copied().unwrap_or((f64::NAN, f64::NAN));
        let bound = sigma.map_or(f64::NAN, |sigma| curves::linear(sigma, 1.0, UPDATES));
        let reached = crate::stats::first_below(&middle, 0.01);
        table = table.row([
            TableCell::from(line.name),
            TableCell::Number(short(middle.last().map_or(f64::NAN, |point| point.1))),
            TableCell::Number(short(last.0)),
            TableCell::Number(short(last.1)),
            TableCell::Number(short(bound)),
            TableCell::Number(reached.map_or("not reached".into(), |k| format!("{k:.0}"))),
        ]);
    }
    let text = format!(
        "The paper's problem (N = 1000 blocks of 50, 10 rows, f(0) = 1000; f* = {optimum:.6}, by least squares), 10,000 updates of \
         Algorithm 1 on each graph. Lines are means over seeds, veils reach from the least to the largest. Dashed lines are \
         ours: other graphs, draws that equalise effective resistances, momentum. Dots are the bound (1 - sigma)^k, \
         sigma the smallest eigenvalue of the mean projection of this very instance."
    );
    Section::new("Figure 1: topologies")
        .text(text)
        .figure(
            Figure::new("figure-1-topologies", "Objective over updates", objective)
                .alt("Objective against updates for eight ways of choosing pairs. The clique falls fastest, the ring slowest.")
                .caption("Of the paper's graphs the better connected fall faster. The grid shows that this is no law: it is better connected than the ring.")
                .command(command),
        )
        .figure(
            Figure::new("figure-1-gap", "The same as a share of the fall, with the bounds", gaps)
                .alt("Share of the distance to the optimum that is left, on a logarithmic axis, with the bound of each graph.")
                .caption("Straight lines are linear convergence. Means stay below the dots of their colour.")
                .command(command)
                .with_log_x(),
        )
        .table(table)
}

/// Mean share left at the end, and its standard error.
fn last(records: &[&Record], line: &str) -> (f64, f64) {
    let ends: Vec<f64> = left(records, line).iter().filter_map(|curve| Some(curve.last()?.1)).collect();
    (mean(&ends), standard_error(&ends))
}

pub(super) fn claims(records: &[&Record]) -> Vec<Claim> {
    let all = ["clique", "star+ring", "tree+ring", "ring"].map(|line| last(records, line));
    let mut order = Claim::new(
        "connectivity",
        "Better connectivity gives faster convergence: clique first, ring last, star+ring and tree+ring between (Figure 1).",
        "Share of f(0) - f* left after 10,000 updates, mean over seeds. Reproduced if clique < star+ring < tree+ring < ring, each by more than two \
         standard errors of the difference. For these four graphs: the grid, not in the paper, is shown beside.",
    );
    let mut sparse = Claim::new(
        "sparse-graphs",
        "Acceptable long-term performance can be had from much sparser graphs such as star+ring and tree+ring (Figure 1).",
        "The paper gives no number; where it does elsewhere (section 5.2), a run is done at 0.99 of the way. Reproduced if both have at most 0.01 left \
         after its 10,000 updates, in the mean over seeds.",
    );
    if all.iter().all(|(mean, _)| mean.is_finite()) {
        let [clique, star, tree, ring] = all.map(|(mean, _)| short(mean));
        let apart = |a: (f64, f64), b: (f64, f64)| b.0 - a.0 > 2.0 * a.1.hypot(b.1);
        let grid = last(records, "grid").0;
        let beside = if grid > all[3].0 { ", though better connected than the ring" } else { "" };
        order = order.judged(
            all.windows(2).all(|two| apart(two[0], two[1])),
            format!(
                "clique {clique}, star+ring {star}, tree+ring {tree}, ring {ring}; grid {}{beside}",
                short(grid)
            ),
        );
        let reached = all[1].0.max(all[2].0) <= 0.01;
        sparse = sparse
            .judged(reached, format!("left by star+ring {star}, by tree+ring {tree} (by the ring {ring})"));
    }
    vec![order, sparse, rate(records), ours(records)]
}

/// The bound of every instance against what was seen.
fn rate(records: &[&Record]) -> Claim {
    let claim = Claim::new(
        "rate",
        "Theorem 1 and its note: convergence is at least as fast as the Laplacian of the graph promises.",
        "Largest ratio of the mean share left, less four standard errors, to the bound (1 - sigma)^k of the instance, over all graphs and \
         updates. Reproduced if it is at most 1. Beside it: how many pairs of graphs end in the order of their sigma.",
    );
    let mut worst: f64 = 0.0;
    let mut seen: Vec<(f64, f64)> = Vec::new();
    for line in &LINES {
        let (curves, Some(sigma)) = (left(records, line.name), sigma(records, line.name)) else { continue };
        let (middle, _) = band(&curves);
        // At the start both are 1.
        for (k, &(update, share)) in middle.iter().enumerate().skip(1) {
            let values: Vec<f64> = curves.iter().map(|curve| curve[k].1).collect();
            let surely = share - 4.0 * standard_error(&values);
            worst = worst.max(surely / (curves::linear(sigma, 1.0, update as u64) + 1e-12));
        }
        seen.extend(middle.last().map(|point| (sigma, point.1)));
    }
    if worst <= 0.0 {
        return claim;
    }
    let pairs = || (0..seen.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let agree = pairs().filter(|&(i, j)| (seen[i].0 > seen[j].0) == (seen[i].1 < seen[j].1)).count();
    claim.judged(
        worst <= 1.0 + 1e-9,
        format!(
            "largest ratio {worst:.4}; {agree} of {} pairs of graphs in the order of sigma",
            pairs().count()
        ),
    )
}

/// What other graphs, draws and momentum add.
fn ours(records: &[&Record]) -> Claim {
    let claim = Claim::new(
        "graphs-beyond",
        "(Ours.) A sparse graph that comes closer to the clique.",
        "Share left after 10,000 updates: a random regular graph with 3 N edges against star+ring with 2 N and tree+ring. Beyond \
         if it beats both. Beside it, without a verdict: draws that equalise resistances on star+ring, and momentum on tree+ring, \
         which begins where pairs slow down and that takes longer than this.",
    );
    let of = |line: &str| last(records, line).0;
    let [regular, star, tree, equalised, momentum] =
        ["random regular", "star+ring", "tree+ring", "star+ring, equalised draws", "tree+ring, momentum"]
            .map(of);
    if !(regular.is_finite() && momentum.is_finite()) {
        return claim;
    }
    let found = format!(
        "random regular {}, star+ring {} (equalised draws {}); tree+ring {}, with momentum {}",
        short(regular),
        short(star),
        short(equalised),
        short(tree),
        short(momentum)
    );
    claim.with(if regular < star.min(tree) { Verdict::Beyond } else { Verdict::NotReproduced }, found)
}
