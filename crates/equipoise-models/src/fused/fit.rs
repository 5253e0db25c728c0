//! One fit: from data to coefficients with proven bounds.
//!
//! ```text
//! minimise 1/2 ||y - X b||^2 + lambda ||D b||_1 + mu ||b||_1
//! ```
//!
//! | problem | method |
//! |---|---|
//! | chain, X = I, or some samples not observed | [`chain`](super::chain), exact |
//! | grid, X = I | [`lines`](super::lines) |
//! | chain, X a matrix | [`jumps`](super::jumps) |
//! | anything else | [`interior`](super::interior) |
//! | where it is asked for | [`slack`](super::slack), the paper's formulation |
//!
//! Images and graphs of which lambda leaves a single piece need no method: [`whole`](super::whole) sees that at once, whatever
//! lambda is.
//!
//! Where every row of D is a difference of two coefficients and X = I, `mu ||b||_1` needs no method of its own: the solution is
//! that without it, each coefficient moved towards 0 by mu (Friedman, Hastie, Hoefling and Tibshirani 2007).
//!
//! - Given: y, X, D, the settings, a control. Returns: the coefficients as they are, their objective from above, the optimum
//!   from below.
//! - Must not know: files, words for people.

use std::time::Instant;

use equipoise::enclosure::Sum;
use equipoise::{Control, Halt, Pass, Status};

use super::chain::{self, Chain};
use super::degrees::{self, Pieces};
use super::design::Design;
use super::error::{Error, Result};
use super::interior::{self, Found, shrunk};
use super::penalty::{Differences, Penalty};
use super::proof::{Bounds, Dual, Task};
use super::settings::{FitSettings, Method};
use super::watch::{Told, Watch};
use super::{jumps, lines, regions, slack, whole};

/// Seconds that the last proof of an ended fit may take, with the count of its pieces.
const PATIENCE: f64 = 0.03;

/// What is fitted: y, how the coefficients are seen, which differences are penalised.
#[derive(Debug, Clone, Copy)]
pub struct Signal<'a> {
    /// The observations.
    pub y: &'a [f64],
    /// X.
    pub design: Design<'a>,
    /// D.
    pub penalty: &'a Penalty,
}

/// Coefficients, and what is proven of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// The coefficients.
    pub x: Vec<f64>,
    /// How the fit ended.
    pub status: Status,
    /// The objective at x, from above; infinite where nothing is proven.
    pub objective: f64,
    /// What no coefficients get below; 0, which no objective is below, where nothing better is proven.
    pub bound: f64,
    /// `(objective - bound) / max(objective, 1e-12 ||y||^2 / 2)`, from above.
    pub relative_gap: f64,
    /// The weight of `||D b||_1`.
    pub lambda: f64,
    /// The weight of `||b||_1`.
    pub sparse: f64,
    /// The number of pieces: segments, regions, pieces of a polynomial; none where D is any matrix, or where a fit was ended and
    /// counting takes long.
    pub segments: Option<usize>,
    /// Degrees of freedom of the fit; none where they are not known.
    pub degrees_of_freedom: Option<usize>,
    /// Where a new piece begins, from 0; none where coefficients do not form a chain.
    pub breaks: Option<Vec<usize>>,
    /// Which method did the work.
    pub method: Method,
    /// Its rounds.
    pub rounds: usize,
    /// Seconds from data in memory to coefficients.
    pub seconds_solve: f64,
    /// Seconds that the bounds took.
    pub seconds_certify: f64,
}

/// Fits.
///
/// ```
/// use equipoise::{Control, Status};
/// use equipoise_models::fused::{Design, FitSettings, Penalty, Signal, fit};
/// let signal = Signal { y: &[0.0, 2.0, 1.0, 5.0], design: Design::Identity, penalty: &Penalty::Chain };
/// let found = fit(signal, &FitSettings::default(), &Control::unlimited())?;
/// assert_eq!((found.status, found.segments), (Status::Converged, Some(3)));
/// assert_eq!(found.x, [1.0, 1.5, 1.5, 4.0]);
/// assert!(found.bound <= 4.25 && found.objective >= 4.25 && found.relative_gap < 1e-12);
/// # Ok::<(), equipoise_models::fused::Error>(())
/// ```
pub fn fit(signal: Signal<'_>, settings: &FitSettings, control: &Control) -> Result<Fit> {
    fit_from(signal, settings, None, control)
}

/// The same, beginning with the coefficients of an earlier fit, say at another lambda. What is found does not depend on them, the
/// time may.
pub fn fit_from(
    signal: Signal<'_>,
    settings: &FitSettings,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Fit> {
    fit_watched(signal, settings, start, Watch { observer: None, control: control.clone() })
}

/// The same, with somebody who is told of its rounds. The last thing told is what is proven.
pub fn fit_watched(
    signal: Signal<'_>,
    settings: &FitSettings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Fit> {
    let Watch { observer, control } = watch;
    let control = &control;
    let mut told = Told::new(observer, signal.y);
    settings.validate()?;
    let d = differences(signal, control)?;
    let task = task(signal, &d, settings.lambda, settings.sparse);
    let method = method(signal, settings)?;
    let started = Instant::now();
    let start = start.map(|x| checked_start(x, d.columns())).transpose()?;
    let mut found = run(signal, &task, method, settings, start, (&mut told, control))?;
    let seconds_solve = started.elapsed().as_secs_f64();
    let started = Instant::now();
    if method == Method::Chain {
        found.dual = dual_of_chain(&task, &found.b);
    }
    // A run that was ended still says what can be proven of where it stopped in a moment.
    let (mut certifying, mut halt) = (control.clone(), found.halt.take());
    if halt.is_some() {
        certifying = control.afterwards(PATIENCE);
    }
    let (mut bounds, unproven) = prove(&task, &found.b, &mut found.dual, &certifying);
    if halt.is_none() && unproven.is_some() {
        (halt, certifying) = (unproven, control.afterwards(PATIENCE));
        (bounds, _) = prove(&task, &found.b, &mut found.dual, &certifying);
    }
    told.tell(found.rounds, (bounds.objective, bounds.bound));
    let relative_gap = bounds.relative_gap(signal.y);
    let is_ended = halt.is_some();
    let status = match halt {
        _ if relative_gap <= settings.gap => Status::Converged,
        Some(halt) => Status::after(&halt).ok_or_else(|| Error::from(halt))?,
        None if found.rounds >= settings.max_rounds => Status::IterationLimit,
        None => Status::Stalled,
    };
    let seconds_certify = started.elapsed().as_secs_f64();
    // Nor does anybody wait for pieces that take long to count.
    let pieces = match degrees::count(&task, &found.b, &found.dual.z, (is_ended, &certifying)) {
        Ok(pieces) => pieces,
        Err(_) if is_ended => Pieces::default(),
        Err(_) => degrees::count(&task, &found.b, &found.dual.z, (true, &control.afterwards(PATIENCE)))
            .unwrap_or_default(),
    };
    Ok(Fit {
        x: found.b,
        status,
        objective: bounds.objective,
        bound: bounds.bound,
        relative_gap,
        lambda: settings.lambda,
        sparse: settings.sparse,
        segments: pieces.segments,
        degrees_of_freedom: pieces.degrees_of_freedom,
        breaks: pieces.breaks,
        method,
        rounds: found.rounds,
        seconds_solve,
        seconds_certify,
    })
}

/// Refuses coefficients to begin with that do not fit.
fn checked_start(x: &[f64], expected: usize) -> Result<&[f64]> {
    let input = || "coefficients to begin with".to_string();
    if x.len() != expected {
        let (input, unit, found) = (input(), "entries", x.len());
        return Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into());
    }
    match x.iter().position(|x| !x.is_finite()) {
        Some(row) => {
            let (input, found) = (input(), x[row]);
            Err(equipoise::Error::NonFinite { input, row, column: 0, found }.into())
        }
        None => Ok(x),
    }
}

/// D for this signal, with everything checked that does not depend on lambda.
pub(super) fn differences(signal: Signal<'_>, control: &Control) -> Result<Differences> {
    signal.design.check(signal.y)?;
    let n = signal.design.coefficients(signal.y.len());
    let d = signal.penalty.differences(n)?;
    if let Design::Observed { indices, .. } = signal.design
        && signal.penalty.is_graph()
    {
        let (number, count) = d.all_components(control)?;
        let mut is_seen = vec![false; count];
        indices.iter().for_each(|index| is_seen[number[*index]] = true);
        if let Some(coefficient) = number.iter().position(|k| !is_seen[*k]) {
            return Err(Error::Undetermined { coefficient });
        }
    }
    Ok(d)
}

pub(super) fn task<'a>(signal: Signal<'a>, d: &'a Differences, lambda: f64, sparse: f64) -> Task<'a> {
    let Signal { y, design, penalty } = signal;
    Task { y, design, d, order: penalty.chain_order(), is_graph: penalty.is_graph(), lambda, sparse }
}

/// Which method does the work.
fn method(signal: Signal<'_>, settings: &FitSettings) -> Result<Method> {
    let is_chain = *signal.penalty == Penalty::Chain;
    let is_plain = signal.design == Design::Identity;
    let can_recurse =
        is_chain && (is_plain || matches!(signal.design, Design::Observed { .. }) && settings.sparse == 0.0);
    let has_lines = is_plain && matches!(signal.penalty, Penalty::Grid { .. });
    let has_jumps = is_chain && matches!(signal.design, Design::Matrix(_)) && settings.sparse == 0.0;
    let refused = |reason| Err(Error::Method { method: settings.method.name(), reason });
    match settings.method {
        Method::Auto if can_recurse => Ok(Method::Chain),
        Method::Auto if has_lines => Ok(Method::Lines),
        Method::Auto if has_jumps => Ok(Method::Jumps),
        Method::Auto => Ok(Method::Interior),
        Method::Chain if !can_recurse => refused("it needs penalty chain and no design"),
        Method::Lines if !has_lines => refused("it needs penalty grid, no design and no pixel missing"),
        Method::Jumps if !has_jumps => refused("it needs penalty chain, a design and no l1 term"),
        chosen => Ok(chosen),
    }
}

fn run(
    signal: Signal<'_>,
    task: &Task<'_>,
    method: Method,
    settings: &FitSettings,
    start: Option<&[f64]>,
    (told, control): (&mut Told<'_>, &Control),
) -> Result<Found> {
    if matches!(method, Method::Lines | Method::Interior)
        // Where that is ended, the method is too, and says where it stands.
        && let Ok(Some(found)) = whole::solve(task, control)
    {
        return Ok(found);
    }
    // A little is left to the proof.
    let (gap, rounds) = (0.5 * settings.gap, settings.max_rounds);
    match (method, signal.penalty, signal.design) {
        (Method::Chain, ..) => recursion(task, settings.threads, control),
        (Method::Lines, Penalty::Grid { rows, columns }, _) => {
            Ok(lines::solve(task, (*rows, *columns), gap, (settings.threads, rounds), start, (told, control)))
        }
        (Method::Jumps, _, Design::Matrix(x)) => {
            Ok(jumps::solve(task, x, gap, rounds, start, (told, control)))
        }
        (Method::SlackPairs, ..) => slack::solve(task, settings, start, (told, control)),
        (_, _, Design::Identity) if task.is_graph => {
            let plain = Task { sparse: 0.0, ..*task };
            let mut found = interior::solve(&plain, gap, rounds, (told, task.sparse), control)?;
            // Where that is ended, what was found before stands.
            if let Err(halt) = regions::fuse(&plain, &mut found.b, 0, control) {
                found.halt.get_or_insert(halt);
            }
            found.b.iter_mut().for_each(|b| *b = shrunk(*b, task.sparse));
            Ok(found)
        }
        _ => interior::solve(task, 0.4 * gap, rounds, (told, task.sparse), control),
    }
}

/// The exact recursion; coefficients without an observation take the value before them, or after them at the beginning. The
/// multipliers are left to the certificate.
fn recursion(task: &Task<'_>, threads: usize, control: &Control) -> Result<Found> {
    let mut b = vec![0.0; task.y.len()];
    along_chain(threads, task.y, task.lambda, &mut b, control)?;
    if let Design::Observed { indices, coefficients } = task.design {
        let mut all = vec![b[0]; coefficients];
        for (k, index) in indices.iter().enumerate() {
            let end = indices.get(k + 1).copied().unwrap_or(coefficients);
            all[*index..end].fill(b[k]);
        }
        b = all;
    }
    if task.sparse > 0.0 {
        b.iter_mut().for_each(|b| *b = shrunk(*b, task.sparse));
    }
    Ok(Found { b, dual: Dual::default(), rounds: 1, halt: None })
}

/// The coefficients of a chain. A lambda that leaves a single piece is no business of the recursion: beside it the samples would lose
/// their digits, and a jump of one bit would cost lambda times that.
fn along_chain(threads: usize, y: &[f64], lambda: f64, b: &mut [f64], control: &Control) -> Pass {
    match single_piece(y, lambda) {
        Some(mean) => b.fill(mean),
        None => Chain::solve_by(threads, y, lambda, b, control)?,
    }
    Ok(())
}

/// The mean, where lambda is so large that all coefficients are that: none of `|sum_{i <= r} (y_i - mean)|` is larger. Most lambdas are
/// far from it, which the first samples tell.
fn single_piece(y: &[f64], lambda: f64) -> Option<f64> {
    const FEW: usize = 1024;
    let near: f64 = y.iter().take(FEW).map(|y| y.abs()).sum();
    if lambda < 0.01 * near {
        return None;
    }
    let mut total = Sum::default();
    y.iter().for_each(|y| total.add(*y));
    let (mean, mut sum) = (total.value().centre() / y.len() as f64, 0.0_f64);
    let most = y.iter().fold(0.0_f64, |most, y| {
        sum += y - mean;
        most.max(sum.abs())
    });
    (mean.is_finite() && most <= lambda).then_some(mean)
}

/// The dual point of a solution by recursion.
fn dual_of_chain(task: &Task<'_>, b: &[f64]) -> Dual {
    let Design::Observed { indices, coefficients } = task.design else {
        if task.sparse > 0.0 {
            // The multipliers are those of the chain before its coefficients were moved towards 0.
            let mut plain = vec![0.0; task.y.len()];
            if along_chain(1, task.y, task.lambda, &mut plain, &Control::unlimited()).is_ok() {
                return Dual { z: chain::multipliers(task.y, &plain, task.lambda), theta: Vec::new() };
            }
        }
        return Dual { z: chain::multipliers(task.y, b, task.lambda), theta: Vec::new() };
    };
    let seen: Vec<f64> = indices.iter().map(|index| b[*index]).collect();
    let z = chain::multipliers(task.y, &seen, task.lambda);
    let theta = task.y.iter().zip(&seen).map(|(y, b)| y - b).collect();
    let mut all = vec![0.0; coefficients - 1];
    for (pair, z) in indices.windows(2).zip(z) {
        // Between two observed coefficients the multiplier is the same everywhere.
        all[pair[0]..pair[1]].fill(z);
    }
    Dual { z: all, theta }
}

/// The bounds of b by a dual point, as far as they come, and what ended that before its end.
fn prove(task: &Task<'_>, b: &[f64], dual: &mut Dual, control: &Control) -> (Bounds, Option<Halt>) {
    // Every term is at least 0.
    let mut bounds = Bounds { objective: f64::INFINITY, bound: 0.0 };
    let ended = task.objective_above(b, control).and_then(|objective| {
        bounds.objective = objective;
        bounds.bound = task.bound_below(dual, objective, control)?.max(0.0);
        Ok(())
    });
    (bounds, ended.err())
}
