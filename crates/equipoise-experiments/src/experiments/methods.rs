//! Plain, accelerated, stochastic, SVRG, SAGA and `auto` on shared problems.
//!
//! A quadratic over a sum row on a ring, condition 1e4, where momentum helps; a mean logistic loss with a small ridge over a
//! sum row, where samples help. Every method runs to `f* + 1e-6 (f_0 - f*)`, or as long as it may.

use std::sync::Arc;

use anyhow::Result;
use equipoise::graph::Topology;
use equipoise::smooth::loss::LogisticLoss;
use equipoise::smooth::{Distance, Logistic, SmoothTerm, Sum};
use equipoise::{
    Control, Coupling, DenseMatrix, History, Method, ProbabilityChoice, Problem, Settings, Solver,
};
use equipoise_report::{
    Axis, Cell as TableCell, Chart, Figure, Mark, Section, Series, Table, Verdict, colours,
};
use equipoise_theory::Equalised;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{short, those};
use crate::cell::{Cell, Outcome, Record};
use crate::claims::Claim;
use crate::plan::Plan;
use crate::stats::median;

const ACCURACY: f64 = 1e-6;
const PROBLEMS: [(&str, &str, &[&str]); 2] = [
    ("ring", "a quadratic on a ring", &["pairs", "accelerated", "accelerated-equalised", "auto"]),
    ("samples", "a mean logistic loss", &["pairs", "accelerated", "stochastic", "svrg", "saga", "auto"]),
];

pub(super) fn cells(plan: &Plan) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (problem, _, methods) in PROBLEMS {
        for seed in 1..=plan.seeds.min(3) {
            for method in methods {
                let weight = if plan.is_paper() { 120 } else { 6 };
                let cell =
                    Cell::new("methods", seed, weight).with("problem", &problem).with("method", &method);
                cells.push(cell.with("scale", plan.scale.name()));
            }
        }
    }
    cells
}

pub(super) fn run(plan: &Plan, cell: &Cell, control: &Control) -> Result<Outcome> {
    let limit = if plan.is_paper() { 60.0 } else { 2.5 };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(cell.seed);
    if cell.get("problem") == "ring" {
        let n = if plan.is_paper() { 1000 } else { 200 };
        let weights: Vec<f64> = (0..n).map(|_| 0.5 * 1e4f64.powf(random.random_range(0.0..1.0))).collect();
        let target: Vec<f64> = (0..n).map(|_| random.random_range(-2.0..2.0)).collect();
        let builder = Problem::builder(Distance::new(target, weights)?).coupling(Coupling::sum(0.0)?);
        let equalised = cell.get("method").ends_with("equalised");
        let law =
            if equalised { ProbabilityChoice::Law(Arc::new(Equalised)) } else { ProbabilityChoice::Uniform };
        let problem = builder.graph(Topology::Ring).probabilities(law).build()?;
        return timed(&problem, cell, limit, control);
    }
    let (samples, n) = if plan.is_paper() { (100_000, 50) } else { (20_000, 20) };
    let scales: Vec<f64> = (0..n).map(|_| 10f64.powf(random.random_range(-0.5..0.5))).collect();
    let rule: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
    let (mut values, mut scores) = (vec![0.0; samples * n], vec![0.0; samples]);
    for (l, score) in scores.iter_mut().enumerate() {
        *score = random.random_range(-1.0..1.0);
        for j in 0..n {
            let z = random.random_range(-1.7..1.7);
            values[j * samples + l] = scales[j] * z;
            *score += rule[j] * z;
        }
    }
    let labels = scores.iter().map(|score| if *score > 0.0 { 1.0 } else { -1.0 }).collect();
    let matrix = DenseMatrix::from_columns(samples, n, values)?;
    let loss = Logistic::weighted(matrix, labels, LogisticLoss, 1.0 / samples as f64)?;
    let terms: Vec<Box<dyn SmoothTerm>> =
        vec![Box::new(loss), Box::new(Distance::new(vec![0.0; n], 0.5e-4)?)];
    let problem = Problem::builder(Sum::new(terms)?).coupling(Coupling::sum(0.0)?).build()?;
    timed(&problem, cell, limit, control)
}

fn timed<F: SmoothTerm>(problem: &Problem<F>, cell: &Cell, limit: f64, control: &Control) -> Result<Outcome> {
    let settings = Settings { tolerance: 1e-11, time_limit: Some(30.0), ..Settings::default() };
    let best = Solver::new(problem, &settings).control(control.clone()).run()?;
    let (optimum, start) = (problem.objective(&best.x)?, problem.objective(problem.start())?);
    let target = optimum + ACCURACY * (start - optimum);
    let method: Method = cell.get("method").trim_end_matches("-equalised").parse()?;
    let settings = Settings {
        method,
        tolerance: 1e-15,
        target_objective: Some(target),
        time_limit: Some(limit),
        seed: cell.seed,
        ..Settings::default()
    };
    let solution = Solver::new(problem, &settings).control(control.clone()).run()?;
    let objective = problem.objective(&solution.x)?;
    let left = |f: f64| ((f - optimum) / (start - optimum)).max(1e-12);
    // A run with a target looks at nothing else: the curve is that of a second run, which stops to look.
    let settings = Settings { target_objective: None, tolerance: 1e-9, ..settings };
    let mut history = History::default();
    let _ = Solver::new(problem, &settings).observer(&mut history).control(control.clone()).run()?;
    let mut outcome = Outcome::under(&["epoch", "seconds", "left"]);
    outcome.rows = history
        .checkpoints
        .iter()
        .map(|seen| vec![seen.epoch, seen.seconds, left(seen.verdict.objective)])
        .collect();
    Ok(outcome
        .value("seconds", solution.seconds)
        .value("epochs", solution.epochs)
        .value("updates", solution.updates as f64)
        .value("left", left(objective))
        .value("reached", f64::from(u8::from(objective <= target + 1e-9 * (start - optimum))))
        .value("gap", best.certificate.duality_gap.unwrap_or(f64::NAN))
        .word("status", solution.status.to_string()))
}

fn middle(records: &[&Record], problem: &str, method: &str, value: &str) -> f64 {
    let all = those(records, &[("problem", problem), ("method", method)]);
    median(&all.iter().map(|record| record.outcome.get(value)).collect::<Vec<_>>())
}

pub(super) fn section(records: &[&Record], command: &str) -> Section {
    let mut section = Section::new("Methods").text(
        "Every method on the same problem, from the same start, to 1e-6 of the first gap; one thread. An epoch is as much work as \
         one look at every block.",
    );
    let mut table = Table::new(
        "Medians over seeds",
        ["problem", "method", "seconds", "epochs", "share of the gap left", "reached"],
    );
    for (problem, words, methods) in PROBLEMS {
        let mut chart = Chart::new("", Axis::log("epoch"), Axis::log("share of the first gap that is left"));
        for (k, method) in methods.iter().enumerate() {
            let all = those(records, &[("problem", problem), ("method", method)]);
            let Some(first) = all.first() else { continue };
            let points: Vec<(f64, f64)> =
                first.outcome.points("epoch", "left").into_iter().filter(|point| point.0 > 0.0).collect();
            chart = chart
                .with(Series::new(Mark::Line, colours::nth(k), points.clone()).named(*method))
                .with(Series::new(Mark::Dots, colours::nth(k), points));
            let reached = all.iter().filter(|record| record.outcome.get("reached") == 1.0).count();
            table = table.row([
                TableCell::from(words),
                TableCell::from(*method),
                TableCell::Number(short(middle(records, problem, method, "seconds"))),
                TableCell::Number(short(middle(records, problem, method, "epochs"))),
                TableCell::Number(short(middle(records, problem, method, "left"))),
                TableCell::Number(format!("{reached} of {}", all.len())),
            ]);
        }
        section = section.figure(
            Figure::new(&format!("methods-{problem}"), format!("On {words}"), chart)
                .alt(format!("Share of the gap that is left against epochs on {words}, one line a method."))
                .command(command)
                .with_log_x(),
        );
    }
    section.table(table)
}

pub(super) fn claims(records: &[&Record]) -> Vec<Claim> {
    let left = |method: &str| middle(records, "samples", method, "left");
    let (stochastic, svrg, saga, pairs) = (left("stochastic"), left("svrg"), left("saga"), left("pairs"));
    let mut slow = Claim::new(
        "stochastic-price",
        "Slower convergence is the price of cheap stochastic steps (Theorem 3).",
        "Share of the gap left on samples when the same time is over, medians: stochastic steps against pairs of Algorithm 1. Reproduced if the stochastic ones \
         have more left.",
    );
    if stochastic.is_finite() && pairs.is_finite() {
        slow = slow
            .judged(stochastic > pairs, format!("stochastic {}, pairs {}", short(stochastic), short(pairs)));
    }
    let mut reduced = Claim::new(
        "variance-reduction",
        "(Ours.) Variance reduction takes the price away.",
        "Share of the gap left on samples in the same time, medians. Beyond if SVRG and SAGA get to 1e-6, and stochastic steps do not.",
    );
    if [stochastic, svrg, saga].iter().all(|share| share.is_finite()) {
        let beyond = svrg.max(saga) <= 1.1 * ACCURACY && stochastic > 1.1 * ACCURACY;
        let found = format!("stochastic {}, SVRG {}, SAGA {}", short(stochastic), short(svrg), short(saga));
        reduced = reduced.with(if beyond { Verdict::Beyond } else { Verdict::NotReproduced }, found);
    }
    let mut momentum = Claim::new(
        "momentum-pays",
        "(Ours.) Momentum pays where the graph is poor.",
        "Epochs to 1e-6 on the badly conditioned ring: plain pairs over momentum with equalised draws. Beyond if above 1 or plain pairs never arrive.",
    );
    let reached = |method: &str| middle(records, "ring", method, "reached") == 1.0;
    let (pairs, fast) = (
        middle(records, "ring", "pairs", "epochs"),
        middle(records, "ring", "accelerated-equalised", "epochs"),
    );
    if fast.is_finite() && reached("accelerated-equalised") {
        let beyond = !reached("pairs") || pairs > fast;
        let plain = if reached("pairs") { short(pairs) } else { format!("more than {}", short(pairs)) };
        let found = format!(
            "pairs {plain} epochs, momentum {}, auto {}",
            short(fast),
            short(middle(records, "ring", "auto", "epochs"))
        );
        momentum = momentum.with(if beyond { Verdict::Beyond } else { Verdict::NotReproduced }, found);
    }
    vec![slow, reduced, momentum]
}
