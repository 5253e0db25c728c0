//! Messages begin in lower case (or with a name), end without a full stop, and are one line.

use equipoise::Error;

pub(super) fn check_style(message: &str) {
    let begins_well =
        message.starts_with("A x = b") || message.chars().next().is_some_and(char::is_lowercase);
    assert!(begins_well, "{message:?} begins in upper case");
    assert!(!message.ends_with('.'), "{message:?} ends with a full stop");
    assert!(!message.contains('\n') && !message.contains("  "), "{message:?} is not one tidy line");
}

const ALLOWED: &str = "what is allowed";

fn input() -> String {
    "input".to_owned()
}

/// One of each kind, with the evidence that its message must name.
fn samples() -> Vec<(Error, &'static [&'static str])> {
    vec![
        (
            Error::NonFinite { input: input(), row: 3, column: 5, found: f64::NAN },
            &["input", "row 3", "column 5", "NaN"],
        ),
        (
            Error::ShapeMismatch { input: input(), unit: "rows", found: 3, expected: 5 },
            &["input", "found 3 rows", "expected 5"],
        ),
        (Error::EmptyProblem, &["no variables"]),
        (Error::StoppedEarly { by: "time-limit" }, &["time-limit", "anything to return", "more time"]),
        (
            Error::MethodNotApplicable {
                method: "violating",
                why: "it needs one coupling row, or several that share no coordinate",
            },
            &["violating", "one coupling row", "auto"],
        ),
        (Error::NegativeWeight { input: input(), index: 3, found: -1.5 }, &["input", "entry 3", "-1.5"]),
        (
            Error::OutOfRange { input: input(), index: 3, found: 7.5, allowed: ALLOWED },
            &["input", "entry 3", "7.5", ALLOWED],
        ),
        (Error::CrossedBounds { index: 3, lower: 2.5, upper: 1.5 }, &["coordinate 3", "2.5", "1.5"]),
        (
            Error::NotSymmetric { input: input(), row: 3, column: 5, found: 1.5, mirrored: 2.5 },
            &["input", "(3, 5)", "1.5", "2.5"],
        ),
        (
            Error::NotConvex { input: input(), eigenvalue: -2.0, allowed: -1e-10 },
            &["input", "-2.000e0", "-1.000e-10"],
        ),
        (
            Error::InconsistentRows {
                row: 2,
                rows: vec![0, 1],
                coefficients: vec![1.0; 2],
                implied: 3.5,
                found: 4.5,
            },
            &["row 2", "[0, 1]", "3.5", "4.5"],
        ),
        (
            Error::EmptyDomain { witness: vec![1.0, -1.0], reachable: 3.5, needed: 4.5 },
            &["[1.0, -1.0]", "3.5", "4.5"],
        ),
        (
            Error::NoFeasibleStart { missed: 0.5, allowed: 1e-9 },
            &["5.000e-1", "1.000e-9", "no feasible start"],
        ),
        (Error::InfeasibleStart { row: 2, found: 0.5, allowed: 1e-9 }, &["row 2", "5.000e-1", "1.000e-9"]),
        (
            Error::StartOutsideDomain { index: 3, found: 2.5, lower: 0.0, upper: 1.5 },
            &["coordinate 3", "2.5", "0", "1.5"],
        ),
        (
            Error::InvalidBlocks { reason: "why", index: 3, found: 7, dimension: 5 },
            &["why", "entry 3", "7", "5"],
        ),
        (
            Error::UnequalWeights { input: input(), first: 3, second: 5, found: 1.5, other: 2.5 },
            &["input", "3 and 5", "1.5 and 2.5"],
        ),
        (Error::GraphTooSmall { topology: "ring", found: 1, minimum: 2 }, &["ring", "1", "2"]),
        (
            Error::GraphParameter { topology: "grid", name: "rows", found: 7.0, allowed: ALLOWED },
            &["grid", "rows", "7", ALLOWED],
        ),
        (Error::InvalidEdge { edge: 3, first: 5, second: 7, reason: "why" }, &["edge 3", "5", "7", "why"]),
        (
            Error::GraphDisconnected { from: 3, to: 5, unreached: 2, nodes: 9 },
            &["node 3", "node 5", "2 of 9"],
        ),
        (Error::GraphCannotMove { nodes: vec![3, 5], spanned: 7, needed: 9 }, &["[3, 5]", "7 of 9"]),
        (
            Error::InvalidSetting { name: "tolerance", found: -1.5, allowed: ALLOWED },
            &["tolerance", "-1.5", ALLOWED],
        ),
        (Error::TooMuchMemory { what: input(), needed: 300, allowed: 200 }, &["input", "300", "200"]),
        (Error::Unbounded { coordinates: vec![3, 5] }, &["[3, 5]", "unbounded"]),
        (
            Error::NonFiniteIterate { what: "the objective", found: f64::NAN, updates: 7 },
            &["the objective", "NaN", "7 updates"],
        ),
        (Error::BadSnapshot { what: "why" }, &["snapshot", "why"]),
        (Error::Rank { rank: 3, what: "it has left".into() }, &["rank 3", "it has left"]),
        (Error::Unsupported { what: "this", with: "that", advice: "do so" }, &["this", "that", "do so"]),
    ]
}

#[test]
fn every_message_is_one_lower_case_line_that_names_its_evidence() {
    for (error, evidence) in samples() {
        let message = error.to_string();
        check_style(&message);
        for name in evidence {
            assert!(message.contains(name), "{message:?} does not name {name:?}");
        }
    }
}
