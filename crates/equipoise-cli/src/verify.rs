//! `equipoise verify`: the certificate of a solution, from raw data, trusting nobody.

use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::{Certificate, Error, certificate};
use equipoise_formats::{ProblemFile, StoredSolution, read_solution};
use serde::Serialize;

use crate::args::{SolveArguments, VerifyArguments};
use crate::exit::{self, Outcome, note};
use crate::problem::{self, AnyProblem, Pairs};
use crate::progress::measure;
use crate::{report, settings};

/// Largest difference, relative to 1 + |value|, between a claim and its recomputation.
const CLAIM_TOLERANCE: f64 = 1e-9;

/// The JSON object of `verify --json`; infinities become null.
#[derive(Debug, Serialize)]
struct Verdict {
    objective: f64,
    smooth: f64,
    separable: f64,
    infeasibility: f64,
    allowed_infeasibility: f64,
    kkt_residual: f64,
    duality_gap: Option<f64>,
    multipliers: Vec<f64>,
    tolerance: f64,
    met: bool,
}

pub(crate) fn run(args: &VerifyArguments) -> Result<Outcome> {
    // What the file solves by samples it also verifies from its file.
    let typed = SolveArguments::default();
    let file = ProblemFile::read_within(&args.problem, |solve| settings::loaded_bytes(solve, &typed))?;
    let memory_budget = settings::memory_budget(&file.solve, None);
    let tolerance = settings::tolerance(&file.solve, args.tolerance)?;
    let problem = problem::build_within(file, &args.problem, Pairs::Every, memory_budget)?;
    let stored = read_solution(&args.solution)?;
    let found = certificate::check(&problem, &stored.x);
    if let Err(fault @ Error::UnusableSample { .. }) = &found {
        bail!("{}: [smooth]: {fault}", args.problem.display());
    }
    let found = found.with_context(|| args.solution.display().to_string())?;
    let met = found.meets(tolerance);
    for claim in wrong_claims(&stored, &found) {
        note(format_args!("warning: {}: {claim}", args.solution.display()));
    }
    let text = if args.json {
        serde_json::to_string(&Verdict::new(found, tolerance, met))? + "\n"
    } else {
        words(&problem, &stored.x, &found, tolerance, &args.solution)
    };
    exit::print(&text)?;
    Ok(met.into())
}

impl Verdict {
    fn new(certificate: Certificate, tolerance: f64, met: bool) -> Self {
        Self {
            objective: certificate.objective,
            smooth: certificate.smooth,
            separable: certificate.separable,
            infeasibility: certificate.infeasibility,
            allowed_infeasibility: certificate.allowed_infeasibility,
            kkt_residual: certificate.kkt_residual,
            duality_gap: certificate.duality_gap,
            multipliers: certificate.multipliers,
            tolerance,
            met,
        }
    }
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
    if let Some((c, lower, upper)) = problem::outside_domain(problem, x) {
        missed.push(format!("x[{c}] is {}, outside its bounds {lower} to {upper}", x[c]));
    }
    let (size, allowed) = (found.infeasibility, found.allowed_infeasibility);
    if size > allowed {
        missed.push(format!("A x = b is missed by {size:.3e}, allowed {allowed:.3e}"));
    }
    if missed.is_empty() && !found.meets(tolerance) {
        let (name, value, allowed) = measure(found, tolerance);
        missed.push(format!("the {name} is {value:.3e}, allowed {allowed:.3e}"));
    }
    missed
}

/// Numbers in the file that the recomputation does not bear out.
fn wrong_claims(stored: &StoredSolution, found: &Certificate) -> Vec<String> {
    let wrong = |claimed: f64, value: f64| {
        !value.is_finite() || (claimed - value).abs() > CLAIM_TOLERANCE * (1.0 + value.abs())
    };
    // A gap or residual larger than the recomputed one is no lie: solvers may stop at a coarser bound.
    let too_good = |claimed: f64, value: f64| {
        value - claimed > CLAIM_TOLERANCE * (1.0 + found.objective.abs() + value.abs())
    };
    let claim =
        |name: &str, claimed: Option<f64>, value: Option<f64>, is_false: &dyn Fn(f64, f64) -> bool| {
            let (claimed, value) = (claimed?, value?);
            let words = || format!("it claims {name} {claimed:e}, but recomputation gives {value:e}");
            is_false(claimed, value).then(words)
        };
    let claims = [
        claim("objective", stored.objective, Some(found.objective), &wrong),
        claim("infeasibility", stored.infeasibility, Some(found.infeasibility), &wrong),
        claim("kkt_residual", stored.kkt_residual, Some(found.kkt_residual), &too_good),
        claim("duality_gap", stored.duality_gap, found.duality_gap, &too_good),
    ];
    claims.into_iter().flatten().collect()
}
