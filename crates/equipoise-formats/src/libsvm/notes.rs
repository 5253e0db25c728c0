//! What a user should know about data that are well-formed all the same.

use super::columns::magnitude;

/// Scales that differ by more are worth a word.
const FAR_APART: f64 = 1e4;

/// A word about features of very different scales; given the largest `|value|` of each.
pub(super) fn scales(features: &[u32], sizes: &[u32]) -> Option<String> {
    let places = || 0..sizes.len();
    // The first of equals, in both directions.
    let large = places().rev().max_by_key(|&place| sizes[place])?;
    let small = places().min_by_key(|&place| sizes[place])?;
    let (most, least) = (magnitude(sizes[large]), magnitude(sizes[small]));
    (most > FAR_APART * least).then(|| {
        format!(
            "feature {} reaches {} and feature {} only {}: scale the features (svm-scale or a standardiser), \
             or expect slow convergence",
            features[large],
            rounded(most),
            features[small],
            rounded(least),
        )
    })
}

/// A word about entries whose features have no column.
pub(super) fn dropped(entries: usize, smallest: u32) -> Option<String> {
    let plural = if entries == 1 { "y" } else { "ies" };
    (entries > 0).then(|| {
        format!(
            "left out {entries} entr{plural} of features that are not among those asked for, \
             such as feature {smallest}"
        )
    })
}

/// Three digits.
fn rounded(size: f64) -> String {
    let short: f64 = format!("{size:.2e}").parse().unwrap_or(size);
    if (1e-3..1e5).contains(&short) { format!("{short}") } else { format!("{short:e}") }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn sizes_read_well() {
        for (size, words) in [(0.5, "0.5"), (2.3e6, "2.3e6"), (12.3456, "12.3"), (1e-7, "1e-7"), (1.0, "1")] {
            assert_eq!(rounded(size), words);
        }
    }
}
