//! Numbers on their way into a snapshot and out of it, by one piece of code for both ways.
//!
//! A type that is to be kept has one method that names its numbers one after the other. An archive that is written takes
//! each; one that is read puts each back, in the same order. So the two ways cannot disagree, and what is put back has the
//! bits that were taken.
//!
//! - Given: numbers, flags, lists of them, random generators, each by a mutable reference.
//! - Returns: a list of words; or [`Error::BadSnapshot`] where a list of words does not fit what is there.
//! - Must not know: whose numbers they are.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::error::{Error, Result};

/// A list of words that is being written, or being read.
///
/// ```
/// use equipoise::solve::Archive;
///
/// fn carry(count: &mut u64, scales: &mut Vec<f64>, archive: &mut Archive<'_>) -> equipoise::Result<()> {
///     archive.word(count)?;
///     archive.list(scales, |length| length <= 3)
/// }
///
/// let mut archive = Archive::to_write();
/// carry(&mut 7, &mut vec![0.1, f64::INFINITY], &mut archive)?;
/// let words = archive.into_words();
/// let (mut count, mut scales) = (0, Vec::new());
/// let mut archive = Archive::to_read(&words);
/// carry(&mut count, &mut scales, &mut archive)?;
/// archive.end()?;
/// assert_eq!((count, scales), (7, vec![0.1, f64::INFINITY]));
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug)]
pub struct Archive<'w> {
    way: Way<'w>,
}

#[derive(Debug)]
enum Way<'w> {
    In(Vec<u64>),
    /// What is left.
    Out(&'w [u64]),
}

impl<'w> Archive<'w> {
    /// Takes what it is shown.
    pub fn to_write() -> Self {
        Self { way: Way::In(Vec::new()) }
    }

    /// Puts back what was taken.
    pub fn to_read(words: &'w [u64]) -> Self {
        Self { way: Way::Out(words) }
    }

    /// Whether it puts back.
    pub fn is_read(&self) -> bool {
        matches!(self.way, Way::Out(_))
    }

    /// What was taken; nothing of an archive that is read.
    pub fn into_words(self) -> Vec<u64> {
        match self.way {
            Way::In(words) => words,
            Way::Out(_) => Vec::new(),
        }
    }

    /// Refuses words that nobody asked for.
    pub fn end(self) -> Result<()> {
        match self.way {
            Way::Out(left) if !left.is_empty() => Err(bad("it holds more than belongs there")),
            _ => Ok(()),
        }
    }

    /// A word of 64 bits.
    pub fn word(&mut self, word: &mut u64) -> Result<()> {
        match &mut self.way {
            Way::In(words) => words.push(*word),
            Way::Out(left) => {
                let (first, others) = left.split_first().ok_or_else(|| bad("it ends too early"))?;
                (*word, *left) = (*first, others);
            }
        }
        Ok(())
    }

    /// A number, with all its bits.
    pub fn number(&mut self, number: &mut f64) -> Result<()> {
        let mut word = number.to_bits();
        self.word(&mut word)?;
        *number = f64::from_bits(word);
        Ok(())
    }

    /// A number that may be absent.
    pub fn maybe(&mut self, number: &mut Option<f64>) -> Result<()> {
        let (mut is_there, mut value) = (number.is_some(), number.unwrap_or(0.0));
        self.flag(&mut is_there)?;
        self.number(&mut value)?;
        *number = is_there.then_some(value);
        Ok(())
    }

    /// Yes or no.
    pub fn flag(&mut self, flag: &mut bool) -> Result<()> {
        let mut word = u64::from(*flag);
        self.word(&mut word)?;
        if word > 1 {
            return Err(bad("a flag is neither 0 nor 1"));
        }
        *flag = word == 1;
        Ok(())
    }

    /// A count of at most so much.
    pub fn count(&mut self, count: &mut usize, most: usize) -> Result<()> {
        let mut word = *count as u64;
        self.word(&mut word)?;
        let found = usize::try_from(word).ok().filter(|found| *found <= most);
        *count = found.ok_or_else(|| bad("a count is too large"))?;
        Ok(())
    }

    /// A small count, of which there will be more.
    pub fn small(&mut self, count: &mut u32) -> Result<()> {
        let mut word = u64::from(*count);
        self.word(&mut word)?;
        let found = u32::try_from(word).ok().filter(|found| *found <= u32::MAX / 2);
        *count = found.ok_or_else(|| bad("a count is too large"))?;
        Ok(())
    }

    /// A count of work, of which there will be more: no run comes to 2^53.
    pub fn work(&mut self, count: &mut u64) -> Result<()> {
        self.word(count)?;
        if *count > 1 << 53 { Err(bad("a count is too large")) } else { Ok(()) }
    }

    /// As many numbers as there are.
    pub fn numbers(&mut self, numbers: &mut [f64]) -> Result<()> {
        let length = self.length(numbers.len())?;
        if length != numbers.len() {
            return Err(bad("a list has another length"));
        }
        numbers.iter_mut().try_for_each(|number| self.number(number))
    }

    /// A list of numbers whose length may change, to one that fits.
    pub fn list(&mut self, list: &mut Vec<f64>, fits: impl Fn(usize) -> bool) -> Result<()> {
        let length = self.length(list.len())?;
        if !fits(length) {
            return Err(bad("a list has another length"));
        }
        list.resize(length, 0.0);
        list.iter_mut().try_for_each(|number| self.number(number))
    }

    /// A list of words.
    pub fn words(&mut self, list: &mut Vec<u64>) -> Result<()> {
        let length = self.length(list.len())?;
        list.resize(length, 0);
        list.iter_mut().try_for_each(|word| self.word(word))
    }

    /// A list of indices below an end, no longer than that.
    pub(crate) fn indices(&mut self, list: &mut Vec<u32>, end: usize) -> Result<()> {
        let length = self.length(list.len())?;
        if length > end {
            return Err(bad("a list has another length"));
        }
        list.resize(length, 0);
        for index in list.iter_mut() {
            self.small(index)?;
            if *index as usize >= end {
                return Err(bad("an index is too large"));
            }
        }
        Ok(())
    }

    /// The length of a list; one that is read is no longer than what is left.
    pub fn length(&mut self, length: usize) -> Result<usize> {
        let (mut length, left) = match &self.way {
            Way::In(_) => (length, usize::MAX),
            Way::Out(left) => (length, left.len()),
        };
        self.count(&mut length, left)?;
        Ok(length)
    }

    /// A generator of random numbers, which goes on where it stood.
    pub(crate) fn generator(&mut self, generator: &mut Xoshiro256PlusPlus) -> Result<()> {
        let mut words = if self.is_read() { [0; 4] } else { words_of(generator)? };
        words.iter_mut().try_for_each(|word| self.word(word))?;
        if self.is_read() {
            *generator = with_words(words);
        }
        Ok(())
    }
}

/// A snapshot that does not fit.
fn bad(what: &'static str) -> Error {
    Error::BadSnapshot { what }
}

/// The state of a generator. Its crate shows it in its debug form only; what is read there is compared with the generator.
fn words_of(generator: &Xoshiro256PlusPlus) -> Result<[u64; 4]> {
    let shown = format!("{generator:?}");
    let mut numbers = shown
        .split(|character: char| !character.is_ascii_digit())
        .rev()
        .filter_map(|digits| digits.parse::<u64>().ok());
    let mut words = [0; 4];
    for word in words.iter_mut().rev() {
        *word = numbers.next().unwrap_or(0);
    }
    if with_words(words) == *generator { Ok(words) } else { Err(bad("a random generator cannot be kept")) }
}

fn with_words(words: [u64; 4]) -> Xoshiro256PlusPlus {
    let mut seed = [0; 32];
    seed.chunks_exact_mut(8).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
    Xoshiro256PlusPlus::from_seed(seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::Rng;

    #[test]
    fn a_generator_goes_on_where_it_stood() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(7);
        (0..1000).for_each(|_| {
            generator.next_u64();
        });
        let mut archive = Archive::to_write();
        archive.generator(&mut generator).expect("kept");
        let words = archive.into_words();
        let mut again = Xoshiro256PlusPlus::seed_from_u64(0);
        Archive::to_read(&words).generator(&mut again).expect("put back");
        assert_eq!(again, generator);
        assert!((0..100).all(|_| again.next_u64() == generator.next_u64()));
    }

    #[test]
    fn words_that_do_not_fit_are_refused() {
        let refused = |read: &dyn Fn(&mut Archive<'_>) -> Result<()>, words: &[u64]| {
            let mut archive = Archive::to_read(words);
            matches!(read(&mut archive), Err(Error::BadSnapshot { .. }))
        };
        assert!(refused(&|archive| archive.word(&mut 0), &[]));
        assert!(refused(&|archive| archive.flag(&mut false), &[2]));
        assert!(refused(&|archive| archive.count(&mut 0, 3), &[4]));
        assert!(refused(&|archive| archive.small(&mut 0), &[1 << 32]));
        // A length beyond what is left must not be allocated.
        assert!(refused(&|archive| archive.list(&mut Vec::new(), |_| true), &[u64::MAX]));
        assert!(refused(&|archive| archive.words(&mut Vec::new()), &[1 << 60, 1]));
        assert!(refused(&|archive| archive.numbers(&mut [0.0; 2]), &[1, 0]));
        assert!(refused(&|archive| archive.indices(&mut Vec::new(), 3), &[2, 0, 3]));
        assert!(Archive::to_read(&[1]).end().is_err() && Archive::to_read(&[]).end().is_ok());
    }
}
