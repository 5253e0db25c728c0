//! Where the text comes from: a file, standard input or any reader, compressed or not.
//!
//! Compression is recognised by its first bytes, never by the name. Streams of several members, as
//! parallel compressors and `cat` make them, are read to the end. Everything is unpacked as it is
//! read, with memory that does not depend on what the data claim.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use bzip2::read::MultiBzDecoder;
use equipoise::Control;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::zstd::Frames;
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
pub(super) fn open<'a>(path: &'a Path, control: &Control) -> Result<Input<'a, Box<dyn Read + Send>>> {
    if path.as_os_str() == "-" {
        return Ok(Input {
            bytes: Box::new(Piped::stdin(control)),
            length: None,
            path: Path::new("standard input"),
        });
    }
    let file = File::open(path).map_err(|reason| Error::reading(path, &reason))?;
    let length = file.metadata().ok().filter(Metadata::is_file).map(|about| about.len());
    Ok(Input { bytes: Box::new(Watched { input: file, control: control.clone() }), length, path })
}

/// All bytes of standard input, as another process writes them.
pub(crate) fn read_everything(control: &Control) -> Result<Vec<u8>> {
    let path = Path::new("standard input");
    let mut bytes = Vec::new();
    Piped::stdin(control).read_to_end(&mut bytes).map_err(|reason| {
        let halted = control.check().err().map(|halt| Error::from(halt).while_reading(path));
        halted.unwrap_or_else(|| Error::reading(path, &reason))
    })?;
    Ok(bytes)
}

/// Bytes that end with an error once somebody wants to stop.
pub(super) struct Watched<R> {
    pub(super) input: R,
    pub(super) control: Control,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.control.check().map_err(io::Error::other)?;
        self.input.read(buffer)
    }
}

/// What another process writes: a wish to stop is heard even while it writes nothing.
struct Piped {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
    control: Control,
}

impl Piped {
    fn stdin(control: &Control) -> Self {
        /// Bytes read at a time.
        const PIECE: u64 = 64 << 10;
        let (sender, pieces) = sync_channel(2);
        // It may wait for the other process for ever; it ends with this one.
        thread::spawn(move || {
            loop {
                let mut piece = Vec::new();
                let read = io::stdin().take(PIECE).read_to_end(&mut piece);
                let is_last = read.as_ref().map_or(true, |count| *count == 0);
                if sender.send(read.map(|_| piece)).is_err() || is_last {
                    return;
                }
            }
        });
        Self { pieces, piece: io::Cursor::default(), control: control.clone() }
    }
}

impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        /// Time between two looks at the wish to stop.
        const LOOK: Duration = Duration::from_millis(20);
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.control.check().map_err(io::Error::other)?;
            match self.pieces.recv_timeout(LOOK) {
                Ok(Ok(piece)) if piece.is_empty() => return Ok(0),
                Ok(piece) => self.piece = io::Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

/// How text that begins so is packed, if it is.
pub(super) fn packing(first: &[u8]) -> Option<&'static str> {
    match first {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        // A frame, or one that is to be skipped before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some("zstd"),
        _ => None,
    }
}

/// Looks at the first bytes and unpacks what follows accordingly.
pub(super) fn unpack<'a>(mut input: impl Read + Send + 'a, path: &Path) -> Result<Unpacked<'a>> {
    let mut start = Vec::new();
    input.by_ref().take(8).read_to_end(&mut start).map_err(|reason| Error::reading(path, &reason))?;
    let first = start.clone();
    let whole = io::Cursor::new(start).chain(input);
    let format = packing(&first);
    let text: Box<dyn Read + Send + 'a> = match format {
        Some("gzip") => Box::new(MultiGzDecoder::new(whole)),
        Some("bzip2") => Box::new(MultiBzDecoder::new(whole)),
        Some("xz") => Box::new(XzReader::new_mem_limit(io::BufReader::new(whole), true, XZ_KIB)),
        Some(_) => Box::new(Frames::new(whole)),
        None if first.starts_with(b"PK\x03\x04") => return Err(unsupported(path, "a zip archive")),
        None => Box::new(whole),
    };
    Ok(Unpacked { text, format })
}

/// All of a text that may be packed.
pub(crate) fn unpacked(bytes: Vec<u8>, path: &Path, control: &Control) -> Result<Vec<u8>> {
    let halted = || control.check().err().map(|halt| Error::from(halt).while_reading(path));
    let Unpacked { format, .. } = unpack(bytes.as_slice(), path)?;
    if format.is_none() {
        return Ok(bytes);
    }
    let watched = Watched { input: bytes.as_slice(), control: control.clone() };
    let mut text = Vec::new();
    unpack(watched, path)?
        .text
        .read_to_end(&mut text)
        .map_err(|reason| halted().unwrap_or_else(|| explain(format, path, &reason)))?;
    Ok(text)
}

/// Text of a file, which may be packed; what is beyond so many bytes is left out.
pub(crate) fn read_at_most(path: &Path, most: u64, control: &Control) -> Result<Vec<u8>> {
    let Input { bytes, path, .. } = open(path, control)?;
    let halted = || control.check().err().map(|halt| Error::from(halt).while_reading(path));
    let Unpacked { text, format } = unpack(bytes, path).map_err(|error| halted().unwrap_or(error))?;
    let mut found = Vec::new();
    text.take(most)
        .read_to_end(&mut found)
        .map_err(|reason| halted().unwrap_or_else(|| explain(format, path, &reason)))?;
    Ok(found)
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
    let allowed = "plain text, or text packed by gzip, bzip2, xz or zstd; unpack it first";
    Error::Unsupported { path: path.into(), found: found.into(), allowed }
}
