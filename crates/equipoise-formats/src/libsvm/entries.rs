//! The entries of one row, `feature:value` one after the other: the inner loop of the reader.
//!
//! Fast for plain entries between single spaces; every other place goes to `unusual.rs`.
//!
//! Where an entry begins depends on how long the one before it is, and waiting for that length would
//! cost more than all the arithmetic. Neighbours are mostly of the same length, so the reader guesses:
//! it compares the length found with that of the last entry and goes on from the *guess*. The
//! processor predicts the comparison and reads the next entry meanwhile.

#![allow(clippy::inline_always)] // Part of the loop; see `digits.rs`.

use super::digits::{Digits, decimal, quotient};
use super::fault::Fault;
use super::unusual::{self, ends_word, is_blank};

/// `:1 ` as the low three bytes of a word.
const ONE: u64 = 0x20_31_3a;
/// `:0.` as the low three bytes of a word, and a mask under which `:1.` to `:9.` look the same.
const POINT: u64 = 0x2e_30_3a;
const POINT_MASK: u64 = 0xff_f0_ff;

/// Bytes looked at to read an entry the fast way: `12345678:1.1234567 ` has 19.
const WINDOW: usize = 32;

/// Lengths to expect.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Guess {
    /// Digits of a feature number: as many as the last one had.
    width: usize,
    /// Digits behind the point of a value: changed by two misses in a row, for one of them is
    /// mostly a trailing zero that was not written.
    places: usize,
    /// The entry of the last miss of `places`.
    missed: usize,
}

impl Guess {
    #[inline(always)]
    fn width(&mut self, digits: Digits) -> usize {
        if !digits.count_is(self.width) {
            self.width = digits.count();
        }
        self.width
    }

    #[inline(always)]
    fn places(&mut self, digits: Digits, entry: usize) -> usize {
        if digits.count_is(self.places) {
            return self.places;
        }
        let count = digits.count();
        if self.missed + 1 == entry {
            self.places = count;
        }
        self.missed = entry;
        count
    }
}

/// What is known of the row being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Position behind its label.
    pub(super) label_end: usize,
    /// Its first entry.
    pub(super) start: usize,
    /// Behind its last entry so far.
    pub(super) used: usize,
    /// Largest feature so far.
    pub(super) largest: u32,
    /// Whether a feature came after a larger or equal one.
    pub(super) unsorted: bool,
    /// Whether a value was 0.
    pub(super) zeros: bool,
}

impl Row {
    /// A row without entries so far.
    #[inline(always)]
    pub(super) fn new(label_end: usize, start: usize) -> Self {
        Self { label_end, start, used: start, largest: 0, unsorted: false, zeros: false }
    }
}

/// Room for all entries that a chunk may have.
pub(super) struct Slots<'a> {
    pub(super) indices: &'a mut [u32],
    pub(super) values: &'a mut [f64],
}

/// Where reading the entries of a row came to a halt.
pub(super) enum Halt {
    /// At the next line.
    RowEnd(usize),
    /// At an entry whose value is the first that is not 1.
    NotOne(usize),
}

/// Reads entries from `at` on; with `ONLY_ONES` as long as every value is 1, and stores no values.
#[inline(always)]
pub(super) fn read_entries<const ONLY_ONES: bool>(
    text: &[u8],
    mut at: usize,
    row: &mut Row,
    slots: &mut Slots<'_>,
    guess: &mut Guess,
) -> Result<Halt, Fault> {
    loop {
        let window = text[at..].first_chunk().expect("padding follows the text");
        let digits = Digits::of(word(window, 0));
        if digits.is_none() {
            match window[0] {
                b'\n' => return Ok(Halt::RowEnd(at + 1)),
                byte if is_blank(byte) => at += 1,
                b'#' => return Ok(Halt::RowEnd(unusual::next_line(text, at))),
                _ => at = unusual::query(text, row.label_end, at)?,
            }
            continue;
        }
        let width = guess.width(digits);
        let next = word(window, width);
        let (feature, value, behind) = if ONLY_ONES && next & 0xff_ffff == ONE {
            (digits.number(width) as u32, 1.0, at + width + 3)
        } else if !ONLY_ONES
            && next & POINT_MASK == POINT
            && let Some((value, length)) = short_decimal(window, width + 1, guess, row.used)
        {
            (digits.number(width) as u32, value, at + length)
        } else {
            let entry = match plain_entry(text, at) {
                Some(entry) => entry,
                None => unusual::entry(text, at)?,
            };
            if ONLY_ONES && entry.1 != 1.0 {
                return Ok(Halt::NotOne(at));
            }
            entry
        };
        if feature > row.largest {
            row.largest = feature;
        } else {
            if feature == 0 {
                unusual::entry(text, at)?;
            }
            row.unsorted = true;
        }
        slots.indices[row.used] = feature.wrapping_sub(1);
        if !ONLY_ONES {
            if value == 0.0 {
                row.zeros = true;
            }
            slots.values[row.used] = value;
        }
        row.used += 1;
        at = behind;
    }
}

/// A value of one digit, a point, up to seven digits and a space; and the position behind it.
#[inline(always)]
fn short_decimal(window: &[u8; WINDOW], at: usize, guess: &mut Guess, entry: usize) -> Option<(f64, usize)> {
    let fraction = Digits::of(word(window, at + 2));
    let count = guess.places(fraction, entry);
    let first = u64::from(window[at % WINDOW].wrapping_sub(b'0'));
    let end = at + 2 + count;
    if first > 9 || window[end % WINDOW] != b' ' {
        return None;
    }
    Some((quotient(first, fraction, count)?, end + 1))
}

/// The eight characters from `at` on, which is less than 16.
#[inline(always)]
fn word(window: &[u8; WINDOW], at: usize) -> u64 {
    let at = at % 16;
    u64::from_le_bytes(window[at..at + 8].try_into().expect("a range of eight has eight bytes"))
}

/// `feature:value` of the plain sort, as [`unusual::entry`] returns it, and one space behind it.
#[inline(never)]
fn plain_entry(text: &[u8], at: usize) -> Option<(u32, f64, usize)> {
    let digits = Digits::at(text, at);
    let (feature, colon) = match digits.count() {
        0 => return None,
        8 => long_feature(text, at + 8, digits.number(8))?,
        width => (digits.number(width) as u32, at + width),
    };
    if text[colon] != b':' {
        return None;
    }
    let (value, behind) = decimal(text, colon + 1)?;
    if text[behind] == b' ' {
        return Some((feature, value, behind + 1));
    }
    ends_word(text[behind]).then_some((feature, value, behind))
}

/// A feature number of more than seven digits, of which eight are known.
#[inline]
fn long_feature(text: &[u8], at: usize, first: u64) -> Option<(u32, usize)> {
    let rest = Digits::at(text, at);
    match rest.count() {
        0 => Some((first as u32, at)),
        1 => Some(((first * 10 + rest.number(1)) as u32, at + 1)),
        2 => Some((u32::try_from(first * 100 + rest.number(2)).ok()?, at + 2)),
        _ => None,
    }
}
