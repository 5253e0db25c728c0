//! Decimal digits, eight at a time, and short decimals without rounding twice.
//!
//! A word holds eight characters, the first one in its lowest byte. A digit character XOR `0x30` is
//! its value, so one addition finds all characters of a word that are no digits, and three
//! multiplications turn up to eight digits into a number (SWAR: a register used as a small vector).
//!
//! A decimal `m 10^k` is exact to compute when `m <= 2^53` and `|k| <= 22`: then m and `10^|k|` are
//! doubles, and one multiplication or division rounds once (W. D. Clinger, How to read floating
//! point numbers accurately, 1990). [`decimal`] answers only in that case; whatever else looks like
//! a number is for `str::parse`, so that every value has the bits that `str::parse` gives.
//!
//! These functions are inlined by force: they are the inner loop, and calls would dominate it.
//! Positions may be read up to [`PADDING`] bytes past the last line: the caller provides them.

#![allow(clippy::inline_always)]

/// Bytes that must follow the text in its buffer; what they hold does not matter.
pub(crate) const PADDING: usize = 64;

const ONES: u64 = 0x0101_0101_0101_0101;
const LARGEST_EXACT: u64 = 1 << 53;
const TWO_52: f64 = 4_503_599_627_370_496.0;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
const WHOLE_POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The eight characters of a word, of which some first ones are digits.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    /// Each character XOR `0x30`.
    values: u64,
    /// The top bit of each byte that is no digit.
    others: u64,
}

impl Digits {
    /// Looks at the eight characters from `at` on.
    #[inline(always)]
    pub(super) fn at(text: &[u8], at: usize) -> Self {
        Self::of(u64::from_le_bytes(text[at..at + 8].try_into().expect("a range of eight has eight bytes")))
    }

    /// Looks at the eight characters of a word.
    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        let values = word ^ (ONES * 0x30);
        let others = (((values & (ONES * 0x7f)) + ONES * 0x76) | values) & (ONES * 0x80);
        Self { values, others }
    }

    /// Whether the first character is no digit.
    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.others & 0x80 != 0
    }

    /// Digits before the first other character, 0 to 8.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        (self.others.trailing_zeros() / 8) as usize
    }

    /// Whether there are so many digits, 0 to 7, before the first other character.
    ///
    /// Tests a guess without working the count out: when the guess is right the processor goes on
    /// from it at once, and need not wait for the characters to be read.
    #[inline(always)]
    pub(super) fn count_is(self, guess: usize) -> bool {
        guess < 8 && self.others << (56 - 8 * guess as u32) == 1 << 63
    }

    /// The number that the first `count` digits make, 1 to 8 of them.
    #[inline(always)]
    pub(super) fn number(self, count: usize) -> u64 {
        // The digits move to the top, zeros fill in before them: always eight digits.
        let single = self.values << ((64 - 8 * count as u32) & 63);
        let pairs = single.wrapping_mul(10).wrapping_add(single >> 8);
        let (even, odd) = (pairs & 0x0000_00ff_0000_00ff, (pairs >> 16) & 0x0000_00ff_0000_00ff);
        even.wrapping_mul(100 + (1_000_000 << 32)).wrapping_add(odd.wrapping_mul(1 + (10_000 << 32))) >> 32
    }
}

/// `whole` and `count` digits behind the point, up to seven; `whole` must be less than `10^8`.
#[inline(always)]
pub(super) fn quotient(whole: u64, fraction: Digits, count: usize) -> Option<f64> {
    if count.wrapping_sub(1) >= 7 {
        return None;
    }
    let mantissa = whole * WHOLE_POWERS[count] + fraction.number(count);
    // Less than 2^52, so below the bits of 2^52 it is what 2^52 + mantissa ends in.
    Some((f64::from_bits(TWO_52.to_bits() | mantissa) - TWO_52) / POWERS[count])
}

/// A plain decimal from `at` on and the position behind it, where it can be computed exactly.
///
/// Reads an optional sign, digits, an optional point with digits, an optional exponent. `None` says
/// nothing about whether it is a number.
#[inline]
pub(crate) fn decimal(text: &[u8], mut at: usize) -> Option<(f64, usize)> {
    let sign = text[at];
    if sign == b'-' || sign == b'+' {
        at += 1;
    }
    let first = u64::from(text[at].wrapping_sub(b'0'));
    if first > 9 {
        return None;
    }
    let mut mantissa = first;
    at += 1;
    if text[at].is_ascii_digit() {
        let more = Digits::at(text, at);
        let count = more.count();
        if count == 8 {
            return None;
        }
        mantissa = first * WHOLE_POWERS[count] + more.number(count);
        at += count;
    }
    let mut count = 0;
    if text[at] == b'.' {
        let fraction = Digits::at(text, at + 1);
        if fraction.is_none() {
            return None;
        }
        count = fraction.count();
        mantissa = mantissa * WHOLE_POWERS[count] + fraction.number(count);
        at += 1 + count;
    }
    let (size, at) = if count == 8 || text[at] | 0x20 == b'e' {
        long_decimal(text, at, mantissa, count)?
    } else {
        // At most 8 + 7 digits.
        (mantissa as f64 / POWERS[count], at)
    };
    Some((if sign == b'-' { -size } else { size }, at))
}

/// The rest of a decimal, from `at` on, of which `mantissa` has been read, `count` digits of it behind
/// the point.
#[inline]
fn long_decimal(text: &[u8], mut at: usize, mut mantissa: u64, count: usize) -> Option<(f64, usize)> {
    let mut power = -i32::from(count as u8);
    if count == 8 {
        let rest = Digits::at(text, at);
        let more = rest.count();
        if more > 0 {
            if more == 8 || mantissa >= LARGEST_EXACT / WHOLE_POWERS[more] {
                return None;
            }
            mantissa = mantissa * WHOLE_POWERS[more] + rest.number(more);
            power -= i32::from(more as u8);
            at += more;
        }
    }
    if text[at] | 0x20 == b'e' {
        let (exponent, behind) = exponent(text, at + 1)?;
        power += exponent;
        at = behind;
    }
    if mantissa > LARGEST_EXACT || power.unsigned_abs() > 22 {
        return None;
    }
    let scale = POWERS[power.unsigned_abs() as usize];
    Some((if power <= 0 { mantissa as f64 / scale } else { mantissa as f64 * scale }, at))
}

/// The exponent behind an `e`: a sign and up to seven digits.
#[inline]
fn exponent(text: &[u8], at: usize) -> Option<(i32, usize)> {
    let negative = text[at] == b'-';
    let at = at + usize::from(negative || text[at] == b'+');
    let digits = Digits::at(text, at);
    let count = digits.count();
    if count == 0 || count == 8 {
        return None;
    }
    let size = i32::try_from(digits.number(count)).ok()?;
    Some((if negative { -size } else { size }, at + count))
}

#[cfg(test)]
mod tests {
    use super::{Digits, PADDING, decimal};

    fn padded(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(text.len() + PADDING, b'9');
        bytes
    }

    #[test]
    fn digits_end_at_the_first_other_character() {
        for (text, count, number) in [
            ("7:", 1, 7),
            ("41:1 ", 2, 41),
            ("1234567:", 7, 1234567),
            ("12345678", 8, 12345678),
            ("00000000", 8, 0),
            ("99999999", 8, 99999999),
            ("5\u{80}9", 1, 5),
            ("5/9", 1, 5),
        ] {
            let digits = Digits::at(&padded(text), 0);
            assert_eq!((digits.count(), digits.number(count)), (count, number), "{text}");
            (0..=8)
                .for_each(|guess| assert_eq!(digits.count_is(guess), guess == count && count < 8, "{text}"));
        }
        for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
            assert_eq!(Digits::at(&[byte, b'1', b'1', b'1', b'1', b'1', b'1', b'1'], 0).count(), 0, "{byte}");
            assert_eq!(Digits::at(&[b'1', byte, 255, b'1', byte, b'1', 0, b'1'], 0).count(), 1, "{byte}");
        }
    }

    #[test]
    fn decimals_have_the_bits_of_the_standard_library() {
        for text in [
            "0",
            "1",
            "-1",
            "+1",
            "0.5",
            "-0.0",
            "0.1",
            "0.3",
            "3e-05",
            "1e3",
            "1E+3",
            "2.5e-3",
            "1234567.25",
            "0.123456789012345",
            "90071992.54740991",
            "0.00055",
            "1e22",
            "1e-22",
            "123e20",
            "0.00000001",
            "1.2345678e-10",
        ] {
            let (value, behind) = decimal(&padded(&format!("{text} ")), 0).expect(text);
            assert_eq!(value.to_bits(), text.parse::<f64>().expect("a number").to_bits(), "{text}");
            assert_eq!(behind, text.len(), "{text}");
        }
    }

    #[test]
    fn what_is_not_exact_is_left_to_others() {
        for text in [
            "",
            ".5",
            "1.",
            "nan",
            "inf",
            "1e",
            "1e+",
            "1e23",
            "1e-23",
            "0.12345678901234567",
            "123456789",
            "0.1234567890123456789",
            "1e99999999",
            "-",
            "+-1",
            "9007.1992547409930",
        ] {
            assert_eq!(decimal(&padded(&format!("{text} ")), 0), None, "{text}");
        }
    }
}
