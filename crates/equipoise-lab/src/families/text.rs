//! Documents over words whose frequencies fall as `1 / rank` (Zipf), in classes with a topic each.
//!
//! A document draws words until [`WORDS`] distinct ones occurred: most from the common order of words, a share from the
//! order of its class. An order is a permutation of the vocabulary; the word at rank r is drawn with a probability
//! proportional to 1 / r. The share of the topic is uniform in `[0, TOPIC)` for each document, and a few documents are
//! filed under another class, so that classes overlap as they do in life.
//!
//! ```text
//! counts   tf, how often the word occurs in the document
//! tf-idf   tf (ln((1 + n) / (1 + df)) + 1), each row divided by its Euclidean norm
//! ```

use std::collections::BTreeMap;

use super::Row;
use crate::random::Stream;

const DOCUMENTS: usize = 15_000;
const VOCABULARY: usize = 60_000;
/// Distinct words of a document.
const WORDS: usize = 100;
/// The largest share of a document's words that come from its topic.
const TOPIC: f64 = 0.2;
/// The share of documents that are filed under a class drawn at random.
const MISFILED: f64 = 0.02;

/// What stands for a word in its document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Values {
    Counts,
    TfIdf,
}

/// The parameters.
#[derive(Debug)]
pub(super) struct Text<'a> {
    pub(super) seed: u64,
    pub(super) values: Values,
    /// The share of documents in each class; two classes are labelled -1 and 1, others from 1 on.
    pub(super) shares: &'a [f64],
}

impl Text<'_> {
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut random = Stream::new(self.seed);
        let zipf = Zipf::new(VOCABULARY);
        let common = random.permutation(VOCABULARY);
        let topics: Vec<Vec<usize>> = self.shares.iter().map(|_| random.permutation(VOCABULARY)).collect();
        let mut documents = Vec::with_capacity(DOCUMENTS);
        for _ in 0..DOCUMENTS {
            let class = self.class(&mut random);
            let topic = TOPIC * random.unit();
            let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
            while counts.len() < WORDS {
                let order = if random.unit() < topic { &topics[class] } else { &common };
                *counts.entry(order[zipf.rank(random.unit())]).or_default() += 1.0;
            }
            let filed = if random.unit() < MISFILED { self.class(&mut random) } else { class };
            documents.push((filed, counts));
        }
        let inverse = inverse_frequencies(documents.iter().map(|(_, counts)| counts));
        let row = |(class, counts): (usize, BTreeMap<usize, f64>)| {
            let mut entries: Vec<(usize, f64)> = counts.into_iter().collect();
            if self.values == Values::TfIdf {
                entries.iter_mut().for_each(|(word, value)| *value *= inverse[*word]);
                let norm = entries.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
                entries.iter_mut().for_each(|(_, value)| *value /= norm);
            }
            Row { label: self.label(class), entries }
        };
        documents.into_iter().map(row).collect()
    }

    fn class(&self, random: &mut Stream) -> usize {
        let mut left = random.unit();
        let within = |share: &f64| {
            left -= share;
            left < 0.0
        };
        self.shares.iter().position(within).unwrap_or(self.shares.len() - 1)
    }

    fn label(&self, class: usize) -> f64 {
        match (self.shares.len(), class) {
            (2, 0) => -1.0,
            (2, _) => 1.0,
            _ => (class + 1) as f64,
        }
    }
}

fn inverse_frequencies<'d>(documents: impl Iterator<Item = &'d BTreeMap<usize, f64>>) -> Vec<f64> {
    let mut seen = vec![0.0; VOCABULARY];
    documents.for_each(|counts| counts.keys().for_each(|&word| seen[word] += 1.0));
    let all = 1.0 + DOCUMENTS as f64;
    seen.iter().map(|count| (all / (1.0 + count)).ln() + 1.0).collect()
}

/// Ranks from 0 with probabilities proportional to `1 / (rank + 1)`.
struct Zipf {
    /// Sums of the probabilities up to each rank.
    up_to: Vec<f64>,
}

impl Zipf {
    fn new(ranks: usize) -> Self {
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        up_to.iter_mut().for_each(|value| *value /= sum);
        Self { up_to }
    }

    fn rank(&self, uniform: f64) -> usize {
        self.up_to.partition_point(|&sum| sum <= uniform).min(self.up_to.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_word_is_half_as_frequent_as_the_first() {
        let (zipf, mut random) = (Zipf::new(1000), Stream::new(1));
        let mut counts = [0_u32; 2];
        for _ in 0..100_000 {
            let rank = zipf.rank(random.unit());
            counts.iter_mut().skip(rank).take(1).for_each(|count| *count += 1);
        }
        let ratio = f64::from(counts[0]) / f64::from(counts[1]);
        assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn rows_of_tf_idf_have_norm_one_and_counts_are_whole() {
        let of = |values| Text { seed: 1, values, shares: &[0.5, 0.5] }.rows();
        for row in of(Values::TfIdf).iter().take(10) {
            let norm: f64 = row.entries.iter().map(|(_, value)| value * value).sum();
            assert!((norm - 1.0).abs() < 1e-12);
        }
        let counts = of(Values::Counts);
        assert!(counts.iter().flat_map(|row| &row.entries).all(|(_, count)| count.fract() == 0.0));
    }
}
