//! Ctrl-C and broken pipes.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::{Finished, command, endless_problem, scratch, text, write};

/// Waits until the history of a run has a row: then it is under way.
fn wait_for_first_row(child: &mut Child, history: &str) {
    for _ in 0..6000 {
        if fs::read_to_string(history).is_ok_and(|rows| rows.lines().count() > 1) {
            return;
        }
        assert!(child.try_wait().expect("a child").is_none(), "the run ended by itself");
        sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    panic!("the run did not start");
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_returns_its_best_iterate() {
    let folder = scratch("interrupt");
    let (problem, history, out) =
        (endless_problem(&folder), text(&folder.join("run.csv")), text(&folder.join("x.json")));
    let mut child = command(&["solve", &problem, "--json", "--history", &history, "--out", &out])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    wait_for_first_row(&mut child, &history);
    send("-INT", &child);
    let ran = Finished::from(child.wait_with_output().expect("the run ends")).expect(1);
    assert_eq!(ran.json()["status"], "interrupted");
    assert_eq!(fs::read_to_string(&out).expect("written"), ran.stdout);
    let rows = fs::read_to_string(&history).expect("a history");
    let last = rows.lines().last().expect("rows").split(',').next().expect("a field").to_owned();
    assert_eq!(last, ran.json()["updates"].to_string(), "the last row is the result");
    ran.complains(&["not converged: interrupted"]);
}

/// Runs a command until its history has a row (or, without one, until it surely works), interrupts it and returns what it left.
#[cfg(unix)]
fn interrupted(args: &[&str], history: Option<&str>) -> Finished {
    let options = history.map_or_else(Vec::new, |path| vec!["--history", path]);
    let mut child = command(&[args, &options].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    match history {
        Some(path) => wait_for_first_row(&mut child, path),
        None => sleep(Duration::from_millis(1500)),
    }
    send("-INT", &child);
    Finished::from(child.wait_with_output().expect("the run ends"))
}

#[test]
#[cfg(unix)]
fn allocations_portfolios_and_consensus_return_what_they_have() {
    let folder = scratch("interrupt-models");
    let (history, out) = (text(&folder.join("run.csv")), text(&folder.join("found.json")));
    let is_written = |ran: &Finished| assert_eq!(fs::read_to_string(&out).expect("written"), ran.stdout);
    // Many demands: those so far are there.
    let table = write(&folder, "users.csv", "c2,c1,upper\n1,2,40\n0.5,3,30\n2,1,25\n");
    let words = ["allocate", &table, "--demands", "5:90:5000000", "--no-x", "--json", "--out", &out];
    let ran = interrupted(&words, None).expect(1).complains(&["not converged", "interrupted"]);
    let json = ran.json();
    let found = json["points"].as_array().expect("points").len();
    assert_eq!(
        (&json["status"], json["points"][0]["status"].as_str()),
        (&"interrupted".into(), Some("converged"))
    );
    assert!(found > 0 && json["missing"].as_u64() >= Some(5_000_000 - found as u64), "{found} points");
    is_written(&ran);
    // A frontier: the portfolios so far.
    let rows = (0..60).map(|day| {
        let price = |asset: i32| {
            10.0 + f64::from((day * (asset + 3) * 7) % 23) / 10.0 + f64::from(day * asset) / 500.0
        };
        (0..12).map(|asset| price(asset).to_string()).collect::<Vec<String>>().join(",")
    });
    let names: Vec<String> = (0..12).map(|asset| format!("a{asset}")).collect();
    let prices = std::iter::once(names.join(",")).chain(rows).collect::<Vec<String>>().join("\n");
    let prices = write(&folder, "prices.csv", &prices);
    let words = ["portfolio", &prices, "--frontier", "1000000", "--json", "--out", &out];
    let ran = interrupted(&words, Some(&history)).expect(1).complains(&["not converged", "interrupted"]);
    let json = ran.json();
    assert_eq!(json["status"], "interrupted");
    assert!(!json["points"].as_array().expect("points").is_empty() && json["missing"].as_u64() > Some(0));
    is_written(&ran);
    // A consensus: the best point so far, with its bound. A hinge whose labels are noise is long work for pairs.
    fs::remove_file(&history).expect("there");
    let shards: Vec<String> = (0..4)
        .map(|k| {
            let number = |i: i32, j: i32| (f64::from(600 * k + i) * (1.7 + f64::from(j))).sin().to_string();
            let row = |i: i32| {
                let cells = (0..20).map(|j| number(i, j)).collect::<Vec<String>>().join(",");
                format!("{cells},{}\n", (i * i + k) % 7 % 2)
            };
            let names = (0..20).map(|j| format!("a{j}")).collect::<Vec<String>>().join(",");
            let rows: String = (0..600).map(row).collect();
            write(&folder, &format!("{k}.csv"), &format!("{names},y\n{rows}"))
        })
        .collect();
    let files: Vec<&str> = shards.iter().map(String::as_str).collect();
    let words = [
        "--loss", "hinge", "--cost", "1000", "--method", "pairs", "--gap", "1e-300", "--json", "--out", &out,
    ];
    let ran = interrupted(&[&["consensus"][..], &files, &words].concat(), Some(&history)).expect(1);
    let json = ran.json();
    assert_eq!((&json["status"], json["x"].as_array().map(Vec::len)), (&"interrupted".into(), Some(20)));
    assert!(json["bound"].as_f64() <= json["objective"].as_f64() && json["sum_of_multipliers"] == 0);
    is_written(&ran);
}

/// A process that waits for its data is ended by one Ctrl-C: in words, and without touching what is there.
#[test]
#[cfg(unix)]
fn an_interrupt_while_data_are_read_writes_nothing() {
    let folder = scratch("interrupt-reading");
    let model = folder.join("model.json");
    fs::write(&model, "a good old file").expect("writable");
    let mut child = command(&["svm", "train", "-", "--model", &text(&model)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut data = child.stdin.take().expect("piped");
    data.write_all(b"+1 1:1\n-1 2:1\n").expect("the process reads");
    // Long enough for a busy machine to start it; it waits for its data as long as they are open.
    sleep(Duration::from_millis(1500));
    send("-INT", &child);
    let ran = Finished::from(child.wait_with_output().expect("it ends while its data are open")).expect(130);
    assert_eq!(ran.stdout, "");
    ran.complains(&["interrupted while standard input was read; nothing was written"]);
    assert_eq!(fs::read_to_string(&model).expect("there"), "a good old file");
    drop(data);
}

#[test]
#[cfg(unix)]
fn a_broken_pipe_is_a_quiet_success() {
    let page = text(&scratch("broken-pipe").join("demo.html"));
    for args in
        [&["--help"][..], &["completions", "bash"], &["graph", "ring", "9"], &["demo", "--out", &page]]
    {
        let mut child =
            command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        drop(child.stdout.take());
        let mut words = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut words).expect("text");
        assert_eq!((child.wait().expect("it ends").code(), words.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// A history or a result goes to stdout, and nobody reads it to its end.
#[test]
#[cfg(unix)]
fn a_reader_that_goes_early_is_no_error() {
    let folder = scratch("gone");
    let problem = write(&folder, "problem.toml", crate::TWO);
    for option in ["--history", "--out"] {
        let mut child = command(&["solve", &problem, option, "-", "-q"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stdout.take());
        let ran = child.wait_with_output().expect("it ends");
        assert_eq!(
            (ran.status.code(), String::from_utf8_lossy(&ran.stderr).as_ref()),
            (Some(0), ""),
            "{option}"
        );
    }
}
