//! The statements of a MATLAB text, without comments.
//!
//! ```text
//! a = [1 2   % a comment
//!      3 4]; b = 'text'      two statements, of lines 1 and 2
//! ```
//!
//! - Given: a text. Returns: its statements with the lines where they begin. Must not know: what they mean.
//!
//! A statement ends with a semicolon, a comma or its line, outside brackets. Inside brackets lines end with [`LINE_END`], those that go
//! on (`...`) with [`GOES_ON`], so that lines can be counted; what is in quotes is left out.

/// The end of a line inside brackets.
pub(super) const LINE_END: char = '\n';
/// The end of a line that goes on.
pub(super) const GOES_ON: char = '\r';
/// Both.
pub(super) const BREAKS: [char; 2] = [LINE_END, GOES_ON];

/// A statement.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Statement {
    /// The line where it begins, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// Whether its brackets are closed.
    pub(super) is_ended: bool,
}

impl Statement {
    /// What stands to the left and to the right of its equals sign; the left is a name, perhaps with dots.
    pub(super) fn assigned(&self) -> Option<(&str, &str)> {
        let (left, right) = self.text.split_once('=')?;
        let left = left.trim();
        let is_name = !left.is_empty()
            && left.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
        (is_name && !right.starts_with('=')).then_some((left, right))
    }

    /// The names on the left of `[one, other] = ...`; none of any other statement.
    pub(super) fn assigned_together(&self) -> impl Iterator<Item = &str> {
        let inside = self.text.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let is_one = |(_, after): &(&str, &str)| {
            let after = after.trim_start();
            after.starts_with('=') && !after.starts_with("==")
        };
        let names = inside.filter(is_one).map_or("", |(names, _)| names);
        names.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|name| !name.is_empty())
    }

    /// Whether it assigns to a part of a field: `.name(...) = ...`, wherever that stands in it.
    pub(super) fn changes_part_of(&self, name: &str) -> bool {
        let mut rest = self.text.as_str();
        while let Some((_, after)) = rest.split_once('.') {
            rest = after;
            let Some(inside) =
                after.strip_prefix(name).and_then(|after| after.trim_start().strip_prefix('('))
            else {
                continue;
            };
            let mut depth = 1;
            let end = inside.find(|letter: char| {
                depth += i32::from(letter == '(') - i32::from(letter == ')');
                depth == 0
            });
            let behind = end.map_or("", |end| inside[end + 1..].trim_start());
            if behind.starts_with('=') && !behind.starts_with("==") {
                return true;
            }
        }
        false
    }
}

/// The statements of a text.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut list = Vec::new();
    let mut open = Statement::default();
    let (mut depth, mut is_comment) = (0_usize, false);
    for (index, line) in text.lines().enumerate() {
        // Blocks of comments stand between two lines of their own.
        match line.trim() {
            "%{" | "#{" => is_comment = true,
            "%}" | "#}" => {
                is_comment = false;
                continue;
            }
            _ => {}
        }
        if is_comment {
            if depth > 0 {
                open.text.push(GOES_ON);
            }
            continue;
        }
        let mut goes_on = false;
        let mut letters = line.char_indices().peekable();
        while let Some((place, letter)) = letters.next() {
            if open.text.trim().is_empty() && !letter.is_whitespace() {
                open = Statement { line: index + 1, ..Statement::default() };
            }
            match letter {
                '%' => break,
                '.' if line[place..].starts_with("...") => {
                    goes_on = true;
                    break;
                }
                '"' => pass_over(&mut letters, '"'),
                '\'' if is_text(&open.text) => pass_over(&mut letters, '\''),
                ';' | ',' if depth == 0 => end(&mut open, &mut list),
                _ => {
                    depth += usize::from(matches!(letter, '[' | '(' | '{'));
                    depth = depth.saturating_sub(usize::from(matches!(letter, ']' | ')' | '}')));
                    open.text.push(letter);
                }
            }
        }
        match (goes_on, depth > 0) {
            (true, _) => open.text.push(GOES_ON),
            (false, true) => open.text.push(LINE_END),
            (false, false) => end(&mut open, &mut list),
        }
    }
    if depth > 0 {
        list.push(open);
    } else {
        end(&mut open, &mut list);
    }
    list
}

/// Ends a statement.
fn end(open: &mut Statement, list: &mut Vec<Statement>) {
    let done = std::mem::take(open);
    if !done.text.trim().is_empty() {
        list.push(Statement { is_ended: true, ..done });
    }
}

/// Whether a quote after this begins a text, rather than turning a matrix over.
fn is_text(before: &str) -> bool {
    let is_value =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ')' | ']' | '}' | '\'' | '.');
    !before.ends_with(is_value)
}

/// Passes over what is in quotes; two of them are one inside.
fn pass_over(letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>, quote: char) {
    while let Some((_, letter)) = letters.next() {
        if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart() {
        let text = "function mpc = c\na = [1 2 % x = [\n 3 ...\n 4]; b = 'x; ''y'\nc = d'; e(1, 2) = 3\n";
        let found = statements(text);
        let list: Vec<(usize, &str)> = found.iter().map(|own| (own.line, own.text.trim())).collect();
        assert_eq!(
            list,
            [
                (1, "function mpc = c"),
                (2, "a = [1 2 \n 3 \r 4]"),
                (4, "b ="),
                (5, "c = d'"),
                (5, "e(1, 2) = 3")
            ]
        );
        assert!(found.iter().all(|own| own.is_ended));
        assert_eq!(found[1].assigned(), Some(("a", " [1 2 \n 3 \r 4]")));
        assert_eq!((found[0].assigned(), found[4].assigned()), (None, None));
        let together = &statements("[mpc.gen, ~] = deal(1, 2)")[0];
        assert_eq!(together.assigned_together().collect::<Vec<_>>(), ["mpc.gen", "~"]);
        assert_eq!(statements("[1 2] == x")[0].assigned_together().count(), 0);
        assert!(!statements("a = [1 2\n").last().expect("one").is_ended);
    }
}
