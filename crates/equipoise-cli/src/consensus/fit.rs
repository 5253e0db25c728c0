//! `equipoise consensus`: read, check, fit, write, render.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use equipoise::{Control, Status};
use equipoise_consensus::{Checkpoint, Fit, Method, Settings, Watch, fit};
use equipoise_formats::history::HistoryWriter;
use equipoise_formats::{Standing, fit_file};

use super::data::{self, Input};
use super::picture;
use super::report::{self, About, FitJson, Stored};
use crate::args::ConsensusFitArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};

/// The first line of a history.
const HISTORY: &str = "messages,bytes,seconds,objective,bound,relative_gap,disagreement";

pub(crate) fn run(args: &ConsensusFitArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let problem = &args.problem;
    let mut inputs: Vec<Option<&Path>> = args.shards.iter().map(|path| Some(path.as_path())).collect();
    inputs.extend([args.edges.as_deref(), args.start.as_deref()]);
    outputs::check(&[args.out.as_deref(), args.plot.as_deref(), args.history.as_deref()], &inputs)?;
    if let Some(limit) = problem.time_limit
        && (limit.is_nan() || limit <= 0.0)
    {
        bail!("--time-limit: found {limit}, expected a number of seconds above 0");
    }
    if args.asynchronous && args.method == Some(Method::Tree) {
        bail!(
            "--asynchronous: transfers along a tree wait for each other; leave out --method tree, or --asynchronous"
        );
    }
    let control = interrupt.within(problem.time_limit);
    let place = args.out.as_deref().map(|path| Place::look(path, Sort::Fit, &control)).transpose()?;
    let input = exit::while_at("the data were read", Input::read(&args.shards, problem, &control))?;
    let start = args.start.as_deref().map(|path| Stored::read(path, &input, &control)).transpose()?;
    let nodes = input.problem.nodes();
    let (graph_name, graph) = data::graph(&args.graph, args.edges.as_deref(), args.seed, nodes, &control)?;
    let settings = settings(args);
    let begun = Instant::now();
    let (found, checkpoints) = {
        let run = Run { args, input: &input, settings: &settings, control: &control };
        run.fit(&graph, start.as_deref())?
    };
    let seconds = begun.elapsed().as_secs_f64();
    if found.status != Status::Converged {
        note(not_converged(&found, &settings));
    }
    let standing = Standing { converged: found.status == Status::Converged, measure: found.relative_gap };
    let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
    let about = About { graph: &graph_name, edges: graph.edge_count(), gap: settings.gap, seconds };
    let json = FitJson::new(&found, &input, &about);
    if let Some(path) = args.out.as_ref().filter(|_| !stays) {
        fit_file::write_fit(path, &json)?;
    }
    if let Some(path) = &args.plot {
        picture::draw(path, &checkpoints, settings.gap)?;
    }
    let text = match (problem.json, problem.quiet) {
        (true, _) => fit_file::to_json(&json)? + "\n",
        (false, true) => String::new(),
        (false, false) => report::words(&found, &input, &about),
    };
    exit::print(&text)?;
    Ok((found.status == Status::Converged).into())
}

fn settings(args: &ConsensusFitArguments) -> Settings {
    let usual = Settings::default();
    Settings {
        method: args.method.unwrap_or(usual.method),
        gap: args.problem.gap.unwrap_or(usual.gap),
        max_messages: args.max_messages,
        asynchronous: args.asynchronous,
        greedy: args.greedy,
        seed: args.seed,
        ..usual
    }
}

struct Run<'a> {
    args: &'a ConsensusFitArguments,
    input: &'a Input,
    settings: &'a Settings,
    control: &'a Control,
}

impl Run<'_> {
    fn fit(&self, graph: &equipoise::graph::Graph, start: Option<&[f64]>) -> Result<(Fit, Vec<Checkpoint>)> {
        let mut history = self
            .args
            .history
            .as_deref()
            .map(|path| HistoryWriter::create_under(HISTORY, path))
            .transpose()?;
        let (mut failure, mut seen) = (None, Vec::new());
        let mut tell = |at: &Checkpoint| {
            seen.push(*at);
            if let Some(history) = &mut history {
                history.write_cells(&[
                    at.messages as f64,
                    at.bytes as f64,
                    at.seconds,
                    at.objective,
                    at.bound,
                    at.relative_gap,
                    at.disagreement,
                ]);
                failure = history.flush().err().or(failure.take());
            }
        };
        let is_watched = self.args.history.is_some() || self.args.plot.is_some();
        let observer: Option<&mut dyn FnMut(&Checkpoint)> = if is_watched { Some(&mut tell) } else { None };
        let watch = Watch { observer, control: self.control.clone() };
        let found = fit(&self.input.problem, graph, self.settings, start, watch)?;
        match failure {
            Some(failure) => Err(failure.into()),
            None => Ok((found, seen)),
        }
    }
}

fn not_converged(found: &Fit, settings: &Settings) -> String {
    let advice = match found.status {
        Status::TimeLimit => "raise --time-limit, or continue with --start",
        Status::IterationLimit => "raise --max-messages, or continue with --start",
        Status::Interrupted => "continue with --start",
        _ => "no exchange makes progress any more; the gap may be beyond double precision",
    };
    let (status, gap, allowed) = (found.status, found.relative_gap, settings.gap);
    format!("not converged: {status}: relative gap {gap:.3e}, allowed {allowed:.3e}; {advice}")
}
