//! Calls that all ranks make together: their messages, bytes and seconds.
//!
//! ```text
//! every call     a gather of a frame
//! sum            nothing more up to 12 numbers; a gather up to 256; else every rank is dealt a share, adds up, gathers the sums
//! lists          a gather of the longest;    lead   a broadcast
//!
//! gather of k    ceil(log2 P) rounds; in round i a rank hears 2^i blocks from the rank 2^i after it     log2(P) alpha + (P-1) k beta
//! deal of k/P    every rank sends a block to every other, one after the other                alpha + (P-1) (overhead + k/P beta)
//! broadcast      along a tree, in pieces where it is long                                    log2(P) alpha + at most 2 k beta
//! ```
//!
//! - Given: calls, each with what ranks do before it. Returns: what they send; when they are done.
//! - Must not know: who makes the calls, what the numbers mean.
//!
//! A rank that is late makes those late that wait for its numbers, round by round.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Machine;
use super::noted::Kind;

/// Numbers of a frame, and how many of a sum it carries; up to how many a sum is one gather.
const FRAME: usize = 16;
const IN_FRAME: usize = 12;
const SHORT_SUM: usize = 256;
/// Bytes of a number.
const NUMBER: usize = 8;
/// How often a call that comes again and again is simulated.
const SAMPLES: u32 = 6;

/// One way of travelling, with how many numbers of a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Travel {
    Gather(usize),
    Deal(usize),
    Broadcast(usize),
}

/// What a call is made of.
fn travels(kind: Kind, length: usize, ranks: usize) -> Vec<Travel> {
    let mut all = vec![Travel::Gather(FRAME)];
    match kind {
        Kind::Sum if length <= IN_FRAME => {}
        Kind::Sum if length <= SHORT_SUM => all.push(Travel::Gather(length)),
        Kind::Sum => {
            let share = length.div_ceil(ranks);
            all.extend([Travel::Deal(share), Travel::Gather(share)]);
        }
        Kind::Largest => {}
        Kind::Lists => all.extend((length > 0).then_some(Travel::Gather(length))),
        Kind::Lead => all.push(Travel::Broadcast(length)),
    }
    all
}

/// Bytes that a rank of so many sends in a call.
pub(crate) fn bytes_of_rank(kind: Kind, length: usize, rank: usize, ranks: usize) -> u64 {
    let numbers = |travel| match travel {
        Travel::Gather(own) => own * (ranks - 1),
        Travel::Deal(block) => block * (ranks - 1),
        // Along a tree a rank sends its numbers on once, about: they count as those of rank 0.
        Travel::Broadcast(length) => usize::from(rank == 0) * length,
    };
    let all: usize = travels(kind, length, ranks).into_iter().map(numbers).sum();
    (NUMBER * all) as u64
}

/// A call that is made a number of times, with what comes before each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bulk {
    pub(crate) kind: Kind,
    pub(crate) length: usize,
    /// How often.
    pub(crate) times: f64,
    /// Bytes that a rank reads before it.
    pub(crate) read: f64,
    /// Multiplications and additions of rank 0 alone before it.
    pub(crate) led: f64,
}

/// What the seconds of a run went into.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Seconds {
    /// From the first call to the last.
    pub(crate) all: f64,
    /// Work that ranks share.
    pub(crate) work: f64,
    /// Work of rank 0, for which the others wait.
    pub(crate) led: f64,
    /// alpha: messages, their bytes aside.
    pub(crate) latency: f64,
    /// beta: bytes.
    pub(crate) bytes: f64,
}

impl Seconds {
    /// What ranks waited for those that were held up, and for messages that were late.
    pub(crate) fn waiting(&self) -> f64 {
        (self.all - self.work - self.led - self.latency - self.bytes).max(0.0)
    }

    /// What takes most beside the work that is shared.
    pub(crate) fn saturates(&self) -> &'static str {
        let costs = [
            ("factor on rank 0", self.led),
            ("latency", self.latency),
            ("bandwidth", self.bytes),
            ("stragglers and late messages", self.waiting()),
        ];
        costs.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |(name, _)| name)
    }
}

/// Lets ranks of a machine make calls, each kind of call often enough for a mean.
pub(crate) fn seconds(machine: &Machine, ranks: usize, calls: &[Bulk], seed: u64) -> Seconds {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut total = Seconds::default();
    for call in calls {
        let samples = call.times.min(f64::from(SAMPLES)).ceil().max(1.0);
        let mut clocks = vec![0.0; ranks];
        for _ in 0..samples as u32 {
            make(machine, call, &mut clocks, &mut rng);
        }
        let last = clocks.iter().copied().fold(0.0, f64::max);
        total.all += call.times * last / samples;
        total.work += call.times * call.read / machine.memory;
        total.led += call.times * call.led / machine.flops;
        for travel in travels(call.kind, call.length, ranks) {
            let (latency, bytes) = quiet(machine, travel, ranks);
            total.latency += call.times * latency;
            total.bytes += call.times * bytes;
        }
    }
    total
}

/// Rounds in which everyone hears of everyone.
fn rounds(ranks: usize) -> u32 {
    ranks.next_power_of_two().ilog2()
}

/// Seconds of latency and of bytes where nothing is late.
fn quiet(machine: &Machine, travel: Travel, ranks: usize) -> (f64, f64) {
    if ranks == 1 {
        return (0.0, 0.0);
    }
    let others = (ranks - 1) as f64;
    let beta = |numbers: f64| NUMBER as f64 * numbers / machine.bandwidth;
    let hops = f64::from(rounds(ranks)) * machine.latency;
    match travel {
        Travel::Gather(own) => (hops, beta(others * own as f64)),
        Travel::Deal(block) => (machine.latency + others * machine.overhead, beta(others * block as f64)),
        Travel::Broadcast(length) => (hops, beta(f64::from(rounds(ranks).min(2)) * length as f64)),
    }
}

/// One call, from the clocks at which ranks ended the one before.
fn make(machine: &Machine, call: &Bulk, clocks: &mut [f64], rng: &mut Xoshiro256PlusPlus) {
    let ranks = clocks.len();
    for (rank, clock) in clocks.iter_mut().enumerate() {
        let led = if rank == 0 { call.led / machine.flops } else { 0.0 };
        *clock += machine.held_up(rng) * (call.read / machine.memory + led);
    }
    if ranks == 1 {
        return;
    }
    for travel in travels(call.kind, call.length, ranks) {
        match travel {
            Travel::Gather(own) => gather(machine, own, clocks, rng),
            Travel::Deal(_) => {
                let (latency, bytes) = quiet(machine, travel, ranks);
                let last = clocks.iter().copied().fold(0.0, f64::max);
                clocks.iter_mut().for_each(|clock| *clock = last + latency + bytes + machine.late(rng));
            }
            Travel::Broadcast(_) => {
                let (latency, bytes) = quiet(machine, travel, ranks);
                let (first, hops) = (clocks[0], f64::from(rounds(ranks)));
                for (rank, clock) in clocks.iter_mut().enumerate().skip(1) {
                    let share = f64::from(rank.ilog2() + 1) / hops;
                    *clock = clock.max(first + share * latency + bytes + machine.late(rng));
                }
            }
        }
    }
}

/// In round i a rank hears what the one 2^i after it has gathered so far.
fn gather(machine: &Machine, own: usize, clocks: &mut [f64], rng: &mut Xoshiro256PlusPlus) {
    let ranks = clocks.len();
    let mut reach = 1;
    while reach < ranks {
        let blocks = reach.min(ranks - reach);
        let taken = machine.message((NUMBER * own * blocks) as f64);
        let before = clocks.to_vec();
        for (rank, clock) in clocks.iter_mut().enumerate() {
            let sent = before[(rank + reach) % ranks];
            *clock = clock.max(sent) + taken + machine.late(rng);
        }
        reach *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Machine = Machine::with_network(10.0);

    #[test]
    fn bytes_by_hand() {
        // A frame to each of three others; 1000 numbers in shares of 250, dealt and gathered.
        assert_eq!(bytes_of_rank(Kind::Largest, 1, 2, 4), 8 * 16 * 3);
        assert_eq!(bytes_of_rank(Kind::Sum, 1000, 2, 4), 8 * (16 * 3 + 2 * 250 * 3));
        assert_eq!(bytes_of_rank(Kind::Sum, 12, 0, 4), bytes_of_rank(Kind::Largest, 1, 0, 4));
        assert_eq!(bytes_of_rank(Kind::Lead, 50, 0, 4) - bytes_of_rank(Kind::Lead, 50, 1, 4), 8 * 50);
    }

    #[test]
    fn where_nothing_is_late_seconds_are_the_formula() {
        for ranks in [1, 2, 4, 16, 256] {
            for (kind, length) in [(Kind::Sum, 1), (Kind::Sum, 100), (Kind::Sum, 4096), (Kind::Lists, 64)] {
                let call = Bulk { kind, length, times: 10.0, read: 1e6, led: 0.0 };
                let found = seconds(&QUIET, ranks, &[call], 1);
                assert!(found.waiting() <= 1e-9 * found.all, "{ranks} {kind:?} {length}: {found:?}");
                let sum = found.work + found.latency + found.bytes;
                assert!((found.all - sum).abs() <= 1e-9 * sum, "{ranks} {kind:?} {length}: {found:?}");
            }
        }
    }

    #[test]
    fn one_straggler_makes_all_wait() {
        let call = Bulk { kind: Kind::Sum, length: 1, times: 6.0, read: 8e8, led: 0.0 };
        let troubled = Machine { straggling: 0.01, slowdown: 3.0, ..QUIET };
        let (few, many) = (seconds(&troubled, 2, &[call], 1), seconds(&troubled, 4096, &[call], 1));
        // Of 4096 ranks some are always held up.
        assert!((many.all - 3.0 * many.work - many.latency - many.bytes).abs() < 1e-6 * many.all, "{many:?}");
        assert!(few.all < 0.7 * many.all, "{few:?}");
        assert_eq!(many.saturates(), "stragglers and late messages");
    }
}
