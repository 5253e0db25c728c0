//! What is refused, and in which words.

use equipoise::graph::{Graph, Topology};

use super::{graph, random, shard};
use crate::protocol::Faults;
use crate::{Error, Loss, Method, Model, Problem, Settings, Shard, Split, Watch, fit};

fn two() -> Vec<Shard> {
    vec![shard(&[vec![1.0, 2.0]], &[1.0]), shard(&[vec![0.5, -1.0]], &[-1.0])]
}

#[track_caller]
fn refused(shards: Vec<Shard>, model: Model, words: &str) {
    let error = Problem::new(shards, model).expect_err("must be refused");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn shards_that_do_not_fit() {
    let ridge = Model::new(Loss::Ridge);
    refused(Vec::new(), ridge, "no shards");
    let mut shards = two();
    shards[1] = shard(&[vec![1.0, 2.0, 3.0]], &[1.0]);
    refused(shards, ridge, "shard 1: found 3 columns, expected 2 as in shard 0");
    let mut shards = two();
    shards[1].targets.push(1.0);
    refused(shards, ridge, "shard 1: found 2 targets, expected 1");
    let mut shards = two();
    shards[0].targets[0] = f64::NAN;
    refused(shards, ridge, "shard 0: target 1: found NaN");
    let mut shards = two();
    shards[1] = Shard {
        rows: equipoise::matrix::Rows::new(2, vec![0], vec![], None).expect("no rows"),
        targets: Vec::new(),
    };
    refused(shards, ridge, "shard 1: found no rows");
}

#[test]
fn labels_and_parameters() {
    let mut shards = two();
    shards[1].targets[0] = 1.0;
    refused(
        shards,
        Model::new(Loss::Logistic),
        "logistic needs labels of exactly two values over all shards; found 1: 1",
    );
    let mut shards = two();
    shards.push(shard(&[vec![1.0, 1.0]], &[3.0]));
    refused(shards, Model::new(Loss::Hinge), "found 3: -1, 1, 3");
    refused(
        two(),
        Model { ridge: 0.0, ..Model::new(Loss::Logistic) },
        "ridge: found 0, expected a finite number above 0",
    );
    refused(two(), Model { l1: -1.0, ..Model::new(Loss::Lasso) }, "l1: found -1");
    refused(two(), Model { cost: f64::INFINITY, ..Model::new(Loss::Hinge) }, "cost: found inf");
}

#[test]
fn graphs_and_settings() {
    let problem = random(Loss::Lasso, 4, false, 1);
    let fit_over = |graph: &Graph, settings: &Settings| {
        fit(&problem, graph, settings, None, Watch::default()).expect_err("must be refused")
    };
    let usual = Settings::default();
    let error = fit_over(&graph("ring", 5), &usual);
    assert_eq!(error, Error::GraphSize { found: 5, expected: 4 });
    let parts = Graph::new(&Topology::Edges(vec![(0, 1), (2, 3)]), 4).expect("a graph");
    let error = fit_over(&parts, &usual);
    assert!(matches!(error, Error::Disconnected { from: 0, to: 2, unreached: 2, nodes: 4 }), "{error}");
    assert!(error.to_string().contains("no path joins node 0 to node 2"), "{error}");
    let ring = graph("ring", 4);
    assert_eq!(
        fit_over(&ring, &Settings { method: Method::Tree, ..usual.clone() }),
        Error::NotAlongTree { loss: "lasso" }
    );
    assert!(fit_over(&ring, &Settings { gap: 0.0, ..usual.clone() }).to_string().starts_with("gap: found 0"));
    let faults = Faults { loss: 1.0, ..Faults::default() };
    assert!(
        fit_over(&ring, &Settings { faults, ..usual.clone() })
            .to_string()
            .contains("loss of messages: found 1")
    );
    let short = fit(&problem, &ring, &usual, Some(&[0.0]), Watch::default()).expect_err("must be refused");
    assert_eq!(short.to_string(), "x: found 1 numbers, expected 4, one a column");
}

#[test]
fn one_table_is_dealt_or_cut() {
    let rows: Vec<Vec<f64>> = (0..7).map(|k| vec![f64::from(k)]).collect();
    let all = shard(&rows, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let targets = |split| -> Vec<Vec<f64>> {
        all.split(3, split).expect("three of seven").into_iter().map(|shard| shard.targets).collect()
    };
    assert_eq!(targets(Split::Deal), [vec![0.0, 3.0, 6.0], vec![1.0, 4.0], vec![2.0, 5.0]]);
    assert_eq!(targets(Split::Blocks), [vec![0.0, 1.0], vec![2.0, 3.0], vec![4.0, 5.0, 6.0]]);
    let error = all.split(8, Split::Deal).expect_err("more shards than rows");
    assert_eq!(error.to_string(), "8 shards of 7 rows: expected at most one shard a row");
}
