//! The fields of a line of text: which sign is between them, what is in quotes.
//!
//! Given: a line without its end. Returns: its fields, blanks around them and quotes removed. Must not know: what they mean.

/// The sign between the fields: whichever of comma, semicolon and tab is there most often outside quotes; a comma if none is.
pub(super) fn separator(line: &[u8]) -> u8 {
    let (mut counts, mut quoted) = ([0_usize; 3], false);
    for &byte in line {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => counts[0] += 1,
            b';' if !quoted => counts[1] += 1,
            b'\t' if !quoted => counts[2] += 1,
            _ => {}
        }
    }
    let [comma, semicolon, tab] = counts;
    if tab > comma && tab > semicolon {
        b'\t'
    } else if semicolon > comma {
        b';'
    } else {
        b','
    }
}

/// The fields of a line; `None` where a quote does not end.
pub(super) fn fields(line: &str, separator: u8) -> Option<Vec<String>> {
    let separator = char::from(separator);
    if !line.contains('"') {
        return Some(line.split(separator).map(|field| field.trim().to_owned()).collect());
    }
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            _ if letter == separator && !quoted => fields.push(std::mem::take(&mut field).trim().to_owned()),
            _ => field.push(letter),
        }
    }
    fields.push(field.trim().to_owned());
    (!quoted).then_some(fields)
}

/// Whether a field says that there is no number.
pub(super) fn is_missing(field: &str) -> bool {
    const WORDS: [&str; 8] = ["", "na", "n/a", "nan", "null", "none", ".", "?"];
    field.len() <= 4 && WORDS.contains(&field.to_ascii_lowercase().as_str())
}

/// A field as a number; NaN where it says that there is none, `None` where it is text.
pub(super) fn number(field: &str) -> Option<f64> {
    if is_missing(field) { Some(f64::NAN) } else { field.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart_and_quotes_removed() {
        let of = |line: &str| fields(line, separator(line.as_bytes()));
        let owned = |list: &[&str]| Some(list.iter().map(|&field| field.to_owned()).collect::<Vec<_>>());
        assert_eq!(of("a, b ,c"), owned(&["a", "b", "c"]));
        assert_eq!(of("a;b,1;c"), owned(&["a", "b,1", "c"]));
        assert_eq!(of("a\tb c\t"), owned(&["a", "b c", ""]));
        assert_eq!(of(r#""a;;;,b","say ""x""",3"#), owned(&["a;;;,b", "say \"x\"", "3"]));
        assert_eq!(of("alone"), owned(&["alone"]));
        assert_eq!(of("\"a,b"), None);
    }

    #[test]
    fn words_for_nothing_are_no_text() {
        for word in ["", "NA", "nan", "NaN", "null", "N/A", "."] {
            assert!(number(word).is_some_and(f64::is_nan), "{word}");
        }
        assert_eq!((number("1e3"), number("-.5"), number("x")), (Some(1000.0), Some(-0.5), None));
    }
}
