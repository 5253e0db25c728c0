//! `equipoise verify`: met, not met, tampered with.

use std::fs;

use crate::{TWO, equipoise, scratch, text, write};

const FIELDS: [&str; 15] = [
    "objective",
    "smooth",
    "separable",
    "infeasibility",
    "relative_infeasibility",
    "allowed_infeasibility",
    "kkt_residual",
    "lower_bound",
    "duality_gap",
    "holds_within",
    "is_proven",
    "is_partial",
    "multipliers",
    "tolerance",
    "met",
];

/// Verifies a solution given as text against a problem given as text.
fn verify(test: &str, problem: &str, solution: &str, options: &[&str]) -> crate::Finished {
    let folder = scratch(test);
    let (problem, solution) = (write(&folder, "p.toml", problem), write(&folder, "x.json", solution));
    equipoise(&[&["verify", &problem, &solution], options].concat())
}

#[test]
fn what_solve_wrote_is_met() {
    let folder = scratch("verify-solved");
    let (problem, out) = (write(&folder, "p.toml", TWO), text(&folder.join("x.json")));
    equipoise(&["solve", &problem, "--out", &out, "--quiet"]).expect(0);
    let ran = equipoise(&["verify", &problem, &out]).expect(0);
    assert!(ran.stdout.starts_with("met: ") && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn json_holds_the_certificate() {
    let ran =
        verify("verify-json", TWO, "{\"x\": [-0.5, 1.5]}", &["--json", "--tolerance", "1e-9"]).expect(0);
    let json = ran.json();
    assert_eq!(json.as_object().expect("an object").len(), FIELDS.len());
    let places: Vec<_> = FIELDS.iter().map(|field| ran.stdout.find(&format!("\"{field}\":"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert_eq!((&json["met"], &json["tolerance"]), (&true.into(), &1e-9.into()));
    assert_eq!(json["allowed_infeasibility"], 1e-9);
    assert_eq!((&json["is_proven"], &json["holds_within"]), (&true.into(), &serde_json::Value::Null));
}

#[test]
fn what_is_missed_is_said() {
    let not_optimal = verify("verify-gap", TWO, "{\"x\": [0.5, 0.5]}", &[]).expect(1);
    assert!(not_optimal.stdout.starts_with("not met: the duality gap is"), "{}", not_optimal.stdout);
    let infeasible = verify("verify-row", TWO, "{\"x\": [0, 2]}", &[]).expect(1);
    assert!(infeasible.stdout.contains("A x = b is missed by 1.000e0"), "{}", infeasible.stdout);
    let bounded = format!("{TWO}\n[separable]\nkind = \"non-negative\"\n");
    let outside = verify("verify-box", &bounded, "{\"x\": [-0.5, 1.5]}", &[]).expect(1);
    assert!(outside.stdout.contains("x[0] is -0.5, outside its bounds 0 to inf"), "{}", outside.stdout);
    let json = verify("verify-box-json", &bounded, "{\"x\": [-0.5, 1.5]}", &["--json"]).expect(1).json();
    assert_eq!((&json["met"], &json["objective"]), (&false.into(), &serde_json::Value::Null));
}

#[test]
fn the_tolerance_comes_from_the_command_line_then_the_file() {
    let near = "{\"x\": [-0.501, 1.501]}";
    let problem = |tolerance: &str| format!("{TWO}\n[solve]\ntolerance = {tolerance}\n");
    verify("verify-loose", &problem("0.1"), near, &[]).expect(0);
    verify("verify-tight", &problem("0.1"), near, &["--tolerance", "1e-9"]).expect(1);
    verify("verify-zero", &problem("0.1"), near, &["--tolerance", "0"]).expect(2).complains(&["tolerance"]);
}

#[test]
fn claims_that_do_not_hold_are_named() {
    let claims = "{\"x\": [-0.5, 1.5], \"objective\": 0.2, \"infeasibility\": 0.0}";
    let ran = verify("verify-tampered", TWO, claims, &[]).expect(0);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    ran.complains(&["warning: ", "claims objective 2e-1", "recomputation gives 2.5e-1"]);
    let claims = "{\"x\": [0.5, 0.5], \"objective\": 1.25, \"duality_gap\": 0.0, \"kkt_residual\": 0.0}";
    let ran = verify("verify-too-good", TWO, claims, &[]).expect(1);
    let ran = ran.complains(&["claims duality_gap 0e0", "recomputation proves only"]);
    // A residual is one of multipliers, and others were found.
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn a_tampered_x_is_found_out() {
    let folder = scratch("verify-tampered-x");
    let (problem, out) = (write(&folder, "p.toml", TWO), folder.join("x.json"));
    equipoise(&["solve", &problem, "--out", &text(&out), "--quiet"]).expect(0);
    let stored = fs::read_to_string(&out).expect("written").replace("\"x\":[-0.5", "\"x\":[-0.4");
    fs::write(&out, stored).expect("writable");
    equipoise(&["verify", &problem, &text(&out)]).expect(1).complains(&["claims objective"]);
}

#[test]
fn bad_solutions_are_errors() {
    verify("verify-length", TWO, "{\"x\": [1]}", &[])
        .expect(2)
        .complains(&["x.json", "found 1 entries, expected 2"]);
    verify("verify-no-x", TWO, "{}", &[]).expect(2).complains(&["x.json", "missing field `x`"]);
    verify("verify-no-json", TWO, "x = 1", &[]).expect(2).complains(&["x.json: line 1"]);
}

#[test]
fn the_graph_has_no_say() {
    let disconnected = "[smooth]\nkind = \"distance\"\ntarget = [1, 1, 1]\n[coupling]\nkind = \"sum\"\nrhs = 3\n\
                        [graph]\nedges = [[0, 1]]\n";
    verify("verify-graph", disconnected, "{\"x\": [1, 1, 1]}", &[]).expect(0);
}
