//! The bare loop: threads that read the memory of random edges, as updates do, and do nothing else with it.
//!
//! An update reads two blocks of A and the factor of its edge. The loop reads as much, from arrays of the same
//! size at the places of random edges of the same graph, and adds up what it reads at full speed: what memory gives to
//! a thread that reads one block after the other.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::Result;
use equipoise::graph::{Graph, Topology};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Arguments;
use super::record::{Key, Record, Row};
use super::synthetic::{full_problem, name};

const TOPOLOGY: &str = "tree+ring";
/// Updates between two looks at the clock.
const UPDATES_PER_LOOK: u64 = 32;
/// Numbers that are added side by side: eight vectors of four.
const LANES: usize = 32;

/// The arrays and the edges.
struct Memory {
    graph: Graph,
    /// The blocks of A, one after the other.
    blocks: Vec<f64>,
    block: usize,
    /// The factors, one an edge: the triangle of an m x m matrix.
    factors: Vec<f64>,
    factor: usize,
}

/// Measures the loop on one thread and on the most.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let problem = full_problem(arguments);
    let graph = Graph::new(&Topology::parse(TOPOLOGY, problem.nodes, 0)?, problem.nodes)?;
    let (block, factor) = (problem.block * problem.rows, problem.rows * (problem.rows + 1) / 2);
    let memory = Memory {
        blocks: vec![0.5; problem.nodes * block],
        block,
        factors: vec![0.25; graph.edge_count() * factor],
        factor,
        graph,
    };
    let bytes = size_of::<f64>() * (2 * block + factor);
    let time = Duration::from_secs_f64(if arguments.quick { 0.2 } else { 3.0 });
    for threads in arguments.selection().bare() {
        let key = Key {
            part: "bare",
            problem: name(&problem),
            topology: TOPOLOGY,
            locking: "none",
            delay_us: 0,
            threads,
            repeat: 1,
        };
        record.run(&key, || {
            let (updates, seconds) = memory.read(threads, time);
            let speed = bytes as f64 * updates as f64 / seconds / 1e9;
            Ok(Row {
                seconds,
                preparation_seconds: 0.0,
                updates,
                objective: f64::NAN,
                target: f64::NAN,
                reached: true,
                infeasibility: f64::NAN,
                status: format!("{speed:.1} GB/s"),
            })
        })?;
    }
    Ok(())
}

impl Memory {
    /// Reads on so many threads for a time; returns the updates made and the seconds that they took.
    fn read(&self, threads: usize, time: Duration) -> (u64, f64) {
        let barrier = Barrier::new(threads);
        let one = |seed: u64| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            barrier.wait();
            let (begun, mut updates, mut sum) = (Instant::now(), 0, 0.0);
            while begun.elapsed() < time {
                for _ in 0..UPDATES_PER_LOOK {
                    sum += self.edge(random.random_range(0..self.graph.edge_count()));
                }
                updates += UPDATES_PER_LOOK;
            }
            black_box(sum);
            (updates, begun.elapsed().as_secs_f64())
        };
        let done: Vec<(u64, f64)> = std::thread::scope(|scope| {
            let one = &one;
            let workers: Vec<_> =
                (0..threads as u64).map(|seed| scope.spawn(move || one(seed + 1))).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        let seconds = done.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
        (done.iter().map(|(updates, _)| updates).sum(), seconds)
    }

    /// Adds up what an update of this edge would read.
    fn edge(&self, index: usize) -> f64 {
        let (i, j) = self.graph.edge_at(index);
        let block = |i: usize| total(&self.blocks[i * self.block..][..self.block]);
        block(i) + block(j) + total(&self.factors[index * self.factor..][..self.factor])
    }
}

fn total(values: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_added_up() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(total(&values), 499_500.0);
    }

    #[test]
    fn the_arrays_end_with_the_last_edge() {
        let graph = Graph::new(&Topology::TreeRing, 9).expect("valid");
        let edges = graph.edge_count();
        let memory =
            Memory { graph, blocks: vec![1.0; 9 * 4], block: 4, factors: vec![1.0; edges * 3], factor: 3 };
        assert!((0..edges).all(|index| memory.edge(index) == 11.0));
        let (updates, seconds) = memory.read(2, Duration::from_millis(5));
        assert!(updates >= 2 * UPDATES_PER_LOOK && seconds >= 0.005);
    }
}
