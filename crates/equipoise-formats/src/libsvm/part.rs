//! One of several parts of a plain file: the lines that begin in its share of the bytes.
//!
//! Part k of n has the lines that begin from byte `k L / n` on and before byte `(k + 1) L / n`, L the length of the file. So every
//! line is in one part, whoever reads which, and nobody reads more than a line beyond its share.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use equipoise::Control;

use super::input::{self, Input, Watched};
use super::{CHUNK_BYTES, LabelledRows, ReadOptions, all_features};
use crate::{Error, Result};

/// Bytes that are searched for the end of a line at a time.
const GLANCE: usize = 64 << 10;

/// Reads part `part` of `parts` of a plain file; packed ones cannot be cut. A part without lines is refused as a file without rows is.
///
/// ```no_run
/// use equipoise::Control;
/// use equipoise_formats::libsvm::{ReadOptions, read_part};
/// let second_half = read_part("big.svm", 1, 2, ReadOptions::default(), &Control::unlimited())?;
/// # Ok::<(), equipoise_formats::Error>(())
/// ```
pub fn read_part(
    path: impl AsRef<Path>,
    part: usize,
    parts: usize,
    options: ReadOptions,
    control: &Control,
) -> Result<LabelledRows> {
    let path = path.as_ref();
    let unreadable = |reason: io::Error| Error::reading(path, &reason);
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut first = Vec::new();
    file.by_ref().take(8).read_to_end(&mut first).map_err(unreadable)?;
    if let Some(format) = input::packing(&first) {
        let found = format!("text packed by {format}, of which no part can be read alone");
        let allowed = "plain text, or as many packed files as there are parts";
        return Err(Error::Unsupported { path: path.into(), found, allowed });
    }
    let at = |k: usize| (u128::from(length) * k as u128 / parts.max(1) as u128) as u64;
    let begin = line_after(&mut file, at(part), length).map_err(unreadable)?;
    let end = line_after(&mut file, at(part + 1), length).map_err(unreadable)?;
    file.seek(SeekFrom::Start(begin)).map_err(unreadable)?;
    // Lines are counted from the beginning of the part.
    let named = if begin == 0 {
        path.to_path_buf()
    } else {
        PathBuf::from(format!("{} from byte {begin} on", path.display()))
    };
    let bytes = Watched { input: file.take(end - begin), control: control.clone() };
    let input = Input { bytes, length: Some(end - begin), path: &named };
    all_features(input, options, CHUNK_BYTES, control)
}

/// Where the first line begins at a place or after it; the length where there is none.
fn line_after(file: &mut File, place: u64, length: u64) -> io::Result<u64> {
    if place == 0 || place >= length {
        return Ok(place.min(length));
    }
    // A newline just before the place makes it the beginning of a line.
    let mut from = place - 1;
    file.seek(SeekFrom::Start(from))?;
    let mut glance = vec![0; GLANCE];
    loop {
        let count = match file.read(&mut glance) {
            Ok(0) => return Ok(length),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if let Some(newline) = glance[..count].iter().position(|&byte| byte == b'\n') {
            return Ok(from + newline as u64 + 1);
        }
        from += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("equipoise-part-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a writable folder");
        path
    }

    #[test]
    fn every_line_is_in_one_part() {
        let text = "1 1:1\n\n-1 2:0.5 7:3\n2 1:1 # a comment that is rather long\n-3 4:1\n4 5:1";
        let path = file("lines", text.as_bytes());
        for parts in 1..20 {
            let mut labels = Vec::new();
            for part in 0..parts {
                match read_part(&path, part, parts, ReadOptions { threads: 1 }, &Control::unlimited()) {
                    Ok(rows) => labels.extend(rows.labels),
                    Err(error) => assert!(matches!(error, Error::NoRows { .. }), "{error}"),
                }
            }
            assert_eq!(labels, [1.0, -1.0, 2.0, -3.0, 4.0], "{parts} parts");
        }
        std::fs::remove_file(path).expect("it was written");
    }

    #[test]
    fn faults_are_told_from_the_beginning_of_the_part() {
        let path = file("fault", b"1 1:1\n-1 1:2\n1 1:3\n-1 x\n");
        let read = |part| read_part(&path, part, 2, ReadOptions { threads: 1 }, &Control::unlimited());
        assert_eq!(read(0).map(|rows| rows.labels).ok(), Some(vec![1.0, -1.0]));
        let words = read(1).expect_err("a fault").to_string();
        assert!(words.contains("from byte 13 on: line 2"), "{words}");
        let packed = file("packed", b"\x1f\x8b\x08\x00 and so on");
        let words = read_part(&packed, 0, 2, ReadOptions::default(), &Control::unlimited());
        assert!(words.expect_err("packed").to_string().contains("gzip"));
        [path, packed].iter().for_each(|path| std::fs::remove_file(path).expect("it was written"));
    }
}
