//! `equipoise demo`: a built-in problem, solved before the user's eyes and explained in plain words.

use std::path::Path;

use anyhow::Result;
use equipoise::{Method, Settings, Solution, Solver, Status};
use equipoise_formats::problem_file::{Building, Pairs};

use crate::exit::{self, Outcome};
use crate::generate::{Planted, Shape, lasso};
use crate::interrupt::Interrupt;
use crate::report;
use crate::watch::Watch;

/// Stocks in the story.
const VARIABLES: usize = 2000;
/// Days in the story.
const SAMPLES: usize = 1000;
const SEED: u64 = 2015;
const TOLERANCE: f64 = 1e-8;

pub(crate) fn run(interrupt: &Interrupt) -> Result<Outcome> {
    exit::print(&format!(
        "The problem, made up on the spot: a zero-sum lasso with {VARIABLES} variables.\n\n    \
         minimise 1/2 ||M x - y||^2 + ||x||_1   subject to   x_1 + ... + x_{VARIABLES} = 0\n\n\
         Think of an index y over {SAMPLES} days, to be tracked by few of {VARIABLES} stocks whose bought and sold\n\
         amounts must cancel out. The sum ties all variables together, so none can move alone:\n\
         equipoise moves two at a time, one up, the other down.\n\n"
    ))?;
    let shape = Shape { variables: VARIABLES, samples: SAMPLES, rows: 1, density: 1.0 };
    let Planted { file, optimum } = lasso(&shape, SEED);
    let problem =
        file.build(&Building::new(Path::new("demo"), Pairs::OfGraph { seed: SEED }, &interrupt.control))?;
    // The paper's plain pairs: slower than the default method, so that there is something to watch.
    let method = Method::Pairs;
    let settings = Settings { tolerance: TOLERANCE, method, seed: SEED, ..Settings::default() };
    let mut watch = Watch::default();
    watch.show_bar(&settings);
    let run = Solver::new(&problem, &settings).observer(&mut watch).control(interrupt.control.clone()).run();
    watch.hide_bar();
    let solution = run?;
    exit::print(&explain(&solution, problem.objective(&optimum)))?;
    Ok((solution.status == Status::Converged).into())
}

fn explain(solution: &Solution, planted: f64) -> String {
    let certificate = &solution.certificate;
    let chosen = solution.x.iter().filter(|&&x| x != 0.0).count();
    let gap = certificate.duality_gap.unwrap_or(f64::NAN);
    let multiplier = certificate.multipliers.first().copied().unwrap_or(f64::NAN);
    let status = match solution.status {
        Status::Converged => "the certificate meets the tolerance",
        _ => "the run ended before the certificate met the tolerance",
    };
    format!(
        "{}\n\
         What it means\n  \
         status         {status}.\n  \
         objective      the best value found; {chosen} of {VARIABLES} variables are used, the rest are exactly 0.\n  \
         duality gap    a proof: no feasible x can be better by more than {gap:.1e}. This problem was made\n                 \
         with a known optimum, {planted:.10}; the answer is {:.1e} away from it.\n  \
         KKT residual   how far the optimality conditions are from holding exactly.\n  \
         infeasibility  by how much the sum misses 0: rounding only, since every move kept it.\n  \
         multipliers    the price of the constraint: were the sum to be 0.01 instead of 0, the best value\n                 \
         would change by about {:.1e} (minus 0.01 times the multiplier).\n\n\
         All this was recomputed from the raw data after the solver had finished. It moved pairs at random, as in\n\
         the paper; the default method, `auto`, adds second-order steps and is faster still.\n\n\
         Next\n  \
         equipoise generate lasso --size 500 --out my-lasso    a problem like this one, in files\n  \
         equipoise solve my-lasso/problem.toml --out x.json    solve it\n  \
         equipoise verify my-lasso/problem.toml x.json         check the answer, trusting nobody\n  \
         equipoise --help                                      everything else\n",
        report::solution(solution, TOLERANCE, None),
        (certificate.objective - planted).abs(),
        -0.01 * multiplier,
    )
}
