//! Several ranks as one command: the same words typed, results that all have or none.

use anyhow::Result;
use equipoise::collective::Collective;

/// Refuses ranks that are of another version or were given other words, with the first difference.
pub(crate) fn same_words(world: &dyn Collective, version: &str, typed: &[String]) -> Result<()> {
    let version = version.lines().take(2).collect::<Vec<_>>().join(", ");
    // The first word is the name of the program, wherever it lies.
    let own = [&[version], typed.get(1..).unwrap_or_default()].concat().join("\n");
    let first = &world.texts(&own)?[0];
    world.agree(difference(first, &own).as_deref())?;
    Ok(())
}

/// The first line in which a text differs from that of rank 0.
fn difference(first: &str, own: &str) -> Option<String> {
    if first == own {
        return None;
    }
    let (mut of_first, mut of_own) = (first.lines(), own.lines());
    for place in 0.. {
        let (a, b) = (of_first.next(), of_own.next());
        if a != b {
            let shown =
                |word: Option<&str>| word.map_or_else(|| "nothing".into(), |word| format!("`{word}`"));
            let what = if place == 0 { "its version is".into() } else { format!("its word {place} is") };
            return Some(format!("{what} {}, on rank 0 {}", shown(b), shown(a)));
        }
    }
    None
}

/// A result, where every rank has one; else what the first rank says that has none.
pub(crate) fn together<T>(world: &dyn Collective, own: Result<T>) -> Result<T> {
    if world.ranks() == 1 {
        return own;
    }
    let complaint = own.as_ref().err().map(|error| format!("{error:#}"));
    world.agree(complaint.as_deref())?;
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::collective::Threads;

    #[test]
    fn other_words_are_told_with_their_rank() {
        let outcomes = Threads::run(3, |world| {
            let cost = if world.rank() == 2 { "2" } else { "1" };
            let typed = ["equipoise-mpi", "svm", "train", "--cost", cost].map(str::to_owned);
            same_words(&*world, "0.1.0", &typed).map_err(|error| error.to_string())
        });
        let expected = "rank 2: its word 4 is `2`, on rank 0 `1`";
        assert!(outcomes.iter().all(|outcome| outcome.as_ref().err().map(String::as_str) == Some(expected)));
        assert_eq!(difference("0.1.0\na", "0.1.0\na"), None);
        assert_eq!(difference("a", "b").as_deref(), Some("its version is `b`, on rank 0 `a`"));
        assert_eq!(difference("a\nb", "a").as_deref(), Some("its word 1 is nothing, on rank 0 `b`"));
    }
}
