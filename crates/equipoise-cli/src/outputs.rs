//! What a command may write: never over one of its inputs, and never less than what is there already.
//!
//! - Given: the files that a command reads and those that it is to write, before any work; how far its run came, after it.
//! - Returns: an error that names the file, or whether what is there stays.
//! - Must not know: what is in the files.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, bail};
use equipoise::Control;
use equipoise_formats::{PointStanding, Standing, check_writable, fit_file, read_solution, svm_model};

use crate::exit::{self, note};

/// Refuses outputs that cannot be written, that are one of the inputs (also by a link), or one another.
pub(crate) fn check(outputs: &[Option<&Path>], inputs: &[Option<&Path>]) -> Result<()> {
    let outputs: Vec<&Path> = outputs.iter().flatten().copied().collect();
    for (k, output) in outputs.iter().enumerate() {
        if output.as_os_str() == "-" {
            exit::take_stdout()?;
            continue;
        }
        if let Some(input) = inputs.iter().flatten().find(|input| is_same_file(output, input)) {
            bail!(
                "cannot write {}: it is the input {}; name another file",
                output.display(),
                input.display()
            );
        }
        if let Some(other) = outputs[..k].iter().find(|other| is_same_file(output, other)) {
            bail!(
                "cannot write {}: {} is to be written, too; name another file",
                output.display(),
                other.display()
            );
        }
        check_writable(output)?;
    }
    Ok(())
}

/// Whether two paths lead to one file that has content of its own.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(a), Ok(b)) => a.is_file() && b.is_file() && (is_one_node(&a, &b) || is_one_path(one, other)),
        // Neither is there yet.
        (Err(_), Err(_)) => is_one_path(one, other),
        _ => false,
    }
}

#[cfg(unix)]
fn is_one_node(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_one_node(_: &Metadata, _: &Metadata) -> bool {
    false
}

fn is_one_path(one: &Path, other: &Path) -> bool {
    resolved(one).is_some_and(|one| resolved(other) == Some(one))
}

/// The path without links; of a file that is not there yet, its folder's.
fn resolved(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    })
}

/// Which file a command's result goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Solution,
    Model,
    /// The JSON object of a fitted model.
    Fit,
}

/// A result's place, and what is there.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    path: &'a Path,
    sort: Sort,
    seen: Option<(SystemTime, u64)>,
    /// That of the file there, if it is one of this sort.
    standing: Option<PointStanding>,
}

impl<'a> Place<'a> {
    /// Looks at what is there, before a run: afterwards there may be no time for it.
    pub(crate) fn look(path: &'a Path, sort: Sort, control: &Control) -> Result<Self> {
        let seen = version(path);
        let standing = match seen {
            Some(_) => standing(path, sort, control)?,
            None => None,
        };
        Ok(Self { path, sort, seen, standing })
    }

    /// Whether what is there stays, because a run with this standing came less far; says so.
    pub(crate) fn stays(&self, new: impl Into<PointStanding>, keep_partial: bool) -> bool {
        let new = new.into();
        if keep_partial || new.converged {
            return false;
        }
        let now = version(self.path);
        let old = if now == self.seen {
            self.standing
        } else {
            now.and_then(|_| standing(self.path, self.sort, &Control::unlimited()).ok().flatten())
        };
        let stays = old.is_some_and(|old| !new.may_replace(old));
        if stays {
            let path = self.path.display();
            note(format_args!(
                "note: kept {path}, which is better than the result of this run; --keep-partial writes it all the same"
            ));
        }
        stays
    }
}

/// When a regular file was changed, and its length.
fn version(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some((found.modified().ok()?, found.len()))
}

/// How far the run came that a file is of; `None` where it is something else. Only a wish to stop is an error.
fn standing(path: &Path, sort: Sort, control: &Control) -> Result<Option<PointStanding>> {
    let of_model = |standing: Option<Standing>| standing.map(PointStanding::from);
    let found = match sort {
        Sort::Solution => read_solution(path, control).map(|stored| Some(stored.standing())),
        Sort::Model => svm_model::read_standing(path, control).map(of_model),
        Sort::Fit => fit_file::read_standing(path, control).map(of_model),
    };
    match found {
        Ok(found) => Ok(found),
        Err(error) if error.is_halt() => Err(error.into()),
        Err(_) => Ok(None),
    }
}
