//! Text packed by zstd: one frame after another, skippable ones left out.
//!
//! Given: packed bytes. Returns: the text as it is read; a check sum that does not fit is an error. Memory is that of a frame's
//! window, whose size is limited. Must not know: what the text says.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Text unpacked at a time.
const PIECE: usize = 128 << 10;
/// The largest window: `zstd --ultra -22` needs 128 MiB.
const WINDOW: u64 = 128 << 20;

/// Frames being unpacked.
pub(super) struct Frames<R> {
    packed: BufReader<R>,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(packed: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Self { packed: BufReader::new(packed), decoder, within: false }
    }

    /// Begins a frame, or skips one; false at the end of everything.
    fn begin(&mut self) -> io::Result<bool> {
        use FrameDecoderError::ReadFrameHeaderError as Header;
        if self.packed.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.reset(&mut self.packed) {
            Ok(()) => self.within = true,
            Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                if io::copy(&mut self.packed.by_ref().take(length), &mut io::sink())? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(damaged(&error)),
        }
        Ok(true)
    }

    /// Whether the frame that has ended is what was packed.
    fn check(&self) -> io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(said), Some(found)) if said != found => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "its check sum does not fit"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.within {
                let count = self.decoder.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                if self.decoder.is_finished() {
                    self.check()?;
                    self.within = false;
                } else {
                    let piece = BlockDecodingStrategy::UptoBytes(PIECE);
                    self.decoder.decode_blocks(&mut self.packed, piece).map_err(|error| damaged(&error))?;
                }
            } else if !self.begin()? {
                return Ok(0);
            }
        }
    }
}

fn damaged(error: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Frames::new(bytes).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn frames_follow_one_another_and_skippable_ones_are_left_out() {
        let long: Vec<u8> =
            (0..400_000_u32).flat_map(|i| format!("{} ", i * 7 % 1000).into_bytes()).collect();
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let bytes = [packed(b"one\n"), skipped.to_vec(), packed(&long), packed(b"")].concat();
        assert_eq!(unpacked(&bytes).expect("whole"), [b"one\n".as_slice(), &long].concat());
    }

    #[test]
    fn damaged_frames_are_errors() {
        let bytes = packed(&b"text that is long enough to be packed, and packed, and packed\n".repeat(50));
        for end in 1..bytes.len() {
            assert!(unpacked(&bytes[..end]).is_err(), "cut at {end} of {}", bytes.len());
        }
        let mut turned = bytes.clone();
        let last = turned.len() - 1;
        turned[last] ^= 1;
        assert!(unpacked(&turned).is_err(), "a wrong check sum");
    }
}
