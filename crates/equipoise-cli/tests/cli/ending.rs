//! Ctrl-C and broken pipes.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::{Finished, command, endless_problem, scratch, text};

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
