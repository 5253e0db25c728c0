//! Files under hostile conditions: writers that are killed inside a write, disks without room.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use equipoise::Control;
use equipoise_formats::checkpoint_file::{
    CheckpointFile, Digest, RunIdentity, read_checkpoint, write_checkpoint,
};
use equipoise_formats::{Error, write_whole};
use std::io::{ErrorKind, Write};

/// Where the writer that is to be killed writes.
const PLACE: &str = "EQUIPOISE_TEST_PLACE";
/// Bytes of a file: many writes to the disk.
const SIZE: usize = 3 << 20;
const KILLS: u64 = 60;

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole-file").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn checkpoint(words: usize) -> CheckpointFile {
    let run = RunIdentity::new("solve", Vec::new(), &Digest::default());
    CheckpointFile { run, history: String::new(), words: (0..words as u64).collect() }
}

/// A process of its own: one file after another, each of one letter, and one checkpoint after another.
#[test]
#[ignore = "started by `a_writer_that_is_killed_leaves_a_whole_file`, which kills it"]
fn writes_for_ever() {
    let Some(folder) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    for round in 0_usize.. {
        let letter = vec![b'a' + (round % 26) as u8; SIZE];
        write_whole(folder.join("letters"), |out| out.write_all(&letter)).expect("written");
        write_checkpoint(folder.join("checkpoint"), &checkpoint(SIZE / 8 - round % 100)).expect("written");
    }
}

#[test]
fn a_writer_that_is_killed_leaves_a_whole_file() {
    let folder = scratch("killed");
    let (letters, aside) = (folder.join("letters"), folder.join("checkpoint"));
    let own = std::env::current_exe().expect("a test binary");
    let mut random = 12345_u64;
    for kill in 0..KILLS {
        let mut child = Command::new(&own)
            .args(["--ignored", "--exact", "whole_file::writes_for_ever", "--test-threads", "1"])
            .env(PLACE, &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let begun = Instant::now();
        while kill == 0 && !aside.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
            sleep(Duration::from_millis(5));
        }
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        sleep(Duration::from_micros(2_000 + (random >> 33) % 60_000));
        child.kill().expect("killed");
        child.wait().expect("it ends");
        let found = fs::read(&letters).expect("there");
        assert!(found.len() == SIZE && found.iter().all(|letter| *letter == found[0]), "kill {kill}");
        let found = read_checkpoint(&aside, &Control::unlimited()).expect("whole");
        assert_eq!(found, checkpoint(found.words.len()), "kill {kill}");
    }
}

/// A disk of little room, which only root can have made.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(name: &str) -> Option<Self> {
        let folder = scratch(name);
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(&folder)
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let Some(disk) = SmallDisk::new("full") else {
        println!("skipped: no small disk can be mounted here");
        return;
    };
    let (letters, aside) = (disk.0.join("letters"), disk.0.join("checkpoint"));
    write_whole(&letters, |out| out.write_all(b"old")).expect("there is room");
    write_checkpoint(&aside, &checkpoint(10)).expect("there is room");
    let refused = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::Io { kind: ErrorKind::StorageFull, .. })), "{result:?}");
    };
    for _ in 0..3 {
        refused(write_whole(&letters, |out| out.write_all(&vec![b'x'; SIZE])));
        refused(write_checkpoint(&aside, &checkpoint(SIZE / 8)));
    }
    assert_eq!(fs::read(&letters).expect("there"), b"old");
    assert_eq!(read_checkpoint(&aside, &Control::unlimited()).expect("whole"), checkpoint(10));
    assert_eq!(fs::read_dir(&disk.0).expect("a folder").count(), 2, "a draft was left behind");
}
