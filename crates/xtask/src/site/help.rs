//! The help of every command as pages, from the program itself.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::check::target_folder;

/// Writes a page for every command to the folder `commands`; their names.
pub(super) fn write(pages: &Path) -> Result<Vec<String>> {
    let folder = pages.join("commands");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut names = Vec::new();
    for command in below(&asked(&[])?) {
        let mut page = format!("# equipoise {command}\n\n");
        describe(&[command.as_str()], &mut page)?;
        let name = format!("commands/{command}.md");
        fs::write(pages.join(&name), page)?;
        names.push(name);
    }
    ensure!(names.len() >= 10, "only {} commands were found in the help", names.len());
    Ok(names)
}

/// Appends the help of a command and of all commands below it.
fn describe(words: &[&str], page: &mut String) -> Result<()> {
    let help = asked(words)?;
    if words.len() > 1 {
        let _ = writeln!(page, "## equipoise {}\n", words.join(" "));
    }
    let _ = writeln!(page, "```text\n{}\n```\n", help.trim_end());
    below(&help).iter().try_for_each(|next| describe(&[words, &[next.as_str()]].concat(), page))
}

fn asked(words: &[&str]) -> Result<String> {
    let program = target_folder().join("debug/equipoise");
    let output = Command::new(&program).args(words).arg("--help").output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(output.status.success(), "`equipoise {} --help` failed", words.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The commands that a help lists.
fn below(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let listed = lines.take_while(|line| !line.trim().is_empty());
    // A line that goes on from the one above is indented further.
    let own = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).filter_map(first);
    own.filter(|name| name != "help").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_help() {
        let help = "What it is\n\nUsage: x\n\nCommands:\n  solve  Solve\n  svm    Train and\n         more\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(below(help), ["solve", "svm"]);
        assert!(below("Usage: x\n").is_empty());
    }
}
