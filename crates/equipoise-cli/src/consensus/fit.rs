//! `equipoise consensus`: read, check, fit, write, render. On ranks each of them has the data of its own nodes, and the first one
//! writes and says what all have found.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use equipoise::collective::{Collective, Post};
use equipoise::{Control, Status};
use equipoise_consensus::{Checkpoint, Fit, Method, Ranks, Settings, Watch, fit, fit_across};
use equipoise_formats::history::HistoryWriter;
use equipoise_formats::{Standing, fit_file};

use super::data::{self, Input};
use super::picture;
use super::report::{self, About, FitJson, Stored};
use crate::args::ConsensusFitArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::ranks::{Departure, Travelled, together};
use crate::rounding;
use crate::svm::launch;

/// The first line of a history.
const HISTORY: &str = "messages,bytes,seconds,objective,bound,relative_gap,disagreement";

pub(crate) fn run(args: &ConsensusFitArguments, interrupt: &Interrupt) -> Result<Outcome> {
    if let Some(ranks) = args.ranks {
        return launch::run(ranks, interrupt);
    }
    let control = interrupt.within(args.problem.time_limit);
    let place = place(args, &control)?;
    let input = exit::while_at("the data were read", Input::read(&args.shards, &args.problem, &control))?;
    let run = Run { args, input: &input, settings: &settings(args), control: &control };
    let start = args.start.as_deref().map(|path| Stored::read(path, &input, &control)).transpose()?;
    let made = run.make(start.as_deref(), None)?;
    run.render(&made, place.as_ref())?;
    Ok((made.found.status == Status::Converged).into())
}

/// The same on this rank of several.
pub(crate) fn run_across(
    args: &ConsensusFitArguments,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
    post: &mut dyn Post,
) -> Result<Outcome> {
    let speaks = world.rank() == 0;
    if args.ranks.is_some() {
        bail!("--ranks: `equipoise consensus` starts ranks; here they are started already");
    }
    let control = interrupt.within(args.problem.time_limit);
    // Files that are written are the business of the first rank; what it finds there ends all.
    let place = together(&**world, if speaks { place(args, &control) } else { Ok(None) })?;
    let input = Input::read_across(&args.shards, &args.problem, &control, &**world)?;
    let run = Run { args, input: &input, settings: &settings(args), control: &control };
    let start = args.start.as_deref().map(|path| Stored::read(path, &input, &control)).transpose();
    let start = together(&**world, start)?;
    let made = run.make(start.as_deref(), Some((world, post)))?;
    together(&**world, if speaks { run.render(&made, place.as_ref()) } else { Ok(()) })?;
    Ok((made.found.status == Status::Converged).into())
}

/// What was typed is checked, and where the result goes.
fn place<'a>(args: &'a ConsensusFitArguments, control: &Control) -> Result<Option<Place<'a>>> {
    let mut inputs: Vec<Option<&Path>> = args.shards.iter().map(|path| Some(path.as_path())).collect();
    inputs.extend([args.edges.as_deref(), args.start.as_deref()]);
    outputs::check(&[args.out.as_deref(), args.plot.as_deref(), args.history.as_deref()], &inputs)?;
    if let Some(limit) = args.problem.time_limit
        && (limit.is_nan() || limit <= 0.0)
    {
        bail!("--time-limit: found {limit}, expected a number of seconds above 0");
    }
    if args.asynchronous && args.method == Some(Method::Tree) {
        bail!(
            "--asynchronous: transfers along a tree wait for each other; leave out --method tree, or --asynchronous"
        );
    }
    args.out.as_deref().map(|path| Place::look(path, Sort::Fit, control)).transpose()
}

fn settings(args: &ConsensusFitArguments) -> Settings {
    let usual = Settings::default();
    Settings {
        method: args.method.unwrap_or(usual.method),
        gap: args.problem.gap.unwrap_or(usual.gap),
        max_messages: args.max_messages,
        asynchronous: args.asynchronous,
        outstanding: args.outstanding,
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

/// A fit with what belongs to it.
struct Made {
    found: Fit,
    checkpoints: Vec<Checkpoint>,
    graph: String,
    edges: usize,
    ranks: usize,
    seconds: f64,
    travelled: Option<Travelled>,
}

impl Run<'_> {
    fn make(
        &self,
        start: Option<&[f64]>,
        across: Option<(&Arc<dyn Collective>, &mut dyn Post)>,
    ) -> Result<Made> {
        let (args, nodes) = (self.args, self.input.problem.nodes());
        let graph = data::graph(&args.graph, args.edges.as_deref(), args.seed, nodes, self.control);
        let (name, graph) = match &across {
            Some((world, _)) => together(&***world, graph)?,
            None => graph?,
        };
        let ranks = across.as_ref().map_or(1, |(world, _)| world.ranks());
        let speaks = across.as_ref().is_none_or(|(world, _)| world.rank() == 0);
        let begun = Instant::now();
        let mut history = None;
        if speaks && let Some(path) = args.history.as_deref() {
            history = Some(HistoryWriter::create_under(HISTORY, path)?);
        }
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
        // Whoever watches makes methods stop more often: on all ranks, or on none.
        let is_watched = args.history.is_some() || args.plot.is_some();
        let observer: Option<&mut dyn FnMut(&Checkpoint)> = if is_watched { Some(&mut tell) } else { None };
        let (problem, watch) = (&self.input.problem, Watch { observer, control: self.control.clone() });
        let mut travelled = None;
        let found = match across {
            None => fit(problem, &graph, self.settings, start, watch)?,
            Some((world, post)) => {
                let ranks = Ranks { world: Arc::clone(world), post };
                let departure = Departure::now(&**world);
                let found = fit_across(problem, &graph, self.settings, start, watch, ranks)?;
                travelled = departure.travelled(&**world)?;
                found
            }
        };
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        let (edges, seconds) = (graph.edge_count(), begun.elapsed().as_secs_f64());
        Ok(Made { found, checkpoints: seen, graph: name, edges, ranks, seconds, travelled })
    }

    fn render(&self, made: &Made, place: Option<&Place<'_>>) -> Result<()> {
        let (args, found, gap) = (self.args, &made.found, self.settings.gap);
        if found.status != Status::Converged {
            note(not_converged(found, self.settings));
        }
        let standing = Standing { converged: found.status == Status::Converged, measure: found.relative_gap };
        let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
        let Made { graph, edges, ranks, seconds, travelled, .. } = made;
        let (edges, ranks, seconds, travelled) = (*edges, *ranks, *seconds, *travelled);
        let about = About { graph, edges, ranks, gap, seconds, travelled };
        let json = FitJson::new(found, self.input, &about);
        if let Some(path) = args.out.as_ref().filter(|_| !stays) {
            fit_file::write_fit(path, &json)?;
        }
        if let Some(path) = &args.plot {
            picture::draw(path, &made.checkpoints, gap)?;
        }
        let text = match (args.problem.json, args.problem.quiet) {
            (true, _) => fit_file::to_json(&json)? + "\n",
            (false, true) => String::new(),
            (false, false) => report::words(found, self.input, &about),
        };
        exit::print(&text)?;
        Ok(())
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
    format!("not converged: {status}: {}; {advice}", rounding::relative_gap(gap, allowed))
}
