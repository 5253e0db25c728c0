//! Resistances against dense linear algebra, closed forms and the known table of graphs.

use super::super::dense::tests::{numbers, pseudo_inverse, random_norm};
use super::super::{equalised, pair_constant};
use super::*;
use equipoise::graph::EdgeProbabilities;

const UNIFORM: EdgeProbabilities = EdgeProbabilities::Uniform;

fn graph(name: &str, nodes: usize) -> Graph {
    Graph::new(&Topology::parse(name, nodes, 1).expect("known"), nodes).expect("valid")
}

fn of(name: &str, nodes: usize) -> Resistances {
    Resistances::of(
        &KNorm::uniform(&graph(name, nodes), &UNIFORM, 1.0).expect("valid"),
        &Control::unlimited(),
    )
    .expect("connected")
}

#[test]
fn agree_with_dense_matrices() {
    for seed in 0..30 {
        let nodes = 3 + seed as usize;
        let (norm, k) = random_norm(seed, nodes);
        let inverse = pseudo_inverse(&k);
        let Pairs::Listed(pairs) = &norm.pairs else { panic!("listed") };
        let found = Resistances::of(&norm, &Control::unlimited()).expect("connected");
        let edges: Vec<_> = pairs.iter().map(|p| (p.i, p.j)).collect();
        let weights: Vec<f64> = pairs.iter().map(Pair::weight).collect();
        let exactly = resistances(nodes, &edges, &weights, &Control::unlimited());
        let exactly = exactly.expect("not halted").expect("connected");
        for (e, pair) in pairs.iter().enumerate() {
            let (i, j) = (pair.i as usize, pair.j as usize);
            let exact = inverse[(i, i)] + inverse[(j, j)] - 2.0 * inverse[(i, j)];
            for r in [found.values()[e], exactly[e]] {
                assert!((r / exact - 1.0).abs() < 1e-10, "seed {seed}, edge {e}: {r} {exact}");
            }
        }
        // Foster's identity, whatever the weights.
        assert!((found.foster_sum() / (nodes - 1) as f64 - 1.0).abs() < 1e-11, "{}", found.foster_sum());
        // The smallest nu, from the eigenvalues of sqrt(K^+) E[G K^+ G] sqrt(K^+) by its definition.
        let smallest = found.smallest_nu().expect("small");
        assert!(smallest <= found.nu() * (1.0 + 1e-10), "{smallest} {}", found.nu());
        let mean = mean_of_g_k_g(&norm, &inverse);
        let slack = |nu: f64| {
            let gap = faer::Mat::from_fn(nodes, nodes, |i, j| nu * k[(i, j)] - mean[(i, j)]);
            gap.self_adjoint_eigenvalues(faer::Side::Lower).expect("converges")[0]
        };
        assert!(slack(smallest * (1.0 + 1e-9)) > -1e-12 && slack(smallest * 0.999) < 0.0, "seed {seed}");
    }
}

/// `E[G_e K^+ G_e]`, by its definition.
fn mean_of_g_k_g(norm: &KNorm, inverse: &faer::Mat<f64>) -> faer::Mat<f64> {
    let nodes = norm.nodes();
    let Pairs::Listed(pairs) = &norm.pairs else { panic!("listed") };
    let mut mean = faer::Mat::<f64>::zeros(nodes, nodes);
    for pair in pairs {
        let (i, j) = (pair.i as usize, pair.j as usize);
        let mut g = faer::Mat::<f64>::zeros(nodes, nodes);
        for (a, b, sign) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
            g[(a, b)] = sign / pair.curvature;
        }
        mean += faer::Scale(pair.probability) * (&g * inverse * &g);
    }
    mean
}

#[test]
fn the_table_of_graphs() {
    // b = 24, L = 1, uniform: lambda_min(K), smallest nu, max_e r_e / 2L.
    for (name, lambda, smallest, nu) in [
        ("clique", 0.043_478, 23.0, 23.0),
        ("star", 0.021_739, 23.0, 23.0),
        ("ring", 0.001_420, 23.0, 23.0),
        ("tree", 0.001_289, 23.0, 23.0),
        ("star+ring", 0.011_318, 27.8115, 27.8115),
        ("wheel", 0.011_676, 24.4533, 25.4282),
        ("tree+ring", 0.006_392, 27.8129, 29.1572),
    ] {
        let norm = KNorm::uniform(&graph(name, 24), &UNIFORM, 1.0).expect("valid");
        assert!((norm.smallest().expect("connected").value - lambda).abs() < 5.1e-7, "{name}");
        let found = Resistances::of(&norm, &Control::unlimited()).expect("connected");
        assert!((found.nu() - nu).abs() < 5.1e-5, "{name}: {}", found.nu());
        let least = found.smallest_nu().expect("small");
        assert!((least - smallest).abs() < 5.1e-5, "{name}: {least}");
        assert!((found.foster_sum() - 23.0).abs() < 1e-10, "{name}");
    }
}

#[test]
fn closed_forms() {
    // With L_e = 2 and p = 1 / |E|: clique 2 * 2 / (b p), ring (b - 1) / b / w, trees 1 / w.
    for nodes in [3, 10, 1000] {
        let b = nodes as f64;
        let close = |found: &[f64], exact: f64| found.iter().all(|r| (r / exact - 1.0).abs() < 1e-10);
        assert!(close(of("clique", nodes).values(), 4.0 / b * (b * (b - 1.0) / 2.0)), "clique {nodes}");
        assert!(close(of("ring", nodes).values(), (b - 1.0) / b * 2.0 * b), "ring {nodes}");
        assert!(close(of("star", nodes).values(), 2.0 * (b - 1.0)), "star {nodes}");
        assert!(close(of("tree", nodes).values(), 2.0 * (b - 1.0)), "tree {nodes}");
    }
}

#[test]
fn foster_with_random_weights_on_named_graphs() {
    for &name in Topology::NAMES {
        for nodes in [24, 400] {
            let graph = graph(name, nodes);
            let mut number = numbers(nodes as u64);
            let weights = (0..graph.edge_count()).map(|_| 0.01 + number()).collect();
            let lipschitz: Vec<f64> = (0..nodes).map(|_| 0.1 + number()).collect();
            let law = EdgeProbabilities::Weighted(weights);
            let norm = KNorm::per_node(&graph, &law, &lipschitz).expect("valid");
            let found = Resistances::of(&norm, &Control::unlimited()).expect("connected");
            assert!((found.foster_sum() / (nodes - 1) as f64 - 1.0).abs() < 1e-9, "{name} {nodes}");
            assert!(found.nu() >= (nodes - 1) as f64, "{name} {nodes}");
        }
    }
}

#[test]
fn large_graphs_are_quick_and_estimates_are_above() {
    let start = std::time::Instant::now();
    for name in ["ring", "tree+ring", "star+ring", "wheel"] {
        let found = of(name, 1000);
        assert!((found.foster_sum() / 999.0 - 1.0).abs() < 1e-9, "{name}");
    }
    println!("four graphs of 1000 nodes: {:?}", start.elapsed());
    let regular = of("random-regular", 12_000);
    assert!(regular.relative_error() > 0.0 && regular.smallest_nu().is_none());
    assert!((regular.foster_sum() / 11_999.0 - 1.0).abs() < 0.02, "{}", regular.foster_sum());
    assert!(regular.nu() > 11_999.0 && regular.nu() < 3.0 * 12_000.0);
}

#[test]
fn equalising_reaches_the_least_nu() {
    for name in ["star+ring", "wheel", "tree+ring", "ring", "grid:4x6", "clique"] {
        let graph = graph(name, 24);
        let law = equalised(&graph, &|_, _| 2.0, &Control::unlimited()).expect("valid");
        let nu = pair_constant(&graph, &law, &|_, _| 2.0, &Control::unlimited()).expect("valid");
        assert!((23.0..=23.0 * 1.001).contains(&nu), "{name}: {nu}");
    }
    let uneven = |i: usize, j: usize| 1.0 + (i % 3 + j % 5) as f64;
    for name in ["tree+ring", "clique", "star"] {
        let graph = graph(name, 24);
        let before = pair_constant(&graph, &UNIFORM, &uneven, &Control::unlimited()).expect("valid");
        let law = equalised(&graph, &uneven, &Control::unlimited()).expect("valid");
        let nu = pair_constant(&graph, &law, &uneven, &Control::unlimited()).expect("valid");
        assert!(nu <= before && nu < 23.0 * 1.01, "{name}: {before} -> {nu}");
    }
}

#[test]
fn what_is_refused() {
    let ring = graph("ring", 4);
    let broken = EdgeProbabilities::Weighted(vec![1.0, 0.0, 1.0, 0.0]);
    let error = pair_constant(&ring, &broken, &|_, _| 2.0, &Control::unlimited());
    assert!(matches!(error, Err(Error::GraphDisconnected { .. })));
    assert!(matches!(
        pair_constant(&ring, &UNIFORM, &|_, _| 0.0, &Control::unlimited()),
        Err(Error::OutOfRange { .. })
    ));
    // An edge that is never drawn does not count.
    let path = EdgeProbabilities::Weighted(vec![1.0, 1.0, 1.0, 0.0]);
    assert!(
        (pair_constant(&ring, &path, &|_, _| 2.0, &Control::unlimited()).expect("a path") - 3.0).abs()
            < 1e-12
    );
}
