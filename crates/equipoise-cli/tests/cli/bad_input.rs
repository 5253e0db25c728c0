//! Everything that must be refused: exit status 2, one line on stderr, with the evidence.

use crate::{TWO, equipoise, example, scratch, solve_text, text, write};

/// Solves a problem that must be refused, and looks for words in the one line of complaint.
#[track_caller]
fn refused(test: &str, problem: &str, words: &[&str]) {
    let ran = solve_text(test, problem, &["--json"]).expect(2).complains(&["error: "]).complains(words);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    // The object on stdout says the same.
    let error = &ran.json()["error"];
    assert_eq!(error["exit_status"], 2);
    assert_eq!(format!("error: {}\n", error["message"].as_str().expect("words")), ran.stderr);
    let plain = solve_text(test, problem, &[]).expect(2);
    assert_eq!(plain.stdout, "");
}

const LEAST_SQUARES: &str = "[smooth]\nkind = \"least-squares\"\nmatrix = \"m.csv\"\ntarget = [1, 2]\n";

#[test]
fn nan_in_a_csv_with_row_and_column() {
    let folder = scratch("nan");
    write(&folder, "m.csv", "1,2,3\n4,5,nan\n");
    let path = write(&folder, "problem.toml", LEAST_SQUARES);
    equipoise(&["solve", &path]).expect(2).complains(&[&path, "[smooth]", "row 1, column 2 is NaN"]);
}

#[test]
fn infinity_in_a_target() {
    refused(
        "inf",
        "[smooth]\nkind = \"distance\"\ntarget = [1, inf]\n",
        &["[smooth]", "row 1, column 0 is inf"],
    );
}

#[test]
fn shapes_that_do_not_match() {
    let folder = scratch("shape");
    write(&folder, "m.csv", "1,2,3\n4,5,6\n7,8,9\n");
    let path = write(&folder, "problem.toml", LEAST_SQUARES);
    equipoise(&["solve", &path]).expect(2).complains(&["target: found 2 entries, expected 3"]);
    let row = format!("{TWO}\n[separable]\nkind = \"l1\"\nweight = [1, 2, 3]\n");
    refused("shape-l1", &row, &["found 3 entries, expected 2"]);
}

#[test]
fn an_empty_problem() {
    refused("empty", "[smooth]\nkind = \"distance\"\ntarget = []\n", &["no variables"]);
    let nobody = "[smooth]\nkind = \"synthetic\"\nnodes = 0\nblock = 5\nrows = 1\nseed = 0\n";
    refused("empty-synthetic", nobody, &["no variables"]);
}

#[test]
fn a_negative_weight() {
    let problem = format!("{TWO}\n[separable]\nkind = \"l1\"\nweight = -1\n");
    refused("negative", &problem, &["[separable]", "l1 weight: entry 0 is -1"]);
}

#[test]
fn a_lower_bound_above_its_upper_bound() {
    let problem = format!("{TWO}\n[separable]\nkind = \"box\"\nlower = [0, 3]\nupper = [1, 2]\n");
    refused("crossed", &problem, &["coordinate 1", "lower 3 is above upper 2"]);
}

#[test]
fn rows_that_contradict_each_other() {
    let problem = "[smooth]\nkind = \"distance\"\ntarget = [1, 2]\n\
                   [coupling]\nkind = \"rows\"\nmatrix = [[1, 1], [2, 2]]\nrhs = [1, 3]\n";
    refused("inconsistent", problem, &["inconsistent", "row ", "combination"]);
}

#[test]
fn a_domain_without_a_feasible_point() {
    let problem = format!("{TWO}\n[separable]\nkind = \"box\"\nlower = 0\nupper = 0.25\n");
    refused("empty-domain", &problem, &["no x within the bounds satisfies A x = b"]);
}

#[test]
fn unknown_words_with_suggestions() {
    refused(
        "unknown-key",
        &TWO.replace("target", "targt"),
        &["unknown key `targt`", "did you mean `target`?"],
    );
    refused("unknown-kind", &TWO.replace("distance", "distanze"), &["did you mean `distance`?"]);
    refused("unknown-topology", &format!("{TWO}\n[graph]\ntopology = \"rng\"\n"), &["did you mean `ring`?"]);
    let solve = |line: &str| format!("{TWO}\n[solve]\n{line}\n");
    refused("unknown-locking", &solve("locking = \"sinlge\""), &["[solve]", "did you mean `single`?"]);
    refused("unknown-step-rule", &solve("step-rule = \"block\""), &["[solve]", "did you mean `blocks`?"]);
    refused("unknown-schedule", &solve("schedule = \"papr\""), &["[solve]", "did you mean `paper`?"]);
    refused("unknown-solve-key", &solve("thread = 2"), &["unknown key `thread`", "did you mean `threads`?"]);
    refused("unknown-method", &format!("{TWO}\n[solve]\nmethod = \"pair\"\n"), &["did you mean `pairs`?"]);
}

#[test]
fn missing_files() {
    let nowhere = text(&scratch("missing").join("nowhere.toml"));
    equipoise(&["solve", &nowhere]).expect(2).complains(&["error: cannot read", "nowhere.toml"]);
    refused("missing-data", LEAST_SQUARES, &["cannot read", "m.csv", "`matrix` in [smooth]"]);
}

#[test]
fn a_malformed_matrix_market_file() {
    let folder = scratch("mtx");
    write(&folder, "m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5.0\n");
    let path = write(&folder, "problem.toml", &LEAST_SQUARES.replace("m.csv", "m.mtx"));
    equipoise(&["solve", &path]).expect(2).complains(&["m.mtx: line 3", "row 3 is outside the matrix"]);
}

#[test]
fn a_graph_that_is_too_small_or_disconnected() {
    refused(
        "small-graph",
        &format!("{TWO}\n[graph]\ntopology = \"wheel\"\n"),
        &["wheel needs at least 4 nodes"],
    );
    let four = "[smooth]\nkind = \"distance\"\ntarget = [1, 2, 3, 4]\n[coupling]\nkind = \"sum\"\nrhs = 1\n\
                [graph]\nedges = [[0, 1], [2, 3]]\n";
    let by_pairs = format!("{four}[solve]\nmethod = \"pairs\"\n");
    refused("disconnected", &by_pairs, &["graph", "method auto"]);
}

#[test]
fn a_quadratic_that_is_not_convex() {
    let problem = "[smooth]\nkind = \"quadratic\"\nmatrix = [[1, 2], [2, 1]]\n";
    refused("not-convex", problem, &["[smooth]", "not convex"]);
}

#[test]
fn the_synthetic_problem_brings_its_own_coupling() {
    let problem = "[smooth]\nkind = \"synthetic\"\nnodes = 5\nblock = 2\nrows = 1\nseed = 0\n";
    refused(
        "two-couplings",
        &format!("{problem}[coupling]\nkind = \"sum\"\nrhs = 0\n"),
        &["its own coupling"],
    );
    let sum = "[smooth]\nkind = \"sum\"\n[[smooth.terms]]\nkind = \"synthetic\"\nnodes = 5\nblock = 2\nrows = 1\nseed = 0\n";
    refused("synthetic-in-sum", sum, &["terms[0]", "its own coupling"]);
}

#[test]
fn settings_outside_their_range() {
    for (option, value, name) in [
        ("--time-limit", "0", "time-limit"),
        ("--time-limit", "-1", "time-limit"),
        ("--tolerance", "0", "tolerance"),
        ("--tolerance", "-1e-6", "tolerance"),
        ("--tolerance", "nan", "tolerance"),
        ("--max-epochs", "0", "max-epochs"),
        ("--max-updates", "0", "max-updates"),
        ("--threads", "0", "threads is 0"),
        ("--batch", "0", "batch is 0"),
        ("--threads", "5000", "threads is 5000"),
        ("--delay-us", "1000001", "delay-us"),
    ] {
        let ran = equipoise(&["solve", &example("simplex.toml"), option, value]).expect(2);
        ran.complains(&["error: setting", name]);
    }
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_run() {
    let folder = scratch("unwritable");
    let nowhere = text(&folder.join("no-such-folder/x"));
    for option in ["--out", "--history"] {
        let ran = equipoise(&["solve", &example("simplex.toml"), option, &nowhere]).expect(2);
        assert_eq!(ran.stdout, "");
        ran.complains(&["error: cannot write", &nowhere]);
    }
    // A file that will be written is left alone until then.
    let out = folder.join("x.json");
    equipoise(&["solve", &text(&folder.join("none.toml")), "--out", &text(&out)]).expect(2);
    assert!(!out.exists());
}

#[test]
fn usage_errors() {
    equipoise(&["solve"]).expect(2).complains(&["PROBLEM.toml"]);
    equipoise(&["slove", "x"]).expect(2).complains(&["solve"]);
    equipoise(&["solve", "p.toml", "--method", "pair"]).expect(2).complains(&["pairs"]);
    equipoise(&["solve", "p.toml", "--locking", "sinlge"]).expect(2).complains(&["single"]);
    equipoise(&["solve", "p.toml", "--step-rule", "block"]).expect(2).complains(&["blocks"]);
    equipoise(&["solve", "p.toml", "--seed", "-1"]).expect(2);
    equipoise(&["solve", "p.toml", "--threads", "-1"]).expect(2);
    equipoise(&["solve", "p.toml", "--delay-us", "-1"]).expect(2);
    equipoise(&[]).expect(2);
}

#[test]
fn an_unbounded_problem_is_said_to_be() {
    let problem = "[smooth]\nkind = \"linear\"\nlinear = [1, 2]\n[coupling]\nkind = \"sum\"\nrhs = 1\n";
    let ran = solve_text("unbounded", problem, &["--json", "--max-epochs", "1000"]);
    ran.expect(2).complains(&["the problem is unbounded below", "add bounds or a penalty"]);
}

#[test]
fn usage_errors_have_an_object_and_hints() {
    let ran = equipoise(&["svm", "train", "-c", "10", "a9a", "--json"]).expect(2);
    let ran = ran.complains(&["unexpected argument '-c'", "hint: LIBSVM's `-c 10` is `--cost 10` here"]);
    let message = ran.json()["error"]["message"].as_str().expect("words").to_owned();
    assert!(
        message.starts_with("unexpected argument '-c' found") && message.contains("`--cost 10`"),
        "{message}"
    );
    assert!(!ran.stderr.contains("tip:"), "a value was not meant: {}", ran.stderr);
    let ran = equipoise(&["consensus", "a.csv", "--json"]).expect(2);
    let missing = "the following required arguments were not provided: --loss <LOSS>";
    assert_eq!(ran.json()["error"]["message"], missing, "what is missing is named");
    for (args, hint) in [
        (&["svm", "train", "-v", "5", "a9a"][..], "`equipoise svm cv DATA --folds 5`"),
        (&["svm", "train", "-s", "3", "a9a"], "`--kind svr`"),
        (&["svm", "train", "a9a", "a9a.model"], "`--model a9a.model`"),
        (&["svm", "predict", "a9a.t", "a9a.model", "out"], "`--model a9a.model --out out`"),
    ] {
        let ran = equipoise(args).expect(2).complains(&[hint]);
        assert_eq!(ran.stdout, "", "no object unless it is asked for");
    }
}

#[test]
fn counts_and_threads_as_people_type_them() {
    let problem =
        solve_text("counts", TWO, &["--max-epochs", "1e3", "--threads", "auto", "--json"]).expect(0);
    assert!(problem.json()["threads"].as_u64().expect("a count") >= 1);
    solve_text("counts", TWO, &["--max-epochs", "1.5"]).expect(2).complains(&["--max-epochs", "1e3"]);
    solve_text("counts", TWO, &["--threads", "many"]).expect(2).complains(&["--threads", "auto"]);
    solve_text("counts", TWO, &["--memory-budget", "64MB"]).expect(0);
}
