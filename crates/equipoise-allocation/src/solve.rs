//! From a problem to an answer with its proof.
//!
//! ```text
//! x, prices  ->  rows hold up to rounding  ->  objective from above, bound from below, |a'x - b| from above
//! ```
//!
//! - Given: a [`Problem`], [`Settings`], perhaps prices to begin with. Returns: an [`Allocation`].
//! - Must not know: files, names of users, how results are shown.
//!
//! One row with quadratic costs: [`crate::window`]; one row with any costs: [`crate::one_row`]; several rows:
//! [`crate::rows`], where all costs bend, and [`crate::proximal`] otherwise.

use std::time::Instant;

use equipoise::{Control, Status, Team};

use crate::error::{Error, Result};
use crate::one_row::{self, settle};
use crate::pass::Passes;
use crate::prices::{self, Range};
use crate::problem::{Problem, ROUNDED, Row, Sense};
use crate::proof::{Proof, prove};
use crate::round::settle_rows;
use crate::{proximal, root, rows, window};

/// The choices of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The largest gap between objective and bound, relative to `sum |f_i(x_i)| + |sum lambda_k b_k|`.
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
    /// `|objective - bound| / (sum |f_i(x_i)| + |sum lambda_k b_k|)`, from above.
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

/// Who is told about passes, and who may end the run.
#[derive(Default)]
pub struct Watch<'a> {
    /// Is told.
    pub observer: Option<&'a mut dyn FnMut(&Step<'_>)>,
    /// May end it: the allocation is then what users give at the last prices.
    pub control: Control,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (observer, control) = (self.observer.is_some(), &self.control);
        out.debug_struct("Watch").field("observer", &observer).field("control", control).finish()
    }
}

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

/// x in the order of groups, and its prices.
pub(crate) struct Answer {
    pub(crate) x: Vec<f64>,
    pub(crate) prices: Vec<f64>,
    /// Prices that are as good up to rounding, where there are others.
    pub(crate) others: Option<Vec<f64>>,
    pub(crate) ranges: Vec<Range>,
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
    let (answer, ended) = match answer(problem, rows, start, passes, memory) {
        Ok(answer) => (answer, None),
        Err(Error::Equipoise(equipoise::Error::StoppedEarly { by })) => {
            let status = if by == "interrupted" { Status::Interrupted } else { Status::TimeLimit };
            (last(problem, passes, memory)?, Some(status))
        }
        Err(error) => return Err(error),
    };
    let seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    // A proof is one pass: also of a run that was ended.
    let mut prices = answer.prices;
    let of = |prices: &[f64]| prove(passes, rows, &answer.x, prices);
    let proof = if ended.is_none() { of(&prices).ok() } else { None };
    let proof = match proof {
        Some(proof) => proof,
        None => prove(&passes.patient(&Control::unlimited()), rows, &answer.x, &prices)?,
    };
    let proof = match answer.others {
        Some(others) if proof.relative_gap > settings.gap => {
            let other = of(&others).unwrap_or_else(|_| proof.clone());
            if other.relative_gap < proof.relative_gap {
                prices = others;
                other
            } else {
                proof
            }
        }
        _ => proof,
    };
    let proof = if ended.is_none() && proof.relative_gap.is_infinite() {
        nearby(proof, &mut prices, of)
    } else {
        proof
    };
    let status = ended.unwrap_or(if is_met(&proof, settings) { Status::Converged } else { Status::Stalled });
    if status == Status::Stalled {
        prices::contradiction(problem, rows, &prices)?;
    }
    Ok(Allocation {
        status,
        x: problem.in_users_order(answer.x),
        objective: proof.objective,
        bound: proof.bound,
        relative_gap: proof.relative_gap,
        infeasibility: proof.infeasibility,
        relative_infeasibility: proof.relative_infeasibility,
        prices,
        price_low: answer.ranges.iter().map(|range| range.low).collect(),
        price_high: answer.ranges.iter().map(|range| range.high).collect(),
        method: memory.method,
        passes: memory.passes,
        seconds,
        seconds_certificate: begun.elapsed().as_secs_f64(),
    })
}

/// A proof at a neighbour of the one price, where the price itself proves nothing: a user without limits whose straight cost
/// is no multiple of any f64 asks for a price just below or just above it.
fn nearby(proof: Proof, prices: &mut Vec<f64>, of: impl Fn(&[f64]) -> equipoise::Pass<Proof>) -> Proof {
    const STEPS: usize = 3;
    let [price] = prices[..] else { return proof };
    let (mut down, mut up) = (price, price);
    for _ in 0..STEPS {
        (down, up) = (down.next_down(), up.next_up());
        for near in [down, up] {
            match of(&[near]) {
                Ok(other) if other.relative_gap.is_finite() => {
                    *prices = vec![near];
                    return other;
                }
                _ => {}
            }
        }
    }
    proof
}

/// Whether gap and rows are what they should be.
pub(crate) fn is_met(proof: &Proof, settings: &Settings) -> bool {
    proof.relative_gap <= settings.gap && proof.relative_infeasibility <= equipoise::coupling::ALLOWED_SHARE
}

fn answer(
    problem: &Problem,
    rows: &[Row],
    start: Option<&[f64]>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    match rows {
        [row] => one(problem, row, start.map(|start| start[0]), passes, memory),
        _ => several(problem, rows, start, passes, memory),
    }
}

fn one(
    problem: &Problem,
    row: &Row,
    start: Option<f64>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    memory.method = "one row";
    if row.sense != Sense::Equal
        && let Some(answer) = unasked(problem, row, passes, memory)?
    {
        return Ok(answer);
    }
    let found = if window::applies(problem) {
        memory.method = "window";
        window::solve(problem, row, passes, start, memory)?
    } else {
        None
    };
    let mut found = match found {
        Some(found) => found,
        None => one_row::solve(problem, row, passes, start, memory)?,
    };
    let (missing, size) = if let Some(missing) = found.missing {
        missing
    } else {
        let (given, size) = passes.given(&found.x)?[0];
        (row.value - given, size)
    };
    // On a flat stretch nobody leaves its limits for what is only rounding.
    let is_flat = !found.has_slope
        && found.price == found.other
        && missing.abs() <= root::FLAT * (size + row.value.abs());
    if !is_flat && missing.is_finite() {
        settle(problem, &mut found.x, missing, ROUNDED * (size + row.value.abs()));
    }
    let range = if found.has_slope {
        Range::point(found.price)
    } else {
        prices::range(problem, &found.x).around(row.sense.allowed(found.price), row.sense)
    };
    let price = range.inside(found.price);
    let others = (found.other != price).then(|| vec![found.other]);
    Ok(Answer { x: found.x, prices: vec![price], others, ranges: vec![range] })
}

/// The answer where a one-sided row asks for nothing: its price is 0.
fn unasked(
    problem: &Problem,
    row: &Row,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Option<Answer>> {
    let mut x = vec![0.0; problem.users];
    let supply = passes.respond(&[0.0], None, true, &mut x)?;
    memory.step(&[0.0], &supply.given, std::slice::from_ref(row));
    let beyond = supply.given[0] - row.value;
    let is_met = if row.sense == Sense::AtLeast { beyond >= 0.0 } else { beyond <= 0.0 };
    if x.iter().any(|x| x.is_infinite()) {
        return if is_met { Err(one_row::unbounded(problem, 0.0)) } else { Ok(None) };
    }
    let range =
        if beyond == 0.0 { prices::range(problem, &x).around(0.0, row.sense) } else { Range::point(0.0) };
    Ok(is_met.then(|| Answer { x, prices: vec![0.0], others: None, ranges: vec![range] }))
}

fn several(
    problem: &Problem,
    asked: &[Row],
    start: Option<&[f64]>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    /// Users from which on a sample is asked first.
    const MANY: usize = 1 << 15;
    let bends = problem.groups.iter().all(|group| group.costs.bends());
    memory.method = if bends { "dual newton" } else { "proximal points" };
    let mut prices = start.map_or_else(|| vec![0.0; asked.len()], <[f64]>::to_vec);
    if start.is_none()
        && bends
        && problem.users >= MANY
        && let Some(sample) = one_row::sample(problem, asked)
    {
        let team = Team::of(1);
        let few = Passes::new(&sample, &team, passes.control);
        let mut x = vec![0.0; sample.users];
        let mut quiet = Memory::new(asked.len(), None);
        prices = rows::solve(&few, &sample.rows, &prices, None, &mut x, &mut quiet)?.prices;
        memory.prices.clone_from(&prices);
    }
    let mut x = vec![0.0; problem.users];
    let mut solve = |prices: &[f64], x: &mut [f64]| {
        if bends {
            rows::solve(passes, asked, prices, None, x, memory)
        } else {
            proximal::solve(problem, asked, passes, prices, x, memory)
        }
    };
    let mut found = solve(&prices, &mut x)?;
    if !found.is_finite() {
        // Users without an end: from prices at which there is one.
        for prices in rows::starts(problem, asked) {
            found = solve(&prices, &mut x)?;
            if found.is_finite() {
                break;
            }
        }
    }
    if found.miss > 1e-6 || !found.is_finite() {
        prices::contradiction(problem, asked, &found.prices)?;
    }
    let given = if finite(problem, &mut x) {
        passes.given(&x)?.into_iter().map(|(given, _)| given).collect()
    } else {
        found.supply.given.clone()
    };
    settle_rows(problem, asked, &given, &found.prices, &mut x);
    let ranges = prices::ranges(problem, asked, &found);
    Ok(Answer { x, prices: found.prices, others: None, ranges })
}

/// What users give at the last prices of a run that was ended.
fn last(problem: &Problem, passes: &Passes<'_>, memory: &Memory<'_>) -> Result<Answer> {
    let unlimited = Control::unlimited();
    let mut x = vec![0.0; problem.users];
    passes.patient(&unlimited).respond(&memory.prices, None, false, &mut x)?;
    finite(problem, &mut x);
    let ranges = vec![Range::UNKNOWN; memory.prices.len()];
    Ok(Answer { x, prices: memory.prices.clone(), others: None, ranges })
}

/// Responses without an end stand at their other limit, or at 0; whether there were any.
fn finite(problem: &Problem, x: &mut [f64]) -> bool {
    let (mut at, mut any) = (0, false);
    for group in &problem.groups {
        for place in 0..group.count {
            if !x[at].is_finite() {
                let (lower, upper) = (group.lower.get(place), group.upper.get(place));
                x[at] = [lower, upper].into_iter().find(|limit| limit.is_finite()).unwrap_or(0.0);
                any = true;
            }
            at += 1;
        }
    }
    any
}
