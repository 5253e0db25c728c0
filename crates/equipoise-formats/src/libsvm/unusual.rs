//! Everything that is seldom: odd spellings, comments, query numbers, and faults.
//!
//! `chunk.rs` reads plain rows and hands every other place over to here. Nothing here is fast, and
//! nothing here is guessed: numbers go through `str::parse`, and what is refused is refused with its
//! position and in words. Must not know of chunks, threads or columns.

use std::collections::HashSet;

use super::fault::Fault;

/// What stands at the beginning of a line.
pub(super) enum Beginning {
    /// A label, and the position behind it.
    Label(f64, usize),
    /// Nothing but blanks or a comment; the position of the next line.
    Nothing(usize),
}

/// Bytes between two words of a line.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// Bytes that end a word.
#[inline]
pub(super) fn ends_word(byte: u8) -> bool {
    is_blank(byte) || byte == b'\n' || byte == b'#'
}

/// The position of the next line.
pub(super) fn next_line(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| at + length + 1)
}

/// Reads the beginning of a line.
#[cold]
pub(super) fn beginning(text: &[u8], mut at: usize) -> Result<Beginning, Fault> {
    while is_blank(text[at]) {
        at += 1;
    }
    if text[at] == b'\n' || text[at] == b'#' {
        return Ok(Beginning::Nothing(next_line(text, at)));
    }
    let word = word(text, at);
    if let Some(label) = number(word).filter(|label| label.is_finite()) {
        return Ok(Beginning::Label(label, at + word.len()));
    }
    let found = quoted(word);
    let allowed = "a label: one finite number such as +1, -1 or 0.5";
    let advice = if word.contains(&b',') {
        "rows with several labels are not read: keep one label a row, or split the file by label"
    } else if word.contains(&b':') {
        "begin the row with its label; rows without one can be given the label 0"
    } else if number(word).is_some() {
        "replace the label by a finite number, or remove the row"
    } else {
        "rows read `label feature:value feature:value`; name classes by numbers, and check that this is the right file"
    };
    Err(Fault { at, found, allowed, advice })
}

/// Reads `feature:value`: the feature's number, its value, the position behind it.
#[cold]
pub(super) fn entry(text: &[u8], at: usize) -> Result<(u32, f64, usize), Fault> {
    let word = word(text, at);
    let fault = |at, found, allowed, advice| Err(Fault { at, found, allowed, advice });
    let Some(colon) = word.iter().position(|&byte| byte == b':') else {
        let advice = "write each entry as the feature's number, a colon and its value";
        return fault(at, quoted(word), "entries `feature:value` behind the label", advice);
    };
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    let whole = !index.is_empty() && index.iter().all(u8::is_ascii_digit);
    let feature = std::str::from_utf8(index).ok().filter(|_| whole).and_then(|digits| digits.parse().ok());
    let allowed = "a whole number from 1 to 4294967295 before the colon";
    let feature = match feature {
        Some(0) => {
            return fault(
                at,
                "feature number 0".into(),
                allowed,
                "add 1 to every feature number of the file",
            );
        }
        Some(feature) => feature,
        None if whole => {
            let advice = "number the features from 1 without large gaps, or hash them to fewer than 2^32";
            return fault(at, format!("feature number {}", shown(index)), allowed, advice);
        }
        None if index == b"qid" => {
            let advice = "put the query number behind the label, as in `1 qid:7 3:0.5`, or remove it";
            return fault(at, quoted(word), "`qid:` and a whole number, right after the label", advice);
        }
        None => return fault(at, quoted(index), allowed, "replace the name of the feature by its number"),
    };
    let allowed = "a finite number behind the colon";
    match number(value) {
        Some(value) if value.is_finite() => Ok((feature, value, at + word.len())),
        Some(_) => fault(
            at + colon + 1,
            quoted(value),
            allowed,
            "leave the entry out where the value is missing, or replace it by a number below 1.8e308",
        ),
        None if value.is_empty() => fault(
            at + colon + 1,
            "no value".into(),
            allowed,
            "write `feature:value` without blanks around the colon",
        ),
        None => fault(
            at + colon + 1,
            quoted(value),
            allowed,
            "replace the value by a number such as 0.5 or 3e-05",
        ),
    }
}

/// The position behind `qid:N`; anything else that begins with no digit is a fault.
#[cold]
pub(super) fn query(text: &[u8], label_end: usize, at: usize) -> Result<usize, Fault> {
    let word = word(text, at);
    if let Some(digits) = word.strip_prefix(b"qid:") {
        let first = text[label_end..at].iter().all(|&byte| is_blank(byte));
        if first && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            return Ok(at + word.len());
        }
    }
    entry(text, at).map(|(_, _, behind)| behind)
}

/// The fault of a row that gives a feature twice; its entries start behind `label_end`.
#[cold]
pub(super) fn repeated(text: &[u8], label_end: usize) -> Fault {
    let mut seen = HashSet::new();
    let mut at = label_end;
    while text[at] != b'\n' && text[at] != b'#' {
        let word = word(text, at);
        if word.is_empty() {
            at += 1;
            continue;
        }
        if let Ok((feature, _, _)) = entry(text, at)
            && !seen.insert(feature)
        {
            return Fault {
                at,
                found: format!("feature {feature} a second time in this row"),
                allowed: "each feature at most once a row",
                advice: "add up the values or remove one of them",
            };
        }
        at += word.len();
    }
    unreachable!("only rows with a repeated feature are asked about")
}

/// The word from `at` on.
fn word(text: &[u8], at: usize) -> &[u8] {
    let length = text[at..].iter().position(|&byte| ends_word(byte)).unwrap_or(text.len() - at);
    &text[at..at + length]
}

fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A piece of the file for a message, in quotes.
fn quoted(word: &[u8]) -> String {
    format!("{:?}", shown(word))
}

/// A piece of the file, not longer than a glance.
fn shown(word: &[u8]) -> String {
    const GLANCE: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(4 * GLANCE)]);
    if text.chars().count() <= GLANCE {
        return text.into_owned();
    }
    text.chars().take(GLANCE).chain("...".chars()).collect()
}
