//! `equipoise solve`: read, check, run, render. On ranks each of them has its share of the rows of losses, all have x, and the first one
//! writes and says what all have found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use equipoise::collective::{Accord, Collective};
use equipoise::smooth::SmoothTerm;
use equipoise::{Control, Error, Settings, Snapshot, Solution, Solver, Status};
use equipoise_formats::checkpoint_file::{Digest, RunIdentity, digest_problem};
use equipoise_formats::problem_file::{AnyProblem, Building, Loading, Pairs, ProblemFile, SolveSpec};
use equipoise_formats::{SolutionFile, Standing, read_solution, read_text, write_iterate, write_solution};
use equipoise_theory::Delayed;

use crate::args::SolveArguments;
use crate::checkpoint::{Aside, FileKeeper};
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::predict::{Forecast, expected};
use crate::ranks::{Departure, Travelled, note_processors, together};
use crate::report;
use crate::svm::launch;
use crate::verify::outside_domain;
use crate::watch::Watch;

/// The status of a file whose run ended with a fault of its data.
const BAD_SAMPLE: &str = "bad-sample";
/// What a problem from `-` is called.
const PIPED: &str = "standard input";
/// The most dropped rows that are named one by one.
const MOST_NAMED: usize = 3;

/// Everything that a run needs, checked.
struct Plan<'a> {
    args: &'a SolveArguments,
    problem: AnyProblem<'static>,
    /// What the first coordinates of x are called.
    names: Vec<String>,
    settings: Settings,
    experiment: Delayed,
    start: Option<Vec<f64>>,
    /// Where the result goes, and what is there.
    place: Option<Place<'a>>,
    /// Where the run is put aside, who does it, and what was there.
    aside: Option<Aside<'a>>,
    keeper: Option<FileKeeper<'a>>,
    resumed: Option<Snapshot>,
    watch: Watch,
    control: Control,
    /// Other ranks, where there are any.
    accord: Option<Arc<Accord>>,
}

pub(crate) fn run(args: &SolveArguments, interrupt: &Interrupt) -> Result<Outcome> {
    if let Some(ranks) = args.ranks {
        return launch::run(ranks, interrupt);
    }
    let mut plan = Plan::new(args, interrupt)?;
    let solution = plan.solve()?;
    let converged = solution.status == Status::Converged;
    plan.render(solution, None)?;
    Ok(converged.into())
}

/// The same on this rank of several.
pub(crate) fn run_across(
    args: &SolveArguments,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
) -> Result<Outcome> {
    let speaks = world.rank() == 0;
    let mut plan = Plan::across(args, interrupt, world)?;
    let departure = Departure::now(&**world);
    // Ranks that do the same fail alike, and what one of them alone meets is told to all.
    let solution = plan.solve()?;
    let travelled = departure.travelled(&**world)?;
    let converged = solution.status == Status::Converged;
    let written = if speaks {
        if let Some(Travelled { ranks, bytes_sent, communication }) = travelled.filter(|_| !args.quiet) {
            let share = 100.0 * communication;
            note(format_args!(
                "note: {ranks} ranks sent {bytes_sent} bytes; {share:.0} % of the time of a rank went into waiting and sending"
            ));
        }
        plan.render(solution, travelled)
    } else {
        Ok(())
    };
    together(&**world, written)?;
    Ok(converged.into())
}

impl<'a> Plan<'a> {
    /// The plan of a rank. What is written, and what is there, is the business of the first.
    fn across(args: &'a SolveArguments, interrupt: &Interrupt, world: &Arc<dyn Collective>) -> Result<Self> {
        let speaks = world.rank() == 0;
        let typed = args.wishes();
        let reading = interrupt.within(typed.time_limit);
        for (option, is_typed) in [
            ("--checkpoint", args.checkpointing.checkpoint.is_some()),
            ("--resume", args.checkpointing.resume),
        ] {
            if is_typed {
                bail!(
                    "{option} is not offered on several ranks: end a run with --time-limit, and go on with --warm-start"
                );
            }
        }
        if args.ranks.is_some() {
            bail!("--ranks: `equipoise solve` starts ranks; here they are started already");
        }
        if args.problem.as_os_str() == "-" {
            bail!("`-`: every rank reads the problem; write it to a file that all of them see");
        }
        together(&**world, if speaks { check_files(args, None, &reading) } else { Ok(()) })?;
        let loading = |solve: &SolveSpec| {
            let wishes = typed.or(solve);
            Loading { most_bytes: wishes.loaded_bytes(), control: interrupt.within(wishes.time_limit) }
        };
        let file = ProblemFile::read_within(&args.problem, &reading, loading);
        let mut file = together(&**world, file.map_err(Into::into))?;
        let wishes = typed.or(&file.solve);
        let names = std::mem::take(&mut file.names);
        let (settings, experiment) = (wishes.settings()?, wishes.experiment()?);
        if !args.quiet {
            note_processors(&**world, settings.threads);
        }
        let accord = Accord::new(Arc::clone(world), interrupt.within(settings.time_limit));
        let control = accord.control();
        let place = |path: &'a PathBuf| Place::look(path, Sort::Solution, &control);
        let place = if speaks { args.out.as_ref().map(place).transpose() } else { Ok(None) };
        let place = together(&**world, place)?;
        let (pairs, memory_budget) = (Pairs::OfGraph { seed: settings.seed }, settings.memory_budget);
        let building = Building::new(&args.problem, pairs, &control);
        let building = Building { memory_budget, ranks: Some(&accord), ..building };
        let problem = file.build(&building)?;
        if !problem.smooth().is_spread() {
            bail!(
                "{}: no loss with rows that could be dealt to ranks; run it with `equipoise`",
                args.problem.display()
            );
        }
        let quiet = args.quiet || !speaks;
        if !quiet {
            note_dropped_rows(&problem);
        }
        let start = args.warm_start.as_deref();
        let start = start.map(|path| warm_start(path, &problem, quiet, &control)).transpose();
        let start = together(&**world, start)?;
        let watch = Watch::new(if speaks { args.history.as_deref() } else { None });
        let mut watch = together(&**world, watch)?;
        watch.keeps(if speaks { args.plot.as_deref() } else { None });
        Ok(Self {
            args,
            problem,
            names,
            settings,
            experiment,
            start,
            place,
            aside: None,
            keeper: None,
            resumed: None,
            watch,
            control,
            accord: Some(accord),
        })
    }

    fn new(args: &'a SolveArguments, interrupt: &Interrupt) -> Result<Self> {
        let typed = args.wishes();
        // Standard input is read once: for the files that the problem names, and for the problem.
        let is_piped = args.problem.as_os_str() == "-";
        let begin = interrupt.within(typed.time_limit);
        let piped = is_piped.then(|| read_text(&args.problem, &begin)).transpose()?;
        check_files(args, piped.as_deref(), &begin)?;
        let aside = Aside::look(&args.checkpointing, args.quiet, &interrupt.within(typed.time_limit))?;
        let loading = |solve: &SolveSpec| {
            let wishes = typed.or(solve);
            Loading { most_bytes: wishes.loaded_bytes(), control: interrupt.within(wishes.time_limit) }
        };
        let mut file = match &piped {
            Some(text) => ProblemFile::from_text(text, Path::new(PIPED), loading)?,
            None => ProblemFile::read_within(&args.problem, &begin, loading)?,
        };
        let wishes = typed.or(&file.solve);
        let (names, is_negated) = (std::mem::take(&mut file.names), file.is_negated);
        let (mut settings, experiment) = (wishes.settings()?, wishes.experiment()?);
        let control = interrupt.within(settings.time_limit);
        let place =
            args.out.as_deref().map(|path| Place::look(path, Sort::Solution, &control)).transpose()?;
        let (pairs, memory_budget) = (Pairs::OfGraph { seed: settings.seed }, settings.memory_budget);
        let building = Building { memory_budget, ..Building::new(&args.problem, pairs, &control) };
        let problem = exit::while_at("the problem was built", file.build(&building).map_err(Into::into))?;
        if !args.quiet {
            if is_negated {
                note(
                    "note: OBJSENSE MAX: the negative of the file's objective is minimised, and objectives and bounds are those of the negative",
                );
            }
            note_dropped_rows(&problem);
        }
        let start = args.warm_start.as_deref();
        let start = start.map(|path| warm_start(path, &problem, args.quiet, &control)).transpose()?;
        let mut watch = Watch::new(args.history.as_deref())?;
        watch.keeps(args.plot.as_deref());
        let (mut keeper, mut resumed) = (None, None);
        if let Some(aside) = &aside {
            let run = identity(&problem, &settings, start.as_deref(), &control)?;
            resumed = aside.words(&run)?.map(Snapshot::from_words).transpose()?;
            let updates = resumed.as_ref().map(Snapshot::updates);
            let exact = resumed.as_ref().is_none_or(Snapshot::is_exact);
            aside.announce(updates, exact, args.checkpointing.resume);
            keeper = Some(aside.keeper(run, watch.goes_on_with(aside.history())));
        }
        watch.predict(|| Forecast::new(&problem, &settings, start.as_deref()));
        if !args.quiet
            && let Some(words) = expected(&problem, &settings, start.as_deref())
        {
            note(words);
        }
        settings.time_limit = interrupt.left(settings.time_limit);
        Ok(Self {
            args,
            problem,
            names,
            settings,
            experiment,
            start,
            place,
            aside,
            keeper,
            resumed,
            watch,
            control,
            accord: None,
        })
    }

    fn solve(&mut self) -> Result<Solution> {
        let speaks = self.accord.as_ref().is_none_or(|accord| accord.place().0 == 0);
        if speaks && !self.args.quiet {
            self.watch.show_bar(&self.settings);
        }
        let mut solver = Solver::new(&self.problem, &self.settings)
            .observer(&mut self.watch)
            .control(self.control.clone());
        solver = solver.experiment(&self.experiment);
        if let Some(start) = self.start.take() {
            solver = solver.warm_start(start);
        }
        if let Some(keeper) = &mut self.keeper {
            solver = solver.keeper(keeper);
        }
        if let Some(snapshot) = &self.resumed {
            solver = solver.resume(snapshot);
        }
        let solution = solver.run();
        self.watch.hide_bar();
        // Where ranks cannot go on together that is why, whatever came of it.
        self.accord.as_ref().map_or(Ok(()), |accord| accord.check())?;
        if speaks && let Err(Error::BadSample { iterate, .. }) = &solution {
            self.keep(iterate)?;
        }
        solution.with_context(|| self.args.problem.display().to_string())
    }

    /// Writes what a run had reached when its data failed: nothing is proven of it, so x and the status alone.
    fn keep(&self, x: &[f64]) -> Result<()> {
        let (Some(path), Some(place)) = (&self.args.out, &self.place) else { return Ok(()) };
        if place.stays(Standing::UNKNOWN, self.args.keep_partial) {
            return Ok(());
        }
        write_iterate(path, BAD_SAMPLE, x)?;
        if !self.args.quiet {
            note(format_args!("note: the last iterate is in {}; it can be a --warm-start", path.display()));
        }
        Ok(())
    }

    fn render(self, solution: Solution, travelled: Option<Travelled>) -> Result<()> {
        let args = self.args;
        if solution.status != Status::Converged {
            note(report::not_converged(&solution, self.settings.tolerance));
        }
        let standing = SolutionFile::standing_of(&solution);
        let stays = self.place.as_ref().is_some_and(|place| place.stays(standing, args.keep_partial));
        let out = args.out.as_ref().filter(|_| !stays);
        let words = if args.json || args.quiet {
            String::new()
        } else {
            let written = out.map(|path| path.display().to_string());
            report::solution(&solution, self.settings.tolerance, written.as_deref())
        };
        let converged = solution.status == Status::Converged;
        let file = SolutionFile::from(solution).named(self.names);
        out.map_or(Ok(()), |path| write_solution(path, &file))?;
        exit::print(&if args.json { with_travelled(file.to_json()?, travelled)? + "\n" } else { words })?;
        self.watch.draw(args.plot.as_deref())?;
        self.watch.finish()?;
        if let Some(aside) = &self.aside {
            aside.finish(converged);
        }
        Ok(())
    }
}

/// An object with what travelled between ranks as its last fields.
fn with_travelled(mut object: String, travelled: Option<Travelled>) -> Result<String> {
    let Some(travelled) = travelled else { return Ok(object) };
    let fields = serde_json::to_string(&travelled)?;
    if object.pop() == Some('}') {
        object.push(',');
        object.push_str(fields.trim_start_matches('{'));
    }
    Ok(object)
}

/// Refuses outputs that cannot be written, or that are one of the files that are read.
fn check_files(args: &SolveArguments, piped: Option<&str>, control: &Control) -> Result<()> {
    let [out, history, plot] = [&args.out, &args.history, &args.plot].map(Option::as_deref);
    let written = [out, history, plot, args.checkpointing.checkpoint.as_deref()];
    if written.iter().all(Option::is_none) {
        return Ok(());
    }
    let named = match piped {
        Some(text) => ProblemFile::named_in(text, PIPED),
        None => ProblemFile::named_files(&args.problem, control)?,
    };
    let mut inputs = vec![Some(args.problem.as_path()), args.warm_start.as_deref()];
    inputs.extend(named.iter().map(|path| Some(path.as_path())));
    outputs::check(&written, &inputs)
}

/// Which run this is: everything that its numbers depend on.
fn identity(
    problem: &AnyProblem,
    settings: &Settings,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<RunIdentity> {
    let data = digest_problem(problem, control).map_err(Error::from);
    let data = exit::while_at("the data were looked at", data.map_err(Into::into))?;
    let limit = |limit: Option<String>| limit.unwrap_or_else(|| "none".into());
    let of_start = |x: &[f64]| {
        let mut digest = Digest::default();
        digest.numbers(x);
        format!("{:016x}", digest.value())
    };
    let Settings { tolerance, method, step_size, seed, memory_budget, threads, locking, schedule, .. } =
        settings;
    let named = [
        ("method", method.to_string()),
        ("tolerance", format!("{tolerance:?}")),
        ("seed", seed.to_string()),
        ("max-updates", limit(settings.max_updates.map(|most| most.to_string()))),
        ("max-epochs", limit(settings.max_epochs.map(|most| most.to_string()))),
        ("step-size", format!("{step_size:?}")),
        ("schedule", schedule.to_string()),
        ("batch", settings.batch.to_string()),
        ("memory-budget", memory_budget.to_string()),
        ("threads", threads.to_string()),
        ("locking", locking.to_string()),
        ("deterministic", settings.deterministic.to_string()),
        ("the warm start", limit(start.map(of_start))),
    ];
    let named = named.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Ok(RunIdentity::new("solve", named, &data))
}

fn note_dropped_rows(problem: &AnyProblem) {
    let dropped = problem.dropped_rows();
    for row in dropped.iter().take(MOST_NAMED) {
        let of = &row.of;
        note(format_args!("note: row {} of A x = b follows from rows {of:?} and is left out", row.row));
    }
    if dropped.len() > MOST_NAMED {
        note(format_args!("note: so do {} more rows", dropped.len() - MOST_NAMED));
    }
}

/// The x of a solution file, or the feasible point nearest to it.
fn warm_start(path: &Path, problem: &AnyProblem, quiet: bool, control: &Control) -> Result<Vec<f64>> {
    let x = read_solution(path, control)?.x;
    let coupling = problem.coupling();
    let feasible = x.len() == problem.dimension()
        && outside_domain(problem, &x).is_none()
        && coupling.miss(&x).is_feasible();
    if feasible {
        return Ok(x);
    }
    let nearest = problem.nearest_feasible_within(&x, control);
    let nearest = nearest.with_context(|| format!("warm start {}", path.display()))?;
    if !quiet {
        note(format_args!(
            "note: the warm start {} is not feasible here; starting at the nearest feasible point",
            path.display()
        ));
    }
    Ok(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_travelled_ends_an_object() {
        let object = |travelled| with_travelled("{\"x\":[1.0]}".into(), travelled).expect("an object");
        assert_eq!(object(None), "{\"x\":[1.0]}");
        let travelled = Travelled { ranks: 2, bytes_sent: 640, communication: 0.25 };
        let expected = "{\"x\":[1.0],\"ranks\":2,\"bytes_sent\":640,\"communication\":0.25}";
        assert_eq!(object(Some(travelled)), expected);
    }
}
