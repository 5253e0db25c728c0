//! The options that concern several threads, typed or in the problem file.

use std::fs;

use serde_json::Value;

use crate::{TWO, equipoise, numbers, scratch, solve_text, text, write};

/// A quadratic of twelve variables on several rows, which pairs solve.
const TWELVE: &str = "
[smooth]
kind = \"synthetic\"
nodes = 12
block = 3
rows = 2
seed = 3

[solve]
method = \"pairs\"
";

/// Rows of two labels that a line does not part.
fn rows(name: &str) -> String {
    let row = |i: u32| {
        let (a, b) = (f64::from(i * 37 % 50) / 25.0 - 1.0, f64::from(i * 61 % 50) / 25.0 - 1.0);
        let label = if (a + 0.5 * b > 0.1) == i.is_multiple_of(9) { "-1" } else { "+1" };
        format!("{label} 1:{a} 2:{b}\n")
    };
    write(&scratch(name), "data", &(0..50).map(row).collect::<String>())
}

#[track_caller]
fn threads(json: &Value) -> u64 {
    json["threads"].as_u64().unwrap_or_else(|| panic!("no threads in {json}"))
}

#[track_caller]
fn objective(json: &Value) -> f64 {
    json["objective"].as_f64().unwrap_or_else(|| panic!("no objective in {json}"))
}

#[test]
fn results_say_how_many_threads_worked() {
    let out = scratch("threads-out").join("x.json");
    let ran = solve_text("threads", TWELVE, &["--json", "--threads", "3", "--out", &text(&out)]).expect(0);
    let json = ran.json();
    assert!((1..=3).contains(&threads(&json)), "{json}");
    assert_eq!(fs::read_to_string(&out).expect("written"), ran.stdout);
    let one = solve_text("threads-one", TWELVE, &["--json"]).expect(0).json();
    assert_eq!(threads(&one), 1);
    assert!((objective(&one) - objective(&json)).abs() <= 2e-6 * (1.0 + objective(&one)), "{json}");
    // What is written is read again.
    let problem = write(&scratch("threads-again"), "problem.toml", TWELVE);
    equipoise(&["verify", &problem, &text(&out)]).expect(0);
}

#[test]
fn words_name_threads_where_there_is_more_than_one() {
    let one = solve_text("threads-words-one", TWELVE, &["--threads", "1"]).expect(0);
    assert!(!one.stdout.contains("thread"), "{}", one.stdout);
    let out = scratch("several-words-out").join("x.json");
    let several = solve_text("threads-words", TWELVE, &["--threads", "2", "--out", &text(&out)]).expect(0);
    let file: Value = serde_json::from_str(&fs::read_to_string(&out).expect("written")).expect("JSON");
    let named = format!("{} threads", threads(&file));
    assert_eq!(several.stdout.contains("thread"), threads(&file) > 1, "{}", several.stdout);
    assert_eq!(several.stdout.contains(&named), threads(&file) > 1, "{}", several.stdout);
}

#[test]
fn one_thread_takes_no_notice_of_the_rest() {
    let x = |options: &[&str]| {
        let ran = solve_text("one-thread", TWELVE, &[&["--json", "--seed", "5"], options].concat()).expect(0);
        assert_eq!(ran.stderr, "");
        ran.stdout.split("\"x\":").nth(1).expect("a field x").to_owned()
    };
    let plain = x(&[]);
    for locking in ["double", "single", "none"] {
        assert_eq!(x(&["--threads", "1", "--locking", locking]), plain, "{locking}");
    }
    for rule in ["blocks", "sharp", "paper"] {
        assert_eq!(x(&["--step-rule", rule]), plain, "{rule}");
    }
    assert_eq!(x(&["--delay-us", "1000000"]), plain);
    assert_eq!(x(&["--deterministic"]), plain);
}

#[test]
fn every_combination_of_options_reaches_the_optimum() {
    for locking in ["double", "single", "none"] {
        for rule in ["blocks", "sharp"] {
            let name = format!("combined-{locking}-{rule}");
            let options = ["--json", "--threads", "2", "--locking", locking, "--step-rule", rule];
            let more = ["--delay-us", "1", "--time-limit", "20"];
            let json = solve_text(&name, TWO, &[&options[..], &more].concat()).expect(0).json();
            assert!((objective(&json) - 0.25).abs() < 1e-6, "{name}: {json}");
        }
    }
}

#[test]
fn a_deterministic_run_can_be_repeated() {
    let x = |run: &str| {
        let options = ["--json", "--threads", "3", "--deterministic", "--seed", "9"];
        numbers(&solve_text(run, TWELVE, &options).expect(0).json()["x"])
    };
    assert_eq!(x("repeat-1"), x("repeat-2"));
}

#[test]
fn the_file_may_say_it_all_and_options_win() {
    let problem = format!(
        "{TWELVE}threads = 2\nlocking = \"double\"\ndelay-us = 1\nstep-rule = \"sharp\"\ndeterministic = true\n"
    );
    let json = solve_text("file-threads", &problem, &["--json"]).expect(0).json();
    assert!((1..=2).contains(&threads(&json)), "{json}");
    let typed = solve_text("file-threads-typed", &problem, &["--json", "--threads", "1"]).expect(0).json();
    assert_eq!(threads(&typed), 1);
    // What the file says is refused, unless the command line says better.
    let wrong = problem.replace("threads = 2", "threads = 0").replace("double", "duoble");
    solve_text("file-threads-wrong", &wrong, &["--locking", "none"]).expect(2).complains(&["threads is 0"]);
    solve_text("file-locking-wrong", &wrong, &["--threads", "1"]).expect(2).complains(&["`double`?"]);
    solve_text("file-both-typed", &wrong, &["--threads", "1", "--locking", "none"]).expect(0);
}

#[test]
fn the_range_of_threads_is_told_in_the_words_of_the_library() {
    let data = rows("threads-range");
    let problem = write(&scratch("threads-range-problem"), "problem.toml", TWO);
    for count in ["0", "1025", "5000"] {
        let words = format!("threads is {count}");
        let words = ["error: ", &words, "a whole number from 1 to 1024"];
        equipoise(&["solve", &problem, "--threads", count]).expect(2).complains(&words);
        equipoise(&["svm", "train", &data, "--threads", count]).expect(2).complains(&words);
        equipoise(&["svm", "cv", &data, "--folds", "2", "--threads", count]).expect(2).complains(&words);
        equipoise(&["svm", "path", &data, "--costs", "1", "--threads", count]).expect(2).complains(&words);
    }
}

#[test]
fn training_takes_the_same_options() {
    let data = rows("svm-threads");
    let one = equipoise(&["svm", "train", &data, "--json"]).expect(0).json();
    assert_eq!(threads(&one), 1);
    let options = [
        "--threads",
        "2",
        "--locking",
        "single",
        "--delay-us",
        "1",
        "--step-rule",
        "sharp",
        "--deterministic",
        "--time-limit",
        "20",
    ];
    for method in ["auto", "pairs"] {
        let args = [&["svm", "train", &data, "--json", "--method", method, "--gap", "1e-3"], &options[..]];
        let json = equipoise(&args.concat()).expect(0).json();
        assert_eq!(threads(&json), 2);
        let (found, known) = (json["primal"].as_f64(), one["primal"].as_f64());
        let (found, known) = (found.expect("a number"), known.expect("a number"));
        assert!((found - known).abs() <= 2e-3 * known, "{method}: {found} and {known}");
    }
    let words = equipoise(&[&["svm", "train", &data], &options[..]].concat()).expect(0).stdout;
    assert!(words.contains(", 2 threads\n"), "{words}");
    let words = equipoise(&["svm", "train", &data]).expect(0).stdout;
    assert!(!words.contains("thread"), "{words}");
    equipoise(&[&["svm", "cv", &data, "--folds", "2"], &options[..]].concat()).expect(0);
    equipoise(&[&["svm", "path", &data, "--costs", "0.5,1"], &options[..]].concat()).expect(0);
}
