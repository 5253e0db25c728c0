//! What one pair update costs beside the bare arithmetic, in the same run.
//!
//! | row | ours | bare loop |
//! |---|---|---|
//! | synthetic | one update of the paper's problem (N = 1000, block 50, m = 10, tree+ring) through `PairStepper` | four matrix-vector products and one factored solve |
//! | scalar | one update of a scalar pair on one row with bounds | load, compute, store |
//!
//! Both sides walk the same pre-drawn edges over the same data, in alternating rounds; the ratio is taken round by
//! round and the median is printed. Sizes and seeds are fixed here. `--csv FILE` also writes every round.

mod bare;

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph, Topology};
use equipoise::separable::{Bounds, SeparableTerm};
use equipoise::smooth::{Distance, SmoothTerm};
use equipoise::{Coupling, PairStepper, Problem, Settings};
use equipoise_models::Synthetic;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const ROUNDS: usize = 301;

struct Row {
    name: String,
    wanted: f64,
    /// (ours, bare) in nanoseconds an update, round by round.
    rounds: Vec<(f64, f64)>,
}

fn main() {
    let rows = [synthetic(), scalar(1_000), scalar(1_000_000)];
    println!("| update | ours ns | bare ns | ratio (median of {ROUNDS}) | wanted |");
    println!("|---|---|---|---|---|");
    for row in &rows {
        let ratio = median(row.rounds.iter().map(|(ours, bare)| ours / bare));
        let ours = median(row.rounds.iter().map(|round| round.0));
        let bare = median(row.rounds.iter().map(|round| round.1));
        println!("| {} | {ours:.1} | {bare:.1} | {ratio:.2} | <= {} |", row.name, row.wanted);
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != "--csv").skip(1);
    if let Some(path) = arguments.next() {
        std::fs::write(&path, csv(&rows)).expect("the CSV can be written");
    }
}

fn csv(rows: &[Row]) -> String {
    let mut text = String::from("update,round,ours_ns,bare_ns\n");
    for row in rows {
        for (k, (ours, bare)) in row.rounds.iter().enumerate() {
            writeln!(text, "{},{k},{ours:.3},{bare:.3}", row.name).expect("a string takes everything");
        }
    }
    text
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn draw(topology: &Topology, nodes: usize, count: usize) -> Vec<(usize, usize)> {
    let graph = Graph::new(topology, nodes).expect("enough nodes");
    let sampler = EdgeSampler::new(&graph, &EdgeProbabilities::Uniform).expect("connected");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    (0..count).map(|_| sampler.draw(&mut rng)).collect()
}

/// Nanoseconds that one of `count` updates took.
fn timed(count: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// Both sides over the same edges, by turns. The first round fills caches on both sides and is not counted.
fn alternate<F: SmoothTerm, H: SeparableTerm>(
    edges: &[(usize, usize)],
    stepper: &mut PairStepper<'_, F, H>,
    mut bare: impl FnMut(&[(usize, usize)]),
) -> Vec<(f64, f64)> {
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        let ours = timed(edges.len(), || {
            for &(i, j) in edges {
                stepper.update(black_box(i), black_box(j)).expect("a bounded problem");
            }
        });
        rounds.push((ours, timed(edges.len(), || bare(black_box(edges)))));
    }
    rounds.split_off(1)
}

fn synthetic() -> Row {
    let model = Synthetic { nodes: 1000, block: 50, rows: 10, seed: 1 };
    let problem = model.problem().expect("valid").graph(Topology::TreeRing).build().expect("valid");
    let edges = draw(&Topology::TreeRing, 1000, 2_000);
    let mut stepper = PairStepper::new(&problem, &Settings::default()).expect("valid settings");
    let mut bare = bare::SmoothRows::new(&model, &edges);
    let rounds = alternate(&edges, &mut stepper, |edges| bare.sweep(edges));
    black_box((stepper.x()[0], bare.result()));
    Row { name: "synthetic block 50 m 10".into(), wanted: 1.5, rounds }
}

fn scalar(n: usize) -> Row {
    let target: Vec<f64> = (0..n).map(|c| ((c * 7919) % 1000) as f64 / 250.0 - 2.0).collect();
    let problem = Problem::builder(Distance::new(target.clone(), 0.5).expect("finite"))
        .separable(Bounds::new(0.0, 1.0).expect("ordered"))
        .coupling(Coupling::sum(n as f64 / 4.0).expect("finite"))
        .build()
        .expect("feasible");
    let edges = draw(&Topology::Clique, n, 20_000);
    let mut stepper = PairStepper::new(&problem, &Settings::default()).expect("valid settings");
    let mut bare = bare::ScalarPairs::new(problem.start().to_vec(), target);
    let rounds = alternate(&edges, &mut stepper, |edges| bare.sweep(edges));
    black_box((stepper.x()[0], bare.result()));
    Row { name: format!("scalar pair n {n}"), wanted: 2.0, rounds }
}
