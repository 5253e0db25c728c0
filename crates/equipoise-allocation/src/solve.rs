//! From a problem to an answer with its proof.
//!
//! ```text
//! x, prices  ->  rows hold up to rounding  ->  objective from above, bound from below, |a'x - b| from above
//! ```
//!
//! - Given: a [`Problem`], [`Settings`], perhaps prices to begin with. Returns: an [`Allocation`].
//! - Must not know: files, names of users, how results are shown.
//!
//! Answers come from [`crate::answer`], which knows several ways to one; what is proven of them decides.

use std::time::Instant;

use equipoise::{Control, Status, Team};

use crate::answer::{self, Answer, Way};
use crate::contradiction;
use crate::error::{Error, Result};
use crate::implied::{self, Rooms};
use crate::pass::Passes;
use crate::problem::{Problem, Row, Sense};
use crate::proof::{Proof, prove};

/// The choices of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The largest gap between objective and bound, relative as in [`Allocation::relative_gap`].
    pub gap: f64,
    /// Threads that work on it; they change no bit of the answer.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { gap: 1e-6, threads: 1 }
    }
}

impl Settings {
    pub(crate) fn check(&self) -> Result<()> {
        if !(self.gap > 0.0 && self.gap < 1.0) {
            let expected = "a number above 0 and below 1";
            return Err(Error::BadSetting { name: "gap", found: self.gap, expected });
        }
        if self.threads == 0 {
            return Err(Error::BadSetting { name: "threads", found: 0.0, expected: "1 or more" });
        }
        Ok(())
    }
}

/// What users give, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Allocation {
    /// Why the run ended; only `Converged` means that the gap is met and the rows hold.
    pub status: Status,
    /// x, one a user.
    pub x: Vec<f64>,
    /// A number that `sum f_i(x_i)` does not exceed.
    pub objective: f64,
    /// A number that no point within the limits that meets the rows gets below; minus infinity where none is known.
    pub bound: f64,
    /// `|objective - bound| + sum_k |lambda_k| (miss of row k)` over the size of the objective, or over 1e-8 of `sum |f_i(x_i)| + |sum lambda_k b_k|` where that is
    /// more, from above.
    pub relative_gap: f64,
    /// `max |a_k'x - b_k|`, of one-sided rows what they lack, from above.
    pub infeasibility: f64,
    /// The same relative to the terms of each row.
    pub relative_infeasibility: f64,
    /// lambda: by how much the objective rises with each `b_k`.
    pub prices: Vec<f64>,
    /// The smallest price that is as good; minus infinity where there is none, NaN where it is not known.
    pub price_low: Vec<f64>,
    /// The largest price that is as good; infinity where there is none, NaN where it is not known.
    pub price_high: Vec<f64>,
    /// What did the work.
    pub method: &'static str,
    /// Passes over all users.
    pub passes: usize,
    /// Seconds until x and prices were there.
    pub seconds: f64,
    /// Seconds of the proof.
    pub seconds_certificate: f64,
}

/// One pass over the users, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step<'a> {
    /// Passes so far.
    pub pass: usize,
    /// Seconds since the start.
    pub seconds: f64,
    /// The largest `|a_k'x - b_k|` at these prices, in plain arithmetic.
    pub infeasibility: f64,
    /// The prices.
    pub prices: &'a [f64],
}

/// Who is told about passes, and who may end the run. An ended one has what users give at the last prices.
pub type Watch<'a> = equipoise::Watch<'a, dyn FnMut(&Step<'_>) + 'a>;

/// What is remembered while a run goes on: the last prices, for a run that is ended.
pub(crate) struct Memory<'a> {
    pub(crate) prices: Vec<f64>,
    pub(crate) passes: usize,
    pub(crate) method: &'static str,
    begun: Instant,
    observer: Option<&'a mut dyn FnMut(&Step<'_>)>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(rows: usize, observer: Option<&'a mut dyn FnMut(&Step<'_>)>) -> Self {
        Self { prices: vec![0.0; rows], passes: 0, method: "", begun: Instant::now(), observer }
    }

    /// Whether there is more than the zeros of the beginning.
    fn knows_prices(&self) -> bool {
        self.passes > 0 || self.prices.iter().any(|price| *price != 0.0)
    }

    /// A pass was made.
    pub(crate) fn step(&mut self, prices: &[f64], given: &[f64], rows: &[Row]) {
        self.passes += 1;
        self.prices.clear();
        self.prices.extend_from_slice(prices);
        if let Some(observer) = &mut self.observer {
            let miss = |(row, given): (&Row, &f64)| match row.sense {
                Sense::Equal => (given - row.value).abs(),
                Sense::AtLeast => (row.value - given).max(0.0),
                Sense::AtMost => (given - row.value).max(0.0),
            };
            let infeasibility = rows.iter().zip(given).map(miss).fold(0.0, f64::max);
            let seconds = self.begun.elapsed().as_secs_f64();
            observer(&Step { pass: self.passes, seconds, infeasibility, prices });
        }
    }
}

/// Allocates: finds x and prices, from prices where some are given, and proves how good they are.
///
/// ```
/// use equipoise::Status;
/// use equipoise_allocation::{Costs, Problem, Row, Settings, Users, Watch, allocate};
/// // Three generators with costs c2 x^2 + c1 x; how is a demand of 7 met at the least cost?
/// let users = Users {
///     count: 3,
///     costs: Costs::quadratic(vec![1.0, 2.0, 4.0], vec![1.0, 1.0, 9.0], 0.0),
///     lower: 0.0.into(),
///     upper: 4.0.into(),
///     coefficients: vec![1.0.into()],
///     places: None,
/// };
/// let problem = Problem::new(vec![users], vec![Row::equal("demand", 6.0)])?;
/// let found = allocate(&problem, &Settings::default(), None, Watch::default())?;
/// assert_eq!(found.status, Status::Converged);
/// assert_eq!(found.x, [4.0, 2.0, 0.0]);
/// assert_eq!(found.prices, [9.0]);
/// # Ok::<(), equipoise_allocation::Error>(())
/// ```
pub fn allocate(
    problem: &Problem,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Allocation> {
    settings.check()?;
    check_start(problem, start)?;
    let team = team(problem, settings);
    let passes = Passes::new(problem, &team, &watch.control);
    let mut memory = Memory::new(problem.rows.len(), watch.observer);
    run(problem, &problem.rows, settings, start, &passes, &mut memory)
}

pub(crate) fn team(problem: &Problem, settings: &Settings) -> Team {
    Team::for_work(settings.threads, problem.users * (4 + problem.rows.len()))
}

pub(crate) fn check_start(problem: &Problem, start: Option<&[f64]>) -> Result<()> {
    let Some(start) = start else { return Ok(()) };
    let (found, expected) = (start.len(), problem.rows.len());
    if found != expected {
        return Err(Error::Length { what: "start".into(), found, expected, unit: "row" });
    }
    if let Some(k) = start.iter().position(|price| !price.is_finite()) {
        let (what, expected) = ("price to begin with".into(), "a finite number");
        return Err(Error::BadNumber { what, user: k + 1, found: start[k], expected });
    }
    Ok(())
}

/// The run, for rows whose right-hand sides need not be those of the problem.
pub(crate) fn run(
    problem: &Problem,
    rows: &[Row],
    settings: &Settings,
    start: Option<&[f64]>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Allocation> {
    let begun = Instant::now();
    let (answer, mut ended) = match answer::first(problem, rows, start, passes, memory) {
        Ok(answer) => (answer, None),
        // Where no price was known yet, x would be that of none: it has nothing to do with what rows ask for.
        Err(Error::Equipoise(equipoise::Error::StoppedEarly { by })) if memory.knows_prices() => {
            (answer::last(problem, passes, memory)?, Some(stopped(by)))
        }
        Err(error) => return Err(error),
    };
    let mut seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let unlimited = Control::unlimited();
    let judge = Judge { problem, rows, passes, patient: passes.patient(&unlimited), settings };
    let mut judged = judge.of(answer, ended.is_some())?;
    let seconds_certificate = begun.elapsed().as_secs_f64();
    if ended.is_none() && rows.len() > 1 && !is_met(&judged.proof, settings) {
        contradiction::check(problem, rows, &judged.answer.prices)?;
        let begun = Instant::now();
        (judged, ended) = again(judged, &judge, memory)?;
        seconds += begun.elapsed().as_secs_f64();
    }
    let Judged { answer, proof } = judged;
    let status = ended.unwrap_or(if is_met(&proof, settings) { Status::Converged } else { Status::Stalled });
    let (price_low, price_high) = answer.ranges.iter().map(|range| (range.low, range.high)).unzip();
    Ok(Allocation {
        status,
        x: problem.in_users_order(answer.x),
        objective: proof.objective,
        bound: proof.bound,
        relative_gap: proof.relative_gap,
        infeasibility: proof.infeasibility,
        relative_infeasibility: proof.relative_infeasibility,
        prices: answer.prices,
        price_low,
        price_high,
        method: memory.method,
        passes: memory.passes,
        seconds,
        seconds_certificate,
    })
}

/// Why a run was ended.
fn stopped(by: &str) -> Status {
    if by == "interrupted" { Status::Interrupted } else { Status::TimeLimit }
}

/// Other ways to an answer, where the first one is not good enough: the best of all, and why it was not looked for any longer.
fn again(first: Judged, judge: &Judge<'_>, memory: &mut Memory<'_>) -> Result<(Judged, Option<Status>)> {
    let (problem, rows) = (judge.problem, judge.rows);
    let narrow = implied::narrowed(problem, rows);
    let narrow = narrow.as_ref().unwrap_or(problem);
    let passes = Passes::new(narrow, judge.passes.team, judge.passes.control);
    let mut best = first;
    for way in [Way::Proximal, Way::Newton] {
        match answer::again(narrow, rows, way, &best.answer.prices, &passes, memory) {
            Ok(answer) => {
                let other = judge.of(answer, false)?;
                if other.rank() < best.rank() {
                    best = other;
                }
            }
            Err(Error::Equipoise(equipoise::Error::StoppedEarly { by })) => {
                return Ok((best, Some(stopped(by))));
            }
            Err(_) => {}
        }
        if is_met(&best.proof, judge.settings) {
            break;
        }
    }
    Ok((best, None))
}

/// An answer, and what is proven of it.
struct Judged {
    answer: Answer,
    proof: Proof,
}

impl Judged {
    /// How far it is from what it should be.
    fn rank(&self) -> f64 {
        self.proof.relative_gap + self.proof.relative_infeasibility
    }
}

/// Who proves answers.
struct Judge<'a> {
    problem: &'a Problem,
    rows: &'a [Row],
    passes: &'a Passes<'a>,
    /// A proof is a few passes: also of a run that was ended.
    patient: Passes<'a>,
    settings: &'a Settings,
}

impl Judge<'_> {
    /// The answer with its proof, at the best of its prices; somebody who wants it now gets the first proof there is.
    fn of(&self, mut answer: Answer, is_urgent: bool) -> Result<Judged> {
        let unknown = Rooms::unknown(self.rows.len());
        let mut proof = self.prove(&answer, &answer.prices, &unknown)?;
        let is_enough = |proof: &Proof| is_urgent || proof.relative_gap <= self.settings.gap;
        if let Some(others) = answer.others.take()
            && !is_enough(&proof)
        {
            let other = self.prove(&answer, &others, &unknown)?;
            if other.relative_gap < proof.relative_gap {
                (answer.prices, proof) = (others, other);
            }
        }
        if !is_enough(&proof) {
            // Limits that rows imply are dearer to look at.
            let rooms = Rooms::of(self.problem, self.rows);
            if rooms.is_known() {
                let other = self.prove(&answer, &answer.prices, &rooms)?;
                proof = if other.relative_gap < proof.relative_gap { other } else { proof };
            }
        }
        if proof.relative_gap.is_infinite() && !is_urgent {
            self.nearby(&mut answer, &mut proof)?;
        }
        Ok(Judged { answer, proof })
    }

    fn prove(&self, answer: &Answer, prices: &[f64], rooms: &Rooms) -> Result<Proof> {
        let proof = prove(self.passes, self.rows, &answer.x, prices, rooms);
        Ok(proof.or_else(|_| prove(&self.patient, self.rows, &answer.x, prices, rooms))?)
    }

    /// A proof at a neighbour of the one price, where the price itself proves nothing: a user without limits whose straight cost
    /// is no multiple of any f64 asks for a price just below or just above it.
    fn nearby(&self, answer: &mut Answer, proof: &mut Proof) -> Result<()> {
        const STEPS: usize = 3;
        let [price] = answer.prices[..] else { return Ok(()) };
        let (mut down, mut up) = (price, price);
        for _ in 0..STEPS {
            (down, up) = (down.next_down(), up.next_up());
            for near in [down, up] {
                let other = self.prove(answer, &[near], &Rooms::unknown(1))?;
                if other.relative_gap.is_finite() {
                    (answer.prices, *proof) = (vec![near], other);
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Whether gap and rows are what they should be.
pub(crate) fn is_met(proof: &Proof, settings: &Settings) -> bool {
    proof.relative_gap <= settings.gap && proof.relative_infeasibility <= equipoise::coupling::ALLOWED_SHARE
}
