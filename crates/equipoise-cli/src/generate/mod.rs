//! `equipoise generate KIND`: random problems whose optimum is known.
//!
//! The optimum is planted: x*, multipliers and a subgradient of h at x* are drawn first, then the data are chosen so
//! that the optimality conditions hold. Nothing is written before the certificate of x* says so too.

mod columns;
mod plant;
mod source;

use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::{Certificate, Control, Method, Status, certificate};
use equipoise_formats::problem_file::{Building, GraphSpec, Pairs, ProblemFile, Term};
use equipoise_formats::{SolutionFile, write_problem, write_solution};
use serde::Serialize;

use crate::args::{Destination, Kind};
use crate::exit::{self, Outcome};
use crate::graph::parse_topology;
use crate::interrupt::Interrupt;
use equipoise_models::Synthetic;

pub(crate) use plant::{Shape, lasso};

/// How well a planted optimum must hold.
const TOLERANCE: f64 = 1e-8;

/// A problem and its optimum.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) file: ProblemFile<'static>,
    pub(crate) optimum: Vec<f64>,
}

/// The JSON object of `generate --json`.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    kind: &'a str,
    problem: String,
    optimum: String,
    variables: usize,
    objective: f64,
    duality_gap: Option<f64>,
    kkt_residual: f64,
    seed: u64,
}

pub(crate) fn run(kind: &Kind, interrupt: &Interrupt) -> Result<Outcome> {
    let control = &interrupt.control;
    let (name, planted, to) = match kind {
        Kind::Lasso { data, to } => ("lasso", lasso(&Shape::new(data, 1)?, to.seed), to),
        Kind::LeastSquares { data, coupling, to } => {
            ("least-squares", plant::least_squares(&Shape::new(data, coupling.count)?, to.seed), to)
        }
        Kind::BoxQp { data, coupling, to } => {
            ("box-qp", plant::box_qp(&Shape::new(data, coupling.count)?, to.seed), to)
        }
        Kind::Simplex { size, to } => ("simplex", plant::simplex(Shape::check(*size)?, to.seed), to),
        Kind::Logistic { data, coupling, to } => {
            ("logistic", plant::logistic(&Shape::new(data, coupling.count)?, to.seed), to)
        }
        Kind::Synthetic { nodes, block, rows, topology, to } => {
            let paper = Synthetic { nodes: *nodes, block: *block, rows: *rows, seed: to.seed };
            ("synthetic", synthetic(paper, topology.as_deref(), control)?, to)
        }
    };
    write(name, planted, to, control)
}

/// The paper's problem: the optimum is the feasible point nearest to the targets.
fn synthetic(paper: Synthetic, topology: Option<&str>, control: &Control) -> Result<Planted> {
    let Synthetic { nodes, block, rows, seed } = paper;
    let topology = topology.map(parse_topology).transpose()?.unwrap_or_default();
    let term = Term::new("synthetic").with("nodes", nodes).with("block", block).with("rows", rows);
    let mut file = ProblemFile::new(term.with("seed", seed));
    file.graph = GraphSpec { topology, ..GraphSpec::default() };
    let problem = file.clone().build(&Building::new(Path::new("synthetic"), Pairs::Every, control))?;
    let optimum = problem.nearest_feasible_within(&paper.target(), control)?;
    Ok(Planted { file, optimum })
}

/// Certifies the optimum, then writes problem and optimum and says what to do with them.
fn write(kind: &str, planted: Planted, to: &Destination, control: &Control) -> Result<Outcome> {
    let Planted { file, optimum } = planted;
    let certificate = certify(file.clone(), &optimum, control)?;
    let problem = write_problem(&to.out, "problem", &file)?;
    let path = to.out.join("optimum.json");
    let (variables, objective) = (optimum.len(), certificate.objective);
    let summary = Summary {
        kind,
        problem: problem.display().to_string(),
        optimum: path.display().to_string(),
        variables,
        objective,
        duality_gap: certificate.duality_gap,
        kkt_residual: certificate.kkt_residual,
        seed: to.seed,
    };
    write_solution(&path, &solution(certificate, optimum, to.seed))?;
    let text = if to.json { serde_json::to_string(&summary)? + "\n" } else { words(&summary) };
    exit::print(&text)?;
    Ok(Outcome::Met)
}

fn certify(file: ProblemFile, optimum: &[f64], control: &Control) -> Result<Certificate> {
    let problem = file.build(&Building::new(Path::new("generated problem"), Pairs::Every, control))?;
    let found = certificate::check_within(&problem, optimum, control).context("generated optimum")?;
    if !found.meets(TOLERANCE) {
        bail!(
            "the generated optimum does not meet {TOLERANCE:e} (duality gap {:?}, KKT residual {:e}, infeasibility {:e}); \
             take another seed",
            found.duality_gap,
            found.kkt_residual,
            found.infeasibility
        );
    }
    Ok(found)
}

fn solution(certificate: Certificate, x: Vec<f64>, seed: u64) -> SolutionFile {
    SolutionFile {
        status: Status::Converged,
        certificate,
        updates: 0,
        epochs: 0.0,
        seconds: 0.0,
        threads: 1,
        seed,
        method: Method::Auto,
        reason: "generated with its optimum".into(),
        candidates: Vec::new(),
        x,
        variables: Vec::new(),
    }
}

fn words(summary: &Summary<'_>) -> String {
    let Summary { kind, problem, optimum, variables, objective, .. } = summary;
    format!(
        "{kind} problem with {variables} variables in {problem}\n\
         its optimum, objective {objective}, in {optimum}\n\n\
         next:  equipoise solve {problem}\n       equipoise verify {problem} {optimum}\n"
    )
}
