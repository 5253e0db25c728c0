//! "did you mean ...?" for a word that is almost a known one.

/// Likeness (0 to 1) from which a known word is worth suggesting.
const ALIKE: f64 = 0.5;

/// The hint to append to a message, empty when no known word is like the one found.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let word = word.to_lowercase();
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&word, known);
    let best = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match best {
        Some(best) if likeness(best) >= ALIKE => format!("; did you mean `{best}`?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn only_words_that_are_alike_are_suggested() {
        assert_eq!(hint("Rng", ["ring", "clique"]), "; did you mean `ring`?");
        assert_eq!(hint("qwertz", ["ring", "clique"]), "");
        assert_eq!(hint("ring", []), "");
    }
}
