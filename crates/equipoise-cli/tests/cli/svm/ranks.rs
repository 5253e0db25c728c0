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

#[test]
fn folds_are_dealt_to_ranks() {
    let folder = scratch("svm-ranks-cv");
    let data = write(&folder, "data.svm", &rows(300));
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let [alone, shared] = ["alone.json", "shared.json"].map(file);
    let cv = ["svm", "cv", &data, "--folds", "3", "--costs", "0.1,1", "--quiet"];
    equipoise(&[&cv[..], &["--model", &alone]].concat()).expect(0);
    assert_eq!(on_ranks(2, &[&cv[..], &["--model", &shared]].concat()), all(2, 0));
    assert!(fs::read(&shared).expect("a model") == fs::read(&alone).expect("a model"));
    assert_eq!(on_ranks(2, &[&cv[..], &["--ranks", "2"]].concat()), all(2, 2));
    assert_eq!(on_ranks(2, &["svm", "cv", "-"]), all(2, 2));
}

#[test]
fn a_path_goes_over_ranks() {
    let folder = scratch("svm-ranks-path");
    let data = write(&folder, "data.svm", &rows(300));
    let test = write(&folder, "test.svm", &rows(40));
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let [alone, shared] = ["alone.json", "shared.json"].map(file);
    let path = ["svm", "path", &data, "--costs", "0.1,1", "--gap", "1e-9", "--quiet", "--test", &test];
    equipoise(&[&path[..], &["--model", &alone]].concat()).expect(0);
    assert_eq!(on_ranks(2, &[&path[..], &["--model", &shared]].concat()), all(2, 0));
    let (alone, shared) = (model(&alone), model(&shared));
    assert_eq!((&shared["cost"], &shared["features"]), (&alone["cost"], &alone["features"]));
    equipoise(&["svm", "verify", &file("shared.json"), &data, "--gap", "2e-9", "--quiet"]).expect(0);
    for refused in [&["--ranks", "2"][..], &["--scale", "standard"], &["--kind", "nu-svc"]] {
        assert_eq!(on_ranks(2, &[&path[..], refused].concat()), all(2, 2), "{refused:?}");
    }
}

#[test]
fn a_run_on_ranks_is_put_aside_by_each_and_gone_on_with_by_all() {
    let folder = scratch("svm-ranks-aside");
    let whole = write(&folder, "whole.svm", &rows(900));
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let [cold, warm, aside] = ["cold.json", "warm.json", "aside"].map(file);
    let train = ["svm", "train", &whole, "--gap", "1e-9", "--quiet"];
    assert_eq!(on_ranks(2, &[&train[..], &["--model", &cold]].concat()), all(2, 0));
    let shards = || {
        let names = fs::read_dir(&folder).expect("our own").flatten();
        let mut names: Vec<String> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.starts_with("aside."));
        names.sort();
        names
    };
    // Wherever it is ended, it goes on to the same bytes; what is not needed any more goes away.
    let aside_now = ["--checkpoint", &aside, "--every", "0"];
    let mut limit = 0.01;
    loop {
        let seconds = limit.to_string();
        let options = [&aside_now[..], &["--resume", "--model", &warm, "--time-limit", &seconds]].concat();
        let ended = on_ranks(2, &[&train[..], &options].concat());
        limit *= 2.0;
        if ended == all(2, 0) {
            break;
        }
        // Before there is anything to tell it is an error; on all ranks alike.
        assert_eq!(ended[0], ended[1]);
    }
    assert_eq!(model(&warm), model(&cold));
    assert_eq!(shards(), Vec::<String>::new());
    // One that comes to its limit stays; two steps at least have been kept.
    let mut epochs = 4;
    let limited = loop {
        let most = epochs.to_string();
        let limited = [&train[..], &aside_now, &["--max-epochs", &most]].concat().join("\n");
        let limited: Vec<String> = limited.lines().map(str::to_owned).collect();
        let typed: Vec<&str> = limited.iter().map(String::as_str).collect();
        assert_eq!(on_ranks(2, &typed), all(2, 1), "no more than a few steps by {epochs} epochs");
        if shards().len() == 4 {
            break limited;
        }
        shards().iter().for_each(|name| fs::remove_file(folder.join(name)).expect("our own"));
        epochs += 1;
    };
    let limited: Vec<&str> = limited.iter().map(String::as_str).collect();
    assert_eq!(shards(), ["aside.rank-0.0", "aside.rank-0.1", "aside.rank-1.0", "aside.rank-1.1"]);
    let resumed = [&limited[..], &["--resume"]].concat();
    assert_eq!(on_ranks(2, &resumed), all(2, 1));
    for refused in [
        &limited[..],
        &[&limited[..], &["--resume", "--cost", "2"]].concat(),
        &[&train[..], &aside_now, &["--resume", "--max-epochs", "4000"]].concat(),
    ] {
        assert_eq!(on_ranks(2, refused), all(2, 2), "{refused:?}");
    }
    assert_eq!(on_ranks(3, &resumed), all(3, 2), "another number of ranks");
    // A rank that was killed while it wrote lacks the last step, and all go on with the one before.
    let newest = {
        let of_rank_1 = ["aside.rank-1.0", "aside.rank-1.1"].map(|name| folder.join(name));
        let age = |path: &std::path::PathBuf| fs::metadata(path).and_then(|m| m.modified()).expect("there");
        of_rank_1.into_iter().max_by_key(age).expect("two")
    };
    let bytes = fs::read(&newest).expect("a shard");
    fs::remove_file(&newest).expect("our own");
    assert_eq!(on_ranks(2, &resumed), all(2, 1));
    // What is cut short is refused, and so is a rank that has nothing.
    fs::write(&newest, &bytes[..bytes.len() - 8]).expect("our own");
    assert_eq!(on_ranks(2, &resumed), all(2, 2));
    for name in ["aside.rank-1.0", "aside.rank-1.1"] {
        fs::remove_file(folder.join(name)).expect("our own");
    }
    assert_eq!(on_ranks(2, &resumed), all(2, 2));
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

/// A stand-in for `mpirun`: what it says on stdout is what it was told and `object`, on stderr `words`, and it ends so.
#[cfg(unix)]
#[derive(Clone, Copy)]
struct Starter<'t> {
    folder: &'t std::path::Path,
    args: &'t [&'t str],
    object: &'t str,
}

/// What the first rank says as it begins.
#[cfg(unix)]
const SIGN: &str = "equipoise-mpi: the ranks have begun\n";

#[cfg(unix)]
impl Starter<'_> {
    fn ends(&self, words: &[u8], status: i32) -> crate::Finished {
        use std::os::unix::fs::PermissionsExt;
        let said = self.folder.join("said");
        fs::write(&said, words).expect("our own folder");
        let (said, object) = (said.display(), self.object);
        let echo = if object.is_empty() { "echo \"$@\"".into() } else { format!("echo '{object}'") };
        let text = format!("#!/bin/sh\n{echo}\ncat '{said}' >&2\nexit {status}\n");
        let path = write(self.folder, &format!("starter-{status}"), &text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
        let ended = command(self.args).env("EQUIPOISE_MPIRUN", path + " --hostfile h").output();
        crate::Finished::from(ended.expect("the command starts"))
    }

    /// The same of ranks that have begun.
    fn begins_and_ends(&self, words: &str, status: i32) -> crate::Finished {
        self.ends((SIGN.to_owned() + words).as_bytes(), status)
    }
}

#[cfg(unix)]
#[test]
fn ranks_are_started_and_their_exit_status_is_translated() {
    let folder = scratch("svm-ranks-started");
    let args = ["svm", "train", "a.svm", "--ranks", "3", "--cost", "2"];
    let starter = Starter { folder: &folder, args: &args, object: "" };
    let well = starter.begins_and_ends("", 0).expect(0);
    let said = well.stdout;
    assert!(said.starts_with("--hostfile h -n 3 "), "{said}");
    assert!(said.trim_end().ends_with("equipoise-mpi --launched svm train a.svm --cost 2"), "{said}");
    assert_eq!(well.stderr, "");
    starter.begins_and_ends("", 1).expect(1);
    let told = starter.begins_and_ends("error: rank 1: no rows\n", 2).expect(2);
    assert_eq!(told.stderr.matches("error").count(), 1, "{}", told.stderr);
    let lost = "mpirun noticed that process rank 2 with PID 7 on node a exited on signal 9 (Killed).\n";
    let words = "error: rank 2 was ended, with exit status 137; nothing was written";
    starter.begins_and_ends(lost, 137).expect(2).complains(&[words]);
    let put_aside = [&args[..], &["--checkpoint", "aside"]].concat();
    let ended = Starter { args: &put_aside, ..starter }.begins_and_ends(lost, 137).expect(2);
    let ended = ended.complains(&["error: rank 2 was ended", "--resume"]);
    assert!(!ended.stderr.contains("nothing was written"), "{}", ended.stderr);
    let missing = command(&args).env("EQUIPOISE_MPIRUN", "/no/such/mpirun").output().expect("it starts");
    crate::Finished::from(missing)
        .expect(2)
        .complains(&["cannot start `/no/such/mpirun`", "docs/cluster.md"]);
}

/// Whatever the exit status of an `mpirun` that starts nothing means elsewhere: it is an error.
#[cfg(unix)]
#[test]
fn a_starter_that_starts_nothing_is_an_error() {
    let folder = scratch("svm-ranks-not-begun");
    let args = ["svm", "train", "a.svm", "--ranks", "3"];
    let starter = Starter { folder: &folder, args: &args, object: "" };
    for status in [1, 2, 134, 213] {
        let ended = starter.ends(b"There are not enough slots available.\n", status).expect(2);
        let words = format!("with exit status {status} before the ranks began; nothing was done");
        ended.complains(&["error: ", "not enough slots", &words]);
    }
    // Where the program is nowhere that is why.
    let mut nowhere = command(&args);
    nowhere.env("EQUIPOISE_MPIRUN", folder.join("starter-134")).env("PATH", "/nowhere");
    let ended = crate::Finished::from(nowhere.output().expect("it starts")).expect(2);
    if !std::path::Path::new(env!("CARGO_BIN_EXE_equipoise")).with_file_name("equipoise-mpi").is_file() {
        ended.complains(&["there is no `equipoise-mpi`", "docs/cluster.md"]);
    }
}

#[cfg(unix)]
#[test]
fn what_ranks_say_is_passed_on_whatever_its_bytes() {
    let folder = scratch("svm-ranks-bytes");
    let args = ["svm", "train", "a.svm", "--ranks", "3"];
    let starter = Starter { folder: &folder, args: &args, object: "" };
    let words = [SIGN.as_bytes(), b"a \xff byte\n", b"process rank 1 with PID 7 exited\n", b"last"].concat();
    starter.ends(&words, 137).expect(2).complains(&["a \u{fffd} byte", "rank 1 was ended", "last"]);
}

#[cfg(unix)]
#[test]
fn an_error_of_ranks_is_one_object_on_stdout() {
    let folder = scratch("svm-ranks-object");
    let args = ["svm", "train", "a.svm", "--ranks", "3", "--json"];
    let error = |ended: crate::Finished| -> Value {
        let object: Value = serde_json::from_str(&ended.expect(2).stdout).expect("one object");
        assert_eq!(object["error"]["exit_status"], 2);
        object["error"]["message"].clone()
    };
    let silent = Starter { folder: &folder, args: &args, object: " " };
    let words = "error: rank 1 has not answered for 3.6 s; all ranks end\n";
    assert_eq!(error(silent.begins_and_ends(words, 2)), "rank 1 has not answered for 3.6 s; all ranks end");
    assert_eq!(error(silent.begins_and_ends("", 2)), "the ranks ended with an error");
    let lost = "process rank 2 with PID 7 on node a exited on signal 9 (Killed).\n";
    assert!(error(silent.begins_and_ends(lost, 137)).to_string().contains("rank 2 was ended"));
    assert!(error(silent.ends(b"no slots\n", 1)).to_string().contains("before the ranks began"));
    // What ranks have printed is theirs, and printed once.
    let object = r#"{"error":{"message":"no rows","exit_status":2}}"#;
    let talkative = Starter { object, ..silent };
    assert_eq!(error(talkative.begins_and_ends("error: no rows\n", 2)), "no rows");
    let result = Starter { object: r#"{"status":"converged"}"#, ..silent }.begins_and_ends("", 0).expect(0);
    assert_eq!(result.stdout, "{\"status\":\"converged\"}\n");
}
