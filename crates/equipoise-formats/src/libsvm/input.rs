//! Where the text comes from: a file, standard input or any reader, compressed or not.
//!
//! Compression is recognised by its first bytes, never by the name. Streams of several members, as
//! parallel compressors and `cat` make them, are read to the end. Everything is unpacked as it is
//! read, with memory that does not depend on what the data claim.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::{Error, Result};

/// Memory that an xz dictionary may claim; `xz -9` needs 65 MiB.
const XZ_KIB: u32 = 264 << 10;

/// Bytes to be read, and how many, where that is known.
pub(super) struct Input<'a, R> {
    pub(super) bytes: R,
    pub(super) length: Option<u64>,
    pub(super) path: &'a Path,
}

/// Text, and how it was packed.
pub(super) struct Unpacked<'a> {
    pub(super) text: Box<dyn Read + Send + 'a>,
    pub(super) format: Option<&'static str>,
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Input<'_, Box<dyn Read + Send>>> {
    if path.as_os_str() == "-" {
        return Ok(Input { bytes: Box::new(io::stdin()), length: None, path: Path::new("standard input") });
    }
    let file = File::open(path).map_err(|reason| Error::reading(path, &reason))?;
    let length = file.metadata().ok().filter(Metadata::is_file).map(|about| about.len());
    Ok(Input { bytes: Box::new(file), length, path })
}

/// Looks at the first bytes and unpacks what follows accordingly.
pub(super) fn unpack<'a>(mut input: impl Read + Send + 'a, path: &Path) -> Result<Unpacked<'a>> {
    let mut start = Vec::new();
    input.by_ref().take(8).read_to_end(&mut start).map_err(|reason| Error::reading(path, &reason))?;
    let first = start.clone();
    let whole = io::Cursor::new(start).chain(input);
    let (text, format): (Box<dyn Read + Send + 'a>, _) = match first.as_slice() {
        [0x1f, 0x8b, ..] => (Box::new(MultiGzDecoder::new(whole)), Some("gzip")),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => (Box::new(MultiBzDecoder::new(whole)), Some("bzip2")),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            (Box::new(XzReader::new_mem_limit(io::BufReader::new(whole), true, XZ_KIB)), Some("xz"))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Err(unsupported(path, "zstd compression")),
        [b'P', b'K', 3, 4, ..] => return Err(unsupported(path, "a zip archive")),
        _ => (Box::new(whole), None),
    };
    Ok(Unpacked { text, format })
}

/// The error of a read that failed: of the system, or of the data if they were packed.
pub(super) fn explain(format: Option<&'static str>, path: &Path, reason: &io::Error) -> Error {
    match format {
        Some(format) if reason.raw_os_error().is_none() => {
            Error::Damaged { path: path.into(), format, reason: reason.to_string() }
        }
        _ => Error::reading(path, reason),
    }
}

fn unsupported(path: &Path, found: &str) -> Error {
    let allowed = "plain text, or text packed by gzip, bzip2 or xz; unpack it first";
    Error::Unsupported { path: path.into(), found: found.into(), allowed }
}
