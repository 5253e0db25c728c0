//! A run on ranks that is put aside: every rank keeps its own share, in files of its own.
//!
//! ```text
//! FILE.rank-K.0, FILE.rank-K.1      in turn; the words are those of a snapshot behind the number of the step
//! ```
//!
//! Whoever is killed while ranks write leaves some with the new step and all with the one before: a rank begins to write a step only
//! after all have written the one before, and writes it over the one before that. A run goes on with the last step that all have.
//!
//! - Given: `--checkpoint`, `--every`, `--resume`; which run it is, once that is known; snapshots as they come.
//! - Returns: the snapshot of this rank to go on with, or on all ranks an error that says which rank and file, and what differs.
//! - Must not know: what is in a snapshot.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use equipoise::Control;
use equipoise::collective::Collective;
use equipoise_formats::check_writable;
use equipoise_formats::checkpoint_file::{CheckpointFile, RunIdentity, read_checkpoint, write_checkpoint};
use equipoise_models::svm::{TrainKeeper, TrainSnapshot};

use crate::args::Checkpointing;
use crate::exit::note;
use crate::ranks::together;

/// The files of this rank, and what is there.
#[derive(Debug)]
pub(crate) struct Shard {
    files: [PathBuf; 2],
    every: Duration,
    found: Vec<(PathBuf, CheckpointFile)>,
    quiet: bool,
}

/// What this rank goes on with.
#[derive(Debug)]
pub(crate) struct TakenUp {
    pub(crate) snapshot: TrainSnapshot,
    pub(crate) history: String,
    step: u64,
}

impl Shard {
    /// Looks at what is there before any work, on every rank; `None` where no checkpoints are wanted.
    pub(crate) fn look(
        args: &Checkpointing,
        world: &dyn Collective,
        quiet: bool,
        control: &Control,
    ) -> Result<Option<Self>> {
        let Some(path) = args.checkpoint.as_deref() else { return Ok(None) };
        let file = |turn: usize| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".rank-{}.{turn}", world.rank()));
            PathBuf::from(name)
        };
        let files = [file(0), file(1)];
        let own = || -> Result<Self> {
            let Ok(every) = Duration::try_from_secs_f64(args.every()) else {
                bail!("--every: found {}, allowed: seconds, at least 0", args.every());
            };
            let mut found = Vec::new();
            for file in &files {
                check_writable(file)?;
                if fs::symlink_metadata(file).is_err() {
                    continue;
                }
                if !args.resume {
                    bail!(
                        "{} is there already; --resume goes on with the run in it, or name another file",
                        file.display()
                    );
                }
                found.push((file.clone(), read_checkpoint(file, control)?));
            }
            Ok(Self { files: files.clone(), every, found, quiet })
        };
        together(world, own()).map(Some)
    }

    /// The last step that all ranks have, once it is known to be of this run.
    pub(crate) fn take_up(&self, run: &RunIdentity, world: &dyn Collective) -> Result<Option<TakenUp>> {
        let same = || -> Result<()> {
            for (path, file) in &self.found {
                if let Some(what) = run.differs_from(&file.run) {
                    bail!(
                        "{} is of another run: {what}; name another file, or run with what it was begun with",
                        path.display()
                    );
                }
            }
            Ok(())
        };
        together(world, same())?;
        let steps: Vec<f64> =
            self.found.iter().filter_map(|(_, file)| step(file)).map(|s| s as f64).collect();
        let of_all = world.lists(&steps)?;
        if of_all.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let is_common = |step: &&f64| of_all.iter().all(|steps| steps.contains(step));
        let latest = of_all[0].iter().filter(is_common).copied().fold(f64::NEG_INFINITY, f64::max);
        let own = || -> Result<TakenUp> {
            let found = self.found.iter().find(|(_, file)| step(file).is_some_and(|s| s as f64 == latest));
            let Some((_, file)) = found else {
                bail!(
                    "{} and {}: other ranks have steps that are not there; name another file, or bring these",
                    self.files[0].display(),
                    self.files[1].display()
                );
            };
            let snapshot = TrainSnapshot::from_words(&file.words[1..])?;
            Ok(TakenUp { snapshot, history: file.history.clone(), step: file.words[0] })
        };
        together(world, own()).map(Some)
    }

    /// Says where the run begins.
    pub(crate) fn announce(&self, taken_up: Option<&TakenUp>, resume: bool) {
        if self.quiet {
            return;
        }
        match taken_up {
            Some(TakenUp { snapshot, .. }) => {
                note(format_args!("note: all ranks go on after {} updates", snapshot.updates()));
            }
            None if resume => note("note: there is no checkpoint: the run begins afresh"),
            None => {}
        }
    }

    /// Whoever writes the checkpoints of this rank from here on.
    pub(crate) fn keeper(
        &self,
        run: RunIdentity,
        taken_up: Option<&TakenUp>,
        history: Option<Arc<Mutex<String>>>,
    ) -> ShardKeeper {
        ShardKeeper {
            files: self.files.clone(),
            every: self.every,
            last: Instant::now(),
            step: taken_up.map_or(0, |taken_up| taken_up.step),
            run,
            history,
        }
    }

    /// The run is over and its result written: what is not needed any more goes away.
    pub(crate) fn finish(&self, converged: bool) {
        let are_there = self.files.iter().any(|file| fs::symlink_metadata(file).is_ok());
        if converged {
            // What stays is refused or gone on with next time; nothing is lost.
            self.files.iter().for_each(|file| drop(fs::remove_file(file)));
        } else if are_there && !self.quiet {
            note("note: the run is put aside by every rank; --resume goes on with it");
        }
    }
}

/// The number of the step that a file is of.
fn step(file: &CheckpointFile) -> Option<u64> {
    file.words.first().copied().filter(|step| *step < 1 << 53)
}

/// Writes the checkpoints of one rank.
#[derive(Debug)]
pub(crate) struct ShardKeeper {
    files: [PathBuf; 2],
    every: Duration,
    last: Instant,
    step: u64,
    run: RunIdentity,
    history: Option<Arc<Mutex<String>>>,
}

impl TrainKeeper for ShardKeeper {
    fn is_due(&mut self) -> bool {
        self.last.elapsed() >= self.every
    }

    fn keep(&mut self, snapshot: &TrainSnapshot) {
        let rows = |rows: &Arc<Mutex<String>>| rows.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let history = self.history.as_ref().map(rows).unwrap_or_default();
        self.step += 1;
        let words = [&[self.step], &snapshot.to_words()[..]].concat();
        let file = CheckpointFile { run: self.run.clone(), history, words };
        let turn = usize::from(self.step % 2 == 1);
        // Said on every rank: a disk may be one machine's own.
        if let Err(error) = write_checkpoint(&self.files[turn], &file) {
            note(format_args!("warning: {error}; the run goes on without this checkpoint"));
        }
        self.last = Instant::now();
    }
}
