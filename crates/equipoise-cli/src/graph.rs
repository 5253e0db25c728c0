//! `equipoise graph`: the facts about a communication graph that decide how fast pairs mix.

mod theory;

use std::fmt::Write;

use anyhow::Result;
use equipoise::graph::{Degrees, Graph, TopologyChoice};
use equipoise_formats::suggest;
use equipoise_theory::{Diameter, Laplacian, Spectrum};
use serde::Serialize;

use crate::args::GraphArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use theory::Theory;

/// Estimated relative error of an eigenvalue from which it is worth a word.
const ROUGH: f64 = 1e-8;

/// The JSON object of `graph --json`.
#[derive(Debug, Serialize)]
struct Facts {
    topology: String,
    nodes: usize,
    edges: usize,
    degree_min: usize,
    degree_mean: f64,
    degree_max: usize,
    connected: bool,
    diameter: Option<usize>,
    diameter_exact: Option<bool>,
    smallest_nonzero_eigenvalue: Option<f64>,
    largest_eigenvalue: Option<f64>,
    eigenvalue_relative_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theory: Option<Theory>,
}

pub(crate) fn run(args: &GraphArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let control = &interrupt.control;
    let topology = parse_topology(&args.topology)?.seeded(args.seed).resolve(args.nodes);
    let graph = Graph::new(&topology, args.nodes)?;
    let connected = graph.check_connected();
    let diameter = Diameter::within(&graph, control)?;
    let spectrum = connected.is_ok().then(|| Laplacian::new(&graph).spectrum_within(control)).transpose()?;
    let theory = spectrum
        .filter(|_| args.theory)
        .map(|spectrum| Theory::new(&graph, spectrum, control))
        .transpose()?;
    let text = if args.json {
        json(&Facts { theory, ..Facts::new(topology.to_string(), &graph, diameter, spectrum) })?
    } else {
        let words = theory.map_or_else(String::new, |theory| theory.words());
        human(&topology.to_string(), &graph, diameter, spectrum) + &words
    };
    exit::print(&text)?;
    if let Err(reason) = &connected {
        exit::note(format_args!("warning: {reason}"));
    }
    Ok(connected.is_ok().into())
}

/// A topology by name, with a suggestion where the name is unknown.
pub(crate) fn parse_topology(name: &str) -> Result<TopologyChoice> {
    name.parse().map_err(|unknown| anyhow::anyhow!(suggest::unknown(&unknown)))
}

impl Facts {
    fn new(topology: String, graph: &Graph, diameter: Option<Diameter>, spectrum: Option<Spectrum>) -> Self {
        let Degrees { min, mean, max, .. } = graph.degrees();
        Self {
            topology,
            nodes: graph.nodes(),
            edges: graph.edge_count(),
            degree_min: min,
            degree_mean: mean,
            degree_max: max,
            connected: spectrum.is_some(),
            diameter: diameter.map(|diameter| diameter.length),
            diameter_exact: diameter.map(|diameter| diameter.exact),
            smallest_nonzero_eigenvalue: spectrum.map(|spectrum| spectrum.smallest_nonzero),
            largest_eigenvalue: spectrum.map(|spectrum| spectrum.largest),
            eigenvalue_relative_error: spectrum.map(|spectrum| spectrum.relative_error),
            theory: None,
        }
    }
}

fn json(facts: &Facts) -> Result<String> {
    Ok(serde_json::to_string(facts)? + "\n")
}

fn human(topology: &str, graph: &Graph, diameter: Option<Diameter>, spectrum: Option<Spectrum>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<14}{value}");
    };
    let Degrees { min, mean, max, .. } = graph.degrees();
    line("topology", topology.into());
    line("nodes", graph.nodes().to_string());
    line("edges", graph.edge_count().to_string());
    line("degrees", format!("min {min}, mean {mean:.3}, max {max}"));
    line(
        "diameter",
        match diameter {
            None => "infinite: the graph is disconnected".into(),
            Some(Diameter { length, exact: true, .. }) => length.to_string(),
            Some(Diameter { length, .. }) => format!("at least {length} (too large for an exact search)"),
        },
    );
    if let Some(spectrum) = spectrum {
        let rough = if spectrum.relative_error > ROUGH {
            format!(" (to about {:.1e} relative)", spectrum.relative_error)
        } else {
            String::new()
        };
        line(
            "Laplacian",
            format!("smallest non-zero eigenvalue {}{rough}", digits(spectrum.smallest_nonzero)),
        );
        line("", format!("largest eigenvalue           {}", digits(spectrum.largest)));
    }
    text
}

/// Nine digits, in powers of ten where the number is small.
fn digits(value: f64) -> String {
    if value < 1e-3 { format!("{value:.8e}") } else { format!("{value:.9}") }
}
