//! A fit in words, and as the object that is printed and written.
//!
//! Given: a fit and what it is of. Returns: text and objects. Must not know: how it was found.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use equipoise::Control;
use equipoise_consensus::Fit;
use equipoise_formats::fit_file;
use serde::{Deserialize, Serialize};

use super::data::Input;
use crate::ranks::Travelled;
use crate::report::{line, number};
use crate::rounding::{self, above};

/// The weights that are named one by one.
const SHORT: usize = 10;

/// What a fit does not know of itself.
#[derive(Debug)]
pub(super) struct About<'a> {
    pub(super) graph: &'a str,
    pub(super) edges: usize,
    pub(super) ranks: usize,
    pub(super) gap: f64,
    pub(super) seconds: f64,
    pub(super) travelled: Option<Travelled>,
}

/// The object of `--json` and `--out`; what is not known is null.
#[derive(Debug, Serialize)]
pub(super) struct FitJson<'a> {
    status: &'static str,
    objective: f64,
    bound: f64,
    relative_gap: f64,
    gap: f64,
    disagreement: f64,
    messages: u64,
    bytes: u64,
    loss: &'static str,
    method: &'static str,
    graph: &'a str,
    nodes: usize,
    edges: usize,
    rows: usize,
    columns: usize,
    rounds: usize,
    sum_of_multipliers: i64,
    seconds_load: f64,
    seconds_solve: f64,
    names: Option<&'a [String]>,
    x: &'a [f64],
    per_edge: Vec<Edge>,
    ranks: usize,
    bytes_between_ranks: u64,
    /// Of sums over ranks, beside what nodes say.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_sent: Option<u64>,
    /// The share of the time in which a rank waited for such sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    communication: Option<f64>,
}

/// What crossed one edge, both ways together.
#[derive(Debug, Serialize)]
struct Edge {
    from: usize,
    to: usize,
    messages: u64,
    bytes: u64,
}

impl<'a> FitJson<'a> {
    pub(super) fn new(fit: &'a Fit, input: &'a Input, about: &About<'a>) -> Self {
        let total = fit.traffic.total();
        let edge = |((from, to), counted): ((usize, usize), equipoise_consensus::EdgeTraffic)| Edge {
            from,
            to,
            messages: counted.messages,
            bytes: counted.bytes,
        };
        Self {
            status: fit.status.name(),
            objective: fit.objective,
            bound: fit.bound,
            relative_gap: fit.relative_gap,
            gap: about.gap,
            disagreement: fit.disagreement,
            messages: total.messages,
            bytes: total.bytes,
            loss: input.problem.model().loss.name(),
            method: fit.method.name(),
            graph: about.graph,
            nodes: input.problem.nodes(),
            edges: about.edges,
            rows: input.problem.rows(),
            columns: input.problem.columns(),
            rounds: fit.rounds,
            sum_of_multipliers: i64::try_from(fit.sum_of_multipliers).unwrap_or(i64::MAX),
            seconds_load: input.seconds,
            seconds_solve: about.seconds,
            names: input.names.as_deref(),
            x: &fit.x,
            per_edge: fit.traffic.edges().map(edge).collect(),
            ranks: about.ranks,
            bytes_between_ranks: fit.bytes_between_ranks,
            bytes_sent: about.travelled.map(|travelled| travelled.bytes_sent),
            communication: about.travelled.map(|travelled| travelled.communication),
        }
    }
}

/// What is read back of such an object.
#[derive(Debug, Deserialize)]
pub(super) struct Stored {
    x: Vec<f64>,
    names: Option<Vec<String>>,
}

impl Stored {
    /// The point of a result, of the columns of these data.
    pub(super) fn read(path: &Path, input: &Input, control: &Control) -> Result<Vec<f64>> {
        let stored: Self = fit_file::read_fit(path, control)?;
        let expected = input.problem.columns();
        if stored.x.len() != expected {
            let found = stored.x.len();
            bail!("{}: found {found} numbers in x, expected {expected}, one a column", path.display());
        }
        if let (Some(found), Some(expected)) = (&stored.names, &input.names)
            && let Some((a, b)) = found.iter().zip(expected).find(|(a, b)| a != b)
        {
            bail!("{}: its columns are not those of the data: found `{a}` for `{b}`", path.display());
        }
        Ok(stored.x)
    }
}

/// A fit for people.
pub(super) fn words(fit: &Fit, input: &Input, about: &About<'_>) -> String {
    let mut text = format!("{}\n", fit.status);
    let total = fit.traffic.total();
    line(&mut text, "objective", &format!("{} (at least {})", number(fit.objective), number(fit.bound)));
    line(&mut text, "relative gap", &rounding::allowed(fit.relative_gap, about.gap));
    line(&mut text, "disagreement", &above(fit.disagreement, 3));
    let (nodes, edges, graph) = (input.problem.nodes(), about.edges, about.graph);
    line(&mut text, "nodes", &format!("{nodes}, {edges} edges ({graph})"));
    line(&mut text, "messages", &format!("{}, {} bytes", total.messages, total.bytes));
    let busiest = fit.traffic.edges().max_by_key(|(_, counted)| counted.bytes);
    if let Some(((a, b), counted)) = busiest {
        let (messages, bytes) = (counted.messages, counted.bytes);
        line(&mut text, "busiest edge", &format!("{a} - {b}: {messages} messages, {bytes} bytes"));
    }
    if about.ranks > 1 {
        line(&mut text, "ranks", &format!("{}, {} bytes between them", about.ranks, fit.bytes_between_ranks));
    }
    weights(&mut text, &fit.x, input.names.as_deref());
    let (method, rounds) = (fit.method, fit.rounds);
    line(&mut text, "work", &format!("{method}, {rounds} rounds, {:.3} s", about.seconds));
    text
}

/// The largest entries of x by name.
fn weights(text: &mut String, x: &[f64], names: Option<&[String]>) {
    let mut order: Vec<usize> = (0..x.len()).filter(|&j| x[j] != 0.0).collect();
    line(text, "x", &format!("{} of {} are not 0", order.len(), x.len()));
    order.sort_by(|&a, &b| x[b].abs().total_cmp(&x[a].abs()));
    let name = |j: usize| names.map_or_else(|| (j + 1).to_string(), |names| names[j].clone());
    let width = order.iter().take(SHORT).map(|&j| name(j).chars().count()).max().unwrap_or(0).max(12);
    for &j in order.iter().take(SHORT) {
        let _ = writeln!(text, "    {:<width$} {}", name(j), x[j]);
    }
    if order.len() > SHORT {
        line(text, "  ...", &format!("{} more; --out FILE writes them", order.len() - SHORT));
    }
}
