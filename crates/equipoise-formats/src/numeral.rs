//! Numbers as people read them: in as few digits as say them exactly, and never hundreds of digits long.
//!
//! ```text
//! 0.1   -1.5   123456789   1e-300   1.7976931348623157e308
//! ```
//!
//! Given: a number, or words with numbers in them. Returns: words that are read back as the same numbers. Must not know: what is
//! counted.

/// The sizes that are written without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-5..1e16;
/// Digits that any number in [`PLAIN`] has at most; a longer row of them has an exponent in fewer.
const LONG: usize = 24;

/// A number in as few digits as say it exactly; very large and very small ones with an exponent.
pub fn numeral(value: f64) -> String {
    if value == 0.0 || PLAIN.contains(&value.abs()) || !value.is_finite() {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// Words in which numbers of very many digits, such as messages have that do not know how large their numbers are, are
/// written with an exponent. Rows of digits that are no such number stay as they are.
pub fn with_short_numerals(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '/' | '\\');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(is_part) {
        let end = rest[from..].find(|letter| !is_part(letter)).map_or(rest.len(), |length| from + length);
        let (before, word) = (&rest[..from], &rest[from..end]);
        // A full stop may end a sentence.
        let digits = word.trim_end_matches('.');
        out.push_str(before);
        match shorter(digits) {
            Some(short) => out.extend([&short, &word[digits.len()..]]),
            None => out.push_str(word),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// A row of digits as a number with an exponent, if the digits are those of a number in full.
fn shorter(word: &str) -> Option<String> {
    if word.len() <= LONG || !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let value: f64 = word.parse().ok()?;
    let decimals = word.split_once('.').map_or(0, |(_, behind)| behind.len());
    let is_in_full = value.to_string() == word || format!("{value:.decimals$}") == word;
    (is_in_full && !PLAIN.contains(&value)).then(|| numeral(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_hundreds_of_digits_long() {
        for (value, words) in [
            (0.0, "0"),
            (-1.5, "-1.5"),
            (123456789.0, "123456789"),
            (1e-300, "1e-300"),
            (1.5e300, "1.5e300"),
            (f64::INFINITY, "inf"),
            (f64::MAX, "1.7976931348623157e308"),
            (-2.5e-13, "-2.5e-13"),
        ] {
            assert_eq!(numeral(value), words);
            assert_eq!(words.parse::<f64>(), Ok(value));
        }
    }

    #[test]
    fn words_keep_all_but_their_longest_numbers() {
        let (large, small) = (1e300, 2.5e-200);
        let text = format!("row `demand` asks for {small}, found ({large}); -{large:.6}. Then {large}");
        let short = "row `demand` asks for 2.5e-200, found (1e300); -1e300. Then 1e300";
        assert_eq!(with_short_numerals(&text), short);
        for same in [
            "a 3.25 in file.csv",
            "/data/1000000000000000000000000000000/x",
            "hash 1234567890123456789012345678901234567890",
            "0.12345678901234567890123456789",
            "",
            "µ 1e300 inf NaN ...",
        ] {
            assert_eq!(with_short_numerals(same), same);
        }
    }
}
