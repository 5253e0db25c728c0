//! The tags of an SVG file as this crate writes them, one after another.
//!
//! - Given: the text. Returns: names, attributes, and the words behind a tag. Must not know: what is drawn.

use super::canvas::Point;

/// Whether a tag begins something, ends it, or is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Empty,
}

/// One tag, and the words up to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    attributes: &'a str,
    behind: &'a str,
}

/// All tags of a text.
pub(super) fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    // `<` and `>` are written out everywhere else.
    text.split('<').skip(1).filter_map(|part| {
        let (inside, behind) = part.split_once('>')?;
        let (inside, kind) = match (inside.strip_prefix('/'), inside.strip_suffix('/')) {
            (Some(name), _) => (name, Kind::Close),
            (_, Some(whole)) => (whole, Kind::Empty),
            _ => (inside, Kind::Open),
        };
        let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
        Some(Tag { name: &inside[..end], kind, attributes: &inside[end..], behind })
    })
}

impl<'a> Tag<'a> {
    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((key, value)) = rest.split_once("=\"") {
            let (value, behind) = value.split_once('"')?;
            if key.trim() == name {
                return Some(value);
            }
            rest = behind;
        }
        None
    }

    /// The same as a number; 0 where there is none.
    pub(super) fn number(&self, name: &str) -> f32 {
        self.get(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    /// The points of a path.
    pub(super) fn points(&self) -> Vec<Point> {
        let point = |pair: &str| {
            let (x, y) = pair.split_once(',')?;
            Some((x.parse().ok()?, y.parse().ok()?))
        };
        self.get("points").unwrap_or_default().split_whitespace().filter_map(point).collect()
    }

    /// The words behind it.
    pub(super) fn words(&self) -> String {
        const SPELT: [(&str, &str); 5] =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
        SPELT.iter().fold(self.behind.trim().to_owned(), |text, (spelt, letter)| text.replace(spelt, letter))
    }
}
