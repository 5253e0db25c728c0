//! A run that is put aside in a file, and goes on another time.
//!
//! - Given: `--checkpoint`, `--every`, `--resume`; which run it is, once that is known; snapshots as they come.
//! - Returns: the snapshot to go on with, or an error that says what differs.
//! - Must not know: what is in a snapshot.
//!
//! A file that is there is gone on with or left alone: without `--resume` it is refused. It goes away once its run has
//! converged and the result is written. A checkpoint that cannot be written ends nothing: the run is worth more.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use equipoise::{Control, Keeper, Snapshot};
use equipoise_formats::checkpoint_file::{CheckpointFile, RunIdentity, read_checkpoint, write_checkpoint};
use equipoise_models::svm::{TrainKeeper, TrainSnapshot};

use crate::args::Checkpointing;
use crate::exit::note;

/// The file of `--checkpoint`, and what is there.
#[derive(Debug)]
pub(crate) struct Aside<'a> {
    path: &'a Path,
    every: Duration,
    found: Option<CheckpointFile>,
    quiet: bool,
}

impl<'a> Aside<'a> {
    /// Looks at what is there before any work; `None` where no checkpoints are wanted.
    pub(crate) fn look(args: &'a Checkpointing, quiet: bool, control: &Control) -> Result<Option<Self>> {
        let Some(path) = args.checkpoint.as_deref() else { return Ok(None) };
        let Ok(every) = Duration::try_from_secs_f64(args.every()) else {
            bail!("--every: found {}, allowed: seconds, at least 0", args.every());
        };
        let is_there = fs::symlink_metadata(path).is_ok();
        if is_there && !args.resume {
            bail!(
                "{} is there already; --resume goes on with the run in it, or name another file",
                path.display()
            );
        }
        let found = if is_there { Some(read_checkpoint(path, control)?) } else { None };
        Ok(Some(Self { path, every, found, quiet }))
    }

    /// The words of the run that is there, once it is known to be this one.
    pub(crate) fn words(&self, run: &RunIdentity) -> Result<Option<&[u64]>> {
        let Some(found) = &self.found else { return Ok(None) };
        match run.differs_from(&found.run) {
            None => Ok(Some(&found.words)),
            Some(what) => bail!(
                "{} is of another run: {what}; name another file, or run with what it was begun with",
                self.path.display()
            ),
        }
    }

    /// The rows of its history.
    pub(crate) fn history(&self) -> &str {
        self.found.as_ref().map_or("", |found| &found.history)
    }

    /// Says where the run begins: in the middle, or at its beginning.
    pub(crate) fn announce(&self, updates: Option<u64>, exact: bool, resume: bool) {
        if self.quiet {
            return;
        }
        let path = self.path.display();
        match updates {
            Some(updates) if exact => {
                note(format_args!("note: going on with {path} after {updates} updates"));
            }
            Some(updates) => note(format_args!(
                "note: {path} is of several threads: the run begins again at its x, which took {updates} updates"
            )),
            None if resume => note(format_args!("note: {path} is not there: the run begins afresh")),
            None => {}
        }
    }

    /// Whoever writes the checkpoints of this run from here on.
    pub(crate) fn keeper(&self, run: RunIdentity, history: Option<Arc<Mutex<String>>>) -> FileKeeper<'a> {
        FileKeeper {
            path: self.path,
            every: self.every,
            last: Instant::now(),
            run,
            history,
            quiet: self.quiet,
        }
    }

    /// The run is over and its result written: what is not needed any more goes away.
    pub(crate) fn finish(&self, converged: bool) {
        if fs::symlink_metadata(self.path).is_err() {
            return;
        }
        if converged {
            // What stays is refused or gone on with next time; nothing is lost.
            let _ = fs::remove_file(self.path);
        } else if !self.quiet {
            let path = self.path.display();
            note(format_args!("note: the run is put aside in {path}; --resume goes on with it"));
        }
    }
}

/// Writes checkpoints.
#[derive(Debug)]
pub(crate) struct FileKeeper<'a> {
    path: &'a Path,
    every: Duration,
    last: Instant,
    run: RunIdentity,
    history: Option<Arc<Mutex<String>>>,
    quiet: bool,
}

impl FileKeeper<'_> {
    fn is_time(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    fn write(&mut self, words: Vec<u64>) {
        let rows = |rows: &Arc<Mutex<String>>| rows.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let history = self.history.as_ref().map(rows).unwrap_or_default();
        let file = CheckpointFile { run: self.run.clone(), history, words };
        if let Err(error) = write_checkpoint(self.path, &file)
            && !self.quiet
        {
            note(format_args!("warning: {error}; the run goes on without this checkpoint"));
        }
        // From the end of the writing: a slow disk does not take the time of the run.
        self.last = Instant::now();
    }
}

impl Keeper for FileKeeper<'_> {
    fn is_due(&mut self) -> bool {
        self.is_time()
    }

    fn keep(&mut self, snapshot: Snapshot) {
        self.write(snapshot.to_words());
    }
}

impl TrainKeeper for FileKeeper<'_> {
    fn is_due(&mut self) -> bool {
        self.is_time()
    }

    fn keep(&mut self, snapshot: &TrainSnapshot) {
        self.write(snapshot.to_words());
    }
}
