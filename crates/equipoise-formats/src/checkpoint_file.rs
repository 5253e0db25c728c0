//! A run that was put aside, as a file: `--checkpoint FILE`.
//!
//! ```text
//! "EQPCKPT\n"   version   length of the head   head (JSON, padded with spaces)   number of words   words   checksum
//! ```
//!
//! every number 64 bits, the smallest byte first. The head says which run it is: the command, its settings in words, a
//! digest of its data, the rows of its history. The words are those of a snapshot, of which this module knows nothing.
//! The checksum is that of everything before it: a file that is cut short or damaged is refused, never read in part.

use std::io::Write;
use std::path::Path;

use equipoise::problem::Problem;
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::smooth::SmoothTerm;
use equipoise::{Control, Pass};
use serde::{Deserialize, Serialize};

use crate::numbers::read_bytes;
use crate::whole_file::write_whole;
use crate::{Error, Result};

/// What every checkpoint begins with.
const MAGIC: [u8; 8] = *b"EQPCKPT\n";
/// Another layout has another number.
const VERSION: u64 = 1;
/// Bytes of a word.
const WORD: usize = 8;

/// Which run a checkpoint is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The command, such as `solve`.
    pub command: String,
    /// The version of equipoise: another may compute other bits.
    pub version: String,
    /// Settings that the numbers depend on, by name.
    pub settings: Vec<(String, String)>,
    /// A digest of the data.
    pub data: String,
}

impl RunIdentity {
    /// Of a command of this version.
    pub fn new(command: &str, settings: Vec<(String, String)>, data: &Digest) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { command: command.into(), version, settings, data: format!("{:016x}", data.value()) }
    }

    /// In words, what distinguishes a run that is there from this one, which is wanted; `None` where they are the same.
    pub fn differs_from(&self, there: &Self) -> Option<String> {
        if self.command != there.command {
            return Some(format!("it is of `{}`, not of `{}`", there.command, self.command));
        }
        let mut differences = Vec::new();
        let mut compare = |name: &str, here: &str, there: &str| {
            if here != there {
                differences.push(format!("{name} is {here} here and {there} there"));
            }
        };
        compare("the version of equipoise", &self.version, &there.version);
        let of = |list: &[(String, String)], wanted: &str| {
            let found = list.iter().find(|(name, _)| name == wanted);
            found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
        };
        for (name, here) in &self.settings {
            compare(name, here, &of(&there.settings, name));
        }
        if self.data != there.data {
            differences.push("the data are not the same".into());
        }
        (!differences.is_empty()).then(|| differences.join("; "))
    }
}

/// A run that was put aside.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointFile {
    /// Which run.
    pub run: RunIdentity,
    /// The history so far, as text; empty without one.
    pub history: String,
    /// A snapshot.
    pub words: Vec<u64>,
}

/// The head, as JSON has it.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    run: RunIdentity,
    #[serde(default)]
    history: String,
}

/// Writes a checkpoint, which appears whole in place of the one before.
pub fn write_checkpoint(path: impl AsRef<Path>, checkpoint: &CheckpointFile) -> Result<()> {
    let path = path.as_ref();
    let head = Head { run: checkpoint.run.clone(), history: checkpoint.history.clone() };
    let mut head = serde_json::to_vec(&head).map_err(|error| bad(path, &format!("a head that {error}")))?;
    head.resize(head.len().next_multiple_of(WORD), b' ');
    write_whole(path, |out| {
        let mut sum = Digest::default();
        let mut put = |word: u64| {
            sum.word(word);
            out.write_all(&word.to_le_bytes())
        };
        put(u64::from_le_bytes(MAGIC))?;
        put(VERSION)?;
        put(head.len() as u64)?;
        head.chunks_exact(WORD).try_for_each(|bytes| put(word_of(bytes)))?;
        put(checkpoint.words.len() as u64)?;
        checkpoint.words.iter().try_for_each(|word| put(*word))?;
        out.write_all(&sum.value().to_le_bytes())
    })
}

/// Reads a checkpoint, or says what is wrong with it.
pub fn read_checkpoint(path: impl AsRef<Path>, control: &Control) -> Result<CheckpointFile> {
    let path = path.as_ref();
    parse_checkpoint(&read_bytes(path, control)?, path)
}

/// [`read_checkpoint`] from bytes; the path is for messages.
pub fn parse_checkpoint(bytes: &[u8], path: impl AsRef<Path>) -> Result<CheckpointFile> {
    parse(bytes).map_err(|found| bad(path.as_ref(), &found))
}

/// The checkpoint that these bytes are; else what was found instead.
fn parse(bytes: &[u8]) -> std::result::Result<CheckpointFile, String> {
    if !bytes.starts_with(&MAGIC) {
        return Err("a file that does not begin as a checkpoint does".into());
    }
    if !bytes.len().is_multiple_of(WORD) || bytes.len() < 5 * WORD {
        return Err(format!("{} bytes, as if it had been cut short", bytes.len()));
    }
    let (body, stored) = bytes.split_at(bytes.len() - WORD);
    let version = word_of(&body[WORD..2 * WORD]);
    if version != VERSION {
        return Err(format!("layout {version}, which this version does not know"));
    }
    let mut sum = Digest::default();
    body.chunks_exact(WORD).for_each(|word| sum.word(word_of(word)));
    if sum.value() != word_of(stored) {
        return Err("a checksum of something else: it is damaged or cut short".into());
    }
    let mut rest = &body[2 * WORD..];
    let head = take(&mut rest, 1)?;
    let head: Head = serde_json::from_slice(head).map_err(|error| format!("a head that is none: {error}"))?;
    let words = take(&mut rest, WORD)?;
    if !rest.is_empty() {
        return Err("more than a checkpoint holds".into());
    }
    let words = words.chunks_exact(WORD).map(word_of).collect();
    Ok(CheckpointFile { run: head.run, history: head.history, words })
}

/// A length and as many items of so many bytes, taken off the front.
fn take<'b>(rest: &mut &'b [u8], item: usize) -> std::result::Result<&'b [u8], String> {
    let ends = || "lists that end too early".to_owned();
    let (length, behind) = rest.split_at_checked(WORD).ok_or_else(ends)?;
    let length = usize::try_from(word_of(length)).ok().and_then(|length| length.checked_mul(item));
    let (taken, behind) = behind.split_at_checked(length.ok_or_else(ends)?).ok_or_else(ends)?;
    *rest = behind;
    Ok(taken)
}

/// Eight bytes as a word.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word)
}

fn bad(path: &Path, found: &str) -> Error {
    Error::BadCheckpoint { path: path.into(), found: found.into() }
}

/// A digest of numbers: the same for the same bits, another for others, as good as always. It is no defence against malice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }
}

impl Digest {
    /// Takes a word in.
    #[inline]
    pub fn word(&mut self, word: u64) {
        // The finaliser of splitmix64 over what came before and the word.
        let mut z = (self.0 ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.0 = (z ^ (z >> 31)).rotate_left(17);
    }

    /// Takes numbers in, with how many they are.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.word(numbers.len() as u64);
        numbers.iter().for_each(|number| self.word(number.to_bits()));
    }

    /// What it has come to.
    pub fn value(&self) -> u64 {
        self.0
    }
}

/// A digest of a problem by what it computes: f with its gradient, h, A and b at a point that looks random, and what the
/// problem is made of. Costs about as much as two gradients.
pub fn digest_problem<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    control: &Control,
) -> Pass<Digest> {
    let (mut digest, n, f) = (Digest::default(), problem.dimension(), problem.smooth());
    let coupling = problem.coupling();
    let counts = [n, problem.blocks().len(), problem.graph().edge_count(), coupling.rows(), f.product_len()];
    counts.into_iter().for_each(|count| digest.word(count as u64));
    digest.numbers(problem.start());
    digest.numbers(coupling.rhs());
    // Anywhere will do, as long as it is no place where terms cancel.
    let mut place = Digest::default();
    let mut anywhere = |_| {
        place.word(1);
        (place.value() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let x: Vec<f64> = (0..n).map(&mut anywhere).collect();
    let of_rows: Vec<f64> = (0..coupling.rows()).map(&mut anywhere).collect();
    let (mut product, mut gradient) = (vec![0.0; f.product_len()], vec![0.0; n]);
    f.fill_product(&x, &mut product, control)?;
    f.gradient(&x, &product, &mut gradient, control)?;
    digest.word(f.value(&x, &product).to_bits());
    digest.numbers(&gradient);
    for c in 0..n {
        digest.word(f.curvature(c).to_bits());
        digest.word(coupling.column_dot(c, &of_rows).to_bits());
    }
    match problem.separable() {
        Nonsmooth::Coordinates(h) => {
            for (c, x) in x.iter().enumerate() {
                let (lower, upper) = h.domain(c);
                let (low, high) = h.subdifferential(c, 0.0_f64.clamp(lower, upper));
                [lower, upper, low, high, h.prox(c, 8.0 * x, 1.0), h.prox(c, -40.0 * x, 0.5)]
                    .into_iter()
                    .for_each(|number| digest.word(number.to_bits()));
            }
        }
        Nonsmooth::Groups(_) => digest.word(problem.view().separable_value(&x).to_bits()),
    }
    for block in 0..problem.blocks().len() {
        problem.blocks().coordinates(block).for_each(|c| digest.word(c as u64));
        digest.word(u64::MAX);
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::Coupling;
    use equipoise::separable::L1;
    use equipoise::smooth::Distance;

    fn sample() -> CheckpointFile {
        let settings = vec![("seed".to_owned(), "1".to_owned()), ("tolerance".to_owned(), "1e-6".to_owned())];
        let run = RunIdentity::new("solve", settings, &Digest::default());
        CheckpointFile { run, history: "a,b\n1,2\n".into(), words: vec![0, 1, u64::MAX, 0.1_f64.to_bits()] }
    }

    fn path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("equipoise-checkpoint-{}-{name}", std::process::id()))
    }

    #[test]
    fn what_is_written_is_read_back() {
        let path = path("back");
        write_checkpoint(&path, &sample()).expect("written");
        assert_eq!(read_checkpoint(&path, &Control::unlimited()).expect("read"), sample());
    }

    #[test]
    fn a_file_that_is_cut_short_or_damaged_is_refused_with_words() {
        let path = path("damaged");
        write_checkpoint(&path, &sample()).expect("written");
        let whole = std::fs::read(&path).expect("there");
        assert!(parse(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_err(), "{length} bytes of {}", whole.len());
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(parse(&damaged).is_err(), "byte {place}");
        }
        std::fs::write(&path, &whole[..whole.len() - 3]).expect("writable");
        let refused = read_checkpoint(&path, &Control::unlimited()).expect_err("cut short").to_string();
        assert!(refused.contains("cut short") && refused.contains("checkpoint"), "{refused}");
    }

    #[test]
    fn what_differs_is_said() {
        let here = sample().run;
        assert_eq!(here.differs_from(&sample().run), None);
        let mut there = here.clone();
        there.settings[0].1 = "2".into();
        there.data = "other".into();
        let words = here.differs_from(&there).expect("they differ");
        assert_eq!(words, "seed is 1 here and 2 there; the data are not the same");
        there.command = "svm train".into();
        assert!(here.differs_from(&there).is_some_and(|words| words.contains("`svm train`")));
    }

    #[test]
    fn a_digest_sees_every_part_of_a_problem() {
        let digest = |target: [f64; 3], weight: f64, l1: f64, rhs: f64| {
            let problem = Problem::builder(Distance::new(target.to_vec(), weight).expect("finite"))
                .separable(L1::new(l1).expect("valid"))
                .coupling(Coupling::sum(rhs).expect("finite"))
                .build()
                .expect("valid");
            digest_problem(&problem, &Control::unlimited()).expect("in memory").value()
        };
        let first = digest([1.0, 2.0, 3.0], 0.5, 0.1, 1.0);
        assert_eq!(first, digest([1.0, 2.0, 3.0], 0.5, 0.1, 1.0));
        let others = [
            digest([1.0, 2.0, 3.0 + 1e-15], 0.5, 0.1, 1.0),
            digest([1.0, 2.0, 3.0], 0.25, 0.1, 1.0),
            digest([1.0, 2.0, 3.0], 0.5, 0.2, 1.0),
            digest([1.0, 2.0, 3.0], 0.5, 0.1, 1.5),
        ];
        assert!(others.iter().all(|other| *other != first), "{others:?}");
    }
}
