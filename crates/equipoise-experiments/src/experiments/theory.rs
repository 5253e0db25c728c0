//! The theorems beside runs, steps under delay, and spectra.
//!
//! Means over many seeds on small problems whose constants are known: `1/2 ||x - t||^2` over a sum row, on graphs of 24
//! nodes; the same in a box on the clique; samples for the stochastic method. Late reads are those of `late.rs`.

use anyhow::Result;
use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph, Topology};
use equipoise::separable::{Bounds, SeparableTerm};
use equipoise::smooth::Distance;
use equipoise::{Control, Coupling, Method, PairStepper, Problem, Settings, Solver};
use equipoise_theory::{
    KNorm, Prediction, Scheme, curves, repaired_step, sharp_step, theorem_2_rho, theorem_2_step,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cell::{Cell, Outcome};
use crate::late::{self, Steps, chances};
use crate::plan::Plan;
use crate::stats::{mean, standard_error};

/// Nodes of the small problems, and runs over which means are taken.
const NODES: usize = 24;
const RUNS: u64 = 40;
/// Nodes of the graphs on which reads are late.
pub(super) const LATE_NODES: usize = 200;
pub(super) const TAUS: [usize; 7] = [0, 1, 3, 7, 15, 31, 63];
pub(super) const RULES: [&str; 5] = ["full", "paper", "repaired", "sharp", "blocks"];
pub(super) const LATE_GRAPHS: [&str; 2] = ["tree+ring", "star+ring"];
/// A late run is done when this share of the gap is left.
const LATE_SHARE: f64 = 1e-2;
const LATE_UPDATES: u64 = 1_000_000;
/// Kind, what is run.
pub(super) const THEOREMS: [(&str, &str); 7] = [
    ("theorem-1", "clique"),
    ("theorem-1", "tree+ring"),
    ("theorem-1", "ring"),
    ("theorem-2", "clique"),
    ("theorem-3", "clique"),
    ("theorem-4", "clique"),
    ("accelerated", "ring"),
];
pub(super) const SPECTRA: [&str; 6] = ["clique", "star", "star+ring", "tree+ring", "grid", "ring"];
const THEOREM_2_TAU: usize = 4;

pub(super) fn cells(_: &Plan) -> Vec<Cell> {
    let cell = |kind: &str, weight| Cell::new("theory", 1, weight).with("kind", &kind);
    let mut cells: Vec<Cell> =
        THEOREMS.iter().map(|(kind, graph)| cell(kind, 3).with("graph", &graph)).collect();
    cells.push(cell("steps", 1));
    for graph in LATE_GRAPHS {
        for rule in RULES {
            cells.push(cell("late", 4).with("graph", &graph).with("rule", &rule));
        }
    }
    cells.extend(SPECTRA.iter().map(|graph| cell("spectrum", 2).with("graph", &graph)));
    cells
}

pub(super) fn run(cell: &Cell, control: &Control) -> Result<Outcome> {
    let graph = cell.get("graph");
    match cell.get("kind") {
        "theorem-1" | "theorem-4" | "accelerated" => against_prediction(cell.get("kind"), graph, control),
        "theorem-2" => late_bound(graph),
        "theorem-3" => stochastic(graph),
        "steps" => Ok(steps()),
        "late" => late_runs(graph, cell.get("rule"), control),
        _ => spectrum(graph),
    }
}

/// Rows of k, mean, standard error and bound; the ratio that must not exceed 1.
fn compared(ks: &[u64], gaps: &[Vec<f64>], bound: impl Fn(u64) -> f64, start: f64) -> Outcome {
    let mut outcome = Outcome::under(&["update", "mean", "error", "bound"]);
    let mut worst: f64 = 0.0;
    for (&k, gaps) in ks.iter().zip(gaps) {
        let (mean, error, bound) = (mean(gaps), standard_error(gaps), bound(k));
        worst = worst.max((mean - 4.0 * error - 1e-9 * start) / bound);
        outcome.rows.push(vec![k as f64, mean.max(1e-16 * start), error, bound]);
    }
    outcome.value("worst", worst).value("start", start)
}

fn problem<H: SeparableTerm>(graph: &str, h: H) -> Result<Problem<Distance, H>> {
    let target: Vec<f64> = (1..=NODES).map(|i| (i % 10) as f64).collect();
    let topology = Topology::parse(graph, NODES, 1)?;
    let builder = Problem::builder(Distance::new(target, 0.5)?).separable(h).coupling(Coupling::sum(0.0)?);
    Ok(builder.graph(topology).start(vec![0.0; NODES]).build()?)
}

fn updates(kind: &str) -> Vec<u64> {
    let most = if kind == "accelerated" { 3000.0 } else { 600.0_f64 };
    let mut ks: Vec<u64> = (0..=18).map(|k| most.powf(f64::from(k) / 18.0).round() as u64).collect();
    ks.dedup();
    ks
}

/// Pairs with and without h, and pairs with momentum, beside what `equipoise-theory` predicts.
fn against_prediction(kind: &str, graph: &str, control: &Control) -> Result<Outcome> {
    if kind == "theorem-4" {
        return predicted(kind, &problem(graph, Bounds::new(-1.0, 2.5)?)?, control);
    }
    predicted(kind, &problem(graph, equipoise::separable::Zero)?, control)
}

fn predicted<H: SeparableTerm>(
    kind: &str,
    problem: &Problem<Distance, H>,
    control: &Control,
) -> Result<Outcome> {
    let settings = Settings { tolerance: 1e-13, ..Settings::default() };
    let best = equipoise::solve(problem, &settings)?.certificate.objective;
    let start = problem.objective(problem.start())? - best;
    let scheme = if kind == "accelerated" { Scheme::Accelerated } else { Scheme::Pairs };
    let prediction = Prediction::new(problem, scheme);
    let ks = updates(kind);
    let mut gaps = vec![Vec::new(); ks.len()];
    for seed in 1..=RUNS {
        let found = if kind == "accelerated" {
            momentum(problem, &ks, seed, control)?
        } else {
            pairs(problem, &ks, seed)?
        };
        gaps.iter_mut().zip(found).for_each(|(gaps, f)| gaps.push((f - best).max(0.0)));
    }
    let bound =
        |k| prediction.as_ref().and_then(|prediction| prediction.bound(start, k)).unwrap_or(f64::INFINITY);
    Ok(compared(&ks, &gaps, bound, start))
}

fn pairs<H: SeparableTerm>(problem: &Problem<Distance, H>, ks: &[u64], seed: u64) -> Result<Vec<f64>> {
    let sampler = EdgeSampler::new(problem.graph(), problem.probabilities())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut stepper = PairStepper::new(problem, &Settings::default())?;
    let mut found = Vec::new();
    for k in 1..=ks.last().copied().unwrap_or(0) {
        let (i, j) = sampler.draw(&mut random);
        stepper.update(i, j)?;
        if ks.contains(&k) {
            found.push(problem.objective(stepper.x())?);
        }
    }
    Ok(found)
}

fn momentum<H: SeparableTerm>(
    problem: &Problem<Distance, H>,
    ks: &[u64],
    seed: u64,
    control: &Control,
) -> Result<Vec<f64>> {
    let one = |&k: &u64| {
        let settings = Settings {
            method: Method::Accelerated,
            tolerance: 1e-300,
            target_objective: Some(f64::NEG_INFINITY),
            max_updates: Some(k),
            seed,
            ..Settings::default()
        };
        let solution = Solver::new(problem, &settings).control(control.clone()).run()?;
        Ok(problem.objective(&solution.x)?)
    };
    ks.iter().map(one).collect()
}

/// Theorem 2: reads late by tau, with the largest step that it allows.
fn late_bound(graph: &str) -> Result<Outcome> {
    let graph = Graph::new(&Topology::parse(graph, NODES, 1)?, NODES)?;
    let tau = THEOREM_2_TAU as f64;
    let (alpha, rho) = (theorem_2_step(tau), theorem_2_rho(tau));
    let t = late::targets(NODES);
    let start: f64 = t.iter().map(|t| 0.5 * t * t).sum();
    // f is quadratic with Hessian I: R^2 = 2 (f_0 - f*) / (mu lambda_min(K)), mu = 1.
    let smallest = KNorm::uniform(&graph, &EdgeProbabilities::Uniform, 1.0)?.smallest()?;
    let r_squared = 2.0 * start / smallest.value;
    let steps = Steps { alpha, metric: vec![1.0; NODES] };
    let (mut ks, mut gaps): (Vec<u64>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for seed in 1..=RUNS {
        let run = late::run(&graph, THEOREM_2_TAU, &steps, 0.0, 20_000, seed)?;
        ks = run.curve.iter().skip(1).map(|point| point.0 as u64).collect();
        gaps.resize(ks.len(), Vec::new());
        gaps.iter_mut().zip(run.curve.iter().skip(1)).for_each(|(gaps, point)| gaps.push(point.1 * start));
    }
    let bound = |k| curves::theorem_2_corrected(r_squared, alpha, tau, rho, k);
    Ok(compared(&ks, &gaps, bound, start).value("alpha", alpha))
}

/// Theorem 3: Algorithm 2 with its own steps on `f_l(x) = 1/2 ||x - t_l||^2`, best iterate.
fn stochastic(graph: &str) -> Result<Outcome> {
    const SAMPLES: usize = 50;
    let graph = Graph::new(&Topology::parse(graph, NODES, 1)?, NODES)?;
    let sampler = EdgeSampler::new(&graph, &EdgeProbabilities::Uniform)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(99);
    let centre = late::targets(NODES);
    let samples: Vec<Vec<f64>> =
        (0..SAMPLES).map(|_| centre.iter().map(|t| t + random.random_range(-3.0..3.0)).collect()).collect();
    let means: Vec<f64> =
        (0..NODES).map(|i| samples.iter().map(|t| t[i]).sum::<f64>() / SAMPLES as f64).collect();
    let shift = means.iter().sum::<f64>() / NODES as f64;
    let optimum: Vec<f64> = means.iter().map(|t| t - shift).collect();
    let gap = |x: &[f64]| x.iter().zip(&optimum).map(|(x, o)| 0.5 * (x - o).powi(2)).sum::<f64>();
    let start = gap(&[0.0; NODES]);
    // A bound on gradients of samples and on distances holds on what is visited; both are measured, then used.
    let length = |x: &[f64], t: &[f64]| x.iter().zip(t).map(|(x, t)| (x - t).powi(2)).sum::<f64>().sqrt();
    let gradient =
        samples.iter().map(|t| length(&optimum, t).max(length(&[0.0; NODES], t))).fold(0.0, f64::max) * 1.5;
    let smallest = KNorm::uniform(&graph, &EdgeProbabilities::Uniform, 1.0)?.smallest()?;
    let numbers = curves::Stochastic {
        r_squared: 2.0 * start / smallest.value,
        delta_0: start,
        gradient,
        lipschitz: 1.0,
    };
    let ks: Vec<u64> = (4..=26)
        .map(|k| 10f64.powf(f64::from(k) / 5.0).round() as u64)
        .take_while(|&k| k <= 30_000)
        .collect();
    let mut gaps = vec![Vec::new(); ks.len()];
    let mut largest: f64 = 0.0;
    for seed in 1..=RUNS {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut x, mut best, mut place) = (vec![0.0; NODES], start, 0);
        for k in 0..ks.last().copied().unwrap_or(0) {
            let (i, j) = sampler.draw(&mut random);
            let t = &samples[random.random_range(0..SAMPLES)];
            largest = largest.max(((x[i] - t[i]).powi(2) + (x[j] - t[j]).powi(2)).sqrt());
            let d = 0.5 * numbers.theorem_3_step(k).min(1.0) * ((x[j] - t[j]) - (x[i] - t[i]));
            x[i] += d;
            x[j] -= d;
            best = best.min(gap(&x));
            if k + 1 == ks[place] {
                gaps[place].push(best);
                place += 1;
            }
        }
    }
    let bound = |k: u64| numbers.theorem_3_corrected((0..k).map(|i| numbers.theorem_3_step(i).min(1.0)));
    Ok(compared(&ks, &gaps, bound, start).value("gradient", gradient).value("gradient-seen", largest))
}

/// The steps of the rules over tau.
fn steps() -> Outcome {
    let mut outcome = Outcome::under(&["tau", "paper", "repaired", "sharp", "sharp-clique"]);
    for k in 0..=24 {
        let tau = (2f64.powf(0.25 * f64::from(k))).round();
        let sparse = sharp_step(tau, Some(2.0 / 10_000.0));
        outcome.rows.push(vec![tau, theorem_2_step(tau), repaired_step(tau), sharp_step(tau, None), sparse]);
    }
    outcome.rows.dedup();
    outcome
}

/// Late reads under one rule, for every tau: updates to the target, or that it was lost.
fn late_runs(name: &str, rule: &str, control: &Control) -> Result<Outcome> {
    let graph = Graph::new(&Topology::parse(name, LATE_NODES, 1)?, LATE_NODES)?;
    let chances = chances(&graph);
    let p_max = chances.iter().copied().fold(0.0, f64::max);
    let mut outcome = Outcome::under(&["tau", "updates", "diverged", "alpha", "infeasibility"]);
    for tau in TAUS {
        let t = tau as f64;
        let full = vec![1.0; LATE_NODES];
        let steps = match rule {
            "full" => Steps { alpha: 1.0, metric: full },
            "paper" => Steps { alpha: theorem_2_step(t), metric: full },
            "repaired" => Steps { alpha: repaired_step(t), metric: full },
            "sharp" => Steps { alpha: sharp_step(t, Some(p_max)), metric: full },
            _ => Steps { alpha: 1.0, metric: chances.iter().map(|p| 1.0 + t * p).collect() },
        };
        let run = late::run(&graph, tau, &steps, LATE_SHARE, LATE_UPDATES, 1)?;
        let reached = run.reached.unwrap_or(f64::INFINITY);
        outcome.rows.push(vec![
            t,
            reached,
            f64::from(u8::from(run.diverged())),
            steps.alpha,
            run.infeasibility,
        ]);
        if control.check().is_err() {
            break;
        }
    }
    Ok(outcome)
}

/// The smallest non-zero eigenvalue of K against the number of nodes, L = 1, uniform draws.
fn spectrum(name: &str) -> Result<Outcome> {
    let mut outcome = Outcome::under(&["nodes", "lambda"]);
    for nodes in [16, 24, 36, 64, 100, 144, 256, 400, 576] {
        let graph = Graph::new(&Topology::parse(name, nodes, 1)?, nodes)?;
        let smallest = KNorm::uniform(&graph, &EdgeProbabilities::Uniform, 1.0)?.smallest()?;
        outcome.rows.push(vec![nodes as f64, smallest.value]);
    }
    Ok(outcome)
}
