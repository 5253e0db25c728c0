//! A command that may not go on for ever: what it said, and whether it succeeded.
//!
//! It runs in a process group of its own, which is ended as a whole when the time is up; what it says goes to a file, so that a
//! grandchild that holds on to a pipe delays nobody. It has nothing to read.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs a command whose words are kept in `said`; one that is not done within `longest` is ended, and has failed.
pub(crate) fn within(mut command: Command, longest: Duration, said: &Path) -> Result<(String, bool)> {
    let file = File::create(said).with_context(|| format!("cannot write {}", said.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().context("cannot start sh")?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() >= longest {
            end(&mut child)?;
            break None;
        }
        thread::sleep(PAUSE);
    };
    let mut words = String::from_utf8_lossy(&fs::read(said)?).into_owned();
    if status.is_none() {
        let _ = writeln!(words, "(ended after {:.0} s)", longest.as_secs_f64());
    }
    fs::remove_file(said)?;
    Ok((words, status.is_some_and(|status| status.success())))
}

/// Ends a command and all that it started.
fn end(child: &mut Child) -> Result<()> {
    if cfg!(unix) {
        // The shell's own `kill`: a group is beyond the standard library.
        let group = format!("kill -KILL -{}", child.id());
        Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status()?;
    } else {
        child.kill()?;
    }
    child.wait()?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, longest: Duration, name: &str) -> (String, bool) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let said = std::env::temp_dir().join(format!("equipoise-documents-{name}-{}", std::process::id()));
        within(command, longest, &said).expect("a shell")
    }

    #[test]
    fn words_and_success_are_those_of_the_command() {
        let long = Duration::from_secs(60);
        assert_eq!(sh("echo one; echo two >&2", long, "words"), ("one\ntwo\n".into(), true));
        assert_eq!(sh("echo one; exit 3", long, "fails"), ("one\n".into(), false));
        assert_eq!(sh("cat", long, "reads"), (String::new(), true));
    }

    /// The command waits for a child that waits for ever, and both are gone afterwards.
    #[test]
    fn a_command_without_an_end_is_ended_with_its_children() {
        let (words, succeeded) = sh("sleep 100000 & echo $!; wait", Duration::from_millis(300), "ends");
        assert!(!succeeded && words.contains("(ended after"), "{words}");
        let child = words.lines().next().expect("its id");
        let mut tries = 0..200;
        let is_gone = tries.any(|_| {
            thread::sleep(Duration::from_millis(10));
            let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        });
        assert!(is_gone || !Path::new("/proc").exists(), "{child} is still there");
    }
}
