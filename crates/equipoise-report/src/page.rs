//! A page: a title, facts about where the numbers come from, sections of words, tables and figures; one HTML text.

use std::fmt::Write;

use crate::chart::DrawingError;
use crate::escape::{escaped, marked, slug};
use crate::figure::Figure;
use crate::table::Table;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");

/// Something in a section.
#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Code(String),
    Table(Table),
    Figure(Box<Figure>),
}

/// Parts under a heading.
#[derive(Debug, Clone)]
pub struct Section {
    title: String,
    parts: Vec<Part>,
}

impl Section {
    /// An empty one.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), parts: Vec::new() }
    }

    /// With a paragraph, in which `code` and **bold** are marked.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(Part::Text(text.into()))
    }

    /// With lines as they were typed or printed.
    #[must_use]
    pub fn code(self, code: impl Into<String>) -> Self {
        self.with(Part::Code(code.into()))
    }

    /// With a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// With a figure.
    #[must_use]
    pub fn figure(self, figure: Figure) -> Self {
        self.with(Part::Figure(Box::new(figure)))
    }

    /// The figures in it.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().filter_map(|part| match part {
            Part::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }

    /// The section as GitHub's Markdown; figures are files of their names under `folder`.
    pub fn markdown(&self, folder: &str) -> String {
        let mut out = format!("## {}\n\n", self.title);
        for part in &self.parts {
            let _ = match part {
                Part::Text(text) => writeln!(out, "{text}\n"),
                Part::Code(code) => writeln!(out, "```text\n{}\n```\n", code.trim_end()),
                Part::Table(table) => writeln!(out, "{}", table.markdown()),
                Part::Figure(figure) => {
                    writeln!(
                        out,
                        "![{}]({folder}/{}.svg)\n\n{}",
                        figure.words(),
                        figure.name(),
                        figure.below()
                    )
                }
            };
        }
        out
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    fn html(&self) -> Result<String, DrawingError> {
        let mut out = format!("<section id=\"part-{}\"><h2>{}</h2>", slug(&self.title), marked(&self.title));
        for part in &self.parts {
            match part {
                Part::Text(text) => {
                    let _ = write!(out, "<p>{}</p>", marked(text));
                }
                Part::Code(code) => {
                    let _ = write!(out, "<pre><code>{}</code></pre>", escaped(code.trim_end()));
                }
                Part::Table(table) => out.push_str(&table.html()),
                Part::Figure(figure) => out.push_str(&figure.html()?),
            }
        }
        out.push_str("</section>\n");
        Ok(out)
    }
}

/// A whole page.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    lead: String,
    facts: Vec<(String, String)>,
    sections: Vec<Section>,
}

impl Page {
    /// A page with nothing on it yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), lead: String::new(), facts: Vec::new(), sections: Vec::new() }
    }

    /// With a sentence or two under the title.
    #[must_use]
    pub fn lead(self, lead: impl Into<String>) -> Self {
        Self { lead: lead.into(), ..self }
    }

    /// With a fact about where the numbers come from: the machine, the version, the command.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// With one more section.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Its sections.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// All its figures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(Section::figures)
    }

    /// The page, with everything it needs.
    pub fn html(&self) -> Result<String, DrawingError> {
        let title = escaped(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header><div class=\"top\"><h1>{title}</h1><button type=\"button\" id=\"theme\" aria-label=\"light or dark\" title=\"light or dark\"><span aria-hidden=\"true\">\u{25D0}</span></button></div>"
        );
        if !self.lead.is_empty() {
            let _ = write!(out, "<p class=\"lead\">{}</p>", marked(&self.lead));
        }
        if !self.facts.is_empty() {
            out.push_str("<dl class=\"facts\">");
            for (name, value) in &self.facts {
                let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), marked(value));
            }
            out.push_str("</dl>");
        }
        if self.sections.len() > 1 {
            out.push_str("<nav aria-label=\"contents\"><ul>");
            for section in &self.sections {
                let _ = write!(
                    out,
                    "<li><a href=\"#part-{}\">{}</a></li>",
                    slug(&section.title),
                    marked(&section.title)
                );
            }
            out.push_str("</ul></nav>");
        }
        out.push_str("</header>\n<main>\n");
        for section in &self.sections {
            out.push_str(&section.html()?);
        }
        let _ = write!(out, "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Chart, Mark, Series, colours};

    fn page() -> Page {
        let series = Series::new(Mark::Line, colours::GREEN, vec![(0.0, 1.0), (1.0, 2.0)]).named("line");
        let chart = Chart::new("", Axis::linear("x"), Axis::linear("y")).with(series);
        let section = Section::new("First").text("Some `code`.").figure(Figure::new("one", "One", chart));
        Page::new("A <page>").lead("What it is.").fact("machine", "two cores").section(section)
    }

    #[test]
    fn a_page_asks_for_nothing_from_elsewhere() {
        let html = page().html().expect("drawn");
        assert!(html.contains("A &lt;page&gt;") && html.ends_with("</html>\n"));
        for forbidden in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn sections_are_markdown_too() {
        let text = page().sections()[0].markdown("pictures");
        assert!(text.starts_with("## First\n\nSome `code`.\n\n![One](pictures/one.svg)"), "{text}");
    }
}
