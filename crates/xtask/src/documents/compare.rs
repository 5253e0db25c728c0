//! Whether a text says what another one shows: words as they are, numbers to a tolerance, times not at all.
//!
//! A number with a point or an exponent is met within `relative * |shown| + absolute`; whole numbers are counts and are met exactly.
//! A number before ` s`, ` ms` or ` us`, or right below a heading `seconds`, is a time and is met by any number. In a line, `...` stands for anything within a word, for
//! a word, or, at the end, for the rest of the line; a line of nothing else stands for any lines. Blanks count as one. Knows
//! nothing of pages and commands.

/// How far a number may be from the one shown.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
}

/// What commands print: to the accuracy that is asked for by default, digits below it are the way of the solver.
pub(crate) const PRINTED: Tolerance = Tolerance { relative: 1e-4, absolute: 1e-9 };
/// Coordinates of pictures, in pixels.
pub(crate) const DRAWN: Tolerance = Tolerance { relative: 1e-6, absolute: 0.06 };

enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
}

/// Numbers and what is between them.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let bytes = line.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut tokens, mut at, mut start) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let sign = usize::from(bytes[at] == b'-');
        let whole = digits(at + sign);
        if whole == 0 {
            at += 1;
            continue;
        }
        let mut end = at + sign + whole;
        if bytes.get(end) == Some(&b'.') {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
            let exponent = if end + 1 + sign < bytes.len() { digits(end + 1 + sign) } else { 0 };
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        if start < at {
            tokens.push(Token::Word(&line[start..at]));
        }
        tokens.push(Token::Number(&line[at..end]));
        (at, start) = (end, end);
    }
    if start < line.len() {
        tokens.push(Token::Word(&line[start..]));
    }
    tokens
}

fn is_unit_of_time(word: &str) -> bool {
    ["s", "ms", "us"].iter().any(|unit| {
        word.strip_prefix(' ')
            .and_then(|word| word.strip_prefix(unit))
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    })
}

fn is_met(shown: &str, found: &str, tolerance: Tolerance) -> bool {
    let is_count = |text: &str| !text.contains(['.', 'e', 'E']);
    if shown == found {
        return true;
    }
    if is_count(shown) && is_count(found) {
        return false;
    }
    match (shown.parse::<f64>(), found.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= tolerance.relative * a.abs() + tolerance.absolute,
        _ => false,
    }
}

/// Whether a word is the one shown, in which `...` stands for anything.
fn is_glob(shown: &str, word: &str) -> bool {
    let mut rest = word;
    for (k, part) in shown.split("...").enumerate() {
        match rest.find(part) {
            Some(0) => rest = &rest[part.len()..],
            Some(at) if k > 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    shown.ends_with("...") || rest.is_empty()
}

/// Whether a line found is the line shown.
pub(crate) fn is_line(shown: &str, found: &str, tolerance: Tolerance) -> bool {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (shown, found) = (words(shown), words(found));
    if !shown.iter().any(|word| word.contains("...")) {
        return is_text(&shown.join(" "), &found.join(" "), tolerance);
    }
    let open = shown.last().is_some_and(|word| word == "...");
    let lengths = if open { shown.len() <= found.len() + 1 } else { shown.len() == found.len() };
    lengths
        && shown.iter().zip(&found).all(|(shown, found)| {
            if shown.contains("...") { is_glob(shown, found) } else { is_text(shown, found, tolerance) }
        })
}

fn is_text(shown: &str, found: &str, tolerance: Tolerance) -> bool {
    let (shown, found) = (tokens(shown), tokens(found));
    shown.len() == found.len()
        && shown.iter().zip(&found).enumerate().all(|(k, pair)| match pair {
            (Token::Word(a), Token::Word(b)) => a == b,
            (Token::Number(a), Token::Number(b)) => {
                let time = matches!(shown.get(k + 1), Some(Token::Word(word)) if is_unit_of_time(word));
                time || is_met(a, b, tolerance)
            }
            _ => false,
        })
}

/// Where the column of a table that is headed `seconds` ends, if this line is the head of such a table.
fn seconds_end(line: &str) -> Option<usize> {
    let end = line.find("seconds")? + "seconds".len();
    let stands_alone = line[end..].chars().next().is_none_or(char::is_whitespace);
    let is_heading = !line.bytes().any(|byte| byte.is_ascii_digit());
    (stands_alone && is_heading).then_some(end)
}

/// The line with `...` in place of the number that ends where the column of seconds does.
fn without_seconds(line: &str, end: usize) -> String {
    let Some(head) = line.get(..end) else { return line.to_owned() };
    let start = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let ends = line[end..].chars().next().is_none_or(char::is_whitespace);
    if !ends || head[start..].parse::<f64>().is_err() {
        return line.to_owned();
    }
    format!("{}...{}", &line[..start], &line[end..])
}

/// The first line shown that was not found, counted from 0, beside what is there instead; nothing where all is as shown.
pub(crate) fn first_difference(
    shown: &[&str],
    found: &[&str],
    tolerance: Tolerance,
) -> Option<(String, String)> {
    let mut at = 0;
    let mut seconds = None;
    for (k, &line) in shown.iter().enumerate() {
        seconds = seconds_end(line).or(seconds).filter(|_| !line.trim().is_empty());
        let timeless = seconds.map_or_else(|| line.to_owned(), |end| without_seconds(line, end));
        if line.trim() == "..." {
            let next = shown.get(k + 1)?;
            at += found[at..].iter().position(|found| is_line(next, found, tolerance)).unwrap_or(0);
            continue;
        }
        match found.get(at) {
            Some(other) if is_line(&timeless, other, tolerance) => at += 1,
            other => {
                return Some((line.to_owned(), other.map_or("(the end)", |other| other).to_owned()));
            }
        }
    }
    found.get(at).map(|more| ("(the end)".to_owned(), (*more).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(shown: &str, found: &str) -> bool {
        is_line(shown, found, PRINTED)
    }

    #[test]
    fn numbers_are_met_to_a_tolerance_and_counts_exactly() {
        assert!(same(
            "objective  0.1119342651 (at least 0.1119)",
            "objective 0.1119342650 (at least 0.1119)"
        ));
        assert!(!same("objective 0.1120", "objective 0.1119"));
        assert!(same("gap 9.5e-16", "gap 1.2e-15") && !same("gap 9.5e-6", "gap 1.2e-5"));
        assert!(!same("rounds 14", "rounds 15") && same("x 14.0", "x 14"));
        assert!(!same("x -0.5", "x 0.5") && !same("x 0.5", "y 0.5") && !same("x 0.5 0.5", "x 0.5"));
    }

    #[test]
    fn times_are_masked_and_nothing_else_is() {
        assert!(same("work 3 rounds, 0.01 s", "work 3 rounds, 12 s"));
        assert!(same("0.2 ms to load", "17.25 ms to load"));
        assert!(!same("3 samples", "4 samples") && !same("3 rounds", "4 rounds"));
    }

    #[test]
    fn a_column_headed_seconds_is_masked_and_its_neighbours_are_not() {
        let table = ["cost  support    seconds  accuracy", "0.01       78      0.001   97.50 %"];
        let differs =
            |row: &str| first_difference(&table, &[table[0], row], PRINTED).map(|(shown, _)| shown).is_some();
        assert!(
            !differs("0.01       78      0.000   97.50 %") && !differs("0.01       78     12.345   97.50 %")
        );
        assert!(
            differs("0.01       77      0.001   97.50 %") && differs("0.01       78      0.001   95.00 %")
        );
        assert!(differs("0.01       78      0.001"), "a column is missing");
        let prose = ["it took seconds", "a value of 1.5"];
        assert!(first_difference(&prose, &["it took seconds", "a value of 1.6"], PRINTED).is_some());
    }

    #[test]
    fn dots_stand_for_anything() {
        assert!(
            same("work tree, ... s", "work tree, 0.1 s") && !same("work tree, ... s", "work pairs, 0.1 s")
        );
        assert!(
            same("0.5 ... 1.25e-3", "0.5000000001 0.017 1.25e-3") && !same("0.5 ... 1.25", "0.6 0.017 1.25")
        );
        assert!(same("a 1 ...", "a 1 b c") && same("a 1 ...", "a 1") && !same("a 2 ...", "a 1 b"));
        let all = ["a 1", "b 2", "c 3"];
        let ends = |shown: &[&str]| first_difference(shown, &all, PRINTED);
        assert_eq!(ends(&["a 1", "..."]), None);
        assert_eq!(ends(&["...", "c 3"]), None);
        assert_eq!(ends(&["a 1", "...", "d 4"]), Some(("d 4".into(), "b 2".into())));
        assert_eq!(ends(&["a 1", "b 2"]), Some(("(the end)".into(), "c 3".into())));
        assert_eq!(ends(&["a 1", "b 2", "c 3", "d 4"]), Some(("d 4".into(), "(the end)".into())));
    }
}
