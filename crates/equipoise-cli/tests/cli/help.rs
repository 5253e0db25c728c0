//! Help texts, the version, completions and the demo.

use equipoise::Settings;

use crate::equipoise;

#[test]
fn help_has_examples_and_the_library_s_defaults() {
    let svm = ["train", "predict", "cv", "path"].map(|command| ["svm", command, "--help"]);
    let others = [&["--help"][..], &["solve", "--help"], &["verify", "--help"], &["generate", "--help"]];
    for command in others.into_iter().chain([&["svm", "--help"][..]]).chain(svm.iter().map(|args| &args[..]))
    {
        let ran = equipoise(command).expect(0);
        assert!(ran.stdout.contains("EXAMPLES"), "{}", ran.stdout);
    }
    let default = Settings::default();
    // Long lines are wrapped: compare word by word.
    let help = equipoise(&["solve", "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("and auto where a SIZE is given, read a matrix that is larger"), "{help}");
    for (option, value) in [
        ("--tolerance", Some(format!("{:e}", default.tolerance))),
        ("--time-limit", default.time_limit.map(|limit| limit.to_string())),
        ("--max-epochs", default.max_epochs.map(|limit| limit.to_string())),
        ("--max-updates", default.max_updates.map(|limit| limit.to_string())),
        ("--seed", Some(default.seed.to_string())),
        ("--threads", Some(default.threads.to_string())),
        ("--delay-us", Some("0".into())),
    ] {
        let value = value.unwrap_or_else(|| "no limit".into());
        let after = help.split(&format!("{option} <")).nth(1).expect("the option is listed");
        let quoted = after.split("[default: ").nth(1).and_then(|text| text.split(']').next());
        assert_eq!(quoted, Some(value.as_str()), "{option}");
    }
}

#[test]
fn version() {
    let first = format!("equipoise {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(equipoise(&["-V"]).expect(0).stdout, first);
    let long = equipoise(&["--version"]).expect(0).stdout;
    assert!(
        long.starts_with(&first) && long.contains("\ncommit ") && long.contains(std::env::consts::ARCH),
        "{long}"
    );
    assert_eq!(long.lines().count(), 3, "{long}");
}

#[test]
fn manual_pages_of_every_command() {
    let folder = crate::scratch("man");
    let ran = equipoise(&["man", &crate::text(&folder)]).expect(0);
    let pages = std::fs::read_dir(&folder).expect("a folder").count();
    assert!(ran.stdout.starts_with(&format!("{pages} pages in ")) && pages > 25, "{}", ran.stdout);
    let train = std::fs::read_to_string(folder.join("equipoise-svm-train.1")).expect("a page");
    for words in [".TH", "class\\-weight", "probabilities", "EXAMPLES"] {
        assert!(train.contains(words), "no {words}");
    }
    let file = crate::write(&folder, "file", "");
    equipoise(&["man", &format!("{file}/below")]).expect(2).complains(&["cannot make the folder"]);
}

#[test]
fn completions_for_shells() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = equipoise(&["completions", shell]).expect(0);
        assert!(ran.stdout.contains("equipoise") && ran.stdout.contains("warm-start"), "{shell}");
        for option in ["threads", "locking", "delay-us", "step-rule", "deterministic"] {
            assert!(ran.stdout.contains(option), "{option}: {shell}");
        }
        assert!(ran.stdout.contains("class-weight") && ran.stdout.contains("one-class"), "{shell}");
    }
    equipoise(&["completions", "cobol"]).expect(2);
}

#[test]
fn the_demo_is_a_race_that_the_default_finishes_and_a_page() {
    let folder = crate::scratch("demo");
    let out = crate::text(&folder.join("race.html"));
    let ran = equipoise(&["demo", "--out", &out]).expect(0);
    for words in ["A race", "random pairs (the paper)", "equipoise (default)", "accuracy", "=|", &out] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!(ran.stderr, "");
    let html = std::fs::read_to_string(&out).expect("a page");
    for words in ["What is proven", "equipoise (default)</button>", "equipoise report run.csv"] {
        assert!(html.contains(words), "{words}");
    }
    equipoise(&["demo", "--out", &crate::text(&folder.join("nowhere/race.html"))])
        .expect(2)
        .complains(&["nowhere", "race.html"]);
}
