//! Several ranks as one command: the same words typed, results that all have or none.

use std::num::NonZeroUsize;
use std::time::Instant;

use anyhow::Result;
use equipoise::collective::{Collective, Traffic};
use serde::Serialize;

use crate::exit::note;

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

/// When work on ranks began, and what had travelled by then.
pub(crate) struct Departure {
    before: Traffic,
    at: Instant,
}

impl Departure {
    pub(crate) fn now(world: &dyn Collective) -> Self {
        Self { before: world.ledger().traffic(), at: Instant::now() }
    }

    /// What has travelled since on all ranks; nothing where there is one.
    pub(crate) fn travelled(&self, world: &dyn Collective) -> Result<Option<Travelled>> {
        if world.ranks() == 1 {
            return Ok(None);
        }
        let (after, seconds) = (world.ledger().traffic(), self.at.elapsed().as_secs_f64());
        let bytes = (after.bytes_sent - self.before.bytes_sent) as f64;
        let mut sums = [bytes, (after.seconds - self.before.seconds) / seconds];
        world.sum(&mut sums)?;
        let ranks = world.ranks();
        Ok(Some(Travelled { ranks, bytes_sent: sums[0] as u64, communication: sums[1] / ranks as f64 }))
    }
}

/// Ranks, the bytes they sent, the share of the time in which a rank waited or sent: fields of `--json`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Travelled {
    pub(crate) ranks: usize,
    pub(crate) bytes_sent: u64,
    pub(crate) communication: f64,
}

/// A word, on every rank that may not use as many processors as it was given threads.
pub(crate) fn note_processors(world: &dyn Collective, threads: usize) {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if let Some(words) = of_processors(world.rank(), processors, threads) {
        note(words);
    }
}

fn of_processors(rank: usize, processors: usize, threads: usize) -> Option<String> {
    (threads > processors).then(|| {
        format!(
            "note: rank {rank} may use {processors} of the processors, and --threads is {threads}; \
             mpirun --bind-to none, or --map-by slot:PE={threads}, lets it use more"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::collective::Threads;

    #[test]
    fn what_travelled_is_that_of_all_ranks() {
        let found = Threads::run(3, |world| {
            let departure = Departure::now(&*world);
            world.sum(&mut [1.0; 1000]).expect("ranks that agree");
            departure.travelled(&*world).expect("ranks that agree").expect("several")
        });
        assert!(found.iter().all(|travelled| *travelled == found[0]), "{found:?}");
        assert!(found[0].ranks == 3 && found[0].bytes_sent > 8000, "{found:?}");
        assert!((0.0..=1.0).contains(&found[0].communication), "{found:?}");
        assert_eq!(of_processors(1, 2, 2), None);
        assert!(of_processors(1, 2, 4).is_some_and(|words| words.starts_with("note: rank 1 may use 2 of")));
    }

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
