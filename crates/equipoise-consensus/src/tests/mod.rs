//! Tests of the whole: answers beside an independent solver, schedules, ranks, bounds in exact arithmetic, what is refused.

mod agreement;
mod bounds;
mod oracle;
mod ranks;
mod refused;
mod schedules;

use equipoise::graph::{Graph, Topology};
use equipoise::matrix::Rows;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Loss, Model, Problem, Shard};

const LOSSES: [Loss; 4] = [Loss::Ridge, Loss::Logistic, Loss::Lasso, Loss::Hinge];

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn shard(rows: &[Vec<f64>], targets: &[f64]) -> Shard {
    let columns = rows.first().map_or(1, Vec::len);
    let starts = (0..=rows.len()).map(|k| k * columns).collect();
    let indices = rows.iter().flat_map(|_| 0..columns as u32).collect();
    let values = rows.iter().flatten().copied().collect();
    let rows = Rows::new(columns, starts, indices, Some(values)).expect("valid rows");
    Shard { rows, targets: targets.to_vec() }
}

/// Shards of 3 to 8 rows of 4 numbers, fewer rows than columns among them.
pub(crate) fn random(loss: Loss, nodes: usize, bias: bool, seed: u64) -> Problem {
    let mut rng = rng(seed);
    let mut draw = || 2.0 * rng.random::<f64>() - 1.0;
    let columns = 4;
    let truth: Vec<f64> = (0..columns).map(|_| 2.0 * draw()).collect();
    let mut shards = Vec::new();
    for node in 0..nodes {
        let rows: Vec<Vec<f64>> = (0..3 + (seed as usize + 2 * node) % 6)
            .map(|_| (0..columns).map(|_| 1.5 * draw()).collect())
            .collect();
        let targets: Vec<f64> = rows
            .iter()
            .map(|row| {
                let clean: f64 = row.iter().zip(&truth).map(|(a, b)| a * b).sum();
                let noisy = clean + 0.5 * draw();
                if matches!(loss, Loss::Logistic | Loss::Hinge) { noisy.signum() } else { noisy }
            })
            .collect();
        shards.push(shard(&rows, &targets));
    }
    // Both labels are there, whatever was drawn.
    shards[0].targets[0] = 1.0;
    shards[0].targets[1] = -1.0;
    let usual = Model::new(loss);
    let model =
        Model { ridge: if loss == Loss::Lasso { 0.0 } else { 0.7 }, l1: 0.8, cost: 0.9, bias, ..usual };
    Problem::new(shards, model).expect("a valid problem")
}

fn graph(name: &str, nodes: usize) -> Graph {
    Graph::new(&Topology::parse(name, nodes, 3).expect("a topology"), nodes).expect("a graph")
}
