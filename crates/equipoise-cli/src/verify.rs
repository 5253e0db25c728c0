//! `equipoise verify`: the certificate of a solution, from raw data, trusting nobody.

use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::coupling::ALLOWED_SHARE;
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::{Certificate, Error, certificate};
use equipoise_formats::problem_file::{AnyProblem, Building, Loading, Pairs, ProblemFile, SolveSpec};
use equipoise_formats::{Claims, StoredSolution, read_solution};
use serde::Serialize;

use crate::args::VerifyArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::progress::measure;
use crate::report;
use crate::rounding::above;

/// Largest difference, relative to 1 + |value|, between a claim and its recomputation.
const CLAIM_TOLERANCE: f64 = 1e-9;

/// The JSON object of `verify --json`; infinities become null.
#[derive(Debug, Serialize)]
struct Verdict<'a> {
    #[serde(flatten)]
    claims: Claims<'a>,
    tolerance: f64,
    met: bool,
}

pub(crate) fn run(args: &VerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let control = &interrupt.control;
    // What the file solves by samples it also verifies from its file.
    let loading = |solve: &SolveSpec| Loading { most_bytes: solve.loaded_bytes(), control: control.clone() };
    let file = ProblemFile::read_within(&args.problem, control, loading)?;
    let memory_budget = file.solve.verified_memory_budget();
    let typed = SolveSpec { tolerance: args.tolerance, ..SolveSpec::default() };
    let tolerance = typed.or(&file.solve).verified_tolerance()?;
    let building = Building { memory_budget, ..Building::new(&args.problem, Pairs::Every, control) };
    let problem = file.build(&building)?;
    let stored = read_solution(&args.solution, control)?;
    let found = certificate::check_within(&problem, &stored.x, control);
    if let Err(fault @ Error::UnusableSample { .. }) = &found {
        bail!("{}: [smooth]: {fault}", args.problem.display());
    }
    let found = found.with_context(|| args.solution.display().to_string())?;
    let met = found.meets(tolerance);
    for claim in wrong_claims(&stored, &found) {
        note(format_args!("warning: {}: {claim}", args.solution.display()));
    }
    let text = if args.json {
        serde_json::to_string(&Verdict { claims: Claims::with_allowed(&found), tolerance, met })? + "\n"
    } else {
        words(&problem, &stored.x, &found, tolerance, &args.solution)
    };
    exit::print(&text)?;
    Ok(met.into())
}

fn words(problem: &AnyProblem, x: &[f64], found: &Certificate, tolerance: f64, path: &Path) -> String {
    let missed = missed(problem, x, found, tolerance);
    let head = if missed.is_empty() {
        format!("met: {} is optimal to {tolerance:e}\n", path.display())
    } else {
        format!("not met: {}\n", missed.join("; "))
    };
    head + &report::certificate(found, tolerance)
}

/// The conditions that x misses, in words.
fn missed(problem: &AnyProblem, x: &[f64], found: &Certificate, tolerance: f64) -> Vec<String> {
    let mut missed = Vec::new();
    if let Some((c, lower, upper)) = outside_domain(problem, x) {
        missed.push(format!("x[{c}] is {}, outside its bounds {lower} to {upper}", x[c]));
    }
    let (size, share) = (found.infeasibility, found.relative_infeasibility);
    if share > ALLOWED_SHARE {
        let [size, share] = [size, share].map(|miss| above(miss, 3));
        missed.push(format!(
            "A x = b is missed by {size}, a row of it by {share} of its own terms, allowed {ALLOWED_SHARE:.3e}"
        ));
    }
    if missed.is_empty() && !found.meets(tolerance) {
        let (name, value, allowed) = measure(found, tolerance);
        let [value, allowed] = [value, allowed].map(|measure| above(measure, 3));
        missed.push(format!("the {name} is {value}, allowed {allowed}"));
    }
    missed
}

/// The first coordinate outside the domain of h, with its bounds.
pub(crate) fn outside_domain(problem: &AnyProblem, x: &[f64]) -> Option<(usize, f64, f64)> {
    let Nonsmooth::Coordinates(h) = problem.separable() else { return None };
    let bounds = (0..x.len()).map(|c| (c, h.domain(c)));
    let outside = |&(c, (lower, upper)): &(usize, (f64, f64))| x[c] < lower || x[c] > upper;
    bounds.into_iter().find(outside).map(|(c, (lower, upper))| (c, lower, upper))
}

/// Numbers in the file that the recomputation does not bear out.
fn wrong_claims(stored: &StoredSolution, found: &Certificate) -> Vec<String> {
    let wrong = |claimed: f64, value: f64| {
        !value.is_finite() || (claimed - value).abs() > CLAIM_TOLERANCE * (1.0 + value.abs())
    };
    // What is proven here is no less than what can be: a smaller gap in the file is not refuted, but rests on its word alone. A
    // residual depends on the multipliers that were found, and says nothing of others.
    let is_unproven = |claimed: f64, value: f64| {
        value - claimed > CLAIM_TOLERANCE * (1.0 + found.objective.abs() + value.abs())
    };
    let unproven =
        stored.duality_gap.zip(found.duality_gap).filter(|(claimed, value)| is_unproven(*claimed, *value));
    let unproven = unproven.map(|(claimed, value)| {
        format!("it claims duality_gap {claimed:e}; recomputation proves only {value:e}")
    });
    let claim = |name: &str, claimed: Option<f64>, value: f64| {
        let words = |claimed| format!("it claims {name} {claimed:e}, but recomputation gives {value:e}");
        claimed.filter(|claimed| wrong(*claimed, value)).map(words)
    };
    let claims = [
        claim("objective", stored.objective, found.objective),
        claim("infeasibility", stored.infeasibility, found.infeasibility),
        unproven,
    ];
    claims.into_iter().flatten().collect()
}
