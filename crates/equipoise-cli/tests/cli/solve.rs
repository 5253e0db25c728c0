//! `equipoise solve`: results, JSON, limits, seeds, warm starts, histories.

use std::fs;

use serde_json::Value;

use crate::{
    TWO, command, endless_problem, equipoise, example, numbers, piped, scratch, solve_text, text, write,
};

/// The fields of the contract, in its order.
const FIELDS: [&str; 21] = [
    "status",
    "objective",
    "smooth",
    "separable",
    "infeasibility",
    "relative_infeasibility",
    "kkt_residual",
    "lower_bound",
    "duality_gap",
    "holds_within",
    "is_proven",
    "is_partial",
    "multipliers",
    "updates",
    "epochs",
    "seconds",
    "threads",
    "seed",
    "method",
    "reason",
    "x",
];

#[test]
fn the_zero_sum_lasso_of_the_examples() {
    let ran = equipoise(&["solve", &example("zero-sum-lasso.toml"), "--json"]).expect(0);
    let json = ran.json();
    assert_eq!(json["status"], "converged");
    let objective = json["objective"].as_f64().expect("a number");
    assert!((objective - 241.0 / 22.0).abs() < 1e-7, "{objective}");
    let x = numbers(&json["x"]);
    assert!((x[0] - 10.0 / 11.0).abs() < 1e-7 && x[1] == 0.0 && x[2] == 0.0, "{x:?}");
    assert!((numbers(&json["multipliers"])[0] - 16.0 / 11.0).abs() < 1e-6);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_quadratic_program_is_solved_and_verified_by_the_names_of_its_file() {
    let folder = scratch("solve-qps");
    let (problem, out) = (example("hs35.qps"), folder.join("x.json"));
    let ran =
        equipoise(&["solve", &problem, "--tolerance", "1e-9", "--json", "--out", &text(&out)]).expect(0);
    let json = ran.json();
    let objective = json["objective"].as_f64().expect("a number");
    assert!((objective - 1.0 / 9.0).abs() < 1e-8, "{objective}");
    let x2 = json["variables"]["X2"].as_f64().expect("a number");
    assert!((x2 - 7.0 / 9.0).abs() < 1e-3, "{x2}");
    equipoise(&["verify", &problem, &text(&out), "--tolerance", "1e-9"]).expect(0);
}

#[test]
fn a_program_that_is_maximised_says_that_its_negative_is_minimised() {
    let text = "NAME p\nOBJSENSE MAX\nROWS\n N cost\n L l\nCOLUMNS\n x cost 1 l 1\n y cost 2 l 1\nRHS\n r l 2\nENDATA\n";
    let ran = piped(&["solve", "-", "--json"], text);
    let objective = ran.json()["objective"].as_f64().expect("a number");
    assert!((objective + 4.0).abs() < 1e-5, "{objective}");
    assert!(
        ran.stderr.contains("OBJSENSE MAX: the negative of the file's objective is minimised"),
        "{}",
        ran.stderr
    );
}

#[test]
fn json_holds_exactly_the_fields_of_the_contract_in_order() {
    let ran = solve_text("json-fields", TWO, &["--json", "--seed", "7"]).expect(0);
    let json = ran.json();
    assert_eq!(json.as_object().expect("an object").len(), FIELDS.len());
    let places: Vec<_> = FIELDS.iter().map(|field| ran.stdout.find(&format!("\"{field}\":"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert_eq!(json["seed"], 7);
}

#[test]
fn methods_that_look_at_samples() {
    let rows: Vec<String> = (0..40)
        .map(|k| {
            let (a, b) = (f64::from(k * 37 % 50) / 25.0 - 1.0, f64::from(k * 61 % 50) / 25.0 - 1.0);
            format!("[{a:?}, {b:?}, {:?}]", a * b)
        })
        .collect();
    let labels: Vec<&str> = (0..40).map(|k| if k % 3 == 0 { "-1" } else { "1" }).collect();
    let problem = format!(
        "[smooth]\nkind = \"logistic\"\nmatrix = [{}]\ntarget = [{}]\n[separable]\nkind = \"elastic-net\"\nl1 = 0.1\n\
         l2 = 1.0\n[coupling]\nkind = \"sum\"\nrhs = 1.0\n",
        rows.join(", "),
        labels.join(", ")
    );
    let best = solve_text("sampled-auto", &problem, &["--json"]).expect(0).json();
    for method in ["svrg", "saga"] {
        let json =
            solve_text(method, &problem, &["--json", "--method", method, "--batch", "2"]).expect(0).json();
        assert_eq!((&json["method"], &json["reason"]), (&method.into(), &"as asked".into()));
        let off =
            json["objective"].as_f64().expect("a number") - best["objective"].as_f64().expect("a number");
        assert!(off.abs() < 1e-4 && json.get("candidates").is_none(), "{json}");
    }
    let in_file = format!("{problem}[solve]\nmethod = \"stochastic\"\nschedule = \"constant\"\nbatch = 4\n");
    let ran = solve_text("stochastic", &in_file, &["--json", "--max-updates", "500"]);
    let candidates = ran.json()["candidates"].as_object().expect("an object").clone();
    assert_eq!(candidates.len(), 4, "{candidates:?}");
    let words = solve_text("stochastic-words", &in_file, &["--max-updates", "500"]).stdout;
    assert!(
        words.contains("method         stochastic (as asked)") && words.contains("tail-average"),
        "{words}"
    );
    let options = ["--method", "svrg", "--batch", "41"];
    solve_text("batch", &problem, &options).expect(2).complains(&["batch is 41", "number of samples"]);
    let options = ["--method", "saga"];
    solve_text("no-samples", TWO, &options).expect(2).complains(&["method saga", "samples"]);
}

#[test]
fn the_other_examples_converge() {
    for name in ["simplex.toml", "portfolio.toml"] {
        let ran = equipoise(&["solve", &example(name), "--json"]).expect(0);
        assert_eq!(ran.json()["status"], "converged", "{name}");
    }
    let simplex = equipoise(&["solve", &example("simplex.toml"), "--tolerance", "1e-9", "--json"]).json();
    let known = [0.3, 0.0, 0.6, 0.1, 0.0];
    assert!(numbers(&simplex["x"]).iter().zip(known).all(|(x, known)| (x - known).abs() < 1e-6));
}

#[test]
fn the_synthetic_problem_starts_at_1000_and_takes_any_topology() {
    for topology in ["clique", "ring", "star+ring", "tree+ring", "grid", "random-regular"] {
        let problem = format!(
            "[smooth]\nkind = \"synthetic\"\nnodes = 30\nblock = 6\nrows = 3\nseed = 1\n[graph]\ntopology = \"{topology}\"\n"
        );
        let name = format!("synthetic-{topology}");
        let history = text(&scratch(&name).with_extension("csv"));
        let ran = solve_text(&name, &problem, &["--json", "--history", &history]).expect(0);
        let json = ran.json();
        assert_eq!(json["status"], "converged");
        assert_eq!((numbers(&json["x"]).len(), numbers(&json["multipliers"]).len()), (180, 3));
        let rows = fs::read_to_string(&history).expect("a history");
        let first = rows.lines().nth(1).and_then(|row| row.split(',').nth(3)).expect("a first row");
        assert!((first.parse::<f64>().expect("a number") - 1000.0).abs() < 1e-6, "{first}");
    }
}

#[test]
fn a_report_for_people_shows_a_short_x_and_hints_at_a_long_one() {
    let short = solve_text("report-short", TWO, &[]).expect(0);
    for words in ["converged", "objective", "duality gap", "infeasibility", "updates", "x "] {
        assert!(short.stdout.contains(words), "{words}: {}", short.stdout);
    }
    assert_eq!(short.stderr, "");
    let long = format!("[smooth]\nkind = \"distance\"\ntarget = {:?}\n", [1.0; 11]);
    let hint = solve_text("report-long", &long, &[]).expect(0);
    assert!(hint.stdout.contains("11 numbers; --out FILE"), "{}", hint.stdout);
    let out = text(&scratch("report-out").join("x.json"));
    let told = solve_text("report-told", &long, &["--out", &out]).expect(0);
    assert!(told.stdout.contains(&out), "{}", told.stdout);
}

#[test]
fn out_receives_what_json_prints() {
    let out = scratch("out").join("x.json");
    let ran = solve_text("out-problem", TWO, &["--json", "--out", &text(&out)]).expect(0);
    assert_eq!(fs::read_to_string(&out).expect("written"), ran.stdout);
}

#[test]
fn quiet_says_nothing_unless_the_run_does_not_converge() {
    let ran = solve_text("quiet", TWO, &["--quiet"]).expect(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let path = endless_problem(&scratch("quiet-limit"));
    let ran = equipoise(&["solve", &path, "--quiet", "--max-updates", "1"]).expect(1);
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{}", ran.stderr);
    ran.complains(&["not converged: iteration-limit"]);
}

#[test]
fn limits_bind_and_exit_with_1() {
    let path = endless_problem(&scratch("limits"));
    for (options, status) in [
        (["--max-updates", "100"], "iteration-limit"),
        (["--max-epochs", "2"], "iteration-limit"),
        (["--time-limit", "0.5"], "time-limit"),
    ] {
        let ran = equipoise(&[&["solve", &path, "--json"], &options[..]].concat()).expect(1);
        let json = ran.json();
        assert_eq!(json["status"], status);
        if options[0] == "--max-updates" {
            assert_eq!(json["updates"], 100);
        }
        ran.complains(&["not converged", status]);
    }
}

#[test]
fn options_win_over_the_file() {
    let problem = format!("{TWO}\n[solve]\nseed = 5\nmax-updates = 3\ntolerance = 1e-4\n");
    assert_eq!(solve_text("file-seed", &problem, &["--json"]).json()["seed"], 5);
    assert_eq!(solve_text("typed-seed", &problem, &["--json", "--seed", "6"]).json()["seed"], 6);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = scratch("same-seed");
    let args = ["generate", "logistic", "--size", "60", "--out", &text(&folder), "--seed", "4"];
    equipoise(&args).expect(0);
    let problem = text(&folder.join("problem.toml"));
    let x = |seed: &str| {
        let ran = equipoise(&["solve", &problem, "--json", "--seed", seed, "--method", "pairs"]).expect(0);
        ran.stdout.split("\"x\":").nth(1).expect("a field x").to_owned()
    };
    assert_eq!(x("9"), x("9"));
    assert_ne!(x("9"), x("10"));
}

#[test]
fn a_warm_start_is_used_and_moved_only_when_infeasible() {
    let folder = scratch("warm");
    let optimum = write(&folder, "optimum.json", "{\"x\": [-0.5, 1.5]}");
    let ran = solve_text("warm-exact", TWO, &["--json", "--warm-start", &optimum]).expect(0);
    assert_eq!((ran.json()["updates"].as_u64(), ran.stderr.as_str()), (Some(0), ""));
    let elsewhere = write(&folder, "elsewhere.json", "{\"x\": [0.5, 2.5]}");
    let moved = solve_text("warm-moved", TWO, &["--json", "--warm-start", &elsewhere]).expect(0);
    assert_eq!(numbers(&moved.json()["x"]), [-0.5, 1.5]);
    moved.complains(&["note: the warm start", "elsewhere.json", "nearest feasible point"]);
    let short = write(&folder, "short.json", "{\"x\": [1]}");
    let wrong = solve_text("warm-short", TWO, &["--warm-start", &short]).expect(2);
    wrong.complains(&["error: ", "short.json", "found 1 entries, expected 2"]);
}

#[test]
fn a_history_has_its_header_and_an_objective_that_never_rises() {
    let folder = scratch("history");
    let (path, history) = (endless_problem(&folder), folder.join("run.csv"));
    equipoise(&["solve", &path, "--quiet", "--max-epochs", "20", "--history", &text(&history)]).expect(1);
    let rows = fs::read_to_string(&history).expect("a history");
    let mut lines = rows.lines();
    let header = "update,epoch,seconds,objective,infeasibility,kkt_residual,duality_gap,predicted_bound";
    assert_eq!(lines.next(), Some(header));
    let objective = |row: &str| row.split(',').nth(3).expect("a field").parse::<f64>().expect("a number");
    let objectives: Vec<f64> = lines.map(objective).collect();
    assert!(objectives.len() >= 3, "{rows}");
    assert!(objectives.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12 * pair[0].abs()), "{objectives:?}");
}

#[test]
fn a_history_says_what_theory_predicts() {
    let problem = "[smooth]\nkind = \"distance\"\ntarget = [1, 2, 3, -4, 5, 0.5, 7, 2]\n[coupling]\nkind = \"sum\"\nrhs = 1\n\
                   [graph]\ntopology = \"ring\"\n";
    let rows = |name: &str, method: &str| {
        let history = scratch(name).join("run.csv");
        let options = ["--quiet", "--method", method, "--tolerance", "1e-10", "--history", &text(&history)];
        solve_text(name, problem, &options);
        fs::read_to_string(&history).expect("a history")
    };
    let field =
        |row: &str, k: usize| row.split(',').nth(k).expect("a field").parse::<f64>().expect("a number");
    let pairs = rows("predicted-pairs", "pairs");
    let rows_of_pairs: Vec<&str> = pairs.lines().skip(1).collect();
    assert!(rows_of_pairs.len() >= 3, "{pairs}");
    let bounds: Vec<f64> = rows_of_pairs.iter().map(|row| field(row, 7)).collect();
    // Before the first update it is the suboptimality itself, since the Hessian is a multiple of I; then it falls.
    let optimum = field(rows_of_pairs[rows_of_pairs.len() - 1], 3);
    assert!((bounds[0] / (field(rows_of_pairs[0], 3) - optimum) - 1.0).abs() < 1e-6, "{pairs}");
    assert!(bounds.windows(2).all(|pair| pair[1] < pair[0]) && bounds[2] < 0.5 * bounds[0], "{pairs}");
    let auto = rows("predicted-auto", "auto");
    assert!(auto.lines().skip(1).all(|row| row.ends_with(',')), "{auto}");
}

#[test]
fn redundant_rows_are_dropped_with_a_note() {
    let problem = "
[smooth]
kind = \"distance\"
target = [1, 2, 3]
[coupling]
kind = \"rows\"
matrix = [[1, 1, 1], [2, 2, 2]]
rhs = [1, 2]
";
    let ran = solve_text("redundant", problem, &["--json"]).expect(0);
    let multipliers = numbers(&ran.json()["multipliers"]);
    assert!(multipliers.len() == 2 && multipliers.contains(&0.0), "{multipliers:?}");
    ran.complains(&["note: row ", "is left out"]);
    let quiet = solve_text("redundant-quiet", problem, &["--quiet"]).expect(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn group_weights_are_one_number_one_a_block_or_one_a_coordinate() {
    let problem = |weight: &str| {
        format!(
            "[smooth]\nkind = \"distance\"\ntarget = [3, 4, 1, 1]\nweight = 0.5\n\
             [separable]\nkind = \"group-l2\"\nweight = {weight}\n[blocks]\nsize = 2\n"
        )
    };
    let x = |name: &str, weight: &str| {
        numbers(&solve_text(name, &problem(weight), &["--json"]).expect(0).json()["x"])
    };
    let by_hand = [3.0 * 0.8, 4.0 * 0.8, 1.0 - 0.5_f64.sqrt(), 1.0 - 0.5_f64.sqrt()];
    for (name, weight) in [("group-one", "1"), ("group-blocks", "[1, 1]"), ("group-each", "[1, 1, 1, 1]")] {
        let found = x(name, weight);
        assert!(found.iter().zip(by_hand).all(|(x, hand)| (x - hand).abs() < 1e-5), "{name}: {found:?}");
    }
    solve_text("group-mixed", &problem("[1, 2, 1, 1]"), &[])
        .expect(2)
        .complains(&["[separable]", "coordinates 0 and 1 lie in one block"]);
    solve_text("group-length", &problem("[1, 2, 1]"), &[]).expect(2).complains(&["found 3 entries"]);
}

#[test]
fn one_row_as_a_matrix_is_the_same_problem_as_a_row() {
    let folder = scratch("one-row");
    let sparse = "%%MatrixMarket matrix coordinate real general\n1 6 5\n1 1 1\n1 2 -2\n1 4 1\n1 5 3\n1 6 1\n";
    write(&folder, "row.mtx", sparse);
    let problem = |coupling: &str, weight: &str, rest: &str| {
        format!(
            "[smooth]\nkind = \"distance\"\ntarget = [3, 4, 1, 1, -2, 5]\nweight = 0.5\n\
             [separable]\n{weight}\n[coupling]\n{coupling}\nrhs = 2\n{rest}"
        )
    };
    let row = "kind = \"row\"\nweights = [1, -2, 0, 1, 3, 1]";
    let dense = "kind = \"rows\"\nmatrix = [[1, -2, 0, 1, 3, 1]]";
    let sparse = "kind = \"rows\"\nmatrix = \"row.mtx\"";
    // The method for one row, a topology by the number of blocks, and group weights by coordinate.
    for (name, weight, rest, flags) in [
        ("violating", "kind = \"l1\"\nweight = 0.5", "", &["--method", "violating"][..]),
        ("grid", "kind = \"zero\"", "[graph]\ntopology = \"grid\"\n", &["--method", "pairs"]),
        ("groups", "kind = \"group-l2\"\nweight = [1, 2, 0.5, 1, 1, 1]", "", &[]),
    ] {
        let solved = |coupling: &str| {
            let path = write(&folder, &format!("{name}.toml"), &problem(coupling, weight, rest));
            let mut json = equipoise(&[&["solve", &path, "--json"], flags].concat()).expect(0).json();
            json["seconds"] = 0.into();
            json
        };
        let expected = solved(row);
        assert_eq!(solved(dense), expected, "{name}");
        assert_eq!(solved(sparse), expected, "{name}");
    }
}

/// Whoever wants pairs of a sparse graph and nothing else is told at the start how long that takes.
#[test]
fn pairs_of_a_sparse_graph_are_announced_with_their_updates() {
    let target: Vec<String> = (0..12).map(|k| format!("{}", (k * 7) % 11)).collect();
    let problem = |rest: &str| {
        format!(
            "[smooth]\nkind = \"distance\"\ntarget = [{}]\n{rest}\n[coupling]\nkind = \"sum\"\nrhs = 3\n\
             [graph]\ntopology = \"ring\"\n",
            target.join(", ")
        )
    };
    let flags = ["--method", "pairs", "--json"];
    let ran =
        solve_text("announced", &problem(""), &flags).expect(0).complains(&["updates (", "epochs)", "auto"]);
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "updates").expect("a number of updates");
    let announced: u64 = words[place - 1].parse().expect("a number");
    let made = ran.json()["updates"].as_u64().expect("a number");
    assert!(made <= 2 * announced && announced < 1000 * made.max(1), "{made} of {announced}");
    let bounded = "[separable]\nkind = \"box\"\nlower = 0\nupper = 1\n";
    solve_text("announced-box", &problem(bounded), &flags).expect(0).complains(&["no theorem", "auto"]);
    for quiet in [&["--method", "pairs", "--json", "--quiet"][..], &["--json"]] {
        assert_eq!(solve_text("unannounced", &problem(""), quiet).expect(0).stderr, "");
    }
}

#[test]
fn a_single_block_is_legal() {
    let json =
        solve_text("single-block", &format!("{TWO}\n[blocks]\nsize = 2\n"), &["--json"]).expect(0).json();
    assert!((json["objective"].as_f64().expect("a number") - 0.25).abs() < 1e-6);
    let one = "[smooth]\nkind = \"distance\"\ntarget = [3]\n";
    assert_eq!(numbers(&solve_text("one-variable", one, &["--json"]).expect(0).json()["x"]), [3.0]);
}

#[test]
fn every_kind_of_term_can_be_named() {
    let matrix = "matrix = [[1, 2, 0], [0, 1, -1], [1, 0, 1], [2, 1, 1]]";
    let labels = format!("{matrix}\ntarget = [1, -1, 1, -1]");
    let smooth = [
        "kind = \"quadratic\"\nmatrix = [[2, 1, 0], [1, 2, 0], [0, 0, 1]]\nlinear = [1, -1, 2]".to_owned(),
        format!("kind = \"quadratic\"\n{}", matrix.replace("matrix", "factor")),
        format!("kind = \"least-squares\"\n{labels}\nweights = [1, 2, 0, 1]"),
        format!("kind = \"logistic\"\n{labels}"),
        format!("kind = \"squared-hinge\"\n{labels}"),
        format!("kind = \"huber\"\n{labels}\ndelta = 0.5"),
        "kind = \"distance\"\ntarget = [1, 2, 3]\nweight = [1, 2, 3]".to_owned(),
        "kind = \"linear\"\nlinear = [1, 2, 3]".to_owned(),
        "kind = \"sum\"\nterms = [{ kind = \"linear\", linear = [1, 2, 3] }, { kind = \"distance\", target = [1, 1, 1] }]"
            .to_owned(),
    ];
    let separable = [
        "kind = \"elastic-net\"\nl1 = 0.1\nl2 = 1",
        "kind = \"l1-box\"\nweight = [0.1, 0.2, 0.3]\nlower = -1\nupper = [1, 2, \"inf\"]",
        "kind = \"box\"\nlower = [-1, -1, -1]\nupper = 2",
        "kind = \"non-negative\"",
    ];
    let coupling = [
        "kind = \"sum\"\nrhs = 1",
        "kind = \"row\"\nweights = [1, 2, 1]\nrhs = 1",
        "kind = \"rows\"\nmatrix = [[1, 1, 1]]\nrhs = [1]",
        "kind = \"sum\"\nrhs = [0.5, 0.25, 0.75]",
    ];
    for (k, smooth) in smooth.iter().enumerate() {
        let (separable, coupling) = (separable[k % separable.len()], coupling[k % coupling.len()]);
        // Logistic, squared hinge and linear need something to hold them.
        let problem = format!("[smooth]\n{smooth}\n[separable]\n{separable}\n[coupling]\n{coupling}\n");
        solve_text(&format!("kind-{k}"), &problem, &["--quiet"]).expect(0);
    }
}

#[test]
fn edges_and_probabilities_are_read() {
    let problem = |graph: &str| {
        format!(
            "[smooth]\nkind = \"distance\"\ntarget = [1, 2, 3]\n[coupling]\nkind = \"sum\"\nrhs = 1\n[graph]\n{graph}\n"
        )
    };
    for (k, graph) in [
        "edges = [[0, 1], [1, 2]]\nprobabilities = [1, 3]",
        "edges = [[0, 1, 1], [1, 2, 3]]",
        "topology = \"ring\"\nprobabilities = \"lipschitz\"",
        "topology = \"ring\"\nprobabilities = \"equalised\"",
    ]
    .iter()
    .enumerate()
    {
        solve_text(&format!("edges-{k}"), &problem(graph), &["--quiet"]).expect(0);
    }
}

#[test]
fn no_progress_bar_in_a_pipe() {
    let path = write(&scratch("no-bar"), "problem.toml", TWO);
    let output = command(&["solve", &path]).env("TERM", "xterm").output().expect("the command starts");
    assert!(output.stderr.is_empty());
}

#[test]
fn boundaries_may_leave_out_their_ends() {
    let problem = |boundaries: &str| {
        format!(
            "[smooth]\nkind = \"distance\"\ntarget = [1, 2, 3, 4, 5]\n[separable]\nkind = \"group-l2\"\nweight = 1\n\
             [coupling]\nkind = \"sum\"\nrhs = 1\n[blocks]\nboundaries = {boundaries}\n"
        )
    };
    let whole = solve_text("boundaries-whole", &problem("[0, 2, 5]"), &["--json"]).expect(0).json();
    let short = solve_text("boundaries-short", &problem("[2]"), &["--json"]).expect(0).json();
    assert_eq!(whole["x"], short["x"]);
    solve_text("boundaries-back", &problem("[0, 3, 2, 5]"), &["--json"]).expect(2);
}

#[test]
fn a_problem_comes_through_a_pipe() {
    let folder = scratch("piped-problem");
    let solution = text(&folder.join("x.json"));
    piped(&["solve", "-", "--out", &solution], TWO).expect(0);
    piped(&["verify", "-", &solution], TWO).expect(0);
    let through = piped(&["solve", "-", "--out", "-"], TWO).expect(0);
    let stored: Value = serde_json::from_str(&through.stdout).expect("the solution alone");
    let of_file: Value =
        serde_json::from_str(&fs::read_to_string(&solution).expect("written")).expect("JSON");
    assert_eq!(stored["x"], of_file["x"]);
    assert!((numbers(&stored["x"])[1] - 1.5).abs() < 1e-12, "{stored}");
    piped(&["solve", "-", "--out", &solution], "[coupling]\n")
        .expect(2)
        .complains(&["standard input: missing table [smooth]"]);
    let program = piped(&["solve", "-", "--json"], include_str!("../../../../examples/problems/hs35.qps"));
    let objective = program.expect(0).json()["objective"].as_f64().expect("a number");
    assert!((objective - 1.0 / 9.0).abs() < 1e-6, "{objective}");
    // What the text names is an input here, too.
    let target = write(&folder, "target.csv", "0\n2\n");
    let named = TWO.replace("[0, 2]", &format!("{target:?}"));
    piped(&["solve", "-", "--out", &target], &named).expect(2).complains(&["it is the input"]);
}
