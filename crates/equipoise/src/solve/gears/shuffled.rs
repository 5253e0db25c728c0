//! Every pair of the graph in turn, in an order drawn anew for each pass.
//!
//! # Problem
//! `minimise f(x) + h(x) subject to A x = b`, from a feasible start.
//! # Per-iteration cost
//! That of Algorithm 1; beside it four bytes an edge, or a block on a clique.
//! # Guarantees
//! Those of Algorithm 1. Between two turns of a pair every other pair has moved at most twice, where independent draws leave
//! some pairs out for several times as long. On a clique, whose pairs are too many to list, a pass is a random matching: every
//! block moves once, but one where their number is odd.
//! # Reference
//! Wright, "Coordinate descent algorithms" (2015), section 3.6, on random permutations.
//!
//! Must not know: probabilities of edges. All pairs come equally often; where others are asked for, the method is refused.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, Graph, below};
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::pace::Pace;
use crate::solve::gears::{Attempt, Gear, Habits, Round, Task, renewed};
use crate::solve::pairs::PairUpdater;
use crate::state::State;

/// Pairs in turn.
#[derive(Debug)]
pub(crate) struct Shuffled<'r, F, H> {
    problem: &'r Problem<F, H>,
    pairs: PairUpdater<'r, H>,
    turns: Turns,
    pace: Pace,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Shuffled<'r, F, H> {
    pub(crate) fn new(problem: &'r Problem<F, H>, pairs: PairUpdater<'r, H>, seed: u64) -> Result<Self> {
        if *problem.probabilities() != EdgeProbabilities::Uniform {
            let why = "it takes every pair of the graph equally often; leave out probabilities";
            return Err(Error::MethodNotApplicable { method: "shuffled", why });
        }
        Ok(Self { problem, pairs, turns: Turns::new(problem.graph(), seed), pace: Pace::new() })
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Shuffled<'_, F, H> {
    fn habits(&self) -> Habits {
        Habits::default()
    }

    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let (f, graph) = (self.problem.smooth(), self.problem.graph());
        let (pairs, turns) = (&mut self.pairs, &mut self.turns);
        let update = || {
            let (i, j) = turns.next(graph);
            pairs.update(f, state, i, j)
        };
        let (limits, heartbeat) = (task.limits, &mut task.heartbeat);
        let (updates, mut status) =
            self.pace.run(task.updates, limits, update, |made| heartbeat(made, None))?;
        let found = renewed(self.problem.view(), state, task, &mut status)?;
        // What an x is worth that there was no time for, the certificate will say.
        let objective = found.unwrap_or(task.objective);
        Ok(Round { status, ..Round::new(updates, objective) })
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.pairs.carry(archive)?;
        self.turns.carry(archive)
    }
}

/// Whose turn it is.
#[derive(Debug)]
struct Turns {
    /// Numbers of edges; on a clique of blocks, of which two neighbours are a pair. Nothing for a single block.
    order: Vec<u32>,
    /// How many of them had their turn.
    gone: usize,
    /// How many have one in a pass, and how many at once.
    all: usize,
    at_once: usize,
    rng: Xoshiro256PlusPlus,
}

impl Turns {
    fn new(graph: &Graph, seed: u64) -> Self {
        let (count, at_once) = if graph.is_clique() { (graph.nodes(), 2) } else { (graph.edge_count(), 1) };
        let all = if graph.nodes() < 2 { 0 } else { count - count % at_once };
        let order = if all == 0 { Vec::new() } else { (0..count as u32).collect() };
        // All are gone: a pass begins with the first turn.
        Self { order, gone: all, all, at_once, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The next pair; (0, 0) for a single block.
    fn next(&mut self, graph: &Graph) -> (usize, usize) {
        if self.all == 0 {
            return (0, 0);
        }
        if self.gone == self.all {
            for last in (1..self.order.len()).rev() {
                let other = below(&mut self.rng, last + 1);
                self.order.swap(last, other);
            }
            self.gone = 0;
        }
        let first = self.order[self.gone] as usize;
        let pair = if self.at_once == 2 {
            (first, self.order[self.gone + 1] as usize)
        } else {
            graph.edge_at(first)
        };
        self.gone += self.at_once;
        pair
    }

    /// Shows an archive whose turns come next.
    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let length = self.order.len();
        archive.indices(&mut self.order, length)?;
        archive.count(&mut self.gone, self.all)?;
        let is_whole = self.order.len() == length && self.gone.is_multiple_of(self.at_once);
        if !is_whole {
            return Err(Error::BadSnapshot { what: "turns of pairs do not fit the graph" });
        }
        archive.generator(&mut self.rng)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Turns;
    use crate::archive::Archive;
    use crate::graph::{Graph, Topology};
    use crate::problem::ProbabilityChoice;
    use crate::smooth::Distance;
    use crate::solve::{Method, Settings, Status, solve};
    use crate::{Coupling, Error, Problem};

    fn graph(name: &str, nodes: usize) -> Graph {
        Graph::new(&Topology::parse(name, nodes, 0).expect("known"), nodes).expect("valid")
    }

    #[test]
    fn every_edge_has_one_turn_a_pass_and_no_order_comes_twice() {
        for (name, nodes) in [("ring", 7), ("star", 12), ("tree+ring", 9)] {
            let graph = graph(name, nodes);
            let mut turns = Turns::new(&graph, 3);
            let pass = |turns: &mut Turns| -> Vec<_> {
                (0..graph.edge_count()).map(|_| turns.next(&graph)).collect()
            };
            let (first, second) = (pass(&mut turns), pass(&mut turns));
            assert_ne!(first, second, "{name}");
            for mut pass in [first, second] {
                pass.sort_unstable();
                let mut edges: Vec<_> = graph.edges().collect();
                edges.sort_unstable();
                assert_eq!(pass, edges, "{name}");
            }
        }
    }

    #[test]
    fn a_pass_over_a_clique_moves_every_block_once_and_reaches_every_pair() {
        for nodes in [6, 7] {
            let graph = graph("clique", nodes);
            let (mut turns, mut seen) = (Turns::new(&graph, 5), BTreeMap::new());
            for _ in 0..400 {
                let mut blocks = Vec::new();
                for _ in 0..nodes / 2 {
                    let (i, j) = turns.next(&graph);
                    blocks.extend([i, j]);
                    *seen.entry((i.min(j), i.max(j))).or_insert(0) += 1;
                }
                blocks.sort_unstable();
                blocks.dedup();
                assert_eq!(blocks.len(), 2 * (nodes / 2));
            }
            assert_eq!(seen.len(), nodes * (nodes - 1) / 2);
            let share = 400 * (nodes / 2) / seen.len();
            assert!(seen.values().all(|times| (share / 2..2 * share).contains(times)), "{seen:?}");
        }
        assert_eq!(Turns::new(&Graph::single(), 0).next(&Graph::single()), (0, 0));
    }

    #[test]
    fn turns_go_on_where_they_were_put_aside() {
        let ring = graph("ring", 9);
        let mut turns = Turns::new(&ring, 1);
        for _ in 0..13 {
            turns.next(&ring);
        }
        let mut archive = Archive::to_write();
        turns.carry(&mut archive).expect("written");
        let words = archive.into_words();
        let mut again = Turns::new(&ring, 8);
        again.carry(&mut Archive::to_read(&words)).expect("read");
        assert!((0..50).all(|_| turns.next(&ring) == again.next(&ring)));
        assert!(Turns::new(&graph("ring", 8), 1).carry(&mut Archive::to_read(&words)).is_err());
    }

    /// A chain of pairs carries what one end has too much of to the other: nobody may be left out.
    #[test]
    fn turns_save_updates_on_a_ring() {
        let n = 60;
        let target: Vec<f64> = (0..n).map(|c| f64::from(c * c * 7 % 23) / 11.0 - 1.0).collect();
        let problem = || {
            let f = Distance::new(target.clone(), 1.0).expect("finite");
            let sum = Coupling::sum(5.0).expect("finite");
            Problem::builder(f).coupling(sum).graph(Topology::Ring)
        };
        let built = problem().build().expect("valid");
        let updates = |method| -> u64 {
            let settings = |seed| Settings { method, seed, tolerance: 1e-9, ..Settings::default() };
            let runs = (0..5).map(|seed| solve(&built, &settings(seed)).expect("valid"));
            runs.map(|run| {
                assert_eq!((run.status, run.method), (Status::Converged, method));
                run.updates
            })
            .sum()
        };
        let (drawn, in_turn) = (updates(Method::Pairs), updates(Method::Shuffled));
        assert!(10 * in_turn < 9 * drawn, "{in_turn} in turn, {drawn} drawn");
        let weights = ProbabilityChoice::Weighted((1..=n).map(f64::from).collect());
        let uneven = problem().probabilities(weights).build().expect("valid");
        let error = solve(&uneven, &Settings { method: Method::Shuffled, ..Settings::default() });
        assert!(matches!(error, Err(Error::MethodNotApplicable { method: "shuffled", .. })), "{error:?}");
    }
}
