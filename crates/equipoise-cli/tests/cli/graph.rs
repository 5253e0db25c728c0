//! `equipoise graph`.

use crate::equipoise;

#[test]
fn facts_of_a_graph_with_known_numbers() {
    let json = equipoise(&["graph", "star+ring", "24", "--json"]).expect(0).json();
    assert_eq!((&json["nodes"], &json["edges"], &json["diameter"]), (&24.into(), &45.into(), &2.into()));
    assert_eq!((&json["degree_min"], &json["degree_max"]), (&2.into(), &23.into()));
    assert_eq!(json["diameter_exact"], true);
    // The paper's K has lambda_min(K) = 0.011318 with weight 1/(2 * 45) an edge.
    let smallest = json["smallest_nonzero_eigenvalue"].as_f64().expect("a number");
    assert!((smallest / 90.0 - 0.011_318).abs() < 1e-6, "{smallest}");
    assert!(json["largest_eigenvalue"].as_f64().expect("a number") > smallest);
}

#[test]
fn words_for_people() {
    let ran = equipoise(&["graph", "clique", "1000000"]).expect(0);
    for words in ["499999500000", "min 999999", "diameter      1", "eigenvalue 1000000"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}

#[test]
fn a_disconnected_graph_is_said_to_be_so() {
    let ran = equipoise(&["graph", "erdos-renyi:0.001", "50", "--json"]).expect(1);
    let json = ran.json();
    assert_eq!((&json["connected"], &json["diameter"]), (&false.into(), &serde_json::Value::Null));
    ran.complains(&["warning: ", "disconnected"]);
}

#[test]
fn the_seed_decides_random_graphs() {
    let run = |seed| equipoise(&["graph", "erdos-renyi", "40", "--seed", seed, "--json"]).stdout;
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn bad_graphs() {
    equipoise(&["graph", "rign", "5"]).expect(2).complains(&["did you mean `ring`?"]);
    equipoise(&["graph", "wheel", "3"]).expect(2).complains(&["at least 4 nodes"]);
    equipoise(&["graph", "grid:2x3", "7"]).expect(2);
    equipoise(&["graph", "ring", "-5"]).expect(2);
}
