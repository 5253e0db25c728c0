//! The edges of each topology, and what is refused before they are made.
//!
//! - Given: a [`Topology`] and the number of nodes.
//! - Returns: pairs (first < second), sorted and without doubles; a list of the user's keeps its order.
//! - Must not know: how the graph keeps them.

use super::{random, topology::Topology};
use crate::control::{Control, Pass};
use crate::error::{Error, Result};

/// The most memory that the edges may take, in bytes.
const MEMORY_BUDGET: usize = 2 << 30;
/// Bytes of one edge.
const BYTES_PER_EDGE: usize = 8;
/// About how many numbers are read to put an edge into its place, in a random order.
const NUMBERS_AN_EDGE: usize = 16;

/// Refuses too few nodes, parameters that do not fit and graphs that do not fit into memory.
pub(super) fn check(topology: &Topology, nodes: usize) -> Result<()> {
    let minimum = match topology {
        Topology::Wheel => 4,
        Topology::Edges(_) => 1,
        _ => 2,
    };
    if nodes < minimum {
        return Err(Error::GraphTooSmall { topology: topology.name(), found: nodes, minimum });
    }
    let wrong =
        |name, found, allowed| Err(Error::GraphParameter { topology: topology.name(), name, found, allowed });
    match *topology {
        Topology::Grid { rows, columns } if rows.checked_mul(columns) != Some(nodes) => {
            return wrong("rows times columns", rows as f64 * columns as f64, "exactly the number of nodes");
        }
        Topology::ErdosRenyi { probability, .. } if !(0.0..=1.0).contains(&probability) => {
            return wrong("probability", probability, "0 to 1");
        }
        Topology::RandomRegular { degree, .. } => {
            let odd = !nodes.is_multiple_of(2) && !degree.is_multiple_of(2);
            if degree == 0 || degree >= nodes || odd {
                return wrong("degree", degree as f64, "1 to nodes - 1, even if the number of nodes is odd");
            }
        }
        _ => {}
    }
    check_memory(topology, nodes)
}

/// Refuses what would take more than the memory budget, before anything is allocated.
fn check_memory(topology: &Topology, nodes: usize) -> Result<()> {
    let pairs = nodes as f64 * (nodes as f64 - 1.0) / 2.0;
    let edges = match *topology {
        Topology::Clique if u32::try_from(nodes).is_ok() => return Ok(()),
        Topology::Clique => pairs,
        Topology::ErdosRenyi { probability, .. } => pairs * probability,
        Topology::RandomRegular { degree, .. } => nodes as f64 * degree as f64,
        Topology::Edges(ref list) => list.len() as f64,
        _ => nodes as f64,
    };
    // The nodes count too: whoever walks over the graph keeps a number for each.
    let needed = ((edges + nodes as f64) * BYTES_PER_EDGE as f64) as usize;
    if needed > MEMORY_BUDGET {
        let what = format!("the graph {topology} on {nodes} nodes");
        return Err(Error::TooMuchMemory { what, needed, allowed: MEMORY_BUDGET });
    }
    Ok(())
}

/// The edges of a topology that passed [`check`].
pub(super) fn edges(topology: &Topology, nodes: usize, control: &Control) -> Result<Vec<(u32, u32)>> {
    let b = nodes as u32;
    let list: Vec<(u32, u32)> = match *topology {
        Topology::Edges(ref list) => return from_user(list, nodes, control),
        Topology::Clique => (0..b).flat_map(|i| (i + 1..b).map(move |j| (i, j))).collect(),
        Topology::Ring => ring(0, b).collect(),
        Topology::Star => star(b).collect(),
        Topology::Tree => tree(b).collect(),
        Topology::StarRing => star(b).chain(ring(0, b)).collect(),
        Topology::TreeRing => tree(b).chain(ring(0, b)).collect(),
        Topology::Wheel => star(b).chain(ring(1, b)).collect(),
        Topology::Grid { columns, .. } => grid(b, columns as u32).collect(),
        Topology::ErdosRenyi { probability, seed } => random::erdos_renyi(nodes, probability, seed, control)?,
        Topology::RandomRegular { degree, seed } => random::random_regular(nodes, degree, seed, control)?,
    };
    let (mut list, starts) = by_first(&list, |pair| pair.0, nodes, control)?;
    in_each(&starts, &mut list, control, |pairs| {
        pairs.sort_unstable();
    })?;
    list.dedup();
    Ok(list)
}

/// Items in the order of their first nodes, otherwise as they came, and where those of each node begin.
fn by_first<T: Copy + Default>(
    items: &[T],
    first: impl Fn(&T) -> u32,
    nodes: usize,
    control: &Control,
) -> Pass<(Vec<T>, Vec<usize>)> {
    let mut starts = vec![0; nodes + 1];
    control.in_parts(items.len(), NUMBERS_AN_EDGE, |part| {
        items[part].iter().for_each(|item| starts[first(item) as usize + 1] += 1);
    })?;
    (0..nodes).for_each(|node| starts[node + 1] += starts[node]);
    let (mut ordered, mut next) = (vec![T::default(); items.len()], starts.clone());
    control.in_parts(items.len(), NUMBERS_AN_EDGE, |part| {
        for item in &items[part] {
            let place = &mut next[first(item) as usize];
            ordered[*place] = *item;
            *place += 1;
        }
    })?;
    Ok((ordered, starts))
}

/// Works on the items of each node.
fn in_each<T>(starts: &[usize], items: &mut [T], control: &Control, mut work: impl FnMut(&mut [T])) -> Pass {
    let nodes = starts.len() - 1;
    control.in_parts(nodes, (items.len() / nodes.max(1) + 1) * NUMBERS_AN_EDGE, |part| {
        for node in part {
            work(&mut items[starts[node]..starts[node + 1]]);
        }
    })
}

/// The ring start, start + 1, ..., end - 1, start.
fn ring(start: u32, end: u32) -> impl Iterator<Item = (u32, u32)> {
    (start..end - 1).map(|i| (i, i + 1)).chain((end - start > 2).then_some((start, end - 1)))
}

/// The hub 0 and every other node.
fn star(nodes: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..nodes).map(|i| (0, i))
}

/// Each node and its parent.
fn tree(nodes: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..nodes).map(|i| ((i - 1) / 2, i))
}

/// Each node with its right and its lower neighbour.
fn grid(nodes: u32, columns: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..nodes).flat_map(move |i| {
        let right = (i % columns + 1 < columns).then_some((i, i + 1));
        let below = (i + columns < nodes).then_some((i, i + columns));
        right.into_iter().chain(below)
    })
}

/// Checks the user's edges and puts the smaller end first.
fn from_user(list: &[(usize, usize)], nodes: usize, control: &Control) -> Result<Vec<(u32, u32)>> {
    let wrong = |edge: usize, reason| {
        let (first, second) = list[edge];
        Err(Error::InvalidEdge { edge, first, second, reason })
    };
    let mut pairs = Vec::with_capacity(list.len());
    control.check()?;
    for (edge, &(first, second)) in list.iter().enumerate() {
        if first.max(second) >= nodes {
            return wrong(edge, "nodes count from 0 and must be below the number of nodes");
        }
        if first == second {
            return wrong(edge, "an edge must join two different nodes");
        }
        pairs.push((first.min(second) as u32, first.max(second) as u32));
    }
    let numbers: Vec<u32> = (0..pairs.len() as u32).collect();
    let (mut order, starts) = by_first(&numbers, |&edge| pairs[edge as usize].0, nodes, control)?;
    let mut repeated: Option<usize> = None;
    in_each(&starts, &mut order, control, |edges| {
        edges.sort_unstable_by_key(|&edge| (pairs[edge as usize].1, edge));
        let same = |two: &&[u32]| pairs[two[0] as usize] == pairs[two[1] as usize];
        let here = edges.windows(2).filter(same).map(|two| two[1] as usize).min();
        repeated = repeated.into_iter().chain(here).min();
    })?;
    match repeated {
        Some(edge) => wrong(edge, "this pair is in the list already; list each pair once"),
        None => Ok(pairs),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Graph;
    use super::*;

    fn list(topology: &Topology, nodes: usize) -> Vec<(usize, usize)> {
        Graph::new(topology, nodes).expect("valid").edges().collect()
    }

    #[test]
    fn small_graphs_by_hand() {
        assert_eq!(list(&Topology::Ring, 4), [(0, 1), (0, 3), (1, 2), (2, 3)]);
        assert_eq!(list(&Topology::Star, 4), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(list(&Topology::Tree, 6), [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]);
        assert_eq!(list(&Topology::Wheel, 4), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        assert_eq!(list(&Topology::StarRing, 4), [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]);
        let grid = Topology::Grid { rows: 2, columns: 3 };
        assert_eq!(list(&grid, 6), [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
        assert_eq!(list(&Topology::Edges(vec![(2, 1), (0, 1)]), 3), [(1, 2), (0, 1)]);
    }

    #[test]
    fn edge_counts_of_the_paper_size() {
        let count = |topology| Graph::new(&topology, 24).expect("valid").edge_count();
        assert_eq!(count(Topology::Ring), 24);
        assert_eq!(count(Topology::Clique), 276);
        assert_eq!(count(Topology::Star), 23);
        assert_eq!(count(Topology::StarRing), 45);
        assert_eq!(count(Topology::TreeRing), 46);
        assert_eq!(count(Topology::Tree), 23);
        assert_eq!(count(Topology::Wheel), 46);
        assert_eq!(count(Topology::Grid { rows: 4, columns: 6 }), 38);
    }

    #[test]
    fn two_nodes_make_one_edge() {
        for name in ["ring", "clique", "star", "star+ring", "tree+ring", "tree", "grid", "random-regular"] {
            let topology = Topology::parse(name, 2, 0).expect("known");
            assert_eq!(list(&topology, 2), [(0, 1)], "{name}");
            let error = Graph::new(&Topology::parse(name, 1, 0).expect("known"), 1).expect_err("too small");
            assert!(matches!(error, Error::GraphTooSmall { found: 1, minimum: 2, .. }), "{name}: {error}");
        }
        let error = Graph::new(&Topology::Wheel, 3).expect_err("too small");
        assert_eq!(error, Error::GraphTooSmall { topology: "wheel", found: 3, minimum: 4 });
        assert!(matches!(Graph::new(&Topology::Edges(vec![]), 0), Err(Error::GraphTooSmall { .. })));
    }

    #[test]
    fn bad_edges_are_named() {
        for (pairs, bad) in [
            (vec![(0, 1), (2, 2)], 1),
            (vec![(0, 3)], 0),
            (vec![(0, 1), (1, 2), (1, 0), (2, 1)], 2),
            (vec![(usize::MAX, 1)], 0),
        ] {
            let (first, second) = pairs[bad];
            let error = Graph::new(&Topology::Edges(pairs), 3).expect_err("invalid");
            let Error::InvalidEdge { edge, first: i, second: j, .. } = error else { panic!("{error}") };
            assert_eq!((edge, i, j), (bad, first, second));
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let grid = |rows, columns| Topology::Grid { rows, columns };
        let random = |probability| Topology::ErdosRenyi { probability, seed: 0 };
        let regular = |degree| Topology::RandomRegular { degree, seed: 0 };
        for topology in [
            grid(2, 2),
            grid(0, 5),
            grid(usize::MAX, 2),
            random(-0.1),
            random(1.5),
            random(f64::NAN),
            regular(0),
            regular(3),
            regular(6),
        ] {
            let error = Graph::new(&topology, 5).expect_err("invalid");
            assert!(matches!(error, Error::GraphParameter { .. }), "{topology}: {error}");
        }
    }

    #[test]
    fn impossible_sizes_are_refused_before_allocation() {
        let random = Topology::ErdosRenyi { probability: 0.5, seed: 0 };
        let regular = Topology::RandomRegular { degree: 1000, seed: 0 };
        for (topology, nodes) in [
            (Topology::Ring, 1 << 40),
            (Topology::Clique, 1 << 40),
            (random, 1_000_000),
            (regular, 10_000_000),
            (Topology::Edges(vec![]), 1 << 40),
        ] {
            let error = Graph::new(&topology, nodes).expect_err("too large");
            assert!(matches!(error, Error::TooMuchMemory { .. }), "{topology}: {error}");
        }
    }
}
