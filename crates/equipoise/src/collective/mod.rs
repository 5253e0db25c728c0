//! Ranks: processes that each hold some of the coordinates and act as one.
//!
//! ```text
//! sum      x_0 + x_1 + ... + x_(P-1)      in this order on every rank, so that all have the same bits
//! ```
//!
//! - Given: numbers of this rank; every rank makes the same calls in the same order.
//! - Returns: the same numbers on every rank.
//! - Must not know: what is computed, who starts the processes.
//!
//! A world says how numbers travel ([`Collective::gather`], [`Collective::deal`], [`Collective::broadcast`]); everything else follows
//! from these. Every call begins with a frame of a fixed length: the number of the call, what is asked for, and a hash of what
//! all ranks should have in common. So ranks that have come apart learn it by an error that names one of them, and do not wait
//! for each other for ever. After an error a world is at its end: every further call answers with the same error at once.

mod accord;
mod alone;
mod ledger;
mod post;
mod threads;

pub use accord::Accord;
pub use alone::Alone;
pub use ledger::{Ledger, Traffic};
pub use post::{Letters, Post};
pub use threads::Threads;

use crate::control::{Control, Halt};
use crate::error::{Error, Result};

/// Numbers that a frame carries besides its head; what is longer follows it.
const IN_FRAME: usize = 12;
/// Numbers of the head: the call, its kind, its length, the hash.
const HEAD: usize = 4;
/// The length of every frame.
const FRAME: usize = HEAD + IN_FRAME;
/// Numbers up to which a sum is one gather; longer ones are dealt, added up in shares, and gathered.
const SHORT_SUM: usize = 256;

/// How numbers travel between ranks.
///
/// The first three ways are for the others, which make sure that all ranks mean the same call; nobody else needs them.
///
/// ```
/// use equipoise::collective::{Collective, Threads};
/// let sums = Threads::run(3, |world| {
///     let mut numbers = [1.0, world.rank() as f64];
///     world.sum(&mut numbers).map(|()| numbers)
/// });
/// assert!(sums.into_iter().all(|sum| sum == Ok([3.0, 3.0])));
/// ```
pub trait Collective: std::fmt::Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// `all` becomes what every rank has as `own`, in the order of the ranks; all of the same length.
    fn gather(&self, own: &[f64], all: &mut [f64]) -> Result<()>;

    /// Of `blocks`, one a rank, each rank is dealt its own; `dealt` becomes the blocks for this rank, in the order of the ranks they
    /// come from.
    fn deal(&self, blocks: &[f64], dealt: &mut [f64]) -> Result<()>;

    /// Numbers become those of rank 0.
    fn broadcast(&self, numbers: &mut [f64]) -> Result<()>;

    /// What this rank remembers of its calls.
    fn ledger(&self) -> &Ledger;

    /// Numbers become their sums over all ranks, added up in the order of the ranks.
    fn sum(&self, numbers: &mut [f64]) -> Result<()> {
        let length = numbers.len();
        self.ledger().once(|| {
            if length <= IN_FRAME {
                let all = frames(self, Kind::Sum, length, numbers)?;
                add_up(numbers, all.chunks(FRAME).map(|frame| &frame[HEAD..]));
            } else {
                frames(self, Kind::Sum, length, &[])?;
                if length <= SHORT_SUM {
                    let all = gathered(self, numbers)?;
                    add_up(numbers, all.chunks(length));
                } else {
                    long_sum(self, numbers)?;
                }
            }
            self.ledger().witness(numbers);
            Ok(())
        })
    }

    /// The largest of the numbers that ranks have; NaN counts for nothing beside others.
    fn largest(&self, number: f64) -> Result<f64> {
        self.ledger().once(|| {
            let all = frames(self, Kind::Largest, 1, &[number])?;
            let largest = all.chunks(FRAME).map(|frame| frame[HEAD]).fold(f64::NAN, f64::max);
            self.ledger().witness(&[largest]);
            Ok(largest)
        })
    }

    /// What every rank has, in the order of the ranks; lengths may differ.
    fn lists(&self, own: &[f64]) -> Result<Vec<Vec<f64>>> {
        self.ledger().once(|| {
            let lengths = frames(self, Kind::Lists, 0, &[own.len() as f64])?;
            let lengths: Vec<usize> = lengths.chunks(FRAME).map(|frame| frame[HEAD] as usize).collect();
            let longest = lengths.iter().copied().max().unwrap_or(0);
            let mut padded = own.to_vec();
            padded.resize(longest, 0.0);
            let all = if longest > 0 { gathered(self, &padded)? } else { Vec::new() };
            let lists = lengths.iter().enumerate();
            Ok(lists.map(|(k, length)| all[k * longest..][..*length].to_vec()).collect())
        })
    }

    /// Numbers become those of rank 0; all ranks must have as many.
    fn lead(&self, numbers: &mut [f64]) -> Result<()> {
        self.ledger().once(|| {
            frames(self, Kind::Lead, numbers.len(), &[])?;
            // Along a tree a rank sends its numbers on once, about.
            let sent = if self.rank() == 0 { numbers.len() } else { 0 };
            self.ledger().counted(sent, || self.broadcast(numbers))?;
            self.ledger().witness(numbers);
            Ok(())
        })
    }

    /// Everyone goes on where everyone can; otherwise everyone learns which rank cannot, and why.
    fn agree(&self, complaint: Option<&str>) -> Result<()> {
        for (rank, what) in self.texts(complaint.unwrap_or_default())?.into_iter().enumerate() {
            if !what.is_empty() {
                return Err(Error::Rank { rank, what });
            }
        }
        Ok(())
    }

    /// The words of every rank, in the order of the ranks.
    fn texts(&self, own: &str) -> Result<Vec<String>> {
        let bytes: Vec<f64> = own.bytes().map(f64::from).collect();
        let text = |bytes: Vec<f64>| {
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(self.lists(&bytes)?.into_iter().map(text).collect())
    }

    /// Why all ranks should end, where one of them should; a wish to stop comes before a limit.
    fn halted(&self, control: &Control) -> Result<Option<Halt>> {
        let own = match control.halted() {
            None => 0.0,
            Some(Halt::Interrupted) => 2.0,
            Some(_) => 1.0,
        };
        Ok(match self.largest(own)? {
            0.0 => None,
            1.0 => Some(Halt::TimeLimit),
            _ => Some(Halt::Interrupted),
        })
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Sum,
    Largest,
    Lists,
    Lead,
}

impl Kind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Sum, "a sum"),
        (Self::Largest, "a largest number"),
        (Self::Lists, "lists"),
        (Self::Lead, "numbers of rank 0"),
    ];
}

/// The frames of all ranks, which are of the same call.
fn frames<W: Collective + ?Sized>(world: &W, kind: Kind, length: usize, carried: &[f64]) -> Result<Vec<f64>> {
    let (call, hash) = world.ledger().next_call();
    let mut frame = [0.0; FRAME];
    frame[..HEAD].copy_from_slice(&[call, f64::from(kind as u8), length as f64, hash]);
    frame[HEAD..HEAD + carried.len()].copy_from_slice(carried);
    let all = gathered(world, &frame)?;
    let first = &all[..HEAD];
    for (rank, other) in all.chunks(FRAME).enumerate() {
        if other[..HEAD] != *first {
            return Err(Error::Rank { rank, what: difference(first, &other[..HEAD]) });
        }
    }
    Ok(all)
}

/// How a head differs from that of rank 0.
fn difference(first: &[f64], other: &[f64]) -> String {
    let named = |head: &[f64]| {
        let name = Kind::ALL.get(head[1] as usize).map_or("something unknown", |(_, name)| name);
        format!("call {} for {name} of length {}", head[0], head[2])
    };
    if first[..3] == other[..3] {
        return format!("at call {} its numbers are no longer those of rank 0", other[0]);
    }
    format!("it makes {}, and rank 0 {}", named(other), named(first))
}

fn gathered<W: Collective + ?Sized>(world: &W, own: &[f64]) -> Result<Vec<f64>> {
    let mut all = vec![0.0; own.len() * world.ranks()];
    let sent = own.len() * (world.ranks() - 1);
    world.ledger().counted(sent, || world.gather(own, &mut all))?;
    Ok(all)
}

/// Every rank adds up a share of the numbers.
fn long_sum<W: Collective + ?Sized>(world: &W, numbers: &mut [f64]) -> Result<()> {
    let (ranks, length) = (world.ranks(), numbers.len());
    let share = length.div_ceil(ranks);
    world.ledger().within(2 * share * ranks + share, |room| {
        let (blocks, rest) = room.split_at_mut(share * ranks);
        let (dealt, own) = rest.split_at_mut(share * ranks);
        blocks[..length].copy_from_slice(numbers);
        blocks[length..].fill(0.0);
        world.ledger().counted(share * (ranks - 1), || world.deal(blocks, dealt))?;
        add_up(own, dealt.chunks(share));
        // Blocks have arrived: there is room for all sums.
        world.ledger().counted(share * (ranks - 1), || world.gather(own, blocks))?;
        numbers.copy_from_slice(&blocks[..length]);
        Ok(())
    })
}

/// The sums of lists that are at least as long, in their order.
fn add_up<'l>(sums: &mut [f64], mut lists: impl Iterator<Item = &'l [f64]>) {
    let length = sums.len();
    if let Some(first) = lists.next() {
        sums.copy_from_slice(&first[..length]);
    }
    for list in lists {
        sums.iter_mut().zip(list).for_each(|(sum, number)| *sum += number);
    }
}

#[cfg(test)]
mod tests;
