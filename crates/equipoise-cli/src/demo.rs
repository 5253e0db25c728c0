//! `equipoise demo`: a race on a built-in problem, the paper's random pairs against the default method; its result is a page.
//!
//! Both run to the same certificate, one after the other, with a bar each; random pairs are given three seconds and no more.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use equipoise::{Method, Settings, Solution, Solver, Status};
use equipoise_formats::problem_file::{AnyProblem, Building, Pairs};
use equipoise_report::{Axis, Cell, Chart, Figure, Mark, Page, Section, Series, Table, colours};

use crate::args::DemoArguments;
use crate::exit::{self, Outcome};
use crate::generate::{Planted, Shape, lasso};
use crate::interrupt::Interrupt;
use crate::outputs;
use crate::page::write_page;
use crate::picture::Seen;
use crate::rounding::above;
use crate::watch::Watch;

/// Coefficients, and rows of data.
const VARIABLES: usize = 2000;
const SAMPLES: usize = 400;
const SEED: u64 = 2015;
const TOLERANCE: f64 = 1e-8;
/// Seconds for random pairs.
const MOST: f64 = 3.0;
/// Letters of the longest bar.
const WIDEST: f64 = 24.0;

/// One of the two.
struct Lane {
    name: &'static str,
    solution: Solution,
    seen: Vec<Seen>,
}

impl Lane {
    /// The proven gap, as it is compared with what is allowed.
    fn gap(&self) -> f64 {
        let certificate = &self.solution.certificate;
        certificate.duality_gap.unwrap_or(f64::NAN) / (1.0 + certificate.objective.abs())
    }

    /// How far the objective is from the best, on the same scale.
    fn off(&self, best: f64) -> f64 {
        (self.solution.certificate.objective - best).abs() / (1.0 + best.abs())
    }

    fn is_done(&self) -> bool {
        self.solution.status == Status::Converged
    }
}

pub(crate) fn run(args: &DemoArguments, interrupt: &Interrupt) -> Result<Outcome> {
    outputs::check(&[Some(&args.out)], &[])?;
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
    let (lanes, best) = ([pairs, ours], problem.objective(&optimum)?);
    write_page(&args.out, &page(&lanes, best))?;
    exit::print(&format!("{}\npage  {}\n", words(&lanes, best), args.out.display()))?;
    Ok(lanes[1].is_done().into())
}

fn race(name: &'static str, method: Method, problem: &AnyProblem, interrupt: &Interrupt) -> Result<Lane> {
    // The default is done in a fraction of a second; on a machine with much else to do it is waited for.
    let time_limit = (method == Method::Pairs).then_some(MOST);
    let settings = Settings { tolerance: TOLERANCE, method, seed: SEED, time_limit, ..Settings::default() };
    let mut watch = Watch::keeping();
    watch.show_bar(&settings);
    let run = Solver::new(problem, &settings).observer(&mut watch).control(interrupt.control.clone()).run();
    watch.hide_bar();
    Ok(Lane { name, solution: run?, seen: watch.into_seen() })
}

fn words(lanes: &[Lane; 2], best: f64) -> String {
    let mut text = format!("{:26}{:>9}  {:>10}  {:>12}\n", "", "seconds", "proven gap", "off the best");
    let longest = lanes.iter().map(|lane| lane.solution.seconds).fold(0.0, f64::max);
    for lane in lanes {
        let off = lane.off(best);
        let seconds = lane.solution.seconds;
        let bar = "=".repeat((seconds / longest * WIDEST).ceil() as usize);
        let end = if lane.is_done() { "|" } else { "> not there yet" };
        let _ = writeln!(
            text,
            "{:26}{seconds:>9.3}  {:>10}  {off:>12.1e}  {bar}{end}",
            lane.name,
            above(lane.gap(), 1)
        );
    }
    if let Some(verdict) = verdict(lanes) {
        let _ = writeln!(text, "\n{verdict}");
    }
    text
}

/// Who won by how much, where the default did.
fn verdict([pairs, ours]: &[Lane; 2]) -> Option<String> {
    let ratio = pairs.solution.seconds / ours.solution.seconds;
    let at_least = if pairs.is_done() { "" } else { "more than " };
    let digits = usize::from(ratio < 10.0);
    (ours.is_done() && ratio > 1.0).then(|| {
        format!(
            "The default is {at_least}{ratio:.digits$} times as fast. Wide data such as these are hard on random pairs;\n\
             where rows outnumber coefficients the two are closer."
        )
    })
}

/// The race on a page: who needed how long, and how both came nearer.
fn page(lanes: &[Lane; 2], best: f64) -> Page {
    let words = ["method", "status", "seconds", "updates", "proven gap", "objective off the best"];
    let table = lanes.iter().fold(Table::new("At the end", words), |table, lane| {
        let Solution { status, seconds, updates, .. } = &lane.solution;
        table.row([
            Cell::from(lane.name),
            Cell::from(status.to_string()),
            Cell::Number(format!("{seconds:.3}")),
            Cell::Number(updates.to_string()),
            Cell::Number(above(lane.gap(), 1)),
            Cell::Number(format!("{:.1e}", lane.off(best))),
        ])
    });
    let chart = |label: &str, value: &dyn Fn(&Seen) -> f64| {
        let empty = Chart::new("", Axis::linear("seconds"), Axis::log(label));
        lanes.iter().zip([colours::ORANGE, colours::BLUE]).fold(empty, |chart, (lane, colour)| {
            let points: Vec<(f64, f64)> = lane.seen.iter().map(|seen| (seen.seconds, value(seen))).collect();
            let above: Vec<(f64, f64)> = points.into_iter().filter(|point| point.1 > 0.0).collect();
            chart.with(Series::new(Mark::Line, colour, above.clone()).named(lane.name)).with(Series::new(
                Mark::Points,
                colour,
                above,
            ))
        })
    };
    let off = Figure::new("objective", "How far the objective is from the best", chart("f - f*", &|seen| seen.objective - best))
        .alt("Objective minus its optimum against time, on a logarithmic axis: random pairs and the default method.")
        .caption("The best is known, because the problem was made around it.")
        .command("equipoise demo")
        .with_log_x();
    let gap = Figure::new("gap", "What is proven", chart("duality gap", &|seen| seen.gap))
        .alt("Proven duality gap against time, on a logarithmic axis: random pairs and the default method.")
        .caption("Neither method knows the best: the gap is how far from it the answer can be at most, by a certificate from the data.")
        .command("equipoise demo")
        .with_log_x();
    let section = Section::new("The race")
        .text(format!(
            "A lasso with {VARIABLES} coefficients that must sum to zero, fitted to {SAMPLES} rows, to a proven gap of {TOLERANCE:.0e} \
             of 1 + the objective. Random pairs, as in the paper, are given {MOST:.0} seconds."
        ))
        .table(table)
        .figure(off)
        .figure(gap);
    let next = Section::new("On files of your own").code(
        "equipoise generate lasso --size 500 --out my-lasso\n\
         equipoise solve my-lasso/problem.toml --history run.csv --out x.json\n\
         equipoise verify my-lasso/problem.toml x.json\n\
         equipoise report run.csv",
    );
    Page::new("A race: random pairs against the default method")
        .lead(verdict(lanes).unwrap_or_default())
        .fact("version", crate::version::program())
        .fact("machine", equipoise_experiments::machine())
        .section(section)
        .section(next)
}
