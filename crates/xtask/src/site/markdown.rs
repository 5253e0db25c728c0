//! From the Markdown that repositories are read in to that of mkdocs: links followed, and what the two read differently.
//!
//! | there | here |
//! |---|---|
//! | `\|` in code within a table | an entity within `<code>`: otherwise the backslash is shown |
//! | a list right below a line | an empty line between |
//!
//! Blocks of code are left alone. Knows nothing of files.

use std::fmt::Write as _;

use anyhow::Result;

/// The page, with every link replaced by what `follow` makes of it.
pub(super) fn page(text: &str, mut follow: impl FnMut(&str) -> Result<String>) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut before = "";
    for line in text.lines() {
        let mark = line.trim_start();
        let ticks = &mark[..mark.len() - mark.trim_start_matches('`').len()];
        match fence {
            Some(open) if ticks.len() >= open.len() && mark == ticks => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                if is_item(line) && is_prose(before) {
                    out.push('\n');
                }
                let replaced = if line.starts_with('|') { barred(line) } else { line.to_owned() };
                out.push_str(&linked(&replaced, &mut follow)?);
                out.push('\n');
                before = line;
                continue;
            }
        }
        out.push_str(line);
        out.push('\n');
        before = "";
    }
    Ok(out)
}

/// Whether a line begins an item of a list that is not part of another.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || (number.len() < line.len() && number.starts_with(". "))
}

/// Whether a line is part of a paragraph, which a list would otherwise become part of.
fn is_prose(line: &str) -> bool {
    !line.is_empty() && !line.starts_with([' ', '|', '#', '<']) && !is_item(line)
}

/// A row of a table with the bars in its code as entities.
fn barred(row: &str) -> String {
    let mut out = String::new();
    for (k, part) in row.split('`').enumerate() {
        let (code, last) = (k % 2 == 1, k == row.matches('`').count());
        if code && !last && part.contains("\\|") {
            let entities = part.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = write!(out, "<code>{}</code>", entities.replace("\\|", "&#124;"));
        } else if code {
            let _ = write!(out, "`{part}{}", if last { "" } else { "`" });
        } else {
            out += part;
        }
    }
    out
}

/// A line with its links replaced; what is in backticks is none.
fn linked(line: &str, follow: &mut impl FnMut(&str) -> Result<String>) -> Result<String> {
    let mut out = String::new();
    for (k, part) in line.split('`').enumerate() {
        if k > 0 {
            out.push('`');
        }
        if k % 2 == 1 {
            out += part;
            continue;
        }
        let mut rest = part;
        while let Some((text, after)) = rest.split_once("](") {
            let Some((link, after)) = after.split_once(')') else { break };
            let _ = write!(out, "{text}]({})", follow(link)?);
            rest = after;
        }
        out += rest;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        page(text, |link| Ok(format!("<{link}>"))).expect("nothing fails")
    }

    #[test]
    fn links_are_replaced_outside_of_code() {
        assert_eq!(of("see [a](b.md), ![c](d.svg)\n"), "see [a](<b.md>), ![c](<d.svg>)\n");
        assert_eq!(of("`[a](b)` and [`c`](d)\n"), "`[a](b)` and [`c`](<d>)\n");
        assert_eq!(of("```text\n[a](b)\n```\n[a](b)\n"), "```text\n[a](b)\n```\n[a](<b>)\n");
        assert_eq!(of("````text\n```\n[a](b)\n````\n"), "````text\n```\n[a](b)\n````\n");
    }

    #[test]
    fn bars_in_code_of_a_table_are_entities() {
        assert_eq!(of("| `a\\|<b>` | `c` |\n"), "| <code>a&#124;&lt;b&gt;</code> | `c` |\n");
        assert_eq!(of("no table `a\\|b`\n"), "no table `a\\|b`\n");
    }

    #[test]
    fn a_list_stands_apart() {
        assert_eq!(of("said:\n- one\n  more\n- two\n"), "said:\n\n- one\n  more\n- two\n");
        assert_eq!(of("said:\n1. one\n2. two\n"), "said:\n\n1. one\n2. two\n");
        assert_eq!(of("- one\nmore\n"), "- one\nmore\n");
    }
}
