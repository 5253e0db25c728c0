//! The commands of docs/fused.md, run as they are shown, with the outcome that is shown.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::scratch;

/// Whether a line is the one shown, in which `...` stands for anything.
fn is_shown(shown: &str, line: &str) -> bool {
    let mut rest = line;
    for (k, part) in shown.split("...").enumerate() {
        match rest.find(part) {
            Some(0) => rest = &rest[part.len()..],
            Some(at) if k > 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    shown.ends_with("...") || rest.is_empty()
}

#[test]
fn every_command_of_the_page_does_what_it_shows() {
    let folder = scratch("fused-tutorial");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fused.md");
    let page = fs::read_to_string(page).expect("the page");
    let program = Path::new(env!("CARGO_BIN_EXE_equipoise")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), env::var("PATH").unwrap_or_default());
    let mut commands = 0;
    for block in page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for entry in block.split("$ ").skip(1) {
            let (typed, shown) = entry.split_once('\n').unwrap_or((entry, ""));
            let output = Command::new("sh")
                .args(["-c", typed])
                .current_dir(&folder)
                .env("PATH", &path)
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{typed}: {}", String::from_utf8_lossy(&output.stderr));
            let (shown, said): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), said.lines().collect());
            assert!(
                shown.len() == said.len()
                    && shown.iter().zip(&said).all(|(shown, line)| is_shown(shown, line)),
                "{typed}\nshown: {shown:#?}\nfound: {said:#?}"
            );
            commands += 1;
        }
    }
    assert!(commands >= 6, "only {commands} commands were found");
}
