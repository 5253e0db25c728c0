//! What a page shows: commands, what they print, the pictures they draw. Nothing is run here.
//!
//! | in the page | meaning |
//! |---|---|
//! | a block `sh` | commands that must succeed |
//! | a block `console` | `$ command`, and below it all that it prints; where that is an error, the command must fail |
//! | `<!-- folder: examples/consensus -->` | where the commands of the page run; else the folder of the page |
//! | `<!-- not run: why -->` above a block | its commands are not run, which is said aloud |
//! | `<!-- drawn: path.svg -->` above a picture | the picture is the one that the commands left under that name |

use std::ops::Range;

use anyhow::{Result, bail};

/// One command.
#[derive(Debug, PartialEq)]
pub(crate) struct Command {
    /// As typed, continued lines joined.
    pub(crate) typed: String,
    /// Its line in the page, from 1.
    pub(crate) line: usize,
    /// The lines that show what it prints, from 0; none in a block `sh`, which shows nothing.
    pub(crate) shown: Option<Range<usize>>,
}

/// A page, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) folder: Option<String>,
    pub(crate) commands: Vec<Command>,
    /// The file that is drawn, and the picture of the page.
    pub(crate) pictures: Vec<(String, String)>,
    /// Why, for every block that is not run, with its line from 1.
    pub(crate) left_out: Vec<(usize, String)>,
}

fn mark<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    Some(
        line.trim()
            .strip_prefix("<!--")?
            .strip_suffix("-->")?
            .trim()
            .strip_prefix(name)?
            .strip_prefix(':')?
            .trim(),
    )
}

/// Whether a line of a block that claims to be no command looks like one.
fn looks_typed(line: &str) -> bool {
    ["$ ", "equipoise ", "cargo ", "pip "].iter().any(|start| line.starts_with(start))
}

/// The target of a picture of Markdown.
fn picture(line: &str) -> Option<&str> {
    line.trim().strip_prefix("![")?.strip_suffix(')')?.rsplit_once("](").map(|(_, target)| target)
}

pub(crate) fn read(text: &str) -> Result<Page> {
    let lines: Vec<&str> = text.lines().collect();
    let mut page = Page::default();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if let Some(folder) = mark(line, "folder") {
            page.folder = Some(folder.to_owned());
        }
        if let Some(file) = mark(line, "drawn") {
            let Some(target) = lines.get(at + 1).and_then(|next| picture(next)) else {
                bail!("line {}: `drawn: {file}` is not followed by a picture", at + 1);
            };
            page.pictures.push((file.to_owned(), target.to_owned()));
        }
        let Some(kind) = line.strip_prefix("```") else {
            at += 1;
            continue;
        };
        let Some(length) = lines[at + 1..].iter().position(|line| line.starts_with("```")) else {
            bail!("line {}: a block without an end", at + 1);
        };
        let body = at + 1..at + 1 + length;
        let why = at.checked_sub(1).and_then(|above| mark(lines[above], "not run"));
        match (why, kind) {
            (Some(""), _) => bail!("line {at}: `not run` without a reason"),
            (Some(why), _) => page.left_out.push((at + 1, why.to_owned())),
            (None, "sh") => typed(&lines, body.clone(), &mut page),
            (None, "console") => printed(&lines, body.clone(), &mut page)?,
            (None, _) => {
                if let Some(line) = body.clone().find(|&k| looks_typed(lines[k])) {
                    bail!(
                        "line {}: `{}` stands in a block `{kind}`, which is not run; make it `sh` or `console`, or say \
                         why not by `<!-- not run: ... -->` above it",
                        line + 1,
                        lines[line]
                    );
                }
            }
        }
        at = body.end + 1;
    }
    Ok(page)
}

/// The commands of a block `sh`.
fn typed(lines: &[&str], body: Range<usize>, page: &mut Page) {
    let mut at = body.start;
    while at < body.end {
        let (typed, next) = joined(lines, at, body.end);
        if !typed.trim().is_empty() && !typed.starts_with('#') {
            page.commands.push(Command { typed, line: at + 1, shown: None });
        }
        at = next;
    }
}

/// The commands of a block `console`, and what they print.
fn printed(lines: &[&str], body: Range<usize>, page: &mut Page) -> Result<()> {
    let mut at = body.start;
    while at < body.end {
        let (typed, next) = joined(lines, at, body.end);
        let Some(typed) = typed.strip_prefix("$ ") else {
            bail!("line {}: a block `console` begins with `$ command`", at + 1);
        };
        let end = (next..body.end).find(|&k| lines[k].starts_with("$ ")).unwrap_or(body.end);
        page.commands.push(Command { typed: typed.to_owned(), line: at + 1, shown: Some(next..end) });
        at = end;
    }
    Ok(())
}

/// A line with those that continue it, and the line after them.
fn joined(lines: &[&str], start: usize, end: usize) -> (String, usize) {
    let (mut text, mut at) = (lines[start].to_owned(), start + 1);
    while text.ends_with('\\') && at < end {
        text.truncate(text.len() - 1);
        text += lines[at].trim_start();
        at += 1;
    }
    (text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_outputs_and_pictures_are_found() {
        let text = "<!-- folder: examples/x -->\n```sh\nequipoise a \\\n    b\ncat c\n```\n```console\n$ one\nsays 1\nsays 2\n$ two\n```\n\
                    <!-- drawn: p.svg -->\n![A curve](images/p.svg)\n<!-- not run: an hour -->\n```sh\nequipoise long\n```\n";
        let page = read(text).expect("a page");
        assert_eq!(page.folder.as_deref(), Some("examples/x"));
        let expected = [
            ("equipoise a b", 3, None),
            ("cat c", 5, None),
            ("one", 8, Some(8..10)),
            ("two", 11, Some(11..11)),
        ];
        let expected = expected.map(|(typed, line, shown)| Command { typed: typed.into(), line, shown });
        assert_eq!(page.commands, expected);
        assert_eq!(page.pictures, [("p.svg".to_owned(), "images/p.svg".to_owned())]);
        assert_eq!(page.left_out, [(16, "an hour".to_owned())]);
    }

    #[test]
    fn commands_that_would_not_be_run_are_refused() {
        for text in [
            "```text\n$ equipoise solve\n```\n",
            "```\nequipoise solve\n```\n",
            "<!-- not run: -->\n```sh\nequipoise solve\n```\n",
            "```console\nsays 1\n```\n",
            "```sh\nequipoise solve\n",
            "<!-- drawn: p.svg -->\nwords\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
