//! A table of words, numbers and verdicts, as HTML.

use std::fmt::Write;

use crate::escape::{escaped, marked};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The numbers show what was claimed.
    Reproduced,
    /// They do not.
    NotReproduced,
    /// They show more than was claimed.
    Beyond,
    /// This run says nothing about it.
    Untested,
}

impl Verdict {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::Beyond => "beyond",
            Self::Untested => "not tested here",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Reproduced => "yes",
            Self::NotReproduced => "no",
            Self::Beyond => "beyond",
            Self::Untested => "open",
        }
    }

    /// A sign beside the words, so that colour is not all there is.
    fn sign(self) -> &'static str {
        match self {
            Self::Reproduced => "\u{2713}",
            Self::NotReproduced => "\u{2717}",
            Self::Beyond => "\u{2191}",
            Self::Untested => "\u{2013}",
        }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words, with `code` and **bold** in them.
    Text(String),
    /// A number as it is to be shown; to the right.
    Number(String),
    /// A verdict, as a badge.
    Verdict(Verdict),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Rows of cells under named columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    caption: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
    wide: bool,
}

impl Table {
    /// No rows yet.
    pub fn new<S: Into<String>>(caption: impl Into<String>, columns: impl IntoIterator<Item = S>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), columns, ..Self::default() }
    }

    /// With one more row.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// With cells of sentences: on narrow screens each row becomes a card.
    #[must_use]
    pub fn of_sentences(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows as GitHub's Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        out.push_str(&line(self.columns.clone()));
        let number = |column: usize| {
            self.rows.first().is_some_and(|row| matches!(row.get(column), Some(Cell::Number(_))))
        };
        let rule = |column| if number(column) { "---:".to_owned() } else { "---".to_owned() };
        out.push_str(&line((0..self.columns.len()).map(rule).collect()));
        for row in &self.rows {
            let words = |cell: &Cell| match cell {
                Cell::Text(text) | Cell::Number(text) => text.replace('|', "\\|"),
                Cell::Verdict(verdict) => format!("**{}**", verdict.words()),
            };
            out.push_str(&line(row.iter().map(words).collect()));
        }
        out
    }

    pub(crate) fn html(&self) -> String {
        let class = if self.wide { " class=\"cards\"" } else { "" };
        let mut out = format!("<div class=\"table\" tabindex=\"0\"><table{class}>");
        if !self.caption.is_empty() {
            let _ = write!(out, "<caption>{}</caption>", marked(&self.caption));
        }
        out.push_str("<thead><tr>");
        for (column, name) in self.columns.iter().enumerate() {
            let number =
                self.rows.first().is_some_and(|row| matches!(row.get(column), Some(Cell::Number(_))));
            let _ = write!(
                out,
                "<th scope=\"col\"{}>{}</th>",
                if number { " class=\"n\"" } else { "" },
                marked(name)
            );
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let label = escaped(self.columns.get(column).map_or("", String::as_str));
                let _ = match cell {
                    Cell::Text(text) => write!(out, "<td data-label=\"{label}\">{}</td>", marked(text)),
                    Cell::Number(text) => {
                        write!(out, "<td data-label=\"{label}\" class=\"n\">{}</td>", escaped(text))
                    }
                    Cell::Verdict(verdict) => write!(
                        out,
                        "<td data-label=\"{label}\"><span class=\"badge {}\"><span aria-hidden=\"true\">{}</span> {}</span></td>",
                        verdict.class(),
                        verdict.sign(),
                        verdict.words()
                    ),
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_what_they_are() {
        let table = Table::new("What", ["claim", "ratio", "verdict"]).row([
            Cell::from("a < b"),
            Cell::Number("2.0".into()),
            Cell::Verdict(Verdict::NotReproduced),
        ]);
        let html = table.html();
        for piece in ["a &lt; b", "class=\"n\">2.0", "badge no", "not reproduced", "<caption>What</caption>"]
        {
            assert!(html.contains(piece), "{piece}: {html}");
        }
        assert_eq!(
            table.markdown(),
            "| claim | ratio | verdict |\n| --- | ---: | --- |\n| a < b | 2.0 | **not reproduced** |\n"
        );
    }
}
