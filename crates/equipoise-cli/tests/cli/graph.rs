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

#[test]
fn theory_of_graphs_with_known_numbers() {
    for (name, lambda, smallest, nu) in [
        ("clique", 0.043_478, 23.0, 23.0),
        ("ring", 0.001_420, 23.0, 23.0),
        ("wheel", 0.011_676, 24.4533, 25.4282),
        ("tree+ring", 0.006_392, 27.8129, 29.1572),
    ] {
        let json = equipoise(&["graph", name, "24", "--theory", "--json"]).expect(0).json();
        let theory = |key: &str| json["theory"][key].as_f64().expect("a number");
        assert!((theory("lambda_min") - lambda).abs() < 5.1e-7, "{name}");
        assert!((theory("smallest_nu") - smallest).abs() < 5.1e-5, "{name}");
        assert!((theory("nu") - nu).abs() < 5.1e-5, "{name}");
        assert!((theory("foster_sum") - 23.0).abs() < 1e-9, "{name}");
        assert!(theory("nu_equalised") <= 23.0 * 1.001, "{name}");
        assert!((theory("updates_plain") * theory("lambda_min") - 1e6f64.ln()).abs() < 1e-6, "{name}");
        let steps = json["theory"]["async_steps"].as_array().expect("a list");
        let last = steps.last().expect("seven delays");
        assert_eq!(last["tau"], 63);
        assert!((last["paper"].as_f64().expect("a number") / 4.8e-5 - 1.0).abs() < 0.03);
    }
}

#[test]
fn theory_in_words_only_when_asked_for() {
    let plain = equipoise(&["graph", "star+ring", "24"]).expect(0).stdout;
    let more = equipoise(&["graph", "star+ring", "24", "--theory"]).expect(0).stdout;
    assert!(more.starts_with(&plain) && !plain.contains("theory"), "{more}");
    for words in
        ["smallest eigenvalue of K", "27.811", "Foster's sum", "updates to 1e-6, accelerated", "repaired"]
    {
        assert!(more.contains(words), "{words}: {more}");
    }
    let json = equipoise(&["graph", "star+ring", "24", "--json"]).expect(0).json();
    assert!(json.get("theory").is_none());
    // A clique is a rule, whatever its size; a disconnected graph has no constants.
    equipoise(&["graph", "clique", "1000000", "--theory"]).expect(0);
    let broken = equipoise(&["graph", "erdos-renyi:0.001", "50", "--theory", "--json"]).expect(1);
    assert!(broken.json().get("theory").is_none());
}
