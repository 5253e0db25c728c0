//! What did not converge is marked and never chosen, by every command that chooses.

use crate::{equipoise, scratch, write};

const TABLE: &str = "y,a,b\n1,2,3\n2,3,5\n3,1,1\n4,7,2\n5,3,4\n6,1,9\n2.5,3,1\n4.5,0,2\n";

#[test]
fn lambdas_of_a_lasso() {
    let table = write(&scratch("unfinished-lasso"), "table.csv", TABLE);
    let words = ["lasso", "cv", &table, "--target", "y", "--points", "3", "--folds", "2"];
    let found = equipoise(&[&words[..], &["--json"]].concat()).expect(0).json();
    assert!(found["best"]["lambda"].is_number() && found["one_se"]["lambda"].is_number());
    // No double has a gap this small.
    let strict = [&words[..], &["--gap", "1e-30"]].concat();
    let ran = equipoise(&strict).expect(1);
    assert_eq!(ran.stdout.matches(" *\n").count(), 3, "{}", ran.stdout);
    for word in ["its lambda is not chosen", "best           none", "one_se         none"] {
        assert!(ran.stdout.contains(word), "{word}: {}", ran.stdout);
    }
    let found = equipoise(&[&strict[..], &["--json"]].concat()).expect(1).json();
    assert!(found["best"].is_null() && found["one_se"].is_null());
}

#[test]
fn lambdas_of_a_signal() {
    let signal = write(&scratch("unfinished-fused"), "signal.csv", "1.1\n3.2\n2.3\n7.4\n5.5\n1.6\n");
    let words = ["fused", "path", &signal, "--steps", "3"];
    assert_eq!(equipoise(&words).expect(0).stdout.matches("<- chosen").count(), 1);
    let strict = [&words[..], &["--gap", "1e-300"]].concat();
    let ran = equipoise(&strict).expect(1);
    assert!(!ran.stdout.contains("<- chosen") && ran.stdout.contains("it is not chosen"), "{}", ran.stdout);
    let fit = ["fused", "fit", &signal, "--choose", "bic", "--gap", "1e-300"];
    equipoise(&fit).expect(2).complains(&["no fit of the path converged", "--gap"]);
}
