//! Text in, chunks of whole lines out.
//!
//! A chunk ends at a newline; what follows it is carried over to the next one. A line longer than the
//! chunk makes its buffer grow, up to a limit. The last line need not end in a newline. A byte-order
//! mark at the very beginning is skipped. Where the input fails, the whole lines before that place still
//! come first, so that which fault is told does not depend on the size of the chunks. Must not know
//! what the lines say.

use std::io::{self, Read};

use super::digits::PADDING;

/// The longest line, newline included; nothing sensible is longer, and an endless line must end.
pub(super) const LONGEST_LINE: usize = 256 << 20;

/// Why there is no next chunk although the text has not ended.
#[derive(Debug)]
pub(super) enum Interruption {
    /// The input could not be read.
    Io(io::Error),
    /// A line goes on beyond the limit.
    EndlessLine,
}

/// A text being cut into chunks.
pub(super) struct Source<'a> {
    input: Box<dyn Read + Send + 'a>,
    /// The beginning of a line whose end is not read yet.
    carried: Vec<u8>,
    chunk_bytes: usize,
    longest_line: usize,
    chunks: usize,
    ended: bool,
    /// Why the input ended, if it failed; to be told after the lines before it.
    failure: Option<io::Error>,
}

impl<'a> Source<'a> {
    pub(super) fn new(input: Box<dyn Read + Send + 'a>, chunk_bytes: usize) -> Self {
        let (carried, chunk_bytes) = (Vec::new(), chunk_bytes.max(4));
        Self {
            input,
            carried,
            chunk_bytes,
            longest_line: LONGEST_LINE,
            chunks: 0,
            ended: false,
            failure: None,
        }
    }

    /// Fills a buffer with the next chunk.
    ///
    /// Returns its number, from 0, and where it ends in the buffer: behind a newline, with
    /// [`PADDING`] bytes to follow.
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> Option<(usize, Result<usize, Interruption>)> {
        let end = match self.failure.take() {
            Some(error) => Err(Interruption::Io(error)),
            None if self.ended => return None,
            None => self.fill(buffer),
        };
        self.ended |= end.is_err();
        if let Ok(0) = end {
            return None;
        }
        self.chunks += 1;
        Some((self.chunks - 1, end))
    }

    fn fill(&mut self, buffer: &mut Vec<u8>) -> Result<usize, Interruption> {
        let mut filled = self.carried.len();
        let least = self.chunk_bytes.max(filled) + PADDING;
        if buffer.len() < least {
            buffer.resize(least, 0);
        }
        buffer[..filled].copy_from_slice(&self.carried);
        self.carried.clear();
        loop {
            let searched = filled;
            let room = buffer.len() - PADDING;
            while filled < room && !self.ended {
                match self.input.read(&mut buffer[filled..room]) {
                    Ok(0) => self.ended = true,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => (self.failure, self.ended) = (Some(error), true),
                }
            }
            if self.chunks == 0 && searched == 0 && buffer[..filled].starts_with(b"\xef\xbb\xbf") {
                buffer.copy_within(3..filled, 0);
                filled -= 3;
            }
            if self.ended && self.failure.is_none() {
                if filled > 0 && buffer[filled - 1] != b'\n' {
                    buffer[filled] = b'\n';
                    filled += 1;
                }
                return Ok(filled);
            }
            // What was carried over holds no newline.
            if let Some(newline) = buffer[searched..filled].iter().rposition(|&byte| byte == b'\n') {
                let end = searched + newline + 1;
                self.carried.extend_from_slice(&buffer[end..filled]);
                return Ok(end);
            }
            if let Some(error) = self.failure.take() {
                return Err(Interruption::Io(error));
            }
            if filled >= self.longest_line {
                return Err(Interruption::EndlessLine);
            }
            buffer.resize((2 * room).min(self.longest_line.max(room + 1)) + PADDING, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{Interruption, Source};

    fn chunks(text: &[u8], chunk_bytes: usize) -> Vec<String> {
        let mut source = Source::new(Box::new(text), chunk_bytes);
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        while let Some((number, end)) = source.next(&mut buffer) {
            assert_eq!(number, found.len());
            let end = end.expect("readable");
            found.push(String::from_utf8_lossy(&buffer[..end]).into_owned());
        }
        found
    }

    #[test]
    fn chunks_end_at_newlines_and_hold_everything() {
        let text = "a\nbb\n\nccc dddddddddddddddddddd\ne";
        for chunk_bytes in 1..40 {
            let found = chunks(text.as_bytes(), chunk_bytes);
            assert!(found.iter().all(|chunk| chunk.ends_with('\n')), "{found:?}");
            assert_eq!(found.concat(), format!("{text}\n"));
        }
        assert_eq!(chunks(b"a\nb\nc\n", 4), ["a\nb\n", "c\n"]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_once() {
        for chunk_bytes in 1..9 {
            assert_eq!(chunks("\u{feff}1\n\u{feff}2\n".as_bytes(), chunk_bytes).concat(), "1\n\u{feff}2\n");
        }
        assert!(chunks("\u{feff}".as_bytes(), 9).is_empty());
        assert!(chunks(b"", 9).is_empty());
    }

    /// Some text, and then a failing disk.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::Error::other("broken")) } else { self.0.read(buffer) }
        }
    }

    #[test]
    fn whole_lines_come_before_a_failure() {
        for chunk_bytes in 1..20 {
            let mut source = Source::new(Box::new(Failing(b"a\nbb\nccc")), chunk_bytes);
            let (mut buffer, mut found) = (Vec::new(), Vec::new());
            let error = loop {
                match source.next(&mut buffer).expect("the failure comes last").1 {
                    Ok(end) => found.extend_from_slice(&buffer[..end]),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, Interruption::Io(_)));
            assert_eq!(found, b"a\nbb\n", "{chunk_bytes}");
            assert!(source.next(&mut buffer).is_none());
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut source = Source::new(Box::new(std::io::repeat(b'1')), 8);
        source.longest_line = 1000;
        let mut buffer = Vec::new();
        assert!(matches!(source.next(&mut buffer), Some((0, Err(Interruption::EndlessLine)))));
        assert!(buffer.len() < 1200, "{}", buffer.len());
        assert!(source.next(&mut buffer).is_none());
    }
}
