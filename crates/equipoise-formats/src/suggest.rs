//! "did you mean ...?" for a word that is almost a known one.

use equipoise::UnknownName;

/// Likeness (0 to 1) from which a known word is worth suggesting.
const ALIKE: f64 = 0.5;

/// The known word most like `word`, if any is like it at all.
///
/// ```
/// use equipoise_formats::suggest::nearest;
/// assert_eq!(nearest("Rng", &["ring", "clique"]), Some("ring"));
/// assert_eq!(nearest("qwertz", &["ring", "clique"]), None);
/// ```
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&word, known);
    let best = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= ALIKE).then_some(best)
}

/// A name that is unknown, in words, with a suggestion where it is almost a known one.
///
/// ```
/// let unknown = "pair".parse::<equipoise::Method>().unwrap_err();
/// assert!(equipoise_formats::suggest::unknown(&unknown).ends_with("saga; did you mean `pairs`?"));
/// ```
pub fn unknown(unknown: &UnknownName) -> String {
    let stem = unknown.text.split(':').next().unwrap_or_default();
    match nearest(stem, &unknown.known) {
        // A known name with a bad parameter needs no hint.
        Some(best) if best != stem => format!("{unknown}; did you mean `{best}`?"),
        _ => unknown.to_string(),
    }
}
