//! `equipoise demo`: a race on a built-in problem, the paper's random pairs against the default method.
//!
//! Both run to the same certificate, one after the other, with a bar each; random pairs are given a few seconds and no more.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use equipoise::{Method, Settings, Solution, Solver, Status};
use equipoise_formats::problem_file::{AnyProblem, Building, Pairs};

use crate::exit::{self, Outcome};
use crate::generate::{Planted, Shape, lasso};
use crate::interrupt::Interrupt;
use crate::watch::Watch;

/// Coefficients, and rows of data.
const VARIABLES: usize = 1000;
const SAMPLES: usize = 500;
const SEED: u64 = 2015;
const TOLERANCE: f64 = 1e-8;
/// Seconds for each of the two.
const MOST: f64 = 2.0;

/// One of the two.
struct Lane {
    name: &'static str,
    solution: Solution,
}

pub(crate) fn run(interrupt: &Interrupt) -> Result<Outcome> {
    exit::print(&format!(
        "A race: {VARIABLES} coefficients that must sum to zero, fitted to {SAMPLES} rows (a zero-sum lasso),\n\
         to a proven accuracy of {TOLERANCE:.0e}.\n\n"
    ))?;
    let shape = Shape { variables: VARIABLES, samples: SAMPLES, rows: 1, density: 1.0 };
    let Planted { file, optimum } = lasso(&shape, SEED);
    let problem =
        file.build(&Building::new(Path::new("demo"), Pairs::OfGraph { seed: SEED }, &interrupt.control))?;
    let pairs = race("random pairs (the paper)", Method::Pairs, &problem, interrupt)?;
    let ours = race("equipoise (default)", Method::Auto, &problem, interrupt)?;
    exit::print(&words(&[&pairs, &ours], problem.objective(&optimum)))?;
    Ok((ours.solution.status == Status::Converged).into())
}

fn race(name: &'static str, method: Method, problem: &AnyProblem, interrupt: &Interrupt) -> Result<Lane> {
    let settings =
        Settings { tolerance: TOLERANCE, method, seed: SEED, time_limit: Some(MOST), ..Settings::default() };
    let mut watch = Watch::default();
    watch.show_bar(&settings);
    let run = Solver::new(problem, &settings).observer(&mut watch).control(interrupt.control.clone()).run();
    watch.hide_bar();
    Ok(Lane { name, solution: run? })
}

fn words(lanes: &[&Lane; 2], planted: f64) -> String {
    let mut text = format!("{:26}{:>9}  {:>10}  {:>14}\n", "", "seconds", "accuracy", "off the best");
    for Lane { name, solution, .. } in lanes {
        let certificate = &solution.certificate;
        let gap = certificate.duality_gap.unwrap_or(f64::NAN) / (1.0 + certificate.objective.abs());
        let off = (certificate.objective - planted).abs();
        let _ = write!(text, "{name:26}{:>9.3}  {gap:>10.1e}  {off:>14.1e}", solution.seconds);
        if solution.status != Status::Converged {
            let _ = write!(text, "  ({}, not there yet)", solution.status);
        }
        text.push('\n');
    }
    let [pairs, ours] = lanes;
    let at_least = if pairs.solution.status == Status::Converged { "" } else { "more than " };
    let ratio = pairs.solution.seconds / ours.solution.seconds;
    if ours.solution.status == Status::Converged && ratio > 1.0 {
        let _ = writeln!(text, "\nThe default is {at_least}{ratio:.0} times as fast.");
    }
    text
}
