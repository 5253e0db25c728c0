//! Random graphs.
//!
//! - Given: the number of nodes, a probability or a degree, a seed.
//! - Returns: pairs (first < second), simple, not sorted. The same seed gives the same graph.
//! - Must not know: the law by which edges are drawn later.
//!
//! Reference: Batagelj and Brandes 2005 (skipping); Milo et al. 2003, arXiv:cond-mat/0312028 (switching).

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::structure::{clique_edge_count, clique_pair};
use super::uniform::{below, unit};
use crate::control::{Control, Pass};

/// Attempted switches per edge of a random regular graph.
const SWITCHES_PER_EDGE: usize = 10;

/// Steps between two looks at the wish to stop.
const STEPS_PER_LOOK: usize = 1 << 16;

/// Each pair with the given probability, in time proportional to the edges drawn: the gaps between them are
/// geometric.
pub(super) fn erdos_renyi(
    nodes: usize,
    probability: f64,
    seed: u64,
    control: &Control,
) -> Pass<Vec<(u32, u32)>> {
    let count = clique_edge_count(nodes) as u64;
    let mut list = Vec::new();
    if probability == 0.0 {
        return Ok(list);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let log_miss = (-probability).ln_1p();
    let mut next = 0u64;
    loop {
        let gap = (unit(&mut rng).ln() / log_miss) as u64;
        next = next.saturating_add(gap);
        if next >= count {
            return Ok(list);
        }
        if list.len().is_multiple_of(STEPS_PER_LOOK) {
            control.check()?;
        }
        let (i, j) = clique_pair(nodes, next as usize);
        list.push((i as u32, j as u32));
        next += 1;
    }
}

/// Every node with `degree` neighbours: a circulant graph, mixed by random switches a-b, c-d -> a-d, c-b. Every
/// graph on the way is simple and regular, and the number of steps is fixed, so it always ends.
pub(super) fn random_regular(
    nodes: usize,
    degree: usize,
    seed: u64,
    control: &Control,
) -> Pass<Vec<(u32, u32)>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut edges = circulant(nodes, degree);
    let mut neighbours = Neighbours::new(nodes, degree, &edges);
    for step in 0..SWITCHES_PER_EDGE * edges.len() {
        if step.is_multiple_of(STEPS_PER_LOOK) {
            control.check()?;
        }
        let (p, q) = (below(&mut rng, edges.len()), below(&mut rng, edges.len()));
        let (a, b) = edges[p];
        let (c, d) = if rng.next_u64() >> 63 == 0 { edges[q] } else { (edges[q].1, edges[q].0) };
        if a == c || a == d || b == c || b == d || neighbours.joined(a, d) || neighbours.joined(c, b) {
            continue;
        }
        neighbours.replace(a, b, d);
        neighbours.replace(b, a, c);
        neighbours.replace(c, d, b);
        neighbours.replace(d, c, a);
        edges[p] = (a, d);
        edges[q] = (c, b);
    }
    Ok(edges.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect())
}

/// Node i joined to i +- 1, ..., i +- degree/2, and to the node opposite if the degree is odd.
fn circulant(nodes: usize, degree: usize) -> Vec<(u32, u32)> {
    let mut edges = Vec::with_capacity(nodes * degree / 2);
    for i in 0..nodes {
        for step in 1..=degree / 2 {
            edges.push((i as u32, ((i + step) % nodes) as u32));
        }
        if !degree.is_multiple_of(2) && i < nodes / 2 {
            edges.push((i as u32, (i + nodes / 2) as u32));
        }
    }
    edges
}

/// The neighbours of each node, `degree` apiece.
struct Neighbours {
    degree: usize,
    of: Vec<u32>,
}

impl Neighbours {
    fn new(nodes: usize, degree: usize, edges: &[(u32, u32)]) -> Self {
        let mut of = vec![0; nodes * degree];
        let mut filled = vec![0; nodes];
        for &(i, j) in edges {
            for (from, to) in [(i as usize, j), (j as usize, i)] {
                of[from * degree + filled[from]] = to;
                filled[from] += 1;
            }
        }
        Self { degree, of }
    }

    fn row(&mut self, node: u32) -> &mut [u32] {
        &mut self.of[node as usize * self.degree..][..self.degree]
    }

    fn joined(&mut self, i: u32, j: u32) -> bool {
        self.row(i).contains(&j)
    }

    fn replace(&mut self, node: u32, old: u32, new: u32) {
        let place = self.row(node).iter_mut().find(|n| **n == old);
        *place.expect("the ends of an edge are neighbours") = new;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, Topology};
    use super::*;

    fn mixed_graph(nodes: usize, degree: usize, seed: u64) -> Vec<(u32, u32)> {
        random_regular(nodes, degree, seed, &Control::unlimited()).expect("nobody ends it")
    }

    #[test]
    fn a_graph_under_way_can_be_ended() {
        let ended = Control::unlimited().within(0.0);
        for topology in [
            Topology::RandomRegular { degree: 3, seed: 1 },
            Topology::ErdosRenyi { probability: 0.1, seed: 1 },
            Topology::Edges(vec![(0, 1)]),
        ] {
            let refused = Graph::new_within(&topology, 200, &ended);
            assert!(matches!(refused, Err(crate::Error::StoppedEarly { .. })), "{topology}: {refused:?}");
        }
    }

    #[test]
    fn regular_graphs_are_simple_regular_and_mixed() {
        for (nodes, degree) in [(2, 1), (3, 2), (4, 3), (5, 4), (10, 3), (24, 5), (25, 4), (8, 7), (200, 3)] {
            let topology = Topology::RandomRegular { degree, seed: 3 };
            let graph = Graph::new(&topology, nodes).expect("valid");
            let degrees = graph.degrees();
            assert_eq!((degrees.min, degrees.max), (degree, degree), "{nodes} {degree}");
            assert_eq!(graph.edge_count(), nodes * degree / 2);
            assert_eq!(graph, Graph::new(&topology, nodes).expect("valid"));
        }
        // Of the 300 edges of the circulant graph about 300 * 3/199 survive by chance.
        let mixed = mixed_graph(200, 3, 1);
        let start = circulant(200, 3);
        let kept = mixed.iter().filter(|&&(i, j)| start.contains(&(i, j)) || start.contains(&(j, i))).count();
        assert!(kept < 25, "{kept}");
        assert_ne!(mixed, mixed_graph(200, 3, 2));
    }

    #[test]
    fn regular_graphs_on_few_nodes_are_uniform() {
        // Of the 70 labelled cubic graphs on 6 nodes 10 are K_{3,3} (no triangle), 60 prisms.
        let draws = 7000;
        let mut bipartite = 0;
        for seed in 0..draws {
            let edges = mixed_graph(6, 3, seed);
            let has = |i: u32, j: u32| edges.contains(&(i.min(j), i.max(j)));
            let triangle = edges.iter().any(|&(i, j)| (0..6).any(|k| has(i, k) && has(j, k)));
            bipartite += u64::from(!triangle);
        }
        assert!(bipartite.abs_diff(draws / 7) < 150, "{bipartite}");
    }

    #[test]
    fn erdos_renyi_has_the_right_number_of_edges() {
        let draw = |probability, seed| {
            erdos_renyi(400, probability, seed, &Control::unlimited()).expect("nobody ends it")
        };
        assert!(draw(0.0, 1).is_empty());
        assert!(draw(1e-300, 1).is_empty());
        assert_eq!(draw(1.0, 1).len(), 79_800);
        for (seed, probability) in [(1, 0.01_f64), (2, 0.1), (3, 0.5), (4, 0.9)] {
            let expected = 79_800.0 * probability;
            let spread = (expected * (1.0 - probability)).sqrt();
            let list = draw(probability, seed);
            assert!((list.len() as f64 - expected).abs() < 5.0 * spread, "{probability}: {}", list.len());
            assert!(list.windows(2).all(|two| two[0] < two[1]));
            assert_eq!(list, draw(probability, seed));
        }
    }
}
