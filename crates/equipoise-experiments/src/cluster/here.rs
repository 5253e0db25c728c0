//! This machine in the terms of the model: what ranks that are threads take, from what they took with other rows.
//!
//! ```text
//! seconds on P ranks  =  systems (A + B rows / P)  +  led systems  +  calls c  +  passes e entries / P  +  sum over calls of (alpha + beta length)
//! ```
//!
//! A and c are what every rank does whatever it has of the rows, B and e what they share: told apart by a training on two and on four
//! ranks. Seconds are those of processors ([`clock`]), along the rank that works longest before each call; so ranks may be more than
//! processors, and these may have other work.
//!
//! - Given: calls of trainings with as many columns. Returns: the seconds that others take, whose counts are known.
//! - Must not know: the seconds of the training that it is asked for.

use equipoise::collective::Threads;

use super::clock;
use super::noted::{Call, Kind};

/// Lengths from which on a call is for something that goes with the square of the columns.
const SQUARE: usize = 20;
/// Lengths by which calls are timed, each with how often.
const SHORT: (usize, u32) = (1, 400);
const LONG: (usize, u32) = (50_000, 20);

/// What a training on ranks took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) ranks: usize,
    pub(crate) rows: f64,
    /// Entries of all rows, passes over them, calls, Newton systems that were formed.
    pub(crate) entries: f64,
    pub(crate) passes: f64,
    pub(crate) calls: f64,
    pub(crate) systems: f64,
    /// Numbers of all calls.
    numbers: f64,
    /// Seconds: making systems, what the first rank does alone, all other work, in calls.
    making: f64,
    led: f64,
    rest: f64,
    inside: f64,
}

impl Seen {
    /// Of the calls of every rank, on rows of so many columns.
    pub(crate) fn of(all: &[&[Call]], columns: usize, (rows, entries): (usize, usize), passes: f64) -> Self {
        let mut seen = Self {
            ranks: all.len(),
            rows: rows as f64,
            entries: entries as f64,
            passes,
            calls: all[0].len() as f64,
            systems: 0.0,
            numbers: 0.0,
            making: 0.0,
            led: 0.0,
            rest: 0.0,
            inside: 0.0,
        };
        let is_square = |call: &Call| call.length > SQUARE * columns;
        for (k, call) in all[0].iter().enumerate() {
            let longest = |seconds: fn(&Call) -> f64| {
                all.iter().filter_map(|calls| calls.get(k)).map(seconds).fold(0.0, f64::max)
            };
            let worked = longest(|call| call.worked);
            seen.inside += longest(|call| call.inside);
            seen.numbers += call.length as f64;
            match call.kind {
                Kind::Sum if is_square(call) => {
                    seen.systems += 1.0;
                    seen.making += worked;
                }
                Kind::Lead => seen.led += worked,
                _ => seen.rest += worked,
            }
        }
        seen
    }

    /// All of it.
    pub(crate) fn seconds(&self) -> f64 {
        self.making + self.led + self.rest + self.inside
    }
}

/// Unit costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Here {
    /// A, B, what the first rank does alone; all of a system.
    own: f64,
    shared: f64,
    led: f64,
    /// c and e.
    call: f64,
    entry: f64,
}

/// `a + b / ranks` through what two and four ranks took; neither is less than 0.
fn parted(of_two: f64, of_four: f64) -> (f64, f64) {
    let shared = (4.0 * (of_two - of_four)).clamp(0.0, 2.0 * of_two);
    (of_two - 0.5 * shared, shared)
}

impl Here {
    /// By trainings on two and on four ranks.
    pub(crate) fn of(two: &Seen, four: &Seen) -> Self {
        let of_system = |seen: &Seen| seen.making / seen.systems.max(1.0);
        let (own, shared) = parted(of_system(two), of_system(four));
        // Counts differ a little: all is taken to the passes of two ranks.
        let of_pass = |seen: &Seen| seen.rest / seen.passes.max(1.0);
        let (own_of_pass, shared_of_pass) = parted(of_pass(two), of_pass(four));
        Self {
            own,
            shared: shared / two.rows,
            led: f64::midpoint(two.led / two.systems.max(1.0), four.led / four.systems.max(1.0)),
            call: own_of_pass * two.passes / two.calls,
            entry: shared_of_pass / two.entries,
        }
    }

    /// What a training with these counts takes; its seconds are not looked at.
    pub(crate) fn seconds(&self, asked: &Seen) -> f64 {
        let ranks = asked.ranks as f64;
        let (alpha, beta) = messages(asked.ranks);
        asked.systems * (self.own + self.shared * asked.rows / ranks + self.led)
            + asked.calls * (self.call + alpha)
            + asked.passes * self.entry * asked.entries / ranks
            + asked.numbers * beta
    }
}

/// Seconds of a processor that a sum takes the rank that takes longest, and each of its numbers.
fn messages(ranks: usize) -> (f64, f64) {
    let measured = |(length, times): (usize, u32)| {
        let taken = Threads::run(ranks, |world| {
            let mut numbers = vec![1.0; length];
            // The first has to find memory.
            let first = world.sum(&mut numbers);
            let began = clock::of_thread();
            let all_went = first.is_ok() && (0..times).all(|_| world.sum(&mut numbers).is_ok());
            if all_went { (clock::of_thread() - began) / f64::from(times) } else { f64::NAN }
        });
        taken.into_iter().fold(0.0, f64::max)
    };
    let alpha = measured(SHORT);
    (alpha, ((measured(LONG) - alpha) / LONG.0 as f64).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ranks of a machine with known costs would write down.
    fn made(ranks: usize, rows: usize, systems: usize, passes: f64) -> Seen {
        let columns = 100;
        let share = rows as f64 / ranks as f64;
        let mut all = vec![Vec::new(); ranks];
        for (rank, calls) in all.iter_mut().enumerate() {
            for _ in 0..systems {
                let call = |kind, length, worked| Call { kind, length, worked, inside: 0.0 };
                calls.push(call(Kind::Sum, 5050, 2e-3 + 1e-6 * share));
                calls.push(call(Kind::Lead, 102, if rank == 0 { 5e-3 } else { 1e-6 }));
                let per_call = passes / systems as f64;
                calls.push(call(Kind::Sum, 107, 3e-4 + per_call * 12.0 * share * 1e-8));
            }
        }
        let lists: Vec<&[Call]> = all.iter().map(Vec::as_slice).collect();
        Seen::of(&lists, columns, (rows, 12 * rows), passes)
    }

    #[test]
    fn costs_of_one_training_foretell_another() {
        let here = Here::of(&made(2, 4000, 30, 60.0), &made(4, 4000, 30, 60.0));
        for ranks in [2, 4] {
            let asked = made(ranks, 9000, 50, 100.0);
            let (alpha, beta) = messages(ranks);
            let inside = asked.calls * alpha + asked.numbers * beta;
            // Messages are of this machine, and measured: all else is exact.
            let work = here.seconds(&asked) - inside;
            assert!(
                (work / asked.seconds() - 1.0).abs() < 0.05 || inside > 0.1 * asked.seconds(),
                "{ranks}: {work}"
            );
            let alike = Seen { making: 0.0, led: 0.0, rest: 0.0, inside: 0.0, ..asked };
            assert!(alike.seconds() == 0.0 && here.seconds(&alike) > 0.0);
        }
    }
}
