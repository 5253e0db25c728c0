//! Runs that are put aside, killed without warning, and gone on with.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::soak::{Draw, killed_after};
use crate::{Finished, TWO, command, endless_problem, equipoise, scratch, text, write};

/// Most times that one run is killed.
const MOST_KILLS: u32 = 40;

/// A JSON object without its times and the memory of its process.
fn timeless(json: &str) -> Value {
    let mut value: Value = serde_json::from_str(json).expect("JSON");
    let object = value.as_object_mut().expect("an object");
    object.retain(|name, _| !name.contains("seconds") && name != "peak_memory");
    value
}

/// A history without its times.
fn rows(path: &str) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a history");
    let without = |line: &str| -> String {
        let fields: Vec<&str> = line.split(',').collect();
        fields
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != 2)
            .map(|(_, field)| *field)
            .collect::<Vec<_>>()
            .join(",")
    };
    text.lines().map(without).collect()
}

/// Kills a command again and again at random moments, each time going on, until it ends; what it printed then, and how
/// often it was killed.
fn through_kills(make: &dyn Fn() -> Command, longest: f64, draw: &mut Draw) -> (Finished, u32) {
    for kills in 0..MOST_KILLS {
        if killed_after(make(), longest * draw.share()) {
            // It ended by itself; so it will again.
            return (make().output().expect("the command starts").into(), kills);
        }
    }
    (make().output().expect("the command starts").into(), MOST_KILLS)
}

/// Solves by random pairs, and trains three labels, each through kills: the numbers are those of one run.
pub(crate) fn survives_kills(folder: &Path, program: &dyn Fn(&[&str]) -> Command, seed: u64) -> u64 {
    let mut draw = Draw(seed);
    let (problem, seed) = (endless_problem(folder), (seed % 1000).to_string());
    let aside = text(&folder.join("run.ckpt"));
    let (whole, again) = (text(&folder.join("whole.csv")), text(&folder.join("again.csv")));
    let solve = ["solve", &problem, "--json", "--quiet", "--max-epochs", "600", "--seed", &seed];
    let resumed = ["--checkpoint", &aside, "--every", "0", "--resume"];
    let run = |args: &[&str]| -> Finished { program(args).output().expect("the command starts").into() };
    let one = run(&[&solve[..], &["--history", &whole]].concat()).expect(1);
    let make = || program(&[&solve[..], &resumed, &["--history", &again]].concat());
    let (other, kills) = through_kills(&make, 0.3, &mut draw);
    assert_eq!(timeless(&other.stdout), timeless(&one.stdout), "after {kills} kills");
    assert_eq!(rows(&again), rows(&whole), "after {kills} kills");
    // Nothing converged, so the file is still there.
    fs::remove_file(&aside).expect("it stays");

    let data = write(folder, "rows.svm", &labelled_rows());
    let train =
        ["svm", "train", &data, "--json", "--quiet", "--gap", "1e-9", "--method", "pairs", "--seed", &seed];
    let train = [&train[..], &["--max-epochs", "3000"]].concat();
    let models = [text(&folder.join("whole.json")), text(&folder.join("again.json"))];
    let one = run(&[&train[..], &["--model", &models[0], "--keep-partial"]].concat());
    let make = || program(&[&train[..], &resumed, &["--model", &models[1], "--keep-partial"]].concat());
    let (other, more) = through_kills(&make, 0.3, &mut draw);
    assert_eq!(other.status, one.status, "{}", other.stderr);
    assert_eq!(timeless(&other.stdout), timeless(&one.stdout), "after {more} kills");
    let [one, other] = models.map(|model| fs::read_to_string(model).expect("written"));
    assert_eq!(one, other, "after {more} kills");
    let _ = fs::remove_file(&aside);
    u64::from(kills + more)
}

/// Rows of three labels that overlap.
fn labelled_rows() -> String {
    let row = |k: u32| {
        let entry = |c: u32| {
            let shift = 0.2 * f64::from((k % 3) * (c % 4));
            format!("{c}:{}", shift + f64::from((k * k * c + 13 * k + c * c) % 89) / 89.0)
        };
        format!("{} {}", k % 3, (1..12).map(entry).collect::<Vec<_>>().join(" "))
    };
    (0..400).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_killed_run_goes_on_to_the_same_numbers() {
    survives_kills(&scratch("checkpoint-kills"), &command, 11);
}

#[test]
fn a_file_goes_away_when_its_run_has_converged() {
    let folder = scratch("checkpoint-done");
    let (problem, aside) = (write(&folder, "problem.toml", TWO), text(&folder.join("run.ckpt")));
    let args = ["solve", &problem, "--checkpoint", &aside, "--resume", "--every", "0"];
    equipoise(&args).expect(0).complains(&["run.ckpt is not there", "begins afresh"]);
    assert!(!Path::new(&aside).exists());
}

#[test]
fn a_file_that_is_there_is_gone_on_with_or_left_alone() {
    let folder = scratch("checkpoint-there");
    let (problem, aside) = (endless_problem(&folder), text(&folder.join("run.ckpt")));
    let solve = |options: &[&str]| {
        let args = ["solve", &problem, "--max-epochs", "30", "--checkpoint", &aside, "--every", "0"];
        equipoise(&[&args[..], options].concat())
    };
    solve(&[]).expect(1).complains(&["put aside", "run.ckpt", "--resume"]);
    let before = fs::read(&aside).expect("put aside");
    solve(&[]).expect(2).complains(&["run.ckpt is there already", "--resume"]);
    solve(&["--resume", "--seed", "7"]).expect(2).complains(&["another run", "seed is 7 here and 0 there"]);
    solve(&["--resume", "--tolerance", "1e-3"]).expect(2).complains(&["tolerance is 0.001 here"]);
    assert_eq!(fs::read(&aside).expect("there"), before);
    solve(&["--resume"]).expect(1).complains(&["going on with", "updates"]);
    // Other data, one number of them.
    let linear = fs::read_to_string(folder.join("linear.csv")).expect("there");
    fs::write(folder.join("linear.csv"), linear.replacen('3', "3.0000000001", 1)).expect("writable");
    solve(&["--resume"]).expect(2).complains(&["another run", "the data are not the same"]);
    fs::write(folder.join("linear.csv"), linear).expect("writable");
    // Another command, damaged, cut short, something else.
    let data = write(&folder, "rows.svm", &labelled_rows());
    let train = ["svm", "train", &data, "--checkpoint", &aside, "--resume"];
    equipoise(&train).expect(2).complains(&["it is of `solve`, not of `svm train`"]);
    let mut damaged = before.clone();
    damaged[before.len() / 2] ^= 1;
    for (bytes, word) in [
        (&damaged[..], "damaged"),
        (&before[..before.len() / 2 / 8 * 8], "cut short"),
        (&before[..before.len() - 3], "cut short"),
        (b"no checkpoint at all", "does not begin as a checkpoint"),
    ] {
        fs::write(&aside, bytes).expect("writable");
        solve(&["--resume"]).expect(2).complains(&["run.ckpt", word]);
        assert_eq!(fs::read(&aside).expect("there"), bytes);
    }
    equipoise(&["solve", &problem, "--checkpoint", &problem, "--resume"])
        .expect(2)
        .complains(&["is the input"]);
    equipoise(&["solve", &problem, "--every", "5"]).expect(2).complains(&["--checkpoint"]);
    let negative = text(&folder.join("none.ckpt"));
    equipoise(&["solve", &problem, "--checkpoint", &negative, "--every", "-1"])
        .expect(2)
        .complains(&["--every"]);
}

#[test]
fn several_threads_go_on_from_x_and_say_so() {
    let folder = scratch("checkpoint-threads");
    let (problem, aside) = (endless_problem(&folder), text(&folder.join("run.ckpt")));
    let args =
        ["solve", &problem, "--threads", "2", "--max-epochs", "30", "--checkpoint", &aside, "--every", "0"];
    equipoise(&args).expect(1);
    equipoise(&[&args[..], &["--resume"]].concat())
        .expect(1)
        .complains(&["several threads", "begins again at its x"]);
}

#[test]
#[cfg(unix)]
fn labels_that_were_not_trained_are_not_written_unasked() {
    let folder = scratch("checkpoint-untrained");
    let data = write(&folder, "rows.svm", &labelled_rows());
    let (model, history) = (folder.join("model.json"), text(&folder.join("run.csv")));
    for keep in [false, true] {
        let _ = fs::remove_file(&history);
        let name = text(&model);
        let endless = ["svm", "train", &data, "--model", &name, "--gap", "1e-300", "--method", "pairs"];
        let options = ["--history", &history, if keep { "--keep-partial" } else { "--quiet" }];
        let child = command(&[&endless[..], &options].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        for _ in 0..6000 {
            if fs::read_to_string(&history).is_ok_and(|rows| rows.lines().count() > 2) {
                break;
            }
            sleep(Duration::from_millis(10));
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill is there").success());
        let ended = Finished::from(child.wait_with_output().expect("it ends")).expect(1);
        assert_eq!(model.exists(), keep, "{}", ended.stderr);
        if !keep {
            ended.complains(&["2 of 3 labels were not trained", "--keep-partial"]);
        }
    }
}
