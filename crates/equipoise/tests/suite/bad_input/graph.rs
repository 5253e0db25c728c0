//! Graphs that are none, and graphs whose pairs cannot reach the optimum: methods that move nothing else are refused before
//! the first iteration.

use super::{matrix, refused, valid};
use crate::adaptor::{AnyProblem, builder};
use equipoise::graph::Topology;
use equipoise::smooth::Distance;
use equipoise::{BlockChoice, Coupling, Error, Matrix, Method, ProbabilityChoice, Settings, solve};

/// The problem, if pairs alone can solve it.
fn by_pairs(built: equipoise::Result<AnyProblem>) -> equipoise::Result<AnyProblem> {
    let problem = built?;
    let pairs = Settings { method: Method::Pairs, max_updates: Some(1), ..Settings::default() };
    problem.check_pairs().and(solve(&problem, &pairs).map(drop))?;
    Ok(problem)
}

fn edges(list: &[(usize, usize)]) -> Topology {
    Topology::Edges(list.to_vec())
}

#[test]
fn too_few_nodes() {
    let one_block = |topology| valid().blocks(BlockChoice::Size(4)).graph(topology).build();
    for topology in [Topology::Ring, Topology::Star, Topology::StarRing, Topology::TreeRing] {
        let name = topology.name();
        let error = refused(one_block(topology), &[name, "at least 2", "found 1"]);
        assert_eq!(error, Error::GraphTooSmall { topology: name, found: 1, minimum: 2 });
    }
    let wheel = valid().blocks(BlockChoice::Boundaries(vec![0, 1, 2, 4])).graph(Topology::Wheel).build();
    assert_eq!(refused(wheel, &["wheel"]), Error::GraphTooSmall { topology: "wheel", found: 3, minimum: 4 });
    assert!(one_block(Topology::Clique).is_ok(), "a single block is legal");
}

#[test]
fn parameters_that_do_not_fit() {
    let cases = [
        (Topology::Grid { rows: 3, columns: 2 }, "grid", 6.0),
        (Topology::ErdosRenyi { probability: 1.5, seed: 1 }, "erdos-renyi", 1.5),
        (Topology::ErdosRenyi { probability: f64::NAN, seed: 1 }, "erdos-renyi", f64::NAN),
        (Topology::RandomRegular { degree: 4, seed: 1 }, "random-regular", 4.0),
        (Topology::RandomRegular { degree: 0, seed: 1 }, "random-regular", 0.0),
    ];
    for (topology, name, value) in cases {
        let error = refused(valid().graph(topology).build(), &[name, &value.to_string()]);
        assert!(matches!(error, Error::GraphParameter { found, .. } if found.to_bits() == value.to_bits()));
    }
}

#[test]
fn edges_that_are_none() {
    let cases = [
        (vec![(0, 1), (1, 2), (2, 4)], 2, "below the number of nodes"),
        (vec![(0, 1), (1, 1), (2, 3)], 1, "two different nodes"),
        (vec![(0, 1), (1, 2), (2, 3), (0, 1)], 3, "in the list already"),
        (vec![(0, 1), (1, 2), (2, 3), (2, 1)], 3, "in the list already"),
    ];
    for (list, at, reason) in cases {
        let (first, second) = list[at];
        let names = [format!("edge {at}"), format!("nodes {first} and {second}"), reason.to_owned()];
        let error = refused(valid().graph(edges(&list)).build(), &names.each_ref().map(String::as_str));
        assert!(matches!(error, Error::InvalidEdge { edge, .. } if edge == at), "{error:?}");
    }
}

#[test]
fn parts_that_no_path_joins() {
    let error = refused(
        by_pairs(valid().graph(edges(&[(0, 2), (1, 3)])).build()),
        &["disconnected", "node 0", "node 1"],
    );
    let Error::GraphDisconnected { from: 0, to: 1, nodes: 4, .. } = error else { panic!("{error:?}") };
    // Blocks of two under two rows, and one block that nothing reaches.
    let several = Coupling::block_sum(vec![0.0; 2]).expect("finite");
    let problem = builder(Distance::new(vec![1.0; 8], 1.0).expect("valid")).coupling(several);
    let error =
        refused(by_pairs(problem.graph(edges(&[(0, 1), (1, 2)])).build()), &["node 0", "node 3", "1 of 4"]);
    assert_eq!(error, Error::GraphDisconnected { from: 0, to: 3, unreached: 1, nodes: 4 });
}

#[test]
fn paths_through_blocks_off_the_row_carry_nothing() {
    // Coordinate 1 has coefficient 0: what 0 gives cannot reach 2 through it.
    let coupling = Coupling::row(vec![1.0, 0.0, 1.0, 1.0], 0.0).expect("finite");
    let path = edges(&[(0, 1), (1, 2), (2, 3)]);
    let error =
        refused(by_pairs(valid().coupling(coupling.clone()).graph(path).build()), &["node 0", "node 2"]);
    assert!(matches!(error, Error::GraphDisconnected { from: 0, to: 2, .. }));
    // All three that touch the row are joined, but the one off it is never drawn.
    let error =
        refused(by_pairs(valid().coupling(coupling).graph(edges(&[(0, 2), (2, 3)])).build()), &["[1]"]);
    let Error::GraphCannotMove { nodes, spanned: 2, needed: 3 } = error else { panic!("{error:?}") };
    assert_eq!(nodes, [1]);
}

#[test]
fn scalar_pairs_under_two_dense_rows_cannot_move() {
    let two = Matrix::from_rows(&[[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]]).expect("2 x 4");
    let coupling = Coupling::rows_of(two, vec![0.0; 2]).expect("finite");
    let problem = || valid().coupling(coupling.clone());
    let error = refused(
        by_pairs(problem().blocks(BlockChoice::Size(1)).build()),
        &["cannot reach", "0 of 2", "larger blocks"],
    );
    let Error::GraphCannotMove { nodes, spanned: 0, needed: 2 } = error else { panic!("{error:?}") };
    assert!(!nodes.is_empty() && nodes.iter().all(|&node| node < 4));
    assert!(problem().build().is_ok(), "automatic blocks can move");
}

#[test]
fn pairs_that_move_in_some_directions_only() {
    // Rows x0 + x1 + x4 = 0 and x2 + x3 + x4 = 0: nothing exchanges with the last coordinate.
    let two = Matrix::from_rows(&[[1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0]]).expect("2 x 5");
    let f = Distance::new(vec![1.0; 5], 1.0).expect("valid");
    let coupling = Coupling::rows_of(two, vec![0.0; 2]).expect("finite");
    let problem = builder(f).coupling(coupling).blocks(BlockChoice::Size(1));
    let error = refused(by_pairs(problem.build()), &["2 of 3"]);
    let Error::GraphCannotMove { nodes, spanned: 2, needed: 3 } = error else { panic!("{error:?}") };
    assert!(nodes.contains(&4), "the last block is the one that is stuck: {nodes:?}");
}

#[test]
fn edges_that_are_never_drawn_do_not_join() {
    let ring = |weights: [f64; 4]| {
        let weighted = ProbabilityChoice::Weighted(weights.to_vec());
        by_pairs(valid().graph(Topology::Ring).probabilities(weighted).build())
    };
    // The ring's edges are 0-1, 0-3, 1-2, 2-3.
    assert!(ring([0.0, 1.0, 1.0, 1.0]).is_ok(), "a path is left");
    let error = refused(ring([0.0, 1.0, 1.0, 0.0]), &["disconnected", "node 0", "node 1"]);
    assert_eq!(error, Error::GraphDisconnected { from: 0, to: 1, unreached: 2, nodes: 4 });
}

#[test]
fn probabilities_that_are_none() {
    let ring = |weights: Vec<f64>| {
        by_pairs(valid().graph(Topology::Ring).probabilities(ProbabilityChoice::Weighted(weights)).build())
    };
    let short = refused(ring(vec![1.0; 3]), &["edge weights", "3 entries", "expected 4"]);
    assert!(matches!(short, Error::ShapeMismatch { found: 3, expected: 4, .. }));
    let nothing = ring(vec![0.0; 4]);
    assert!(
        matches!(nothing, Err(Error::OutOfRange { .. } | Error::GraphDisconnected { .. })),
        "{nothing:?}"
    );
    let negative = refused(ring(vec![1.0, 1.0, -1.0, 1.0]), &["edge weights", "entry 2", "-1"]);
    assert!(matches!(negative, Error::NegativeWeight { index: 2, .. }));
}

#[test]
fn a_weight_for_each_edge_of_a_large_clique_is_refused_in_words() {
    let f = Distance::new(vec![1.0; 6000], 1.0).expect("valid");
    let problem = builder(f).coupling(Coupling::sum(0.0).expect("finite"));
    let error = refused(
        problem.probabilities(ProbabilityChoice::Weighted(vec![1.0])).build(),
        &["6000 nodes", "bytes"],
    );
    assert!(matches!(error, Error::TooMuchMemory { needed, allowed, .. } if needed > allowed));
}

#[test]
fn three_rows_of_four_scalars_need_one_block() {
    let coupling = Coupling::rows_of(matrix(), vec![0.0; 3]).expect("finite");
    let scalars = by_pairs(valid().coupling(coupling.clone()).blocks(BlockChoice::Size(1)).build());
    assert!(matches!(scalars, Err(Error::GraphCannotMove { needed: 1, .. })));
    assert_eq!(valid().coupling(coupling).build().expect("automatic blocks").blocks().len(), 1);
}
