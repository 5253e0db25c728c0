//! `solve` and `consensus` on ranks that are threads of this process: what one process finds, and what all refuse.

use std::fs;
use std::process::ExitCode;
use std::sync::Mutex;

use equipoise::collective::{Letters, Threads};
use serde_json::Value;

use crate::{equipoise, scratch, write};

/// The exit statuses of all ranks, in words.
fn on_ranks(ranks: usize, args: &[&str]) -> Vec<String> {
    let typed = [&["equipoise-mpi"], args].concat();
    let ends: Vec<_> = Letters::between(ranks).into_iter().map(|end| Mutex::new(Some(end))).collect();
    Threads::run(ranks, |world| {
        let mut post = ends[world.rank()].lock().expect("nobody panics").take().expect("one end a rank");
        let code = equipoise_cli::run_with_post(typed.clone(), &world, Some(&mut post));
        format!("{code:?}")
    })
}

fn all(ranks: usize, status: u8) -> Vec<String> {
    vec![format!("{:?}", ExitCode::from(status)); ranks]
}

fn read(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a result was written")).expect("JSON")
}

/// Rows of five numbers with what they are to explain behind them.
fn table(count: usize) -> String {
    let number = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 504.5 - 1.0;
    let mut text = String::from("a,b,c,d,e,y\n");
    for i in 0..count {
        let row: Vec<f64> = (0..5).map(|k| number(5 * i + k)).collect();
        let y = 1.5 * row[0] - 0.7 * row[3] + 0.2 * number(90 * i + 7);
        let cells: Vec<String> = row.iter().chain([&y]).map(f64::to_string).collect();
        text.extend([cells.join(",").as_str(), "\n"]);
    }
    text
}

/// The same as a matrix and a list in files of their own.
fn matrix(folder: &std::path::Path, count: usize) -> String {
    let (mut rows, mut targets) = (String::new(), String::new());
    for line in table(count).lines().skip(1) {
        let (row, target) = line.rsplit_once(',').expect("six numbers");
        rows.extend([row, "\n"]);
        targets.extend([target, "\n"]);
    }
    write(folder, "m.csv", &rows);
    write(folder, "y.csv", &targets);
    write(
        folder,
        "p.toml",
        "[smooth]\nkind = \"least-squares\"\nmatrix = \"m.csv\"\ntarget = \"y.csv\"\n\
         [separable]\nkind = \"l1\"\nweight = 2\n[coupling]\nkind = \"sum\"\nrhs = 0.5\n",
    )
}

#[test]
fn rows_of_a_loss_are_dealt_to_ranks() {
    let folder = scratch("ranks-solve");
    let problem = matrix(&folder, 61);
    let out = folder.join("x.json").to_string_lossy().into_owned();
    let options = ["--tolerance", "1e-8", "--quiet", "--out", &out];
    equipoise(&[&["solve", &problem][..], &options].concat()).expect(0);
    let alone = read(&out);
    let number = |of: &Value, key: &str| of[key].as_f64().expect("a number");
    // The last of them leaves the rows in their file.
    for (ranks, more) in [(2, vec![]), (4, vec![]), (3, vec!["--memory-budget", "200"])] {
        fs::remove_file(&out).expect("the last one wrote it");
        let typed = [&["solve", &problem][..], &options, &more].concat();
        assert_eq!(on_ranks(ranks, &typed), all(ranks, 0), "{ranks} ranks");
        let found = read(&out);
        assert_eq!(found["status"], "converged");
        let apart = (number(&found, "objective") - number(&alone, "objective")).abs();
        assert!(apart <= 1e-7, "{ranks} ranks: {apart}");
        equipoise(&["verify", &problem, &out, "--tolerance", "1e-8"]).expect(0);
    }
}

#[test]
fn what_solve_does_not_do_on_ranks_is_refused_by_all() {
    let folder = scratch("ranks-solve-refused");
    let problem = matrix(&folder, 12);
    let out = folder.join("x.json").to_string_lossy().into_owned();
    let without = write(&folder, "q.toml", "[smooth]\nkind = \"distance\"\ntarget = [1.0, 2.0]\n");
    let faulty =
        write(&folder, "f.toml", "[smooth]\nkind = \"logistic\"\nmatrix = \"m.csv\"\ntarget = \"y.csv\"\n");
    for args in [
        &["solve", &without, "--out", &out][..],
        &["solve", &faulty, "--out", &out],
        &["solve", &problem, "--method", "pairs", "--out", &out],
        &["solve", &problem, "--checkpoint", &out],
        &["solve", &problem, "--ranks", "2"],
        &["solve", "nothing.toml"],
    ] {
        assert_eq!(on_ranks(3, args), all(3, 2), "{args:?}");
    }
    assert!(!folder.join("x.json").exists());
}

#[test]
fn nodes_of_a_graph_are_spread_over_ranks() {
    let folder = scratch("ranks-consensus");
    let text = table(60);
    let lines: Vec<&str> = text.lines().collect();
    let files: Vec<String> = lines[1..]
        .chunks(12)
        .enumerate()
        .map(|(k, rows)| write(&folder, &format!("{k}.csv"), &format!("{}\n{}\n", lines[0], rows.join("\n"))))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let whole = write(&folder, "whole.csv", &text);
    let out = folder.join("fit.json").to_string_lossy().into_owned();
    let problem = ["--loss", "ridge", "--gap", "1e-6"];
    let run = [&problem[..], &["--graph", "clique", "--quiet", "--out", &out]].concat();
    for (ranks, data, more) in [
        (2, files.clone(), vec![]),
        (4, files.clone(), vec!["--outstanding", "2"]),
        (3, vec![&whole[..]], vec!["--shards", "6", "--greedy"]),
    ] {
        assert_eq!(on_ranks(ranks, &[&["consensus"], &data[..], &run, &more].concat()), all(ranks, 0));
        let found = read(&out);
        fs::remove_file(&out).expect("it was written");
        assert_eq!((&found["status"], &found["method"]), (&"converged".into(), &"pairs".into()));
        assert_eq!(
            (found["ranks"].as_u64(), found["sum_of_multipliers"].as_i64()),
            (Some(ranks as u64), Some(0))
        );
        assert!(found["bytes_between_ranks"].as_u64() > Some(0));
        assert_eq!(found["names"], serde_json::json!(["a", "b", "c", "d", "e"]));
        let result = write(&folder, "result.json", &found.to_string());
        let verified = [&["consensus", "verify", &result, &whole, "--quiet"], &problem[..]].concat();
        equipoise(&verified).expect(0);
    }
    let bare = write(&folder, "bare.csv", "a,b\n1,2\n");
    for args in [
        vec!["consensus", &whole, "--loss", "ridge"],
        vec!["consensus", &whole, &bare, "--loss", "ridge"],
        vec!["consensus", files[0], files[1], "--loss", "ridge", "--method", "tree"],
        vec!["consensus", files[0], files[1], "--loss", "ridge", "--ranks", "2"],
        vec!["consensus", "verify", &out, &whole, "--loss", "ridge"],
    ] {
        assert_eq!(on_ranks(2, &args), all(2, 2), "{args:?}");
    }
}
