//! Words into HTML: what has a meaning there is written out; backticks make code, double asterisks make it bold.

use std::fmt::Write;

/// Words as they are.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
    out
}

/// Words with `code` and **bold** in them; a mark without its partner is a mark.
pub(crate) fn marked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let next = [("`", "code"), ("**", "strong")]
            .into_iter()
            .filter_map(|(mark, tag)| Some((rest.find(mark)?, mark, tag)))
            .min_by_key(|found| found.0);
        let Some((at, mark, tag)) = next else { break };
        let inside = &rest[at + mark.len()..];
        let Some(end) = inside.find(mark) else { break };
        let _ = write!(out, "{}<{tag}>{}</{tag}>", escaped(&rest[..at]), escaped(&inside[..end]));
        rest = &inside[end + mark.len()..];
    }
    out + &escaped(rest)
}

/// A name that can be a link's target.
pub(crate) fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

/// JSON inside a script element: nothing in it can end that element.
pub(crate) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_words_becomes_markup() {
        assert_eq!(
            marked("a < b & `x<y` **\"c\"**"),
            "a &lt; b &amp; <code>x&lt;y</code> <strong>&quot;c&quot;</strong>"
        );
        assert_eq!(marked("2 ** 3 and `open"), "2 ** 3 and `open");
        assert_eq!(slug("Figure 1: Star + Ring"), "figure-1-star-ring");
        assert_eq!(json(&serde_json::json!("</script>")), "\"\\u003c/script>\"");
    }
}
