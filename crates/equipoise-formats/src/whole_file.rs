//! Files that appear whole or not at all.
//!
//! ```text
//! write a file of another name in the same folder   sync it   rename it   sync the folder
//! ```
//!
//! - Given: a path, and whoever fills the file.
//! - Returns: nothing; whoever reads the path sees the old file or the new one, whatever happens in between: an error, a
//!   full disk, the end of the process, another writer.
//! - Must not know: what is written.
//!
//! A link stays a link: the file it leads to is replaced. What is no regular file (a pipe, a terminal, `/dev/full`)
//! cannot be replaced and is written to as it is. A process that is killed leaves the other file, whose name begins with a
//! dot and ends in `.tmp`; a file that is there under such a name may be another writer's and is never touched. Numbers of
//! processes tell writers apart on one machine only (two containers may share a folder and have equal ones), so names
//! are drawn, and one that is taken is passed over. The path `-` is standard output.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result};

/// The most links that are followed one after another.
const MOST_LINKS: usize = 40;

/// The most names that are tried for one draft; each is drawn anew.
const MOST_NAMES: usize = 40;

/// Lets `fill` write a file, which then takes the place of whatever the path named.
pub fn write_whole(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let write = || {
        if is_stdout(path) {
            return fill_and_flush(stdout()?, fill).map(drop);
        }
        let Some((draft, file)) = Draft::begin(path)? else {
            return fill_and_flush(File::create(path)?, fill).map(drop);
        };
        fill_and_flush(file, fill)?.sync_all()?;
        draft.publish()
    };
    write().map_err(|reason| Error::writing(path, &reason))
}

/// Refuses a path that [`write_whole`] could not write, without touching what is there: to be asked before long work.
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    if is_stdout(path) {
        return Ok(());
    }
    let check = || match Draft::begin(path)? {
        // A name of its own is made and taken away again: nobody else's file is ever touched.
        Some(draft) => {
            drop(draft);
            Ok(())
        }
        None => OpenOptions::new().append(true).open(path).map(drop),
    };
    check().map_err(|reason| Error::writing(path, &reason))
}

/// A file that grows line by line under its own name, and had the first lines when it appeared there.
#[derive(Debug)]
pub(crate) struct Growing {
    file: File,
}

impl Growing {
    /// Replaces whatever the path named by a file with this text, to be added to.
    pub(crate) fn begin(path: &Path, text: &str) -> io::Result<Self> {
        if is_stdout(path) {
            let mut growing = Self { file: stdout()? };
            growing.add(text)?;
            return Ok(growing);
        }
        let Some((draft, file)) = Draft::begin(path)? else {
            let mut growing = Self { file: File::create(path)? };
            growing.add(text)?;
            return Ok(growing);
        };
        let mut growing = Self { file };
        growing.add(text)?;
        draft.publish()?;
        Ok(growing)
    }

    /// Adds whole lines, handed to the system at once.
    pub(crate) fn add(&mut self, lines: &str) -> io::Result<()> {
        self.file.write_all(lines.as_bytes())
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Standard output, as a file of our own.
#[cfg(unix)]
fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stdout().flush()?;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    io::stdout().flush()?;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

fn fill_and_flush(file: File, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    out.flush()?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A file of ours under another name; it is gone with this value unless it was published.
#[derive(Debug)]
struct Draft {
    /// Where it is going to be, links followed.
    target: PathBuf,
    name: PathBuf,
    published: bool,
}

impl Draft {
    /// A draft for this path and its file, new and empty; `None` where there is something that cannot be replaced.
    fn begin(path: &Path) -> io::Result<Option<(Self, File)>> {
        let target = followed(path)?;
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => return Ok(None),
            // A file that may not be written is not to be replaced either.
            Ok(_) => drop(OpenOptions::new().append(true).open(&target)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let (name, file) = create_first(std::iter::repeat_with(|| draft_name(&target)).take(MOST_NAMES))?;
        if let Ok(old) = fs::metadata(&target) {
            // Where the system does not let permissions be copied the new file has the usual ones.
            let _ = file.set_permissions(old.permissions());
        }
        Ok(Some((Self { target, name, published: false }, file)))
    }

    /// Takes the place of the target.
    fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.name, &self.target)?;
        self.published = true;
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        // The file is whole already; not every system can also make its name last.
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            // There may be nothing to remove.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// A name beside the target that no other writer is likely to draw, in this process or another.
fn draft_name(target: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(own) = target.file_name() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut name = OsString::from(".");
    name.push(own);
    // Keys that the system drew for this process: the only randomness that the standard library offers.
    let drawn = RandomState::new().build_hasher().finish();
    name.push(format!(".{}-{}-{drawn:016x}.tmp", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    Ok(target.with_file_name(name))
}

/// The first of these files that was not there, made now: whatever is there is somebody else's.
fn create_first(names: impl Iterator<Item = io::Result<PathBuf>>) -> io::Result<(PathBuf, File)> {
    for name in names {
        let name = name?;
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|file| (name, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The path behind links, also where it leads to nothing yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                let next = fs::read_link(&path)?;
                path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("equipoise-whole-{}-{name}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_at_once_and_nothing_else_is_left() {
        let folder = scratch("replaced");
        let path = folder.join("x.json");
        fs::write(&path, "old").expect("writable");
        write_whole(&path, |out| {
            out.write_all(b"new")?;
            out.flush()?;
            // Until everything is written the old one is what others see.
            assert_eq!(fs::read_to_string(&path).expect("there"), "old");
            Ok(())
        })
        .expect("written");
        assert_eq!((fs::read_to_string(&path).expect("there").as_str(), names(&folder).len()), ("new", 1));
    }

    #[test]
    fn two_drafts_for_one_path_have_different_files() {
        let path = scratch("drafts").join("x.json");
        let begin = || Draft::begin(&path).expect("writable").expect("replaceable");
        let [(first, mut one), (second, mut two)] = [begin(), begin()];
        assert_ne!(first.name, second.name);
        one.write_all(b"one").and_then(|()| two.write_all(b"two")).expect("written");
        first.publish().expect("published");
        assert_eq!(fs::read_to_string(&path).expect("there"), "one");
        second.publish().expect("published");
        assert_eq!(fs::read_to_string(&path).expect("there"), "two");
    }

    #[test]
    fn drafts_of_processes_of_the_same_number_differ() {
        let target = Path::new("folder/x.json");
        let drawn = |name: &Path| {
            let name = name.file_name().expect("a name").to_string_lossy().into_owned();
            name.trim_end_matches(".tmp").rsplit('-').next().map(str::to_owned)
        };
        let [first, second] = [draft_name(target).expect("a name"), draft_name(target).expect("a name")];
        assert_ne!(drawn(&first), drawn(&second), "{} and {}", first.display(), second.display());
    }

    #[test]
    fn a_file_under_the_name_of_a_draft_is_never_touched() {
        let folder = scratch("taken");
        let [taken, free] = [folder.join("taken"), folder.join("free")];
        fs::write(&taken, "another writer's").expect("writable");
        let (made, _) = create_first([taken.clone(), free.clone()].map(Ok).into_iter()).expect("a free name");
        assert_eq!((made, fs::read_to_string(&taken).expect("there").as_str()), (free, "another writer's"));
        let refused = create_first(std::iter::once(Ok(taken.clone()))).expect_err("taken");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&taken).expect("there"), "another writer's");
    }

    #[test]
    fn a_failure_midway_leaves_the_old_file_and_nothing_else() {
        let folder = scratch("midway");
        let path = folder.join("x.json");
        for old in [None, Some("old")] {
            old.map_or(Ok(()), |old| fs::write(&path, old)).expect("writable");
            let failed = write_whole(&path, |out| {
                out.write_all(b"half")?;
                out.flush()?;
                Err(io::ErrorKind::StorageFull.into())
            });
            assert!(matches!(failed, Err(Error::Io { action: "write", .. })), "{failed:?}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), old);
            assert_eq!(names(&folder).len(), usize::from(old.is_some()));
        }
    }

    #[test]
    fn asking_changes_nothing() {
        let folder = scratch("asking");
        let (old, new) = (folder.join("old"), folder.join("new"));
        fs::write(&old, "old").expect("writable");
        check_writable(&old).expect("writable");
        check_writable(&new).expect("writable");
        assert_eq!(
            (names(&folder), fs::read_to_string(&old).expect("there").as_str()),
            (vec!["old".into()], "old")
        );
        assert!(check_writable(&folder).is_err() && check_writable(folder.join("no/such")).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_stays_a_link() {
        let folder = scratch("link");
        let (file, link) = (folder.join("file"), folder.join("link"));
        std::os::unix::fs::symlink("file", &link).expect("a link");
        for text in ["first", "second"] {
            write_whole(&link, |out| out.write_all(text.as_bytes())).expect("written");
            assert_eq!(fs::read_to_string(&file).expect("there"), text);
            assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let failed = write_whole("/dev/full", |out| out.write_all(&vec![b'x'; 1 << 16]));
        assert!(matches!(failed, Err(Error::Io { kind: io::ErrorKind::StorageFull, .. })), "{failed:?}");
    }

    #[test]
    fn two_writers_leave_one_whole_file() {
        let path = scratch("two").join("x");
        let text = |k: u8| vec![b'a' + k; 100_000];
        std::thread::scope(|scope| {
            for k in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..5 {
                        write_whole(path, |out| out.write_all(&text(k))).expect("written");
                    }
                });
            }
        });
        let found = fs::read(&path).expect("there");
        assert!((0..4).any(|k| found == text(k)), "{} bytes", found.len());
    }
}
