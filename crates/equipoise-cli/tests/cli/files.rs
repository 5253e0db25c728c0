//! Files that a command writes: whole, never over an input, never less than what was there.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::soak::files_survive;
use crate::{Finished, TWO, command, endless_problem, equipoise, scratch, text, write};

/// Names in a folder that a writer left behind.
fn drafts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| text(&entry.expect("an entry").path()));
    names.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "tmp")).collect()
}

/// A few rows that two labels share out, and the model they are trained to.
fn trained(folder: &Path) -> (String, String) {
    let row = |k: u32| format!("{} 1:{} 2:{}", if k.is_multiple_of(2) { "+1" } else { "-1" }, k % 7, k % 5);
    let rows = (0..40).map(row).collect::<Vec<_>>().join("\n");
    let (data, model) = (write(folder, "rows.svm", &rows), text(&folder.join("model.json")));
    equipoise(&["svm", "train", &data, "--model", &model, "--quiet"]).expect(0);
    (data, model)
}

#[test]
fn a_run_that_did_not_converge_leaves_a_better_solution_alone() {
    let folder = scratch("files-better");
    let problem = endless_problem(&folder);
    let out = text(&folder.join("x.json"));
    let few = |options: &[&str]| {
        equipoise(&[&["solve", &problem, "--max-updates", "5", "--quiet", "--out", &out], options].concat())
    };
    // Nothing is there: what there is is written.
    few(&[]).expect(1);
    assert!(fs::read_to_string(&out).expect("written").contains("iteration-limit"));
    let worse = r#"{"status": "time-limit", "kkt_residual": 1e300, "x": [0]}"#;
    for (old, stays) in [
        (r#"{"status": "converged", "duality_gap": 1e-3, "x": [1, 2]}"#, true),
        (r#"{"status": "time-limit", "duality_gap": 1e-300, "kkt_residual": 1, "x": [1]}"#, true),
        (worse, false),
        ("not a solution at all", false),
    ] {
        fs::write(&out, old).expect("writable");
        let ran = few(&[]).expect(1);
        assert_eq!(fs::read_to_string(&out).expect("there") == old, stays, "{old}: {}", ran.stderr);
        if stays {
            ran.complains(&["kept", "x.json", "--keep-partial"]);
            few(&["--keep-partial"]).expect(1);
            assert_ne!(fs::read_to_string(&out).expect("there"), old);
        }
    }
    assert!(drafts(&folder).is_empty());
}

#[test]
fn a_converged_run_replaces_anything() {
    let folder = scratch("files-converged");
    let problem = write(&folder, "problem.toml", TWO);
    let out = write(&folder, "x.json", r#"{"status": "converged", "duality_gap": 0, "x": [1, 2]}"#);
    equipoise(&["solve", &problem, "--out", &out, "--quiet"]).expect(0);
    assert!(fs::read_to_string(&out).expect("there").contains("\"updates\""));
}

#[test]
fn a_training_that_did_not_converge_leaves_a_better_model_alone() {
    let folder = scratch("files-model");
    let (data, model) = trained(&folder);
    let good = fs::read_to_string(&model).expect("written");
    assert!(good.contains("\"converged\":true") && good.contains("\"relative_gap\""), "{good}");
    let short = ["svm", "train", &data, "--model", &model, "--gap", "1e-300", "--max-epochs", "1"];
    let ran = equipoise(&short).expect(1).complains(&["kept", "model.json", "--keep-partial"]);
    assert!(ran.stdout.contains("not written"), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(&model).expect("there"), good);
    let liblinear = text(&folder.join("model.txt"));
    equipoise(&["svm", "train", &data, "--model", &liblinear, "--format", "liblinear", "--quiet"]).expect(0);
    let unsaid = fs::read_to_string(&liblinear).expect("written");
    let over = ["svm", "train", &data, "--model", &liblinear, "--gap", "1e-300", "--max-epochs", "1"];
    equipoise(&over).expect(1);
    assert_eq!(fs::read_to_string(&liblinear).expect("there"), unsaid);
    equipoise(&[&short[..], &["--keep-partial"]].concat()).expect(1);
    assert!(fs::read_to_string(&model).expect("there").contains("\"converged\":false"));
}

#[test]
fn a_walk_that_was_cut_short_leaves_the_model_of_a_whole_one_alone() {
    let folder = scratch("files-walk");
    let (data, model) = trained(&folder);
    let whole = fs::read_to_string(&model).expect("written");
    let steps = ["svm", "path", &data, "--test", &data, "--model", &model, "--quiet"];
    let cut = ["--from", "2", "--to", "2.001", "--steps", "1000000", "--time-limit", "2"];
    let walk = [&steps[..], &cut].concat();
    equipoise(&walk).expect(1).complains(&["time-limit", "kept", "model.json", "--keep-partial"]);
    assert_eq!(fs::read_to_string(&model).expect("there"), whole);
    equipoise(&[&walk[..], &["--keep-partial"]].concat()).expect(1);
    let partial = fs::read_to_string(&model).expect("there");
    assert!(partial != whole && partial.contains("\"converged\":true"), "{partial}");
    // A whole walk replaces anything, and nothing is lost where there is nothing.
    fs::write(&model, &whole).expect("writable");
    equipoise(&[&steps[..], &["--costs", "0.5,2"]].concat()).expect(0);
    assert_ne!(fs::read_to_string(&model).expect("there"), whole);
    fs::remove_file(&model).expect("there");
    equipoise(&walk).expect(1);
    assert!(fs::read_to_string(&model).expect("written").contains("\"converged\":true"));
}

#[test]
fn a_point_off_its_rows_replaces_none_that_meets_them() {
    let folder = scratch("files-feasible");
    let problem = endless_problem(&folder);
    let out = text(&folder.join("x.json"));
    let few = ["solve", &problem, "--max-updates", "5", "--quiet", "--out", &out];
    for (old, stays) in [
        (r#"{"status": "stalled", "duality_gap": 1e-300, "relative_infeasibility": 0.1, "x": [1]}"#, false),
        (r#"{"status": "stalled", "duality_gap": 1e-300, "relative_infeasibility": 1e-12, "x": [1]}"#, true),
    ] {
        fs::write(&out, old).expect("writable");
        equipoise(&few).expect(1);
        assert_eq!(fs::read_to_string(&out).expect("there") == old, stays, "{old}");
    }
}

#[test]
fn an_iterate_of_which_little_can_be_said_is_written_all_the_same() {
    let folder = scratch("files-overflow");
    let words = "[smooth]\nkind = \"least-squares\"\n\
                 matrix = [[5e299, 1.0000000008849259e300, 9.999999995183858e299], \
                 [-1.9261459626987997e299, 9.999999993774069e299, 7.5e299], \
                 [0.0, 1.0000000001316953e300, 9.99999999526207e299]]\n\
                 target = [-4.300921842816663e99, -1.2788647108685304e99, 2.5e99]\n\
                 [separable]\nkind = \"non-negative\"\n";
    let problem = write(&folder, "problem.toml", words);
    let out = text(&folder.join("x.json"));
    let ran = equipoise(&["solve", &problem, "--out", &out, "--json"]).expect(1);
    let json = ran.json();
    assert_eq!(json["status"], "stalled");
    assert_eq!(json["x"].as_array().map(Vec::len), Some(3));
    assert!(fs::read_to_string(&out).expect("written").contains("\"x\":["));
    let again = equipoise(&["verify", &problem, &out]);
    assert!(again.expect(1).stdout.contains("not met"));
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = scratch("files-inputs");
    let problem = endless_problem(&folder);
    let chain = text(&folder.join("chain.mtx"));
    let before = fs::read(&problem).expect("there");
    let link = text(&folder.join("link"));
    fs::hard_link(&problem, &link).expect("a link");
    for out in [&problem, &chain, &link] {
        for option in ["--out", "--history"] {
            let ran = equipoise(&["solve", &problem, option, out]).expect(2);
            ran.complains(&["cannot write", out, "it is the input"]);
        }
    }
    #[cfg(unix)]
    {
        let soft = text(&folder.join("soft"));
        std::os::unix::fs::symlink("problem.toml", &soft).expect("a link");
        equipoise(&["solve", &problem, "--out", &soft]).expect(2).complains(&["it is the input"]);
    }
    let both = text(&folder.join("both"));
    let ran = equipoise(&["solve", &problem, "--out", &both, "--history", &both]).expect(2);
    ran.complains(&["is to be written, too"]);
    assert!(!Path::new(&both).exists());
    assert_eq!(fs::read(&problem).expect("there"), before);
    let (data, model) = trained(&folder);
    equipoise(&["svm", "train", &data, "--model", &data]).expect(2).complains(&["it is the input"]);
    for input in [&data, &model] {
        let ran = equipoise(&["svm", "predict", &data, "--model", &model, "--out", input]).expect(2);
        ran.complains(&["it is the input"]);
    }
}

#[test]
#[cfg(unix)]
fn a_killed_run_leaves_the_old_file_whole() {
    let folder = scratch("files-killed");
    let (problem, out) = (endless_problem(&folder), folder.join("x.json"));
    fs::write(&out, "old and whole").expect("writable");
    let history = text(&folder.join("run.csv"));
    let mut child = command(&["solve", &problem, "--quiet", "--out", &text(&out), "--history", &history])
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    for _ in 0..6000 {
        if fs::read_to_string(&history).is_ok_and(|rows| rows.lines().count() > 1) {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    child.kill().expect("killed");
    child.wait().expect("it ends");
    assert_eq!(fs::read_to_string(&out).expect("there"), "old and whole");
    let rows = fs::read_to_string(&history).expect("a history");
    assert!(rows.ends_with('\n') && rows.starts_with("update,epoch"), "{rows}");
}

#[test]
#[cfg(unix)]
fn commands_killed_at_any_moment_leave_the_old_file_or_the_new_one() {
    files_survive(&scratch("files-any-moment"), 5, 15);
}

/// A disk of little room, which only root can have made.
#[cfg(unix)]
struct SmallDisk(std::path::PathBuf);

#[cfg(unix)]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
#[cfg(unix)]
fn a_full_disk_costs_neither_old_files_nor_the_run() {
    let (folder, disk) = (scratch("files-no-room"), scratch("files-small-disk"));
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16k", "tmpfs", &text(&disk)])
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("skipped: no small disk can be mounted here");
        return;
    }
    let disk = SmallDisk(disk);
    let problem = endless_problem(&folder);
    let (out, aside) = (disk.0.join("x.json"), text(&disk.0.join("run.ckpt")));
    fs::write(&out, "old").expect("there is room");
    let solve = ["solve", &problem, "--max-epochs", "20", "--checkpoint", &aside, "--every", "0"];
    // Checkpoints do not fit: a warning, and the run goes on to its result, which is not written either.
    let ran = equipoise(&[&solve[..], &["--out", &text(&out)]].concat()).expect(2);
    ran.complains(&["warning", "run.ckpt", "goes on without this checkpoint", "cannot write", "x.json"]);
    assert_eq!(fs::read_to_string(&out).expect("there"), "old");
    let ran = equipoise(&solve).expect(1);
    assert!(ran.stderr.contains("iteration-limit") || ran.stdout.contains("iteration-limit"), "{ran:?}");
    assert_eq!(fs::read_dir(&disk.0).expect("a folder").count(), 1, "a draft was left behind");
}

#[test]
#[cfg(unix)]
fn a_full_disk_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let problem = write(&scratch("files-full"), "problem.toml", TWO);
    equipoise(&["solve", &problem, "--out", "/dev/full"]).expect(2).complains(&["cannot write /dev/full"]);
}

#[test]
fn a_limit_that_comes_before_any_result_writes_nothing_and_says_what_was_going_on() {
    let folder = scratch("files-limit");
    let problem = endless_problem(&folder);
    let (out, history) = (folder.join("x.json"), folder.join("run.csv"));
    fs::write(&history, "an old history").expect("writable");
    let ran = equipoise(&[
        "solve",
        &problem,
        "--time-limit",
        "1e-9",
        "--out",
        &text(&out),
        "--history",
        &text(&history),
    ]);
    ran.expect(2).complains(&["time limit reached while", "was read", "nothing was written"]);
    assert!(!out.exists() && drafts(&folder).is_empty());
    assert_eq!(fs::read_to_string(&history).expect("there"), "an old history");
    // The limit of the problem file counts as well, from the same moment.
    let limited =
        fs::read_to_string(&problem).expect("there").replace("[solve]", "[solve]\ntime-limit = 1e-9");
    let limited = write(&folder, "limited.toml", &limited);
    equipoise(&["solve", &limited]).expect(2).complains(&[
        "time limit reached",
        "chain.mtx",
        "nothing was written",
    ]);
}

/// Time runs out while data are still coming: the model that is there stays.
#[test]
fn a_limit_binds_while_data_are_read() {
    let folder = scratch("files-limit-reading");
    let model = folder.join("model.json");
    fs::write(&model, "a good old file").expect("writable");
    let mut child = command(&["svm", "train", "-", "--model", &text(&model), "--time-limit", "0.2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let data = child.stdin.take().expect("piped");
    let ran = Finished::from(child.wait_with_output().expect("it ends while its data are open")).expect(2);
    ran.complains(&["time limit reached while standard input was read; nothing was written"]);
    assert_eq!(fs::read_to_string(&model).expect("there"), "a good old file");
    drop(data);
}
