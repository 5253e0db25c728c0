//! Training on ranks: one model of parts of a file, whoever has which; words that all ranks must share; `--ranks`, which starts them.

use std::fs;
use std::process::ExitCode;

use equipoise::collective::Threads;
use serde_json::Value;

use crate::{command, equipoise, scratch, write};

/// Rows of two classes, one in seven wrong.
fn rows(count: usize) -> String {
    let number = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 504.5 - 1.0;
    let mut text = String::new();
    for i in 0..count {
        let values: Vec<f64> = (0..5).map(|k| number(5 * i + k)).collect();
        let is_up = (values[0] + 0.5 * values[3] > 0.1) != (i % 7 == 0);
        text += if is_up { "1" } else { "-1" };
        // Feature 9 occurs in the last rows only: not on every rank.
        let last = if i + 20 > count { 9 } else { 5 };
        values.iter().enumerate().for_each(|(k, value)| {
            let column = if k == 4 { last } else { k + 1 };
            text.extend([" ", &column.to_string(), ":", &value.to_string()]);
        });
        text.push('\n');
    }
    text
}

/// The exit statuses of all ranks, in words.
fn on_ranks(ranks: usize, args: &[&str]) -> Vec<String> {
    let code = |code: ExitCode| format!("{code:?}");
    let typed = [&["equipoise-mpi"], args].concat();
    Threads::run(ranks, |world| code(equipoise_cli::run_across(typed.clone(), &world)))
}

fn all(ranks: usize, status: u8) -> Vec<String> {
    vec![format!("{:?}", ExitCode::from(status)); ranks]
}

fn model(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a model was written")).expect("JSON")
}

#[test]
fn parts_of_a_file_and_files_dealt_give_one_model() {
    let folder = scratch("svm-ranks-parts");
    let text = rows(400);
    let whole = write(&folder, "whole.svm", &text);
    let lines: Vec<&str> = text.lines().collect();
    let parts: Vec<String> = lines
        .chunks(150)
        .enumerate()
        .map(|(k, lines)| write(&folder, &format!("part-{k}.svm"), &lines.join("\n")))
        .collect();
    let out = folder.join("model.json").to_string_lossy().into_owned();
    let options = ["--gap", "1e-7", "--quiet", "--model", &out];
    equipoise(&[&["svm", "train", &whole], &options[..]].concat()).expect(0);
    let alone = model(&out);
    let files: Vec<&str> = parts.iter().map(String::as_str).collect();
    for (ranks, files) in [(1, vec![&whole[..]]), (2, vec![&whole]), (4, vec![&whole]), (2, files)] {
        fs::remove_file(&out).expect("the last one wrote it");
        assert_eq!(on_ranks(ranks, &[&["svm", "train"], &files[..], &options].concat()), all(ranks, 0));
        let found = model(&out);
        assert_eq!(found["features"], alone["features"], "{ranks} ranks");
        equipoise(&["svm", "verify", &out, &whole, "--gap", "2e-7", "--quiet"]).expect(0);
        if ranks == 1 {
            assert_eq!(found, alone);
        }
    }
}

#[test]
fn what_ranks_cannot_do_is_refused_by_all() {
    let folder = scratch("svm-ranks-refused");
    let few = write(&folder, "few.svm", "1 1:1\n-1 1:-1\n");
    let faulty = write(&folder, "faulty.svm", &(rows(30) + "1 x\n"));
    let out = folder.join("model.json").to_string_lossy().into_owned();
    for args in [
        &["svm", "train", &few, "--quiet", "--model", &out][..],
        &["svm", "train", &faulty, "--quiet", "--model", &out],
        &["svm", "train", &few, &few, "--quiet", "--model", &out],
        &["svm", "train", &faulty, "--scale", "standard", "--model", &out],
        &["svm", "cv", &faulty],
        &["demo"],
        &["svm", "train", "--no-such-option"],
    ] {
        assert_eq!(on_ranks(3, args), all(3, 2), "{args:?}");
    }
    assert!(!folder.join("model.json").exists());
    equipoise(&["svm", "train", &few, &few]).expect(2).complains(&["--ranks N"]);
}

/// Ranks that are threads write the bytes that MPI's ranks wrote: `cargo xtask mpi` names the rows and the models.
#[test]
#[ignore = "needs the models that `cargo xtask mpi` has written"]
fn threads_write_the_bytes_of_mpi() {
    let named = |name: &str| std::env::var(name).expect("`cargo xtask mpi` sets it");
    let (data, gap) = (named("EQUIPOISE_MPI_DATA"), named("EQUIPOISE_MPI_GAP"));
    let out = scratch("svm-ranks-mpi").join("model.json").to_string_lossy().into_owned();
    for ranks in [2, 4] {
        let args = ["svm", "train", &data, "--gap", &gap, "--quiet", "--model", &out];
        assert_eq!(on_ranks(ranks, &args), all(ranks, 0));
        let written = format!("{}/first-{ranks}.json", named("EQUIPOISE_MPI_MODELS"));
        assert!(fs::read(&out).ok() == fs::read(&written).ok(), "{ranks} ranks: {out} and {written}");
    }
}

/// A stand-in for `mpirun` that says what it was told and ends so.
#[cfg(unix)]
fn starter(folder: &std::path::Path, words: &str, status: i32) -> String {
    use std::os::unix::fs::PermissionsExt;
    let text = format!("#!/bin/sh\necho \"$@\"\necho '{words}' >&2\nexit {status}\n");
    let path = write(folder, &format!("starter-{status}"), &text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
    path
}

#[cfg(unix)]
#[test]
fn ranks_are_started_and_their_exit_status_is_translated() {
    let folder = scratch("svm-ranks-started");
    let start = |words: &str, status: i32, args: &[&str]| {
        let starter = starter(&folder, words, status) + " --hostfile h";
        let ended = command(args).env("EQUIPOISE_MPIRUN", starter).output();
        crate::Finished::from(ended.expect("the command starts"))
    };
    let args = ["svm", "train", "a.svm", "--ranks", "3", "--cost", "2"];
    let said = start("", 0, &args).expect(0).stdout;
    assert!(said.starts_with("--hostfile h -n 3 "), "{said}");
    assert!(said.trim_end().ends_with("equipoise-mpi svm train a.svm --cost 2"), "{said}");
    start("", 1, &args).expect(1);
    let told = start("error: rank 1: no rows", 2, &args).expect(2);
    assert_eq!(told.stderr.matches("error").count(), 1, "{}", told.stderr);
    let lost = "mpirun noticed that process rank 2 with PID 7 on node a exited on signal 9 (Killed).";
    start(lost, 137, &args).expect(2).complains(&["error: rank 2 was ended, with exit status 137"]);
    let missing = command(&args).env("EQUIPOISE_MPIRUN", "/no/such/mpirun").output().expect("it starts");
    crate::Finished::from(missing)
        .expect(2)
        .complains(&["cannot start `/no/such/mpirun`", "docs/cluster.md"]);
}
